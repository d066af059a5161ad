//! The bytes in which private state is stored: a mark, then a MessagePack map of keys and values,
//! deflated.
//!
//! Terraform copies and writes the whole state again for every instance that it applies, and copies
//! it for every instance that it plans. What an instance adds to it is paid as often as there are
//! instances, so it is kept small.

use std::collections::BTreeMap;

use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::decompress_to_vec_with_limit;
use rmp::{decode, encode};

/// What the bytes begin with. The envelope of the Go framework begins with `{`.
const MARK: u8 = 1;

/// More levels take longer and save next to nothing: what is kept is small and repeats itself.
const LEVEL: u8 = 1;

/// Far more than any state holds, and too little to harm.
const MOST: usize = 64 << 20;

pub(super) type Entries = BTreeMap<String, Vec<u8>>;

pub(super) fn is_packed(bytes: &[u8]) -> bool {
    bytes.first() == Some(&MARK)
}

pub(super) fn pack(entries: &Entries) -> Vec<u8> {
    let mut plain = Vec::new();
    // Nothing can go wrong in writing to memory but lengths beyond what MessagePack can tell.
    let _ = encode::write_map_len(&mut plain, u32::try_from(entries.len()).unwrap_or(u32::MAX));
    for (key, value) in entries {
        let _ = encode::write_str(&mut plain, key);
        let _ = encode::write_bin(&mut plain, value);
    }
    let mut bytes = vec![MARK];
    bytes.extend(compress_to_vec(&plain, LEVEL));
    bytes
}

/// Fails with what is wrong, never with what was met: it may be secret.
pub(super) fn unpack(bytes: &[u8]) -> Result<Entries, &'static str> {
    let packed = bytes.get(1..).unwrap_or_default();
    let plain = decompress_to_vec_with_limit(packed, MOST).map_err(|_| "it cannot be inflated")?;
    let mut rest = plain.as_slice();
    read(&mut rest).filter(|_| rest.is_empty()).ok_or("it is no map of keys and values")
}

fn read(rest: &mut &[u8]) -> Option<Entries> {
    let count = decode::read_map_len(rest).ok()?;
    let mut entries = Entries::new();
    for _ in 0..count {
        let length = decode::read_str_len(rest).ok()?;
        let key = String::from_utf8(take(rest, length)?.to_vec()).ok()?;
        let length = decode::read_bin_len(rest).ok()?;
        entries.insert(key, take(rest, length)?.to_vec());
    }
    Some(entries)
}

fn take<'a>(rest: &mut &'a [u8], length: u32) -> Option<&'a [u8]> {
    let (taken, after) = rest.split_at_checked(usize::try_from(length).ok()?)?;
    *rest = after;
    Some(taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries() -> Entries {
        [("kept".to_owned(), vec![b'x'; 4000]), ("odd".to_owned(), vec![0, 255, 7])].into()
    }

    #[test]
    fn whatever_is_packed_comes_back_and_what_repeats_itself_takes_no_room() {
        let packed = pack(&entries());
        assert!(packed.len() < 100, "{}", packed.len());
        assert!(is_packed(&packed));
        assert_eq!(unpack(&packed).unwrap(), entries());
    }

    #[test]
    fn what_is_cut_or_followed_by_more_is_refused() {
        let packed = pack(&entries());
        for length in 0..packed.len() {
            assert!(unpack(&packed[..length]).is_err(), "cut to {length}");
        }
        let mut plain = Vec::new();
        encode::write_map_len(&mut plain, 0).unwrap();
        plain.push(7);
        let mut longer = vec![MARK];
        longer.extend(compress_to_vec(&plain, LEVEL));
        assert!(unpack(&longer).is_err());
    }
}
