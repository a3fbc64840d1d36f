//! Formats faults seen on a launch as diagnostics.

use crate::Input;
use crate::report::{self, RaceBarrier, RaceLane, RacePicture};
use allsizes::Finding;
use base::{Code, Diagnostic, Span};
use interp::{Access, AccessKind, Event, Launch, Thread, Value};
use kir::{Array, ArrayId, Builtin, Kernel, VarId};

/// The diagnostic of a finding, with its places: one arm for each event.
pub(super) fn diagnostic(kernel: &Kernel, finding: &Finding) -> Diagnostic {
    let launch = launch(kernel, &finding.launch);
    let who = |thread: &Thread| thread_name(kernel, thread);
    // The fault of one access, labelled with its thread.
    let of_access = |code: Code, access: &Access, message: String| {
        Diagnostic::error(code, access.span, message).label(labelled(kernel, access))
    };
    match &finding.event {
        Event::Race { array, index, first, second } => {
            let element = element(&kernel.arrays[*array], index);
            return race(kernel, &element, [first, second], &launch);
        }
        Event::OutOfBounds { array, index, sizes, access } => {
            let array = &kernel.arrays[*array];
            let sizes: Vec<String> = sizes.iter().flatten().map(i128::to_string).collect();
            let message = format!(
                "`{}` is outside of `{}`, which has {} elements",
                element(array, index),
                array.name,
                sizes.join("×")
            );
            of_access(Code::OutOfBounds, access, message)
        }
        Event::Unwritten { array, index, access } => {
            let name = element(&kernel.arrays[*array], index);
            let message = format!("`{name}` is read before any thread has stored to it");
            of_access(Code::UndefinedValue, access, message)
        }
        Event::Footprint { array, index, writes, access } => {
            let name = element(&kernel.arrays[*array], index);
            let what = if *writes { "written" } else { "read" };
            let message = format!("`{name}` is {what}, which the contract does not allow");
            of_access(Code::Postcondition, access, message)
        }
        Event::Overflow { span, ty, exact, thread } => {
            let value =
                exact.map_or("a number too large for any type".to_owned(), |one| one.to_string());
            let message = format!("{value} does not fit into `{}`", ty.name());
            Diagnostic::error(Code::Overflow, *span, message).label(who(thread))
        }
        Event::DivisionByZero { span, thread } => {
            Diagnostic::error(Code::DivisionByZero, *span, "division by zero").label(who(thread))
        }
        Event::Divergence { at, thread, other, elsewhere } => {
            return divergence((*at, who(thread)), (*elsewhere, who(other)), &launch);
        }
        Event::Assertion { span, thread } => {
            Diagnostic::error(Code::Assertion, *span, "this claim does not hold").label(who(thread))
        }
        Event::Barrier { span, thread, other, at, element: about, got, want } => {
            let threads: Vec<String> =
                std::iter::once(thread).chain(other.iter()).map(who).collect();
            let label = match at.is_empty() {
                true => format!("false for {}", threads.join(" and ")),
                false => format!("false for {}, {}", threads.join(" and "), values(kernel, at)),
            };
            let message = match compared(kernel, about.as_ref(), [*got, *want]) {
                Some([name, got, want]) => format!(
                    "this does not hold at the barrier: for `{name}` it compares {got} with {want}"
                ),
                None => "this does not hold at the barrier".to_owned(),
            };
            Diagnostic::error(Code::Assertion, *span, message).label(label)
        }
        Event::NoValue { span, at, divides } => {
            let (code, why) = match divides {
                true => (Code::DivisionByZero, "a division by zero"),
                false => (Code::Overflow, "a shift by an amount that is out of range"),
            };
            let values = values(kernel, at);
            let label = if values.is_empty() { "here".to_owned() } else { format!("for {values}") };
            Diagnostic::error(code, *span, format!("this clause has no value: {why}")).label(label)
        }
        Event::Postcondition { span, at, element: about, got, want } => {
            let values = values(kernel, at);
            let label = match values.is_empty() {
                true => "false".to_owned(),
                false => format!("false for {values}"),
            };
            let message = match compared(kernel, about.as_ref(), [*got, *want]) {
                Some([name, got, want]) => {
                    format!("`{name}` is {got} at the end and should be {want}")
                }
                None => "this does not hold at the end".to_owned(),
            };
            Diagnostic::error(Code::Postcondition, *span, message).label(label)
        }
    }
    .note(launch)
}

/// Names the thread of an access and what it does: `thread 3 of block 0 reads it`.
fn labelled(kernel: &Kernel, access: &Access) -> String {
    format!("{} {}", thread_name(kernel, &access.thread), verb(access))
}

