//! The pairs of `corpus/equiv`, and the answer about one; shared by tests and examples.

#![allow(dead_code, reason = "each of them uses some of it")]

use driver::arguments::{Arguments, AssumeSpec, KernelPath, LaunchSpec, PartSpec};
use driver::equiv::{FormulaStep, Options, Step, run, run_steps};
use driver::{Allow, Colour, Execution, Input, Limits, Outcome};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// A pair, as its file describes it.
pub(crate) struct Pair {
    /// `softmax/online`
    pub(crate) name: String,
    /// The text of its file.
    pub(crate) text: String,
    /// The right answer about it.
    pub(crate) expected: String,
    /// The kind of finding, if it is refuted.
    pub(crate) kind: String,
    pub(crate) is_large: bool,
    folder: PathBuf,
    kernels: [KernelPath; 2],
    sides: [(LaunchSpec, Arguments); 2],
    assumptions: Vec<AssumeSpec>,
    parts: Vec<PartSpec>,
}

impl Pair {
    /// The file of the reference (0) or of the optimised kernel (1).
    pub(crate) fn path(&self, side: usize) -> PathBuf {
        self.folder.join(&self.kernels[side].file)
    }

    /// The name of the optimised kernel.
    pub(crate) fn kernel(&self) -> Option<&str> {
        self.kernels[1].kernel.as_deref()
    }

    /// Compares its own kernels, and rechecks a proof.
    pub(crate) fn ask_twice(&self) -> Outcome {
        let inputs = [0, 1].map(|side| match Input::read(&self.path(side)) {
            Ok(input) => input,
            Err(error) => panic!("{}: {error}", self.name),
        });
        self.compare(inputs.each_ref(), Limits::default(), true)
    }

    /// The formula of its reference, `FILE.KERNEL.formula`, if it exists and fits this pair (a line `# not: NAME`
    /// excludes pairs).
    pub(crate) fn formula(&self) -> Option<PathBuf> {
        let KernelPath { file, kernel } = &self.kernels[0];
        // Formulas of other families have other names for their arguments.
        let file = file.strip_suffix(".ptx").filter(|file| !file.contains('/'))?;
        let name = match kernel {
            Some(kernel) => format!("{file}.{kernel}.formula"),
            None => format!("{file}.formula"),
        };
        let path = self.folder.join(name);
        let text = std::fs::read_to_string(&path).ok()?;
        let own = self.name.rsplit('/').next()?;
        let is_left_out = |line: &str| {
            let names = line.strip_prefix("# not: ");
            names.is_some_and(|rest| rest.split([':', ' ']).next() == Some(own))
        };
        (!text.lines().any(is_left_out)).then_some(path)
    }

    /// Compares its optimised kernel with a formula.
    pub(crate) fn ask_formula(&self, formula: &Input) -> Outcome {
        let input = match Input::read(&self.path(1)) {
            Ok(input) => input,
            Err(error) => panic!("{}: {error}", self.name),
        };
        let (limits, arguments) = (Limits::default(), Arguments::default());
        let execution = Execution {
            input: &input,
            kernel: self.kernels[1].kernel.as_deref(),
            launch: &self.sides[1].0,
            arguments: &self.sides[1].1,
            limits,
        };
        let formula = FormulaStep { input: formula, arguments: &arguments, limits };
        let (assumptions, parts) = (&self.assumptions, &self.parts);
        let allow = Allow::default().and("float-order".parse().expect("it is known"));
        let options = Options { assumptions, parts, allow, ..Options::default() };
        let steps = [Step::Formula(formula), Step::Launch(execution)];
        run_steps(steps.each_ref().map(std::slice::from_ref), &options, Colour::Plain)
    }

    /// Compares two kernels with the pair's flags.
    pub(crate) fn ask(&self, inputs: [&Input; 2], lane_instructions: u64) -> Outcome {
        self.compare(inputs, Limits { lane_instructions, ..Limits::default() }, false)
    }

