//! `warpproof check`: memory errors, races and misused barriers of a kernel for one launch, whatever
//! its tensors contain.
//!
//! Values of tensors and float scalars are not looked at; control flow and addresses must not depend
//! on them. Then every access of every thread is seen, and what is said holds for all contents. One
//! schedule is executed; if no access races and no barrier is misused, all others do the same, and
//! what is said holds for all schedules.

use crate::arguments::MissingData;
use crate::execute::{self, Execution, Finished};
use crate::{Colour, Exit, Outcome, graph};
use exec::{Checks, Fault};
use std::path::Path;

/// How strictly a kernel is checked, and what else is wanted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options<'o> {
    /// What the manual does not allow is an error, also where today's hardware does what one wants.
    pub strict: bool,
    /// Lanes of a warp that run together stay together.
    pub warp_synchronous: bool,
    /// Where to write the graph of barriers.
    pub graph: Option<&'o Path>,
}

/// Checks a kernel.
#[must_use]
pub fn run(execution: &Execution<'_>, options: Options<'_>, colour: Colour) -> Outcome {
    let checks =
        Checks { lock_step: options.warp_synchronous, barrier_uses: options.graph.is_some() };
    let mut finished = match execute::run(execution, "check", MissingData::Opaque, checks, colour) {
        Ok(finished) => finished,
        Err(outcome) => return outcome,
    };
    finished.strict = options.strict;
    let properties = properties(&finished);
    let verdicts: String =
        properties.iter().map(|(name, say)| format!("{name}: {say}\n")).collect();
    let assumed = match options.warp_synchronous {
        true => "assumed: lanes of a warp that run together stay together (--warp-synchronous)\n",
        false => "",
    };
    let output = format!("{}{verdicts}{assumed}", finished.tell(colour));
    let mut messages = finished.notes();
    let all_proved = properties.iter().all(|(_, say)| say.starts_with("proved"));
    let exit = match finished.exit() {
        Exit::Success if !all_proved => Exit::Unknown,
        exit => exit,
    };
    let written = options.graph.map_or(Ok(()), |path| {
        let uses = &finished.result.barrier_uses;
        graph::write(path, &graph::render(uses, finished.program(), finished.source()))
    });
    let exit = match written {
        Ok(()) => exit,
        Err(message) => {
            messages.push_str(&format!("error: {message}\n"));
            Exit::BadInput
        }
    };
    let thread_instructions = finished.result.lane_instructions;
    Outcome { output, messages, exit, thread_instructions }
}

/// What is said of each property, in a few words that start with the verdict.
fn properties(finished: &Finished<'_>) -> Vec<(&'static str, String)> {
    let result = &finished.result;
    let blocks = result.blocks;
    let plural = if blocks == 1 { "" } else { "s" };
    let refuted = |about: fn(&Fault) -> bool| finished.errors().any(|f| about(&f.fault));
    let any_race = refuted(is_race);
    let say = |wrong: bool, open: Option<String>| match (wrong, open) {
        (true, _) => "refuted".to_owned(),
        (false, _) if result.gap.is_some() => "unknown: the run stopped".to_owned(),
        (false, Some(open)) => format!("unknown: {open}"),
        (false, None) => format!("proved for {blocks} block{plural}"),
    };
    // What other properties say was seen on one schedule; after a race, or if registrations at a
    // barrier could be matched otherwise, another may differ.
    let one_schedule = match (any_race, refuted(is_barrier)) {
        (true, _) => Some("seen on one schedule, and there is a race".to_owned()),
        (_, true) => Some("seen on one schedule, and a barrier is misused".to_owned()),
        _ => None,
    };
    let races = match result.undecided.len() {
        0 => None,
        1 => Some("one pair of accesses is open, see above".to_owned()),
        count => Some(format!("{count} pairs of accesses are open, see above")),
    };
    let open_races = one_schedule.clone().or_else(|| races.clone());
    let alignment = match result.alignments.len() {
        0 => open_races.clone(),
        count => Some(format!(
            "{count} accesses are aligned only if an array lies better than it declares"
        )),
    };
    let memory = refuted(is_memory) || finished.is_unwritten();
    vec![
        ("memory", say(memory, open_races.clone())),
        ("alignment", say(refuted(|fault| matches!(fault, Fault::Misaligned { .. })), alignment)),
        ("races", say(any_race, one_schedule.or(races))),
        ("barriers", say(refuted(is_barrier), open_races.clone())),
        ("deadlock", say(refuted(|f| matches!(f, Fault::Deadlock { .. })), open_races.clone())),
        ("collectives", say(refuted(|f| matches!(f, Fault::NotInMask { .. })), open_races)),
    ]
}

fn is_race(fault: &Fault) -> bool {
    matches!(fault, Fault::Race(_))
}

fn is_barrier(fault: &Fault) -> bool {
    matches!(fault, Fault::Barrier(_))
}

fn is_memory(fault: &Fault) -> bool {
    !(is_race(fault)
        || is_barrier(fault)
        || matches!(
            fault,
            Fault::Misaligned { .. } | Fault::Deadlock { .. } | Fault::NotInMask { .. }
        ))
}
