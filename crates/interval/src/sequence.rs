//! Several launches after each other, the later ones on what the earlier ones left.

use crate::run::enclosed;
use crate::{Double, Enclosed, Enclosure, Given, Intervals, Precise};
use exec::domain::InputSource;
use exec::{Contents, Launch, Left, Limits, Results};
use ir::{Format, Program, Scalar};

/// A launch of a sequence.
#[derive(Clone, Debug)]
pub struct Stage<'s> {
    /// Its program.
    pub program: &'s Program,
    /// The launch.
    pub launch: &'s Launch,
    /// What its other inputs are.
    pub given: Given,
    /// Buffers that hold what earlier launches left.
    pub carried: Vec<Carried>,
}

/// A buffer that holds what an earlier launch left in one of its own.
#[derive(Clone, Copy, Debug)]
pub struct Carried {
    /// The buffer.
    pub into: usize,
    /// The launch, and its buffer.
    pub from: (usize, usize),
    /// What elements are.
    pub scalar: Scalar,
}

/// What a sequence of launches left behind, whatever intervals are made of.
pub trait Leftovers {
    /// A float in a buffer of a launch, by its first byte.
    fn element(&mut self, launch: usize, buffer: usize, start: usize, format: Format) -> Enclosed;
}

/// What a sequence of launches left behind.
#[derive(Debug)]
pub struct Sequence<E> {
    results: Vec<Results>,
    domain: Intervals<E>,
}

impl<E: Enclosure> Leftovers for Sequence<E> {
    fn element(&mut self, launch: usize, buffer: usize, start: usize, format: Format) -> Enclosed {
        match self.results.get_mut(launch) {
            Some(results) => enclosed(results, &mut self.domain, buffer, start, format),
            None => Enclosed::Unwritten,
        }
    }
}

/// As [`enclose`](crate::enclose), of several launches. `None` if one of them stopped, or leaves
/// something that cannot be handed on.
pub fn enclose_in_sequence<T>(
    stages: &[Stage<'_>],
    limits: Limits,
    question: &mut dyn FnMut(&mut dyn Leftovers) -> Option<T>,
) -> Option<T> {
    if let Some(mut quick) = run_in_sequence::<Double>(stages, limits)
        && let Some(answer) = question(&mut quick)
    {
        return Some(answer);
    }
    question(&mut run_in_sequence::<Precise>(stages, limits)?)
}

/// Runs launches on intervals of one kind. `None` if one of them stopped, or leaves something that cannot
/// be handed on.
#[must_use]
pub fn run_in_sequence<E: Enclosure>(stages: &[Stage<'_>], limits: Limits) -> Option<Sequence<E>> {
    let mut sequence = Sequence { results: Vec::new(), domain: Intervals::new(Given::default()) };
    for stage in stages {
        let mut launch = stage.launch.clone();
        sequence.domain.begin(stage.given.clone());
        for (buffer, bytes) in &stage.given.bits {
            launch.buffers.get_mut(*buffer)?.contents = Contents::Known(bytes.clone());
        }
        for one in &stage.carried {
            let results = sequence.results.get_mut(one.from.0)?;
            match results.left(&mut sequence.domain, one.from.1, one.scalar).ok()? {
                Left::Bytes(bytes) => {
                    launch.buffers.get_mut(one.into)?.contents = Contents::Known(bytes);
                }
                Left::Values(values) => {
                    sequence.domain.carry(InputSource::Buffer(one.into), &values);
                }
            }
        }
        let (outcome, results) = exec::run_in(stage.program, &launch, limits, &mut sequence.domain);
        if outcome.gap.is_some() {
            return None;
        }
        sequence.results.push(results);
    }
    Some(sequence)
}
