//! Faults of synchronisation as diagnostics: races with both sides, barriers, deadlocks.

use crate::findings::{element, source_line, thread_name, verb};
use base::{Code, Diagnostic, Severity};
use exec::{
    AccessKind, BarrierFault, Fault, Finding, Place, Race, RaceSide, Undecided, Wait, WaitKind,
};
use ir::Program;

/// A finding about synchronisation as something to tell; `None` if it is about something else.
pub(crate) fn diagnostic(finding: &Finding, program: &Program) -> Option<Diagnostic> {
    let diagnostic = match &finding.fault {
        Fault::Race(race) => race_diagnostic(race, finding, program),
        Fault::Barrier(fault) => barrier(fault, finding, program),
        Fault::Deadlock { waiting, waits } => deadlock(*waiting, waits, finding, program),
        Fault::NotInMask { mask } => {
            let message = format!("the lane mask {mask:#010x} does not name the lane that uses it");
            at(Code::WarpCollective, finding, message).label(who(finding, program))
        }
        Fault::CopiesInFlight { copies, committed } => {
            let message = match committed {
                true => format!("{copies} asynchronous copies are on their way at exit"),
                false => format!("{copies} asynchronous copies are never committed to a group"),
            };
            at(Code::AsyncCopy, finding, message).label(who(finding, program))
        }
        _ => return None,
    };
    Some(diagnostic)
}

fn at(code: Code, finding: &Finding, message: String) -> Diagnostic {
    let severity = if finding.fault.is_note() { Severity::Note } else { Severity::Error };
    Diagnostic::new(severity, code, finding.place.span, message)
}

fn who(finding: &Finding, program: &Program) -> String {
    let thread = thread_name(finding.thread);
    let times = match finding.count {
        1 => String::new(),
        count => format!(" (first of {count})"),
    };
    format!("{thread}{times}{}", source_line(finding.place, program))
}

fn race_diagnostic(race: &Race, finding: &Finding, program: &Program) -> Diagnostic {
    let [earlier, later] = &race.sides;
    let place = element(&race.target);
    let source_changed =
        race.sides.iter().any(|side| side.in_flight && side.kind == AccessKind::Read);
    let what = match race.same_value {
        true => format!("two threads write {place} unordered, both the same value"),
        false if source_changed => {
            format!("the source of an asynchronous copy, {place}, is changed while it is copied")
        }
        false => format!("race: two threads access {place} and nothing orders them"),
    };
    let count = match finding.count {
        1 => String::new(),
        count => format!(" (first of {count} pairs)"),
    };
    let code = if source_changed { Code::AsyncCopy } else { Code::Race };
    let mut diagnostic = at(code, finding, what);
    diagnostic = diagnostic.label(format!("{}{count}", side(later, program)));
    diagnostic = diagnostic.also(earlier.place.span, side(earlier, program));
    diagnostic.help(why(race, program))
}

/// `thread (1,0,0) of block (0,0,0) writes, from kernel.cu:12`
fn side(side: &RaceSide, program: &Program) -> String {
    let does = match side.in_flight {
        true => format!("{} by an asynchronous copy", verb(side.kind)),
        false => verb(side.kind).to_owned(),
    };
    format!("{} {does}{}", thread_name(side.thread), source_line(side.place, program))
}

/// Why nothing orders the two.
fn why(race: &Race, program: &Program) -> String {
    let [earlier, later] = &race.sides;
    let mut reasons = Vec::new();
    if earlier.thread.block != later.thread.block {
        reasons.push("blocks of a grid run in any order".to_owned());
    } else if race.non_coherent {
        reasons
            .push("no barrier orders a write with a read through the read-only cache".to_owned());
    } else if earlier.in_flight {
        let same = earlier.thread == later.thread;
        let whose = if same { "its thread" } else { "the thread that started the copy" };
        reasons.push(format!("{whose} has not waited for it (`cp.async.wait_group`)"));
    } else {
        reasons.push(passed(earlier, later, program));
    }
    if race.strong {
        reasons.push("both accesses are volatile: the schedule decides what happens".to_owned());
    }
    reasons.join("; ")
}

