//! Facts: signs of forms that hold at every input under consideration. The code that adds a fact is responsible for
//! its truth.

use super::{FormId, SignSet};
use rustc_hash::FxHashMap;

/// Signs of forms, by their canonical number (primitive up to a positive factor, the first
/// coefficient positive).
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    pub(super) signs: FxHashMap<FormId, SignSet>,
    /// The same in order of arrival.
    pub(super) order: Vec<FormId>,
    /// Enables conclusions by adding two facts; only while cases are split.
    pub(crate) combine: bool,
}

impl Facts {
    pub(crate) fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The forms with a fact, in order of arrival.
    pub(crate) fn forms(&self) -> &[FormId] {
        &self.order
    }

    pub(crate) fn get(&self, form: FormId) -> SignSet {
        self.signs.get(&form).copied().unwrap_or(SignSet::ANY)
    }
}
