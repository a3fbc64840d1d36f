//! The command line to fill in when a comparison lacks something: both sides, with everything the user gave.

use super::{FormulaStep, Options, Step};
use crate::arguments::{
    ArgumentSpec, Invocation, LaunchFlags, MissingData, Request, append, comparison_line, declared,
    formula_line, launch_flags,
};
use crate::execute::{Execution, Refusal};
use crate::{Input, sources};

/// Replaces a command line for one side by one for both. There is none for sequences of launches, since no command
/// line can name them, nor if the other side has errors.
pub(super) fn with_both_sides(
    mut refusal: Refusal,
    sides: [&[Step<'_>]; 2],
    options: &Options<'_>,
) -> Refusal {
    let line = match sides {
        [[Step::Launch(one)], [Step::Launch(other)]] => command([one, other], options),
        [[Step::Formula(one)], [Step::Launch(other)]] => formula_command(one, other, options),
        _ => None,
    };
    if let Refusal::Launch(error) = &mut refusal {
        error.suggestion = error.suggestion.take().and(line);
    }
    refusal
}

/// A command line that compares two kernels.
fn command(sides: [&Execution<'_>; 2], options: &Options<'_>) -> Option<String> {
    let [one, other] = sides;
    let flags = [flags_of(one, &other.arguments.specs)?, flags_of(other, &one.arguments.specs)?];
    let paths = sides.map(path);
    let line = comparison_line(paths.each_ref().map(String::as_str), flags);
    Some(with_options(line, options))
}

/// A command line that compares a kernel with a formula.
fn formula_command(
    formula: &FormulaStep<'_>,
    kernel: &Execution<'_>,
    options: &Options<'_>,
) -> Option<String> {
    let name = formula.input.name();
    let text = match name {
        Input::FORMULA => formula.input.source.text().to_owned(),
        file => format!("@{file}"),
    };
    let flags = flags_of(kernel, &formula.arguments.specs)?;
    let mut line = formula_line(&text, &path(kernel), flags);
    append(&mut line, "ref-arg", formula.arguments.specs.iter().map(ToString::to_string));
    Some(with_options(line, options))
}

fn flags_of(one: &Execution<'_>, others: &[ArgumentSpec]) -> Option<LaunchFlags> {
    let lowered = sources::lower(&one.input.source).ok()?;
    let program = &lowered.program;
    let kernel = one.input.select(program, one.kernel).ok()?;
    let function = &program.functions[kernel];
    let request = Request {
        program,
        kernel,
        launch: one.launch,
        arguments: one.arguments,
        declared: &declared(&function.name, function.params.len(), one.input.cuda()),
        others,
        missing_data: MissingData::Opaque,
        invocation: Invocation { command: "equiv", file: one.input.name() },
    };
    Some(launch_flags(&request, others))
}

fn path(side: &Execution<'_>) -> String {
    let name = side.input.name();
    side.kernel.map_or_else(|| name.to_owned(), |kernel| format!("{name}::{kernel}"))
}

fn with_options(mut line: String, options: &Options<'_>) -> String {
    append(&mut line, "assume", options.assumptions.iter().map(ToString::to_string));
    append(&mut line, "compare", options.parts.iter().map(ToString::to_string));
    append(&mut line, "allow", options.allow.names().map(str::to_owned));
    for (flag, is_set) in [
        (" --strict", options.strict),
        (" --no-snap", !options.snap),
        (" --recheck", options.recheck),
    ] {
        line.push_str(if is_set { flag } else { "" });
    }
    line
}
