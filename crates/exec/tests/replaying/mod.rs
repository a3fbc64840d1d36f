//! Replays recorded kernels in the engine.

use exec::{Access, Argument, Buffer, Contents, Launch, Limits};
use recordings::Recording;

/// Runs the recorded kernel and returns the outputs, one row for each vector.
pub(crate) fn replay(recording: &Recording) -> Result<Vec<Vec<u64>>, String> {
    let case = &recording.case;
    let text = recordings::kernel::module(case, "k");
    let parsed = ptx::syntax::parse(&text);
    let lowered = ptx::lower(&parsed.module);
    if let Some(diagnostic) = parsed.errors.iter().chain(&lowered.diagnostics).next() {
        return Err(diagnostic.message.to_string());
    }
    let program = lowered.program;
    let (kernel, _) = program.functions.enumerate().next().ok_or("no kernel")?;
    let cells = recordings::kernel::CELL_BYTES * case.vectors;
    let room = (case.output_length().next_multiple_of(16) + cells) as u64;
    let buffer = |name: &str, contents, access| Buffer {
        name: name.to_owned(),
        element_bytes: 1,
        element: None,
        contents,
        access,
    };
    let launch = Launch {
        kernel,
        grid: [1, 1, 1],
        block: [case.vectors as u32, 1, 1],
        cluster: None,
        dynamic_shared: 0,
        buffers: vec![
            buffer("inputs", Contents::Known(case.input_bytes()), Access::In),
            buffer("outputs", Contents::Undefined(room), Access::Out),
        ],
        arguments: vec![Argument::Pointer(0), Argument::Pointer(1)],
        symbols: Vec::new(),
        selected: Vec::new(),
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
