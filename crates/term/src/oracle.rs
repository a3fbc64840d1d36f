//! The question an interpreter may ask about a comparison it cannot fold: is it always true?
//!
//! The trait lives here so that an interpreter can take any answerer (constants only, the
//! decision procedure, an SMT solver) without depending on it.

use crate::{Node, Term, Terms};

/// What is known about a condition over all inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Truth {
    /// True at every input where it is defined.
    True,
    /// False at every input where it is defined.
    False,
    /// Depends on the inputs, or not known.
    Unknown,
}

/// Answers questions about conditions.
pub trait Oracle {
    /// Whether `condition` holds at every input. `Unknown` is always a correct answer.
    fn truth(&mut self, terms: &Terms, condition: Term) -> Truth;
}

/// Knows only what the constructors folded.
#[derive(Clone, Copy, Debug, Default)]
pub struct Folded;

impl Oracle for Folded {
    fn truth(&mut self, terms: &Terms, condition: Term) -> Truth {
        match terms.node(condition) {
            Node::Truth(true) => Truth::True,
            Node::Truth(false) => Truth::False,
            _ => Truth::Unknown,
        }
    }
}
