//! Dates, for expiry.

use std::fmt;
use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};
use thiserror::Error;

/// A day of the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    /// Such as 2027.
    pub year: u32,
    /// From 1.
    pub month: u32,
    /// From 1.
    pub day: u32,
}

impl Date {
    /// Today, in UTC.
    #[must_use]
    pub fn today() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self::from_days(since.as_secs() / 86_400)
    }

    /// The date of a time in seconds since 1970-01-01, in UTC, as `SOURCE_DATE_EPOCH` has it; `None` if the text is
    /// no such number.
    #[must_use]
    pub fn of_epoch(seconds: &str) -> Option<Self> {
        let seconds: u64 = seconds.trim().parse().ok()?;
        // Years have four digits.
        (seconds < 253_402_300_800).then(|| Self::from_days(seconds / 86_400))
    }

    /// The date `days` days after 1970-01-01.
    fn from_days(days: u64) -> Self {
        let mut left = u32::try_from(days).unwrap_or(u32::MAX);
        let mut year = 1970;
        let length = |year| if is_leap(year) { 366 } else { 365 };
        while left >= length(year) {
            left -= length(year);
            year += 1;
        }
        let mut month = 1;
        while left >= days_of(year, month) {
            left -= days_of(year, month);
            month += 1;
        }
        Self { year, month, day: left + 1 }
    }
}

/// A text that is not a date.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{text}` is not a date such as 2027-01-31")]
pub struct DateError {
    /// The text.
    pub text: String,
}

impl FromStr for Date {
    type Err = DateError;

    fn from_str(text: &str) -> Result<Self, DateError> {
        let expected = || DateError { text: text.to_owned() };
        let parts: Vec<u32> = text
            .split('-')
            .map(|part| part.parse().map_err(|_| expected()))
            .collect::<Result<_, _>>()?;
        let &[year, month, day] = parts.as_slice() else { return Err(expected()) };
        let exists = (1..=12).contains(&month) && (1..=days_of(year, month)).contains(&day);
        if exists && text.len() == 10 { Ok(Self { year, month, day }) } else { Err(expected()) }
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

fn is_leap(year: u32) -> bool {
    year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400)
}

fn days_of(year: u32, month: u32) -> u32 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::Date;

    #[test]
    fn days_are_counted_right() {
        for (days, date) in [
            (0, "1970-01-01"),
            (58, "1970-02-28"),
            (59, "1970-03-01"),
            (11_016, "2000-02-29"),
            (20_772, "2026-11-15"),
        ] {
            assert_eq!(Date::from_days(days).to_string(), date);
            assert_eq!(date.parse(), Ok(Date::from_days(days)));
        }
        assert_eq!(Date::of_epoch("1700000000"), "2023-11-14".parse().ok());
        assert_eq!(Date::of_epoch("253402300799"), "9999-12-31".parse().ok());
        for wrong in ["", "-1", "1e9", "253402300800", "now"] {
            assert_eq!(Date::of_epoch(wrong), None, "{wrong}");
        }
        for wrong in ["2027-02-29", "2027-13-01", "2027-1-1", "tomorrow", "2027-01"] {
            assert!(wrong.parse::<Date>().is_err(), "{wrong}");
        }
    }
}
