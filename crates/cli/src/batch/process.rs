//! A worker process from its parent's side: starts it, passes tasks, kills it, and interprets its death.

use super::answer::Limit;
use super::host::Host;
use super::worker::READY;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

/// The most bytes kept of a worker's standard error.
const MAX_ERROR_OUTPUT: usize = 16_384;
/// The time to wait for that output: a grandchild outside the group may keep the pipe open.
const WAIT: Duration = Duration::from_millis(500);

/// The command that starts workers.
#[derive(Clone, Debug)]
pub(super) struct WorkerCommand<'a> {
    pub(super) host: &'a Host,
    pub(super) memory: u64,
    pub(super) folder: &'a Path,
}

/// A process that answers tasks.
#[derive(Debug)]
pub(super) struct Worker {
    child: Child,
    tasks: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    error_output: Receiver<Vec<u8>>,
}

/// The death of a worker during a task.
#[derive(Debug)]
pub(super) struct Death {
    pub(super) limit: Limit,
    pub(super) message: String,
}

impl Worker {
    /// Starts a worker and waits until it is ready.
    pub(super) fn start(command: &WorkerCommand<'_>) -> io::Result<Self> {
        let (program, words) = command.host.program.split_first().ok_or(io::ErrorKind::NotFound)?;
        let mut child = Command::new(program)
            .args(words)
            .arg("batch-worker")
            .arg(format!("--max-memory={}", command.memory))
            .arg("--folder")
            .arg(command.folder)
            // A backtrace is longer than the kept text, and making one needs memory that is missing.
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Ctrl-C in a terminal is for the parent alone, and a compiler started by a job dies with its group.
            .process_group(0)
            .spawn()?;
        let missing = || io::Error::from(io::ErrorKind::BrokenPipe);
        let tasks = Some(child.stdin.take().ok_or_else(missing)?);
        let answers = BufReader::new(child.stdout.take().ok_or_else(missing)?);
        let error_output = listen(child.stderr.take().ok_or_else(missing)?);
        let mut worker = Self { child, tasks, answers, error_output };
        let mut line = String::new();
        worker.answers.read_line(&mut line)?;
        if line.trim_end() == READY {
            return Ok(worker);
        }
        let (_, words) = worker.kill_and_wait();
        Err(io::Error::other(format!("it did not start: {}", words.trim())))
    }

    /// Returns the process group led by the worker.
    pub(super) fn group(&self) -> Pid {
        Pid::from_raw(self.child.id().cast_signed())
    }

    /// Passes one task, a line without its end, and returns the answer, or `None` if the worker died.
    pub(super) fn ask(&mut self, task: &str) -> Option<String> {
        let tasks = self.tasks.as_mut()?;
        tasks.write_all(format!("{task}\n").as_bytes()).ok()?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer).ok()?;
        // A line without an end is incomplete.
        answer.ends_with('\n').then(|| answer.trim_end().to_owned())
    }

    /// Finds the cause of a worker's death.
    pub(super) fn cause_of_death(mut self) -> Death {
        let (status, words) = self.kill_and_wait();
        let out_of_memory = [
            "out of memory: ",
            "memory allocation of",
            "Cannot allocate memory",
            "bad_alloc",
            "MemoryError",
        ];
        let is_memory = out_of_memory.iter().any(|sign| words.contains(sign))
            // No code here killed it, so the system did, because memory was short.
            || status.is_some_and(|status| status.signal() == Some(Signal::SIGKILL as i32));
        if is_memory {
            let message = "error: the job needs more memory than --max-memory allows\n".to_owned();
            return Death { limit: Limit::Memory, message };
        }
        let cause = cause(status, &words);
        let message = format!(
            "error: the process of this job died twice ({cause}); this is a bug in Warpproof, not in your \
             kernel. Please report it with the job.\n"
        );
        Death { limit: Limit::Crash, message }
    }

    /// Ends the whole group; returns the worker's exit status and the end of its standard error.
    fn kill_and_wait(&mut self) -> (Option<ExitStatus>, String) {
        self.tasks = None;
        // The worker closed its output, so it is dead or about to be. Wait for its own status, not that of our
        // signal.
        let mut status = self.child.try_wait().ok().flatten();
        for _ in 0..50 {
            if status.is_some() {
                break;
            }
            thread::sleep(Duration::from_millis(10));
            status = self.child.try_wait().ok().flatten();
        }
        let _ = killpg(self.group(), Signal::SIGKILL);
        let status = status.or_else(|| self.child.wait().ok());
        let words = self.error_output.recv_timeout(WAIT).unwrap_or_default();
        (status, String::from_utf8_lossy(&words).into_owned())
    }
}

impl Drop for Worker {
    /// Leaves no process behind, not even one of a job.
    fn drop(&mut self) {
        let _ = killpg(self.group(), Signal::SIGKILL);
        let _ = self.child.wait();
    }
}

/// Names the cause of a death other than lack of memory. Leaves out thread numbers and addresses, so that two deaths
/// of one cause have equal texts.
fn cause(status: Option<ExitStatus>, words: &str) -> String {
    if words.contains("has overflowed its stack") {
        return "stack overflow".to_owned();
    }
    if let Some((_, panic)) = words.split_once("panicked at ") {
        return format!("panic at {}", panic.lines().take(2).collect::<Vec<_>>().join(" "));
    }
    match status.map(|status| (status.signal(), status.code())) {
        Some((Some(signal), _)) => Signal::try_from(signal)
            .map_or_else(|_| format!("signal {signal}"), |one| one.to_string()),
        Some((None, Some(code))) => format!("exit status {code}"),
        _ => "no status".to_owned(),
    }
}

/// Drains a worker's standard error, so that it never blocks, and keeps the end.
fn listen(mut stream: ChildStderr) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let (mut kept, mut chunk) = (Vec::new(), [0; MAX_ERROR_OUTPUT]);
        while let Ok(count @ 1..) = stream.read(&mut chunk) {
            kept.extend_from_slice(&chunk[..count]);
            kept.drain(..kept.len().saturating_sub(MAX_ERROR_OUTPUT));
        }
        let _ = sender.send(kept);
    });
    receiver
}
