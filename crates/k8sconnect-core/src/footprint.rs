//! How much memory a JSON text takes once it is read into values.
//!
//! A bound on the text is none on the memory: a map with one entry takes more than a hundred times its
//! text. This is an estimate from above, and no parser: what is no JSON is refused by whoever reads it.

/// For each byte that a text may have at most, so many bytes of values are allowed. The largest CRD of
/// Argo CD has 0.3 MiB of text and 8 MiB of values; a text of up to 8 MiB may have 64 MiB of values.
const PER_BYTE: usize = 8;

/// A map with any entry has a node with room for eleven.
const MAP: usize = 640;
/// A value, in a list or a map that grows by doubling.
const VALUE: usize = 64;

/// Whether a text has more values than a text of up to `largest` bytes may have.
pub fn exceeds(text: &[u8], largest: usize) -> bool {
    of(text) > PER_BYTE * largest
}

/// Bytes of the values of a text, beside the text itself.
fn of(text: &[u8]) -> usize {
    let (mut bytes, mut in_string, mut is_escaped, mut has_opened) = (0, false, false, false);
    for byte in text {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => {
                in_string = !in_string;
                // A map with any entry begins with a key.
                bytes += if has_opened { MAP } else { 0 };
                has_opened = false;
            }
            _ if in_string => {}
            b'{' => has_opened = true,
            b'}' => has_opened = false,
            b',' | b'[' => bytes += VALUE,
            _ => {}
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_count_more_than_values_and_texts_count_nothing() {
        assert_eq!(of(br#"{"a": "{[,\"{"}"#), MAP);
        assert_eq!(of(br#"{"a": [{}, { }, {"b": 1}]}"#), MAP + 3 * VALUE + MAP);
        assert_eq!(of(br#""unfinished \"#), 0);
    }

    #[test]
    fn many_small_maps_are_beyond_every_bound_that_their_text_keeps() {
        let text = format!("[{}0]", r#"{"":0},"#.repeat(1000));
        assert!(of(text.as_bytes()) > 10 * PER_BYTE * text.len());
    }
}
