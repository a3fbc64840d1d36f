//! Choices between terms, and decided conditions.

use super::Symbolic;
use super::operation::Operation;
use crate::{choices, operations};
use exec::Mask;
use exec::domain::{Connective, Truths, Values};
use term::{Function, Node, Term};

impl Symbolic {
    /// Builds a choice, simplifying choices inside it that its condition settles.
    pub(super) fn choose(&mut self, condition: Term, [a, b]: [Term; 2]) -> Term {
        // These limits affect only the form of the term.
        const MAX_CHOICES: usize = 4096;
        const FEW_CHOICES: usize = 64;
        let sides = [self.simplified_under(condition, a), b];
        if let Some(extremum) = self.extremum(condition, sides) {
            return extremum;
        }
        let undefined = sides.into_iter().any(|side| self.may_be_undefined(side));
        let nested = |side: &Term| matches!(self.terms.node(*side), Node::Select(..));
        if !undefined && !sides.iter().any(nested) {
            return self.terms.select(condition, sides[0], sides[1]);
        }
        let budget = if undefined { MAX_CHOICES } else { FEW_CHOICES };
        choices::select(&mut self.terms, &mut self.conditions, condition, sides, budget)
    }

    /// Connects two conditions. One that follows from the other is dropped: `x != 2 and x == 3`.
    pub(super) fn connect_terms(&mut self, op: Connective, a: Term, b: Term) -> Term {
        if op == Connective::And {
            for (equation, other) in [(a, b), (b, a)] {
                match self.decide_under(equation, other) {
                    Some(true) => return equation,
                    Some(false) => return self.terms.truth(false),
                    None => {}
                }
            }
        }
        operations::connect(&mut self.terms, op, a, b)
    }

    /// Recognises a choice that is a maximum or minimum: `a < b ? b : a`. Over the reals it does not matter
    /// which of two equal ones is chosen.
    fn extremum(&mut self, condition: Term, sides: [Term; 2]) -> Option<Term> {
        use term::Relation::{Less, LessEqual};
        let [x, y] = sides;
        let (a, b, holds) = match self.terms.node(condition) {
            Node::Compare(Less | LessEqual, a, b) => (a, b, true),
            Node::Not(inner) => match self.terms.at(inner) {
                Node::Compare(Less | LessEqual, a, b) => (a, b, false),
                _ => return None,
            },
            _ => return None,
        };
        let ends = [Term::from(a), Term::from(b)];
        match (ends == [y, x], ends == [x, y]) {
            (true, _) if holds => Some(self.terms.maximum(x, y)),
            (true, _) => Some(self.terms.minimum(x, y)),
            (_, true) if holds => Some(self.terms.minimum(x, y)),
            (_, true) => Some(self.terms.maximum(x, y)),
            _ => None,
        }
    }

    /// Evaluates a comparison of `operands` in `lanes`, and writes the decided truths and open conditions to `out`.
    pub(super) fn compare_with(
        &mut self,
        operation: Operation,
        operands: [&Values; 2],
        lanes: Mask,
        out: &mut Truths,
    ) {
        let mut conditions = [0; exec::WARP];
        self.note_infinities(operands, lanes);
        self.apply_in_lanes(operation, operands, lanes, &mut conditions);
        self.note_decisions(&conditions, lanes);
        self.conclude(&conditions, lanes, out);
    }

    /// Returns an operand of a comparison of floats. An integer becomes [`Function::Rounded`], because the conversion
    /// to a float may have rounded it: the comparison then says nothing exact about the integer. So it gives no bound
    /// of the integer, does not contradict a comparison of the integer itself, and turns no choice between integers
    /// into a maximum. Constants stay unmarked.
    pub(super) fn as_float(&mut self, operand: Term) -> Term {
        match self.range(operand).is_some() {
            true => self.terms.apply(Function::Rounded, operand),
            false => operand,
        }
    }

    /// Sets lanes of `out`: to a truth where the condition is constant, and to the condition elsewhere.
    pub(super) fn conclude(&mut self, conditions: &Values, lanes: Mask, out: &mut Truths) {
        for lane in lanes.iter() {
            let condition = self.term(conditions[lane]);
            match self.terms.node(condition) {
                Node::Truth(holds) => out.decide(lane, holds),
                _ => out.defer(lane, conditions[lane]),
            }
        }
    }

    /// Like [`conclude`](Self::conclude), for conditions with connectives: these may be valid or unsatisfiable although
    /// none of their operands is constant.
    pub(super) fn conclude_connected(
        &mut self,
        conditions: &Values,
        lanes: Mask,
        out: &mut Truths,
    ) {
        for lane in lanes.iter() {
            let condition = self.term(conditions[lane]);
            let condition = self.terms.seal(condition);
            match self.conditions.of(&self.terms, condition).known() {
                Some(holds) => out.decide(lane, holds),
                None => out.defer(lane, conditions[lane]),
            }
        }
    }
}
