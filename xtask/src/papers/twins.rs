//! Twins: a kernel with a mistake must not take much longer than the same kernel without it: at most [`BOUND`] times
//! as long, plus [`ALLOWED`] seconds. Pairs are the rows of `bench/papers.txt` that name a `twin`, and the kernels of
//! `corpus/sync` that have a repaired one.
//!
//! Each command runs three times, and the least processor time counts. On the page of results, rows have the times of
//! their tables. Times are sampled (see `measure`), so a run of a few milliseconds seems shorter than it is. For such
//! a short clean kernel the ratio errs on the high side; this matters only if the twin takes more than [`ALLOWED`]
//! seconds.

use super::measure::Program;
use super::rows::{self, Row, Table};
use std::collections::BTreeMap;
use std::path::Path;

/// The allowed time of a kernel with a mistake, as a multiple of its clean twin's.
pub(crate) const BOUND: f64 = 3.0;

/// Seconds allowed for a mistake in any case: the time of its report.
pub(crate) const ALLOWED: f64 = 0.2;

/// The number of ratios shown.
pub(crate) const SHOWN: usize = 10;

/// The number of runs of a command.
const RUNS: usize = 3;

/// Exit statuses of a verdict: proved, refuted, unknown.
const VERDICTS: [i32; 3] = [0, 1, 3];

/// Two commands that differ in a mistake.
#[derive(Debug, PartialEq)]
pub(crate) struct Pair {
    /// The name of the one with the mistake.
    pub(crate) name: String,
    pub(crate) clean: Vec<String>,
    pub(crate) bad: Vec<String>,
}

/// Processor seconds of both.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Times {
    pub(crate) name: String,
    pub(crate) clean: f64,
    pub(crate) bad: f64,
}

impl Times {
    /// The ratio of the times, apart from the seconds that are allowed in any case.
    pub(crate) fn ratio(&self) -> f64 {
        (self.bad - ALLOWED).max(0.0) / self.clean.max(1e-6)
    }

    pub(crate) fn is_within_bound(&self) -> bool {
        self.ratio() <= BOUND
    }
}

/// Measures all pairs, or those with a text in their name, and prints the worst; returns `true` if all are within the
/// bound.
///
/// # Errors
/// An error in the rows, the corpus or the program.
pub(crate) fn run(root: &Path, only: Option<&str>) -> Result<bool, String> {
    let tables = rows::read(root)?;
    let mut pairs = pairs(root, &tables)?;
    pairs.retain(|pair| only.is_none_or(|text| pair.name.contains(text)));
    if pairs.is_empty() {
        return Err("no pair has this text in its name".to_owned());
    }
    let program = Program::build(root)?;
    for row in tables.iter().flat_map(|table| &table.rows) {
        row.subject.write(&program)?;
    }
    let times = measure(&program, &pairs, BTreeMap::new())?;
    print!("{}", summary(&times));
    Ok(times.iter().all(Times::is_within_bound))
}

/// Pairs of the rows, then those of the corpus.
///
/// # Errors
/// A file that cannot be read.
pub(crate) fn pairs(root: &Path, tables: &[Table]) -> Result<Vec<Pair>, String> {
    let mut pairs: Vec<Pair> = tables.iter().flat_map(of_table).collect();
    pairs.extend(of_corpus(root)?);
    Ok(pairs)
}

/// Pairs of a table.
pub(crate) fn of_table(table: &Table) -> Vec<Pair> {
    let pair = |row: &Row| {
        let twin = row.twin.as_ref()?;
        let clean = table.rows.iter().find(|other| other.name == *twin)?;
        let [clean, bad] = [clean, row].map(|one| one.subject.arguments());
        Some(Pair { name: row.name.clone(), clean, bad })
    };
    table.rows.iter().filter_map(pair).collect()
}

