//! Parses limits as people write them: `20s`, `0.5`, `20G`.

use std::time::Duration;
use thiserror::Error;

/// The reason why a text is not a limit; displays as a clause about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum LimitError {
    /// Not a unit of counts.
    #[error("is not a number such as 1000000 or 20G")]
    Unit,
    /// No digits.
    #[error("is not a number")]
    NotANumber,
    /// Too large, zero or negative.
    #[error("is out of range")]
    Range,
    /// Not a number of seconds.
    #[error("is not a number of seconds such as 10 or 0.5")]
    NotSeconds,
}

/// Parses a count: `1000`, `500K`, `20M`, `20G`
///
/// # Errors
/// If it is not a positive number.
pub fn count(text: &str) -> Result<u64, LimitError> {
    let digits = text.trim_end_matches(['k', 'K', 'M', 'G']);
    let factor = match &text[digits.len()..] {
        "" => 1,
        "k" | "K" => 1_000,
        "M" => 1_000_000,
        "G" => 1_000_000_000,
        _ => return Err(LimitError::Unit),
    };
    let number: u64 = digits.replace('_', "").parse().map_err(|_| LimitError::NotANumber)?;
    number.checked_mul(factor).filter(|&count| count > 0).ok_or(LimitError::Range)
}

/// Parses a duration: `10`, `0.5`, `20s`, `2m`
///
/// # Errors
/// If it is not a duration.
pub fn seconds(text: &str) -> Result<Duration, LimitError> {
    let (digits, factor) = match text.strip_suffix('m') {
        Some(digits) => (digits, 60.0),
        None => (text.strip_suffix('s').unwrap_or(text), 1.0),
    };
    let number: f64 = digits.parse().map_err(|_| LimitError::NotSeconds)?;
    Duration::try_from_secs_f64(number * factor).map_err(|_| LimitError::Range)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_units() {
        assert_eq!(count("20G"), Ok(20_000_000_000));
        assert_eq!(count("1_000"), Ok(1000));
        assert_eq!(count("3k"), Ok(3000));
        for wrong in ["", "G", "0", "-1", "1T", "1KM", "99999999999G"] {
            assert!(count(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn times_have_units() {
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        assert_eq!(seconds("2s"), Ok(Duration::from_secs(2)));
        assert_eq!(seconds("2m"), Ok(Duration::from_secs(120)));
        assert!(seconds("-1").is_err() && seconds("nan").is_err());
    }
}
