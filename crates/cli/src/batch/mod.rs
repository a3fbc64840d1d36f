//! `batch`: runs many jobs, in processes of their own, with enforced limits.
//!
//! A job is a line of JSON with a command line and the contents of files ([`job`]). Jobs run in worker processes
//! ([`worker`]), which are this program again. Running out of memory or of stack cannot be caught, so the process
//! dies alone, and its job is answered with the limit ([`process`], [`pool`]). A result is a function of its job. It
//! contains no times or worker numbers, so the result file is the same for any number of workers, and after a restart
//! ([`results`]).

mod answer;
mod host;
mod job;
pub(crate) mod options;
mod pool;
mod process;
mod results;
mod signals;
mod worker;

pub use host::Host;
pub(crate) use worker::run as run_worker;

use crate::console::print_message;
use crate::limit_args;
use driver::{Exit, escape};
use job::{Job, JobLimits};
use options::BatchArgs;
use pool::{Lines, Plan};
use process::WorkerCommand;
use results::{Counts, Results};
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Stdin};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The longest line that is read as a job, in bytes.
const MAX_LINE_BYTES: u64 = 256 << 20;

/// Runs all jobs of a file, writes their results, and returns the exit status.
pub(crate) fn run(args: &BatchArgs, host: &Host) -> u8 {
    if args.ray.is_some() {
        return fail(
            "--ray needs the Python package: pip install 'warpproof[ray]', then python -m warpproof batch --ray …",
        );
    }
    // Before any thread starts: all threads then leave signals to the one that waits for them.
    let signals = signals::catch();
    let opened = open(args).and_then(|mut jobs| {
        let results = Results::open(&args.output, args.resume, args.timings)?;
        let limits = JobLimits {
            instructions: args.max_instructions,
            time: args.timeout,
            memory: args.max_memory,
        };
        let (results, first_results) = resume(results, &mut jobs, limits, args)?;
        Ok((jobs, results, limits, first_results))
    });
    let (jobs, results, limits, first_results) = match opened {
        Ok(opened) => opened,
        Err(error) => return fail(&error),
    };
    let folder = folder(&args.jobs);
    let worker = WorkerCommand { host, memory: args.max_memory, folder: &folder };
    let workers = limit_args::jobs(args.workers);
    let plan = Plan { worker, workers, limits, signals: &signals, first_results };
    let (results, error) = pool::run(&plan, jobs, results);
    let done = results.written();
    let hint = if args.output == Path::new("-") { "" } else { "; --resume continues from there" };
    if let Some(error) = error {
        return fail(&format!("{error}\n{done} jobs are answered{hint}"));
    }
    if let Some(signal) = signals.signal() {
        print_message(&format!("interrupted: {done} jobs are answered{hint}\n"));
        // 128 plus the number of the signal, as in shells.
        return u8::try_from(128 + signal).unwrap_or(Exit::Unknown as u8);
    }
    print_message(&summary(done, results.counts));
    Exit::Success as u8
}

/// Reads a line of a job file. Returns the task as JSON, or the reason why the line is not a job.
pub(crate) fn read_job(line: &[u8]) -> Result<String, String> {
    let limits = JobLimits { instructions: None, time: Duration::from_secs(1), memory: 1 << 30 };
    Job::read(line, 0, limits).task
}

/// Reads the results of an earlier run, and each answer as if another job had to copy it. Returns their number.
pub(crate) fn read_results(path: &Path) -> Result<u64, String> {
    let mut results = Results::open(path, true, false)?;
    results.resume(|_, _| Ok(()))?;
    for position in 0..results.written() {
        results.body(position).map_err(|error| error.to_string())?;
    }
    Ok(results.written())
}

fn fail(message: &str) -> u8 {
    print_message(&format!("error: {}\n", escape::plain(message)));
    Exit::BadInput as u8
}

fn summary(done: u64, counts: Counts) -> String {
    let Counts { proved, refuted, unknown, invalid, ran, copied, earlier } = counts;
    let mut text = format!(
        "{done} jobs: {proved} proved, {refuted} refuted, {unknown} unknown, {invalid} bad input"
    );
    for (count, what) in [(ran, "run"), (copied, "copied"), (earlier, "from an earlier run")] {
        if count > 0 {
            text.push_str(&format!(", {count} {what}"));
        }
    }
    text + "\n"
}

/// Returns the folder of the job file: paths of jobs are relative to it.
fn folder(jobs: &Path) -> PathBuf {
    let parent = jobs.parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.map_or_else(|| PathBuf::from("."), Path::to_owned)
}

/// A job file, read line by line without blank lines.
enum Jobs {
    File(BufReader<File>, PathBuf),
    Stdin(BufReader<Stdin>),
}

fn open(args: &BatchArgs) -> Result<Jobs, String> {
    if args.jobs == Path::new("-") {
        return Ok(Jobs::Stdin(BufReader::new(std::io::stdin())));
    }
    let file = driver::open(&args.jobs);
    let file = file.map_err(|error| format!("{}: {error}", args.jobs.display()))?;
    Ok(Jobs::File(BufReader::new(file), args.jobs.clone()))
}

impl Lines for Jobs {
    fn next_line(&mut self) -> Result<Option<Vec<u8>>, String> {
        loop {
            let mut line = Vec::new();
            let (read, name) = match self {
                Self::File(file, name) => (
                    file.take(MAX_LINE_BYTES).read_until(b'\n', &mut line),
                    name.display().to_string(),
                ),
                Self::Stdin(stdin) => {
                    let read = stdin.take(MAX_LINE_BYTES).read_until(b'\n', &mut line);
                    (read, "standard input".to_owned())
                }
            };
            if read.map_err(|error| format!("{name}: {error}"))? == 0 {
                return Ok(None);
            }
            if line.last() != Some(&b'\n') && line.len() as u64 == MAX_LINE_BYTES {
                return Err(format!("{name}: a line has more than {MAX_LINE_BYTES} bytes"));
            }
            if !line.trim_ascii().is_empty() {
                return Ok(Some(line.trim_ascii().to_vec()));
            }
        }
    }
}

/// Jobs with a result, by their hashes: the position of the first result with that hash.
type FirstResults = HashMap<[u8; 32], u64>;

/// Skips the jobs that an earlier run answered. Each result must be that of the job at its position.
fn resume(
    mut results: Results,
    jobs: &mut Jobs,
    limits: JobLimits,
    args: &BatchArgs,
) -> Result<(Results, FirstResults), String> {
    let mut first_results = FirstResults::new();
    if !args.resume {
        return Ok((results, first_results));
    }
    let name = args.output.display();
    results.resume(|position, earlier| {
        let number = position + 1;
        let Some(line) = jobs.next_line()? else {
            return Err(format!("{name}: result {number} has no job: there are only {position} jobs"));
        };
        let job = Job::read(&line, position, limits);
        let id = earlier.id.to_string();
        if job.id != id {
            let expected = &job.id;
            return Err(format!("{name}: result {number} belongs to {id}, but job {number} is {expected}"));
        }
        if job.key_text() != earlier.job {
            return Err(format!(
                "{name}: result {number} ({id}) belongs to a different job: the job or its limits have changed since"
            ));
        }
        first_results.entry(job.key).or_insert(position);
        Ok(())
    })?;
    Ok((results, first_results))
}
