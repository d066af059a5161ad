//! Valid input, damaged: what a fuzz test feeds to a reader.
//!
//! Random bytes are refused at the first of them and reach nothing behind it. So every strategy here
//! starts from samples that are right and cuts, repeats, swaps and splices them. A reader may refuse
//! the result or take it; it may not panic, overflow its stack or take long, and what it takes must
//! still keep its promises: those are the tests' own.
//!
//! Not here: samples, which stand beside the reader that they are for.

mod json;
mod wound;

use std::time::Duration;

use nix::time::{ClockId, clock_gettime};
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::RngSeed;
use serde_json::Value;

use wound::{Wound, wounds};

/// The variable that sets how many cases each fuzz test tries.
pub const CASES_VARIABLE: &str = "K8SCONNECT_FUZZ_CASES";

/// Enough to find what is easily found, few enough that nobody waits for them.
const CASES: u32 = 400;

/// What no input of a few kilobytes may take, unoptimised.
const PATIENCE: Duration = Duration::from_secs(3);

/// What is inserted into texts: all that means something to one of the readers.
const TOKENS: &[&str] = &[
    "\n",
    "\r\n",
    "\t",
    " ",
    "  ",
    ":",
    ": ",
    "- ",
    "? ",
    "|",
    ">-\n",
    "&a ",
    "*a",
    "<<: *a",
    "{",
    "}",
    "[",
    "]",
    ",",
    "'",
    "\"",
    "\\",
    "#",
    "---\n",
    "...\n",
    "!!binary ",
    "!x ",
    "%",
    "~",
    "null",
    "0x1f",
    "1e400",
    "-0",
    "18446744073709551616",
    ".inf",
    "true",
    "on",
    "é",
    "e\u{301}",
    "😀",
    "\u{2028}",
    "\u{feff}",
    "\u{0}",
    "$",
    "@",
    "..",
    "[*]",
    "[0]",
    "[-1]",
    "[?(@.",
    "==",
    "&&",
    "||",
    ")]",
    "=",
    "/",
    "//",
    "?",
    "?unowned",
    "~1",
    "~0",
    "f:",
    "k:{}",
    "v:",
    "i:",
    ".",
    "$patch",
    "\\u0000",
    "\u{7f}",
];

/// The settings of a fuzz test. A failure shows its input cut down to the smallest; nothing is kept
/// in files, since what was found becomes a test with a name. The usual run tries the same inputs
/// each time, so that it says the same of the same code; one that is asked for more tries new ones.
pub fn settings() -> ProptestConfig {
    let asked = std::env::var(CASES_VARIABLE).ok().and_then(|text| text.parse().ok());
    let rng_seed = if asked.is_some() { RngSeed::Random } else { RngSeed::Fixed(1) };
    let cases = asked.unwrap_or(CASES);
    ProptestConfig { cases, rng_seed, failure_persistence: None, ..ProptestConfig::default() }
}

/// One of the samples, damaged.
pub fn text(samples: Vec<String>) -> impl Strategy<Value = String> {
    let letters: Vec<Vec<char>> = samples.iter().map(|text| text.chars().collect()).collect();
    let piece = prop_oneof![
        6 => prop::sample::select(TOKENS).prop_map(|token| token.chars().collect()),
        1 => any::<char>().prop_map(|one| vec![one]),
    ];
    damaged(letters, piece).prop_map(String::from_iter)
}

/// The same of bytes.
pub fn bytes(samples: Vec<Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    damaged(samples, prop::collection::vec(any::<u8>(), 1..5))
}

/// One of the samples with values that are missing, of another type, or elsewhere: it is JSON all
/// the same, so that it reaches whatever stands behind a parser.
pub fn json(samples: Vec<Value>) -> impl Strategy<Value = Value> {
    let one = any::<Index>().prop_map(move |index| index.get(&samples).clone());
    (one, prop::collection::vec(json::changes(), 1..6))
        .prop_map(|(sample, changes)| changes.into_iter().fold(sample, json::changed))
}

/// Does the work and tells if it took longer than any small input may.
pub fn swiftly<T>(work: impl FnOnce() -> T) -> T {
    let started = processor_time();
    let done = work();
    let took = processor_time().saturating_sub(started);
    assert!(took < PATIENCE, "it took {took:?}, and {PATIENCE:?} is too long already");
    done
}

/// The time that this thread was given, whatever else the machine is doing.
fn processor_time() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map(Duration::from).unwrap_or_default()
}

fn damaged<T: Copy + std::fmt::Debug + 'static>(
    samples: Vec<Vec<T>>,
    piece: impl Strategy<Value = Vec<T>> + 'static,
) -> impl Strategy<Value = Vec<T>> {
    let (one, donors) = (samples.clone(), samples);
    let one = any::<Index>().prop_map(move |index| index.get(&one).clone());
    (one, wounds(piece)).prop_map(move |(mut sample, wounds): (_, Vec<Wound<T>>)| {
        for wound in &wounds {
            wound.inflict(&mut sample, &donors);
        }
        sample
    })
}

#[cfg(test)]
mod tests {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    use super::*;

    #[test]
    fn most_of_what_is_damaged_differs_and_keeps_much_of_its_sample() {
        let sample = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: it\n".repeat(4);
        let mut runner = TestRunner::deterministic();
        let strategy = text(vec![sample.clone()]);
        let (mut differ, mut akin) = (0, 0);
        for _ in 0..200 {
            let damaged = strategy.new_tree(&mut runner).unwrap().current();
            differ += u32::from(damaged != sample);
            akin += u32::from(damaged.contains("kind: ConfigMap"));
        }
        assert!(differ > 180 && akin > 100, "{differ} differ, {akin} are still akin");
    }

    #[test]
    #[should_panic(expected = "is too long already")]
    fn what_takes_too_long_is_told() {
        swiftly(|| {
            let started = processor_time();
            while processor_time() - started <= PATIENCE {}
        });
    }
}
