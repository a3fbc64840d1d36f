//! The `warpproof` program as a library: flags in, exit status out. All work is done by `driver`.
//!
//! [`main`] is the program; [`call`] is the same for a caller in this process: it prints nothing, installs no
//! handler, and changes no state but its own.

mod args;
mod call;
mod compile_args;
mod console;
mod demo;
mod launch_args;
mod limit_args;
mod project;
mod version;
mod watch;

use anstream::ColorChoice;
use args::{
    Args, CheckArgs, Colour, Command, EquivArgs, ExecutionArgs, Infer, InspectArgs, ProveArgs,
    SimulateArgs,
};
use clap::{CommandFactory, Parser};
use console::Console;
use driver::arguments::KernelPath;
use driver::cuda::{CompileOptions, Math};
use driver::equiv::{FormulaStep, Step};
use driver::prove::Compiling;
use driver::report::Report;
use driver::{Execution, Exit, Input, InputError, Outcome, escape};
use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

pub use call::{Call, Called, call};

/// Returns version, revision, target and compiler, as `--version` shows them.
#[must_use]
pub fn version() -> &'static str {
    version::LONG
}

/// Runs the program with these arguments, the first of which is its name, and returns its exit status.
pub fn main(words: impl IntoIterator<Item = OsString>) -> u8 {
    let words: Vec<OsString> = words.into_iter().collect();
    let shown: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let console = Console::of_program(&shown, watch::of_program());
    let args = match Args::try_parse_from(words) {
        Ok(args) => args,
        Err(error) if console.is_plain() || error.exit_code() == 0 => {
            let _ = error.print();
            return u8::try_from(error.exit_code()).unwrap_or(Exit::BadInput as u8);
        }
        // A message that quotes what was given has no colours then.
        Err(error) => {
            console.write_err(&escape::plain(&error.render().to_string()));
            return Exit::BadInput as u8;
        }
    };
    args.colour.choice().write_global();
    watch::catch_interrupts();
    // A panic is our bug, whatever the input: say so instead of dying with a riddle.
    let exit = catch_unwind(AssertUnwindSafe(|| run(&args, &console)));
    let exit = exit.unwrap_or_else(|_| report_bug(&console));
    console.exit(exit) as u8
}

fn run(args: &Args, console: &Console) -> Exit {
    match &args.command {
        Command::Inspect(inspect) => run_inspect(inspect, console),
        Command::Equiv(equiv) => run_equiv(equiv, console),
        Command::Check(check) => run_check(check, console),
        Command::Prove(prove) => run_prove(prove, console),
        Command::Simulate(simulate) => run_simulate(simulate, console),
        Command::Demo => demo::run(console),
        Command::Run(run) => project::run(run, console),
        Command::Init(init) => project::init(init, console),
        Command::Schema => {
            console.write_out(include_str!("../../../docs/warpproof.schema.json"));
            Exit::Success
        }
        Command::Explain(explain) => {
            console.finish(driver::explain::run(explain.code.as_deref(), console.styled()))
        }
        Command::Doctor => {
            let environment = console.environment();
            console
                .finish(driver::doctor::run(&environment, &format!("warpproof {}", version::LONG)))
        }
        Command::Completions(completions) => {
            let mut script = Vec::new();
            clap_complete::generate(
                completions.shell,
                &mut Args::command(),
                "warpproof",
                &mut script,
            );
            console.write_out(&String::from_utf8_lossy(&script));
            Exit::Success
        }
        Command::Man => write_man(console),
    }
}

fn run_inspect(args: &InspectArgs, console: &Console) -> Exit {
    let path = KernelPath { file: args.file.display().to_string(), kernel: None };
    let input = match args.compile.open(&path, console) {
        Ok(input) => input,
        Err(error) => return console.fail(&error.to_string()),
    };
    console.finish(driver::inspect::run(&input, args.format.into(), console.styled()))
}

fn run_simulate(args: &SimulateArgs, console: &Console) -> Exit {
    let colour = console.styled();
    let input = args.target.compile.open_to_run(&args.target.kernel, console);
    execute(&args.target, input, console, |execution| {
        if console.is_terminal() || args.out.is_some() {
            return driver::simulate::run(execution, args.out.as_deref(), colour);
        }
        let (outcome, arrays) = driver::simulate::run_in_memory(execution, colour);
        console.keep_arrays(arrays);
        outcome
    })
}

