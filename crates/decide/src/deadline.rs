//! Deadlines of the decision procedure, checked between steps. Without one nothing here reads a clock, and the same
//! input has the same answer on every machine.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// A time to stop at, however many steps are left.
#[derive(Clone, Copy, Debug, Default)]
pub struct Deadline {
    /// Stop at this time.
    pub at: Option<Instant>,
    /// Stop when this flag is set.
    pub stop: Option<&'static AtomicBool>,
}

impl Deadline {
    /// Returns `true` if it is time to stop.
    #[must_use]
    pub fn has_passed(&self) -> bool {
        let stopped = self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed));
        stopped || self.at.is_some_and(|at| Instant::now() >= at)
    }

    /// Returns `true` if the deadline can pass.
    pub(crate) fn is_set(&self) -> bool {
        self.stop.is_some() || self.at.is_some()
    }
}

/// Checks a deadline now and then during long work.
#[derive(Debug)]
pub(crate) struct Countdown {
    deadline: Deadline,
    /// Steps until the next check; `None` once the deadline has passed.
    left: Option<usize>,
}

impl Countdown {
    /// Steps between two checks: some milliseconds of the slowest arithmetic.
    const STEPS: usize = 1 << 12;

    pub(crate) fn new(deadline: Deadline) -> Self {
        let left = if deadline.is_set() { Self::STEPS } else { usize::MAX };
        Self { deadline, left: Some(left) }
    }

    /// Counts a step; returns `true` once the deadline has passed.
    #[inline]
    pub(crate) fn is_over(&mut self) -> bool {
        match &mut self.left {
            None => true,
            Some(0) => self.check(),
            Some(left) => {
                *left -= 1;
                false
            }
        }
    }

    #[cold]
    fn check(&mut self) -> bool {
        self.left = (!self.deadline.has_passed()).then_some(Self::STEPS);
        self.left.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::{Evaluator, LANES, Value, evaluate_until, fingerprints};
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
        // Make the sides differ by structure: a·(x + y) and a·x + a·y.
        let [x, y] = [0, 1].map(|at| terms.input(terms.inputs().at(at).unwrap()));
        let sum = terms.add(x, y);
        sides[0] = terms.multiply(sides[0], sum);
        let first = terms.multiply(sides[1], x);
        sides[1] = terms.fused_multiply_add(sides[1], y, first);
        (terms, sides)
    }

    #[test]
    fn a_deadline_ends_the_search() {
        let (terms, [a, b]) = large();
        let problem = Problem { reference: &terms, optimised: &terms, assumptions: &[] };
        let start = Instant::now();
        let at = start.checked_add(Duration::from_millis(30));
        let deadline = Deadline { at, stop: None };
        let budget = Budget { normalise: u64::MAX, deadline, ..Budget::default() };
        let answers = decide(&problem, &[(a, b)], &budget);
        assert!(matches!(answers[..], [Decision::Unknown(Reason::Time)]), "{answers:?}");
        assert!(start.elapsed() < Duration::from_secs(10));
        static STOP: AtomicBool = AtomicBool::new(true);
        let deadline = Deadline { at: None, stop: Some(&STOP) };
        let answers = decide(&problem, &[(a, b)], &Budget { deadline, ..budget });
        assert!(matches!(answers[..], [Decision::Unknown(Reason::Time)]), "{answers:?}");
    }

    /// Once the time is over, no more points are tried for the reference's domain.
    #[test]
    fn no_point_is_tried_after_the_end() {
        let mut inputs = Inputs::new();
        let x = inputs.scalar("x").unwrap();
        let terms = Terms::new(Arc::new(inputs));
        let x = terms.input(x);
        let problem = Problem { reference: &terms, optimised: &terms, assumptions: &[] };
        let has_domain = |deadline: Deadline| {
            let budget = Budget { deadline, ..Budget::default() };
            let points = crate::points::Points::new(&problem, &budget);
            let search = crate::witness::Search::new(&problem, (x, x), &points);
            [search.reference_has_domain(96), search.reference_is_real(96)]
        };
        assert_eq!(has_domain(Deadline::default()), [true; 2]);
        let over = Deadline { at: Some(Instant::now()), ..Deadline::default() };
        assert_eq!(has_domain(over), [false; 2]);
    }

    /// Evaluations of many products stop at the deadline, without a result.
    #[test]
    fn late_evaluations_have_no_result() {
        const COUNT: u32 = 10_000;
        let mut inputs = Inputs::new();
        inputs.tensor("x", COUNT).unwrap();
        let mut terms = Terms::new(Arc::new(inputs));
        let mut sum = terms.zero();
        for at in 0..COUNT {
            let x = terms.input(terms.inputs().at(at as usize).unwrap());
            sum = terms.fused_multiply_add(x, x, sum);
        }
        let point = |_: term::Input| Number::from(2);
        let known = |deadline: Deadline| {
            let interval = evaluate_until(&terms, &[sum], &point, deadline).remove(0);
            let print = fingerprints(&terms, &[sum], &point, deadline).remove(0);
            let double = Evaluator::new(&terms, vec![sum]).until(deadline).run(&|_| [2.0; LANES]);
            [matches!(interval, Value::Real(_)), print.is_some(), double[0] == [4e4; LANES]]
        };
        assert_eq!(known(Deadline::default()), [true; 3]);
        let over = Deadline { at: Some(Instant::now()), ..Deadline::default() };
        assert_eq!(known(over), [false; 3]);
    }
}
