//! Compares the engine with all schedules on two blocks of a cluster.

use super::launch;
use exec::{Fault, Limits};
use oracle::clusters::{ClusterProgram, emit_clusters, explore_clusters};

/// The answer of the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
enum EngineAnswer {
    Clean(Vec<u32>),
    /// The kinds of findings.
    Found(Vec<&'static str>),
    GaveUp(String),
}

fn engine(program: &ClusterProgram) -> EngineAnswer {
    let kernel = emit_clusters(program);
    let parsed = ptx::syntax::parse(&kernel.ptx);
    assert!(parsed.errors.is_empty(), "{:?}\n{}", parsed.errors, kernel.ptx);
    let lowered = ptx::lower(&parsed.module);
    assert!(lowered.diagnostics.is_empty(), "{:?}\n{}", lowered.diagnostics, kernel.ptx);
    let launch = launch(&lowered.program, &kernel);
    let launch = exec::Launch { grid: [2, 1, 1], cluster: Some([2, 1, 1]), ..launch };
    let outcome = exec::check(&lowered.program, &launch, Limits::default());
    let faults = outcome.findings.iter().map(|finding| &finding.fault);
    let errors = faults.filter(|fault| !fault.is_note());
    // An unawaited copy does not depend on the schedule.
    let errors = errors.filter(|fault| !matches!(fault, Fault::CopiesInFlight { .. }));
    let kinds: Vec<&'static str> = errors
        .map(|fault| match fault {
            Fault::Mbarrier(fault) if fault.kind.is_reuse() => "reuse",
            Fault::Mbarrier(_) => "misuse",
            Fault::Deadlock { .. } => "deadlock",
            Fault::Race(_) => "race",
            _ => "other",
        })
        .collect();
    if !kinds.is_empty() {
        return EngineAnswer::Found(kinds);
    }
    if let Some(gap) = outcome.gap {
        return EngineAnswer::GaveUp(gap.reason);
    }
    if let Some(open) = outcome.undecided.first() {
        return EngineAnswer::GaveUp(open.reason.to_owned());
    }
    let words = outcome.buffers[1].chunks_exact(16);
    EngineAnswer::Clean(
        words.map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect(),
    )
}

/// Compares one program and returns the common verdict.
pub(crate) fn compare(program: &ClusterProgram) -> Result<&'static str, String> {
    let Some(oracle) = explore_clusters(program) else { return Ok("too many states") };
    let answer = engine(program);
    let wrong = |what: &str| {
        Err(format!(
            "{what}\n{program}{oracle:?}\nengine: {answer:?}\n{}",
            emit_clusters(program).ptx
        ))
    };
    match (&answer, oracle.is_clean()) {
        (EngineAnswer::Clean(values), true) if oracle.outcomes.contains(values) => Ok("clean"),
        (EngineAnswer::Clean(_), true) => wrong("other values"),
        (EngineAnswer::Clean(_), false) => wrong("accepted, but some schedule has a fault"),
        (EngineAnswer::Found(_), true) => wrong("rejected, but no schedule has a fault"),
        (EngineAnswer::Found(_), false) => Ok("wrong"),
        (EngineAnswer::GaveUp(_), true) => Ok("gave up on a clean one"),
        (EngineAnswer::GaveUp(_), false) => Ok("gave up on a wrong one"),
    }
}
