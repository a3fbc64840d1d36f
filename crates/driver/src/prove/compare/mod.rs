//! Compares our reading of CUDA C++ with a compiler's. NVRTC compiles the same text, and the engine for PTX runs the
//! result; `interp` runs our reading. Both run the same small launches with drawn contents, and must leave the
//! same contents in every array.
//!
//! A proof is about our reading. An error in the reading does not show in runs of the same reading, but compiled code
//! reveals it. Each difference found here did happen. So it is a bug of ours or of the compiler, or the kernel's
//! behaviour is left open by C++. Finding none says nothing about launches and contents that were not drawn.
//!
//! Errs towards silence: integers must be equal bit for bit, floats as [`judge`] says. Results that may differ for a
//! good reason (the order of atomics, values that C++ leaves open) are left out, and the report says so.

mod bytes;
mod cache;
mod compiled;
mod data;
mod error;
mod instances;
mod judge;
mod launches;
mod show;
mod table;
#[cfg(test)]
mod tests;
mod work;

pub use data::Compiling;
pub use table::{Reading, readings};

pub(super) use data::{Comparison, TimedComparison};
pub(super) use show::{as_data, assumption, bug, line, message, note};

use super::detached::{Deadline, Detached};
use crate::cuda;
use base::SourceFile;
use compiled::Program;
use error::NotCompared;
use instances::Compiler;
use kir::Kernel;
use std::path::Path;
use std::time::{Duration, Instant};
use work::Work;

/// The kernel to compare, and options for compiling its text.
#[derive(Clone, Copy, Debug)]
pub(super) struct ComparisonRequest<'a> {
    pub(super) source: &'a SourceFile,
    pub(super) kernel: &'a Kernel,
    pub(super) compiling: Option<&'a Compiling>,
}

/// Compares our reading with a compiler's.
fn compare(source: &SourceFile, kernel: &Kernel, compiling: &Compiling) -> TimedComparison {
    let start = Instant::now();
    let (comparison, from_cache) = cached_or_new(source, kernel, compiling)
        .unwrap_or_else(|reason| (Comparison::Impossible(reason.to_string()), false));
    TimedComparison { comparison, took: start.elapsed(), from_cache }
}

/// Compares in a thread of its own while `other` runs. Does nothing if the user turned it off.
pub(super) fn compare_beside<T>(
    asked: ComparisonRequest<'_>,
    deadline: Deadline,
    other: impl FnOnce() -> T,
) -> (T, TimedComparison) {
    let start = Instant::now();
    let Some(compiling) = asked.compiling else {
        let timed = TimedComparison {
            comparison: Comparison::TurnedOff,
            took: Duration::ZERO,
            from_cache: false,
        };
        return (other(), timed);
    };
    let (source, kernel) = (asked.source.clone(), asked.kernel.clone());
    let compiling = compiling.clone();
    let thread = Detached::start(move || compare(&source, &kernel, &compiling));
    let other_result = other();
    let timed = thread.and_then(|thread| thread.result(deadline)).unwrap_or_else(|| {
        let reason = NotCompared::Time.to_string();
        TimedComparison {
            comparison: Comparison::Impossible(reason),
            took: start.elapsed(),
            from_cache: false,
        }
    });
    (other_result, timed)
}

fn cached_or_new(
    source: &SourceFile,
    kernel: &Kernel,
    compiling: &Compiling,
) -> Result<(Comparison, bool), NotCompared> {
    let library = compiling.options.environment.nvrtc();
    let library = library.ok_or(NotCompared::NoCompiler)?;
    let version = cuda::version(&library)?;
    let key = cache::key(source, kernel, compiling, &library, &version);
    let folder = compiling.options.environment.cache_folder();
    if let Some(known) = key.as_deref().and_then(|key| cache::look_up(folder.as_deref(), key)) {
        return Ok((Comparison::Same(known), true));
    }
    let signature = kernel.signature.as_ref();
    let signature = signature.map_err(|reason| NotCompared::Signature(reason.clone()))?;
    let text = source.text();
    let compiler = Compiler { path: Path::new(source.name()), text, compiling, library };
    let mut work = Work::new(kernel, signature, text);
    work.summary.compiler = format!("NVRTC {version}");
    work.summary.architecture.clone_from(&compiling.options.architecture);
    for group in instances::groups(kernel, signature, text)? {
        let named = group.compile(&compiler, true)?;
        let program = Program::read(&named.ptx)?;
        // Optimisers drop dead code, such as stores to a shared array that is too small. So an unoptimised version is
        // run too.
        let plain = group.compile(&compiler, false).ok();
        let plain = plain.and_then(|named| Program::read(&named.ptx).ok());
        for (instance, name) in group.instances.iter().zip(&named.names) {
            let second = plain.as_ref().and_then(|plain| plain.kernel(name).ok());
            let kernels: Vec<_> = [program.kernel(name)?].into_iter().chain(second).collect();
            if let Some(difference) = work.instance(&kernels, instance)? {
                return Ok((Comparison::Different(Box::new(difference)), false));
            }
        }
    }
    let summary = work.finish()?;
    if let Some(key) = &key {
        cache::store(folder.as_deref(), key, &summary);
    }
    Ok((Comparison::Same(summary), false))
}

/// Returns `true` if NVRTC accepts a text; `None` if it is not found or takes too long.
pub(super) fn is_accepted(
    source: &SourceFile,
    compiling: &Compiling,
    deadline: Deadline,
) -> Option<bool> {
    let library = compiling.options.environment.nvrtc()?;
    let (source, compiling) = (source.clone(), compiling.clone());
    let accepts = move || {
        let compile = |text: &str| {
            let wanted = cuda::InstanceRequest {
                path: Path::new(source.name()),
                text,
                defines: &compiling.defines,
                names: &[],
                options: &compiling.options,
                optimised: false,
            };
            cuda::compile_named(&library, &wanted).is_ok()
        };
        compile(source.text()) || compile(&cuda::without_host(source.text()))
    };
    Detached::start(accepts)?.result(deadline)
}
