//! Canonical conditions of selects: Boolean combinations of signs of forms. Equal conditions have equal numbers; the
//! constructors (`select.rs`) bring comparisons into this form.

use super::{FormId, SignSet};

/// A condition's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ConditionId(pub(super) u32);

/// A canonical condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Condition {
    /// True, or false, at every input.
    Truth(bool),
    /// The form's sign is in the set, which is neither empty nor all signs. The form's first coefficient is 1.
    Sign(FormId, SignSet),
    /// Both, smaller number first.
    And(ConditionId, ConditionId),
    /// Either, smaller number first.
    Or(ConditionId, ConditionId),
    /// The negation of an `And` or an `Or`.
    Not(ConditionId),
}
