//! `warpproof check`: memory errors of a kernel for one launch, whatever its tensors contain.
//!
//! Values of tensors and float scalars are not looked at; control flow and addresses must not depend
//! on them. Then every access of every thread is seen, and what is said about memory holds for all
//! contents. It holds for one schedule, though: races and misused barriers are not looked for yet,
//! so nothing is ever `proved`.

use crate::arguments::MissingData;
use crate::execute::{self, Execution};
use crate::{Colour, Exit, Outcome};

/// Checks a kernel.
#[must_use]
pub fn run(execution: &Execution<'_>, colour: Colour) -> Outcome {
    let finished = match execute::run(execution, "check", MissingData::Opaque, colour) {
        Ok(finished) => finished,
        Err(outcome) => return outcome,
    };
    let blocks = finished.result.blocks;
    let plural = if blocks == 1 { "" } else { "s" };
    let memory = match finished.exit() {
        Exit::Refuted => "refuted: see above".to_owned(),
        Exit::Unknown => "unknown: the run stopped".to_owned(),
        _ => format!("no error in {blocks} block{plural}, on one schedule"),
    };
    let alignment = match finished.result.alignments.len() {
        0 => String::new(),
        count => format!(
            "alignment: unknown: {count} accesses are aligned only if an array lies better than it \
             declares\n"
        ),
    };
    let unchecked = "races: unknown: not checked yet\nbarriers: unknown: not checked yet\n";
    let output = format!("{}memory: {memory}\n{alignment}{unchecked}", finished.tell(colour));
    let messages = finished.notes();
    let exit = if finished.exit() == Exit::Refuted { Exit::Refuted } else { Exit::Unknown };
    let thread_instructions = finished.result.lane_instructions;
    Outcome { output, messages, exit, thread_instructions }
}
