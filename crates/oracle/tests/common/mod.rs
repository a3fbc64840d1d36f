//! The engine as a checker: what `exec` says of an emitted kernel today.

#![allow(dead_code, reason = "each test uses some of it")]

use exec::{Access, Argument, Buffer, Contents, Fault, Launch, Limits, Sink};
use oracle::{CheckerVerdict, Kernel, Program};

/// Reads a program.
pub(crate) fn program(text: &str) -> Program {
    text.parse().unwrap_or_else(|why| panic!("{why}:\n{text}"))
}

/// Runs the kernel and says what was found. Races, misuse and reuse are not looked for yet.
pub(crate) fn engine(kernel: &Kernel) -> CheckerVerdict {
    let parsed = ptx::syntax::parse(&kernel.ptx);
    assert!(parsed.errors.is_empty(), "{:?}\n{}", parsed.errors, kernel.ptx);
    let program = ptx::lower(&parsed.module).program;
    let outcome = exec::run(&program, &launch(&program, kernel), Limits::default());
    let found = |fault: fn(&Fault) -> bool| outcome.findings.iter().any(|f| fault(&f.fault));
    let deadlock = found(|fault| matches!(fault, Fault::Deadlock { .. }));
    let undefined = found(|fault| matches!(fault, Fault::Undefined { reaches: Sink::Output, .. }));
    let understood = usize::from(deadlock) + usize::from(undefined);
    let strange = outcome.findings.len() > understood && !undefined;
    let gap = outcome.gap.filter(|_| !deadlock).map(|gap| gap.reason);
    CheckerVerdict {
        deadlock,
        undefined,
        buffers: (gap.is_none() && !deadlock).then_some(outcome.buffers),
        unknown: gap.or_else(|| strange.then(|| format!("{:?}", outcome.findings))),
        ..CheckerVerdict::default()
    }
}

fn launch(program: &ir::Program, kernel: &Kernel) -> Launch {
    let (entry, _) = program.functions.enumerate().next().expect("a kernel");
    let buffer = |(number, bytes): (usize, &Vec<u8>)| Buffer {
        name: ["cells", "results"][number].to_owned(),
        element_bytes: 4,
        contents: Contents::Known(bytes.clone()),
        access: Access::InOut,
    };
    Launch {
        kernel: entry,
        grid: [1, 1, 1],
        block: [kernel.threads, 1, 1],
        dynamic_shared: 0,
        buffers: kernel.buffers.iter().enumerate().map(buffer).collect(),
        arguments: (0..kernel.buffers.len()).map(Argument::Pointer).collect(),
    }
}
