//! Formats faults of a kernel as diagnostics: the fault, the thread, and the element.

use crate::cluster_findings;
use crate::collective_findings;
use crate::grouping::Group;
use crate::mbarrier_findings;
use crate::naming::{element, error_at, source_line, thread_label, thread_name, verb};
use crate::product_findings;
use crate::source_lines::source_lines;
use crate::sync_findings;
use crate::tensor_findings;
use crate::vocabulary::{FindingKind, PropertyName};
use base::{Code, Diagnostic, Severity, SourceFile, SourceLine};
use exec::{
    AccessKind, BarrierFault, Doubt, Doubtful, Fault, Finding, Gap, GroupFault, Origin, Place,
    Sink, StopReason, Target,
};
use ir::{Program, Space};

/// The diagnostic for a group of findings.
pub(crate) fn diagnostic(group: &Group<'_>, program: &Program, strict: bool) -> Diagnostic {
    let fault = &group.first.fault;
    let diagnostic = describe(group, program).origin(source_lines(group.first.place, program));
    let severity =
        if sync_findings::is_note(fault, strict) { Severity::Note } else { Severity::Error };
    Diagnostic { severity, ..diagnostic }
}

/// A fault of one thread, without others involved.
fn single_thread(group: &Group<'_>, program: &Program, code: Code, message: String) -> Diagnostic {
    let finding = group.first;
    let mut diagnostic = Diagnostic::error(code, finding.place.span, message);
    let thread = thread_name(finding.thread);
    let times = match (group.count(), group.all.len()) {
        (1, 1) => String::new(),
        (count, 1) => format!(" (first of {count})"),
        (count, instructions) => {
            format!(" (first of {count}, at {instructions} instructions of this line)")
        }
    };
    diagnostic = diagnostic.label(format!("{thread}{times}"));
    if let Some((place, what)) = origin(&finding.fault) {
        diagnostic = diagnostic.also_from(place.span, what, source_lines(place, program));
    }
    diagnostic
}

/// A place where the run stopped.
pub(crate) fn gap(gap: &Gap, program: &Program, source: &SourceFile) -> Diagnostic {
    let (severity, code) = (Severity::Unsupported, Code::NotFollowed);
    let in_loop = matches!(
        gap.stop,
        StopReason::Budget { in_loop: true } | StopReason::Time { in_loop: true }
    );
    let message = match in_loop {
        true => format!("{} in the loop at {}", gap.reason, line_name(gap.place, program, source)),
        false => gap.reason.clone(),
    };
    let diagnostic = Diagnostic::new(severity, code, gap.place.span, message);
    let thread = gap.thread.map_or_else(String::new, thread_name);
    let diagnostic = diagnostic.label(thread).origin(source_lines(gap.place, program));
    match gap.stop {
        StopReason::Budget { .. } => diagnostic.help("if the kernel ends, raise the limit: --max-instructions 100G"),
        StopReason::Time { .. } => diagnostic.help("if the kernel ends, raise the limit: --timeout SECONDS"),
        StopReason::Memory => {
            diagnostic.help("take a smaller problem: fewer blocks, or shorter inner loops")
        }
        StopReason::Estimate { needed, fitting } => diagnostic.help(format!(
            "raise the limit (--max-instructions {}G), take a smaller problem of at most {fitting} such \
            blocks, or check only these: --blocks 0..{fitting}",
            needed.div_ceil(1_000_000_000).saturating_mul(2)
        )),
        StopReason::NotFixed => diagnostic.help(
            "the manual does not fix the last bits of this number, and the results that it allows lead to \
            different decisions: compare with a margin, or use integers or operations with an explicit \
            rounding",
        ),
        StopReason::Data => diagnostic.help(
            "supply the data (--arg NAME=TYPE[…]=@file.npy; the answer then holds for it alone), or use \
             `prove` on the CUDA C source, which covers all data",
        ),
        StopReason::NotFollowed | StopReason::Conditional | StopReason::Interrupted => diagnostic,
    }
}

/// `kernel.cu:12`, or the line of the PTX if it has no source lines.
fn line_name(place: Place, program: &Program, source: &SourceFile) -> String {
    match source_lines(place, program).into_iter().next() {
        Some(SourceLine { file: Some(file), line, .. }) => format!("{file}:{line}"),
        _ => format!("line {}", source.line(place.span.start)),
    }
}