    fn compare(&self, inputs: [&Input; 2], limits: Limits, recheck: bool) -> Outcome {
        let execution = |side: usize| Execution {
            input: inputs[side],
            kernel: self.kernels[side].kernel.as_deref(),
            launch: &self.sides[side].0,
            arguments: &self.sides[side].1,
            limits,
        };
        let (assumptions, parts) = (&self.assumptions, &self.parts);
        let options = Options { assumptions, parts, recheck, ..Options::default() };
        run([&execution(0), &execution(1)], &options, Colour::Plain)
    }
}

/// Runs `work` for pairs on all processors; collects the errors.
pub(crate) fn for_all(
    pairs: &[Pair],
    work: impl Fn(&Pair) -> Result<(), String> + Sync,
) -> Vec<String> {
    let (next, wrong) = (Mutex::new(pairs.iter()), Mutex::new(Vec::new()));
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..processors {
            scope.spawn(|| {
                loop {
                    let Some(pair) = next.lock().expect("no panic").next() else { break };
                    if let Err(what) = work(pair) {
                        wrong.lock().expect("no panic").push(what);
                    }
                }
            });
        }
    });
    wrong.into_inner().expect("no panic")
}

/// The folder of the pairs.
pub(crate) fn folder() -> PathBuf {
    testing::corpus::root().join("corpus/equiv")
}

/// All pairs, by name. Panics on one that cannot be read.
pub(crate) fn pairs() -> Vec<Pair> {
    let files = testing::corpus::files_below(folder(), "pair");
    let read = |path: &PathBuf| pair(path).unwrap_or_else(|| panic!("{}", path.display()));
    files.iter().map(read).collect()
}

fn pair(path: &Path) -> Option<Pair> {
    let text = std::fs::read_to_string(path).ok()?;
    let values = |key: &str| -> Vec<String> {
        let lines = text.lines().filter_map(|line| line.split_once(": "));
        lines.filter(|(known, _)| *known == key).map(|(_, value)| value.to_owned()).collect()
    };
    let first = |key: &str| values(key).first().cloned().unwrap_or_default();
    let expected = first("expect").split([' ', ':', ',']).next().unwrap_or_default().to_owned();
    let mut found = Pair {
        name: path.strip_prefix(folder()).ok()?.with_extension("").display().to_string(),
        expected,
        kind: first("kind"),
        is_large: first("size") == "large",
        folder: path.parent()?.to_owned(),
        kernels: [first("ref").parse().ok()?, first("opt").parse().ok()?],
        sides: Default::default(),
        assumptions: Vec::new(),
        parts: Vec::new(),
        text: text.clone(),
    };
    for flags in values("flags") {
        for two in words(&flags).chunks(2) {
            let [flag, value] = two else { return None };
            found.take(flag, value)?;
        }
    }
    Some(found)
}

impl Pair {
    /// Takes a flag of both sides or of one.
    fn take(&mut self, flag: &str, value: &str) -> Option<()> {
        if flag == "--assume" {
            self.assumptions.push(value.parse().ok()?);
            return Some(());
        }
        if flag == "--compare" {
            self.parts.push(value.parse().ok()?);
            return Some(());
        }
        let common = flag.replacen("--ref-", "--", 1).replacen("--opt-", "--", 1);
        for ((launch, arguments), other) in self.sides.iter_mut().zip(["--opt-", "--ref-"]) {
            if flag.starts_with(other) {
                continue;
            }
            match common.as_str() {
                "--grid" => launch.grid = Some(value.parse().ok()?),
                "--block" => launch.block = Some(value.parse().ok()?),
                "--smem" => launch.shared = Some(value.parse().ok()?),
                "--arg" => arguments.specs.push(value.parse().ok()?),
                "--symbol" => arguments.symbols.push(value.parse().ok()?),
                "--alias" => arguments.aliases.push(value.parse().ok()?),
                _ => return None,
            }
        }
        Some(())
    }
}

/// Splits words as a shell does.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for (position, part) in text.split('\'').enumerate() {
        let quoted = position % 2 == 1;
        for (number, piece) in part.split(' ').enumerate() {
            match (number, quoted) {
                (0, _) => {}
                (_, true) => words.last_mut().expect("one").push(' '),
                (_, false) => words.push(String::new()),
            }
            words.last_mut().expect("one").push_str(piece);
        }
    }
    words.retain(|word| !word.is_empty());
    words
}
