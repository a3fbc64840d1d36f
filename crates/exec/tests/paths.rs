//! The code for common cases promises the answer of the code for all cases ([`exec::Paths`]).

mod launching;

use exec::{Launch, Limits, Outcome, Paths};
use launching::{Arg, launch, program};

/// Runs and checks a launch with the code for all cases, and expects the same of the other.
fn both(program: &ir::Program, launch: &Launch) -> Outcome {
    let general = Limits { paths: Paths::General, ..Limits::default() };
    let fast = Limits::default();
    assert_eq!(exec::run(program, launch, fast), exec::run(program, launch, general));
    let outcome = exec::check(program, launch, general);
    assert_eq!(exec::check(program, launch, fast), outcome);
    outcome
}

#[test]
fn sums_of_parts() {
    let program = program("cuda/e_reduce.sm_80.ptx");
    let args = [Arg::Opaque(4 * 1024), Arg::Out(4 * 4)];
    let outcome =
        both(&program, &launch(&program, "reduce_tree", [4, 1, 1], [256, 1, 1], 0, &args));
    assert_eq!((outcome.blocks, outcome.gap), (4, None));
}
