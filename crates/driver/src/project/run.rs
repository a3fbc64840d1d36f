//! Runs the entries of a project (`warpproof.toml`) in parallel, applies its allowances, and collects reports and the
//! exit status. A panic in one entry is reported as a bug, and does not stop the others.

use super::{
    Allowance, Date, Entry, FormulaText, Project, Require, Settings, Step, Target, Task, allow,
    sizes, table,
};
use crate::arguments::KernelPath;
use crate::cuda::CompileOptions;
use crate::report::{self, Report};
use crate::verdict::Verdict;
use crate::{
    Colour, Execution, Exit, Format, Input, InputError, Limits, Outcome, Watch, check, equiv,
    escape, render,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use thiserror::Error;

/// The most entries that run at once, even if the user requests more.
const MAX_JOBS: usize = 256;

/// Options of a run of a project.
pub struct RunOptions<'o> {
    /// Entries to run: those with one of these names, or one of them followed by `[`. Empty for all.
    pub names: &'o [String],
    /// The number of parallel jobs; zero for one per processor.
    pub jobs: usize,
    /// The date that allowances are compared with.
    pub today: Date,
    /// The format of results.
    pub format: Format,
    /// Neither read nor write the caches of compiled code and proofs.
    pub without_cache: bool,
    /// The colour of text.
    pub colour: Colour,
    /// Add the data for pictures to reports.
    pub pictures: bool,
    /// Observes the runs and may cancel them.
    pub watch: Option<&'static Watch>,
    /// Called for every finished entry.
    pub progress: &'o (dyn Fn(&Progress<'_>) + Sync),
}

/// The progress of a run.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'p> {
    /// Finished entries, this one included.
    pub done: usize,
    /// Number of all entries.
    pub all: usize,
    /// The finished entry.
    pub name: &'p str,
    /// Its result.
    pub result: &'static str,
}

/// The result of an entry.
pub(super) struct EntryResult {
    pub(super) name: String,
    pub(super) status: Status,
    /// Text for people, if there is more to say than the verdict.
    pub(super) text: String,
    pub(super) report: Option<Report>,
}

/// The status of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    Proved,
    /// Refuted, with an allowance for every finding.
    Allowed,
    /// Unknown, and accepted as such.
    Accepted,
    Unknown,
    Refuted,
    BadInput,
    Bug,
}

impl Status {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Proved => "proved",
            Self::Allowed => "allowed",
            Self::Accepted | Self::Unknown => "unknown",
            Self::Refuted => "refuted",
            Self::BadInput => "bad input",
            Self::Bug => "bug",
        }
    }

    fn exit(self) -> Exit {
        match self {
            Self::Proved | Self::Allowed | Self::Accepted => Exit::Success,
            Self::Unknown => Exit::Unknown,
            Self::Refuted => Exit::Refuted,
            Self::BadInput => Exit::BadInput,
            Self::Bug => Exit::Bug,
        }
    }
}

/// Runs a project and gives the reports of its entries as well.
#[must_use]
pub fn run_each(project: &Project, options: &RunOptions<'_>) -> (Outcome, Vec<Report>) {
    let entries = match selected(project, options.names) {
        Ok(entries) => entries,
        Err(error) => return (Outcome::bad_input(&error.to_string()), Vec::new()),
    };
    let mut all = in_parallel(&entries, &project.folder, options);
    let mut used = vec![false; project.allowances.len()];
    for (done, entry) in all.iter_mut().zip(&entries) {
        if let Some(report) = &mut done.report {
            allow::apply(report, &project.allowances, options.today, &mut used);
            if !matches!(done.status, Status::BadInput | Status::Bug) {
                done.status = status(report, entry.settings.require);
                report.accepts_unknown = done.status == Status::Accepted;
            }
        }
    }
    // Unused allowances are known only after a full run.
    let stale = if options.names.is_empty() {
        unused_allowances(project, &used, options.today)
    } else {
        String::new()
    };
    let exit = exit_status(&all);
    let thread_instructions =
        all.iter().filter_map(|done| done.report.as_ref()).map(Report::thread_instructions).sum();
    let reports: Vec<Report> = all.iter_mut().filter_map(|done| done.report.clone()).collect();
    let (output, messages) = match render::render_all("run", &reports, options.format) {
        Some(output) => (output, stale),
        None => (table::text(&all, options.colour), stale),
    };
    (Outcome { output, messages, exit, thread_instructions, report: None }, reports)
}

