//! The budget of a proof, and the launches it is about.

use super::options::Options;
use super::select::Refusal;
use crate::{Exit, Outcome, Watch};
use base::{Code, Diagnostic, Span};
use deadline::Limit;
use kir::Kernel;
use std::time::Instant;

/// Runs some work on a thread with a stack deep enough for the deepest expressions.
pub(super) fn on_deep_stack(work: impl FnOnce() -> Outcome + Send) -> Outcome {
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(kir::depth::STACK);
        match builder.spawn_scoped(scope, work).map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(outcome)) => outcome,
            // Pass on a panic, a bug of ours, to the handler that reports it.
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(error) => no_stack(&error),
        }
    })
}

/// The outcome if the stack cannot be had, such as under a limit of address space. Unknown, as wherever memory runs out.
fn no_stack(error: &std::io::Error) -> Outcome {
    let gibibytes = kir::depth::STACK >> 30;
    let message = format!(
        "error: out of memory: a stack of {gibibytes} GiB of address space could not be reserved ({error}); the answer \
         is unknown. Raise the limit (`ulimit -v`)\n"
    );
    let (output, exit) = (String::new(), Exit::Unknown);
    Outcome { output, messages: message, exit, thread_instructions: 0, report: None }
}

/// The limits of the next part of a command that began at `started`.
pub(super) fn limit(options: &Options<'_>, started: Instant) -> Limit {
    let watch = options.watch;
    let interrupted = watch.map(|one| Box::new(move || one.is_stopped()) as Box<dyn Fn() -> bool>);
    let time = options.time.map(|time| time.saturating_sub(started.elapsed()));
    Limit { time, interrupted, jobs: options.jobs }
}

/// The reason why a proof ended early.
pub(super) fn cut_short(options: &Options<'_>) -> String {
    match options.time.filter(|_| !options.watch.is_some_and(Watch::is_stopped)) {
        Some(time) => format!(
            "stopped after {} s (--timeout): open questions were not examined to the end",
            time.as_secs_f64()
        ),
        None => "interrupted: open questions were not examined to the end".to_owned(),
    }
}

/// The error for a text that was not read within the time limit.
pub(super) fn not_in_time(options: &Options<'_>) -> Refusal {
    let message = format!("the file was not read in time: {}", cut_short(options));
    Refusal::Read(Box::new(Diagnostic::unsupported(
        Code::UnsupportedConstruct,
        Span::default(),
        message,
    )))
}

/// The launches of the claim: `every 1-D launch`.
pub(super) fn scope(kernels: &[&Kernel]) -> String {
    let last = (0..3).rev().find(|axis| kernels.iter().any(|kernel| kernel.has_axis(*axis)));
    match last.map_or(1, |last| last + 1) {
        3 => "every launch".to_owned(),
        dimensions => format!("every {dimensions}-D launch"),
    }
}
