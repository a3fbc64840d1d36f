//! Cases: a question about one kernel or two, with the right answer.

use crate::bases::Base;
use crate::chain::{self, Dropped};
use crate::check::{self, Compare, Fault};
use crate::mutate;
use crate::nest::{Applied, Kernel};
use crate::print;
use std::fmt;
use testing::Random;

/// The version of the generator: another one draws other cases.
pub const VERSION: u64 = 1;

/// The question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Question {
    /// Races, barriers, bounds, overflow of one kernel.
    Safety,
    /// Like `Safety`, and the computed result.
    Contract,
    /// Safety of two kernels, and that their results are equal.
    Pair,
}

impl Question {
    /// Returns the name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Safety => "safety",
            Self::Contract => "contract",
            Self::Pair => "pair",
        }
    }

    fn compares(self) -> Compare {
        match self {
            Self::Safety => Compare::Nothing,
            Self::Contract => Compare::Claimed,
            Self::Pair => Compare::All,
        }
    }
}

/// The right answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    /// All of it holds.
    Correct,
    /// A launch shows a mistake.
    Broken {
        /// The mutation.
        mutation: &'static str,
        /// The fault it causes.
        fault: Fault,
    },
    /// A mutation was applied, and no launch shows a mistake: there is no label.
    Discarded {
        /// The mutation.
        mutation: &'static str,
    },
}

/// Number of launches that check a label.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// For each correct kernel.
    pub correct: usize,
    /// For each mutant, until a mistake is seen.
    pub mutant: usize,
}

impl Default for Effort {
    fn default() -> Self {
        Self { correct: 300, mutant: 2_000 }
    }
}

/// A case.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its seed.
    pub seed: u64,
    /// The question.
    pub question: Question,
    /// The base kernel.
    pub base: Base,
    /// The kernel, or the reference of a pair.
    pub first: Kernel,
    /// The other kernel of a pair.
    pub second: Option<Kernel>,
    /// The right answer.
    pub label: Label,
}

/// A transformed kernel that does not mean the same as its base: a bug of the generator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongTransformation {
    /// The seed of the case.
    pub seed: u64,
    /// The observed difference, and the launch.
    pub difference: String,
    /// The kernel.
    pub text: String,
}

impl fmt::Display for WrongTransformation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "seed {}: {}\n{}", self.seed, self.difference, self.text)
    }
}

impl std::error::Error for WrongTransformation {}

impl Case {
    /// Draws the case of a seed and checks its label.
    ///
    /// # Errors
    /// If a transformation changed the meaning of its kernel.
    pub fn draw(seed: u64, effort: Effort) -> Result<Self, WrongTransformation> {
        let dropped = [Dropped::default(); 2];
        let (mut case, is_mutated, mut random) = Self::draw_correct(seed, effort, dropped)?;
        if is_mutated {
            case.mutate(effort, &mut random);
        }
        Ok(case)
    }

    /// Draws the case of a seed without some steps of its chains and without its mutation.
    ///
    /// # Errors
    /// If a transformation changed the meaning of its kernel.
    pub fn draw_without(
        seed: u64,
        effort: Effort,
        dropped: [Dropped; 2],
    ) -> Result<Self, WrongTransformation> {
        Ok(Self::draw_correct(seed, effort, dropped)?.0)
    }

    /// Draws a case before its mutation; also returns `true` if it is to be mutated, and the random stream for that.
    fn draw_correct(
        seed: u64,
        effort: Effort,
        dropped: [Dropped; 2],
    ) -> Result<(Self, bool, Random), WrongTransformation> {
        let mut random = Random::new(seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ (VERSION << 56));
        let question = random.pick(&[Question::Safety, Question::Contract, Question::Pair]);
        let is_mutated = random.chance(40);
        let (base, first, second) = draw_kernels(question, &mut random, dropped);
        let case = Self { seed, question, base, first, second, label: Label::Correct };
        case.check_correct(effort, &mut random)?;
        Ok((case, is_mutated, random))
    }

