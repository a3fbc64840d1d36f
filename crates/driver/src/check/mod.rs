//! `warpproof check`: memory errors of a kernel for one launch, whatever its tensors contain.
//!
//! Values of tensors and float scalars are not looked at; control flow and addresses must not depend
//! on them. Then every access of every thread is seen, and what is said about memory holds for all
//! contents. It holds for one schedule, though: races and misused barriers are not looked for yet,
//! so nothing is ever `proved`.

mod json;

use crate::arguments::MissingData;
use crate::execute::{self, Execution, Finished, Refusal};
use crate::properties::properties;
use crate::{Colour, Exit, Format, Outcome};

/// Checks a kernel.
#[must_use]
pub fn run(execution: &Execution<'_>, format: Format, colour: Colour) -> Outcome {
    let shown = (format, colour);
    let finished = match execute::run(execution, "check", MissingData::Opaque, shown) {
        Ok(finished) => finished,
        Err(Refusal::Launch(error)) if format == Format::Json => {
            return json::refusal(execution, &error);
        }
        Err(refusal) => return refusal.tell(),
    };
    let (output, messages) = match format {
        Format::Text => (text(&finished, colour), finished.notes()),
        Format::Json => (json::report(&finished), String::new()),
    };
    let exit = if finished.is_refuted() { Exit::Refuted } else { Exit::Unknown };
    let thread_instructions = finished.result.lane_instructions;
    Outcome { output, messages, exit, thread_instructions }
}

/// Findings, then a line for memory as a whole, for what is open, and for what was assumed.
fn text(finished: &Finished<'_>, colour: Colour) -> String {
    let memory = match (finished.is_refuted(), &finished.result.gap) {
        (true, _) => "refuted: see above".to_owned(),
        (false, Some(_)) => "unknown: the run stopped".to_owned(),
        (false, None) => format!("no error in {}, on one schedule", finished.blocks()),
    };
    let mut text = format!("{}memory: {memory}\n", finished.tell(colour));
    for property in properties(finished).iter().filter(|property| property.name != "collectives") {
        for reason in &property.reasons {
            text.push_str(&format!("{}: unknown: {reason}\n", property.name));
        }
    }
    for assumption in finished.assumptions() {
        text.push_str(&format!("assumed: {assumption}\n"));
    }
    text
}
