//! Numbers of any size, kept as the text of their decimal form.
//!
//! Terraform's numbers have 512 bits; a detour through `f64` would change the large and the
//! finely divided ones and leave a difference in every plan. There is no arithmetic here:
//! a provider passes numbers through, compares them, or takes them as an `i64`.

use std::fmt::Write as _;

/// Beyond this power of ten a number is written with an exponent instead of zeros, so that a
/// few bytes of input cannot ask for gigabytes of text.
const PLAIN_LIMIT: i64 = 2_000;

/// A decimal number of any size and precision.
///
/// The text is normalised: equal numbers have equal text.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Number(String);

/// Text that is no number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NumberError {
    /// The text is not written as a decimal number.
    #[error("not a decimal number")]
    NotDecimal,
    /// The exponent is beyond what anything could mean.
    #[error("the exponent is out of range")]
    ExponentOutOfRange,
}

impl Number {
    /// Reads a decimal number: digits with an optional sign, fraction and exponent.
    pub fn parse(text: &str) -> Result<Self, NumberError> {
        let (negative, unsigned) = match text.as_bytes().first() {
            Some(b'-') => (true, &text[1..]),
            Some(b'+') => (false, &text[1..]),
            _ => (false, text),
        };
        let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
            Some(at) => (&unsigned[..at], parse_exponent(&unsigned[at + 1..])?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if whole.len() + fraction.len() == 0 || !all_digits(whole) || !all_digits(fraction) {
            return Err(NumberError::NotDecimal);
        }
        let digits = format!("{whole}{fraction}");
        let scale = i64::try_from(fraction.len()).map_err(|_| NumberError::ExponentOutOfRange)?;
        Ok(Self(normalise(negative, &digits, exponent - scale)))
    }

    /// The number that a binary float stands for, exactly. `None` for infinities and NaN.
    pub fn from_f64(float: f64) -> Option<Self> {
        if !float.is_finite() {
            return None;
        }
        // The smallest subnormal has 1,074 binary places and as many decimal ones.
        Self::parse(&format!("{float:.1074}")).ok()
    }

    /// The normalised text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The number as an integer, if it is one and fits.
    pub fn as_i64(&self) -> Option<i64> {
        self.0.parse().ok()
    }

    /// The number as an integer, if it is one, is not negative and fits.
    pub fn as_u64(&self) -> Option<u64> {
        self.0.parse().ok()
    }

    /// The nearest float; infinite if the number is too large for one.
    pub fn as_f64(&self) -> f64 {
        self.0.parse().unwrap_or(f64::NAN)
    }

    /// The float that is exactly this number, if there is one.
    pub(crate) fn as_exact_f64(&self) -> Option<f64> {
        let float = self.as_f64();
        (Self::from_f64(float).as_ref() == Some(self)).then_some(float)
    }
}

impl std::fmt::Debug for Number {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::str::FromStr for Number {
    type Err = NumberError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}

impl From<i64> for Number {
    fn from(number: i64) -> Self {
        Self(number.to_string())
    }
}

impl From<u64> for Number {
    fn from(number: u64) -> Self {
        Self(number.to_string())
    }
}

fn parse_exponent(text: &str) -> Result<i64, NumberError> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(NumberError::NotDecimal);
    }
    // 32 bits leave room to add the length of any mantissa without overflow.
    let exponent: i32 = text.parse().map_err(|_| NumberError::ExponentOutOfRange)?;
    Ok(exponent.into())
}

/// Writes `digits` times ten to the power of `exponent` in the one form that the number has.
fn normalise(negative: bool, digits: &str, exponent: i64) -> String {
    let significant = digits.trim_start_matches('0').trim_end_matches('0');
    if significant.is_empty() {
        return "0".to_owned();
    }
    let trailing = digits.len() - digits.trim_end_matches('0').len();
    let exponent = exponent + trailing as i64;
    let mut text = String::with_capacity(significant.len() + 8);
    if negative {
        text.push('-');
    }
    let point = significant.len() as i64 + exponent;
    if (0..=PLAIN_LIMIT).contains(&exponent) {
        text.push_str(significant);
        text.extend(std::iter::repeat_n('0', exponent as usize));
    } else if exponent < 0 && point > 0 {
        let (whole, fraction) = significant.split_at(point as usize);
        let _ = write!(text, "{whole}.{fraction}");
    } else if exponent < 0 && point > -PLAIN_LIMIT {
        text.push_str("0.");
        text.extend(std::iter::repeat_n('0', point.unsigned_abs() as usize));
        text.push_str(significant);
    } else {
        let _ = write!(text, "{significant}e{exponent}");
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn normal(text: &str) -> String {
        Number::parse(text).unwrap().as_str().to_owned()
    }

    #[test]
    fn gives_equal_numbers_equal_text() {
        for (text, expected) in [
            ("0", "0"),
            ("-0.000", "0"),
            ("+007", "7"),
            ("1.50", "1.5"),
            ("15e-1", "1.5"),
            ("1e3", "1000"),
            ("1000.0", "1000"),
            ("-0.00120", "-0.0012"),
            (".5", "0.5"),
            ("5.", "5"),
            ("123456789012345678901234567890", "123456789012345678901234567890"),
            ("1E+5000", "1e5000"),
            ("10e4999", "1e5000"),
            ("1e-5000", "1e-5000"),
        ] {
            assert_eq!(normal(text), expected, "{text}");
        }
    }

    #[test]
    fn refuses_text_that_is_no_number() {
        for text in
            ["", "-", ".", "e5", "1e", "1e+", "0x1f", "1_000", "NaN", "inf", "1.2.3", "--1", " 1"]
        {
            assert_eq!(Number::parse(text), Err(NumberError::NotDecimal), "{text}");
        }
        assert_eq!(Number::parse("1e99999999999"), Err(NumberError::ExponentOutOfRange));
    }

    #[test]
    fn takes_a_float_for_exactly_what_it_is() {
        assert_eq!(Number::from_f64(0.5).unwrap().as_str(), "0.5");
        assert!(Number::from_f64(0.1).unwrap().as_str().starts_with("0.10000000000000000555"));
        assert_eq!(Number::parse("0.1").unwrap().as_exact_f64(), None);
        assert_eq!(Number::from_f64(f64::INFINITY), None);
    }

    proptest! {
        #[test]
        fn parses_its_own_text(text in "-?[0-9]{1,40}(\\.[0-9]{1,40})?(e-?[0-9]{1,4})?") {
            let number = Number::parse(&text).unwrap();
            prop_assert_eq!(Number::parse(number.as_str()).unwrap(), number);
        }

        #[test]
        fn agrees_with_integers(integer in any::<i64>()) {
            let number = Number::from(integer);
            prop_assert_eq!(number.as_i64(), Some(integer));
            prop_assert_eq!(Number::parse(&format!("{integer}.0e0")).unwrap(), number);
        }

        #[test]
        fn keeps_every_float(float in any::<f64>().prop_filter("finite", |float| float.is_finite())) {
            let number = Number::from_f64(float).unwrap();
            prop_assert_eq!(number.as_exact_f64(), Some(float + 0.0));
        }
    }
}