/// The error for a requested name that no entry has.
#[derive(Debug, Error)]
#[error("no entry is called `{name}`{} There are: {}", question(.meant), .known.join(", "))]
struct UnknownEntry {
    name: String,
    /// An entry with nearly that name.
    meant: Option<String>,
    known: Vec<String>,
}

fn question(meant: &Option<String>) -> String {
    meant.as_ref().map_or_else(String::new, |meant| format!("; did you mean `{meant}`?"))
}

/// Returns the entries that the names select, all if there are none.
fn selected<'p>(project: &'p Project, names: &[String]) -> Result<Vec<&'p Entry>, UnknownEntry> {
    let has_name = |entry: &Entry, name: &String| {
        let rest = entry.name.strip_prefix(name.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('['))
    };
    for name in names {
        if !project.entries.iter().any(|entry| has_name(entry, name)) {
            let known: Vec<&str> =
                project.entries.iter().map(|entry| entry.name.as_str()).collect();
            let meant = crate::arguments::closest(name, known.iter().copied());
            return Err(UnknownEntry {
                name: name.clone(),
                meant: meant.map(str::to_owned),
                known: known.iter().map(|&one| one.to_owned()).collect(),
            });
        }
    }
    let meant = |entry: &&Entry| names.is_empty() || names.iter().any(|name| has_name(entry, name));
    Ok(project.entries.iter().filter(meant).collect())
}

