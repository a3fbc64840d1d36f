//! Faults of mbarriers as diagnostics, and what is said of threads that wait for a phase.

use crate::findings::{element, thread_name};
use crate::source_lines::source_lines;
use crate::sync_findings::{at, who};
use base::{Code, Diagnostic};
use exec::{Finding, MbarrierFault, MbarrierFaultKind, MbarrierWait, Other, Place, Target};
use ir::Program;

/// `mbarrier `bar[2]``
fn name(target: &Target) -> String {
    let element_bytes = if target.size > 8 { 8 } else { target.element_bytes };
    match (target.size, target.offset) {
        (8, 0) => element(&Target { element_bytes: 1, ..target.clone() })
            .trim_start_matches("byte 0 of ")
            .to_owned(),
        _ => element(&Target { element_bytes, ..target.clone() }),
    }
}

/// An mbarrier that is used as it must not be.
pub(crate) fn describe(fault: &MbarrierFault, finding: &Finding, program: &Program) -> Diagnostic {
    let code = match fault.kind.is_reuse() {
        true => Code::BarrierReuse,
        false => Code::BarrierMisuse,
    };
    let message = message(fault);
    let diagnostic = at(code, finding, message).label(who(finding));
    match elsewhere(&fault.kind) {
        Some((place, text)) if place != finding.place => {
            diagnostic.also_from(place.span, text, source_lines(place, program))
        }
        _ => diagnostic,
    }
}

fn message(fault: &MbarrierFault) -> String {
    let name = name(&fault.target);
    match &fault.kind {
        MbarrierFaultKind::NotLive => {
            format!("there is no mbarrier at {name}: not initialised, or invalidated")
        }
        MbarrierFaultKind::Initialised { .. } => {
            format!("mbarrier {name} is initialised again before it is invalidated")
        }
        MbarrierFaultKind::PlainAccess { .. } => {
            format!("an ordinary access to mbarrier {name}, which is in use")
        }
        MbarrierFaultKind::Count { count } => {
            format!(
                "mbarrier {name}: a count of {count} arrivals, which must be between 1 and 1048575"
            )
        }
        MbarrierFaultKind::TooMany { pending, count } => {
            let come = arrivals(*count);
            format!("mbarrier {name}: {come} where {pending} are pending (an H200 traps)")
        }
        MbarrierFaultKind::Range => {
            format!("mbarrier {name}: more than 1048575 arrivals or bytes are under way")
        }
        MbarrierFaultKind::NotAnnounced { bytes } => format!(
            "mbarrier {name}: {bytes} bytes more are delivered than announced, and no arrival is \
             pending: the phase ends early or never"
        ),
        MbarrierFaultKind::Late(other) => format!(
            "mbarrier {name}: on another schedule the phase ends before {} announces what it waits \
             for",
            thread_name(other.thread)
        ),
        MbarrierFaultKind::Completes(other) => format!(
            "mbarrier {name}: the `.noComplete` arrival of {} may be the last of its phase",
            thread_name(other.thread)
        ),
        MbarrierFaultKind::OtherState => {
            format!("the state is not one that an arrival at mbarrier {name} gave")
        }
        MbarrierFaultKind::OldState { named, current } => format!(
            "mbarrier {name} is in phase {current}; the state is of phase {named}, which cannot be \
             asked for any more"
        ),
        MbarrierFaultKind::Unbalanced { bytes: [announced, delivered] } => format!(
            "mbarrier {name}: {announced} bytes were announced and {delivered} delivered when the \
             block ends"
        ),
        MbarrierFaultKind::EarlyContribution { phase, other } => format!(
            "mbarrier {name}: nothing orders this, which counts for phase {phase}, after {} \
             contributed to the phase before: it may count there",
            thread_name(other.thread)
        ),
        MbarrierFaultKind::EarlyWait { phase, other } => format!(
            "mbarrier {name}: nothing orders this wait for phase {phase} after {} contributed to the \
             phase before: it may return too early",
            thread_name(other.thread)
        ),
        MbarrierFaultKind::Overtaken { phase, other } => format!(
            "mbarrier {name}: the phase that ends here does not depend on the wait of {} for {}: if \
             that comes later, it waits for another phase",
            thread_name(other.thread),
            match phase {
                Some(phase) => format!("phase {phase}"),
                None => "the phase before the first".to_owned(),
            }
        ),
        MbarrierFaultKind::Unobserved { phase } => format!(
            "mbarrier {name}: phase {phase} begins before any thread has waited for the one before, \
             which the manual demands"
        ),
    }
}

fn arrivals(count: u32) -> String {
    match count {
        1 => "1 arrival".to_owned(),
        count => format!("{count} arrivals"),
    }
}

/// Returns the second place of a finding, beside the instruction at fault.
fn elsewhere(kind: &MbarrierFaultKind) -> Option<(Place, &'static str)> {
    let at = |other: &Other, text| Some((other.place, text));
    match kind {
        MbarrierFaultKind::Initialised { other } | MbarrierFaultKind::PlainAccess { other } => {
            Some((*other, "it was initialised here"))
        }
        MbarrierFaultKind::Late(other) => at(other, "announced here"),
        MbarrierFaultKind::Completes(other) => at(other, "it arrives here"),
        MbarrierFaultKind::EarlyContribution { other, .. }
        | MbarrierFaultKind::EarlyWait { other, .. } => at(other, "it contributed here"),
        MbarrierFaultKind::Overtaken { other, .. } => at(other, "it waits here"),
        MbarrierFaultKind::NotLive
        | MbarrierFaultKind::Count { .. }
        | MbarrierFaultKind::TooMany { .. }
        | MbarrierFaultKind::Range
        | MbarrierFaultKind::NotAnnounced { .. }
        | MbarrierFaultKind::OtherState
        | MbarrierFaultKind::OldState { .. }
        | MbarrierFaultKind::Unbalanced { .. }
        | MbarrierFaultKind::Unobserved { .. } => None,
    }
}

/// `for phase 2 of mbarrier …`
pub(crate) fn describe_wait(wait: &MbarrierWait) -> String {
    let MbarrierWait { target, phase, current, expected, pending, bytes, contributor } = wait;
    let name = name(target);
    let Some(current) = current else {
        return format!("for phase {phase} of mbarrier {name}, which is invalidated");
    };
    let came = expected.saturating_sub(*pending);
    let among = match contributor {
        Some(thread) => format!(", {} among them", thread_name(*thread)),
        None => String::new(),
    };
    let [announced, delivered] = bytes;
    let bytes = match announced == delivered {
        true => String::new(),
        false => format!(", {delivered} of {announced} bytes"),
    };
    let over = match current.checked_sub(2) {
        Some(old) => format!("; phase {old}, which has the same parity, is over"),
        None => String::new(),
    };
    format!(
        "for phase {phase} of mbarrier {name}: {came} of {expected} arrivals have come{among}{bytes}{over}"
    )
}
