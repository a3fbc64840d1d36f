//! Parses `bench/papers.txt`: tables and their rows.

use super::measure::Program;
use crate::weft::{self, Kernel};
use std::collections::BTreeSet;
use std::path::Path;

/// The folder of generated kernels, from the root.
const GENERATED: &str = "target/papers";

/// A table and its rows.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) title: String,
    pub(crate) rows: Vec<Row>,
}

/// A row as written in the file.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) name: String,
    /// Seconds.
    pub(crate) published: Option<f64>,
    pub(crate) expected: String,
    /// The kinds of all errors, for a refutation.
    pub(crate) because: BTreeSet<String>,
    pub(crate) subject: Subject,
    pub(crate) before: Option<Before>,
    /// The row of the same table with the same kernel, but without this one's mistake.
    pub(crate) twin: Option<String>,
    pub(crate) target: Option<Target>,
    /// The most concrete runs that the row may take, in place of the default.
    pub(crate) concrete_runs: Option<f64>,
    /// The arguments of `bench/peer_symengine.py`, which compares the same outputs with SymEngine.
    pub(crate) peer: Option<Vec<String>>,
    /// Generations of barriers, and thousands of commands, published for the row.
    pub(crate) size: Option<[u64; 2]>,
    /// Set if some barriers have only some warps of the block; the default limit of concrete runs is higher then.
    pub(crate) waits_in_parts: bool,
}

/// The subject of a row.
#[derive(Debug)]
pub(crate) enum Subject {
    /// A command of the program.
    Flags(Vec<String>),
    /// A generated kernel.
    Generated { name: String, kernel: Kernel },
}

impl Subject {
    /// The arguments of the program. A generated kernel must have been [written](Self::write).
    pub(crate) fn arguments(&self) -> Vec<String> {
        match self {
            Self::Flags(flags) => flags.clone(),
            Self::Generated { name, kernel } => {
                let command = ["check".to_owned(), format!("{GENERATED}/{name}.ptx")];
                command.into_iter().chain(kernel.flags.iter().cloned()).collect()
            }
        }
    }

    /// Writes a generated kernel to its file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn write(&self, program: &Program) -> Result<(), String> {
        match self {
            Self::Flags(_) => Ok(()),
            Self::Generated { name, kernel } => program.write(GENERATED, name, kernel),
        }
    }
}

/// Processor seconds of an earlier version of the program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Before {
    pub(crate) seconds: f64,
    /// Set if that run was stopped after this time, without an answer.
    pub(crate) stopped: bool,
}

/// The target cost of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Target {
    pub(crate) seconds: f64,
    pub(crate) megabytes: f64,
}

impl Row {
    /// Returns `true` if the row is a proof for every launch and size.
    pub(crate) fn is_for_all_sizes(&self) -> bool {
        let Subject::Flags(flags) = &self.subject else { return false };
        flags.first().is_some_and(|flag| flag == "prove")
            || flags.iter().any(|flag| flag == "--for-all-sizes")
    }

    /// The files it is about.
    #[cfg(test)]
    pub(crate) fn files(&self) -> Vec<String> {
        let Subject::Flags(flags) = &self.subject else { return Vec::new() };
        let files = flags.iter().skip(1).filter(|flag| !flag.starts_with("--"));
        files.take(if self.is_comparison() { 2 } else { 1 }).cloned().collect()
    }

    pub(crate) fn is_comparison(&self) -> bool {
        matches!(&self.subject, Subject::Flags(flags) if flags.first().is_some_and(|flag| flag == "equiv"))
    }
}

/// Reads the file.
///
/// # Errors
/// The wrong line and its error.
pub(crate) fn read(root: &Path) -> Result<Vec<Table>, String> {
    let path = root.join("bench/papers.txt");
    let text =
        std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    parse(root, &text).map_err(|(line, what)| format!("{}:{line}: {what}", path.display()))
}

