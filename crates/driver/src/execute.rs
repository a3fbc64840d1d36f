//! Code shared by `check` and `simulate`: turns a request into a run, and a run into a report.

use crate::allow::Allow;
use crate::arguments::{
    ArgumentSpec, Arguments, BuildError, BuiltLaunch, ByteCount, Invocation, LaunchSpec,
    MissingData, Request, build_launch, declared,
};
use crate::cluster_findings::missing_cluster;
use crate::coverage::{Coverage, Programs, coverage};
use crate::grouping::{Group, grouped};
use crate::hints::HintSearch;
use crate::pipelines;
use crate::precision::Kernel;
pub(crate) use crate::prepared::PreparedLaunch;
use crate::race_groups::distinct;
use crate::report::Pipeline;
use crate::sync_findings::{self, is_note};
use crate::unwritten::{Unwritten, unwritten};
use crate::{
    Colour, Exit, Format, Input, Limits, Outcome, diagnostics, findings, inspect, sources, wmma,
};
use base::{Diagnostic, Severity};
use exec::{Checks, Doubt, Doubtful, Fault};
use ir::Program;
use ptx::Lowered;
use std::cell::OnceCell;
use std::collections::BTreeSet;

/// A kernel and how to launch it.
#[derive(Clone, Copy, Debug)]
pub struct Execution<'r> {
    /// The module with the kernel.
    pub input: &'r Input,
    /// The kernel's name, if the module has several.
    pub kernel: Option<&'r str>,
    /// The launch flags.
    pub launch: &'r LaunchSpec,
    /// The arguments.
    pub arguments: &'r Arguments,
    /// The budget of a run.
    pub limits: Limits,
}

/// A run and everything its report needs.
pub(crate) struct FinishedRun<'r> {
    input: &'r Input,
    lowered: Lowered,
    /// The program before it was lifted, if it was.
    unlifted: Option<Program>,
    pub(crate) built: BuiltLaunch,
    /// Assumptions of lifting and of further runs.
    pub(crate) lifting: BTreeSet<String>,
    pub(crate) result: exec::Outcome,
    /// Outputs with elements that were never written. Empty if the run did not end or left out blocks.
    pub(crate) unwritten: Vec<Unwritten>,
    /// Report the notes about code that the manual does not allow as errors.
    pub(crate) strict: bool,
    /// Racing threads are proved to write equal real numbers; equality bit for bit is open.
    pub(crate) equal_as_reals: bool,
    /// The findings that the user accepts.
    pub(crate) allow: Allow,
    /// The checks that were on in this run.
    pub(crate) checks: Checks,
    /// The budget of the run, and of the runs that try out hints.
    limits: Limits,
    /// All outputs are set, even where an access happens only under a condition.
    pub(crate) all_set: bool,
    /// The part of the kernel that another run executed, if that is more than this one did.
    pub(crate) seen: Option<Coverage>,
    /// The program was compiled from a formula, not from a kernel.
    pub(crate) is_formula: bool,
    /// An HTML report is requested: keep the data for its pictures.
    pub(crate) pictures: bool,
    /// A hint for each group of findings. Computed once, because each hint is tried in a run.
    hints: OnceCell<Vec<Option<String>>>,
}

/// A diagnostic; with its group of findings, unless it is about an open question.
pub(crate) struct Reported<'f> {
    pub(crate) group: Option<Group<'f>>,
    pub(crate) diagnostic: Diagnostic,
}

/// The reason why there was no run.
pub(crate) enum Refusal {
    /// The module has errors.
    Module(Vec<Diagnostic>),
    /// The arguments do not fit, or no GPU accepts the launch.
    Launch(BuildError),
}

impl<'r> PreparedLaunch<'r> {
    /// Combines the prepared launch with the outcome of its run.
    pub(crate) fn finish(self, mut result: exec::Outcome, checks: Checks) -> FinishedRun<'r> {
        let Self { input, lowered, unlifted, built, lifting, limits, is_formula, literals: _ } =
            self;
        let unwritten = unwritten(&built, &result, None);
        let program = &lowered.program;
        let (function, source) = (built.launch.kernel, &input.source);
        let kernel = Kernel { program, function, source, is_formula };
        result
            .doubts
            .retain(|doubt| !is_open_copy(doubt) || !wmma::copies_are_loaded(kernel, doubt.place));
        FinishedRun {
            input,
            lowered,
            unlifted,
            built,
            lifting,
            result,
            unwritten,
            strict: false,
            equal_as_reals: false,
            allow: Allow::default(),
            checks,
            limits,
            all_set: false,
            seen: None,
            is_formula,
            pictures: false,
            hints: OnceCell::new(),
        }
    }
}

