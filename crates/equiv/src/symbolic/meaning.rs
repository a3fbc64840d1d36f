//! Interpretations of the program: functions known only in a range, and constants that stand for other
//! numbers.

use super::Symbolic;
use crate::constants;
use crate::formula::Formula;
use ir::{ArgumentRange, Format, RealFunction};
use term::Term;

impl Symbolic {
    /// Marks the result of a function known only in a range, if this run has marks.
    pub(super) fn mark_range(
        &mut self,
        function: RealFunction,
        range: Option<ArgumentRange>,
        arguments: [Term; 2],
        result: Term,
    ) -> Term {
        let Some(range) = range else { return result };
        self.has_ranges = true;
        match &mut self.marks {
            Some(marks) => marks.mark(&mut self.terms, (function, range), arguments, result),
            None => result,
        }
    }

    /// Returns the real number that a constant stands for, if it is a known one.
    pub(super) fn snap(&mut self, format: Format, bits: u64) -> Option<Term> {
        if let Some((form, negative)) = self.constants.meaning_of(format, bits) {
            let form = Formula::expression(form).ok()?;
            let term = form.term(&mut self.terms, &|_| None).ok()?;
            return Some(if negative { self.terms.negate(term) } else { term });
        }
        let (known, negative) = constants::recognise(format, bits).filter(|_| self.snap)?;
        self.snapped.insert(known);
        let term = constants::term(&mut self.terms, known);
        Some(if negative { self.terms.negate(term) } else { term })
    }
}
