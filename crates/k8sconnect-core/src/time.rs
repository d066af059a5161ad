//! RFC 3339, as far as expiries of credentials and ages of objects need it, and the dates of HTTP.
//! Nothing here reads a clock.

use std::time::{Duration, SystemTime};

/// `2026-11-15T08:00:00Z`, with a fraction (dropped) or an offset where there is one.
pub fn parse(text: &str) -> Option<SystemTime> {
    let (date, clock) = text.split_once(['T', 't', ' '])?;
    let [year, month, day] = numbers(date, '-')?;
    let zone_at = clock.find(['Z', 'z', '+', '-'])?;
    let (clock, zone) = clock.split_at(zone_at);
    let clock = clock.split_once('.').map_or(clock, |(whole, _fraction)| whole);
    let [hour, minute, second] = numbers(clock, ':')?;
    let offset = match zone {
        "Z" | "z" => 0,
        _ => {
            let (hours, minutes) = zone[1..].split_once(':')?;
            let (hours, minutes) = (hours.parse::<u8>().ok()?, minutes.parse::<u8>().ok()?);
            if hours > 23 || minutes > 59 {
                return None;
            }
            let minutes = i64::from(hours) * 60 + i64::from(minutes);
            minutes * if zone.starts_with('-') { -60 } else { 60 }
        }
    };
    instant([year, month, day], [hour, minute, second], offset)
}

/// `Sun, 15 Nov 2026 08:00:00 GMT`, as headers of HTTP have it; the older forms are not read.
pub fn parse_http(text: &str) -> Option<SystemTime> {
    let (_weekday, rest) = text.trim().split_once(", ")?;
    let words: Vec<_> = rest.split(' ').collect();
    let [day, month, year, clock, "GMT"] = words.as_slice() else { return None };
    let number = |text: &str| text.parse::<u32>().ok().map(i64::from);
    let month = MONTHS.iter().zip(1..).find_map(|(name, n)| (name == month).then_some(n))?;
    instant([number(year)?, month, number(day)?], numbers(clock, ':')?, 0)
}

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

fn instant(date: [i64; 3], clock: [i64; 3], offset: i64) -> Option<SystemTime> {
    let ([year, month, day], [hour, minute, second]) = (date, clock);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || hour > 23 || minute > 59 {
        return None;
    }
    let seconds = days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset;
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(u64::try_from(seconds).ok()?))
}

fn numbers(text: &str, between: char) -> Option<[i64; 3]> {
    let numbers = text.split(between).map(|part| part.parse::<u32>().map(i64::from));
    numbers.collect::<Result<Vec<_>, _>>().ok()?.try_into().ok()
}

/// Days since 1970-01-01 in the Gregorian calendar, counted from March so that the leap day is
/// the last of its year.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    365 * year + year.div_euclid(4) - year.div_euclid(100)
        + year.div_euclid(400)
        + (153 * month + 2) / 5
        + day
        - 719_469
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(text: &str) -> Option<u64> {
        Some(parse(text)?.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs())
    }

    #[test]
    fn the_dates_of_http_are_read() {
        let seconds = |text| {
            Some(parse_http(text)?.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs())
        };
        assert_eq!(seconds("Sun, 15 Nov 2026 08:00:00 GMT"), Some(1_794_729_600));
        assert_eq!(seconds(" Thu, 01 Jan 1970 00:00:07 GMT"), Some(7));
        for text in ["", "7", "Sun, 15 Nov 2026 08:00:00 CET", "Sun, 15 Nvo 2026 08:00:00 GMT"] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }

    #[test]
    fn known_instants_are_read_right() {
        assert_eq!(seconds("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(seconds("2000-02-29T12:00:00Z"), Some(951_825_600));
        assert_eq!(seconds("2026-11-15T08:00:00Z"), Some(1_794_729_600));
        assert_eq!(seconds("2026-11-15T08:00:00.123456Z"), Some(1_794_729_600));
        assert_eq!(seconds("2026-11-15T09:30:00+01:30"), Some(1_794_729_600));
        assert_eq!(seconds("2026-11-15T00:00:00-08:00"), Some(1_794_729_600));
    }

    #[test]
    fn an_offset_that_no_clock_has_is_none() {
        for offset in
            ["+24:00", "+00:60", "-256:00", "+9223372036854775807:00", "+00:9223372036854775807"]
        {
            assert_eq!(seconds(&format!("2026-11-15T08:00:00{offset}")), None, "{offset}");
        }
        assert_eq!(seconds("2026-11-15T22:00:00+14:00"), Some(1_794_729_600));
        assert!(seconds("4294967295-12-31T23:59:4294967295-23:59").is_some());
    }

    #[test]
    fn what_is_no_time_is_none() {
        for text in ["", "tomorrow", "2026-11-15", "2026-13-01T00:00:00Z", "2026-11-15T08:00:00"] {
            assert_eq!(seconds(text), None, "{text:?}");
        }
    }
}
