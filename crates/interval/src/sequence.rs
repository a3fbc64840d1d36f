//! Runs launches one after the other on intervals; buffers of a launch may start with results of an earlier one.

use crate::run::enclosed;
use crate::{Double, Enclosed, Enclosure, Intervals, Precise, RunInputs};
use exec::domain::InputSource;
use exec::{Contents, FinalContents, Launch, Limits, Results};
use ir::{Format, Program, Scalar};

/// A launch of a sequence.
#[derive(Clone, Debug)]
pub struct Stage<'s> {
    /// Its program.
    pub program: &'s Program,
    /// The launch.
    pub launch: &'s Launch,
    /// Its other inputs.
    pub given: RunInputs,
    /// Buffers that start with the final contents of earlier launches.
    pub carried: Vec<CarriedBuffer>,
}

/// A buffer that starts with the final contents of an earlier launch's buffer.
#[derive(Clone, Copy, Debug)]
pub struct CarriedBuffer {
    /// The buffer.
    pub into: usize,
    /// The earlier launch, and its buffer.
    pub from: (usize, usize),
    /// Type of the elements.
    pub scalar: Scalar,
}

/// Results of a sequence of launches, independent of the type of the intervals.
pub trait SequenceResults {
    /// The float in a buffer of a launch at byte `start`.
    fn element(&mut self, launch: usize, buffer: usize, start: usize, format: Format) -> Enclosed;
}

/// Results of a sequence of launches.
#[derive(Debug)]
pub struct Sequence<E> {
    results: Vec<Results>,
    domain: Intervals<E>,
}

impl<E: Enclosure> SequenceResults for Sequence<E> {
    fn element(&mut self, launch: usize, buffer: usize, start: usize, format: Format) -> Enclosed {
        match self.results.get_mut(launch) {
            Some(results) => enclosed(results, &mut self.domain, buffer, start, format),
            None => Enclosed::Unwritten,
        }
    }
}

/// Like [`enclose`](crate::enclose), for several launches. `None` if one of them stopped, or its results cannot be
/// handed on.
pub fn enclose_in_sequence<T>(
    stages: &[Stage<'_>],
    limits: Limits,
    question: &mut dyn FnMut(&mut dyn SequenceResults) -> Option<T>,
) -> Option<T> {
    if let Some(mut quick) = run_in_sequence::<Double>(stages, limits)
        && let Some(answer) = question(&mut quick)
    {
        return Some(answer);
    }
    question(&mut run_in_sequence::<Precise>(stages, limits)?)
}

/// Runs launches on intervals of type `E`. `None` if one of them stopped, or its results cannot be handed on.
#[must_use]
pub fn run_in_sequence<E: Enclosure>(stages: &[Stage<'_>], limits: Limits) -> Option<Sequence<E>> {
    let mut sequence =
        Sequence { results: Vec::new(), domain: Intervals::new(RunInputs::default()) };
    for stage in stages {
        let mut launch = stage.launch.clone();
        sequence.domain.start_launch(stage.given.clone());
        for (buffer, bytes) in &stage.given.bits {
            launch.buffers.get_mut(*buffer)?.contents = Contents::Known(bytes.clone());
        }
        for one in &stage.carried {
            let results = sequence.results.get_mut(one.from.0)?;
            match results.final_contents(&mut sequence.domain, one.from.1, one.scalar).ok()? {
                FinalContents::Bytes(bytes) => {
                    launch.buffers.get_mut(one.into)?.contents = Contents::Known(bytes);
                }
                FinalContents::Values(values) => {
                    sequence.domain.set_input(InputSource::Buffer(one.into), &values);
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
