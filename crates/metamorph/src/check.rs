//! Checks the labels of generated kernels (correct, or with a given mistake) by running them: small launches drawn at
//! random from the contract, exact integers in place of floats, every access checked.
//!
//! Errs by missing mistakes that need large launches. Overflow is one: transformations add the conditions
//! against it to the contract, and no mutant is labelled for overflow alone.

mod machine;
mod meaning;
mod program;
mod sample;
#[cfg(test)]
mod tests;

pub use machine::{Fault, Outcome, run};
pub use meaning::{Expected, expected};
pub use program::Program;
pub use sample::{Launch, Sampler};

use crate::bases::Base;
use crate::expr::Int;
use crate::nest::{Kernel, Space};
use testing::Random;

/// The elements that are compared at the end of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    /// Nothing.
    Nothing,
    /// The elements in the contract's claim.
    Claimed,
    /// All elements.
    All,
}

/// The number of finished runs, and the first mistake.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Number of launches that finished.
    pub launches: usize,
    /// The first mistake.
    pub fault: Option<Fault>,
    /// The launch with the mistake, for messages.
    pub witness: String,
}

/// Runs a kernel on up to `launches` launches that its contract allows. If there is a partner (the original of a
/// transformed kernel), its contract must allow them too.
#[must_use]
pub fn check(
    base: &Base,
    kernel: &Kernel,
    partner: Option<&Kernel>,
    compare: Compare,
    launches: usize,
    random: &mut Random,
) -> Verdict {
    let program = Program::new(kernel);
    let sampler = Sampler::new(kernel);
    let partner_sampler = partner.map(Sampler::new);
    let mut verdict = Verdict::default();
    let mut too_long = 0;
    for _ in 0..launches {
        let partner_launch = match &partner_sampler {
            None => None,
            // The partner's contract must allow the sizes.
            Some(partner_sampler) => match partner_sampler.draw(None, random) {
                Some(launch) => Some(launch),
                None => continue,
            },
        };
        let Some(launch) = sampler.draw(partner_launch.as_ref(), random) else { continue };
        let fault = run_once(base, kernel, &program, &launch, compare, random);
        match fault {
            // A loop that does not end shows nothing, however often it is run.
            Some(Fault::Steps) if too_long > 20 => return verdict,
            Some(Fault::Steps) => too_long += 1,
            None => verdict.launches += 1,
            Some(fault) => {
                verdict.launches += 1;
                verdict.fault = Some(fault);
                verdict.witness = launch.describe(kernel);
                return verdict;
            }
        }
    }
    verdict
}

/// Runs one launch; returns its mistake.
fn run_once(
    base: &Base,
    kernel: &Kernel,
    program: &Program,
    launch: &Launch,
    compare: Compare,
    random: &mut Random,
) -> Option<Fault> {
    let memory = draw_contents(kernel, launch, random);
    let outcome = run(program, kernel, launch, memory.clone());
    if outcome.fault.is_some() || compare == Compare::Nothing {
        return outcome.fault;
    }
    let expected = expected(base, launch, &memory)?;
    let output = base.target.array.0;
    let differs = expected
        .elements
        .iter()
        .zip(&outcome.memory[output])
        .zip(&expected.claimed)
        .any(|((want, got), claimed)| want != got && (*claimed || compare == Compare::All));
    match (differs, outcome.uninitialised) {
        (true, true) => Some(Fault::Uninitialised),
        (true, false) => Some(Fault::Value),
        // Reads of unwritten memory do not matter for the result.
        (false, _) => None,
    }
}

/// Draws the contents of global arrays.
fn draw_contents(kernel: &Kernel, launch: &Launch, random: &mut Random) -> Vec<Vec<i128>> {
    let mut memory = Vec::new();
    for array in &kernel.arrays {
        if matches!(array.space, Space::Input | Space::Output) {
            let count = launch.number(&Int::product(&array.shape)).unwrap_or(0).max(0);
            memory.push((0..count).map(|_| random.within(-40, 40)).collect());
        } else {
            memory.push(Vec::new());
        }
    }
    memory
}
