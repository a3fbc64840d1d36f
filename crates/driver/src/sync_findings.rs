//! Formats faults of synchronisation as diagnostics: races with both sides, barriers, deadlocks.

use crate::grouping::Group;
use crate::mbarrier_findings;
use crate::naming::{element, error_at, source_line, thread_label, thread_name, verb};
use crate::product_findings;
use crate::source_lines::source_lines;
use base::{Code, Diagnostic, Severity};
use exec::{
    AccessKind, BarrierFault, Fault, Finding, PassedBarrier, Place, Race, RaceSide, Target,
    Undecided, Wait, WaitKind,
};
use ir::{Op, Program, SyncOp};

/// Asynchronous copies that no thread waited for, committed to a group or not.
pub(crate) fn in_flight(copies: usize, committed: bool, finding: &Finding) -> Diagnostic {
    let copies = match copies {
        1 => "1 asynchronous copy is".to_owned(),
        copies => format!("{copies} asynchronous copies are"),
    };
    let message = match committed {
        true => format!("{copies} still running when the thread ends"),
        false => format!("{copies} never committed to a group"),
    };
    error_at(Code::AsyncCopy, finding, message).label(thread_label(finding))
}

/// Returns `true` if a fault is reported as a note. In strict mode only faults within the manual's rules are notes, and
/// those that may not happen ([`leaves_open`]).
pub(crate) fn is_note(fault: &Fault, strict: bool) -> bool {
    let allowed = matches!(fault, Fault::CopiesInFlight { .. } | Fault::ProductsInFlight { .. });
    fault.is_note() && (!strict || allowed || leaves_open(fault))
}

/// Returns `true` for a note about accesses under conditions on data, of which nobody knows whether they happen together.
/// In strict mode it leaves races open.
pub(crate) fn leaves_open(fault: &Fault) -> bool {
    matches!(fault, Fault::Race(race) if race.conditional && race.same_value)
}

/// Two unordered accesses.
pub(crate) fn race(race: &Race, group: &Group<'_>, program: &Program) -> Diagnostic {
    let place = race_element(race);
    let source_changed = race.changes_source() && !race.unseen;
    let product = product_findings::race(race, &place);
    let what = match () {
        () if product.is_some() => product.unwrap_or_default(),
        () if race.same_value => {
            let may = if race.conditional { "may write" } else { "write" };
            format!("two threads {may} {place}, both the same value, and nothing orders them")
        }
        () if race.unused => format!(
            "race on {place}: {} that nothing orders; nothing depends on the read value",
            both_accesses(race)
        ),
        () if source_changed => {
            format!("the source of an asynchronous copy, {place}, is changed while it is copied")
        }
        () if race.lacks_fence_after_read() => format!(
            "a bulk copy overwrites {place}, which was read before, and no proxy fence lies between"
        ),
        () if race.unseen_map => format!(
            "race on {place}: a tensor copy reads its map there, and no fence makes the write visible to it"
        ),
        () if race.unseen => format!(
            "race on {place}: `fence.proxy.async` is missing between a write and a bulk copy that {} it",
            match race.sides[1].kind {
                AccessKind::Read => "reads",
                AccessKind::Write | AccessKind::Atomic => "overwrites",
            }
        ),
        () => {
            let when = race.when.as_ref().map(|when| format!(", if {when}")).unwrap_or_default();
            format!("race on {place}: {} that nothing orders{when}", both_accesses(race))
        }
    };
    let code = if source_changed { Code::AsyncCopy } else { Code::Race };
    let diagnostic = error_at(code, group.first, what);
    let diagnostic = sides(diagnostic, race, &times(group), program);
    let diagnostic = diagnostic.note(why(race, program));
    match earlier_barrier(race) {
        Some((place, text)) => diagnostic.also(place.span, text),
        None => diagnostic,
    }
}

/// Counts the pairs: ` (first of 12 pairs, at 3 pairs of instructions)`
fn times(group: &Group<'_>) -> String {
    match (group.count(), group.all.len()) {
        (1, _) => String::new(),
        (count, 1) => format!(" (first of {count} pairs)"),
        (count, places) => format!(" (first of {count} pairs, at {places} pairs of instructions)"),
    }
}

