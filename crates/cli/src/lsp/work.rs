//! A job of the language server: proves the kernels of one file, runs the project entries that name it, and turns
//! the reports into LSP diagnostics.
//!
//! A diagnostic goes to the file of its place, which may be a header. One without a place goes to the kernel's name,
//! or to the top of the file. Nothing is decided here: verdicts are those of [`call`] and [`project::run_each`].

use super::protocol::{Diagnostic, Location, Position, Range, Related, severity};
use super::uri;
use crate::call::{Call, call};
use driver::project::{self, Date, Entry, Project, RunOptions};
use driver::render::{Level, Mark, Place, Summary};
use driver::report::Report;
use driver::{Colour, Format, Watch};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The results for a file, for all kernels and all entries.
#[derive(Debug, Default)]
pub(super) struct FileResults {
    /// Diagnostics by file. Those of other files come from headers and references.
    pub(super) diagnostics: BTreeMap<PathBuf, Vec<Diagnostic>>,
    /// The results for each kernel.
    pub(super) summaries: Vec<Summary>,
}

/// The limits of a job.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Seconds for the proof of a file, and for each entry of a project that has no limit of its own.
    pub(super) seconds: u64,
}

/// Returns the words of the `prove` command for a file.
pub(super) fn words(file: &Path, limits: Limits) -> Vec<String> {
    let file = file.display().to_string();
    let words = ["prove", "--format", "json", "--timeout"].map(str::to_owned);
    words.into_iter().chain([limits.seconds.to_string(), file]).collect()
}

/// Proves the kernels of a CUDA C file, and runs the entries of the nearest project that name the file.
pub(super) fn check_file(file: &Path, prove: &mut Call, limits: Limits) -> FileResults {
    let mut texts = Texts::default();
    let mut found = FileResults::default();
    let watch = prove.watch();
    let is_cuda = file.extension().is_some_and(|extension| extension == "cu");
    if is_cuda && texts.get(file).is_some_and(|text| text.contains("__global__")) {
        let called = call(prove);
        if called.reports.is_empty() && !called.messages.trim().is_empty() {
            found.push_message(file, &called.messages);
        }
        found.add(file, &called.reports, &mut texts);
    }
    if let Some(project) = nearest(file) {
        found.run(&project, file, (watch, limits), &mut texts);
    }
    found
}

/// Returns the nearest project file above a file.
pub(super) fn nearest(file: &Path) -> Option<PathBuf> {
    let folders = file.ancestors().skip(1);
    folders.map(|folder| folder.join(project::FILE_NAME)).find(|path| path.is_file())
}

