//! `demo`: finds a race and proves its repair, proves an optimised kernel equal to its definition, and refutes a
//! broken twin of it. The kernels are part of the program: the demonstration needs no files.

use crate::console::Console;
use driver::arguments::{ArgumentSpec, Arguments, Dimensions, LaunchSpec};
use driver::{Execution, Exit, Input, Limits};

macro_rules! kernel {
    ($name:literal) => {
        Kernel {
            name: concat!($name, ".ptx"),
            text: include_str!(concat!("../../../examples/online_softmax/", $name, ".ptx")),
            source_name: concat!($name, ".cu"),
            source: include_str!(concat!("../../../examples/online_softmax/", $name, ".cu")),
        }
    };
}

/// PTX and its source.
struct Kernel {
    name: &'static str,
    text: &'static str,
    source_name: &'static str,
    source: &'static str,
}

impl Kernel {
    fn input(&self) -> Result<Input, String> {
        let input = Input::from_bytes(self.name, self.text.as_bytes().to_vec());
        let input = input.map_err(|error| error.to_string())?;
        Ok(input.with_source(self.source_name, self.source))
    }
}

/// The launch of a step's kernels.
struct Shape {
    rows: u32,
    columns: u32,
    threads: u32,
}

impl Shape {
    fn specs(&self) -> [String; 3] {
        let Self { rows, columns, .. } = self;
        [
            format!("x=f32[{rows},{columns}]"),
            format!("y=f32[{rows},{columns}]:out"),
            format!("columns={columns}"),
        ]
    }

    fn arguments(&self) -> Result<Arguments, String> {
        let parsed: Result<Vec<ArgumentSpec>, _> =
            self.specs().iter().map(|text| text.parse()).collect();
        let specs = parsed.map_err(|error| format!("{error}"))?;
        Ok(Arguments { specs, ..Arguments::default() })
    }

    fn launch(&self, threads: u32) -> LaunchSpec {
        LaunchSpec {
            grid: Some(Dimensions([self.rows, 1, 1])),
            block: Some(Dimensions([threads, 1, 1])),
            ..LaunchSpec::default()
        }
    }

    fn flags(&self) -> String {
        let [x, y, columns] = self.specs();
        let Self { rows, threads, .. } = self;
        format!("--grid {rows} --block {threads} --arg '{x}' --arg '{y}' --arg {columns}")
    }
}

/// Runs the demonstration.
pub(crate) fn run(console: &Console) -> Exit {
    match steps(console) {
        Ok(()) => Exit::Success,
        Err(message) => console.fail(&message),
    }
}

fn steps(console: &Console) -> Result<(), String> {
    let softmax = kernel!("softmax").input()?;
    let (racy, online) = (kernel!("racy").input()?, kernel!("online").input()?);
    let broken = kernel!("broken").input()?;
    let large = Shape { rows: 4, columns: 256, threads: 64 };
    let small = Shape { rows: 1, columns: 2, threads: 2 };
    heading(
        console,
        1,
        "A softmax with one pass for maximum and sum, by 64 threads: is it free of races?",
    );
    check(console, &racy, &large)?;
    heading(console, 2, "With the barrier: a proof for every input and every thread schedule.");
    check(console, &online, &large)?;
    heading(console, 3, "Does it equal the definition of softmax? Compared over the real numbers:");
    equiv(console, [&softmax, &online], &large)?;
    heading(console, 4, "A faster version forgets to rescale the sums:");
    equiv(console, [&softmax, &broken], &small)?;
    console.write_out(
        "\nThe kernels are in examples/online_softmax. For your own: warpproof check kernel.ptx\n",
    );
    Ok(())
}

fn heading(console: &Console, number: u32, text: &str) {
    let gap = if number == 1 { "" } else { "\n" };
    console.write_out(&format!("{gap}\x1b[1m{number}. {text}\x1b[0m\n\n"));
}

fn command(console: &Console, text: &str) {
    console.write_out(&format!("\x1b[2m$ warpproof {text}\x1b[0m\n"));
}

fn execution<'r>(
    input: &'r Input,
    launch: &'r LaunchSpec,
    arguments: &'r Arguments,
) -> Execution<'r> {
    Execution { input, kernel: None, launch, arguments, limits: Limits::default() }
}

fn check(console: &Console, input: &Input, shape: &Shape) -> Result<(), String> {
    command(console, &format!("check {} {}", input.name(), shape.flags()));
    let (launch, arguments) = (shape.launch(shape.threads), shape.arguments()?);
    let execution = execution(input, &launch, &arguments);
    console.finish(driver::check::run(
        &execution,
        driver::check::Options::default(),
        console.styled(),
    ));
    Ok(())
}

fn equiv(console: &Console, inputs: [&Input; 2], shape: &Shape) -> Result<(), String> {
    let [one, other] = inputs.map(Input::name);
    command(console, &format!("equiv {one} {other} --ref-block 1 {}", shape.flags()));
    let (launches, arguments) =
        ([shape.launch(1), shape.launch(shape.threads)], shape.arguments()?);
    let reference = execution(inputs[0], &launches[0], &arguments);
    let optimised = execution(inputs[1], &launches[1], &arguments);
    let options = driver::equiv::Options::default();
    console.finish(driver::equiv::run([&reference, &optimised], &options, console.styled()));
    Ok(())
}
