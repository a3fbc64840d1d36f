//! What `check` and `simulate` share: from a request to a run, and from a run to what is told of it.

use crate::arguments::{
    Arguments, BuildError, BuiltLaunch, Invocation, LaunchSpec, MissingData, OutputSpec, Request,
    build_launch, select_kernel,
};
use crate::hints::Trials;
use crate::race_groups::{distinct, grouped};
use crate::sync_findings::{self, is_note};
use crate::{Colour, Exit, Format, Input, Outcome, diagnostics, findings, inspect};
use exec::Fault;
use ptx::Lowered;

/// A kernel and how to launch it.
#[derive(Clone, Copy, Debug)]
pub struct Execution<'r> {
    /// The module.
    pub input: &'r Input,
    /// The kernel's name, if the module has several.
    pub kernel: Option<&'r str>,
    /// The launch flags.
    pub launch: &'r LaunchSpec,
    /// The arguments.
    pub arguments: &'r Arguments,
}

/// A run and everything its report needs.
pub(crate) struct Finished<'r> {
    input: &'r Input,
    lowered: Lowered,
    pub(crate) built: BuiltLaunch,
    pub(crate) result: exec::Outcome,
    /// Notes about what the manual does not allow are errors.
    pub(crate) strict: bool,
    /// How it was checked.
    pub(crate) checks: exec::Checks,
}

/// Builds the launch and runs it.
pub(crate) fn run<'r>(
    execution: &Execution<'r>,
    command: &str,
    missing_data: MissingData,
    checks: exec::Checks,
    colour: Colour,
) -> Result<Finished<'r>, Outcome> {
    let input = execution.input;
    let lowered = inspect::lower(input, Format::Text, colour)?;
    let program = &lowered.program;
    let kernel = select_kernel(program, execution.kernel);
    let kernel = kernel.map_err(|message| Outcome::bad_input(&message))?;
    let built = build_launch(&Request {
        program,
        kernel,
        launch: execution.launch,
        arguments: execution.arguments,
        missing_data,
        invocation: Invocation { command, file: input.source.name() },
    });
    let built = built.map_err(|error| refused(&error))?;
    if !built.blocks.is_empty() {
        return Err(Outcome::bad_input("--blocks is not supported yet; all blocks are executed"));
    }
    let limits = exec::Limits::default();
    let result = match missing_data {
        // What is said must hold for all contents, and so for all schedules.
        MissingData::Opaque => exec::check_with(program, &built.launch, limits, checks),
        _ => exec::run(program, &built.launch, limits),
    };
    Ok(Finished { input, lowered, built, result, strict: false, checks })
}

fn refused(error: &BuildError) -> Outcome {
    let mut messages = String::new();
    for line in error.input.iter().chain(&error.launch) {
        messages.push_str(&format!("error: {line}\n"));
    }
    if let Some(suggestion) = &error.suggestion {
        messages.push_str(&format!("help: fill in what is missing:\n  {suggestion}\n"));
    }
    let exit = if error.input.is_empty() { Exit::Refuted } else { Exit::BadInput };
    Outcome { output: String::new(), messages, exit, thread_instructions: 0 }
}

impl Finished<'_> {
    /// What was assumed or looks odd, for standard error.
    pub(crate) fn notes(&self) -> String {
        self.built.notes.iter().map(|note| format!("note: {note}\n")).collect()
    }

    /// Faults and the place where the run stopped: results, for people.
    pub(crate) fn tell(&self, colour: Colour) -> String {
        let mut text = String::new();
        let program = &self.lowered.program;
        let mut trials = Trials::new(program, &self.built.launch, &self.result, self.checks);
        let mut groups = grouped(&self.result.findings, program);
        let is_race = |fault: &Fault| matches!(fault, Fault::Race(race) if !race.same_value);
        let any_race = groups.iter().any(|group| is_race(&group.first.fault));
        if any_race {
            groups.sort_by_key(|group| !is_race(&group.first.fault));
        }
        let faults = groups.iter().map(|group| {
            let diagnostic = findings::diagnostic(group, program, self.strict);
            if any_race && matches!(group.first.fault, Fault::Undefined { .. }) {
                return diagnostic.note("this may be a consequence of a race");
            }
            match trials.hint(group) {
                Some(hint) => diagnostic.help(hint),
                None => diagnostic,
            }
        });
        let open = distinct(&self.result.undecided, program);
        let open = open.into_iter().map(|open| sync_findings::undecided(open, program));
        let gap = self.result.gap.iter().filter(|gap| !self.is_explained(gap));
        let gap = gap.map(|gap| findings::gap(gap, program));
        for diagnostic in faults.chain(open).chain(gap) {
            text.push_str(&diagnostics::render(&diagnostic, &self.input.source, colour));
            text.push_str("\n\n");
        }
        if self.result.dropped_findings > 0 {
            text.push_str(&format!("note: {} more findings\n", self.result.dropped_findings));
        }
        if !self.result.prints.is_empty() {
            text.push_str("note: what the kernel prints is not shown\n");
        }
        self.unwritten().iter().for_each(|line| text.push_str(&format!("error: {line}\n")));
        text
    }

    /// Whether a finding says already why the run stopped.
    fn is_explained(&self, gap: &exec::Gap) -> bool {
        let stops = |fault: &Fault| {
            matches!(fault, Fault::Deadlock { .. } | Fault::Barrier(_) | Fault::Trap)
                || matches!(fault, Fault::AssertFailed)
        };
        self.result.findings.iter().any(|f| stops(&f.fault) && f.place == gap.place)
    }

    pub(crate) fn program(&self) -> &ir::Program {
        &self.lowered.program
    }

    pub(crate) fn source(&self) -> &base::SourceFile {
        &self.input.source
    }

    /// Errors among the findings.
    pub(crate) fn errors(&self) -> impl Iterator<Item = &exec::Finding> {
        self.result.findings.iter().filter(|finding| !is_note(&finding.fault, self.strict))
    }

    /// What the run says: refuted if anything is wrong, unknown if it did not end.
    pub(crate) fn exit(&self) -> Exit {
        let faultless = self.errors().next().is_none() && self.unwritten().is_empty();
        match (faultless, &self.result.gap) {
            (false, _) => Exit::Refuted,
            (true, Some(_)) => Exit::Unknown,
            (true, None) => Exit::Success,
        }
    }

    /// Whether an output has elements that were never written.
    pub(crate) fn is_unwritten(&self) -> bool {
        !self.unwritten().is_empty()
    }

    /// Outputs of which elements were never written, one sentence each; nothing is said of a run
    /// that did not end.
    fn unwritten(&self) -> Vec<String> {
        if self.result.gap.is_some() {
            return Vec::new();
        }
        let missing = |output: &OutputSpec| {
            let written = &self.result.written[output.buffer];
            let bytes = output.element.bytes() as usize;
            let is_missing = |&offset: &u64| {
                let start = usize::try_from(offset).unwrap_or(usize::MAX).saturating_mul(bytes);
                let element = written.get(start..start.saturating_add(bytes));
                element.is_none_or(|element| element.contains(&false))
            };
            let mut absent = output.offsets().filter(is_missing);
            let first = absent.next()?;
            let (count, all) = (absent.count() + 1, output.offsets().count());
            let name = &output.name;
            Some(format!(
                "output `{name}`: {count} of {all} elements are never written, `{name}[{first}]` first"
            ))
        };
        self.built.outputs.iter().filter_map(missing).collect()
    }
}
