//! Measures concrete runs: `warpproof simulate` on a row's kernels with its launch. Inputs without a value get one.

use super::measure::Program;

/// Processor seconds for all kernels of a command together; `None` if one does not run to its end on numbers.
///
/// # Errors
/// If the program cannot be run at all.
pub(crate) fn seconds(program: &Program, arguments: &[String]) -> Result<Option<f64>, String> {
    let mut total = 0.0;
    for command in commands(arguments) {
        let run = program.best(&command)?;
        if !run.succeeded() {
            return Ok(None);
        }
        total += run.processor;
    }
    Ok(Some(total))
}

/// The commands that run the kernels of `check` or `equiv` on numbers.
pub(crate) fn commands(arguments: &[String]) -> Vec<Vec<String>> {
    match arguments {
        [command, kernel, flags @ ..] if command == "check" => vec![simulate(kernel, flags, "")],
        [command, one, other, flags @ ..] if command == "equiv" => {
            vec![simulate(one, flags, "ref-"), simulate(other, flags, "opt-")]
        }
        _ => Vec::new(),
    }
}

/// The command for one side of a comparison (`ref-` or `opt-`): its own flags lose the prefix, those of the other side
/// are left out.
fn simulate(kernel: &str, flags: &[String], side: &str) -> Vec<String> {
    let mut command = vec!["simulate".to_owned(), kernel.to_owned()];
    for pair in flags.chunks(2) {
        let [flag, value] = pair else { continue };
        let name = flag.trim_start_matches('-');
        let plain = match name.strip_prefix("ref-").or(name.strip_prefix("opt-")) {
            Some(plain) if name.starts_with(side) && !side.is_empty() => plain,
            Some(_) => continue,
            None => name,
        };
        match plain {
            "arg" => command.extend(["--arg".to_owned(), with_value(value)]),
            "grid" | "block" | "blocks" | "smem" => {
                command.extend([format!("--{plain}"), value.clone()])
            }
            _ => {}
        }
    }
    command
}

/// Gives `x=f32[4]` a value: floats are a half, integers one. Outputs and arguments with a value stay.
fn with_value(argument: &str) -> String {
    let Some((name, what)) = argument.split_once('=') else { return argument.to_owned() };
    let has_value = what.contains('=') || what.contains(":out");
    let is_type = what.starts_with(|first: char| first.is_ascii_alphabetic());
    if has_value || !is_type {
        return argument.to_owned();
    }
    let value = if what.starts_with(['f', 'b', 't']) { "0.5" } else { "1" };
    match what.contains('[') {
        true => format!("{argument}={value}"),
        false => format!("{name}={value}"),
    }
}
