//! Reads the text of a project file into its entries. Collects all errors.

use super::date::DateError;
use super::matrix::{Values, combinations, entry_name, substitute};
use super::sizes;
use super::value::{Problem, Raw, Table, assignments, refuse_controls, texts};
use super::{Allowance, Comparison, Date, Entry, Project, Require, Settings, Step, Target, Task};
use crate::allow::Allow;
use crate::arguments::{
    AliasSpec, ArgumentSpec, Arguments, BlockSelection, KernelPath, LaunchSpec, ParseError,
};
use crate::output::is_below;
use crate::render::escape::on_one_line;
use crate::{Limits, duration};
use base::{Code, SourceFile};
use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use std::str::FromStr;
use toml::de::{DeTable, DeValue};

const TOP: &[&str] = &["defaults", "check", "equiv", "prove", "allow"];
pub(super) const LAUNCH: &[&str] =
    &["grid", "block", "cluster", "smem", "blocks", "args", "alias", "symbols"];
const SETTINGS: &[&str] =
    &["strict", "timeout", "max-instructions", "require", "allow", "arch", "include"];
/// Settings that matter for entries of one kind only.
const OF_ONE_KIND: &[&str] = &["warp-synchronous", "snap"];
const CHECK: &[&str] = &["name", "kernel", "matrix", "warp-synchronous"];
const EQUIV: &[&str] = &[
    "name",
    "reference",
    "optimised",
    "matrix",
    "ref",
    "opt",
    "assume",
    "compare",
    "snap",
    "for-all-sizes",
];
pub(super) const SIDE: &[&str] = &["kernel", "formula"];
const ALLOW: &[&str] = &["code", "kernel", "at", "reason", "expires"];

/// The keys of each kind of table, for editors: the name of the table, and its keys.
#[must_use]
pub fn keys() -> Vec<(&'static str, Vec<&'static str>)> {
    let joined = |lists: &[&[&'static str]]| lists.concat();
    vec![
        ("file", joined(&[TOP])),
        ("defaults", joined(&[LAUNCH, SETTINGS, OF_ONE_KIND])),
        ("check", joined(&[CHECK, LAUNCH, SETTINGS])),
        ("equiv", concatenated(joined(&[EQUIV, LAUNCH, SETTINGS]), sizes::EQUIV)),
        ("prove", joined(&[sizes::PROVE, sizes::SETTINGS])),
        ("side", joined(&[LAUNCH])),
        ("launch", joined(&[SIDE, LAUNCH])),
        ("allow", joined(&[ALLOW])),
    ]
}

/// Keys of a table with two forms.
fn concatenated(mut one: Vec<&'static str>, other: &[&'static str]) -> Vec<&'static str> {
    let more = other.iter().filter(|key| !one.contains(key)).copied().collect::<Vec<_>>();
    one.extend(more);
    one
}

/// Reads a project; paths in it are relative to `folder`.
pub(super) fn project(source: &SourceFile, folder: &Path) -> Result<Project, Vec<Problem>> {
    let table = DeTable::parse(source.text()).map_err(|error| {
        let span = error.span().unwrap_or(0..0);
        vec![Problem::new(span, error.message().to_owned())]
    })?;
    let mut reader = Reader { folder, problems: Vec::new() };
    let (span, table) = (table.span(), table.get_ref());
    refuse_controls(table, &mut reader.problems);
    let table = Table::new(table, span, TOP, &mut reader.problems);
    let defaults = table.get("defaults").and_then(|value| {
        let found = value.get_ref().as_table();
        if found.is_none() {
            reader.problem(value.span(), "`defaults` must be a table: write [defaults]");
        }
        Some((found?, value.span()))
    });
    let known = [LAUNCH, SETTINGS, OF_ONE_KIND].concat();
    let defaults =
        defaults.map(|(table, span)| Table::new(table, span, &known, &mut reader.problems));
    // Entries of all kinds, in the order of the file.
    let mut entries = Vec::new();
    for (one, span) in table.tables("check", &mut reader.problems) {
        entries.push((span.start, reader.check(one, span, defaults.as_ref())));
    }
    for (one, span) in table.tables("equiv", &mut reader.problems) {
        entries.push((span.start, reader.equiv(one, span, defaults.as_ref())));
    }
    for (one, span) in table.tables("prove", &mut reader.problems) {
        entries.push((span.start, reader.prove(one, span, defaults.as_ref())));
    }
    entries.sort_by_key(|(start, _)| *start);
    let entries: Vec<Entry> = entries.into_iter().flat_map(|(_, entries)| entries).collect();
    let allow = table.tables("allow", &mut reader.problems);
    let allowances = allow.into_iter().filter_map(|(one, span)| reader.allow(one, span)).collect();
    reader.unique(&entries, table.span.clone());
    match reader.problems.is_empty() {
        true => Ok(Project { entries, allowances, folder: folder.to_path_buf() }),
        false => Err(reader.problems),
    }
}