/// Reads tables; an error has its line.
pub(crate) fn parse(root: &Path, text: &str) -> Result<Vec<Table>, (usize, String)> {
    let mut tables: Vec<Table> = Vec::new();
    let lines = text.lines().enumerate().map(|(number, line)| (number + 1, line));
    for (number, line) in lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        if let Some(title) = line.strip_prefix("table: ") {
            tables.push(Table { title: title.to_owned(), rows: Vec::new() });
            continue;
        }
        let row = row(root, line).map_err(|what| (number, what))?;
        let Some(table) = tables.last_mut() else {
            return Err((number, "a row before any table".to_owned()));
        };
        if let Some(twin) = &row.twin
            && !table.rows.iter().any(|other| other.name == *twin && other.twin.is_none())
        {
            return Err((number, format!("`{twin}` is no clean row above it in its table")));
        }
        table.rows.push(row);
    }
    Ok(tables)
}

fn row(root: &Path, line: &str) -> Result<Row, String> {
    let parts: Vec<&str> = line.split(" | ").collect();
    let [name, published, expected, command, more @ ..] = parts.as_slice() else {
        return Err("a row has a name, published seconds, a verdict and a command".to_owned());
    };
    if !["proved", "refuted", "unknown"].contains(expected) {
        return Err(format!("`{expected}` is no verdict"));
    }
    let published = match *published {
        "-" => None,
        number => Some(number.parse().map_err(|_| "not a number of seconds".to_owned())?),
    };
    let subject = subject(root, command)?;
    let waits_in_parts = matches!(subject, Subject::Generated { .. });
    let mut row = Row {
        name: (*name).to_owned(),
        published,
        expected: (*expected).to_owned(),
        because: BTreeSet::new(),
        subject,
        before: None,
        twin: None,
        target: None,
        concrete_runs: None,
        peer: None,
        size: None,
        waits_in_parts,
    };
    for field in more {
        let words: Vec<&str> = field.split_whitespace().collect();
        let number = |text: &str| text.parse::<f64>().map_err(|_| format!("`{field}`: no number"));
        match words.as_slice() {
            ["target", seconds, "s", megabytes, "MB"] => {
                let (seconds, megabytes) = (number(seconds)?, number(megabytes)?);
                row.target = Some(Target { seconds, megabytes });
            }
            ["peer", rest @ ..] => {
                row.peer = Some(rest.iter().map(|word| (*word).to_owned()).collect());
            }
            ["size", generations, commands] => {
                row.size = Some([number(generations)? as u64, number(commands)? as u64]);
            }
            ["because", kinds @ ..] => {
                row.because = kinds.iter().map(|kind| (*kind).to_owned()).collect();
            }
            ["before", seconds] => {
                row.before = Some(Before { seconds: number(seconds)?, stopped: false });
            }
            ["before", ">", seconds] => {
                row.before = Some(Before { seconds: number(seconds)?, stopped: true });
            }
            ["twin", name @ ..] => row.twin = Some(name.join(" ")),
            ["concrete-runs", most] => row.concrete_runs = Some(number(most)?),
            ["named-barriers"] => row.waits_in_parts = true,
            _ => return Err(format!("`{field}` is not known")),
        }
    }
    match (row.expected == "refuted", !row.because.is_empty()) {
        (true, false) => Err("a refutation has a kind: because race".to_owned()),
        (false, true) => Err("only a refutation has a kind".to_owned()),
        _ => Ok(row),
    }
}

/// A command; `@FILE` stands for the flags in a file.
///
/// # Errors
/// An unknown generated kernel, or a file that cannot be read.
pub(crate) fn subject(root: &Path, command: &str) -> Result<Subject, String> {
    if let Some(name) = command.strip_prefix("weft ") {
        let kernel = weft::kernel(name).ok_or_else(|| format!("no kernel is called `{name}`"))?;
        return Ok(Subject::Generated { name: name.to_owned(), kernel });
    }
    let mut flags = Vec::new();
    for word in command.split_whitespace() {
        match word.strip_prefix('@') {
            None => flags.push(word.to_owned()),
            Some(file) => {
                let text = std::fs::read_to_string(root.join(file))
                    .map_err(|error| format!("{file}: {error}"))?;
                flags.extend(text.split_whitespace().map(str::to_owned));
            }
        }
    }
    Ok(Subject::Flags(flags))
}