/// Two kernels in CUDA C, for every launch and size.
fn run_equiv_for_all(args: &EquivArgs, console: &Console) -> Exit {
    let Some(optimised) = &args.optimised else { return console.fail("two kernels are needed") };
    let paths = [&args.reference, optimised];
    let mut inputs = Vec::new();
    for path in paths {
        match compile_args::read_cuda(path, console) {
            Ok(input) => inputs.push(input),
            Err(error) => return console.fail(&error.to_string()),
        }
    }
    let compiling = Compiling {
        options: args.compile.options(Math::Inlined, console),
        defines: args.defines.clone(),
    };
    let cache = compiling.options.environment.cache_folder();
    let reading = args.compile.reading(&args.defines);
    let options = driver::prove::Options {
        kernel: None,
        infers: true,
        solver: args.solver.as_deref(),
        use_solver: !args.no_solver,
        second_solver: None,
        cache: cache.as_deref(),
        strict: args.strict,
        time: args.limits.time(),
        jobs: args.limits.jobs(),
        watch: Some(console.watch()),
        compiling: (!args.no_compare).then_some(&compiling),
        reading: &reading,
        format: args.format.into(),
    };
    let names = paths.map(|path| path.kernel.as_deref());
    let together = driver::prove::Together {
        names: args.map.clone(),
        same_launch: args.same_launch,
        requires: args.demands.clone(),
    };
    let inputs = [&inputs[0], &inputs[1]];
    console.finish(driver::prove::compare(inputs, names, &together, options, console.styled()))
}

fn run_equiv(args: &EquivArgs, console: &Console) -> Exit {
    if args.for_all_sizes {
        return run_equiv_for_all(args, console);
    }
    let paths: Vec<&KernelPath> = [&args.reference].into_iter().chain(&args.optimised).collect();
    let mut inputs = Vec::new();
    for path in &paths {
        match args.compile.open(path, console) {
            Ok(input) => inputs.push(input),
            Err(error) => return console.fail(&error.to_string()),
        }
    }
    let formula = match args.formula.as_deref().map(Input::of_formula).transpose() {
        Ok(formula) => formula,
        Err(error) => return console.fail(&error.to_string()),
    };
    let sides = args.sides.sides(&args.launch);
    let limits = args.limits.limits(console.watch());
    let launch = |kernel: usize, side: usize| {
        Step::Launch(Execution {
            input: &inputs[kernel],
            kernel: paths[kernel].kernel.as_deref(),
            launch: &sides[side].0,
            arguments: &sides[side].1,
            limits,
        })
    };
    let own = args.sides.reference_arguments();
    let steps = match &formula {
        Some(input) => {
            let formula = FormulaStep { input, arguments: &own, limits };
            [Step::Formula(formula), launch(0, 1)]
        }
        None => [launch(0, 0), launch(1, 1)],
    };
    let options = driver::equiv::Options {
        snap: !args.no_snap,
        strict: args.strict,
        allow: allowed(&args.allow),
        assumptions: &args.assumptions,
        parts: &args.parts,
        pictures: args.report.is_some(),
        recheck: args.recheck,
    };
    let display = watch::Display::start(console);
    let sides = steps.each_ref().map(std::slice::from_ref);
    let outcome = driver::equiv::run_steps(sides, &options, console.styled());
    drop(display);
    let outcome = with_page(outcome, args.report.as_deref(), console);
    console.finish(outcome.rendered(args.format.into()))
}

/// Everything that is allowed.
fn allowed(all: &[driver::Allow]) -> driver::Allow {
    all.iter().fold(driver::Allow::default(), |some, one| some.and(*one))
}

fn run_check(args: &CheckArgs, console: &Console) -> Exit {
    let CheckArgs { strict, warp_synchronous, .. } = *args;
    let (graph, format) = (args.graph.as_deref(), args.format.into());
    let pictures = args.report.is_some();
    let allow = allowed(&args.allow);
    let options =
        driver::check::Options { strict, warp_synchronous, allow, graph, format, pictures };
    let colour = console.styled();
    let input = args.target.compile.open(&args.target.kernel, console);
    execute(&args.target, input, console, |execution| {
        with_page(driver::check::run(execution, options, colour), args.report.as_deref(), console)
    })
}

