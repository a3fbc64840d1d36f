//! Writes the measurements to `docs/results.md` and `docs/results.json`.

use super::MeasuredRow;
use super::measure::Side;
use super::plot::Plot;
use super::rows::{Before, Row, Subject, Table};
use super::twins::{self, Times};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

/// A progress line for the terminal.
pub(crate) fn progress_line(done: &MeasuredRow<'_>) -> String {
    let figures = &done.figures;
    let concrete =
        done.over_concrete().map_or(String::new(), |ratio| format!(", {ratio:.1} concrete runs"));
    let missed = done.missed();
    let missed =
        if missed.is_empty() { String::new() } else { format!("; missed: {}", missed.join(", ")) };
    format!(
        "{}: {} in {:.3} s ({:.3} s of the processor), {:.0} MB{concrete}{missed}",
        done.row.name,
        figures.verdict,
        figures.seconds,
        figures.processor,
        figures.kilobytes as f64 / 1024.0
    )
}

/// The content of both files.
pub(crate) struct Content<'c, 'r> {
    pub(crate) tables: &'c [(&'r Table, Vec<MeasuredRow<'r>>)],
    pub(crate) plots: &'c [Plot],
    pub(crate) twins: &'c [Times],
}

/// Writes both files and the plots. `peers` is set if another program was measured.
pub(crate) fn write(root: &Path, content: &Content<'_, '_>, peers: bool) -> Result<(), String> {
    let Content { tables, plots, twins } = *content;
    let notes = std::fs::read_to_string(root.join("bench/notes.md")).unwrap_or_default();
    let machine = Machine::here();
    let mut page = machine.heading(peers);
    for (table, rows) in tables {
        page.push_str(&section(table, rows, peers));
        if let Some(note) = note(&notes, &table.title) {
            let _ = write!(page, "\n{note}\n");
        }
    }
    page.push_str(&of_twins(twins));
    page.push_str("\n## Growth\n\nSeconds over size, both on logarithmic scales, with the exponent of the line that fits best.\n");
    for plot in plots {
        let _ = write!(page, "\n![{}](results/{}.svg)\n", plot.title, plot.file);
    }
    if let Some(note) = note(&notes, "Growth") {
        let _ = write!(page, "\n{note}\n");
    }
    let put = |file: String, text: &str| {
        let path = root.join("docs").join(file);
        let folder = path.parent().map_or(Ok(()), std::fs::create_dir_all);
        folder
            .and_then(|()| std::fs::write(&path, text))
            .map_err(|error| format!("{}: {error}", path.display()))
    };
    put("results.md".to_owned(), &page)?;
    let all = document(&machine, content);
    let text = serde_json::to_string_pretty(&all).map_err(|error| error.to_string())? + "\n";
    put("results.json".to_owned(), &text)?;
    plots.iter().try_for_each(|plot| put(format!("results/{}.svg", plot.file), &plot.svg()))
}

