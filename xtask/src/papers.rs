//! The papers' tables: runs each row of `bench/papers.txt` with the released program, one at a time and on
//! one core, and writes `docs/results.md` beside the published figures.
//!
//! Time is that of the clock around the whole program, memory the most it ever had resident (Linux). The
//! published figures are from other machines: a ratio says how far apart, not how much faster.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A row as the file has it.
struct Row {
    name: String,
    published: Option<f64>,
    expected: String,
    arguments: Vec<String>,
}

/// A table and its rows.
struct Table {
    title: String,
    rows: Vec<Row>,
}

/// What a run of a row was like.
struct Measured {
    verdict: String,
    seconds: f64,
    kilobytes: u64,
    instructions: u64,
}

/// Runs all rows and writes the page; whether every verdict is the expected one.
///
/// # Errors
/// What is wrong with the file, the program or the page.
pub(crate) fn run(root: &Path) -> Result<bool, String> {
    let tables = read(root)?;
    let program = build(root)?;
    let mut page = heading();
    let mut all_expected = true;
    for table in &tables {
        println!("{}", table.title);
        let _ = write!(
            page,
            "\n## {}\n\n| kernels | verdict | seconds | MB | million instructions | published, s | ratio |\n\
             |---|---|---|---|---|---|---|\n",
            table.title
        );
        for row in &table.rows {
            let measured = measure(&program, &root.join("corpus"), row)?;
            let expected = measured.verdict == row.expected;
            all_expected &= expected;
            let line = line(row, &measured);
            println!("  {line}{}", if expected { "" } else { "  <- not the expected verdict" });
            let _ = writeln!(page, "{line}");
        }
    }
    let path = root.join("docs/results.md");
    std::fs::write(&path, page).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(all_expected)
}

fn line(row: &Row, measured: &Measured) -> String {
    let Measured { verdict, seconds, kilobytes, instructions } = measured;
    let published = row.published.map_or("–".to_owned(), |seconds| seconds.to_string());
    let ratio = row.published.map_or("–".to_owned(), |published| {
        let ratio = published / seconds;
        if ratio >= 10.0 { format!("{ratio:.0}") } else { format!("{ratio:.1}") }
    });
    let (megabytes, millions) = (*kilobytes as f64 / 1024.0, *instructions as f64 / 1e6);
    format!(
        "| {} | {verdict} | {seconds:.3} | {megabytes:.0} | {millions:.2} | {published} | {ratio} |",
        row.name
    )
}

fn heading() -> String {
    let output = Command::new("date").args(["-u", "+%Y-%m-%d"]).output();
    let date = output.map_or_else(
        |_| "an unknown day".to_owned(),
        |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
    );
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let information = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = information.lines().find_map(|line| line.strip_prefix("model name"));
    let model = model.map_or("unknown", |rest| rest.trim_start_matches([' ', '\t', ':']));
    format!(
        "# Results\n\n\
         The papers' tables on kernels of our own writing, with all checks on both sides, on one core of a machine with {cores} ({model}),\n\
         {date}. `cargo run --release -p xtask -- bench papers` writes this page; nobody edits it. Seconds and memory are those of the\n\
         whole program. Published figures are from other machines and other kernels of the same kind.\n"
    )
}

fn read(root: &Path) -> Result<Vec<Table>, String> {
    let path = root.join("bench/papers.txt");
    let text =
        std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut tables: Vec<Table> = Vec::new();
    let lines = text.lines().enumerate();
    for (number, line) in lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        let wrong = |what: &str| format!("{}:{}: {what}", path.display(), number + 1);
        if let Some(title) = line.strip_prefix("table: ") {
            tables.push(Table { title: title.to_owned(), rows: Vec::new() });
            continue;
        }
        let table = tables.last_mut().ok_or_else(|| wrong("a row before any table"))?;
        let parts: Vec<&str> = line.split(" | ").collect();
        let [name, published, expected, command] = parts[..] else {
            return Err(wrong("a row has a name, published seconds, a verdict and a command"));
        };
        let published = match published {
            "-" => None,
            number => Some(number.parse().map_err(|_| wrong("not a number of seconds"))?),
        };
        let mut arguments = Vec::new();
        for word in command.split_whitespace() {
            match word.strip_prefix('@') {
                None => arguments.push(word.to_owned()),
                Some(file) => {
                    let path = root.join("corpus").join(file);
                    let text = std::fs::read_to_string(&path)
                        .map_err(|error| wrong(&format!("{file}: {error}")))?;
                    arguments.extend(text.split_whitespace().map(str::to_owned));
                }
            }
        }
        table.rows.push(Row {
            name: name.to_owned(),
            published,
            expected: expected.to_owned(),
            arguments,
        });
    }
    Ok(tables)
}

/// Builds the program; where it is.
fn build(root: &Path) -> Result<PathBuf, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["build", "--release", "-p", "warpproof"])
        .current_dir(root)
        .status()
        .map_err(|error| format!("cargo: {error}"))?;
    if !status.success() {
        return Err("the program does not build".to_owned());
    }
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    Ok(target.join("release/warpproof"))
}

/// Runs a row.
fn measure(program: &Path, folder: &Path, row: &Row) -> Result<Measured, String> {
    let start = Instant::now();
    let mut child = Command::new(program)
        .args(&row.arguments)
        .args(["--format", "json", "-j", "1"])
        .current_dir(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("{}: {error}", program.display()))?;
    let status = PathBuf::from(format!("/proc/{}/status", child.id()));
    let output = child.stdout.take();
    // The output may be longer than what a pipe holds.
    let reader = std::thread::spawn(move || {
        output.map(std::io::read_to_string).transpose().ok().flatten().unwrap_or_default()
    });
    let mut kilobytes = 0;
    while child.try_wait().map_err(|error| error.to_string())?.is_none() {
        kilobytes = resident(&status).unwrap_or(kilobytes);
        std::thread::sleep(Duration::from_millis(1));
    }
    let seconds = start.elapsed().as_secs_f64();
    let text = reader.join().unwrap_or_default();
    let report: serde_json::Value =
        serde_json::from_str(&text).map_err(|error| format!("{}: {error}", row.name))?;
    Ok(Measured {
        verdict: report["verdict"].as_str().unwrap_or("none").to_owned(),
        seconds,
        kilobytes,
        instructions: report["stats"]["thread_instructions"].as_u64().unwrap_or(0),
    })
}

/// The most a process had resident so far, in kilobytes.
fn resident(status: &Path) -> Option<u64> {
    let text = std::fs::read_to_string(status).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}
