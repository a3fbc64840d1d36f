//! Replays what a GPU did: every recorded kernel runs in the engine, and every bit must agree.
//!
//! Not compared to the bit are the functions the manual calls approximate, and NaN payloads, which
//! it leaves open. What else disagrees is listed in `DIFFERENT`, with the reason.

use exec::{Access, Argument, Buffer, Contents, Launch, Limits};
use recordings::Recording;
use std::collections::BTreeMap;

/// Runs the recorded kernel; the outputs, one row for each vector.
fn replay(recording: &Recording) -> Result<Vec<Vec<u64>>, String> {
    let case = &recording.case;
    let text = recordings::kernel::module(case, "k");
    let parsed = ptx::syntax::parse(&text);
    let lowered = ptx::lower(&parsed.module);
    if let Some(diagnostic) = parsed.errors.iter().chain(&lowered.diagnostics).next() {
        return Err(diagnostic.message.clone());
    }
    let program = lowered.program;
    let (kernel, _) = program.functions.enumerate().next().ok_or("no kernel")?;
    let cells = recordings::kernel::CELL_BYTES * case.vectors;
    let room = (case.output_length().next_multiple_of(16) + cells) as u64;
    let buffer = |name: &str, contents, access| {
        Buffer { name: name.to_owned(), element_bytes: 1, contents, access }
    };
    let launch = Launch {
        kernel,
        grid: [1, 1, 1],
        block: [case.vectors as u32, 1, 1],
        dynamic_shared: 0,
        buffers: vec![
            buffer("inputs", Contents::Known(case.input_bytes()), Access::In),
            buffer("outputs", Contents::Undefined(room), Access::Out),
        ],
        arguments: vec![Argument::Pointer(0), Argument::Pointer(1)],
    };
    let outcome = exec::run(&program, &launch, Limits::default());
    if let Some(gap) = outcome.gap {
        return Err(gap.reason);
    }
    if let Some(finding) = outcome.findings.first() {
        return Err(format!("{:?}", finding.fault));
    }
    case.split_outputs(&outcome.buffers[1][..case.output_length()]).ok_or("no outputs".to_owned())
}

#[test]
fn the_engine_does_what_the_gpu_did() {
    let mut compared = 0;
    let mut failures: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for recording in recordings::load().unwrap() {
        let Some(recorded) = recording.outputs() else { continue };
        let case = &recording.case;
        if case.is_approximate() {
            continue;
        }
        compared += 1;
        let replayed = replay(&recording);
        let problem = match &replayed {
            Err(reason) => Some(reason.clone()),
            Ok(rows) => rows.iter().zip(&recorded).position(|(ours, theirs)| ours != theirs).map(
                |vector| {
                    let inputs = &case.vectors()[vector];
                    format!("{inputs:x?} gives {:x?}, hardware {:x?}", rows[vector], recorded[vector])
                },
            ),
        };
        if let Some(problem) = problem {
            failures.entry(case.family.to_owned()).or_default().push(format!("{}: {problem}", case.text));
        }
    }
    let count: usize = failures.values().map(Vec::len).sum();
    for (family, failures) in &failures {
        eprintln!("{family}: {}", failures.len());
        failures.iter().take(12).for_each(|failure| eprintln!("  {failure}"));
    }
    assert_eq!(count, 0, "of {compared} cases");
}
