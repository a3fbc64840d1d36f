//! Entries for all sizes: `[[prove]]`, and `[[equiv]]` with `for-all-sizes = true`. They have no launch;
//! preconditions on launches come from the files and from `requires`.
//!
//! A project names neither a compiler nor a solver: z3 and NVRTC are those of the user's own settings.

use super::matrix::{Values, combinations, entry_name};
use super::read::{Reader, short};
use super::run::RunOptions;
use super::value::{Raw, Table, assignments, texts};
use super::{Entry, ForAllSizes, Settings, Task};
use crate::arguments::KernelPath;
use crate::cuda::CompileOptions;
use crate::prove::reading::Reading;
use crate::prove::{self, Compiling, Contract, Correspondence};
use crate::render::escape::on_one_line;
use crate::report::{self, Report};
use crate::{Format, Input, InputError, Outcome};
use std::ops::Range;
use std::str::FromStr;
use std::time::Duration;
use toml::de::DeTable;

/// The time limit of an entry that states none.
const PROOF_TIME: Duration = Duration::from_secs(600);

/// Keys of `[[prove]]`.
pub(super) const PROVE: &[&str] =
    &["name", "kernel", "matrix", "define", "compare", "ensures", "args", "requires"];
/// Keys of `[[equiv]]` for all sizes.
pub(super) const EQUIV: &[&str] = &[
    "name",
    "reference",
    "optimised",
    "for-all-sizes",
    "matrix",
    "define",
    "compare",
    "map",
    "same-launch",
    "requires",
];
/// Settings that apply to these entries.
pub(super) const SETTINGS: &[&str] = &["strict", "timeout", "require", "arch", "include"];

/// Returns `true` for an `[[equiv]]` that is for all sizes.
pub(super) fn is_for_all_sizes(table: &DeTable<'_>) -> bool {
    table.get("for-all-sizes").is_some_and(|value| value.get_ref().as_bool() != Some(false))
}

impl Reader<'_> {
    pub(super) fn prove(
        &mut self,
        table: &DeTable<'_>,
        span: Range<usize>,
        defaults: Option<&Table<'_, '_>>,
    ) -> Vec<Entry> {
        let known = [PROVE, SETTINGS].concat();
        let table = Table::new(table, span, &known, &mut self.problems);
        let kernels = [self.required(&table, "kernel")];
        self.for_all(&table, defaults, &kernels)
    }

    pub(super) fn equiv_for_all(
        &mut self,
        table: &DeTable<'_>,
        span: Range<usize>,
        defaults: Option<&Table<'_, '_>>,
    ) -> Vec<Entry> {
        let known = [EQUIV, SETTINGS].concat();
        let table = Table::new(table, span, &known, &mut self.problems);
        table.flag("for-all-sizes", &mut self.problems);
        let kernels = [self.required(&table, "reference"), self.required(&table, "optimised")];
        self.for_all(&table, defaults, &kernels)
    }

    fn for_all(
        &mut self,
        table: &Table<'_, '_>,
        defaults: Option<&Table<'_, '_>>,
        kernels: &[Option<Raw>],
    ) -> Vec<Entry> {
        let settings = self.settings(table, defaults);
        let name = table.text("name", &mut self.problems);
        let name = name.map(|name| on_one_line(&name.text).into_owned());
        let compares = table.flag("compare", &mut self.problems).unwrap_or(true);
        let same_launch = table.flag("same-launch", &mut self.problems).unwrap_or(false);
        let mut list = |key: &str| {
            table.get(key).map(|value| texts(value, &mut self.problems)).unwrap_or_default()
        };
        let (defines, requires, map) = (list("define"), list("requires"), list("map"));
        let ensures = table.text("ensures", &mut self.problems);
        let arguments = table.get("args");
        let arguments = arguments.map(|value| assignments("args", value, &mut self.problems));
        let names: Vec<(String, String)> = map.iter().filter_map(|raw| self.pair(raw)).collect();
        let mut entries = Vec::new();
        for values in combinations(table.get("matrix"), &mut self.problems) {
            let before = self.problems.len();
            let paths: Vec<KernelPath> =
                kernels.iter().flatten().filter_map(|raw| self.path(raw, &values)).collect();
            let defines = self.filled_all(&defines, &values);
            let requires = self.filled_all(&requires, &values);
            let arguments = self.filled_all(arguments.as_deref().unwrap_or_default(), &values);
            let ensures = ensures.as_ref().and_then(|raw| self.formula(raw, &values));
            if paths.len() < kernels.len() || self.problems.len() > before {
                break;
            }
            let name = name
                .clone()
                .unwrap_or_else(|| paths.iter().map(short).collect::<Vec<_>>().join("="));
            let correspondence = Correspondence { names: names.clone(), same_launch, requires };
            let entry = ForAllSizes {
                kernels: paths,
                defines,
                compares,
                correspondence,
                ensures,
                arguments,
            };
            let task = Task::ForAllSizes(Box::new(entry));
            entries.push(Entry {
                name: entry_name(&name, &values),
                task,
                settings: settings.clone(),
            });
        }
        entries
    }

    fn path(&mut self, raw: &Raw, values: &Values) -> Option<KernelPath> {
        let text = self.filled(raw, values)?;
        let mut path = KernelPath::from_str(&text).ok()?;
        path.file = self.folder.join(&path.file).display().to_string();
        Some(path)
    }

    fn filled_all(&mut self, raws: &[Raw], values: &Values) -> Vec<String> {
        raws.iter().filter_map(|raw| self.filled(raw, values)).collect()
    }

    /// Parses a pair of names, such as `x=a`.
    fn pair(&mut self, raw: &Raw) -> Option<(String, String)> {
        let pair = raw.text.split_once('=').map(|(one, two)| (one.trim(), two.trim()));
        let pair = pair.filter(|(one, two)| !one.is_empty() && !two.is_empty());
        if pair.is_none() {
            self.problem(raw.span.clone(), "`map` needs a name of each kernel, as in \"x=a\"");
        }
        pair.map(|(one, two)| (one.to_owned(), two.to_owned()))
    }
}