/// Adds labels for the two accesses, the later one first.
fn sides(diagnostic: Diagnostic, race: &Race, times: &str, program: &Program) -> Diagnostic {
    let [earlier, later] = &race.sides;
    let alike = (earlier.kind, earlier.in_flight) == (later.kind, later.in_flight);
    if earlier.place == later.place && alike && earlier.thread != later.thread {
        let both = [earlier, later].map(|side| thread_name(side.thread)).join(" and ");
        return diagnostic.label(format!("{both} {}{times}", does(later, "s")));
    }
    let diagnostic = diagnostic.label(format!("{}{times}", side(later)));
    let origin = source_lines(earlier.place, program);
    diagnostic.also_from(earlier.place.span, side(earlier), origin)
}

/// Names both kinds of accesses: `a write and a read`
fn both_accesses(race: &Race) -> String {
    let [earlier, later] = &race.sides;
    let word = |side: &RaceSide| match side.kind {
        AccessKind::Read => "read",
        AccessKind::Write => "write",
        AccessKind::Atomic => "atomic update",
    };
    let article = |word: &str| if word.starts_with('a') { "an" } else { "a" };
    let (one, other) = (word(earlier), word(later));
    match one == other {
        true => format!("two {one}s"),
        false => format!("{} {one} and {} {other}", article(one), article(other)),
    }
}

/// The element that two accesses have in common. Compilers declare most shared arrays as bytes; there the width of
/// the accesses gives the size of an element.
pub(crate) fn race_element(race: &Race) -> String {
    let Some(bytes) = race.element_bytes.filter(|&bytes| bytes > 1) else {
        return element(&race.target);
    };
    let target = Target { element_bytes: bytes, ..race.target.clone() };
    format!("{} ({bytes}-byte elements)", element(&target))
}

/// Describes an access: `thread (1,0,0) of block (0,0,0) writes`
fn side(side: &RaceSide) -> String {
    format!("{} {}", thread_name(side.thread), does(side, ""))
}

/// The verb of an access, such as `writes`; without the ending for several threads.
pub(crate) fn does(side: &RaceSide, ending: &str) -> String {
    let verb = verb(side.kind);
    let verb = verb.strip_suffix(ending).unwrap_or(verb);
    let how = match (side.bulk, side.in_flight) {
        _ if side.product.is_some() => " by a product (wgmma)".to_owned(),
        (true, _) => match &side.transfer {
            Some(transfer) => format!(" by a bulk copy of {} bytes", transfer.bytes),
            None => " by a bulk copy".to_owned(),
        },
        (false, true) => " by an asynchronous copy".to_owned(),
        (false, false) => String::new(),
    };
    format!("{verb}{how}")
}

/// Explains why nothing orders the two.
fn why(race: &Race, program: &Program) -> String {
    let [earlier, later] = &race.sides;
    let mut reasons = Vec::new();
    if race.in_different_units {
        reasons.push("blocks of a grid run in any order".to_owned());
    } else if race.lacks_fence_after_read() {
        reasons.push(
            "threads and bulk copies see memory through different proxies: the manual asks for \
             `fence.proxy.async` between the read and the copy"
                .to_owned(),
        );
    } else if race.unseen && later.product.is_some() {
        reasons.push(product_findings::UNSEEN.to_owned());
    } else if race.unseen_map {
        reasons.push(
            "the two are ordered, but tensor copies read their map through a separate proxy: the write must \
            be followed by a release (`tensormap.cp_fenceproxy` or \
            `fence.proxy.tensormap::generic.release`); then, before the copy, the copying thread, or a \
            thread of its block that it synchronises with, must execute \
            `fence.proxy.tensormap::generic.acquire [map], 128`"
                .to_owned(),
        );
    } else if race.unseen {
        reasons.push(
            "the two are ordered, but threads and bulk copies access memory through different proxies, and \
             the copy need not see the write: the thread that writes needs `fence.proxy.async` after the write \
             and before the barrier, or the thread that copies between the barrier and the copy"
                .to_owned(),
        );
    } else if race.non_coherent {
        reasons
            .push("no barrier orders a write with a read through the read-only cache".to_owned());
    } else if product_findings::lacks_barrier(race) {
        reasons.push(passed(earlier, later, program));
        reasons.push(product_findings::EITHER.to_owned());
    } else if let Some(newer) = earlier.product {
        reasons.push(product_findings::why(earlier, newer));
    } else if earlier.in_flight {
        let same = earlier.thread == later.thread;
        let whose = if same { "its thread" } else { "the thread that started the copy" };
        reasons.push(match (&earlier.transfer, earlier.bulk) {
            (Some(transfer), _) => mbarrier_findings::completion(transfer, [earlier, later]),
            (None, true) => "between the two accesses no thread waited for it, at its mbarrier or for its group"
                .to_owned(),
            (None, false) if has_mbarriers(program) => format!(
                "{whose} has not waited for it (`cp.async.wait_group`), nor arrived at an mbarrier for it \
                 (`cp.async.mbarrier.arrive` after the copy)"
            ),
            (None, false) => format!("{whose} has not waited for it (`cp.async.wait_group`)"),
        });
    } else {
        reasons.push(passed(earlier, later, program));
        reasons.extend(relaxed(earlier, later));
        reasons.extend(before_copy(earlier, later));
    }
    if earlier.ended && earlier.product.is_none() {
        reasons.push("a thread that ends does not publish its writes".to_owned());
    }
    if race.strong {
        reasons.push(
            "both accesses are volatile or atomic: each is whole, the schedule decides their order"
                .to_owned(),
        );
    }
    if race.outside_scope {
        reasons.push(
            "the scope `.cta` leaves out other blocks: they are not atomic towards each other"
                .to_owned(),
        );
    }
    reasons.join("; ")
}

