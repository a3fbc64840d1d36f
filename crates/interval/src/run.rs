//! Runs a launch on intervals of doubles, then with 256 bits if the first answer does not suffice.

use crate::domain::AbstractValue;
use crate::{Double, Enclosure, Intervals, Precise, RunInputs};
use exec::{Element, Launch, Limits, Outcome, Results};
use ir::{Format, Program};

/// Final contents of a buffer element.
#[derive(Clone, Debug, PartialEq)]
pub enum Enclosed {
    /// A real number between these two, which are doubles rounded outward.
    Between(f64, f64),
    /// An infinity.
    Infinite {
        /// −∞
        negative: bool,
    },
    /// Certainly undefined, and why.
    Undefined(String),
    /// Not known, and why.
    Unsure(String),
    /// Not written.
    Unwritten,
}

impl Enclosed {
    /// Returns `true` if two elements certainly differ as numbers.
    #[must_use]
    pub fn is_disjoint(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Between(a, b), Self::Between(c, d)) => b < c || d < a,
            (Self::Infinite { negative: a }, Self::Infinite { negative: b }) => a != b,
            (Self::Infinite { .. }, Self::Between(..))
            | (Self::Between(..), Self::Infinite { .. }) => true,
            _ => false,
        }
    }

    /// Width relative to the magnitude, or itself below 1; infinite if there are no bounds.
    #[must_use]
    pub fn width(&self) -> f64 {
        match self {
            Self::Between(low, high) => (high - low) / low.abs().max(high.abs()).max(1.0),
            Self::Infinite { .. } => 0.0,
            _ => f64::INFINITY,
        }
    }
}

/// Results of an interval run, independent of the type of the intervals.
pub trait Answers {
    /// Findings and gaps.
    fn outcome(&self) -> &Outcome;
    /// The float in a buffer at byte `start`.
    fn element(&mut self, buffer: usize, start: usize, format: Format) -> Enclosed;
}

/// Results of an interval run.
#[derive(Debug)]
pub struct Run<E> {
    outcome: Outcome,
    results: Results,
    domain: Intervals<E>,
}

impl<E: Enclosure> Run<E> {
    /// Number of values the run made.
    #[must_use]
    pub fn values(&self) -> usize {
        self.domain.len()
    }

    /// The interval of a float in a buffer, if it is a real number.
    pub fn interval(&mut self, buffer: usize, start: usize, format: Format) -> Option<E> {
        let value = self.results.real(&mut self.domain, buffer, start, format).ok()?;
        match self.domain.known(value) {
            AbstractValue::Real(interval) => Some(interval.clone()),
            _ => None,
        }
    }
}

impl<E: Enclosure> Answers for Run<E> {
    fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    fn element(&mut self, buffer: usize, start: usize, format: Format) -> Enclosed {
        enclosed(&mut self.results, &mut self.domain, buffer, start, format)
    }
}

/// Encloses the float in a buffer at byte `start`.
pub(crate) fn enclosed<E: Enclosure>(
    results: &mut Results,
    domain: &mut Intervals<E>,
    buffer: usize,
    start: usize,
    format: Format,
) -> Enclosed {
    let value = match results.real(domain, buffer, start, format) {
        Ok(value) => value,
        Err(Element::Lost(lost)) => {
            return Enclosed::Unsure(format!("a value {}", lost.reason));
        }
        Err(_) => return Enclosed::Unwritten,
    };
    match domain.known(value) {
        AbstractValue::Real(interval) => {
            let (low, high) = interval.bounds();
            Enclosed::Between(low, high)
        }
        AbstractValue::Infinite { negative } => Enclosed::Infinite { negative: *negative },
        AbstractValue::Undefined(why) => Enclosed::Undefined((*why).to_owned()),
        AbstractValue::Unsure(why) | AbstractValue::Undecided(why) => {
            Enclosed::Unsure((*why).to_owned())
        }
    }
}

/// Runs a launch on intervals of type `E`. `given` supplies the opaque buffers and arguments.
#[must_use]
pub fn run<E: Enclosure>(
    program: &Program,
    launch: &Launch,
    limits: Limits,
    given: &RunInputs,
) -> Run<E> {
    let mut domain = Intervals::new(given.clone());
    let (outcome, results) = exec::run_in(program, launch, limits, &mut domain);
    Run { outcome, results, domain }
}

/// Runs a launch on doubles, and with 256 bits if that run stopped or `question` returns `None`. Returns the second
/// answer then, even if it is `None` again.
pub fn enclose<T>(
    program: &Program,
    launch: &Launch,
    limits: Limits,
    given: &RunInputs,
    question: &mut dyn FnMut(&mut dyn Answers) -> Option<T>,
) -> Option<T> {
    let mut quick = run::<Double>(program, launch, limits, given);
    if quick.outcome.gap.is_none()
        && let Some(answer) = question(&mut quick)
    {
        return Some(answer);
    }
    drop(quick);
    question(&mut run::<Precise>(program, launch, limits, given))
}