/// Runs entries in parallel; returns the results in the order of the entries.
fn in_parallel(entries: &[&Entry], folder: &Path, options: &RunOptions<'_>) -> Vec<EntryResult> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = if options.jobs == 0 { processors } else { options.jobs };
    let (next, finished) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let results: Mutex<Vec<(usize, EntryResult)>> = Mutex::new(Vec::new());
    let work = || {
        loop {
            let position = next.fetch_add(1, Ordering::Relaxed);
            let Some(entry) = entries.get(position) else { break };
            let entry_result = run_entry(entry, folder, options);
            let progress = Progress {
                done: finished.fetch_add(1, Ordering::Relaxed) + 1,
                all: entries.len(),
                name: &entry.name,
                result: entry_result.status.name(),
            };
            (options.progress)(&progress);
            results
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner)
                .push((position, entry_result));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..jobs.min(entries.len()).min(MAX_JOBS) {
            // With fewer threads the others do more.
            let _ = std::thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    let mut results = results.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    results.sort_by_key(|(position, _)| *position);
    results.into_iter().map(|(_, entry_result)| entry_result).collect()
}

/// Runs one entry. A panic in it does not stop the others.
fn run_entry(entry: &Entry, folder: &Path, options: &RunOptions<'_>) -> EntryResult {
    let name = entry.name.clone();
    match catch_unwind(AssertUnwindSafe(|| execute(entry, folder, options))) {
        Ok(Ok(outcome)) => {
            let Outcome { output, messages, mut report, exit, .. } = outcome;
            if let Some(report) = &mut report {
                report.name = Some(name.clone());
            }
            let status = match exit {
                Exit::Success => Status::Proved,
                Exit::Refuted => Status::Refuted,
                Exit::BadInput => Status::BadInput,
                Exit::Unknown => Status::Unknown,
                Exit::Bug => Status::Bug,
            };
            EntryResult { name, status, text: format!("{messages}{output}"), report }
        }
        Ok(Err(error)) => {
            let message = error.to_string();
            let report = Some(unreadable(entry, &message));
            let text = format!("error: {}\n", escape::plain(&message));
            EntryResult { name, status: Status::BadInput, text, report }
        }
        Err(_) => {
            let message = "this is a bug in warpproof, not in your kernel";
            let report = Some(unreadable(entry, message));
            EntryResult { name, status: Status::Bug, text: format!("error: {message}\n"), report }
        }
    }
}

/// Builds a report on unreadable input, so that JSON and SARIF contain the error too.
fn unreadable(entry: &Entry, message: &str) -> Report {
    let (command, target) = match &entry.task {
        Task::Check(target) => ("check", Some(&**target)),
        Task::Equiv([_, optimised], _) => {
            let last = optimised.last().and_then(|step| match step {
                Step::Launch(target) => Some(&**target),
                Step::Formula(_) => None,
            });
            ("equiv", last)
        }
        Task::ForAllSizes(of) => return sizes::unreadable(of, &entry.name, message),
    };
    let file = target.map_or("", |target| target.kernel.file.as_str());
    let mut report = report::unreadable(command, file, message);
    report.name = Some(entry.name.clone());
    report
}

fn execution<'r>(target: &'r Target, input: &'r Input, limits: Limits) -> Execution<'r> {
    Execution {
        input,
        kernel: target.kernel.kernel.as_deref(),
        launch: &target.launch,
        arguments: &target.arguments,
        limits,
    }
}

fn execute(entry: &Entry, folder: &Path, options: &RunOptions<'_>) -> Result<Outcome, InputError> {
    let Settings { strict, warp_synchronous, snap, allow, limits, .. } = entry.settings;
    let (limits, colour) = (Limits { watch: options.watch, ..limits }.started(), options.colour);
    let mut compile = CompileOptions::default();
    compile.includes.clone_from(&entry.settings.includes);
    compile.environment = compile.environment.without_cache(options.without_cache);
    compile.project = Some(folder.to_path_buf());
    entry.settings.architecture.iter().for_each(|name| compile.architecture.clone_from(name));
    let read = |target: &Target| {
        let KernelPath { file, kernel } = &target.kernel;
        Input::open(file.as_ref(), kernel.as_deref(), &compile)
    };
    match &entry.task {
        Task::Check(target) => {
            let input = read(target)?;
            let pictures = options.pictures;
            let usual = check::Options::default();
            let options = check::Options { strict, warp_synchronous, allow, pictures, ..usual };
            Ok(check::run(&execution(target, &input, limits), options, colour))
        }
        Task::ForAllSizes(of) => sizes::execute(of, &entry.settings, compile, options),
        Task::Equiv(sides, compared) => {
            let pictures = options.pictures;
            let options = equiv::Options {
                snap,
                strict,
                allow,
                pictures,
                assumptions: &compared.assumptions,
                parts: &compared.parts,
                recheck: false,
            };
            let mut inputs = [Vec::new(), Vec::new()];
            for (inputs, steps) in inputs.iter_mut().zip(sides) {
                for step in steps {
                    inputs.push(match step {
                        Step::Launch(target) => read(target)?,
                        Step::Formula(formula) => Input::of_formula(&formula.text)?,
                    });
                }
            }
            let [reference, optimised] = [0, 1].map(|number| {
                let steps = sides[number].iter().zip(&inputs[number]);
                let steps = steps.map(|(step, input)| match step {
                    Step::Launch(target) => equiv::Step::Launch(execution(target, input, limits)),
                    Step::Formula(FormulaText { arguments, .. }) => {
                        equiv::Step::Formula(equiv::FormulaStep { input, arguments, limits })
                    }
                });
                steps.collect::<Vec<_>>()
            });
            Ok(equiv::run_steps([&reference, &optimised], &options, colour))
        }
    }
}

/// The status of a report, once allowances are applied.
fn status(report: &Report, require: Require) -> Status {
    if report.errors().next().is_some() {
        return Status::Refuted;
    }
    let open = report.properties.iter().any(|property| property.verdict == Verdict::Unknown);
    let open = open || report.properties.is_empty();
    match (open, report.verdict) {
        (true, _) if require == Require::NotRefuted => Status::Accepted,
        (true, _) => Status::Unknown,
        (false, Verdict::Refuted) => Status::Allowed,
        (false, Verdict::Proved) => Status::Proved,
        (false, Verdict::Unknown) => Status::Unknown,
    }
}

/// Warns of allowances that have expired or that match no finding.
fn unused_allowances(project: &Project, used: &[bool], today: Date) -> String {
    let warnings = project.allowances.iter().zip(used).filter_map(|(one, used)| {
        let Allowance { expires, .. } = one;
        match (used, today < *expires) {
            (true, true) => None,
            (true, false) => {
                Some(format!("warning: the allowance of {} expired on {expires}\n", one.name()))
            }
            (false, _) => Some(format!("warning: no finding matches [[allow]] {}\n", one.name())),
        }
    });
    warnings.collect()
}

/// The exit status of the whole run. A refuted entry takes precedence, and a run without any check does not succeed.
fn exit_status(all: &[EntryResult]) -> Exit {
    let ranked = [Exit::Bug, Exit::Refuted, Exit::BadInput, Exit::Unknown];
    let is = |exit: &Exit| all.iter().any(|done| done.status.exit() == *exit);
    match ranked.iter().find(|exit| is(exit)) {
        Some(exit) => *exit,
        None if all.is_empty() => Exit::Unknown,
        None => Exit::Success,
    }
}
