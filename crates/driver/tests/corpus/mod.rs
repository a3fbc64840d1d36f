//! The corpus, and launch flags in the form of a command line.

#![allow(dead_code, reason = "each test uses some of it")]

pub(crate) mod numbers;

use driver::arguments::{
    AliasSpec, ArgumentSpec, Arguments, Invocation, LaunchSpec, MissingData, Request, build_launch,
    select_kernel,
};
use driver::{Execution, Input, Limits, Outcome};
use std::path::PathBuf;

/// The folder of the PTX files.
pub(crate) fn folder() -> PathBuf {
    testing::corpus::root().join("corpus/ptx")
}

/// Returns `true` if a campaign over the corpus takes the item at a position: every tenth, or all if `WARPPROOF_FULL`
/// is set (`.ci/run --full`).
pub(crate) fn is_sampled(position: usize) -> bool {
    position.is_multiple_of(10) || std::env::var_os("WARPPROOF_FULL").is_some()
}

/// Runs a command with the interpreter's code for common cases and with only its code for all cases. If their reports
/// differ, returns both.
pub(crate) fn by_both_paths(
    execution: &Execution<'_>,
    command: impl Fn(&Execution<'_>) -> Outcome,
    different: impl FnOnce(&str, &str),
) -> Outcome {
    let told = |outcome: &Outcome| {
        format!("{}{}exit status {}\n", outcome.messages, outcome.output, outcome.exit as u8)
    };
    let run = |paths| {
        let limits = Limits { paths, ..execution.limits };
        command(&Execution { limits, ..*execution })
    };
    let (fast, general) = (run(exec::Paths::Fast), run(exec::Paths::General));
    if told(&fast) != told(&general) {
        different(&told(&fast), &told(&general));
    }
    fast
}

/// A file of the corpus.
pub(crate) fn input(file: &str) -> Input {
    let bytes = std::fs::read(folder().join(file)).unwrap();
    Input::from_bytes(file, bytes).unwrap()
}

/// Launch flags and arguments.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flags {
    pub(crate) launch: LaunchSpec,
    pub(crate) arguments: Vec<ArgumentSpec>,
    pub(crate) symbols: Vec<ArgumentSpec>,
    pub(crate) aliases: Vec<AliasSpec>,
}

impl Flags {
    /// Parses `--grid 2 --block 128 --arg x=f32[4]`; words may be in quotes.
    pub(crate) fn parse(text: &str) -> Self {
        let mut flags = Self::default();
        let mut words = text.split_whitespace().map(|word| word.trim_matches('\''));
        while let Some(flag) = words.next() {
            let value = words.next().unwrap_or_else(|| panic!("`{flag}` has no value: {text}"));
            assert!(flags.set(flag, value), "unknown flag `{flag}`: {text}");
        }
        flags
    }

    /// Sets a flag; returns `false` for an unknown one.
    pub(crate) fn set(&mut self, flag: &str, value: &str) -> bool {
        let known = match flag {
            "--grid" => value.parse().map(|grid| self.launch.grid = Some(grid)),
            "--block" => value.parse().map(|block| self.launch.block = Some(block)),
            "--cluster" => value.parse().map(|cluster| self.launch.cluster = Some(cluster)),
            "--smem" => value.parse().map(|bytes| self.launch.shared = Some(bytes)),
            "--arg" => value.parse().map(|argument| self.arguments.push(argument)),
            "--alias" => value.parse().map(|alias| self.aliases.push(alias)),
            "--symbol" => value.parse().map(|symbol| self.symbols.push(symbol)),
            _ => return false,
        };
        known.unwrap_or_else(|error| panic!("{flag} {error}"));
        true
    }

    /// Blocks of the grid.
    pub(crate) fn blocks(&self) -> u32 {
        self.launch.grid.unwrap().0.iter().product()
    }

    /// Runs a command on the launch of a kernel.
    pub(crate) fn run(
        &self,
        input: &Input,
        kernel: &str,
        command: impl FnOnce(&Execution<'_>) -> Outcome,
    ) -> Outcome {
        self.hand(input, Some(kernel), command)
    }

    /// Runs a command on the launch of the only kernel of a file.
    pub(crate) fn run_only(
        &self,
        input: &Input,
        command: impl FnOnce(&Execution<'_>) -> Outcome,
    ) -> Outcome {
        self.hand(input, None, command)
    }

    /// Runs a command on the launch of a kernel, the only one if no name is given.
    pub(crate) fn hand(
        &self,
        input: &Input,
        kernel: Option<&str>,
        command: impl FnOnce(&Execution<'_>) -> Outcome,
    ) -> Outcome {
        let (specs, symbols) = (self.arguments.clone(), self.symbols.clone());
        let arguments = &Arguments { specs, symbols, aliases: self.aliases.clone() };
        let (launch, limits) = (&self.launch, Limits::default());
        command(&Execution { input, kernel, launch, arguments, limits })
    }

    /// Returns `true` if the result of a check is the same, bit by bit, for any number of blocks run at once.
    pub(crate) fn same_for_all_jobs(&self, input: &Input, kernel: Option<&str>) -> bool {
        let (specs, symbols) = (self.arguments.clone(), self.symbols.clone());
        let program = &ptx::lower(&ptx::syntax::parse(input.source.text()).module).program;
        let built = build_launch(&Request {
            program,
            kernel: select_kernel(program, kernel).unwrap(),
            launch: &self.launch,
            arguments: &Arguments { specs, symbols, aliases: Vec::new() },
            declared: &[],
            others: &[],
            missing_data: MissingData::Opaque,
            invocation: Invocation { command: "check", file: "" },
        });
        let Ok(built) = built else { return true };
        let run = |jobs| exec::check(program, &built.launch, Limits { jobs, ..Limits::default() });
        let alone = run(1);
        [2, 3, 7].into_iter().all(|jobs| run(jobs) == alone)
    }
}