fn has_mbarriers(program: &Program) -> bool {
    let is_mbarrier = |op: &Op| matches!(op, Op::Sync(SyncOp::Mbarrier(_)));
    program
        .functions
        .iter()
        .any(|function| function.instructions().any(|instruction| is_mbarrier(&instruction.op)))
}

/// Names mbarrier operations that count arrivals but order no memory.
fn relaxed(earlier: &RaceSide, later: &RaceSide) -> Option<String> {
    let last = |side: &RaceSide, arrived: bool| {
        side.passed.is_some_and(|at| at.relaxed && at.only_arrived == arrived)
    };
    if last(later, false) {
        return Some(
            "its wait is `.relaxed`, which makes nothing visible (`.acquire` does)".to_owned(),
        );
    }
    let arrives = last(earlier, true);
    arrives
        .then(|| "its arrival is `.relaxed`, which passes nothing on (`.release` does)".to_owned())
}

/// Explains how to order an access with a bulk copy that comes after it in this run.
fn before_copy(earlier: &RaceSide, later: &RaceSide) -> Option<String> {
    let transfer = later.transfer.as_ref()?;
    let thread = mbarrier_findings::short_name(earlier);
    let released = format!(
        "the copy must be issued after {thread} is done and has arrived at a barrier that {} waits for",
        mbarrier_findings::short_name(later)
    );
    match (&transfer.completion, later.kind, earlier.kind) {
        (exec::CopyCompletion::Phase { target, phase }, AccessKind::Write, AccessKind::Read) => {
            Some(format!(
                "either {thread} reads the copied data, and must wait for phase {phase} of mbarrier {} \
                 (parity {}) first, or {released}",
                mbarrier_findings::name(target),
                phase % 2
            ))
        }
        _ => Some(released),
    }
}

/// The last barriers that the two threads passed.
fn passed(earlier: &RaceSide, later: &RaceSide, program: &Program) -> String {
    match (earlier.passed, later.passed) {
        (None, None) => {
            "neither thread has passed a barrier, so none separates these accesses".to_owned()
        }
        (Some(one), Some(other)) if one == other && !one.only_arrived => {
            format!(
                "both threads last passed {}; no barrier separates these accesses",
                barrier_name(one, program)
            )
        }
        (one, other) => {
            let last_barrier = |side: &RaceSide, passed: Option<PassedBarrier>| {
                let [x, y, z] = side.thread.thread;
                let rank =
                    side.thread.rank.map_or(String::new(), |rank| format!(" of rank {rank}"));
                match passed {
                    None => format!("thread ({x},{y},{z}){rank} has passed no barrier"),
                    Some(barrier) => {
                        let did = if barrier.only_arrived { "arrived at" } else { "passed" };
                        let name = barrier_name(barrier, program);
                        format!("thread ({x},{y},{z}){rank} last {did} {name}")
                    }
                }
            };
            let together = "; together these do not order the accesses";
            format!("{}, {}{together}", last_barrier(earlier, one), last_barrier(later, other))
        }
    }
}

