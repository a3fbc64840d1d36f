//! The engine as a checker: the verdict of `exec` on an emitted kernel.

#![allow(dead_code, reason = "each test uses some of it")]

pub(crate) mod clusters;
pub(crate) mod phases;

use exec::{Access, Argument, BarrierFault, Buffer, Contents, Fault, Launch, Limits, Sink};
use oracle::{CheckerVerdict, Kernel, Program};
use std::collections::BTreeSet;

/// Parses a program.
pub(crate) fn program(text: &str) -> Program {
    text.parse().unwrap_or_else(|why| panic!("{why}:\n{text}"))
}

/// Checks the kernel and returns the findings.
pub(crate) fn engine(kernel: &Kernel) -> CheckerVerdict {
    let parsed = ptx::syntax::parse(&kernel.ptx);
    assert!(parsed.errors.is_empty(), "{:?}\n{}", parsed.errors, kernel.ptx);
    let program = ptx::lower(&parsed.module).program;
    let launch = launch(&program, kernel);
    let (limits, checks) = (Limits::default(), exec::Checks::default());
    let outcome = exec::check(&program, &launch, limits);
    let outcome = exec::follow_racing_reads(&program, &launch, limits, checks, outcome);
    let mut verdict = CheckerVerdict::default();
    let mut pairs = BTreeSet::new();
    for fault in outcome.findings.iter().map(|finding| &finding.fault) {
        match fault {
            note if note.is_note() => {}
            Fault::Race(race) => {
                verdict.race = true;
                let [a, b] = race.sides.each_ref().map(|side| side.thread.thread[0]);
                pairs.insert((a.min(b), a.max(b)));
            }
            Fault::Deadlock { .. } => verdict.deadlock = true,
            Fault::Barrier(BarrierFault::Reuse { .. }) => verdict.reuse = true,
            Fault::Barrier(_) => verdict.misuse = true,
            Fault::Undefined { reaches: Sink::Output, .. } => verdict.undefined = true,
            // Copies in flight at exit do not depend on the schedule, and the oracle has no such finding.
            Fault::CopiesInFlight { .. } => {}
            other => verdict.unknown = Some(format!("{other:?}")),
        }
    }
    verdict.race_pairs = Some(pairs);
    let stopped = verdict.deadlock || verdict.misuse;
    let gap = outcome.gap.filter(|_| !stopped).map(|gap| gap.reason);
    let open = outcome.undecided.first().map(|open| open.reason.to_owned());
    verdict.buffers = (gap.is_none() && !stopped).then_some(outcome.buffers);
    verdict.unknown = verdict.unknown.or(gap).or(open);
    verdict
}

pub(crate) fn launch(program: &ir::Program, kernel: &Kernel) -> Launch {
    let (entry, _) = program.functions.enumerate().next().expect("a kernel");
    let buffer = |(number, bytes): (usize, &Vec<u8>)| Buffer {
        name: ["cells", "results"][number].to_owned(),
        element_bytes: 4,
        element: None,
        contents: Contents::Known(bytes.clone()),
        access: Access::InOut,
    };
    Launch {
        kernel: entry,
        grid: [1, 1, 1],
        block: [kernel.threads, 1, 1],
        cluster: None,
        dynamic_shared: 0,
        selected: Vec::new(),
        symbols: Vec::new(),
        buffers: kernel.buffers.iter().enumerate().map(buffer).collect(),
        arguments: (0..kernel.buffers.len()).map(Argument::Pointer).collect(),
    }
}