/// Builds the launch and runs it.
pub(crate) fn run<'r>(
    execution: &Execution<'r>,
    command: &str,
    missing_data: MissingData,
    checks: Checks,
) -> Result<FinishedRun<'r>, Refusal> {
    let prepared = prepare(execution, &[], command, missing_data)?.without_relations();
    let (program, launch) = (prepared.program(), &prepared.built.launch);
    let result = match missing_data {
        // A result of `check` must hold for all contents, and so for all schedules.
        MissingData::Opaque => check_launch(program, launch, execution.limits, checks),
        MissingData::Refused => exec::run(program, launch, execution.limits),
    };
    Ok(prepared.finish(result, checks))
}

/// Checks a launch. If the only faults are races between reads, also checks if anything depends on the values read.
pub(crate) fn check_launch(
    program: &Program,
    launch: &exec::Launch,
    limits: Limits,
    checks: Checks,
) -> exec::Outcome {
    let outcome = exec::check_with(program, launch, limits, checks);
    exec::follow_racing_reads(program, launch, limits, checks, outcome)
}

/// Builds the launch.
pub(crate) fn prepare<'r>(
    execution: &Execution<'r>,
    others: &[ArgumentSpec],
    command: &str,
    missing_data: MissingData,
) -> Result<PreparedLaunch<'r>, Refusal> {
    let input = execution.input;
    let lowered = sources::lower(&input.source).map_err(Refusal::Module)?;
    let program = &lowered.program;
    let kernel = input.select(program, execution.kernel).map_err(|error| {
        Refusal::Launch(BuildError { input: vec![error.to_string()], ..BuildError::default() })
    })?;
    let (launch, note) = with_facts(execution);
    let function = &program.functions[kernel];
    let built = build_launch(&Request {
        program,
        kernel,
        launch: &launch,
        arguments: execution.arguments,
        declared: &declared(&function.name, function.params.len(), input.cuda()),
        others,
        missing_data,
        invocation: Invocation { command, file: input.name() },
    });
    let mut built = built.map_err(Refusal::Launch)?;
    built.notes.extend(note);
    built.notes.extend(input.note().map(str::to_owned));
    built.notes.extend(input.dispatch_note(&function.name, execution.kernel));
    let (unlifted, lifting, limits) = (None, BTreeSet::new(), execution.limits);
    let (is_formula, literals) = (false, Vec::new());
    Ok(PreparedLaunch { input, lowered, unlifted, built, lifting, limits, is_formula, literals })
}

/// Returns the launch. Files next to the PTX supply facts that the user did not give.
fn with_facts(execution: &Execution<'_>) -> (LaunchSpec, Option<String>) {
    let mut launch = execution.launch.clone();
    let facts = execution.input.facts();
    match (launch.shared, facts.shared) {
        (None, Some(bytes)) if bytes > 0 => {
            launch.shared = Some(ByteCount(bytes));
            let note = format!("{bytes} bytes of dynamic shared memory, as `{}` says", facts.file);
            (launch, Some(note))
        }
        _ => (launch, None),
    }
}

/// Returns `true` if a doubt is about copies of an element in a matrix fragment that the run did not compare.
fn is_open_copy(doubt: &Doubt) -> bool {
    matches!(doubt.about, Doubtful::Copies { differ: false })
}

pub(crate) fn is_race(fault: &Fault) -> bool {
    matches!(fault, Fault::Race(_)) && !fault.is_note()
}

impl Refusal {
    /// The command line to fill in, if there is one.
    pub(crate) fn suggestion(&mut self) -> Option<&mut String> {
        match self {
            Self::Launch(error) => error.suggestion.as_mut(),
            Self::Module(_) => None,
        }
    }

    /// Formats the refusal as text.
    pub(crate) fn outcome(&self, input: &Input, colour: Colour) -> Outcome {
        let error = match self {
            Self::Module(errors) => return inspect::refuse(input, errors, Format::Text, colour),
            Self::Launch(error) => error,
        };
        let mut messages = String::new();
        for line in error.input.iter().chain(&error.launch) {
            messages.push_str(&format!("error: {line}\n"));
        }
        if let Some(suggestion) = &error.suggestion {
            messages.push_str(&format!("help: fill in each `?`:\n  {suggestion}\n"));
        }
        let exit = if error.input.is_empty() { Exit::Refuted } else { Exit::BadInput };
        Outcome { output: String::new(), messages, exit, thread_instructions: 0, report: None }
    }
}

/// Returns the launch of a side that wrote an output last.
pub(crate) fn last_writer<'f, 'r>(
    side: &'f [FinishedRun<'r>],
    output: &str,
) -> Option<&'f FinishedRun<'r>> {
    side.iter().rev().find(|one| one.built.outputs.iter().any(|spec| spec.name == output))
}

