//! What a user accepts without proof (`--allow`, and `allow` in a project): it is listed as an
//! assumption then and leaves nothing open.

use std::str::FromStr;
use thiserror::Error;

/// Names of what may be allowed.
const NAMES: [&str; 1] = ["float-order"];

/// What is allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allow {
    /// Sums of atomic additions that depend on their order, in the last bits.
    pub float_order: bool,
}

impl Allow {
    /// The names of what is allowed.
    pub(crate) fn names(self) -> impl Iterator<Item = &'static str> {
        NAMES.into_iter().filter(move |_| self.float_order)
    }

    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { float_order: self.float_order || other.float_order }
    }
}

/// A name of something that cannot be allowed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{name}` cannot be allowed; what can be is {}", NAMES.join(", "))]
pub struct UnknownAllowance {
    /// The name.
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