fn barrier_name(barrier: PassedBarrier, program: &Program) -> String {
    let source = source_line(barrier.place, program);
    match (source.strip_prefix(", from "), barrier.mbarrier) {
        (Some(source), false) => format!("the barrier at {source}"),
        (Some(source), true) => format!("the mbarrier at {source}"),
        (None, false) => "a barrier".to_owned(),
        (None, true) => "an mbarrier".to_owned(),
    }
}

/// Returns the barrier instruction that a thread passed last, for PTX without source lines.
fn earlier_barrier(race: &Race) -> Option<(Place, String)> {
    let unnamed = |side: &&RaceSide| side.passed.is_some_and(|at| at.place.location.is_none());
    let side = race.sides.iter().find(unnamed)?;
    let [x, y, z] = side.thread.thread;
    let passed = side.passed?;
    let word = if passed.mbarrier { "mbarrier" } else { "barrier" };
    Some((passed.place, format!("the {word} that thread ({x},{y},{z}) came to last before")))
}

/// Misuse of a barrier.
pub(crate) fn barrier(fault: &BarrierFault, finding: &Finding, program: &Program) -> Diagnostic {
    let threads = |count: &Option<u32>| match count {
        Some(count) => format!("{count} threads"),
        None => "all threads of the block".to_owned(),
    };
    let (code, message, other, there) = match fault {
        BarrierFault::Divergent { other } => {
            let message = "lanes of a warp are at different barrier instructions; they must be at the same one";
            (Code::BarrierDivergence, message.to_owned(), Some(*other), "other lanes are here")
        }
        BarrierFault::DifferentBarriers { ids: [one, two], other } => {
            let message = format!("lanes of a warp are at barriers {one} and {two}");
            (Code::BarrierMisuse, message, Some(*other), "other lanes are here")
        }
        BarrierFault::Id { id } => {
            let message = format!("barrier {id}: a block has barriers 0 to 15");
            (Code::BarrierMisuse, message, None, "")
        }
        BarrierFault::Count { count } => {
            let message = format!("a barrier of {count} threads: not a positive multiple of 32");
            (Code::BarrierMisuse, message, None, "")
        }
        BarrierFault::MixedCounts { here, before, other } => {
            let (here, before) = (threads(here), threads(before));
            let message =
                format!("this barrier is for {here}, but another thread's is for {before}");
            (Code::BarrierMisuse, message, Some(*other), "the other thread count")
        }
        BarrierFault::MixedKinds { other } => {
            let message =
                "one thread executes a barrier with a reduction, another a plain one".to_owned();
            (Code::BarrierMisuse, message, Some(*other), "the other kind")
        }
        BarrierFault::ArriveAndWait { other } => {
            let message =
                "some lanes of a warp wait at a barrier and others only arrive".to_owned();
            (Code::BarrierMisuse, message, Some(*other), "other lanes are here")
        }
        BarrierFault::Reuse { id, generation, other, thread } => {
            let message = format!(
                "barrier {id} is used again too early: nothing orders this after {} arrived for use {generation}",
                thread_name(*thread)
            );
            let there = "it arrived here; on another schedule the new use begins earlier";
            (Code::BarrierReuse, message, Some(*other), there)
        }
        BarrierFault::Unawaited { id, count, arrived } => {
            let message = format!(
                "{arrived} of {} arrive at barrier {id}, and no thread waits for them there",
                threads(count)
            );
            (Code::BarrierMisuse, message, None, "")
        }
        BarrierFault::DifferentSites { id, other } => {
            let message = format!(
                "warps wait at barrier {id} at different instructions: undefined by the manual, but works on \
                current hardware"
            );
            (Code::BarrierDivergence, message, Some(*other), "others wait here")
        }
    };
    let diagnostic = error_at(code, finding, message).label(thread_label(finding));
    match other {
        Some(place) if place != finding.place => {
            diagnostic.also_from(place.span, there, source_lines(place, program))
        }
        _ => diagnostic,
    }
}