impl FinishedRun<'_> {
    pub(crate) fn program(&self) -> &Program {
        &self.lowered.program
    }

    /// The program as it was before it was lifted.
    pub(crate) fn original(&self) -> &Program {
        self.unlifted.as_ref().unwrap_or_else(|| self.program())
    }

    /// The budget of the run.
    pub(crate) fn limits(&self) -> Limits {
        self.limits
    }

    pub(crate) fn input(&self) -> &Input {
        self.input
    }

    pub(crate) fn source(&self) -> &base::SourceFile {
        &self.input.source
    }

    /// The part of the kernel that this run and others of the same kernel executed.
    pub(crate) fn coverage(&self, others: &[&Self]) -> Coverage {
        if let (Some(seen), []) = (&self.seen, others) {
            return seen.clone();
        }
        let ran = self.program();
        let original = self.original();
        let runs = std::iter::once(self).chain(others.iter().copied());
        let executed = runs.flat_map(|run| run.result.executed.iter().copied()).collect();
        let kernel = self.built.launch.kernel;
        coverage(Programs { original, ran, kernel }, &executed, self.source())
    }

    /// Returns `true` if the other run is one of the same kernel.
    pub(crate) fn is_of_same_kernel(&self, other: &Self) -> bool {
        let text = |one: &Self| (one.built.launch.kernel, one.source().text().len());
        text(self) == text(other) && self.source().text() == other.source().text()
    }

    /// The kernel that ran, as text.
    pub(crate) fn kernel(&self) -> Kernel<'_> {
        let function = self.built.launch.kernel;
        let (program, source, is_formula) = (self.program(), self.source(), self.is_formula);
        Kernel { program, function, source, is_formula }
    }

    /// Runs the first block once more to record uses of its barriers. Nothing else of that run is kept:
    /// the format of a report must not decide the findings.
    pub(crate) fn gather_barrier_uses(&mut self, limits: Limits) {
        let uses = exec::sync_uses(self.program(), &self.built.launch, limits, self.checks);
        (self.result.barrier_uses, self.result.mbarrier_uses) = (uses.barriers, uses.mbarriers);
    }

    /// Returns the mbarriers of the first block over time, if they were recorded.
    pub(crate) fn pipelines(&self) -> Vec<Pipeline> {
        let text = (self.program(), self.source());
        pipelines::of_run(&self.result.mbarrier_uses, &self.result.findings, text)
    }

    /// Returns `true` if there are copies of elements that may differ and were not compared.
    pub(crate) fn has_open_copies(&self) -> bool {
        self.result.doubts.iter().any(is_open_copy)
    }

    /// Replaces the open doubts about copies of elements by the results of a run on values.
    pub(crate) fn settle_copies(&mut self, found: &[Doubt]) {
        self.lifting.insert(
            "if a wmma fragment holds several copies of an element, they are compared as real numbers, \
            without rounding"
                .to_owned(),
        );
        let mut settled: Vec<Doubt> = Vec::new();
        for doubt in std::mem::take(&mut self.result.doubts) {
            match is_open_copy(&doubt) {
                true => {
                    settled.extend(found.iter().filter(|one| one.place == doubt.place).cloned())
                }
                false => settled.push(doubt),
            }
        }
        for doubt in settled {
            let is_known = |one: &Doubt| (one.about, one.place) == (doubt.about, doubt.place);
            if !self.result.doubts.iter().any(is_known) {
                self.result.doubts.push(doubt);
            }
        }
    }

    /// Assumptions and oddities, for standard error.
    pub(crate) fn notes(&self) -> String {
        let line = |note: &String| match note.starts_with("warning: ") {
            true => format!("{note}\n"),
            false => format!("note: {note}\n"),
        };
        self.built.notes.iter().map(line).collect()
    }

    /// Groups faults the way a reader counts them.
    pub(crate) fn groups(&self) -> Vec<Group<'_>> {
        let mut groups = grouped(&self.result.findings, self.program());
        // Races first: other faults may follow from them.
        groups.sort_by_key(|group| !is_race(&group.first.fault));
        groups
    }

    /// The place where the run stopped, if it did.
    pub(crate) fn stopped(&self) -> Option<Diagnostic> {
        let gap = self.result.gap.as_ref().filter(|gap| !self.is_explained(gap))?;
        let diagnostic = findings::gap(gap, self.program(), self.source());
        // An error before it has the advice.
        let is_first = self.result.findings.iter().all(|finding| finding.fault.is_note());
        Some(match self.missing_cluster() {
            Some(help) if is_first && diagnostic.help.is_none() => diagnostic.help(help),
            _ => diagnostic,
        })
    }

    /// Diagnostics of faults, then of accesses that may race.
    pub(crate) fn reported(&self) -> Vec<Reported<'_>> {
        let (program, groups) = (self.program(), self.groups());
        let any_race = groups.iter().any(|group| is_race(&group.first.fault));
        let hints = self.hints.get_or_init(|| {
            let (launch, options) = (&self.built.launch, (self.limits, self.checks));
            let mut trials = HintSearch::new(program, launch, &self.result, options);
            groups.iter().map(|group| trials.hint(group)).collect()
        });
        let faults = groups.into_iter().zip(hints).map(|(group, hint)| {
            let mut diagnostic = findings::diagnostic(&group, program, self.strict);
            if any_race && matches!(group.first.fault, Fault::Undefined { .. }) {
                diagnostic = diagnostic.note("this may be a consequence of a race");
            } else if let Some(hint) = hint {
                diagnostic = diagnostic.help(hint.as_str());
            }
            Reported { group: Some(group), diagnostic }
        });
        let open = self.open().map(|diagnostic| Reported { group: None, diagnostic });
        let mut reported: Vec<Reported<'_>> = faults.chain(open).collect();
        self.advise_clusters(&mut reported);
        reported
    }

    /// Advice about clusters for a launch without them.
    fn missing_cluster(&self) -> Option<String> {
        missing_cluster(&self.kernel(), &self.built.launch)
    }

    /// Adds that advice to the first error without other advice.
    fn advise_clusters(&self, reported: &mut [Reported<'_>]) {
        let mut all = reported.iter_mut().map(|one| &mut one.diagnostic);
        let first = all.find(|one| one.severity == Severity::Error && one.help.is_none());
        if let Some((first, help)) = first.zip(self.missing_cluster()) {
            first.help = Some(help.into());
        }
    }

    /// Formats the results as text: faults and the place where the run stopped.
    pub(crate) fn messages(&self, colour: Colour) -> String {
        let mut text = String::new();
        let reported = self.reported().into_iter().map(|reported| reported.diagnostic);
        for diagnostic in reported.chain(self.stopped()) {
            text.push_str(&diagnostics::render(&diagnostic, self.input, colour));
            text.push_str("\n\n");
        }
        if self.result.dropped_findings > 0 {
            text.push_str(&format!("note: {} more findings\n", self.result.dropped_findings));
        }
        if !self.result.prints.is_empty() {
            text.push_str("note: the output of the kernel's printf is not shown\n");
        }
        let code = base::Code::UnwrittenOutput;
        let lines = self.unwritten.iter().map(|one| format!("error[{code}]: {}\n", one.sentence));
        text.extend(lines);
        text
    }

    /// Diagnostics of accesses that may race.
    pub(crate) fn open(&self) -> impl Iterator<Item = Diagnostic> {
        let open = distinct(&self.result.undecided, self.program()).into_iter();
        open.map(|open| sync_findings::undecided(open, self.program()))
    }

    /// Returns `true` if a finding already explains why the run stopped.
    fn is_explained(&self, gap: &exec::Gap) -> bool {
        let stops = |fault: &Fault| {
            matches!(fault, Fault::Deadlock { .. } | Fault::Barrier(_) | Fault::Trap)
                || matches!(fault, Fault::Mbarrier(_) | Fault::AssertFailed)
        };
        self.result.findings.iter().any(|f| stops(&f.fault) && f.place == gap.place)
    }

    /// Findings that are errors.
    pub(crate) fn errors(&self) -> impl Iterator<Item = &exec::Finding> {
        self.result.findings.iter().filter(|finding| !is_note(&finding.fault, self.strict))
    }

    /// Returns `true` if anything is wrong.
    pub(crate) fn is_refuted(&self) -> bool {
        self.errors().next().is_some() || !self.unwritten.is_empty()
    }

    /// The exit code: refuted if anything is wrong, unknown if the run did not end or its results are
    /// not determined.
    pub(crate) fn exit(&self) -> Exit {
        let undetermined = |doubt: &Doubt| {
            matches!(doubt.about, Doubtful::Undetermined { .. } | Doubtful::Divisor(_))
        };
        let open = self.result.gap.is_some() || self.result.doubts.iter().any(undetermined);
        match (self.is_refuted(), open) {
            (true, _) => Exit::Refuted,
            (false, true) => Exit::Unknown,
            (false, false) => Exit::Success,
        }
    }

    /// The number of blocks that ran: `2 blocks`, or `1 of 8 blocks`.
    pub(crate) fn blocks(&self) -> String {
        let (ran, all) = (self.result.blocks, self.built.launch.blocks());
        let count = if self.built.launch.is_partial() { all } else { ran };
        let plural = if count == 1 { "" } else { "s" };
        match self.built.launch.is_partial() {
            true => format!("{ran} of {all} block{plural}"),
            false => format!("{ran} block{plural}"),
        }
    }
}
