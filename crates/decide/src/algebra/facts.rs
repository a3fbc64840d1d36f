//! Facts: known signs of forms, true at every input under consideration (the assumptions of the problem, or the
//! current case of a split). The code that adds a fact must have proved it: a wrong fact makes wrong proofs.

use super::{FormId, SignSet};
use rustc_hash::FxHashMap;

/// Known signs. A key is the number of a form's canonical multiple, whose first coefficient is 1.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    pub(super) signs: FxHashMap<FormId, SignSet>,
    /// The keys of `signs`, in the order in which they were added.
    pub(super) order: Vec<FormId>,
    /// Enables conclusions by adding two facts; only while cases are split.
    pub(crate) combine: bool,
}

impl Facts {
    pub(crate) fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Returns the forms with a fact, in order of arrival.
    pub(crate) fn forms(&self) -> &[FormId] {
        &self.order
    }

    pub(crate) fn get(&self, form: FormId) -> SignSet {
        self.signs.get(&form).copied().unwrap_or(SignSet::ANY)
    }
}