/// Names a value that the run left unknown.
pub(crate) fn doubt(
    doubt: &Doubt,
    launch: &exec::Launch,
    program: &Program,
    source: &SourceFile,
) -> String {
    let line = source.line(doubt.place.span.start);
    let from = source_line(doubt.place, program);
    match doubt.about {
        Doubtful::Divisor(reason) => {
            format!("the divisor at line {line} depends on {reason}{from}")
        }
        Doubtful::Undetermined { reaches: Sink::Atomic, reason } => {
            format!("an operand of the atomic operation at line {line} depends on {reason}{from}")
        }
        Doubtful::Undetermined { reaches: Sink::Control, reason } => {
            format!("the branch at line {line} depends on {reason}{from}")
        }
        Doubtful::Undetermined { reason, .. } => {
            format!("the value stored at line {line} depends on {reason}{from}")
        }
        Doubtful::FloatOrder => format!(
            "float-order: the schedule chooses the order of the additions at line {line}; results \
             are equal up to the order of float additions (--allow float-order accepts that){from}"
        ),
        Doubtful::EqualAsReals => format!(
            "float-order: what the schedule chooses at line {line} does not change the results as real \
             numbers; rounding or overflow may differ (--allow float-order accepts that){from}"
        ),
        Doubtful::AtomicResult => format!(
            "the result of the atomic operation at line {line} is used, and depends on the \
             schedule{from}"
        ),
        Doubtful::Ticket(result) => {
            let name = launch.buffers.get(result.buffer).map_or("memory", |buffer| &buffer.name);
            format!(
                "the schedule chooses which block takes which number at line {line}; `{name}` was not shown to be \
                 the same for all choices (element {}){from}",
                result.element
            )
        }
        Doubtful::Copies { differ } => {
            let differ = if differ { "they differ" } else { "they may differ" };
            format!(
                "line {line} multiplies a fragment that holds several copies of an element, and \
                 {differ}: hardware may use any of them{from}"
            )
        }
        Doubtful::UndefinedCopy => format!(
            "line {line} multiplies a fragment that holds several copies of an element, some of \
             them undefined: hardware may use any of them{from}"
        ),
        Doubtful::FirstCopy => format!(
            "line {line} multiplies a fragment that holds several copies of an element, and they \
             differ: the first is used, as an H200 does{from}"
        ),
    }
}

/// The kind of a fault in machine-readable reports.
pub(crate) fn kind(fault: &Fault) -> FindingKind {
    match fault {
        Fault::OutOfBounds { .. } | Fault::WildAddress { .. } => FindingKind::OutOfBounds,
        Fault::Misaligned { .. } => FindingKind::Misaligned,
        Fault::Tensor(fault) => tensor_findings::kind(fault),
        Fault::Cluster(fault) => cluster_findings::kind(fault),
        Fault::ReadOnly { .. } => FindingKind::InputModified,
        Fault::Undefined {
            origin: Some(Origin::Shuffle(_) | Origin::Operation(_) | Origin::RacingRead(_)),
            ..
        } => FindingKind::UndefinedValue,
        Fault::Undefined { .. } => FindingKind::Uninitialised,
        Fault::DependsOnInitial { .. } => FindingKind::DependsOnInitial,
        Fault::DivisionByZero => FindingKind::DivisionByZero,
        Fault::Trap | Fault::AssertFailed => FindingKind::Trap,
        Fault::Deadlock { .. } | Fault::PartOfWarpGroup { why: GroupFault::Waits(_), .. } => {
            FindingKind::Deadlock
        }
        Fault::Barrier(BarrierFault::Divergent { .. } | BarrierFault::DifferentSites { .. }) => {
            FindingKind::BarrierDivergence
        }
        Fault::Barrier(BarrierFault::Reuse { .. }) => FindingKind::BarrierReuse,
        Fault::Barrier(_) => FindingKind::BarrierMisuse,
        Fault::Mbarrier(fault) if fault.kind.is_reuse() => FindingKind::BarrierReuse,
        Fault::Mbarrier(_) => FindingKind::BarrierMisuse,
        Fault::NotInMask { .. }
        | Fault::LanesMissing { .. }
        | Fault::LanesExited { .. }
        | Fault::PartOfWarpGroup { .. } => FindingKind::WarpCollective,
        Fault::CopiesInFlight { .. }
        | Fault::CopySize { .. }
        | Fault::BulkSize { .. }
        | Fault::ProductRegisters(_)
        | Fault::ProductsInFlight { .. } => FindingKind::AsyncCopy,
        Fault::Race(race) if race.changes_source() && !race.unseen => FindingKind::AsyncCopy,
        Fault::Race(_) | Fault::BeforeGridWait { .. } | Fault::NoAcquire { .. } => {
            FindingKind::Race
        }
    }
}

