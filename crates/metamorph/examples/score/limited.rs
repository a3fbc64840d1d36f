//! Runs a command with a limit on the processor time of all its processes.
//!
//! The limit is tested every few milliseconds, in Linux's `/proc`. Elsewhere nothing is stopped.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Time between two readings.
const PAUSE: Duration = Duration::from_millis(100);
/// Units of a second in `/proc`.
const TICKS: f64 = 100.0;

/// The end of a run.
pub(crate) enum Finished {
    /// It ended by itself.
    Done { status: i32, output: String, errors: String },
    /// It was stopped at the limit.
    Stopped { seconds: f64 },
}

/// Runs a command; `None` if that fails.
pub(crate) fn run_limited(command: &mut Command, limit: f64) -> Option<Finished> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn().ok()?;
    let output = collect(child.stdout.take()?);
    let errors = collect(child.stderr.take()?);
    let status = loop {
        if let Some(status) = child.try_wait().ok()? {
            break status;
        }
        let seconds = used_by_all(child.id());
        if seconds > limit {
            let group = format!("-{}", child.id());
            Command::new("kill").args(["-KILL", "--", &group]).status().ok()?;
            child.wait().ok()?;
            return Some(Finished::Stopped { seconds });
        }
        std::thread::sleep(PAUSE);
    };
    let (output, errors) = (output.join().ok()?, errors.join().ok()?);
    Some(Finished::Done { status: status.code().unwrap_or(-1), output, errors })
}

/// Reads a pipe to its end, so that the writer need not wait.
fn collect(mut pipe: impl Read + Send + 'static) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// The processor time of a process and of those that it started, of ended ones as well, in seconds.
fn used_by_all(process: u32) -> f64 {
    let folder = format!("/proc/{process}");
    let read = |name: &str| std::fs::read_to_string(format!("{folder}/{name}")).ok();
    let own = read("stat").and_then(|stat| {
        // The name before may contain anything.
        let (_, fields) = stat.rsplit_once(") ")?;
        let fields: Vec<&str> = fields.split(' ').collect();
        fields.get(11..15)?.iter().map(|one| one.parse::<f64>().ok()).sum::<Option<f64>>()
    });
    let threads = std::fs::read_dir(format!("{folder}/task")).into_iter().flatten().flatten();
    let children: Vec<String> = threads
        .filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok())
        .collect();
    let children = children.iter().flat_map(|line| line.split_whitespace());
    let children = children.filter_map(|one| one.parse().ok());
    own.unwrap_or_default() / TICKS + children.map(used_by_all).sum::<f64>()
}
