//! What a cause says, apart from the value that it quotes.
//!
//! Two refusals are for the same only if they say the same of the same field. Nothing is known here
//! of what any server says: words are compared with words, save the one word `status`, by which a
//! rule tells that it goes by what is reported of the object.

use serde_json::Value;

use super::is_same_field;
use crate::rejection::Cause;

/// The words of a cause: of `Invalid value: {…}: field is immutable` the last part. What follows on
/// other lines shows the difference of two objects, and depends on what was sent.
pub(super) fn words(cause: &Cause) -> &str {
    let line = cause.message.lines().next().unwrap_or_default();
    let Some((_, rest)) = line.split_once(": ") else {
        return line;
    };
    let mut value = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
    let quoted = match value.next() {
        Some(Ok(_)) => Some(value.byte_offset()),
        _ => None,
    };
    let told = quoted.and_then(|end| rest.get(end..)?.strip_prefix(": "));
    // A value that is quoted in another way has no end that anybody could find.
    told.or_else(|| rest.rsplit(": ").next()).unwrap_or(rest)
}

/// Whether some cause of the one stands among those of the other.
pub(super) fn agree(these: &[Cause], those: &[Cause]) -> bool {
    let is_same = |this: &Cause, that: &Cause| {
        is_same_field(&this.field, &that.field) && words(this) == words(that)
    };
    these.iter().any(|this| those.iter().any(|that| is_same(this, that)))
}

/// Whether the field of a cause is one of what is reported of the object.
pub fn names_status(cause: &Cause) -> bool {
    cause.field.split(['.', '[']).next() == Some("status")
}

/// Whether a cause is about what is reported of the object: by its field, or by its words.
pub(super) fn is_reported(cause: &Cause) -> bool {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '-';
    let says = |text: &str| text.split(|letter| !is_word(letter)).any(|word| word == "status");
    names_status(cause) || says(words(cause))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cause(field: &str, message: &str) -> Cause {
        Cause { reason: "FieldValueInvalid".into(), message: message.into(), field: field.into() }
    }

    #[test]
    fn the_words_of_a_cause_leave_out_the_value_that_it_quotes() {
        for (message, expected) in [
            ("field is immutable", "field is immutable"),
            ("Forbidden: may not change: ever\n  core.PodSpec{…}", "ever"),
            (r#"Invalid value: {"a: b":"status: x"}: is fixed: always"#, "is fixed: always"),
            (r#"Invalid value: "object": once must stay"#, "once must stay"),
            (r#"Invalid value: v1.Selector{A:"x"}: field is immutable"#, "field is immutable"),
            ("Required value", "Required value"),
        ] {
            assert_eq!(words(&cause("spec", message)), expected);
        }
    }

    #[test]
    fn refusals_agree_that_say_the_same_of_the_same_field() {
        let exclude = cause("spec", r#"Invalid value: {"x":1}: x and y exclude each other"#);
        let stay = cause("spec", r#"Invalid value: {"y":1}: once must stay"#);
        let elsewhere = cause("spec.y", r#"Invalid value: {"x":1}: x and y exclude each other"#);
        let again = cause("spec", r#"Invalid value: {"y":1}: x and y exclude each other"#);
        assert!(!agree(std::slice::from_ref(&exclude), std::slice::from_ref(&stay)));
        assert!(!agree(std::slice::from_ref(&exclude), &[elsewhere]));
        assert!(agree(&[exclude], &[stay, again]));
    }

    #[test]
    fn a_word_of_the_status_is_told_from_a_value_that_has_it() {
        let size = "spec.resources.requests.storage";
        let shrunk = "Forbidden: field can not be less than status.capacity";
        assert!(is_reported(&cause(size, shrunk)));
        let rule = r#"Invalid value: "object": failed rule: self.size >= self.status.used"#;
        assert!(is_reported(&cause("spec", rule)));
        let value = r#"Invalid value: {"status":"a"}: field is immutable"#;
        assert!(!is_reported(&cause("spec.selector", value)));
        assert!(!is_reported(&cause("spec.statusPage", "Invalid value: 1: statusPage is fixed")));
    }
}
