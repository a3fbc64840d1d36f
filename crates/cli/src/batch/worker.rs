//! The worker process: runs jobs in sequence, a task a line on standard input, an answer a line on standard output.
//!
//! Any job may kill the worker. So the worker has no state that must survive, and its parent notices the death by the
//! end of the worker's output.

use super::answer::of_call;
use super::host::Host;
use super::job::Task;
use super::options::WorkerArgs;
use crate::call::{Call, call};
use driver::Exit;
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::{dup2_stdin, dup2_stdout, getpgrp, getpid};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::AsFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

/// The first line of a worker.
pub(super) const READY: &str = "ready";

/// Bytes of the stack for jobs: terms and syntax trees are followed recursively.
const STACK: usize = 256 << 20;

/// Runs jobs until there are no more.
pub(crate) fn run(args: &WorkerArgs, host: &Host) -> u8 {
    match serve(args, host) {
        Ok(()) => Exit::Success as u8,
        Err(error) => {
            crate::console::print_message(&format!("error: {error}\n"));
            Exit::BadInput as u8
        }
    }
}

fn serve(args: &WorkerArgs, host: &Host) -> io::Result<()> {
    let (tasks, mut answers) = pipes()?;
    std::env::set_current_dir(&args.folder)?;
    // A crash is an answer; it needs no core file.
    let _ = setrlimit(Resource::RLIMIT_CORE, 0, 0);
    let is_busy = Arc::new(AtomicBool::new(false));
    let (sender, receiver) = sync_channel::<String>(1);
    let (busy, python) = (Arc::clone(&is_busy), host.python.clone());
    writeln!(answers, "{READY}")?;
    let work = move || work(&receiver, &busy, answers, python.as_ref());
    let thread = thread::Builder::new().name("job".to_owned()).stack_size(STACK).spawn(work)?;
    limit_memory(args.max_memory)?;
    for line in tasks.lines() {
        let line = line?;
        is_busy.store(true, Ordering::SeqCst);
        if sender.send(line).is_err() {
            break;
        }
    }
    // The answer is not needed any more. Compilers and solvers started by a job are in the same group of processes.
    if is_busy.load(Ordering::SeqCst) && !thread.is_finished() {
        if getpgrp() == getpid() {
            let _ = killpg(getpgrp(), Signal::SIGKILL);
        }
        std::process::exit(i32::from(Exit::Unknown as u8));
    }
    drop(sender);
    let _ = thread.join();
    Ok(())
}

/// Takes both streams, so that a job can neither read tasks nor print between answers.
fn pipes() -> io::Result<(BufReader<File>, File)> {
    let tasks = io::stdin().as_fd().try_clone_to_owned()?;
    let answers = io::stdout().as_fd().try_clone_to_owned()?;
    dup2_stdin(File::open("/dev/null")?)?;
    dup2_stdout(io::stderr())?;
    Ok((BufReader::new(File::from(tasks)), File::from(answers)))
}

/// Lets this process map `bytes` more than it has mapped so far. An allocation beyond that fails and ends this
/// process alone.
fn limit_memory(bytes: u64) -> io::Result<()> {
    let mapped = mapped_bytes().unwrap_or(0);
    let limit = mapped.saturating_add(bytes);
    Ok(setrlimit(Resource::RLIMIT_AS, limit, limit)?)
}

/// Reads the used address space; `None` without `/proc`.
fn mapped_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmSize:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes << 10)
}

fn work(tasks: &Receiver<String>, busy: &AtomicBool, mut answers: File, python: Option<&PathBuf>) {
    while let Ok(line) = tasks.recv() {
        let mut answer = answer(&line, python);
        answer.push('\n');
        busy.store(false, Ordering::SeqCst);
        if answers.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

fn answer(line: &str, python: Option<&PathBuf>) -> String {
    let task: Task = match serde_json::from_str(line) {
        Ok(task) => task,
        Err(error) => return super::answer::invalid(&format!("a worker was asked: {error}")),
    };
    let command = task.words.first().cloned().unwrap_or_default();
    let texts = task.files.into_iter().map(|(name, text)| (name, text.into_bytes())).collect();
    let called =
        catch_unwind(AssertUnwindSafe(|| call(&mut Call::new(task.words, texts, python.cloned()))));
    match called {
        Ok(called) => of_call(&command, &called),
        // The message of the panic is on standard error. Tables may be half written, so a fresh process continues.
        Err(_) => std::process::exit(i32::from(Exit::Bug as u8)),
    }
}