impl FileResults {
    /// Runs the entries of the project at `path` that name `file`, and adds their results.
    fn run(
        &mut self,
        path: &Path,
        file: &Path,
        (watch, limits): (&'static Watch, Limits),
        texts: &mut Texts,
    ) {
        let mut project: Project = match project::load(Some(path), Colour::Plain) {
            Ok(project) => project,
            Err(error) => return self.push_message(path, &error.to_string()),
        };
        let real = |path: &Path| path.canonicalize().ok();
        let wanted = real(file);
        let names_it = |entry: &Entry| {
            wanted.is_some() && entry.files().iter().any(|one| real(Path::new(one)) == wanted)
        };
        project.entries.retain(names_it);
        if project.entries.is_empty() {
            return;
        }
        for entry in &mut project.entries {
            let time = Duration::from_secs(limits.seconds);
            entry.settings.limits.time.get_or_insert(time);
        }
        let options = RunOptions {
            names: &[],
            jobs: 1,
            today: Date::today(),
            format: Format::Json,
            without_cache: false,
            colour: Colour::Plain,
            pictures: false,
            watch: Some(watch),
            progress: &|_| {},
        };
        let (outcome, reports) = project::run_each(&project, &options);
        if reports.is_empty() && !outcome.messages.trim().is_empty() {
            self.push_message(path, &outcome.messages);
        }
        self.add(file, &reports, texts);
    }

    /// Adds the diagnostics of reports, each once. Marks without a place go to `file`.
    fn add(&mut self, file: &Path, reports: &[Report], texts: &mut Texts) {
        for report in reports {
            let summary = report.summary();
            for mark in report.marks() {
                let (path, diagnostic) = diagnostic(&mark, &summary, file, texts);
                let known = self.diagnostics.entry(path).or_default();
                if !known.contains(&diagnostic) {
                    known.push(diagnostic);
                }
            }
            self.summaries.push(summary);
        }
    }

    /// Puts a message without a place at the top of a file.
    fn push_message(&mut self, file: &Path, message: &str) {
        let diagnostic = Diagnostic {
            range: Range::default(),
            severity: severity::WARNING,
            code: None,
            source: "warpproof",
            message: message.trim().to_owned(),
            related_information: Vec::new(),
        };
        self.diagnostics.entry(file.to_owned()).or_default().push(diagnostic);
    }
}

/// Returns a mark as a diagnostic, with the file to show it in.
fn diagnostic(
    mark: &Mark,
    about: &Summary,
    file: &Path,
    texts: &mut Texts,
) -> (PathBuf, Diagnostic) {
    let absolute = |place: &Place| std::path::absolute(&place.path).ok();
    let path = mark.place.as_ref().and_then(absolute).unwrap_or_else(|| file.to_owned());
    let range = match &mark.place {
        Some(place) => texts.range(&path, place),
        None => {
            let name = about.kernel.as_deref();
            let text = texts.get(file).unwrap_or_default();
            name.and_then(|name| definition(text, name)).unwrap_or_default()
        }
    };
    let related = mark.related.iter().filter_map(|(place, message)| {
        let path = absolute(place)?;
        let location = Location { uri: uri::of(&path)?, range: texts.range(&path, place) };
        let message = if message.is_empty() { "here".to_owned() } else { message.clone() };
        Some(Related { location, message })
    });
    let related_information = related.collect();
    let diagnostic = Diagnostic {
        range,
        severity: match mark.level {
            Level::Error => severity::ERROR,
            Level::Warning => severity::WARNING,
            Level::Note => severity::INFORMATION,
        },
        code: Some(mark.code.clone()),
        source: "warpproof",
        message: format!("{}\n({})", mark.message, about.title),
        related_information,
    };
    (path, diagnostic)
}

/// Returns the range of a kernel's name before its parameters, after `__global__` or `.entry`.
pub(super) fn definition(text: &str, kernel: &str) -> Option<Range> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let starts = text.match_indices(kernel).filter(|(at, _)| {
        let (before, after) = (&text[..*at], &text[at + kernel.len()..]);
        let is_word = !before.ends_with(is_part) && !after.starts_with(is_part);
        let declared = before.rfind("__global__").max(before.rfind(".entry"));
        let is_near = declared.is_some_and(|from| !before[from..].contains([';', '{', '}']));
        is_word && is_near
    });
    let (at, _) = starts.into_iter().next()?;
    let line_start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let line = u32::try_from(text[..at].matches('\n').count()).ok()?;
    let start = units(&text[line_start..at]);
    let end = start + units(kernel);
    Some(Range::new(Position::new(line, start), Position::new(line, end)))
}

/// The length of a text in units of UTF-16, as the protocol counts it.
pub(super) fn units(text: &str) -> u32 {
    u32::try_from(text.encode_utf16().count()).unwrap_or(u32::MAX)
}

/// Texts of files, each read once.
#[derive(Debug, Default)]
struct Texts(BTreeMap<PathBuf, Option<String>>);

impl Texts {
    fn get(&mut self, path: &Path) -> Option<&str> {
        let text = self.0.entry(path.to_owned());
        text.or_insert_with(|| driver::read_text(path).ok()).as_deref()
    }

    /// Returns the range of a place, or the whole line if its end is unknown.
    fn range(&mut self, path: &Path, place: &Place) -> Range {
        let line = place.line.saturating_sub(1);
        let text = self.get(path).unwrap_or_default();
        let text = text.lines().nth(line as usize).unwrap_or_default();
        let column = |column: u32| {
            let before: String = text.chars().take(column.saturating_sub(1) as usize).collect();
            units(&before)
        };
        let end = match place.end_column {
            0 => units(text.trim_end()),
            end => column(end),
        };
        let start = column(place.column);
        Range::new(Position::new(line, start), Position::new(line, end.max(start)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_found_where_they_are_defined() {
        let text = "// add\n__global__ void add2();\n/* ü */ __global__ void\n  __launch_bounds__(64) add(int n) { add(1); }\n";
        let range = definition(text, "add").unwrap();
        assert_eq!((range.start.line, range.start.character, range.end.character), (3, 24, 27));
        assert_eq!(definition(text, "sub"), None);
        assert!(definition(".visible .entry k(\n)", "k").is_some());
    }
}
