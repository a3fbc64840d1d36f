//! `warpproof check`: memory errors, races and misused barriers of a kernel for one launch, whatever
//! its tensors contain.
//!
//! Values of tensors and float scalars are not looked at; control flow and addresses must not depend
//! on them. Then every access of every thread is seen, and what is said holds for all contents. One
//! schedule is executed; if no access races and no barrier is misused, all others do the same, and
//! what is said holds for all schedules.

use crate::arguments::MissingData;
use crate::execute::{self, Execution, Finished};
use crate::{Colour, Exit, Outcome};
use exec::Fault;

/// Checks a kernel.
#[must_use]
pub fn run(execution: &Execution<'_>, colour: Colour) -> Outcome {
    let finished = match execute::run(execution, "check", MissingData::Opaque, colour) {
        Ok(finished) => finished,
        Err(outcome) => return outcome,
    };
    let properties = properties(&finished);
    let verdicts: String =
        properties.iter().map(|(name, say)| format!("{name}: {say}\n")).collect();
    let output = format!("{}{verdicts}", finished.tell(colour));
    let messages = finished.notes();
    let all_proved = properties.iter().all(|(_, say)| say.starts_with("proved"));
    let exit = match finished.exit() {
        Exit::Success if !all_proved => Exit::Unknown,
        exit => exit,
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
    // What other properties say was seen on one schedule; after a race another may differ.
    let one_schedule = any_race.then(|| "seen on one schedule, and there is a race".to_owned());
    let races = match result.undecided.len() {
        0 => None,
        1 => Some("one pair of accesses is open, see above".to_owned()),
        count => Some(format!("{count} pairs of accesses are open, see above")),
    };
    let open_races = one_schedule.clone().or(races.clone());
    let alignment = match result.alignments.len() {
        0 => one_schedule.clone(),
        count => Some(format!(
            "{count} accesses are aligned only if an array lies better than it declares"
        )),
    };
    let memory = refuted(is_memory) || finished.is_unwritten();
    vec![
        ("memory", say(memory, open_races.clone())),
        ("alignment", say(refuted(|fault| matches!(fault, Fault::Misaligned { .. })), alignment)),
        ("races", say(any_race, races)),
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
