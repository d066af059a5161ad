//! Durations as users write them.

use std::time::Duration;

/// `90s`, `5m`, `1h30m`: whole numbers with their units.
pub(crate) fn duration(text: &str) -> Result<Duration, &'static str> {
    const FORM: &str = "a duration is written as in `90s`, `5m` or `1h30m`";
    let mut total = Duration::ZERO;
    let mut rest = text.trim();
    if rest.is_empty() {
        return Err(FORM);
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).ok_or(FORM)?;
        let amount: u64 = rest[..digits].parse().map_err(|_| FORM)?;
        rest = &rest[digits..];
        let letters = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let unit = match &rest[..letters] {
            "ms" => Duration::from_millis(1),
            "s" => Duration::from_secs(1),
            "m" => Duration::from_secs(60),
            "h" => Duration::from_secs(3600),
            _ => return Err(FORM),
        };
        let part = u32::try_from(amount).ok().and_then(|amount| unit.checked_mul(amount));
        total = part.and_then(|part| total.checked_add(part)).ok_or("it is too long")?;
        rest = &rest[letters..];
    }
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_people_write_them() {
        assert_eq!(duration("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("1h30m"), Ok(Duration::from_secs(5400)));
        assert_eq!(duration("0s"), Ok(Duration::ZERO));
        for wrong in ["", "5", "m", "5 m", "-5s", "5d", "99999999999h"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}
