//! Names of threads, places and accesses in reports.

use crate::demangle::variable_name;
use crate::source_lines::{origin_text, source_lines};
use base::{Code, Diagnostic};
use exec::{AccessKind, Finding, Place, Target, Thread};
use ir::Program;

pub(crate) fn verb(kind: AccessKind) -> &'static str {
    match kind {
        AccessKind::Read => "reads",
        AccessKind::Write => "writes",
        AccessKind::Atomic => "updates",
    }
}

/// Names an element: `x[12]`, with the byte if it is not the start of an element. Compilers declare most arrays in
/// shared and local memory as bytes; their byte offsets are not indices of the source.
pub(crate) fn element(target: &Target) -> String {
    let name = variable_name(&target.name);
    let block = target.rank.map_or_else(String::new, |rank| format!(" of rank {rank}"));
    if target.element_bytes <= 1 {
        return format!("byte {} of `{name}`{block}", target.offset);
    }
    let size = i64::from(target.element_bytes);
    let (index, rest) = (target.offset.div_euclid(size), target.offset.rem_euclid(size));
    match rest {
        0 => format!("`{name}[{index}]`{block}"),
        rest => format!("`{name}[{index}]`+{rest}{block}"),
    }
}

pub(crate) fn thread_name(thread: Thread) -> String {
    let name = |[x, y, z]: [u32; 3]| format!("({x},{y},{z})");
    let rank = thread.rank.map_or_else(String::new, |rank| format!(" (rank {rank})"));
    format!("thread {} of block {}{rank}", name(thread.thread), name(thread.block))
}

/// The source line of a place, with the call sites it was inlined at: `, from kernel.cu:12`
pub(crate) fn source_line(place: Place, program: &Program) -> String {
    origin_text(&source_lines(place, program))
}

pub(crate) fn error_at(code: Code, finding: &Finding, message: String) -> Diagnostic {
    Diagnostic::error(code, finding.place.span, message)
}

pub(crate) fn thread_label(finding: &Finding) -> String {
    let thread = thread_name(finding.thread);
    let times = match finding.count {
        1 => String::new(),
        count => format!(" (first of {count})"),
    };
    format!("{thread}{times}")
}
