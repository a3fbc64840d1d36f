//! Runs a kernel again with a more precise method, after the first run stopped early or left a property open.

use crate::arguments::MissingData;
use crate::execute::{Execution, FinishedRun, check_launch, prepare};
use exec::Checks;

/// The method of another run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RerunMethod {
    /// The program is lifted. Lifting keeps all accesses to memory, so findings hold for the kernel. The one
    /// exception is code dropped because a function was recognised without it; then nothing is known of the kernel.
    pub(crate) lifted: bool,
    /// Floats with bits that are not fixed are enclosed.
    pub(crate) enclosed: bool,
    /// Both sides of branches on data are followed, and floats are enclosed as with `enclosed`.
    pub(crate) conditional: bool,
}

/// Builds the launch and checks it again, for all contents of tensors. `None` if the launch cannot be built or lifting
/// drops code.
pub(crate) fn run_again<'r>(
    execution: &Execution<'r>,
    command: &str,
    checks: Checks,
    again: RerunMethod,
) -> Option<FinishedRun<'r>> {
    let prepared = prepare(execution, &[], command, MissingData::Opaque).ok()?;
    let mut prepared = prepared.without_relations();
    if again.lifted {
        prepared = prepared.lifted();
    }
    let run = match (again.conditional, again.enclosed) {
        (true, _) => exec::check_conditional,
        (false, true) => exec::check_enclosed,
        (false, false) => check_launch,
    };
    let (program, launch) = (prepared.program(), &prepared.built.launch);
    if lift::drops_code(program) {
        return None;
    }
    let result = run(program, launch, execution.limits, checks);
    Some(prepared.finish(result, checks))
}
