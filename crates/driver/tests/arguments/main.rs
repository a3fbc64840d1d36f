//! Launch flags, arguments and `.npy` files, from text to a launch and back.

mod build;
mod clusters;
mod maps;
mod memory;
mod npy;
mod parse;
mod random;
mod select;

use driver::arguments::{
    Arguments, BuildError, BuiltLaunch, DeclaredParameter, Invocation, LaunchSpec, MissingData,
    Request, build_launch, select_kernel,
};
use ir::Program;

/// A module with a kernel for each kind of parameter.
const KERNELS: &str = include_str!("kernels.ptx");

fn program() -> Program {
    let parsed = ptx::syntax::parse(KERNELS);
    assert!(parsed.errors.is_empty(), "{:?}", parsed.errors);
    let lowered = ptx::lower(&parsed.module);
    assert!(lowered.diagnostics.is_empty(), "{:?}", lowered.diagnostics);
    lowered.program
}

/// A launch of 4 blocks of 128 threads.
fn launch_spec() -> LaunchSpec {
    LaunchSpec {
        grid: Some("4".parse().unwrap()),
        block: Some("128".parse().unwrap()),
        ..LaunchSpec::default()
    }
}

/// Arguments separated by blanks; `--alias x,y` is written `alias:x,y`.
fn arguments(text: &str) -> Arguments {
    let mut arguments = Arguments::default();
    for word in text.split_whitespace() {
        match word.strip_prefix("alias:") {
            Some(alias) => arguments.aliases.push(alias.parse().unwrap()),
            None => arguments.specs.push(word.parse().unwrap()),
        }
    }
    arguments
}

fn build(
    kernel: &str,
    launch: &LaunchSpec,
    text: &str,
    missing_data: MissingData,
) -> Result<BuiltLaunch, BuildError> {
    let program = program();
    build_launch(&Request {
        program: &program,
        kernel: select_kernel(&program, Some(kernel)).unwrap(),
        launch,
        arguments: &arguments(text),
        declared: &[],
        others: &[],
        missing_data,
        invocation: Invocation { command: "check", file: "kernels.ptx" },
    })
}

/// Builds for `check`.
fn check(kernel: &str, text: &str) -> Result<BuiltLaunch, BuildError> {
    build(kernel, &launch_spec(), text, MissingData::Opaque)
}

/// Builds for `check`, with the source's parameter declarations: `const float* x` is written `x:const~float*`.
fn check_declared(kernel: &str, text: &str, declared: &str) -> Result<BuiltLaunch, BuildError> {
    let program = program();
    let parameter = |word: &str| {
        let (name, ty) = word.split_once(':').unwrap();
        DeclaredParameter { name: name.to_owned(), ty: ty.replace('~', " "), is_certain: true }
    };
    let declared: Vec<DeclaredParameter> = declared.split_whitespace().map(parameter).collect();
    build_launch(&Request {
        program: &program,
        kernel: select_kernel(&program, Some(kernel)).unwrap(),
        launch: &launch_spec(),
        arguments: &arguments(text),
        declared: &declared,
        others: &[],
        missing_data: MissingData::Opaque,
        invocation: Invocation { command: "check", file: "k.cu" },
    })
}

/// Builds for `simulate`.
fn simulate(kernel: &str, text: &str) -> Result<BuiltLaunch, BuildError> {
    build(kernel, &launch_spec(), text, MissingData::Refused)
}

/// The messages about bad input.
fn refused(built: Result<BuiltLaunch, BuildError>) -> Vec<String> {
    built.expect_err("the arguments do not fit").input
}