/// The barriers the two threads passed before.
fn passed(earlier: &RaceSide, later: &RaceSide, program: &Program) -> String {
    let line = |place: Place| {
        let source = source_line(place, program);
        match source.strip_prefix(", from ") {
            Some(source) => format!("the barrier at {source}"),
            None => "a barrier of the PTX".to_owned(),
        }
    };
    match (earlier.passed, later.passed) {
        (None, None) => "neither thread has passed a barrier before".to_owned(),
        (Some(one), Some(other)) if one == other => {
            format!("both threads last passed {} before, and none after it", line(one))
        }
        (one, other) => {
            let told = |place: Option<Place>| place.map_or("no barrier".to_owned(), line);
            let (one, other) = (told(one), told(other));
            format!("the first thread last passed {one} before, the second {other}")
        }
    }
}

fn barrier(fault: &BarrierFault, finding: &Finding, program: &Program) -> Diagnostic {
    let threads = |count: &Option<u32>| match count {
        Some(count) => format!("{count} threads"),
        None => "all threads of the block".to_owned(),
    };
    let (code, message, other, there) = match fault {
        BarrierFault::Divergent { other } => {
            let message =
                "lanes of a warp are at different barrier instructions, which must be one";
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
            let message = format!("a barrier counts {here} where another thread counts {before}");
            (Code::BarrierMisuse, message, Some(*other), "the other count")
        }
        BarrierFault::MixedKinds { other } => {
            let message = "a reduction and a plain barrier meet".to_owned();
            (Code::BarrierMisuse, message, Some(*other), "the other kind")
        }
        BarrierFault::ArriveAndWait { other } => {
            let message =
                "some lanes of a warp wait at a barrier and others only arrive".to_owned();
            (Code::BarrierMisuse, message, Some(*other), "other lanes are here")
        }
        BarrierFault::Twice { id, other } => {
            let message = format!("a warp comes to barrier {id} twice before it is complete");
            (Code::BarrierMisuse, message, Some(*other), "it came here first")
        }
        BarrierFault::Reuse { id, generation, other, thread } => {
            let message = format!(
                "barrier {id} is used again too early: nothing orders this after {} came to it \
                 the time before (use {generation})",
                thread_name(*thread)
            );
            let there = "it came here; on another schedule this counts in its stead";
            (Code::BarrierReuse, message, Some(*other), there)
        }
        BarrierFault::DifferentSites { id, other } => {
            let message = format!(
                "warps wait at barrier {id} at different instructions: undefined by the manual, \
                 works on today's hardware"
            );
            (Code::BarrierDivergence, message, Some(*other), "others wait here")
        }
    };
    let diagnostic = at(code, finding, message).label(who(finding, program));
    match other {
        Some(place) if place != finding.place => {
            diagnostic.also(place.span, format!("{there}{}", source_line(place, program)))
        }
        _ => diagnostic,
    }
}

fn deadlock(waiting: u32, waits: &[Wait], finding: &Finding, program: &Program) -> Diagnostic {
    let threads =
        if waiting == 1 { "1 thread waits".into() } else { format!("{waiting} threads wait") };
    let message = format!("deadlock: {threads} and nobody goes on");
    let mut diagnostic = at(Code::Deadlock, finding, message);
    for wait in waits {
        let text = format!("{}{}", describe_wait(wait), source_line(wait.place, program));
        if wait.place == finding.place && diagnostic.primary.message.is_empty() {
            diagnostic = diagnostic.label(text);
        } else {
            diagnostic = diagnostic.also(wait.place.span, text);
        }
    }
    diagnostic
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
        WaitKind::Lanes { missing } => format!("for lanes {missing:#010x} of their warp"),
    };
    format!("{subject} {verb} {what}")
}

/// Two accesses of which it is open whether they race.
pub(crate) fn undecided(open: &Undecided, program: &Program) -> Diagnostic {
    let [earlier, later] = open.places;
    let (severity, code) = (Severity::Unsupported, Code::NotFollowed);
    let diagnostic = Diagnostic::new(severity, code, later.span, open.reason)
        .label(source_line(later, program).trim_start_matches(", ").to_owned());
    if earlier == later {
        return diagnostic;
    }
    diagnostic.also(earlier.span, source_line(earlier, program).trim_start_matches(", ").to_owned())
}
