//! Shared by the targets that execute kernels: a small launch of any kernel, and the conditions on its run.

use exec::{Access, Argument, Buffer, Contents, Launch, Limits};
use ir::{FuncId, Param, Program};

/// Budget of a run in instructions: enough for a loop to iterate, small enough for many runs a second.
const BUDGET: u64 = 100_000;

/// Lowers a text and runs every kernel in it; ignores texts that are not PTX.
pub fn run_all(text: &str) {
    let parsed = ptx::syntax::parse(text);
    if !parsed.errors.is_empty() {
        return;
    }
    let program = ptx::lower(&parsed.module).program;
    let kernels = program.functions.enumerate().filter(|(_, function)| function.is_kernel);
    for (kernel, _) in kernels.take(4) {
        for known in [true, false] {
            run(text, &program, kernel, known);
        }
    }
}

fn run(text: &str, program: &Program, kernel: FuncId, known: bool) {
    let launch = launch(program, kernel, known);
    let outcome =
        exec::run(program, &launch, Limits { lane_instructions: BUDGET, ..Limits::default() });
    let gap = outcome.gap.iter().map(|gap| gap.place);
    let doubts = outcome.doubts.iter().map(|doubt| doubt.place);
    let findings = outcome.findings.iter().map(|finding| finding.place);
    for place in findings.chain(doubts).chain(gap) {
        let span = place.span;
        assert!(span.start <= span.end && span.end as usize <= text.len(), "{place:?}");
    }
    // Straight-line instructions are counted after their execution.
    let stretch = 32 * text.len() as u64;
    assert!(outcome.lane_instructions <= BUDGET + stretch, "{}", outcome.lane_instructions);
    assert!(outcome.gap.is_some() || outcome.blocks == launch.blocks());
}

/// Two blocks, the second warp of each partial. Every second buffer is an output.
fn launch(program: &Program, kernel: FuncId, known: bool) -> Launch {
    let (mut buffers, mut arguments) = (Vec::new(), Vec::new());
    for param in &program.functions[kernel].params {
        let Param::Variable(variable) = param else { continue };
        let size = program.variables[*variable].size.unwrap_or(0);
        if size != 8 {
            let bytes = if known {
                Argument::Bytes(vec![3; size.min(4096) as usize])
            } else {
                Argument::Opaque(None)
            };
            arguments.push(bytes);
            continue;
        }
        let (contents, access) = match (buffers.len() % 2, known) {
            (0, true) => (Contents::Known((0..=255).collect()), Access::InOut),
            (0, false) => (Contents::Opaque(256), Access::In),
            _ => (Contents::Undefined(256), Access::Out),
        };
        arguments.push(Argument::Pointer(buffers.len()));
        let name = format!("buffer {}", buffers.len());
        buffers.push(Buffer { name, element_bytes: 4, element: None, contents, access });
    }
    Launch {
        kernel,
        cluster: None,
        grid: [2, 1, 1],
        block: [20, 2, 1],
        dynamic_shared: 64,
        buffers,
        arguments,
        symbols: Vec::new(),
        selected: Vec::new(),
    }
}
