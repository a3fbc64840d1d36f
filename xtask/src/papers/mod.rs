//! Measures the papers' tables: runs each row of `bench/papers.txt` with the released program, one at a time and on one
//! core. `docs/results.md` and `docs/results.json` show the results beside the published figures, with plots.
//!
//! The published figures are from other machines: a ratio gives a distance, not a speedup. Comparable figures are
//! measured in the same run: the same kernels on numbers in our own interpreter, and other programs with `--peers`.

mod concrete;
mod measure;
mod page;
mod peers;
mod plot;
mod rows;
mod scaling;
pub(crate) mod twins;

#[cfg(test)]
mod tests;

use crate::weft::Kernel;
use measure::{Figures, Program};
use rows::{Row, Subject, Table};
use std::path::Path;

/// Options of a run.
#[derive(Debug, Default)]
pub(crate) struct Options {
    /// Run other programs, too.
    pub(crate) peers: bool,
    /// Only tables with this text in the title; nothing is written then.
    pub(crate) only: Option<String>,
}

/// The number of attempts for a row that misses its target: the fastest counts, and so does the fastest concrete run.
/// Shared machines sometimes take twice as long.
const ATTEMPTS: usize = 3;

/// A row with its results.
pub(crate) struct MeasuredRow<'r> {
    row: &'r Row,
    figures: Figures,
    /// Processor seconds of the concrete interpreter for all kernels of the row.
    concrete: Option<f64>,
    peer: Option<peers::Answer>,
}

impl MeasuredRow<'_> {
    /// Returns `true` if the verdict is the expected one, and the kinds of errors are exactly the expected ones.
    fn is_expected(&self) -> bool {
        let Figures { verdict, kinds, .. } = &self.figures;
        *verdict == self.row.expected && *kinds == self.row.because
    }

    /// Lists the limits that the row exceeds: its own target, and the number of concrete runs that a proof may take
    /// (a refutation only if the row states one).
    fn missed(&self) -> Vec<String> {
        let Figures { processor: seconds, kilobytes, .. } = self.figures;
        let mut missed = Vec::new();
        if let Some(target) = self.row.target {
            if seconds > target.seconds {
                missed.push(format!("{seconds:.2} s of {} s", target.seconds));
            }
            let megabytes = kilobytes as f64 / 1024.0;
            if megabytes > target.megabytes {
                missed.push(format!("{megabytes:.0} MB of {} MB", target.megabytes));
            }
        }
        let usual = match (self.row.is_comparison(), self.row.waits_in_parts) {
            (true, _) => 25.0,
            (false, false) => 4.0,
            (false, true) => 10.0,
        };
        let usual = (self.row.expected == "proved").then_some(usual);
        let (Some(ratio), Some(most)) = (self.over_concrete(), self.row.concrete_runs.or(usual))
        else {
            return missed;
        };
        if ratio > most {
            missed.push(format!("{ratio:.1} concrete runs of {most}"));
        }
        missed
    }

    /// The command and its processor seconds; `None` for a generated kernel.
    fn processor(&self) -> Option<(&[String], f64)> {
        match &self.row.subject {
            Subject::Flags(flags) => Some((flags, self.figures.processor)),
            Subject::Generated { .. } => None,
        }
    }

    fn over_concrete(&self) -> Option<f64> {
        self.concrete.map(|seconds| self.figures.processor / seconds)
    }
}

/// Runs all rows and writes the pages; returns `true` if every verdict is the expected one.
///
/// # Errors
/// An error in the file, the program or the pages.
pub(crate) fn run(root: &Path, options: &Options) -> Result<bool, String> {
    let tables = rows::read(root)?;
    let program = Program::build(root)?;
    let mut peer = if options.peers { peers::find() } else { None };
    let wanted = |table: &&Table| match &options.only {
        Some(text) => table.title.contains(text.as_str()),
        None => true,
    };
    if !tables.iter().any(|table| wanted(&table)) {
        return Err("no table has this text in its title".to_owned());
    }
    let mut done: Vec<(&Table, Vec<MeasuredRow<'_>>)> = Vec::new();
    let asks = |table: &Table| table.rows.iter().any(Row::is_for_all_sizes);
    let solver = tables.iter().filter(wanted).any(asks) && program.has_solver();
    for table in tables.iter().filter(wanted) {
        println!("{}", table.title);
        let mut rows = Vec::new();
        if asks(table) && !solver {
            println!("  skipped: z3 was not found");
            done.push((table, rows));
            continue;
        }
        for row in &table.rows {
            let one = measure_row(&program, row, peer.as_mut())?;
            let kinds = || one.figures.kinds.iter().cloned().collect::<Vec<_>>().join(", ");
            let mark = match one.is_expected() {
                true => String::new(),
                false => format!("  <- not as expected: {} {}", one.figures.verdict, kinds()),
            };
            println!("  {}{mark}", page::progress_line(&one));
            rows.push(one);
        }
        done.push((table, rows));
    }
    let all_expected = done.iter().flat_map(|(_, rows)| rows).all(MeasuredRow::is_expected);
    if options.only.is_some() {
        return Ok(all_expected);
    }
    let plots = scaling::run(&program)?;
    let pairs = twins::pairs(root, &tables)?;
    let known = done.iter().flat_map(|(_, rows)| rows).filter_map(MeasuredRow::processor).collect();
    let twins = twins::measure(&program, &pairs, known)?;
    print!("{}", twins::summary(&twins));
    let content = page::Content { tables: &done, plots: &plots, twins: &twins };
    page::write(root, &content, peer.is_some())?;
    Ok(all_expected)
}

/// The kernels generated for rows, with their names.
///
/// # Errors
/// An error in the file.
pub(crate) fn generated(root: &Path) -> Result<Vec<(String, Kernel)>, String> {
    let rows = rows::read(root)?.into_iter().flat_map(|table| table.rows);
    let kernels = rows.filter_map(|row| match row.subject {
        Subject::Generated { name, kernel } => Some((name, kernel)),
        Subject::Flags(_) => None,
    });
    Ok(kernels.collect())
}

fn measure_row<'r>(
    program: &Program,
    row: &'r Row,
    peer: Option<&mut peers::Peer>,
) -> Result<MeasuredRow<'r>, String> {
    row.subject.write(program)?;
    let arguments = row.subject.arguments();
    let timed = || -> Result<(Figures, Option<f64>), String> {
        let figures = program.measure(&row.name, &arguments)?;
        match row.is_for_all_sizes() {
            true => Ok((figures, None)),
            false => Ok((figures, concrete::seconds(program, &arguments)?)),
        }
    };
    let (figures, concrete) = timed()?;
    let mut done = MeasuredRow { row, figures, concrete, peer: None };
    for _ in 1..ATTEMPTS {
        if done.missed().is_empty() {
            break;
        }
        let (again, concrete) = timed()?;
        let kilobytes = done.figures.kilobytes.max(again.kilobytes);
        if again.processor < done.figures.processor {
            done.figures = again;
        }
        done.figures.kilobytes = kilobytes;
        done.concrete = done.concrete.zip(concrete).map(|(one, other)| one.min(other));
    }
    done.peer = match (peer, &row.peer) {
        (Some(peer), Some(condition)) => Some(peer.ask(&program.root, condition)?),
        _ => None,
    };
    Ok(done)
}