/// Values of a launch as written, completed by those of outer tables.
#[derive(Clone, Default)]
pub(super) struct RawLaunch {
    grid: Option<Raw>,
    block: Option<Raw>,
    cluster: Option<Raw>,
    smem: Option<Raw>,
    blocks: Option<Raw>,
    pub(super) arguments: Option<Vec<Raw>>,
    aliases: Vec<Raw>,
    symbols: Vec<Raw>,
}

impl RawLaunch {
    /// Fills missing values from `outer`.
    pub(super) fn or(self, outer: &Self) -> Self {
        let or_all =
            |own: Vec<Raw>, outer: &Vec<Raw>| if own.is_empty() { outer.clone() } else { own };
        Self {
            grid: self.grid.or_else(|| outer.grid.clone()),
            block: self.block.or_else(|| outer.block.clone()),
            cluster: self.cluster.or_else(|| outer.cluster.clone()),
            smem: self.smem.or_else(|| outer.smem.clone()),
            blocks: self.blocks.or_else(|| outer.blocks.clone()),
            arguments: self.arguments.or_else(|| outer.arguments.clone()),
            aliases: or_all(self.aliases, &outer.aliases),
            symbols: or_all(self.symbols, &outer.symbols),
        }
    }
}

pub(super) struct Reader<'f> {
    pub(super) folder: &'f Path,
    pub(super) problems: Vec<Problem>,
}

