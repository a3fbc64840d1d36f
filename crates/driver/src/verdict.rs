//! The verdict on a property, or on a whole request.

use crate::Colour;
use anstyle::AnsiColor;
use serde::{Serialize, Serializer};

/// The verdict on a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Proved,
    Refuted,
    Unknown,
}

impl Verdict {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Proved => "proved",
            Self::Refuted => "refuted",
            Self::Unknown => "unknown",
        }
    }

    /// The verdict's name in the terminal's colours.
    pub(crate) fn painted(self, colour: Colour) -> String {
        let style = colour.style(match self {
            Self::Proved => AnsiColor::Green.on_default().bold(),
            Self::Refuted => AnsiColor::Red.on_default().bold(),
            Self::Unknown => AnsiColor::Yellow.on_default().bold(),
        });
        format!("{style}{}{style:#}", self.name())
    }

    /// The verdict on everything: refuted if any is, else unknown if any is.
    pub(crate) fn of_all(verdicts: impl Iterator<Item = Self>) -> Self {
        verdicts.fold(Self::Proved, |all, one| match (all, one) {
            (Self::Refuted, _) | (_, Self::Refuted) => Self::Refuted,
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
            (Self::Proved, Self::Proved) => Self::Proved,
        })
    }
}

impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
