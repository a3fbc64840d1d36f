//! `warpproof simulate`: runs a kernel on numbers, without a GPU.

use crate::arguments::MissingData;
use crate::execute::{self, Execution, FinishedRun};
use crate::{Colour, Exit, Outcome, findings, npy, output};
use std::path::{Path, PathBuf};

/// Runs a kernel; its outputs go to the folder `out`, as `NAME.npy`, or nowhere. `begin` is called before the first
/// file is written.
#[must_use]
pub fn run(
    execution: &Execution<'_>,
    out: Option<&Path>,
    begin: &dyn Fn(),
    colour: Colour,
) -> Outcome {
    let colour = colour.for_input(execution.input.texts());
    let target = out.map_or(Target::Nowhere, |folder| Target::Folder { folder, begin });
    simulate(execution, target, colour).escaped(colour)
}

/// Runs a kernel; its outputs are returned by name, as `.npy` files.
#[must_use]
pub fn run_in_memory(
    execution: &Execution<'_>,
    colour: Colour,
) -> (Outcome, Vec<(String, Vec<u8>)>) {
    let colour = colour.for_input(execution.input.texts());
    let mut arrays = Vec::new();
    let outcome = simulate(execution, Target::Memory(&mut arrays), colour).escaped(colour);
    (outcome, arrays)
}

/// The destination of outputs.
enum Target<'t> {
    Nowhere,
    Folder { folder: &'t Path, begin: &'t dyn Fn() },
    Memory(&'t mut Vec<(String, Vec<u8>)>),
}

fn simulate(execution: &Execution<'_>, out: Target<'_>, colour: Colour) -> Outcome {
    let checks = exec::Checks::default();
    let finished = match execute::run(execution, "simulate", MissingData::Refused, checks) {
        Ok(finished) => finished,
        Err(refusal) => return refusal.outcome(execution.input, colour),
    };
    let (mut output, mut messages) = (finished.messages(colour), finished.notes());
    for doubt in &finished.result.doubts {
        let launch = &finished.built.launch;
        let sentence = findings::doubt(doubt, launch, finished.program(), finished.source());
        output.push_str(&format!("note: {sentence}\n"));
    }
    let exit = finished.exit();
    let thread_instructions = finished.result.lane_instructions;
    if exit != Exit::Success {
        messages.push_str("error: no outputs are written\n");
        return Outcome { output, messages, exit, thread_instructions, report: None };
    }
    match outputs(&finished, out) {
        Ok(written) => {
            output.push_str(&written);
            Outcome { output, messages, exit, thread_instructions, report: None }
        }
        Err(error) => Outcome::bad_input(&error.to_string()),
    }
}

/// The reason why an output is not written.
#[derive(Debug, thiserror::Error)]
enum OutputError {
    #[error("cannot create {}: {error}", .folder.display())]
    Folder { folder: PathBuf, error: std::io::Error },
    #[error("cannot write {name}.npy in {}: {error}", .folder.display())]
    Array { name: String, folder: PathBuf, error: std::io::Error },
}

/// Writes the outputs and reports it, one line each.
fn outputs(finished: &FinishedRun<'_>, mut out: Target<'_>) -> Result<String, OutputError> {
    let exec::Outcome { lane_instructions, approximate, buffers, .. } = &finished.result;
    let blocks = finished.blocks();
    let mut text = format!("ran {blocks}, {lane_instructions} thread instructions\n");
    if finished.built.launch.is_partial() {
        text.push_str("elements that only other blocks write are zero\n");
    }
    if !approximate.is_empty() {
        let count = approximate.len();
        text.push_str(&format!(
            "{count} instructions are approximate: their last bits differ from a GPU's\n"
        ));
    }
    if let Target::Folder { folder, begin } = out {
        begin();
        std::fs::create_dir_all(folder)
            .map_err(|error| OutputError::Folder { folder: folder.to_owned(), error })?;
    }
    for output in &finished.built.outputs {
        let Some(array) = output.array(&buffers[output.buffer]) else { continue };
        let (name, element) = (&output.name, output.element.name());
        let what = format!("{name} {element}{}", npy::shape_text(&array.shape));
        match &mut out {
            Target::Folder { folder, .. } => {
                let path = output::write_below(folder, &format!("{name}.npy"), &mut |out| {
                    npy::write_to(out, &array)
                });
                let path = path.map_err(|error| {
                    let (name, folder) = (name.clone(), folder.to_path_buf());
                    OutputError::Array { name, folder, error }
                })?;
                text.push_str(&format!("{what} written to {}\n", path.display()));
            }
            Target::Memory(arrays) => {
                arrays.push((name.clone(), npy::to_bytes(&array)));
                text.push_str(&format!("{what}\n"));
            }
            Target::Nowhere => {
                text.push_str(&format!("{what}, not written: give --out FOLDER\n"));
            }
        }
    }
    Ok(text)
}
