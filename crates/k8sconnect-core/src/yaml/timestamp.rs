//! Which texts Go takes for a timestamp.
//!
//! A timestamp stays text in any case; this only decides whether an explicit `!!timestamp` is true
//! of its value.

/// Whether `text` has one of the forms `2006-1-2`, `2006-1-2 15:4:5.9` and `2006-1-2T15:4:5.9Z`
/// (also with an offset in place of `Z`, and with a small `t`).
pub(super) fn is_timestamp(text: &str) -> bool {
    date_then_rest(text).is_some_and(|rest| match rest.as_bytes().first() {
        None => true,
        Some(b'T' | b't') => time_then_rest(&rest[1..]).is_some_and(is_zone),
        Some(b' ') => time_then_rest(rest.trim_start_matches(' ')).is_some_and(str::is_empty),
        Some(_) => false,
    })
}

fn date_then_rest(text: &str) -> Option<&str> {
    let (year, rest) = text.split_once('-')?;
    if year.len() != 4 || !year.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let year: u32 = year.parse().ok()?;
    let (month, rest) = short_number(rest)?;
    let (day, rest) = short_number(rest.strip_prefix('-')?)?;
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => return None,
    };
    (1..=days).contains(&day).then_some(rest)
}

fn time_then_rest(text: &str) -> Option<&str> {
    let (hour, rest) = short_number(text)?;
    let (minute, rest) = short_number(rest.strip_prefix(':')?)?;
    let (second, rest) = short_number(rest.strip_prefix(':')?)?;
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let Some(fraction) = rest.strip_prefix(['.', ',']) else {
        return Some(rest);
    };
    let after = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
    Some(if after.len() == fraction.len() { rest } else { after })
}

fn is_zone(text: &str) -> bool {
    if text == "Z" {
        return true;
    }
    let Some(offset) = text.strip_prefix(['+', '-']) else {
        return false;
    };
    let Some((hours, minutes)) = offset.split_once(':') else {
        return false;
    };
    let within = |digits: &str, limit: u32| {
        digits.len() == 2
            && digits.bytes().all(|b| b.is_ascii_digit())
            && digits.parse::<u32>().is_ok_and(|n| n <= limit)
    };
    within(hours, 24) && within(minutes, 60)
}

/// One or two digits.
fn short_number(text: &str) -> Option<(u32, &str)> {
    let digits = text.bytes().take(2).take_while(u8::is_ascii_digit).count();
    let (number, rest) = text.split_at(digits);
    Some((number.parse().ok()?, rest))
}
