//! The command line to fill in when a comparison lacks something: both sides, with everything that the user gave.

use super::{Options, Step};
use crate::arguments::{
    Invocation, MissingData, Request, append, comparison_line, declared, launch_flags,
};
use crate::execute::{Execution, Refusal};
use crate::sources;

/// Puts a command line of both sides in the place of one that knows of one side. There is none for sequences of launches, which no command line names, nor
/// where something else is wrong with the other side.
pub(super) fn with_both_sides(
    mut refusal: Refusal,
    sides: [&[Step<'_>]; 2],
    options: &Options<'_>,
) -> Refusal {
    let line = match sides {
        [[Step::Launch(one)], [Step::Launch(other)]] => command([one, other], options),
        _ => None,
    };
    if let Refusal::Launch(error) = &mut refusal {
        error.suggestion = error.suggestion.take().and(line);
    }
    refusal
}

fn command(sides: [&Execution<'_>; 2], options: &Options<'_>) -> Option<String> {
    let mut flags = Vec::new();
    for (one, other) in [(sides[0], sides[1]), (sides[1], sides[0])] {
        let lowered = sources::lower(&one.input.source).ok()?;
        let program = &lowered.program;
        let kernel = one.input.select(program, one.kernel).ok()?;
        let function = &program.functions[kernel];
        let others = &other.arguments.specs;
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
        flags.push(launch_flags(&request, others));
    }
    let paths = sides.map(|side| {
        let name = side.input.name();
        side.kernel.map_or_else(|| name.to_owned(), |kernel| format!("{name}::{kernel}"))
    });
    let flags = flags.try_into().ok()?;
    let mut line = comparison_line(paths.each_ref().map(String::as_str), flags);
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
    Some(line)
}
