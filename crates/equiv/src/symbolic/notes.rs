//! Records assumptions of a run that its terms do not show: finite numbers, and outcomes of decisions.

use super::Symbolic;
use exec::Mask;
use exec::domain::{Value, Values};
use std::collections::BTreeSet;
use term::{Node, Term};

impl Symbolic {
    /// Returns `true` if a term may, under some condition, be a value that was never computed.
    pub(crate) fn may_be_undefined(&mut self, term: Term) -> bool {
        self.fully_defined.reaches_undefined(&self.terms, term)
    }

    /// Returns the constants taken for transcendental numbers.
    #[must_use]
    pub fn snapped(&self) -> BTreeSet<String> {
        self.snapped.iter().map(ToString::to_string).collect()
    }

    /// Returns the approximate values of the snapped constants, each with both signs.
    pub(crate) fn snapped_numbers(&self) -> Vec<f64> {
        self.snapped.iter().flat_map(|known| [known.number(), -known.number()]).collect()
    }

    /// Records comparisons of data with an infinity: real numbers are finite, floats need not be.
    pub(super) fn note_infinities(&mut self, operands: [&Values; 2], lanes: Mask) {
        let Some(place) = self.place else { return };
        // Returns two flags: the value is an infinity, the value is data.
        let mut classify = |value: Value| {
            let term = self.term(value);
            match self.terms.node(term) {
                Node::Infinity { .. } => (true, false),
                node => (false, !matches!(node, Node::Constant(_) | Node::Pi | Node::Undefined)),
            }
        };
        let is_assumed = |lane: usize| {
            let (one, other) = (classify(operands[0][lane]), classify(operands[1][lane]));
            one.0 && other.1 || other.0 && one.1
        };
        if lanes.iter().any(is_assumed) {
            self.assumed_properties.assumes_finite(place);
        }
    }

    /// Records the values of conditions or rounded numbers, if this run needs them.
    pub(super) fn note_decisions(&mut self, values: &Values, lanes: Mask) {
        let Some(mut decisions) = self.decisions.take() else { return };
        for lane in lanes.iter() {
            let term = self.term(values[lane]);
            decisions.note(&self.terms, self.place, term);
        }
        self.decisions = Some(decisions);
    }

    /// Records the signs of numbers, if this run needs them.
    pub(super) fn note_signs(&mut self, values: &Values, lanes: Mask) {
        if self.decisions.is_none() {
            return;
        }
        let mut negative = [0; exec::WARP];
        let zero = self.terms.zero();
        for lane in lanes.iter() {
            let term = self.term(values[lane]);
            let is_negative = self.terms.compare(term::Relation::Less, term, zero);
            negative[lane] = self.handles.handle(is_negative);
        }
        self.note_decisions(&negative, lanes);
    }
}