/// `NAME_broken.ptx` and `NAME_dropN_broken.ptx` of `corpus/sync` with `NAME_fixed.ptx`, each with the flags in its
/// `.args` file.
fn of_corpus(root: &Path) -> Result<Vec<Pair>, String> {
    let folder = "corpus/sync";
    let entries =
        std::fs::read_dir(root.join(folder)).map_err(|error| format!("{folder}: {error}"))?;
    let mut names: Vec<String> = entries
        .flatten()
        .filter_map(|entry| Some(entry.file_name().to_str()?.strip_suffix(".ptx")?.to_owned()))
        .collect();
    names.sort();
    let command = |name: &str| -> Result<Vec<String>, String> {
        let command = format!("check {folder}/{name}.ptx @{folder}/{name}.args");
        Ok(rows::subject(root, &command)?.arguments())
    };
    let mut pairs = Vec::new();
    for name in &names {
        let clean = repaired(name).into_iter().find(|clean| names.binary_search(clean).is_ok());
        if let Some(clean) = clean {
            pairs.push(Pair { name: name.clone(), clean: command(&clean)?, bad: command(name)? });
        }
    }
    Ok(pairs)
}

/// Possible names of the twin of a broken kernel.
pub(crate) fn repaired(name: &str) -> Vec<String> {
    let Some(stem) = name.strip_suffix("_broken") else { return Vec::new() };
    let mut stems = vec![stem];
    if let Some((whole, number)) = stem.rsplit_once("_drop")
        && !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit())
    {
        stems.push(whole);
    }
    stems.iter().map(|stem| format!("{stem}_fixed")).collect()
}

/// Measures pairs. `known` has the times of some commands; each of the others is measured once, even if several pairs
/// have it.
///
/// # Errors
/// A command without a verdict: its time means nothing.
pub(crate) fn measure<'p>(
    program: &Program,
    pairs: &'p [Pair],
    mut known: BTreeMap<&'p [String], f64>,
) -> Result<Vec<Times>, String> {
    println!("Twins: {} pairs", pairs.len());
    let mut times = Vec::new();
    for pair in pairs {
        let mut seconds = |arguments: &'p [String]| -> Result<f64, String> {
            if let Some(&seconds) = known.get(arguments) {
                return Ok(seconds);
            }
            let seconds = least_time(program, arguments)?;
            known.insert(arguments, seconds);
            Ok(seconds)
        };
        let (clean, bad) = (seconds(&pair.clean)?, seconds(&pair.bad)?);
        times.push(Times { name: pair.name.clone(), clean, bad });
    }
    Ok(times)
}

fn least_time(program: &Program, arguments: &[String]) -> Result<f64, String> {
    let mut least = f64::INFINITY;
    for _ in 0..RUNS {
        let run = program.run(arguments)?;
        if !run.status.is_some_and(|status| VERDICTS.contains(&status)) {
            return Err(format!("no verdict: warpproof {}", arguments.join(" ")));
        }
        least = least.min(run.processor);
    }
    Ok(least)
}

/// The greatest ratios first; of equal ones, the longest times first.
pub(crate) fn worst(times: &[Times]) -> Vec<&Times> {
    let mut all: Vec<&Times> = times.iter().collect();
    all.sort_by(|one, other| {
        other.ratio().total_cmp(&one.ratio()).then(other.bad.total_cmp(&one.bad))
    });
    all.truncate(SHOWN);
    all
}

/// The worst ratios, and the verdict on all pairs.
pub(crate) fn summary(times: &[Times]) -> String {
    let mut text = String::new();
    for one in worst(times) {
        text += &format!(
            "  {:.2}: {}, {:.3} s, clean {:.3} s\n",
            one.ratio(),
            one.name,
            one.bad,
            one.clean
        );
    }
    text + &verdict(times) + "\n"
}

/// States if all pairs are within the bound.
pub(crate) fn verdict(times: &[Times]) -> String {
    let all = times.len();
    match times.iter().filter(|one| !one.is_within_bound()).count() {
        0 => format!("All {all} pairs are within the bound of {BOUND}."),
        beyond => format!("{beyond} of {all} pairs are beyond the bound of {BOUND}."),
    }
}
