//! Values on a line of their own, cut where they are long.

use super::ABSENT;

/// As much of a value as fits a line.
const LONGEST: usize = 100;

/// So much of what two values have in common is shown before what they differ in.
const LEAD: usize = 20;

/// A value on one line, cut where it is long.
pub(super) fn one_line(text: &str) -> String {
    from(text, 0)
}

/// The values that one field has by turns. Long ones that begin alike are cut before the place where
/// they differ, for that is what the reader looks for.
pub(super) fn by_turns<const N: usize>(texts: [Option<&str>; N]) -> [String; N] {
    let alike = alike(texts.iter().copied().flatten());
    let start = if alike + LEAD > LONGEST { alike - LEAD } else { 0 };
    texts.map(|text| text.map_or(ABSENT.to_owned(), |text| from(text, start)))
}

/// How many characters the beginnings of all have in common: none where there is nothing to compare.
fn alike<'a>(texts: impl Iterator<Item = &'a str> + Clone) -> usize {
    let Some(first) = texts.clone().next() else {
        return 0;
    };
    let with = |other: &str| first.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    let differing = texts.filter(|other| *other != first);
    differing.map(with).min().unwrap_or_default()
}

fn from(text: &str, start: usize) -> String {
    let length = text.chars().count();
    let rest = text.chars().skip(start).collect::<String>().replace('\n', "\\n");
    let before = if start > 0 { "…" } else { "" };
    if rest.chars().count() <= LONGEST {
        return match start {
            0 => rest,
            _ => format!("{before}{rest} ({length} characters)"),
        };
    }
    let shown: String = rest.chars().take(LONGEST).collect();
    format!("{before}{shown}… ({length} characters)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_values_are_cut_and_lines_folded() {
        assert_eq!(one_line("a\nb"), "a\\nb");
        let cut = one_line(&"é".repeat(300));
        assert!(cut.starts_with(&"é".repeat(100)) && cut.ends_with("… (300 characters)"));
    }

    #[test]
    fn long_values_that_begin_alike_are_shown_where_they_differ() {
        let (same, tail) = ("é".repeat(200), "x".repeat(200));
        let (one, other) = (format!("{same}one{tail}"), format!("{same}two"));
        let lead = "é".repeat(LEAD);
        let [one, other, absent] = by_turns([Some(&one), Some(&other), None]);
        assert!(one.starts_with(&format!("…{lead}one")) && one.ends_with("x… (403 characters)"));
        assert_eq!(other, format!("…{lead}two (203 characters)"));
        assert_eq!(absent, ABSENT);
    }

    #[test]
    fn values_that_differ_early_or_not_at_all_are_shown_from_their_beginning() {
        let long = "a".repeat(300);
        let other = format!("{}b", "a".repeat(50));
        let begins = |text: &String| text.starts_with("aaa");
        assert!(by_turns([Some(&long), Some(&other)]).iter().all(begins));
        assert!(by_turns([Some(&long), Some(&long)]).iter().all(begins));
        assert_eq!(by_turns([Some("1"), Some("2")]), ["1", "2"]);
    }
}
