//! How long somebody waits for an answer. Without it nothing here looks at a clock, and the same input
//! has the same answer on every machine.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// When to give up, whatever is left of the steps.
#[derive(Clone, Copy, Debug, Default)]
pub struct Patience {
    /// At this time.
    pub deadline: Option<Instant>,
    /// When somebody sets it.
    pub stop: Option<&'static AtomicBool>,
}

impl Patience {
    /// Whether it is at its end.
    #[must_use]
    pub fn is_over(&self) -> bool {
        let stopped = self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed));
        stopped || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Whether it can end at all.
    pub(crate) fn is_limited(&self) -> bool {
        self.stop.is_some() || self.deadline.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Budget, Decision, Problem, Reason, decide};
    use std::sync::Arc;
    use std::time::Duration;
    use term::{Inputs, Number, Terms};

    /// Products of sums whose normal forms would have thousands of millions of summands.
    fn large() -> (Terms, [term::Term; 2]) {
        let mut inputs = Inputs::new();
        inputs.tensor("x", 16).unwrap();
        let mut terms = Terms::new(Arc::new(inputs));
        let mut sides = [terms.one(), terms.one()];
        for factor in 0..20_i64 {
            for (side, order) in [(0, 1), (1, 7)] {
                let mut sum = terms.constant(Number::from(factor));
                for at in 0..16_usize {
                    let input = terms.inputs().at(at * order % 16).unwrap();
                    let (input, weight) = (terms.input(input), terms.integer(factor + 1));
                    let power = terms.power(input, &Number::from((at * order % 16) as i64 + 1));
                    sum = terms.fused_multiply_add(weight, power, sum);
                }
                sides[side] = terms.multiply(sides[side], sum);
            }
        }
        (terms, sides)
    }

    #[test]
    fn who_does_not_wait_has_no_answer() {
        let (terms, [a, b]) = large();
        let problem = Problem { reference: &terms, optimised: &terms, assumptions: &[] };
        let start = Instant::now();
        let deadline = start.checked_add(Duration::from_millis(30));
        let patience = Patience { deadline, stop: None };
        let budget = Budget { normalise: u64::MAX, patience, ..Budget::default() };
        let answers = decide(&problem, &[(a, b)], &budget);
        assert!(matches!(answers[..], [Decision::Unknown(Reason::Time)]), "{answers:?}");
        assert!(start.elapsed() < Duration::from_secs(10));
        static STOP: AtomicBool = AtomicBool::new(true);
        let patience = Patience { deadline: None, stop: Some(&STOP) };
        let answers = decide(&problem, &[(a, b)], &Budget { patience, ..budget });
        assert!(matches!(answers[..], [Decision::Unknown(Reason::Time)]), "{answers:?}");
    }
}