/// Runs an entry.
pub(super) fn execute(
    entry: &ForAllSizes,
    settings: &Settings,
    compile: CompileOptions,
    run: &RunOptions<'_>,
) -> Result<Outcome, InputError> {
    let reading = Reading {
        defines: entry.defines.clone(),
        includes: compile.includes.clone(),
        arch: compile.architecture.clone(),
    };
    let contract = Contract {
        ensures: entry.ensures.as_deref().map(Input::of_formula).transpose()?,
        arguments: entry.arguments.clone(),
        requires: entry.correspondence.requires.clone(),
    };
    let contract = Some(&contract).filter(|one| entry.kernels.len() == 1 && !one.is_empty());
    let project = compile.project.clone();
    let cache = compile.environment.cache_folder();
    let compiling = Compiling { options: compile, defines: entry.defines.clone() };
    let options = |kernel| prove::Options {
        kernel,
        infers: true,
        solver: None,
        use_solver: true,
        second_solver: None,
        cache: cache.as_deref(),
        strict: settings.strict,
        time: settings.limits.time.or(Some(PROOF_TIME)),
        jobs: 1,
        watch: run.watch,
        compiling: entry.compares.then_some(&compiling),
        reading: &reading,
        contract,
        format: Format::Text,
    };
    let mut inputs = Vec::new();
    for KernelPath { file, .. } in &entry.kernels {
        let input = Input::read_cuda_of(file.as_ref(), project.as_deref());
        inputs.push(input?);
    }
    match (&inputs[..], &entry.kernels[..]) {
        ([input], [path]) => Ok(prove::run(input, options(path.kernel.as_deref()), run.colour)),
        ([reference, optimised], [one, two]) => {
            let names = [one, two].map(|path| path.kernel.as_deref());
            let inputs = [reference, optimised];
            Ok(prove::compare(inputs, names, &entry.correspondence, options(None), run.colour))
        }
        _ => Ok(Outcome::bad_input("one or two kernels are needed")),
    }
}

/// Builds a report on unreadable input, so that JSON and SARIF contain the error, too.
pub(super) fn unreadable(entry: &ForAllSizes, name: &str, message: &str) -> Report {
    let command = if entry.kernels.len() == 1 { "prove" } else { "equiv" };
    let file = entry.kernels.last().map_or("", |path| path.file.as_str());
    let mut report = report::unreadable(command, file, message);
    report.name = Some(name.to_owned());
    report
}
