//! The vocabulary of reports: severities, kinds of findings and properties. Each word is defined in one table, with its
//! name in all formats. Programs read these names, so they do not change.

use serde::{Serialize, Serializer};
use std::fmt;

/// Defines an enumeration whose values have names.
macro_rules! named {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $value:ident = $text:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) enum $name {
            $($(#[$doc])* $value,)*
        }

        impl $name {
            /// The word for this value in reports.
            pub(crate) const fn name(self) -> &'static str {
                match self {
                    $(Self::$value => $text,)*
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }
    };
}

named! {
    /// The severity of a finding.
    Severity {
        Error = "error",
        /// Something is not proved.
        Warning = "warning",
        Note = "note",
        /// It may or may not be an error.
        Unsupported = "unsupported",
    }
}

named! {
    /// The kind of a finding.
    FindingKind {
        AsyncCopy = "async-copy",
        BarrierDivergence = "barrier-divergence",
        BarrierMisuse = "barrier-misuse",
        BarrierReuse = "barrier-reuse",
        ClauseWithoutValue = "clause-without-value",
        Deadlock = "deadlock",
        DependsOnInitial = "depends-on-initial",
        Different = "different",
        DivisionByZero = "division-by-zero",
        InputError = "input-error",
        InputModified = "input-modified",
        Invariant = "invariant",
        Launch = "launch",
        Misaligned = "misaligned",
        OutOfBounds = "out-of-bounds",
        Overflow = "overflow",
        Postcondition = "postcondition",
        Race = "race",
        Trap = "trap",
        UndefinedValue = "undefined-value",
        Uninitialised = "uninitialised",
        /// Nothing was found, and nothing proved.
        Unknown = "unknown",
        Unsupported = "unsupported",
        UnwrittenOutput = "unwritten-output",
        WarpCollective = "warp-collective",
    }
}

named! {
    /// A claim about a kernel, or a requirement on the input.
    PropertyName {
        Alignment = "alignment",
        Barriers = "barriers",
        Bounds = "bounds",
        Clauses = "clauses",
        Collectives = "collectives",
        Deadlock = "deadlock",
        Determinism = "determinism",
        Division = "division",
        Equivalence = "equivalence",
        Frame = "frame",
        Initialised = "initialised",
        /// There is a kernel to check.
        Input = "input",
        Invariant = "invariant",
        Launch = "launch",
        Overflow = "overflow",
        Postcondition = "postcondition",
        Races = "races",
        /// A compiler reads the kernel as we do.
        Reading = "reading",
        /// The property of a notice about several properties.
        Several = "",
        Traps = "traps",
        Values = "values",
    }
}

impl From<base::Severity> for Severity {
    fn from(severity: base::Severity) -> Self {
        match severity {
            base::Severity::Error => Self::Error,
            base::Severity::Unsupported => Self::Unsupported,
            base::Severity::Note => Self::Note,
        }
    }
}

/// Names in a row: `bounds, races`.
pub(crate) fn listed(names: impl IntoIterator<Item = PropertyName>) -> String {
    names.into_iter().map(PropertyName::name).collect::<Vec<_>>().join(", ")
}