    /// Runs the kernels of a case that is labelled correct: a mistake is a bug of a transformation.
    fn check_correct(
        &self,
        effort: Effort,
        random: &mut Random,
    ) -> Result<(), WrongTransformation> {
        for kernel in [Some(&self.first), self.second.as_ref()].into_iter().flatten() {
            let verdict =
                check::check(&self.base, kernel, None, Compare::All, effort.correct, random);
            let difference = match verdict.fault {
                Some(fault) => format!("{} at {}", fault.name(), verdict.witness),
                None if verdict.launches == 0 => "no launch is allowed".to_string(),
                None => continue,
            };
            let text = print::cuda(kernel, None);
            return Err(WrongTransformation { seed: self.seed, difference, text });
        }
        Ok(())
    }

    /// Tries a few mutations until one is seen to break the kernel.
    fn mutate(&mut self, effort: Effort, random: &mut Random) {
        let original = self.second.as_ref().unwrap_or(&self.first).clone();
        let partner = self.second.is_some().then(|| self.first.clone());
        for _ in 0..4 {
            let Some((mutant, mutation)) = mutate::draw(&original, random) else { return };
            let compares = self.question.compares();
            let verdict = check::check(
                &self.base,
                &mutant,
                partner.as_ref(),
                compares,
                effort.mutant,
                random,
            );
            let Some(fault) = verdict.fault else {
                if self.label == Label::Correct {
                    self.label = Label::Discarded { mutation };
                }
                continue;
            };
            self.label = Label::Broken { mutation, fault };
            *self.second.as_mut().unwrap_or(&mut self.first) = mutant;
            // Most mutations cause accesses out of bounds; those that only change the result are harder to find.
            let is_easy = fault == Fault::Bounds && self.question != Question::Safety;
            if !is_easy || random.chance(30) {
                return;
            }
        }
    }

    /// Lists the transformations of both kernels.
    pub fn applied(&self) -> impl Iterator<Item = Applied> + '_ {
        let second = self.second.iter().flat_map(|kernel| &kernel.applied);
        self.first.applied.iter().chain(second).copied()
    }

    /// Prints the files of the case: a name and its text.
    #[must_use]
    pub fn files(&self) -> Vec<(&'static str, String)> {
        match (&self.second, self.question) {
            (Some(second), _) => {
                vec![
                    ("ref.cu", print::cuda(&self.first, None)),
                    ("opt.cu", print::cuda(second, None)),
                ]
            }
            (None, Question::Contract) => {
                vec![("kernel.cu", print::cuda(&self.first, Some(&self.base.claim())))]
            }
            (None, _) => vec![("kernel.cu", print::cuda(&self.first, None))],
        }
    }
}

/// Draws a base and its kernels, which have small launches; those of a pair have sizes in common.
fn draw_kernels(
    question: Question,
    random: &mut Random,
    dropped: [Dropped; 2],
) -> (Base, Kernel, Option<Kernel>) {
    let is_pair = question == Question::Pair;
    loop {
        let seed = random.bits();
        let (base, first, second) = draw_once(seed, [Dropped::default(); 2]);
        let mut has_launches = |kernel: &Kernel, partner: Option<&Kernel>| {
            let verdict = check::check(&base, kernel, partner, Compare::Nothing, 30, random);
            // A mistake is reported later, not drawn again.
            verdict.fault.is_some() || verdict.launches > 3
        };
        if has_launches(&first, None) && (!is_pair || has_launches(&second, Some(&first))) {
            let (base, first, second) = draw_once(seed, dropped);
            return (base, first, is_pair.then_some(second));
        }
    }
}

fn draw_once(seed: u64, dropped: [Dropped; 2]) -> (Base, Kernel, Kernel) {
    let mut random = Random::new(seed);
    let base = Base::draw(&mut random);
    let first = chain::draw(&base, "kernel_a", &mut random, dropped[0]);
    let second = chain::draw(&base, "kernel_b", &mut random, dropped[1]);
    (base, first, second)
}