/// Formats a table as Markdown, with a heading.
pub(crate) fn section(table: &Table, rows: &[MeasuredRow<'_>], peers: bool) -> String {
    if table.rows.iter().any(Row::is_for_all_sizes) {
        return for_all_sizes(table, rows);
    }
    let sized = rows.iter().any(|done| matches!(done.row.subject, Subject::Generated { .. }));
    let mut columns = vec!["kernels", "verdict", "s", "processor, s", "MB", "million instructions"];
    columns.extend(["block syncs", "warp syncs", "PTX lines", "threads"]);
    if sized {
        columns.extend(["generations (paper)", "thousand commands (paper)"]);
    }
    let past = OtherFigures::of(rows);
    if past.before {
        columns.extend(["before, s", "ratio"]);
    }
    if past.published {
        columns.extend(["published, s", "ratio"]);
    }
    columns.extend(["concrete run, s", "ratio"]);
    if peers {
        columns.push("SymEngine, s");
    }
    columns.push("target");
    let mut text = format!("\n## {}\n\n| {} |\n", table.title, columns.join(" | "));
    let _ = writeln!(text, "|{}", "---|".repeat(columns.len()));
    for done in rows {
        let _ = writeln!(text, "| {} |", cells(done, sized, past, peers).join(" | "));
    }
    text
}

/// Which columns of figures from elsewhere a table has. A table without either kind still has a column for published
/// ones.
#[derive(Clone, Copy)]
struct OtherFigures {
    /// Of an earlier version of the program.
    before: bool,
    /// Of the papers.
    published: bool,
}

impl OtherFigures {
    fn of(rows: &[MeasuredRow<'_>]) -> Self {
        let before = rows.iter().any(|done| done.row.before.is_some());
        Self { before, published: !before || rows.iter().any(|done| done.row.published.is_some()) }
    }
}

/// Formats a table of proofs for every launch and size.
fn for_all_sizes(table: &Table, rows: &[MeasuredRow<'_>]) -> String {
    let mut text = format!("\n## {}\n\n", table.title);
    if rows.is_empty() {
        text.push_str("Not measured: there was no z3.\n");
        return text;
    }
    text.push_str(
        "| kernels | verdict | s | processor, s | MB | published, s | ratio | target |\n",
    );
    text.push_str("|---|---|---|---|---|---|---|---|\n");
    for done in rows {
        let published = done.row.published;
        let missed = done.missed();
        let cells = [
            done.row.name.clone(),
            done.figures.verdict.clone(),
            format!("{:.3}", done.figures.seconds),
            format!("{:.3}", done.figures.processor),
            format!("{:.0}", done.figures.kilobytes as f64 / 1024.0),
            published.map_or("–".to_owned(), |seconds| seconds.to_string()),
            published.map_or("–".to_owned(), |seconds| ratio(seconds / done.figures.processor)),
            if missed.is_empty() { "met".to_owned() } else { missed.join("; ") },
        ];
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text
}

fn cells(done: &MeasuredRow<'_>, sized: bool, past: OtherFigures, peers: bool) -> Vec<String> {
    let (row, figures) = (done.row, &done.figures);
    let of_sides = |of: fn(&Side) -> u64| {
        let all: Vec<String> = figures.sides.iter().map(|side| short(of(side))).collect();
        all.join(", ")
    };
    let mut cells = vec![
        row.name.clone(),
        figures.verdict.clone(),
        format!("{:.3}", figures.seconds),
        format!("{:.3}", figures.processor),
        format!("{:.0}", figures.kilobytes as f64 / 1024.0),
        format!("{:.2}", figures.instructions as f64 / 1e6),
        of_sides(|side| side.block_syncs),
        of_sides(|side| side.warp_syncs),
        of_sides(|side| side.lines),
        of_sides(|side| side.threads),
    ];
    if sized {
        let counts = match &row.subject {
            Subject::Generated { kernel, .. } => Some(kernel.counts),
            Subject::Flags(_) => None,
        };
        let both = |ours: Option<u64>, theirs: Option<u64>| match (ours, theirs) {
            (Some(ours), Some(theirs)) => format!("{ours} ({theirs})"),
            (Some(ours), None) => ours.to_string(),
            _ => "–".to_owned(),
        };
        cells.push(both(counts.map(|counts| counts.generations), row.size.map(|size| size[0])));
        cells.push(both(counts.map(|counts| counts.commands / 1000), row.size.map(|size| size[1])));
    }
    let or_dash = |number: Option<String>| number.unwrap_or_else(|| "–".to_owned());
    if past.before {
        let than = |before: Before| if before.stopped { "> " } else { "" };
        let seconds = |before: Before| format!("{}{}", than(before), before.seconds);
        let times =
            |before: Before| than(before).to_owned() + &ratio(before.seconds / figures.processor);
        cells.push(or_dash(row.before.map(seconds)));
        cells.push(or_dash(row.before.map(times)));
    }
    if past.published {
        cells.push(or_dash(row.published.map(|seconds| seconds.to_string())));
        cells.push(or_dash(row.published.map(|published| ratio(published / figures.processor))));
    }
    cells.push(or_dash(done.concrete.map(|seconds| format!("{seconds:.3}"))));
    cells.push(or_dash(done.over_concrete().map(ratio)));
    if peers {
        cells.push(or_dash(done.peer.as_ref().map(|answer| match answer.share < 1.0 {
            true => format!("≈ {:.0}, {:.1} % done", answer.estimate(), 100.0 * answer.share),
            false => format!("{:.3}", answer.seconds),
        })));
    }
    let missed = done.missed();
    cells.push(if missed.is_empty() { "met".to_owned() } else { missed.join("; ") });
    cells
}

/// The section on twins: the greatest ratios.
pub(crate) fn of_twins(times: &[Times]) -> String {
    let mut text = format!(
        "\n## Twins\n\n\
         Kernels with a mistake beside the same kernels without it: rows above, as measured there, and kernels of `corpus/sync`, the least of three runs; seconds\n\
         of the processor. The ratio is (with the mistake − {} s) / clean. These are the {} greatest. {}\n\n\
         | with a mistake | s | clean, s | ratio |\n|---|---|---|---|\n",
        twins::ALLOWED,
        twins::SHOWN,
        twins::verdict(times)
    );
    for one in twins::worst(times) {
        let Times { name, clean, bad } = one;
        let _ = writeln!(text, "| {name} | {bad:.3} | {clean:.3} | {:.2} |", one.ratio());
    }
    text
}

fn ratio(ratio: f64) -> String {
    if ratio >= 10.0 { format!("{ratio:.0}") } else { format!("{ratio:.1}") }
}

/// Shortens 524288 to 524k.
fn short(number: u64) -> String {
    match number {
        0..10_000 => number.to_string(),
        10_000..10_000_000 => format!("{}k", (number + 500) / 1000),
        _ => format!("{:.1}M", number as f64 / 1e6),
    }
}

/// The text of `bench/notes.md` under a title.
pub(crate) fn note<'n>(notes: &'n str, title: &str) -> Option<&'n str> {
    let heading = format!("## {title}\n");
    let start = notes.find(&heading)? + heading.len();
    let rest = &notes[start..];
    let end = rest.find("\n## ").unwrap_or(rest.len());
    Some(rest[..end].trim())
}

/// The machine and the date.
struct Machine {
    cores: usize,
    model: String,
    date: String,
}

impl Machine {
    fn here() -> Self {
        let output = Command::new("date").args(["-u", "+%Y-%m-%d"]).output();
        let date = output.map_or_else(
            |_| "an unknown day".to_owned(),
            |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
        );
        let information = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = information.lines().find_map(|line| line.strip_prefix("model name"));
        let model = model.map_or("unknown", |rest| rest.trim_start_matches([' ', '\t', ':']));
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self { cores, model: model.to_owned(), date }
    }

    fn heading(&self, peers: bool) -> String {
        let Self { cores, model, date } = self;
        let asked = if peers {
            "SymEngine adds up and compares the same outputs, driven from Python, with all summands of a sum at once, its best case. If it did \
             not finish in time, the figure is extrapolated from the finished share.\n"
        } else {
            ""
        };
        format!(
            "# Results\n\n\
             These are the tables of [the papers](glossary.md#papers) on which Warpproof builds, on kernels of our own, with all checks on both sides. They were measured\n\
             on one core of a machine with {cores} ({model}), {date}.\n\
             `cargo run --release -p xtask -- bench papers` writes this page from `bench/papers.txt` and `bench/notes.md`; do not edit it.\n\
             The same figures are in [results.json](results.json). The tables called Production style come from no paper: their kernels are in the style of current libraries, and checking them once took long.\n\n\
             Seconds (by the clock, and of the processor) and memory are those of the whole program; ratios and targets use processor seconds. As in the papers,\n\
             instructions and block syncs are counted for each thread, warp syncs for each warp; of two figures the first is the reference's. Published figures are from\n\
             other machines and other kernels of the same kind. A concrete run is `warpproof simulate` of the same kernels, one after the other: the time to execute\n\
             them without proving anything. A ratio after *before* or *published* is that time over ours, one after *concrete run* is ours over it.\n\
             Targets: those of the row (SGEMM 0.6 s and 325 MB, attention 0.45 s and 128 MB, convolution 0.4 s and 192 MB), and at most 25 concrete runs\n\
             for an equivalence, 4 for a check, 10 for a check with barriers of some warps, 5 for RTM (WEFT, Figure 9). `met` means that all are met; `1.15 s of 0.45 s`\n\
             means that 1.15 s were measured and 0.45 s are the target. A row that misses its target is run three times, and the fastest counts.\n{asked}"
        )
    }
}

fn document(machine: &Machine, content: &Content<'_, '_>) -> Value {
    let Content { tables, plots, twins } = *content;
    let twins: Vec<Value> = twins
        .iter()
        .map(|twin| json!({ "name": twin.name, "seconds": twin.bad, "clean_seconds": twin.clean }))
        .collect();
    let tables: Vec<Value> = tables
        .iter()
        .map(|(table, rows)| {
            let rows: Vec<Value> = rows.iter().map(row).collect();
            json!({ "title": table.title, "rows": rows })
        })
        .collect();
    let plots: Vec<Value> = plots
        .iter()
        .map(|plot| {
            let lines: Vec<Value> = plot
                .lines
                .iter()
                .map(|line| json!({ "name": line.name, "points": line.points, "exponent": line.exponent() }))
                .collect();
            json!({ "title": plot.title, "size": plot.size, "lines": lines })
        })
        .collect();
    let Machine { cores, model, date } = machine;
    json!({
        "schema": 1,
        "machine": { "cores": cores, "model": model },
        "date": date,
        "tables": tables,
        "twins": twins,
        "growth": plots,
    })
}

fn row(done: &MeasuredRow<'_>) -> Value {
    let (row, figures) = (done.row, &done.figures);
    let sides: Vec<Value> = figures
        .sides
        .iter()
        .map(|side| {
            json!({
                "block_syncs": side.block_syncs,
                "warp_syncs": side.warp_syncs,
                "ptx_lines": side.lines,
                "block_threads": side.threads,
            })
        })
        .collect();
    let mut value = json!({
        "name": row.name,
        "verdict": figures.verdict,
        "expected": row.expected,
        "seconds": figures.seconds,
        "processor_seconds": figures.processor,
        "peak_kilobytes": figures.kilobytes,
        "thread_instructions": figures.instructions,
        "sides": sides,
        "published_seconds": row.published,
        "concrete_seconds": done.concrete,
        "missed": done.missed(),
    });
    if let Subject::Generated { kernel, .. } = &row.subject {
        let counts = kernel.counts;
        value["generations"] = counts.generations.into();
        value["commands"] = counts.commands.into();
        value["shared_words"] = counts.words.into();
    }
    if let Some(before) = row.before {
        value["before"] = json!({ "seconds": before.seconds, "stopped": before.stopped });
    }
    if let Some(twin) = &row.twin {
        value["twin"] = twin.as_str().into();
    }
    if let Some(answer) = &done.peer {
        value["symengine"] = json!({ "seconds": answer.seconds, "share": answer.share });
    }
    value
}