/// The property that a fault refutes.
pub(crate) fn property(fault: &Fault) -> PropertyName {
    match fault {
        Fault::OutOfBounds { .. }
        | Fault::WildAddress { .. }
        | Fault::CopySize { .. }
        | Fault::BulkSize { .. } => PropertyName::Bounds,
        Fault::Misaligned { .. } => PropertyName::Alignment,
        Fault::Tensor(fault) => tensor_findings::property(fault),
        Fault::Cluster(fault) => cluster_findings::property(fault),
        Fault::ReadOnly { .. } => PropertyName::Frame,
        Fault::Undefined { .. } | Fault::DependsOnInitial { .. } => PropertyName::Initialised,
        Fault::DivisionByZero => PropertyName::Division,
        Fault::Trap | Fault::AssertFailed => PropertyName::Traps,
        Fault::Deadlock { .. } | Fault::PartOfWarpGroup { why: GroupFault::Waits(_), .. } => {
            PropertyName::Deadlock
        }
        Fault::Barrier(_) | Fault::Mbarrier(_) => PropertyName::Barriers,
        Fault::NotInMask { .. }
        | Fault::LanesMissing { .. }
        | Fault::LanesExited { .. }
        | Fault::PartOfWarpGroup { .. } => PropertyName::Collectives,
        Fault::Race(_)
        | Fault::BeforeGridWait { .. }
        | Fault::NoAcquire { .. }
        | Fault::CopiesInFlight { .. }
        | Fault::ProductRegisters(_)
        | Fault::ProductsInFlight { .. } => PropertyName::Races,
    }
}

/// The byte of an allocation that a fault is about, if it is about one.
pub(crate) fn target(fault: &Fault) -> Option<&Target> {
    match fault {
        Fault::OutOfBounds { target, .. }
        | Fault::Misaligned { target, .. }
        | Fault::ReadOnly { target }
        | Fault::DependsOnInitial { target }
        | Fault::BeforeGridWait { target, .. } => Some(target),
        Fault::Race(race) => Some(&race.target),
        Fault::Tensor(fault) => tensor_findings::target(fault),
        Fault::Cluster(fault) => cluster_findings::target(fault),
        _ => None,
    }
}

/// Writes the message and the notes of a finding: one arm for each fault.
fn describe(group: &Group<'_>, program: &Program) -> Diagnostic {
    let finding = group.first;
    let described = (finding, thread_label(finding));
    let (code, message) = match &finding.fault {
        Fault::Race(race) => return sync_findings::race(race, group, program),
        Fault::Barrier(fault) => return sync_findings::barrier(fault, finding, program),
        Fault::Mbarrier(fault) => return mbarrier_findings::describe(fault, finding, program),
        Fault::Cluster(fault) => return cluster_findings::describe(fault, finding, program),
        Fault::Deadlock { waiting, waits } => {
            return sync_findings::deadlock(*waiting, waits, finding, program);
        }
        Fault::NotInMask { mask } => return collective_findings::not_in_mask(*mask, described),
        Fault::LanesExited { mask, exited } => {
            return collective_findings::lanes_exited(*mask, exited, described, program);
        }
        Fault::LanesMissing { missing } => {
            return collective_findings::lanes_missing(*missing, described);
        }
        Fault::PartOfWarpGroup { instruction, why: why @ GroupFault::Waits(_) } => {
            (Code::Deadlock, collective_findings::part_of_group(instruction, *why))
        }
        Fault::PartOfWarpGroup { instruction, why } => {
            (Code::WarpCollective, collective_findings::part_of_group(instruction, *why))
        }
        Fault::ProductRegisters(window) => {
            return product_findings::registers(*window, described, program);
        }
        Fault::ProductsInFlight { products } => {
            return product_findings::in_flight(*products, described);
        }
        Fault::BeforeGridWait { target, kind, conflicts } => {
            (Code::Race, before_grid_wait(target, *kind, *conflicts))
        }
        Fault::NoAcquire { ticket } => return no_acquire(finding, *ticket),
        Fault::CopiesInFlight { copies, committed } => {
            return sync_findings::in_flight(*copies, *committed, finding);
        }
        Fault::OutOfBounds { target, kind, bytes, when } => {
            let when = when.as_ref().map(|when| format!(", if {when}")).unwrap_or_default();
            (Code::OutOfBounds, format!("out of bounds: {}{when}", access(target, *kind, *bytes)))
        }
        Fault::WildAddress { address, kind, bytes } => {
            let does = verb(*kind);
            let message =
                format!("{does} {bytes} bytes at {address:#x}, which is in no allocation");
            (Code::WildAddress, message)
        }
        Fault::Misaligned { target, kind, bytes } => {
            (Code::Misaligned, misaligned(target, *kind, *bytes))
        }
        Fault::ReadOnly { target } => return written_input(group, program, target),
        Fault::Undefined { reaches, .. } => {
            (Code::UndefinedValue, format!("an undefined value {}", use_of_undefined(*reaches)))
        }
        Fault::DependsOnInitial { target } => {
            let message = format!("updates {}, an output that was never written", element(target));
            (Code::UndefinedValue, message)
        }
        Fault::CopySize { source, bytes } => (Code::AsyncCopy, copy_size(*source, *bytes)),
        Fault::Tensor(fault) => tensor_findings::message(fault),
        Fault::BulkSize { bytes } => {
            let message = format!(
                "a bulk copy of {bytes} bytes, which must be a multiple of 16: it may never complete"
            );
            (Code::AsyncCopy, message)
        }
        Fault::DivisionByZero => (Code::DivisionByZero, "an integer division by zero".to_owned()),
        Fault::Trap => (Code::Trap, "the kernel traps".to_owned()),
        Fault::AssertFailed => (Code::Trap, "an assertion fails".to_owned()),
    };
    single_thread(group, program, code, message)
}

