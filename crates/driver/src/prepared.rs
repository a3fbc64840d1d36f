//! A launch that is ready to run: its kernel is lowered and its arguments are built.

use crate::arguments::{BuiltLaunch, ScalarValue};
use crate::{Input, Limits};
use ir::{Block, Function, Program};
use ptx::Lowered;
use std::collections::BTreeSet;
use std::time::Instant;

/// A launch that is ready to run.
pub(crate) struct PreparedLaunch<'r> {
    pub(crate) input: &'r Input,
    /// The program to run: as written, or after [`Self::lifted`] the lifted one.
    pub(crate) lowered: Lowered,
    /// The program as written, if `lowered` has another one.
    pub(crate) unlifted: Option<Program>,
    pub(crate) built: BuiltLaunch,
    /// Assumptions of lifting, and those added by [`Self::assuming`].
    pub(crate) lifting: BTreeSet<String>,
    pub(crate) limits: Limits,
    /// The program was compiled from a formula, not from a kernel.
    pub(crate) is_formula: bool,
    /// The numbers written in the formula.
    pub(crate) literals: Vec<equiv::Literal>,
}

impl<'r> PreparedLaunch<'r> {
    /// A launch made from a formula.
    pub(crate) fn of_formula(
        input: &'r Input,
        [reals, bits]: [Program; 2],
        built: BuiltLaunch,
        limits: Limits,
        literals: Vec<equiv::Literal>,
    ) -> Self {
        let lowered = Lowered { program: reals, diagnostics: Vec::new() };
        let (unlifted, lifting) = (Some(bits), BTreeSet::new());
        let is_formula = true;
        Self { input, lowered, unlifted, built, lifting, limits, is_formula, literals }
    }

    pub(crate) fn program(&self) -> &Program {
        &self.lowered.program
    }

    /// The program as written, which runs on bits.
    pub(crate) fn unlifted(&self) -> &Program {
        self.unlifted.as_ref().unwrap_or(&self.lowered.program)
    }

    /// Replaces the program by one that is equal over the reals ([`lift`]).
    pub(crate) fn lifted(mut self) -> Self {
        // The run will stop at once, so lifting would be wasted.
        let is_stopped = self.limits.watch.is_some_and(crate::Watch::is_stopped);
        if is_stopped || self.limits.deadline().is_some_and(|end| Instant::now() >= end) {
            return self;
        }
        let kernel = self.built.launch.kernel;
        let lift::Lifted { program, assumptions } =
            lift::lift_kernel(&self.lowered.program, kernel);
        self.unlifted = Some(std::mem::replace(&mut self.lowered.program, program));
        self.lifting = assumptions;
        self
    }

    /// Returns `true` if [`lifted`](Self::lifted) changed no instruction: then a run of the program says nothing new.
    pub(crate) fn is_unchanged_by_lifting(&self) -> bool {
        let Some(unlifted) = &self.unlifted else { return true };
        let (before, after) = (&unlifted.functions, &self.lowered.program.functions);
        before.len() == after.len() && before.iter().zip(after.iter()).all(is_same_code)
    }

    /// Adds a note for each scalar given by an expression of others: a run that ignores values takes it for any number.
    pub(crate) fn without_relations(mut self) -> Self {
        for scalar in &self.built.scalars {
            let argument = self.built.launch.arguments.get(scalar.argument);
            let is_given = match argument {
                Some(exec::Argument::Struct(pieces)) => pieces.iter().any(|(offset, piece)| {
                    *offset == scalar.offset && matches!(piece, exec::Argument::Bytes(_))
                }),
                argument => matches!(argument, Some(exec::Argument::Bytes(_))),
            };
            if let (ScalarValue::Related(_, expression), false) = (&scalar.value, is_given) {
                let name = &scalar.name;
                self.built.notes.push(format!(
                    "`{name}={expression}`: the relation is not used, any number is allowed"
                ));
            }
        }
        self
    }

    /// Adds an assumption.
    pub(crate) fn assuming(mut self, what: &str) -> Self {
        self.lifting.insert(what.to_owned());
        self
    }
}

/// Returns `true` if two functions have the same instructions.
fn is_same_code((one, other): (&Function, &Function)) -> bool {
    let is_same_block = |(one, other): (&Block, &Block)| {
        let (before, after) = (&one.instructions, &other.instructions);
        let mut pairs = before.iter().zip(after);
        one.terminator == other.terminator
            && before.len() == after.len()
            && pairs.all(|(one, other)| one.guard == other.guard && one.op == other.op)
    };
    one.blocks.len() == other.blocks.len()
        && one.blocks.iter().zip(other.blocks.iter()).all(is_same_block)
}
