//! The `warpproof` program: flags in, exit status out. All work is done by `driver`.

mod args;
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
use console::{LOST, are_plain, fail, finish, styled, write_err, write_out};
use driver::arguments::KernelPath;
use driver::cuda::locate::Environment;
use driver::cuda::{CompileOptions, Math};
use driver::equiv::{FormulaStep, Step};
use driver::prove::Compiling;
use driver::report::Report;
use driver::{Execution, Exit, Input, InputError, Outcome, escape};
use std::panic::catch_unwind;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::Ordering;

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) if are_plain() || error.exit_code() == 0 => error.exit(),
        // A message that quotes what was given has no colours then.
        Err(error) => {
            write_err(&escape::plain(&error.render().to_string()));
            return ExitCode::from(Exit::BadInput as u8);
        }
    };
    args.colour.choice().write_global();
    watch::catch_interrupts();
    // A panic is our bug, whatever the input: say so instead of dying with a riddle.
    let exit = catch_unwind(|| run(&args)).unwrap_or_else(|_| report_bug());
    // If stdout failed, exit non-zero: silence must not pass CI.
    let lost = LOST.load(Ordering::Relaxed) && exit == Exit::Success;
    ExitCode::from(if lost { Exit::BadInput } else { exit } as u8)
}

fn run(args: &Args) -> Exit {
    match &args.command {
        Command::Inspect(inspect) => run_inspect(inspect),
        Command::Equiv(equiv) => run_equiv(equiv),
        Command::Check(check) => run_check(check),
        Command::Prove(prove) => run_prove(prove),
        Command::Simulate(simulate) => run_simulate(simulate),
        Command::Demo => demo::run(),
        Command::Run(run) => project::run(run),
        Command::Init(init) => project::init(init),
        Command::Schema => {
            write_out(include_str!("../../../docs/warpproof.schema.json"));
            Exit::Success
        }
        Command::Explain(explain) => {
            finish(driver::explain::run(explain.code.as_deref(), styled()))
        }
        Command::Doctor => {
            let environment = Environment::of_process();
            finish(driver::doctor::run(&environment, &format!("warpproof {}", version::LONG)))
        }
        Command::Completions(completions) => {
            let mut script = Vec::new();
            clap_complete::generate(
                completions.shell,
                &mut Args::command(),
                "warpproof",
                &mut script,
            );
            write_out(&String::from_utf8_lossy(&script));
            Exit::Success
        }
        Command::Man => write_man(),
    }
}

fn run_inspect(args: &InspectArgs) -> Exit {
    let path = KernelPath { file: args.file.display().to_string(), kernel: None };
    let input = match args.compile.open(&path) {
        Ok(input) => input,
        Err(error) => return fail(&error.to_string()),
    };
    finish(driver::inspect::run(&input, args.format.into(), styled()))
}

fn run_simulate(args: &SimulateArgs) -> Exit {
    let colour = styled();
    let input = args.target.compile.open_to_run(&args.target.kernel);
    execute(&args.target, input, |execution| {
        driver::simulate::run(execution, args.out.as_deref(), colour)
    })
}

/// Two kernels in CUDA C, for every launch and size.
fn run_equiv_for_all(args: &EquivArgs) -> Exit {
    let Some(optimised) = &args.optimised else { return fail("two kernels are needed") };
    let paths = [&args.reference, optimised];
    let mut inputs = Vec::new();
    for path in paths {
        match Input::read_cuda(path.file.as_ref()) {
            Ok(input) => inputs.push(input),
            Err(error) => return fail(&error.to_string()),
        }
    }
    let compiling =
        Compiling { options: args.compile.options(Math::Inlined), defines: args.defines.clone() };
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
        watch: Some(watch::watch()),
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
    finish(driver::prove::compare(inputs, names, &together, options, styled()))
}

