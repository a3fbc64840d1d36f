//! Runs the released program and measures it: wall-clock seconds of the whole program, processor seconds, and peak
//! resident memory (Linux). The latter two are sampled every half millisecond, so the time after the last sample is
//! missed. Ratios and targets use processor time: on a shared machine, wall-clock time says little.
//!
//! A run below a tenth of a second is repeated five times. The shortest wall-clock time counts, and the longest
//! sampled processor time.

use crate::weft::Kernel;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Seconds below which a run is repeated.
const SHORT: f64 = 0.1;

/// The program, and the folder it runs in.
pub(crate) struct Program {
    path: PathBuf,
    pub(crate) root: PathBuf,
}

/// The measurements of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Figures {
    pub(crate) verdict: String,
    /// Kinds of the report's errors.
    pub(crate) kinds: BTreeSet<String>,
    /// Wall-clock seconds.
    pub(crate) seconds: f64,
    /// Processor seconds.
    pub(crate) processor: f64,
    pub(crate) kilobytes: u64,
    pub(crate) instructions: u64,
    /// Reference first, if there are two.
    pub(crate) sides: Vec<Side>,
}

/// The counts of one launch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Side {
    pub(crate) block_syncs: u64,
    /// Counted for each warp.
    pub(crate) warp_syncs: u64,
    pub(crate) threads: u64,
    pub(crate) lines: u64,
}

/// A run of the program.
pub(crate) struct Run {
    pub(crate) seconds: f64,
    pub(crate) processor: f64,
    pub(crate) kilobytes: u64,
    /// The exit status; `None` if a signal ended it.
    pub(crate) status: Option<i32>,
    pub(crate) output: String,
}

impl Run {
    pub(crate) fn succeeded(&self) -> bool {
        self.status == Some(0)
    }
}

impl Program {
    /// Builds the program.
    pub(crate) fn build(root: &Path) -> Result<Self, String> {
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
        let path = target.join("release/warpproof");
        // It runs in another folder, where a relative path would be wrong.
        let path = path.canonicalize().map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self { path, root: root.to_path_buf() })
    }

    /// Writes a generated kernel to a file in a folder.
    pub(crate) fn write(&self, folder: &str, name: &str, kernel: &Kernel) -> Result<(), String> {
        let folder = self.root.join(folder);
        let file = folder.join(format!("{name}.ptx"));
        std::fs::create_dir_all(&folder)
            .and_then(|()| std::fs::write(&file, &kernel.ptx))
            .map_err(|error| format!("{}: {error}", file.display()))
    }

    /// Measures a row.
    pub(crate) fn measure(&self, name: &str, arguments: &[String]) -> Result<Figures, String> {
        let mut json = arguments.to_vec();
        json.extend(["--format", "json"].map(str::to_owned));
        let best = self.best(&json)?;
        let report: Value =
            serde_json::from_str(&best.output).map_err(|error| format!("{name}: {error}"))?;
        let stats = &report["stats"];
        let number = |value: &Value| value.as_u64().unwrap_or(0);
        let side = |stats: &Value, subject: &String| Side {
            block_syncs: number(&stats["block_syncs"]),
            warp_syncs: number(&stats["warp_syncs"]) / 32,
            threads: number(&stats["block_threads"]),
            lines: self.lines(subject),
        };
        let sides = match stats["launches"].as_array() {
            Some(launches) => {
                launches.iter().zip(&arguments[1..]).map(|(one, at)| side(one, at)).collect()
            }
            None => vec![side(stats, &arguments[1])],
        };
        let findings = report["findings"].as_array().into_iter().flatten();
        let errors = findings.filter(|finding| finding["severity"] == "error");
        let kinds = errors.filter_map(|finding| finding["kind"].as_str()).map(str::to_owned);
        Ok(Figures {
            kinds: kinds.collect(),
            verdict: report["verdict"].as_str().unwrap_or("none").to_owned(),
            seconds: best.seconds,
            processor: best.processor,
            kilobytes: best.kilobytes,
            instructions: number(&stats["thread_instructions"]),
            sides,
        })
    }

    /// Lines of a kernel, given as FILE or FILE::KERNEL.
    fn lines(&self, subject: &str) -> u64 {
        let (file, kernel) = match subject.split_once("::") {
            Some((file, kernel)) => (file, Some(kernel)),
            None => (subject, None),
        };
        let text = std::fs::read_to_string(self.root.join(file)).unwrap_or_default();
        lines_of_kernel(&text, kernel)
    }

    /// Runs the program on one core, repeatedly if it is short; returns the fastest run, with the most memory of all.
    pub(crate) fn best(&self, arguments: &[String]) -> Result<Run, String> {
        let mut best = self.run(arguments)?;
        for _ in 0..4 {
            if best.seconds >= SHORT {
                break;
            }
            let again = self.run(arguments)?;
            let kilobytes = best.kilobytes.max(again.kilobytes);
            let processor = best.processor.max(again.processor);
            let faster = if again.seconds < best.seconds { again } else { best };
            // Sampled processor time is never above the real one, and no run is shorter than its processor time.
            best = Run { kilobytes, processor: processor.min(faster.seconds), ..faster };
        }
        Ok(best)
    }

    /// Returns `true` if the program finds a solver, which proofs for every launch need: a small one succeeds.
    pub(crate) fn has_solver(&self) -> bool {
        let file = "corpus/param/ensures/diffusion.cu".to_owned();
        self.run(&["prove".to_owned(), file]).is_ok_and(|run| run.succeeded())
    }

    /// Runs the program once, on one core.
    pub(crate) fn run(&self, arguments: &[String]) -> Result<Run, String> {
        // `prove` runs on one core in any case.
        let jobs: &[&str] =
            if arguments.first().is_some_and(|one| one == "prove") { &[] } else { &["-j", "1"] };
        // Removes cached answers of a solver.
        let kept = self.root.join("target/papers/answers");
        let _ = std::fs::remove_dir_all(&kept);
        let start = Instant::now();
        let mut child = Command::new(&self.path)
            .args(arguments)
            .args(jobs)
            .env("WARPPROOF_CACHE", &kept)
            .current_dir(&self.root)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("{}: {error}", self.path.display()))?;
        let process = PathBuf::from(format!("/proc/{}", child.id()));
        let output = child.stdout.take();
        // Read in parallel: the output may exceed the buffer of a pipe.
        let reader = std::thread::spawn(move || {
            output.map(std::io::read_to_string).transpose().ok().flatten().unwrap_or_default()
        });
        let (mut kilobytes, mut processor) = (0, 0.0f64);
        let exit = loop {
            if let Some(exit) = child.try_wait().map_err(|error| error.to_string())? {
                break exit;
            }
            kilobytes = resident(&process).unwrap_or(kilobytes);
            let solvers = children(&process);
            processor =
                processor.max(busy(&process) + solvers.iter().map(|one| busy(one)).sum::<f64>());
            std::thread::sleep(Duration::from_micros(500));
        };
        let seconds = start.elapsed().as_secs_f64();
        let output = reader.join().unwrap_or_default();
        Ok(Run { seconds, processor, kilobytes, status: exit.code(), output })
    }
}

