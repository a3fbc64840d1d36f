//! The commands of the program: each opens its files, calls `driver`, and writes the answer to the console.

use crate::args::{
    Args, CheckArgs, Command, ExecutionArgs, Infer, InspectArgs, RuleArgs, SimulateArgs,
};
use crate::console::Console;
use crate::output_files::{with_files, with_files_of};
use crate::overdue::{Guard, Subject};
use crate::proof_args::{EquivArgs, OutputArgs, ProveArgs};
use crate::{compile_args, completions, demo, limit_args, project, version, watch};
use clap::CommandFactory;
use driver::arguments::KernelPath;
use driver::cuda::{CompileOptions, Math};
use driver::equiv::{FormulaStep, Step};
use driver::prove::Compiling;
use driver::{Execution, Exit, Input, InputError, Launches, Outcome};

/// Runs a command and returns its exit status.
pub(crate) fn run(args: &Args, console: &Console) -> Exit {
    match &args.command {
        Command::Inspect(inspect) => run_inspect(inspect, console),
        Command::Equiv(equiv) => run_equiv(equiv, console),
        Command::Check(check) => run_check(check, console),
        Command::Prove(prove) => run_prove(prove, console),
        Command::Simulate(simulate) => run_simulate(simulate, console),
        Command::Demo => demo::run(console),
        Command::Run(run) => project::run(run, console),
        Command::Batch(_) | Command::BatchWorker(_) => {
            console.fail("a batch runs in a separate process: start `warpproof batch`")
        }
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
        Command::Completions(wanted) => completions::write(wanted.shell, console),
        Command::CompleteKernel(wanted) => completions::write_kernels(&wanted.word, console),
        Command::Watch(_) | Command::Lsp => {
            console.fail("this command runs until it is stopped: start it as a separate process")
        }
        Command::Man => write_man(console),
    }
}

fn run_inspect(args: &InspectArgs, console: &Console) -> Exit {
    let path = &args.file;
    if path.kernel.is_some() {
        let message = format!("`inspect` describes all kernels of a file: give `{}`", path.file);
        return console.fail(&message);
    }
    let input = match args.compile.open(path, console) {
        Ok(input) => input,
        Err(error) => return console.fail(&error.to_string()),
    };
    console.finish(driver::inspect::run(&input, args.format.into(), console.styled()))
}

fn run_simulate(args: &SimulateArgs, console: &Console) -> Exit {
    let colour = console.styled();
    let input = args.target.compile.open_to_run(&args.target.kernel, console);
    execute("simulate", (&args.target, None), input, console, |execution| {
        if console.prints() || args.out.is_some() {
            return driver::simulate::run(
                execution,
                args.out.as_deref(),
                &|| console.output_lock().take(),
                colour,
            );
        }
        let (outcome, arrays) = driver::simulate::run_in_memory(execution, colour);
        console.keep_arrays(arrays);
        outcome
    })
}

/// Compares two kernels in CUDA C, for every launch and size.
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
        defines: args.sizes.defines.clone(),
    };
    let cache = compiling.options.environment.cache_folder();
    let reading = args.compile.reading(&args.sizes.defines);
    let options = driver::prove::Options {
        kernel: None,
        infers: true,
        solver: args.sizes.solver.as_deref(),
        use_solver: !args.sizes.no_solver,
        second_solver: None,
        cache: cache.as_deref(),
        strict: args.strict,
        time: Some(args.limits.time().unwrap_or(limit_args::PROOF_TIME)),
        jobs: args.limits.jobs(),
        watch: Some(console.watch()),
        compiling: (!args.sizes.no_compare).then_some(&compiling),
        reading: &reading,
        contract: None,
        format: args.output.format.into(),
    };
    let names = paths.map(|path| path.kernel.as_deref());
    let correspondence = driver::prove::Correspondence {
        names: args.sizes.map.clone(),
        same_launch: args.sizes.same_launch,
        requires: args.sizes.requires.clone(),
    };
    let inputs = [&inputs[0], &inputs[1]];
    let (command, launches) = ("equiv", Launches::All);
    let (kernel, output) = (optimised.clone(), Some(args.output.clone()));
    let guard =
        Guard::of_proof(console, options.time, Subject { command, launches, kernel, output });
    let outcome = driver::prove::compare(inputs, names, &correspondence, options, console.styled());
    console.output_lock().take();
    drop(guard);
    console.finish(with_files(outcome, "equiv", &args.output, console))
}