/// Two accesses to an element that nothing orders.
fn race(kernel: &Kernel, element: &str, [first, second]: [&Access; 2], launch: &str) -> Diagnostic {
    let message = format!("two threads access `{element}`, and nothing orders them");
    let why = match first.thread.block == second.thread.block {
        true => "no barrier lies between the two accesses",
        false => "the threads are in different blocks, which no barrier orders",
    };
    Diagnostic::error(Code::Race, second.span, message)
        .label(labelled(kernel, second))
        .also(first.span, labelled(kernel, first))
        .note(format!("{why}; {launch}"))
}

/// A barrier at which one thread waits, while another waits elsewhere or has ended (`None`).
fn divergence(
    (at, thread): (Span, String),
    (elsewhere, other): (Option<Span>, String),
    launch: &str,
) -> Diagnostic {
    let message = "not all threads of the block reach this barrier";
    let diagnostic = Diagnostic::error(Code::BarrierDivergence, at, message)
        .label(format!("{thread} waits here"));
    match elsewhere {
        Some(place) if place == at => {
            diagnostic.note(format!("{other} waits here in another iteration; {launch}"))
        }
        Some(place) => diagnostic.also(place, format!("{other} waits here")).note(launch),
        None => diagnostic.note(format!("{other} has ended; {launch}")),
    }
}

/// Formats an element and the two values that a claim compares, if the event has all three.
fn compared(
    kernel: &Kernel,
    about: Option<&(ArrayId, Vec<i128>)>,
    [got, want]: [Option<Value>; 2],
) -> Option<[String; 3]> {
    let (array, index) = about?;
    let (got, want) = (got.and_then(value_text)?, want.and_then(value_text)?);
    Some([element(&kernel.arrays[*array], index), got, want])
}

/// A race as a picture. A run on one launch does not record which barriers threads have passed.
pub(super) fn race_picture(
    kernel: &Kernel,
    finding: &Finding,
    input: &Input,
) -> Option<RacePicture> {
    let Event::Race { array, index, first, second } = &finding.event else { return None };
    let lane = |access: &Access| {
        let name = thread_name(kernel, &access.thread);
        let (thread, block) = name.split_once(" of ").unwrap_or((&name, ""));
        let label = base::Label { span: access.span, message: "".into(), origin: [].into() };
        RaceLane {
            thread: thread.trim_start_matches("thread ").to_owned(),
            block: block.trim_start_matches("block ").to_owned(),
            barrier: RaceBarrier::Unknown,
            access: verb(access),
            at: report::location(&label, input).shown,
        }
    };
    Some(RacePicture {
        lanes: [lane(first), lane(second)],
        about: element(&kernel.arrays[*array], index),
        missing: "nothing orders them",
    })
}

/// The values of a claim's variables.
fn values(kernel: &Kernel, at: &[(VarId, i128)]) -> String {
    let one = |(var, value): &(VarId, i128)| format!("{} = {value}", kernel.vars[*var].name);
    at.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn value_text(value: Value) -> Option<String> {
    match value {
        Value::Int { value, .. } => Some(value.to_string()),
        Value::Float(real) => Some(real.value().to_string()),
        Value::Undefined => None,
    }
}

/// `tile[3][0]`. Indices beyond the dimensions of the array are zeros.
fn element(array: &Array, index: &[i128]) -> String {
    let indices = index.iter().take(array.dimensions.len());
    let indices: String = indices.map(|index| format!("[{index}]")).collect();
    format!("{}{indices}", array.name)
}

fn verb(access: &Access) -> String {
    match (access.kind, access.value) {
        (AccessKind::Read, _) => "reads it".to_owned(),
        (AccessKind::Write, Some(value)) => format!("writes {value}"),
        (AccessKind::Write, None) => "writes it".to_owned(),
        (AccessKind::Atomic, _) => "updates it atomically".to_owned(),
    }
}

/// Names a thread by the axes that the kernel has.
fn thread_name(kernel: &Kernel, thread: &Thread) -> String {
    let last = (0..3).rev().find(|axis| kernel.has_axis(*axis)).unwrap_or(0);
    let axes = |values: &[i128; 3]| {
        let shown = values.iter().take(last + 1);
        shown.map(i128::to_string).collect::<Vec<_>>().join(",")
    };
    format!("thread {} of block {}", axes(&thread.thread), axes(&thread.block))
}

/// The sizes of a launch.
pub(super) fn launch(kernel: &Kernel, launch: &Launch) -> String {
    format!("with {}", sizes(kernel, launch).join(", "))
}

/// Each size with its value.
pub(super) fn sizes(kernel: &Kernel, launch: &Launch) -> Vec<String> {
    let mut parts = Vec::new();
    for (builtin, values) in [(Builtin::GridDim, &launch.grid), (Builtin::BlockDim, &launch.block)]
    {
        for (axis, value) in values.iter().enumerate() {
            if kernel.has_axis(axis) {
                parts.push(format!("{} = {value}", builtin.name(axis)));
            }
        }
    }
    for (var, value) in &launch.scalars {
        parts.push(format!("{} = {value}", kernel.vars[*var].name));
    }
    if parts.is_empty() {
        parts.push("one thread".to_owned());
    }
    parts
}
