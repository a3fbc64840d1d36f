//! The decision procedure as an oracle for interpreters: is a comparison always true?
//!
//! Signs of normal forms only, no case splits: an interpreter asks at every symbolic branch.

use crate::algebra::{Algebra, Condition};
use crate::normalise::Normaliser;
use term::{Oracle, Term, Terms, Truth};

/// Answers by the signs of normal forms.
#[derive(Clone, Copy, Debug)]
pub struct Signs {
    /// Steps one question may take.
    pub steps: u64,
}

impl Default for Signs {
    fn default() -> Self {
        Self { steps: 100_000 }
    }
}

impl Oracle for Signs {
    fn truth(&mut self, terms: &Terms, condition: Term) -> Truth {
        // A condition that may be undefined is not settled by the values it has elsewhere.
        if terms.is_partial(condition) || terms.node_of(condition).is_none() {
            return Truth::Unknown;
        }
        let mut algebra = Algebra::new(terms.inputs().len());
        algebra.steps = self.steps;
        let canonical = Normaliser::new(terms, [condition]).condition(&mut algebra, condition);
        match canonical.map(|condition| algebra.condition(condition)) {
            Ok(Condition::Truth(true)) => Truth::True,
            Ok(Condition::Truth(false)) => Truth::False,
            Ok(_) | Err(_) => Truth::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use term::{Inputs, Relation};

    #[test]
    fn signs_settle_what_they_can() {
        let mut inputs = Inputs::new();
        let x = inputs.scalar("x").unwrap();
        let mut terms = Terms::new(Arc::new(inputs));
        let (x, zero) = (terms.input(x), terms.integer(0));
        let square = terms.multiply(x, x);
        let exponential = terms.exp(x);
        let positive = terms.add(square, exponential);
        let always = terms.compare(Relation::Less, zero, positive);
        let never = terms.compare(Relation::Less, positive, zero);
        let sometimes = terms.compare(Relation::Less, zero, x);
        let mut oracle = Signs::default();
        assert_eq!(oracle.truth(&terms, always), Truth::True);
        assert_eq!(oracle.truth(&terms, never), Truth::False);
        assert_eq!(oracle.truth(&terms, sometimes), Truth::Unknown);
    }
}