/// Writes the page of a report, if one is wanted.
fn with_page(outcome: Outcome, path: Option<&Path>, console: &Console) -> Outcome {
    let reports: Vec<Report> = outcome.report.iter().cloned().collect();
    with_page_of(outcome, &reports, path, console)
}

fn with_page_of(
    mut outcome: Outcome,
    reports: &[Report],
    path: Option<&Path>,
    console: &Console,
) -> Outcome {
    if let Some(path) = path.filter(|_| !reports.is_empty())
        && let Err(error) = driver::render::write_html(path, reports)
    {
        console.write_err(&format!("error: {}\n", escape::plain(&error.to_string())));
        outcome.exit = Exit::BadInput;
    }
    outcome
}

fn run_prove(args: &ProveArgs, console: &Console) -> Exit {
    let input = match compile_args::read_cuda(&args.kernel, console) {
        Ok(input) => input,
        Err(error) => return console.fail(&error.to_string()),
    };
    let environment = console.environment().without_cache(args.no_cache);
    let cache = environment.cache_folder();
    let reading = args.reading.reading();
    let (architecture, includes) = (reading.arch.clone(), reading.includes.clone());
    let compiled =
        CompileOptions { environment, architecture, includes, ..CompileOptions::default() };
    let compiling = Compiling { options: compiled, defines: reading.defines.clone() };
    let options = driver::prove::Options {
        kernel: args.kernel.kernel.as_deref(),
        infers: args.infer != Infer::None,
        solver: args.solver.as_deref(),
        use_solver: !args.no_solver,
        second_solver: args.second_solver.as_deref(),
        cache: cache.as_deref(),
        strict: args.strict,
        time: args.timeout,
        jobs: limit_args::jobs(args.jobs),
        watch: Some(console.watch()),
        compiling: (!args.no_compare).then_some(&compiling),
        reading: &reading,
        format: args.format.into(),
    };
    let (outcome, reports) = driver::prove::run_each(&input, options, console.styled());
    let outcome = with_page_of(outcome, &reports, args.report.as_deref(), console);
    console.finish_all(&outcome, reports)
}

/// Hands the launch of a module to a command.
fn execute(
    args: &ExecutionArgs,
    input: Result<Input, InputError>,
    console: &Console,
    command: impl FnOnce(&Execution<'_>) -> Outcome,
) -> Exit {
    let input = match input {
        Ok(input) => input,
        Err(error) => return console.fail(&error.to_string()),
    };
    let display = watch::Display::start(console);
    let outcome = command(&Execution {
        input: &input,
        kernel: args.kernel.kernel.as_deref(),
        launch: &args.launch.launch(),
        arguments: &args.launch.arguments(),
        limits: args.limits.limits(console.watch()),
    });
    drop(display);
    console.finish(outcome)
}

/// One page: the program, then its commands, each as a page of its own would be.
fn write_man(console: &Console) -> Exit {
    let mut command = Args::command();
    command.build();
    let mut page = Vec::new();
    let main = clap_mangen::Man::new(command.clone());
    let mut written = main.render(&mut page);
    for subcommand in command.get_subcommands_mut() {
        let name = format!("warpproof {}", subcommand.get_name());
        let man = clap_mangen::Man::new(subcommand.clone());
        let title = format!(".SH \"{}\"\n", name.to_uppercase());
        page.extend(title.as_bytes());
        written = written
            .and_then(|()| man.render_description_section(&mut page))
            .and_then(|()| man.render_options_section(&mut page));
    }
    match written {
        Ok(()) => {
            console.write_out(&String::from_utf8_lossy(&page));
            Exit::Success
        }
        Err(error) => console.fail(&error.to_string()),
    }
}

fn report_bug(console: &Console) -> Exit {
    let version = env!("CARGO_PKG_VERSION");
    console.write_err(&format!(
        "error: this is a bug in warpproof {version}, not in your kernel. Please report it with \
         the message above and, if you can, the file that shows it.\n"
    ));
    Exit::Bug
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