/// Peak resident memory of a process so far, in kilobytes.
fn resident(process: &Path) -> Option<u64> {
    let text = std::fs::read_to_string(process.join("status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}

/// Running child processes of a process, such as a solver.
fn children(process: &Path) -> Vec<PathBuf> {
    let tasks = std::fs::read_dir(process.join("task")).into_iter().flatten().flatten();
    let started =
        tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    let numbers = |text: String| -> Vec<PathBuf> {
        text.split_whitespace().map(|number| PathBuf::from(format!("/proc/{number}"))).collect()
    };
    started.flat_map(numbers).collect()
}

/// Processor seconds of a process so far. Of two figures the greater counts: the sum over its live threads, exact to
/// the nanosecond, and the kernel's count in hundredths of a second, which includes ended threads.
fn busy(process: &Path) -> f64 {
    let tasks = std::fs::read_dir(process.join("task")).into_iter().flatten().flatten();
    let own = |task: std::fs::DirEntry| {
        let text = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<f64>().ok()
    };
    let alive: f64 = tasks.filter_map(own).sum::<f64>() / 1e9;
    // User and system time are fields 14 and 15; the name before them may have blanks.
    let text = std::fs::read_to_string(process.join("stat")).unwrap_or_default();
    let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: f64 = fields.skip(11).take(2).filter_map(|field| field.parse::<f64>().ok()).sum();
    alive.max(ticks / 100.0)
}

/// Lines of the body of a kernel (the first one without a name), without comments, source positions and empty lines.
pub(crate) fn lines_of_kernel(text: &str, kernel: Option<&str>) -> u64 {
    let is_start = |line: &&str| {
        let after = line.split(".entry").nth(1).map(|rest| rest.trim_start());
        after.is_some_and(|rest| match kernel {
            Some(kernel) => {
                rest.strip_prefix(kernel).is_some_and(|rest| rest.trim_start().starts_with('('))
            }
            None => true,
        })
    };
    let mut depth = 0;
    let mut lines = 0;
    for line in text.lines().map(str::trim).skip_while(|line| !is_start(line)) {
        let code = line.split("//").next().unwrap_or_default().trim();
        if depth > 0 && !["", "{", "}"].contains(&code) && !code.starts_with(".loc") {
            lines += 1;
        }
        // Braces of vectors open and close on one line.
        let before = depth;
        depth += code.matches('{').count();
        depth = depth.saturating_sub(code.matches('}').count());
        if before > 0 && depth == 0 {
            break;
        }
    }
    lines
}
