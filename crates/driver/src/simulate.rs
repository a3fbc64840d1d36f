//! `warpproof simulate`: runs a kernel on numbers, without a GPU.

use crate::arguments::{
    Arguments, BuildError, BuiltLaunch, Invocation, LaunchSpec, MissingData, OutputSpec, Request,
    build_launch, select_kernel,
};
use crate::diagnostics;
use crate::{Colour, Exit, Format, Input, Outcome, findings, inspect, npy};
use base::SourceFile;
use exec::Limits;
use ir::Program;
use std::path::Path;

/// What to run.
#[derive(Clone, Copy, Debug)]
pub struct Simulation<'r> {
    /// The module.
    pub input: &'r Input,
    /// The kernel's name, if the module has several.
    pub kernel: Option<&'r str>,
    /// The launch flags.
    pub launch: &'r LaunchSpec,
    /// The arguments.
    pub arguments: &'r Arguments,
    /// Where outputs are written, as `NAME.npy`; nowhere if absent.
    pub out: Option<&'r Path>,
}

/// Runs a kernel and tells what it left in its outputs.
#[must_use]
pub fn run(simulation: &Simulation<'_>, colour: Colour) -> Outcome {
    let source = &simulation.input.source;
    let lowered = match inspect::lower(simulation.input, Format::Text, colour) {
        Ok(lowered) => lowered,
        Err(outcome) => return outcome,
    };
    let program = &lowered.program;
    let kernel = match select_kernel(program, simulation.kernel) {
        Ok(kernel) => kernel,
        Err(message) => return Outcome::bad_input(&message),
    };
    let built = build_launch(&Request {
        program,
        kernel,
        launch: simulation.launch,
        arguments: simulation.arguments,
        missing_data: MissingData::Refused,
        invocation: Invocation { command: "simulate", file: source.name() },
    });
    let built = match built {
        Ok(built) => built,
        Err(error) => return refused(&error),
    };
    if !built.blocks.is_empty() {
        return Outcome::bad_input("a simulation runs all blocks; leave out --blocks");
    }
    let result = exec::run(program, &built.launch, Limits::default());
    report(&Run { simulation, program, source, built: &built, result: &result }, colour)
}

fn refused(error: &BuildError) -> Outcome {
    let mut messages = String::new();
    for line in error.input.iter().chain(&error.launch) {
        messages.push_str(&format!("error: {line}\n"));
    }
    if let Some(suggestion) = &error.suggestion {
        messages.push_str(&format!("help: fill in what is missing:\n  {suggestion}\n"));
    }
    let exit = if error.input.is_empty() { Exit::Refuted } else { Exit::BadInput };
    Outcome { output: String::new(), messages, exit }
}

/// A finished run.
struct Run<'r> {
    simulation: &'r Simulation<'r>,
    program: &'r Program,
    source: &'r SourceFile,
    built: &'r BuiltLaunch,
    result: &'r exec::Outcome,
}

fn report(run: &Run<'_>, colour: Colour) -> Outcome {
    let mut messages = String::new();
    for note in &run.built.notes {
        messages.push_str(&format!("note: {note}\n"));
    }
    let told = run.result.findings.iter().map(|finding| findings::diagnostic(finding, run.program));
    let gap = run.result.gap.iter().map(|gap| findings::gap(gap, run.program));
    for diagnostic in told.chain(gap) {
        messages.push_str(&diagnostics::render(&diagnostic, run.source, colour));
        messages.push_str("\n\n");
    }
    if run.result.dropped_findings > 0 {
        messages.push_str(&format!("note: {} more findings\n", run.result.dropped_findings));
    }
    if !run.result.prints.is_empty() {
        messages.push_str("note: what the kernel prints is not shown\n");
    }
    let incomplete = if run.result.gap.is_none() { unwritten(run) } else { Vec::new() };
    incomplete.iter().for_each(|line| messages.push_str(&format!("error: {line}\n")));
    let faultless = run.result.findings.is_empty() && incomplete.is_empty();
    let exit = match (faultless, &run.result.gap) {
        (false, _) => Exit::Refuted,
        (true, Some(_)) => Exit::Unknown,
        (true, None) => Exit::Success,
    };
    if exit != Exit::Success {
        messages.push_str("error: no outputs are written\n");
        return Outcome { output: String::new(), messages, exit };
    }
    match outputs(run) {
        Ok(output) => Outcome { output, messages, exit },
        Err(message) => Outcome::bad_input(&message),
    }
}

/// Writes the outputs and says so, one line each.
fn outputs(run: &Run<'_>) -> Result<String, String> {
    let exec::Outcome { blocks, lane_instructions, approximate, .. } = run.result;
    let plural = if *blocks == 1 { "" } else { "s" };
    let mut text = format!("ran {blocks} block{plural}, {lane_instructions} thread instructions\n");
    if !approximate.is_empty() {
        let count = approximate.len();
        text.push_str(&format!(
            "{count} instructions are approximate: their last bits differ from a GPU's\n"
        ));
    }
    for output in &run.built.outputs {
        let Some(array) = output.array(&run.result.buffers[output.buffer]) else { continue };
        let what =
            format!("{} {}{}", output.name, output.element.name(), npy::shape_text(&array.shape));
        match run.simulation.out {
            Some(folder) => {
                let path = folder.join(format!("{}.npy", output.name));
                npy::write(&path, &array).map_err(|error| error.to_string())?;
                text.push_str(&format!("{what} written to {}\n", path.display()));
            }
            None => text.push_str(&format!("{what}, not written: give --out FOLDER\n")),
        }
    }
    Ok(text)
}

/// Outputs of which elements were never written, one sentence each.
fn unwritten(run: &Run<'_>) -> Vec<String> {
    let missing = |output: &OutputSpec| {
        let defined = &run.result.defined[output.buffer];
        let bytes = output.element.bytes() as usize;
        let is_missing = |&offset: &u64| {
            let start = usize::try_from(offset).unwrap_or(usize::MAX).saturating_mul(bytes);
            defined
                .get(start..start.saturating_add(bytes))
                .is_none_or(|bytes| !bytes.iter().all(|&b| b))
        };
        let (count, all) = (output.offsets().filter(is_missing).count(), output.offsets().count());
        let name = &output.name;
        (count > 0).then(|| format!("output `{name}`: {count} of {all} elements are never written"))
    };
    run.built.outputs.iter().filter_map(missing).collect()
}