/// The last block reads what other blocks wrote, without a fence after it took its ticket at `ticket`.
fn no_acquire(finding: &Finding, ticket: Place) -> Diagnostic {
    let message =
        "the last block accesses data that other blocks wrote, without a fence after its ticket";
    let note = "the manual asks for `__threadfence()` between the ticket and the access (§8.8)";
    let diagnostic = error_at(Code::Race, finding, message.to_owned()).note(note.to_owned());
    diagnostic.also(ticket.span, "blocks take tickets here".to_owned())
}

fn misaligned(target: &Target, kind: AccessKind, bytes: u32) -> String {
    let (does, place) = (verb(kind), element(target));
    format!("misaligned: {does} {place}, which is not a multiple of {bytes} bytes")
}

/// A write to an input, with the remedy if it is a tensor.
fn written_input(group: &Group<'_>, program: &Program, target: &Target) -> Diagnostic {
    let message = format!("writes {}, which is an input", element(target));
    let diagnostic = single_thread(group, program, Code::InputModified, message);
    match target.space {
        Space::Global => diagnostic.help(format!(
            "if the kernel is meant to write `{0}`, declare it as an output: --arg {0}=TYPE[…]:out, or :inout if \
             the kernel reads it first",
            target.name
        )),
        _ => diagnostic,
    }
}

/// An access before any wait for earlier launches.
fn before_grid_wait(target: &Target, kind: AccessKind, conflicts: bool) -> String {
    let (does, place) = (verb(kind), element(target));
    let why = match (conflicts, kind) {
        (true, _) => "an earlier launch of the sequence may still be using it",
        (false, AccessKind::Read) => "correct only if no running launch writes it",
        (false, _) => "correct only if no running launch reads or writes it",
    };
    format!("{does} {place} before griddepcontrol.wait: {why}")
}

/// A copy with a source size larger than its own.
fn copy_size(source: u32, bytes: u8) -> String {
    let negative = match source.cast_signed() {
        number if number < 0 => format!(" ({number} with a sign)"),
        _ => String::new(),
    };
    format!(
        "an asynchronous copy of {bytes} bytes has a source size of {source}{negative}: more than \
         the copy is undefined"
    )
}

fn access(target: &Target, kind: AccessKind, bytes: u32) -> String {
    let end = target.offset.saturating_add(i64::from(bytes));
    let size = i64::try_from(target.size).unwrap_or(i64::MAX);
    let how_far = if target.offset < 0 {
        format!("{} bytes before its start", target.offset.unsigned_abs())
    } else {
        format!("{} bytes past its end", end.saturating_sub(size))
    };
    let (does, place) = (verb(kind), element(target));
    format!("{does} {bytes} bytes at {place}, {how_far} ({size} bytes)")
}

fn use_of_undefined(sink: Sink) -> &'static str {
    match sink {
        Sink::Control => "decides a branch",
        Sink::Address => "is used as an address",
        Sink::Synchronisation => "is a barrier operand or a lane mask",
        Sink::CopySize => "is the source size of an asynchronous copy",
        Sink::Atomic => "is an operand of an atomic operation",
        Sink::Output => "is stored to global memory",
    }
}

/// The origin of an undefined value, if it has a place.
pub(crate) fn origin(fault: &Fault) -> Option<(Place, &'static str)> {
    let Fault::Undefined { origin, .. } = fault else { return None };
    match (*origin)? {
        Origin::Register => None,
        Origin::Memory(place) => Some((place, "loaded here from unwritten memory")),
        Origin::Shuffle(place) => Some((place, "from a lane that does not participate here")),
        Origin::BadAccess(place) => Some((place, "from this access, which is itself an error")),
        Origin::RacingRead(place) => Some((place, "read here, while it may be written")),
        Origin::Operation(place) => Some((place, "from this operation")),
    }
}
