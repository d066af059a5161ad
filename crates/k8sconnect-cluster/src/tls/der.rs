//! As much of a certificate as tells whose it is: its public key.
//!
//! rustls reads certificates of version 3 only, and Kubernetes takes those of version 1 too, which a
//! plain `openssl x509 -req` makes. So the way to the key is walked here, which is the same in all
//! versions. Nothing is believed on the strength of this; the server checks what it is shown.

const SEQUENCE: u8 = 0x30;
const INTEGER: u8 = 0x02;
/// The version, which is left out in version 1.
const VERSION: u8 = 0xa0;

/// The `SubjectPublicKeyInfo` of a certificate; `None` if it is no certificate.
pub(super) fn public_key(certificate: &[u8]) -> Option<&[u8]> {
    let (whole, _) = element(certificate, SEQUENCE)?;
    let mut rest = element(whole.content, SEQUENCE)?.0.content;
    if let Some((_, after)) = element(rest, VERSION) {
        rest = after;
    }
    // The serial number, the signature's algorithm, the issuer, the validity, the subject.
    for tag in [INTEGER, SEQUENCE, SEQUENCE, SEQUENCE, SEQUENCE] {
        rest = element(rest, tag)?.1;
    }
    Some(element(rest, SEQUENCE)?.0.whole)
}

struct Element<'a> {
    whole: &'a [u8],
    content: &'a [u8],
}

/// The first element, which must have this tag, and what follows it.
fn element(bytes: &[u8], tag: u8) -> Option<(Element<'_>, &[u8])> {
    let [first, length, ..] = bytes else { return None };
    if *first != tag {
        return None;
    }
    let (start, length) = match length {
        0..=0x7f => (2, usize::from(*length)),
        0x81..=0x84 => {
            let more = usize::from(length & 0x7f);
            let digits = bytes.get(2..2 + more)?;
            let length = digits.iter().fold(0_usize, |sum, byte| sum << 8 | usize::from(*byte));
            (2 + more, length)
        }
        _ => return None,
    };
    let end = start.checked_add(length)?;
    let (whole, rest) = (bytes.get(..end)?, bytes.get(end..)?);
    Some((Element { whole, content: whole.get(start..)? }, rest))
}