/// Threads that wait forever.
pub(crate) fn deadlock(
    waiting: u32,
    waits: &[Wait],
    finding: &Finding,
    program: &Program,
) -> Diagnostic {
    let threads =
        if waiting == 1 { "1 thread waits".into() } else { format!("{waiting} threads wait") };
    let message = format!("deadlock: {threads} and no thread can continue");
    let mut diagnostic = error_at(Code::Deadlock, finding, message);
    for wait in waits {
        let text = describe_wait(wait);
        if wait.place == finding.place && diagnostic.primary.message.is_empty() {
            diagnostic = diagnostic.label(text);
        } else {
            let origin = source_lines(wait.place, program);
            diagnostic = diagnostic.also_from(wait.place.span, text, origin);
        }
    }
    with_phases(diagnostic, waits, program)
}

/// Adds the contributors to the awaited phases, and the arrivals that those phases lack.
fn with_phases(mut diagnostic: Diagnostic, waits: &[Wait], program: &Program) -> Diagnostic {
    let mut notes: Vec<String> = Vec::new();
    let mut reported: Vec<Place> = Vec::new();
    for wait in waits {
        let WaitKind::Mbarrier(wait) = &wait.kind else { continue };
        for (place, text) in mbarrier_findings::contributions(wait) {
            if !reported.contains(&place) {
                reported.push(place);
                diagnostic = diagnostic.also_from(place.span, text, source_lines(place, program));
            }
        }
        let status = mbarrier_findings::status(wait);
        notes.extend(status.filter(|status| !notes.contains(status)));
    }
    match notes.is_empty() {
        true => diagnostic,
        false => diagnostic.note(notes.join("; ")),
    }
}

fn describe_wait(wait: &Wait) -> String {
    let (first, threads) = (thread_name(wait.first), wait.threads);
    let subject = match threads {
        1 => first,
        _ => format!("{threads} threads, {first} first,"),
    };
    let verb = if threads == 1 { "waits" } else { "wait" };
    let what = match &wait.kind {
        WaitKind::Barrier { id, count, arrived, missing, exited } => {
            let wanted = match count {
                Some(count) => format!("{arrived} of {count} threads have come"),
                None => format!("{arrived} threads have come"),
            };
            let others = match (missing, exited) {
                (Some(thread), _) => format!(", {} has not", thread_name(*thread)),
                (None, 0) => String::new(),
                (None, exited) => format!(", {exited} have exited and still count"),
            };
            format!("at barrier {id}: {wanted}{others}")
        }
        WaitKind::OwnWarp { id, missing } => {
            format!("for lanes {missing:#010x} of their warp to come to barrier {id}")
        }
        WaitKind::Mbarrier(wait) => mbarrier_findings::describe_wait(wait),
        WaitKind::Cluster { generation, arrived, missing, exited } => {
            let others = match missing {
                Some(thread) => format!(", {} has not", thread_name(*thread)),
                None => format!(", {exited} have exited"),
            };
            format!(
                "at the barrier of the cluster, generation {generation}: {arrived} threads have come{others}"
            )
        }
        WaitKind::Lanes { missing } => format!("for lanes {missing:#010x} of their warp"),
    };
    format!("{subject} {verb} {what}")
}

/// Two accesses that may race.
pub(crate) fn undecided(open: &Undecided, program: &Program) -> Diagnostic {
    let race = &open.race;
    let message = format!("{} on {}: {}", both_accesses(race), race_element(race), open.reason);
    let severity = Severity::Unsupported;
    let diagnostic =
        Diagnostic::new(severity, Code::NotFollowed, race.sides[1].place.span, message);
    let diagnostic = diagnostic.origin(source_lines(race.sides[1].place, program));
    let diagnostic = sides(diagnostic, race, "", program);
    match &open.values {
        Some([earlier, later]) if earlier == later => diagnostic.note(format!(
            "both are `{later}`, computed in a different order, or shown only in part"
        )),
        Some([earlier, later]) => diagnostic.note(format!(
            "one is `{earlier}`, the other `{later}`; they are proved neither equal nor different"
        )),
        None => diagnostic,
    }
}
