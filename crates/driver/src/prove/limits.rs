//! What a proof may cost, and on which launches its claim is.

use super::options::Options;
use super::select::Refusal;
use crate::{Outcome, Watch};
use base::{Code, Diagnostic, Span};
use param::deadline::Limit;
use param::kir::Kernel;

/// Does some work on a thread with a stack that is deep enough for the deepest expressions.
pub(super) fn on_deep_stack(work: impl FnOnce() -> Outcome + Send) -> Outcome {
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(param::depth::STACK);
        match builder.spawn_scoped(scope, work).map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(outcome)) => outcome,
            // A bug of ours is told where it is caught.
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(error) => Outcome::bad_input(&format!("no thread can be started: {error}")),
        }
    })
}

/// When a proof ends at the latest.
pub(super) fn limit(options: &Options<'_>) -> Limit {
    let watch = options.watch;
    let interrupted = watch.map(|one| Box::new(move || one.is_stopped()) as Box<dyn Fn() -> bool>);
    Limit { time: options.time, interrupted, jobs: options.jobs }
}

/// Why a proof ended before it was done.
pub(super) fn cut_short(options: &Options<'_>) -> String {
    match options.time.filter(|_| !options.watch.is_some_and(Watch::is_stopped)) {
        Some(time) => format!(
            "stopped after {} s (--timeout): what is open was not looked at to the end",
            time.as_secs_f64()
        ),
        None => "interrupted: what is open was not looked at to the end".to_owned(),
    }
}

/// A text that is not read in the time there is.
pub(super) fn not_in_time(options: &Options<'_>) -> Refusal {
    let message = format!("the file was not read in time: {}", cut_short(options));
    Refusal::Read(Box::new(Diagnostic::unsupported(
        Code::UnsupportedConstruct,
        Span::default(),
        message,
    )))
}

/// Which launches are meant: `every 1-D launch`.
pub(super) fn scope(kernels: &[&Kernel]) -> String {
    let last = (0..3).rev().find(|axis| kernels.iter().any(|one| one.has_axis(*axis)));
    match last.map_or(1, |last| last + 1) {
        3 => "every launch".to_owned(),
        dimensions => format!("every {dimensions}-D launch"),
    }
}
