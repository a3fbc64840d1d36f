//! Findings that a user accepts without proof (`--allow`, and `allow` in a project). They are then listed as
//! assumptions and leave nothing open.

use std::str::FromStr;
use thiserror::Error;

/// Names of allowances.
const NAMES: [&str; 1] = ["float-order"];

/// The allowances.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allow {
    /// Sums of atomic additions that depend on their order, in the last bits.
    pub float_order: bool,
}

impl Allow {
    /// The names of the allowances that are set.
    pub(crate) fn names(self) -> impl Iterator<Item = &'static str> {
        NAMES.into_iter().filter(move |_| self.float_order)
    }

    /// Returns the allowances that either has.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { float_order: self.float_order || other.float_order }
    }
}

/// An unknown allowance.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{name}` cannot be allowed; allowed are {}", NAMES.join(", "))]
pub struct UnknownAllowance {
    /// The name the user gave.
    pub name: String,
}

impl FromStr for Allow {
    type Err = UnknownAllowance;

    fn from_str(text: &str) -> Result<Self, UnknownAllowance> {
        match text {
            "float-order" => Ok(Self { float_order: true }),
            other => Err(UnknownAllowance { name: other.to_owned() }),
        }
    }
}
