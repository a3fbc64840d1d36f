//! The `warpproof` program: flags in, exit status out. All work is done by `driver`.

mod args;
mod launch_args;
mod limit_args;

use anstream::ColorChoice;
use args::{Args, CheckArgs, Colour, Command, EquivArgs, ExecutionArgs, InspectArgs, SimulateArgs};
use clap::Parser;
use driver::{Execution, Exit, Format, Input, Outcome};
use std::io::Write;
use std::panic::catch_unwind;
use std::process::ExitCode;

/// The kernel `demo` shows; it is part of the program, so that a demonstration needs no files.
const DEMO: &str = include_str!("../../../examples/softmax.ptx");

fn main() -> ExitCode {
    let args = Args::parse();
    args.colour.choice().write_global();
    // A panic is our bug, whatever the input: say so instead of dying with a riddle.
    let exit = catch_unwind(|| run(&args)).unwrap_or_else(|_| report_bug());
    ExitCode::from(exit as u8)
}

fn run(args: &Args) -> Exit {
    match &args.command {
        Command::Inspect(inspect) => run_inspect(inspect),
        Command::Equiv(equiv) => run_equiv(equiv),
        Command::Check(check) => run_check(check),
        Command::Simulate(simulate) => run_simulate(simulate),
        Command::Demo => run_demo(),
    }
}

fn run_inspect(args: &InspectArgs) -> Exit {
    let input = match Input::read(&args.file) {
        Ok(input) => input,
        Err(error) => return fail(&error.to_string()),
    };
    finish(driver::inspect::run(&input, args.format.into(), driver::Colour::Styled))
}

fn run_simulate(args: &SimulateArgs) -> Exit {
    let colour = driver::Colour::Styled;
    execute(&args.target, |execution| driver::simulate::run(execution, args.out.as_deref(), colour))
}

fn run_equiv(args: &EquivArgs) -> Exit {
    let paths = [&args.reference, &args.optimised];
    let mut inputs = Vec::new();
    for path in paths {
        match Input::read(path.file.as_ref()) {
            Ok(input) => inputs.push(input),
            Err(error) => return fail(&error.to_string()),
        }
    }
    let sides = args.sides.sides(&args.launch);
    let execution = |number: usize| Execution {
        input: &inputs[number],
        kernel: paths[number].kernel.as_deref(),
        launch: &sides[number].0,
        arguments: &sides[number].1,
        limits: args.limits.limits(),
    };
    let colour = driver::Colour::Styled;
    finish(driver::equiv::run([&execution(0), &execution(1)], !args.no_snap, colour))
}

fn run_check(args: &CheckArgs) -> Exit {
    let CheckArgs { strict, warp_synchronous, .. } = *args;
    let (graph, format) = (args.graph.as_deref(), args.format.into());
    let options = driver::check::Options { strict, warp_synchronous, graph, format };
    let colour = driver::Colour::Styled;
    execute(&args.target, |execution| driver::check::run(execution, options, colour))
}

/// Reads the module and hands the launch to a command.
fn execute(args: &ExecutionArgs, command: impl FnOnce(&Execution<'_>) -> Outcome) -> Exit {
    let input = match Input::read(args.kernel.file.as_ref()) {
        Ok(input) => input,
        Err(error) => return fail(&error.to_string()),
    };
    finish(command(&Execution {
        input: &input,
        kernel: args.kernel.kernel.as_deref(),
        launch: &args.launch.launch(),
        arguments: &args.launch.arguments(),
        limits: args.limits.limits(),
    }))
}

fn run_demo() -> Exit {
    let input = match Input::from_bytes("examples/softmax.ptx", DEMO.as_bytes().to_vec()) {
        Ok(input) => input,
        Err(error) => return fail(&error.to_string()),
    };
    write_out("This is what `warpproof inspect examples/softmax.ptx` prints:\n\n");
    finish(driver::inspect::run(&input, Format::Text, driver::Colour::Styled))
}

fn finish(outcome: Outcome) -> Exit {
    write_err(&outcome.messages);
    write_out(&outcome.output);
    outcome.exit
}

fn fail(message: &str) -> Exit {
    write_err(&format!("error: {message}\n"));
    Exit::BadInput
}

fn report_bug() -> Exit {
    let version = env!("CARGO_PKG_VERSION");
    write_err(&format!(
        "error: this is a bug in warpproof {version}, not in your kernel. Please report it with \
         the message above and, if you can, the file that shows it.\n"
    ));
    Exit::Bug
}

/// Results. A reader that went away (`| head`) is no error.
fn write_out(text: &str) {
    let _ = anstream::stdout().write_all(text.as_bytes());
}

/// Messages.
fn write_err(text: &str) {
    let _ = anstream::stderr().write_all(text.as_bytes());
}

impl Colour {
    fn choice(self) -> ColorChoice {
        match self {
            Self::Auto => ColorChoice::Auto,
            Self::Always => ColorChoice::Always,
            Self::Never => ColorChoice::Never,
        }
    }
}
