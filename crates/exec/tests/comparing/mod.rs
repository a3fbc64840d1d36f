//! Runs a launch with fast paths and with the general code ([`exec::Paths`]), and describes the differences
//! of their results. Also generates random kernels for that.

#![allow(dead_code, reason = "each test uses some of it")]

mod arithmetic;
pub(crate) mod generator;
pub(crate) mod hashed;
pub(crate) mod statements;

use exec::{Checks, Element, Launch, Limits, Outcome, Paths, Results, StopReason};
use generator::Case;
use hashed::Hashed;
use ir::{Format, Op, Program, Scalar, Width};
use std::fmt::Debug;

/// The budget of a random kernel: enough for its loops.
const BUDGET: u64 = 400_000;

fn limits(paths: Paths, lane_instructions: u64) -> Limits {
    Limits { paths, lane_instructions, ..Limits::default() }
}

/// Describes a difference of two results; `None` if there is none.
pub(crate) fn compare(program: &Program, launch: &Launch, budget: u64) -> Option<String> {
    let both = |run: &dyn Fn(Limits) -> Outcome| {
        (run(limits(Paths::Fast, budget)), run(limits(Paths::General, budget)))
    };
    let lock_step = Checks { lock_step: true, barrier_uses: true };
    let runs: [(&str, &dyn Fn(Limits) -> Outcome); 2] = [
        ("check", &|limits| exec::check(program, launch, limits)),
        ("lock step", &|limits| exec::check_with(program, launch, limits, lock_step)),
    ];
    for (name, run) in runs {
        let (fast, general) = both(run);
        if let Some(difference) = outcomes(&fast, &general, !depends_on_schedule(program, &general))
        {
            return Some(format!("{name}: {difference}"));
        }
    }
    in_domain(program, launch, budget)
}

/// Like [`compare`], with domain values.
pub(crate) fn in_domain(program: &Program, launch: &Launch, budget: u64) -> Option<String> {
    let run = |paths: Paths, checks: bool| {
        let mut domain = Hashed::default();
        let limits = limits(paths, budget);
        let (outcome, results) = match checks {
            true => exec::check_in(program, launch, limits, &mut domain),
            false => exec::run_in(program, launch, limits, &mut domain),
        };
        let elements = elements(launch, results, &mut domain);
        (outcome, elements)
    };
    for (checks, name) in [(false, "run_in"), (true, "check_in")] {
        let (fast, general) = (run(Paths::Fast, checks), run(Paths::General, checks));
        if is_out_of_budget(&fast.0) && is_out_of_budget(&general.0) {
            continue;
        }
        let difference =
            outcomes(&fast.0, &general.0, false).or_else(|| each("element", &fast.1, &general.1));
        if let Some(difference) = difference {
            return Some(format!("{name}: {difference}"));
        }
    }
    None
}

/// An element of a buffer, with the value in place of its handle.
#[derive(Clone, Debug, PartialEq)]
enum Found {
    Value(u64),
    Other(Element),
}

/// The contents of the buffers, as words and as elements.
fn elements(
    launch: &Launch,
    mut results: Results,
    domain: &mut Hashed,
) -> Vec<(usize, usize, Found)> {
    let word = Scalar::Integer { width: Width::B32, signed: true };
    let single = Scalar::Float(Format::F32);
    let mut all = Vec::new();
    for (number, buffer) in launch.buffers.iter().enumerate() {
        for scalar in [word, buffer.element.filter(|&element| element != word).unwrap_or(single)] {
            let step = scalar.width().bytes() as usize;
            for start in (0..buffer.contents.size() as usize).step_by(step) {
                let found = match results.element(domain, number, start, scalar) {
                    Element::Value(value) => Found::Value(domain.hash_of(value)),
                    other => Found::Other(other),
                };
                all.push((number, start, found));
            }
        }
    }
    all
}

fn is_out_of_budget(outcome: &Outcome) -> bool {
    matches!(&outcome.gap, Some(gap) if matches!(gap.stop, StopReason::Budget { .. }))
}

/// Returns `true` if buffers may hold bits decided by the schedule or the placement of an allocation. These
/// are meaningless, and the two runs need not agree on them.
fn depends_on_schedule(program: &Program, outcome: &Outcome) -> bool {
    let mut all = program.functions.iter().flat_map(|function| function.instructions());
    !outcome.doubts.is_empty() || all.any(|instruction| matches!(instruction.op, Op::Atomic(_)))
}

/// Describes a difference of two outcomes. Runs that use up their budget may end at different instructions.
pub(crate) fn outcomes(fast: &Outcome, general: &Outcome, compares_bytes: bool) -> Option<String> {
    if is_out_of_budget(fast) && is_out_of_budget(general) {
        return None;
    }
    let buffers = || {
        (0..fast.buffers.len()).find_map(|number| {
            let pair = [fast, general].map(|outcome| &outcome.buffers[number][..]);
            each(&format!("buffer {number}"), pair[0], pair[1])
        })
    };
    differ("gap", &fast.gap, &general.gap)
        .or_else(|| each("findings", &fast.findings, &general.findings))
        .or_else(|| each("doubts", &fast.doubts, &general.doubts))
        .or_else(|| each("undecided", &fast.undecided, &general.undecided))
        .or_else(|| if compares_bytes { buffers() } else { None })
        .or_else(|| differ("written", &fast.written, &general.written))
        .or_else(|| {
            let [fast, general] = [fast, general].map(|outcome| {
                let mut rest = outcome.clone();
                rest.buffers.clear();
                rest
            });
            differ("outcome", &fast, &general)
        })
}

fn each<T: PartialEq + Debug>(what: &str, fast: &[T], general: &[T]) -> Option<String> {
    let most = fast.len().max(general.len());
    (0..most).find_map(|at| differ(&format!("{what} {at}"), &fast.get(at), &general.get(at)))
}

fn differ<T: PartialEq + Debug>(what: &str, fast: &T, general: &T) -> Option<String> {
    (fast != general).then(|| format!("{what}:\n  fast    {fast:?}\n  general {general:?}"))
}

/// Lowers a random kernel; `None` if it is invalid.
pub(crate) fn lowered(case: &Case) -> Option<Program> {
    let text = case.text();
    let parsed = ptx::syntax::parse(&text);
    let lowered = parsed.errors.is_empty().then(|| ptx::lower(&parsed.module))?;
    lowered.diagnostics.is_empty().then_some(lowered.program)
}

/// Describes a difference of the results on a random kernel.
pub(crate) fn difference_on(case: &Case) -> Option<String> {
    let program = lowered(case)?;
    compare(&program, &case.launch(&program), BUDGET)
}

/// Removes everything from a kernel that the difference does not need.
pub(crate) fn shrink(mut case: Case) -> Case {
    let mut size = case.lines.len().div_ceil(2);
    loop {
        let mut start = 0;
        while start < case.lines.len() {
            let mut smaller = case.clone();
            smaller.lines.drain(start..(start + size).min(case.lines.len()));
            if difference_on(&smaller).is_some() {
                case = smaller;
            } else {
                start += size;
            }
        }
        if size == 1 {
            break;
        }
        size = size.div_ceil(2);
    }
    for (grid, block) in
        [([1; 3], case.block), (case.grid, [1; 3]), ([1; 3], [1; 3]), ([1; 3], [2, 1, 1])]
    {
        let smaller = Case { grid, block, ..case.clone() };
        if difference_on(&smaller).is_some() {
            case = smaller;
        }
    }
    case
}