fn run_equiv(args: &EquivArgs, console: &Console) -> Exit {
    if args.sizes.for_all_sizes {
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
    let reference_arguments = args.sides.reference_arguments();
    let steps = match &formula {
        Some(input) => {
            let formula = FormulaStep { input, arguments: &reference_arguments, limits };
            [Step::Formula(formula), launch(0, 1)]
        }
        None => [launch(0, 0), launch(1, 1)],
    };
    let options = driver::equiv::Options {
        snap: !args.no_snap,
        strict: args.strict,
        allow: combined_allowances(&args.allow),
        assumptions: &args.assumptions,
        parts: &args.parts,
        pictures: args.output.report.is_some(),
        recheck: args.recheck,
    };
    let display = watch::Display::start(console);
    let output = Some(args.output.clone());
    let kernel = args.optimised.as_ref().unwrap_or(&args.reference).clone();
    let subject = Subject { command: "equiv", launches: Launches::One, kernel, output };
    let guard = Guard::start(console, &limits, subject);
    let sides = steps.each_ref().map(std::slice::from_ref);
    let outcome = driver::equiv::run_steps(sides, &options, console.styled());
    console.output_lock().take();
    drop((display, guard));
    let outcome = with_files(outcome, "equiv", &args.output, console);
    console.finish(outcome.rendered(args.output.format.into()))
}

/// All allowances together.
fn combined_allowances(all: &[driver::Allow]) -> driver::Allow {
    all.iter().fold(driver::Allow::default(), |some, one| some.and(*one))
}

fn run_check(args: &CheckArgs, console: &Console) -> Exit {
    let RuleArgs { strict, warp_synchronous, .. } = args.rules;
    let (graph, format) = (args.graph.as_deref(), args.output.format.into());
    let (pictures, allow) = (args.output.report.is_some(), combined_allowances(&args.rules.allow));
    let options =
        driver::check::Options { strict, warp_synchronous, allow, graph, format, pictures };
    let colour = console.styled();
    let input = args.target.compile.open(&args.target.kernel, console);
    let output = Some(&args.output);
    execute("check", (&args.target, output), input, console, |execution| {
        let outcome = driver::check::run(execution, options, colour);
        console.output_lock().take();
        with_files(outcome, "check", &args.output, console)
    })
}

fn run_prove(args: &ProveArgs, console: &Console) -> Exit {
    let input = match compile_args::read_cuda(&args.kernel, console) {
        Ok(input) => input,
        Err(error) => return console.fail(&error.to_string()),
    };
    let ensures = match args.ensures.as_deref().map(Input::of_formula).transpose() {
        Ok(ensures) => ensures,
        Err(error) => return console.fail(&error.to_string()),
    };
    let (arguments, requires) = (args.arguments.clone(), args.requires.clone());
    let contract = driver::prove::Contract { ensures, arguments, requires };
    let environment = console.environment().without_cache(args.method.no_cache);
    let cache = environment.cache_folder();
    let reading = args.reading.reading();
    let (architecture, includes) = (reading.arch.clone(), reading.includes.clone());
    let compiled =
        CompileOptions { environment, architecture, includes, ..CompileOptions::default() };
    let compiling = Compiling { options: compiled, defines: reading.defines.clone() };
    let options = driver::prove::Options {
        kernel: args.kernel.kernel.as_deref(),
        infers: args.method.infer != Infer::None,
        solver: args.method.solver.as_deref(),
        use_solver: !args.method.no_solver,
        second_solver: args.method.second_solver.as_deref(),
        cache: cache.as_deref(),
        strict: args.strict,
        time: Some(args.limits.timeout),
        jobs: limit_args::jobs(args.limits.jobs),
        watch: Some(console.watch()),
        compiling: (!args.method.no_compare).then_some(&compiling),
        reading: &reading,
        contract: (!contract.is_empty()).then_some(&contract),
        format: args.output.format.into(),
    };
    let (command, launches) = ("prove", Launches::All);
    let (kernel, output) = (args.kernel.clone(), Some(args.output.clone()));
    let guard =
        Guard::of_proof(console, options.time, Subject { command, launches, kernel, output });
    let (outcome, reports) = driver::prove::run_each(&input, options, console.styled());
    console.output_lock().take();
    drop(guard);
    let outcome = with_files_of(outcome, ("prove", &reports), &args.output, console);
    console.finish_all(&outcome, reports)
}

/// Runs a command on the launch of a module.
fn execute(
    name: &'static str,
    (args, output): (&ExecutionArgs, Option<&OutputArgs>),
    input: Result<Input, InputError>,
    console: &Console,
    command: impl FnOnce(&Execution<'_>) -> Outcome,
) -> Exit {
    let input = match input {
        Ok(input) => input,
        Err(error) => return console.fail(&error.to_string()),
    };
    let display = watch::Display::start(console);
    let limits = args.limits.limits(console.watch());
    let (kernel, output) = (args.kernel.clone(), output.cloned());
    let subject = Subject { command: name, launches: Launches::One, kernel, output };
    let guard = Guard::start(console, &limits, subject);
    let outcome = command(&Execution {
        input: &input,
        kernel: args.kernel.kernel.as_deref(),
        launch: &args.launch.launch(),
        arguments: &args.launch.arguments(),
        limits,
    });
    console.output_lock().take();
    drop((display, guard));
    console.finish(outcome)
}

/// Writes the manual page: the program, then each command like a page of its own.
fn write_man(console: &Console) -> Exit {
    let mut command = Args::command();
    command.build();
    let mut page = Vec::new();
    let main = clap_mangen::Man::new(command.clone());
    let mut written = main.render(&mut page);
    for subcommand in command.get_subcommands_mut().filter(|one| !one.is_hide_set()) {
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