impl Reader<'_> {
    pub(super) fn problem(&mut self, span: Range<usize>, message: impl Into<String>) {
        self.problems.push(Problem::new(span, message));
    }

    /// Names select entries, so they must be unique.
    fn unique(&mut self, entries: &[Entry], span: Range<usize>) {
        for (position, entry) in entries.iter().enumerate() {
            if entries[..position].iter().any(|other| other.name == entry.name) {
                self.problem(
                    span.start..span.start,
                    format!("two entries are called `{}`", entry.name),
                );
                return;
            }
        }
    }

    fn check(
        &mut self,
        table: &DeTable<'_>,
        span: Range<usize>,
        defaults: Option<&Table<'_, '_>>,
    ) -> Vec<Entry> {
        let known = [CHECK, LAUNCH, SETTINGS].concat();
        let table = Table::new(table, span, &known, &mut self.problems);
        let kernel = self.required(&table, "kernel");
        let launch = self.launch_with(&table, defaults);
        let settings = self.settings(&table, defaults);
        let name = table.text("name", &mut self.problems);
        let name = name.map(|name| on_one_line(&name.text).into_owned());
        let mut entries = Vec::new();
        for values in combinations(table.get("matrix"), &mut self.problems) {
            let Some(kernel) = &kernel else { continue };
            let Some(target) = self.target(kernel, &launch, &values) else { break };
            let name = name.clone().unwrap_or_else(|| short(&target.kernel));
            let task = Task::Check(Box::new(target));
            let settings = settings.clone();
            entries.push(Entry { name: entry_name(&name, &values), task, settings });
        }
        entries
    }

    fn equiv(
        &mut self,
        table: &DeTable<'_>,
        span: Range<usize>,
        defaults: Option<&Table<'_, '_>>,
    ) -> Vec<Entry> {
        if sizes::is_for_all_sizes(table) {
            return self.equiv_for_all(table, span, defaults);
        }
        let known = [EQUIV, LAUNCH, SETTINGS].concat();
        let table = Table::new(table, span, &known, &mut self.problems);
        let common = self.launch_with(&table, defaults);
        let settings = self.settings(&table, defaults);
        let name = table.text("name", &mut self.problems);
        let name = name.map(|name| on_one_line(&name.text).into_owned());
        let assumed = table.get("assume").map(|value| texts(value, &mut self.problems));
        let parts = table.get("compare").map(|value| texts(value, &mut self.problems));
        let sides = [("reference", "ref"), ("optimised", "opt")];
        let sides = sides.map(|(kernel, own)| self.side(&table, (kernel, own), &common));
        let mut entries = Vec::new();
        for values in combinations(table.get("matrix"), &mut self.problems) {
            let mut targets = Vec::new();
            for side in &sides {
                let steps = side.iter().map(|step| self.step(step, &values));
                targets.push(steps.collect::<Option<Vec<_>>>().filter(|side| !side.is_empty()));
            }
            let [Some(reference), Some(optimised)] = &targets[..] else { break };
            let name = name.clone().unwrap_or_else(|| {
                let last = |side: &[Step]| side.last().map(Step::short);
                [last(reference), last(optimised)].map(Option::unwrap_or_default).join("=")
            });
            let before = self.problems.len();
            let compared = Comparison {
                assumptions: self.parse_all(assumed.iter().flatten(), &values),
                parts: self.parse_all(parts.iter().flatten(), &values),
            };
            if self.problems.len() > before {
                break;
            }
            let task = Task::Equiv([reference.clone(), optimised.clone()], compared);
            let settings = settings.clone();
            entries.push(Entry { name: entry_name(&name, &values), task, settings });
        }
        entries
    }

    pub(super) fn required(&mut self, table: &Table<'_, '_>, key: &str) -> Option<Raw> {
        if table.get(key).is_none() {
            let start = table.span.start;
            self.problem(start..start, format!("`{key}` is missing here"));
        }
        table.text(key, &mut self.problems)
    }

    fn launch_with(&mut self, table: &Table<'_, '_>, outer: Option<&Table<'_, '_>>) -> RawLaunch {
        let outer = outer.map(|outer| self.launch(outer)).unwrap_or_default();
        self.launch(table).or(&outer)
    }

    pub(super) fn launch(&mut self, table: &Table<'_, '_>) -> RawLaunch {
        let problems = &mut self.problems;
        RawLaunch {
            grid: table.raw("grid", problems),
            block: table.raw("block", problems),
            cluster: table.raw("cluster", problems),
            smem: table.raw("smem", problems),
            blocks: table.raw("blocks", problems),
            arguments: table.get("args").map(|value| assignments("args", value, problems)),
            aliases: match table.get("alias") {
                Some(value) => texts(value, problems),
                None => Vec::new(),
            },
            symbols: match table.get("symbols") {
                Some(value) => assignments("symbols", value, problems),
                None => Vec::new(),
            },
        }
    }

    /// A launch with the values of a combination.
    pub(super) fn target(
        &mut self,
        kernel: &Raw,
        launch: &RawLaunch,
        values: &Values,
    ) -> Option<Target> {
        let before = self.problems.len();
        let path = self.filled(kernel, values).and_then(|text| KernelPath::from_str(&text).ok());
        let mut arguments = Arguments {
            specs: self.parse_all(launch.arguments.iter().flatten(), values),
            aliases: self.parse_all::<AliasSpec>(&launch.aliases, values),
            symbols: self.parse_all(&launch.symbols, values),
        };
        for spec in arguments.specs.iter_mut().chain(&mut arguments.symbols) {
            self.locate_data(spec);
        }
        let spec = LaunchSpec {
            grid: launch.grid.as_ref().and_then(|raw| self.parsed(raw, values)),
            block: launch.block.as_ref().and_then(|raw| self.parsed(raw, values)),
            cluster: launch.cluster.as_ref().and_then(|raw| self.parsed(raw, values)),
            shared: launch.smem.as_ref().and_then(|raw| self.parsed(raw, values)),
            blocks: self.blocks(launch.blocks.as_ref(), values),
        };
        let mut kernel = path?;
        kernel.file = self.folder.join(&kernel.file).display().to_string();
        (self.problems.len() == before).then_some(Target { kernel, launch: spec, arguments })
    }

    fn blocks(&mut self, raw: Option<&Raw>, values: &Values) -> Vec<BlockSelection> {
        let Some(raw) = raw.filter(|raw| raw.text != "all") else { return Vec::new() };
        let parts =
            raw.text.split(';').map(|part| Raw { text: part.trim().to_owned(), ..raw.clone() });
        let parts: Vec<Raw> = parts.collect();
        self.parse_all(&parts, values)
    }

    /// Files with data are relative to the project, too.
    pub(super) fn locate_data(&self, spec: &mut ArgumentSpec) {
        for path in spec.files() {
            *path = self.folder.join(&*path).display().to_string();
        }
    }

    pub(super) fn filled(&mut self, raw: &Raw, values: &Values) -> Option<String> {
        let filled = substitute(raw, values);
        filled.map_err(|problem| self.problems.push(problem)).ok()
    }

    fn parsed<T: FromStr<Err = ParseError>>(&mut self, raw: &Raw, values: &Values) -> Option<T> {
        let text = self.filled(raw, values)?;
        if text == "?" {
            self.problem(raw.span.clone(), "fill in this `?`");
            return None;
        }
        text.parse()
            .map_err(|error: ParseError| self.problem(raw.span.clone(), error.to_string()))
            .ok()
    }

    pub(super) fn parse_all<'r, T: FromStr<Err = ParseError>>(
        &mut self,
        raws: impl IntoIterator<Item = &'r Raw>,
        values: &Values,
    ) -> Vec<T> {
        raws.into_iter().filter_map(|raw| self.parsed(raw, values)).collect()
    }

    /// Reads the settings of an entry; missing ones come from `outer`, the defaults of the file.
    pub(super) fn settings(
        &mut self,
        table: &Table<'_, '_>,
        outer: Option<&Table<'_, '_>>,
    ) -> Settings {
        let tables: Vec<&Table<'_, '_>> = std::iter::once(table).chain(outer).collect();
        let mut flag =
            |key: &str| tables.iter().find_map(|table| table.flag(key, &mut self.problems));
        let strict = flag("strict").unwrap_or(false);
        let warp_synchronous = flag("warp-synchronous").unwrap_or(false);
        let snap = flag("snap").unwrap_or(true);
        let mut raw =
            |key: &str| tables.iter().find_map(|table| table.raw(key, &mut self.problems));
        let (time, count, require) = (raw("timeout"), raw("max-instructions"), raw("require"));
        let mut limits = Limits::default();
        if let Some(raw) = time {
            match duration::seconds(&raw.text) {
                Ok(time) => limits.time = Some(time),
                Err(why) => self.problem(raw.span, format!("`{}` {why}", raw.text)),
            }
        }
        if let Some(raw) = count {
            match duration::count(&raw.text) {
                Ok(count) => limits.lane_instructions = count,
                Err(why) => self.problem(raw.span, format!("`{}` {why}", raw.text)),
            }
        }
        let require = match require.as_ref().map(|raw| raw.text.as_str()) {
            None | Some("proved") => Require::Proved,
            Some("not-refuted") => Require::NotRefuted,
            Some(_) => {
                let span = require.map(|raw| raw.span).unwrap_or_default();
                self.problem(span, "`require` must be \"proved\" or \"not-refuted\"");
                Require::Proved
            }
        };
        let architecture = tables.iter().find_map(|table| table.text("arch", &mut self.problems));
        let folders = tables.iter().find_map(|table| table.get("include"));
        let folders = folders.map(|value| texts(value, &mut self.problems)).unwrap_or_default();
        let includes = folders.iter().filter_map(|raw| self.inside(raw)).collect();
        let allowed = tables.iter().find_map(|table| table.get("allow"));
        let allowed = allowed.map(|value| texts(value, &mut self.problems)).unwrap_or_default();
        let mut allow = Allow::default();
        for raw in allowed {
            match raw.text.parse() {
                Ok(one) => allow = allow.and(one),
                Err(why) => self.problem(raw.span, why.to_string()),
            }
        }
        Settings {
            allow,
            architecture: architecture.map(|raw| raw.text),
            includes,
            strict,
            warp_synchronous,
            snap,
            limits,
            require,
        }
    }

    /// A folder of the project. A project must not let the compiler read files elsewhere.
    fn inside(&mut self, raw: &Raw) -> Option<PathBuf> {
        let path = self.folder.join(&raw.text);
        let parts = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
        let plain = Path::new(&raw.text).components().all(parts);
        let inside = match path.exists() {
            true => is_below(&path, self.folder),
            false => plain,
        };
        if !inside {
            let message =
                "`include` leads out of the project's folder; give it with -I for one file";
            self.problem(raw.span.clone(), message);
        }
        inside.then_some(path)
    }

    fn allow(&mut self, table: &DeTable<'_>, span: Range<usize>) -> Option<Allowance> {
        let table = Table::new(table, span, ALLOW, &mut self.problems);
        let code = self.required(&table, "code");
        let reason = self.required(&table, "reason");
        let expires = self.expiry(&table);
        let kernel = table.text("kernel", &mut self.problems).map(|raw| raw.text);
        let at = table.text("at", &mut self.problems).map(|raw| raw.text);
        let code = code?;
        let Some(known) = Code::parse(&code.text) else {
            self.problem(
                code.span,
                "there is no finding code like this: `warpproof explain` lists all",
            );
            return None;
        };
        let reason = reason?;
        if reason.text.trim().is_empty() {
            self.problem(reason.span, "give a reason");
            return None;
        }
        let reason = reason.text;
        Some(Allowance { code: known.to_string(), kernel, at, reason, expires: expires? })
    }

    fn expiry(&mut self, table: &Table<'_, '_>) -> Option<Date> {
        let Some(value) = table.get("expires") else {
            let start = table.span.start;
            self.problem(start..start, "`expires` is missing here: a day such as 2027-01-31");
            return None;
        };
        let text = match value.get_ref() {
            DeValue::String(text) => text.to_string(),
            DeValue::Datetime(time) => time.to_string(),
            _ => String::new(),
        };
        text.parse().map_err(|why: DateError| self.problem(value.span(), why.to_string())).ok()
    }
}

/// The default name of an entry: that of its kernel.
pub(super) fn short(kernel: &KernelPath) -> String {
    match &kernel.kernel {
        Some(name) => name.clone(),
        None => {
            let stem = Path::new(&kernel.file).file_stem();
            stem.map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
        }
    }
}