fn run_equiv(args: &EquivArgs) -> Exit {
    if args.for_all_sizes {
        return run_equiv_for_all(args);
    }
    let paths: Vec<&KernelPath> = [&args.reference].into_iter().chain(&args.optimised).collect();
    let mut inputs = Vec::new();
    for path in &paths {
        match args.compile.open(path) {
            Ok(input) => inputs.push(input),
            Err(error) => return fail(&error.to_string()),
        }
    }
    let formula = match args.formula.as_deref().map(Input::of_formula).transpose() {
        Ok(formula) => formula,
        Err(error) => return fail(&error.to_string()),
    };
    let sides = args.sides.sides(&args.launch);
    let limits = args.limits.limits();
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
    let display = watch::Display::start();
    let sides = steps.each_ref().map(std::slice::from_ref);
    let outcome = driver::equiv::run_steps(sides, &options, styled());
    drop(display);
    let outcome = with_page(outcome, args.report.as_deref());
    finish(outcome.rendered(args.format.into()))
}

/// Everything that is allowed.
fn allowed(all: &[driver::Allow]) -> driver::Allow {
    all.iter().fold(driver::Allow::default(), |some, one| some.and(*one))
}

fn run_check(args: &CheckArgs) -> Exit {
    let CheckArgs { strict, warp_synchronous, .. } = *args;
    let (graph, format) = (args.graph.as_deref(), args.format.into());
    let pictures = args.report.is_some();
    let allow = allowed(&args.allow);
    let options =
        driver::check::Options { strict, warp_synchronous, allow, graph, format, pictures };
    let colour = styled();
    let input = args.target.compile.open(&args.target.kernel);
    execute(&args.target, input, |execution| {
        with_page(driver::check::run(execution, options, colour), args.report.as_deref())
    })
}

/// Writes the page of a report, if one is wanted.
fn with_page(outcome: Outcome, path: Option<&Path>) -> Outcome {
    let reports: Vec<Report> = outcome.report.iter().cloned().collect();
    with_page_of(outcome, &reports, path)
}

fn with_page_of(mut outcome: Outcome, reports: &[Report], path: Option<&Path>) -> Outcome {
    if let Some(path) = path.filter(|_| !reports.is_empty())
        && let Err(error) = driver::render::write_html(path, reports)
    {
        write_err(&format!("error: {}\n", escape::plain(&error.to_string())));
        outcome.exit = Exit::BadInput;
    }
    outcome
}

fn run_prove(args: &ProveArgs) -> Exit {
    let input = match Input::read_cuda(args.kernel.file.as_ref()) {
        Ok(input) => input,
        Err(error) => return fail(&error.to_string()),
    };
    let environment = Environment::of_process().without_cache(args.no_cache);
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
        watch: Some(watch::watch()),
        compiling: (!args.no_compare).then_some(&compiling),
        reading: &reading,
        format: args.format.into(),
    };
    let (outcome, reports) = driver::prove::run_each(&input, options, styled());
    finish(with_page_of(outcome, &reports, args.report.as_deref()))
}

/// Hands the launch of a module to a command.
fn execute(
    args: &ExecutionArgs,
    input: Result<Input, InputError>,
    command: impl FnOnce(&Execution<'_>) -> Outcome,
) -> Exit {
    let input = match input {
        Ok(input) => input,
        Err(error) => return fail(&error.to_string()),
    };
    let display = watch::Display::start();
    let outcome = command(&Execution {
        input: &input,
        kernel: args.kernel.kernel.as_deref(),
        launch: &args.launch.launch(),
        arguments: &args.launch.arguments(),
        limits: args.limits.limits(),
    });
    drop(display);
    finish(outcome)
}

/// One page: the program, then its commands, each as a page of its own would be.
fn write_man() -> Exit {
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
            write_out(&String::from_utf8_lossy(&page));
            Exit::Success
        }
        Err(error) => fail(&error.to_string()),
    }
}

fn report_bug() -> Exit {
    let version = env!("CARGO_PKG_VERSION");
    write_err(&format!(
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
