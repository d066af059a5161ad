//! What is done to a sequence, be it of letters or of bytes.

use proptest::prelude::*;
use proptest::sample::Index;

/// How long a piece that is cut, repeated or taken from elsewhere is at most.
const LONGEST: usize = 40;

#[derive(Clone, Debug)]
pub(crate) enum Wound<T> {
    /// The end is missing, as of a file that was not written to the end.
    End(Index),
    Cut(Index, usize),
    Repeat(Index, usize, usize),
    /// A piece of another sample, or of the same.
    Splice {
        at: Index,
        donor: Index,
        from: Index,
        length: usize,
    },
    Put(Index, Vec<T>),
    Overwrite(Index, Vec<T>),
    Swap(Index, Index),
}

pub(crate) fn wounds<T: Copy + std::fmt::Debug + 'static>(
    piece: impl Strategy<Value = Vec<T>> + 'static,
) -> impl Strategy<Value = Vec<Wound<T>>> {
    let at = any::<Index>;
    let piece = piece.boxed();
    let wound = prop_oneof![
        1 => at().prop_map(Wound::End),
        3 => (at(), 1..LONGEST).prop_map(|(at, length)| Wound::Cut(at, length)),
        2 => (at(), 1..LONGEST, 1usize..12).prop_map(|(at, length, n)| Wound::Repeat(at, length, n)),
        2 => (at(), at(), at(), 1..LONGEST)
            .prop_map(|(at, donor, from, length)| Wound::Splice { at, donor, from, length }),
        4 => (at(), piece.clone()).prop_map(|(at, piece)| Wound::Put(at, piece)),
        3 => (at(), piece).prop_map(|(at, piece)| Wound::Overwrite(at, piece)),
        1 => (at(), at()).prop_map(|(one, other)| Wound::Swap(one, other)),
    ];
    prop::collection::vec(wound, 1..5)
}

impl<T: Copy> Wound<T> {
    pub(crate) fn inflict(&self, sample: &mut Vec<T>, donors: &[Vec<T>]) {
        // A place may be right behind the last item.
        let place = |at: &Index, sample: &[T]| at.index(sample.len() + 1);
        let stretch = |at: usize, length: usize, sample: &[T]| at..(at + length).min(sample.len());
        match self {
            Self::End(at) => sample.truncate(place(at, sample)),
            Self::Cut(at, length) => {
                let at = place(at, sample);
                sample.drain(stretch(at, *length, sample));
            }
            Self::Repeat(at, length, times) => {
                let at = place(at, sample);
                let piece = sample[stretch(at, *length, sample)].repeat(*times);
                sample.splice(at..at, piece);
            }
            Self::Splice { at, donor, from, length } => {
                let donor = donor.get(donors);
                let from = place(from, donor);
                let piece = donor[stretch(from, *length, donor)].to_vec();
                let at = place(at, sample);
                sample.splice(at..at, piece);
            }
            Self::Put(at, piece) => {
                let at = place(at, sample);
                sample.splice(at..at, piece.iter().copied());
            }
            Self::Overwrite(at, piece) => {
                let at = place(at, sample);
                sample.splice(stretch(at, piece.len(), sample), piece.iter().copied());
            }
            Self::Swap(one, other) if !sample.is_empty() => {
                let (one, other) = (one.index(sample.len()), other.index(sample.len()));
                sample.swap(one, other);
            }
            Self::Swap(..) => {}
        }
    }
}
