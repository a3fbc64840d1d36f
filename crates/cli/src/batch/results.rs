//! The result file: one line for each job, in the order of the jobs, only ever appended to.

use super::MAX_LINE_BYTES;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// A result that waits for earlier ones.
#[derive(Debug)]
pub(super) struct Entry {
    /// The id of the job, as JSON.
    pub(super) id: String,
    /// The hash of the job.
    pub(super) key: String,
    pub(super) answer: Answer,
}

/// The source of an answer.
#[derive(Debug)]
pub(super) enum Answer {
    /// A worker: JSON, and the data for `--timings`.
    Own { body: String, timing: String },
    /// An equal earlier job.
    CopyOf(u64),
}

/// The number of jobs with each verdict.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) proved: u64,
    pub(super) refuted: u64,
    pub(super) unknown: u64,
    pub(super) invalid: u64,
    pub(super) ran: u64,
    pub(super) copied: u64,
    /// Answered by an earlier run of the same batch.
    pub(super) earlier: u64,
}

/// An open result file.
#[derive(Debug)]
pub(super) struct Results {
    output: File,
    /// The written lines, as a source for copies: the output itself if it can be read.
    store: File,
    is_file: bool,
    name: String,
    with_timings: bool,
    /// The start of each job's line, and of the next one.
    offsets: Vec<u64>,
    waiting: BTreeMap<u64, Entry>,
    pub(super) counts: Counts,
}

/// A line of an earlier run.
#[derive(Debug, Deserialize)]
pub(super) struct Earlier {
    pub(super) id: Value,
    pub(super) job: String,
    verdict: String,
}

impl Results {
    /// Opens the file; without `resume` it must be missing or empty.
    pub(super) fn open(path: &Path, resume: bool, with_timings: bool) -> Result<Self, String> {
        let name = path.display().to_string();
        let wrong = |error: io::Error| format!("{name}: {error}");
        if path == Path::new("-") {
            if resume {
                return Err("--resume needs a results file, not standard output".to_owned());
            }
            let output = io::stdout().as_fd().try_clone_to_owned().map_err(wrong)?;
            return Self::unreadable(output.into(), "standard output".to_owned(), with_timings);
        }
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true);
        let output = match options.open(path) {
            // A pipe can only be written.
            Err(_) if path.exists() && !path.is_file() => {
                OpenOptions::new().append(true).open(path).map_err(wrong)?
            }
            opened => opened.map_err(wrong)?,
        };
        let facts = output.metadata().map_err(wrong)?;
        if !facts.is_file() {
            return Self::unreadable(output, name, with_timings);
        }
        match output.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(format!("{name}: another batch is writing to it"));
            }
            Err(TryLockError::Error(error)) => return Err(wrong(error)),
        }
        if facts.len() > 0 && !resume {
            return Err(format!(
                "{name} already contains results: continue them with --resume, or choose another file"
            ));
        }
        let store = output.try_clone().map_err(wrong)?;
        Ok(Self::over(output, store, true, name, with_timings))
    }

    /// Writes to an output that cannot be read back.
    fn unreadable(output: File, name: String, with_timings: bool) -> Result<Self, String> {
        let store = unnamed_file().map_err(|error| format!("a temporary file: {error}"))?;
        Ok(Self::over(output, store, false, name, with_timings))
    }

    fn over(output: File, store: File, is_file: bool, name: String, with_timings: bool) -> Self {
        let (offsets, waiting, counts) = (vec![0], BTreeMap::new(), Counts::default());
        Self { output, store, is_file, name, with_timings, offsets, waiting, counts }
    }

    /// Reads the lines of an earlier run, passes each to a function that may refuse it, and cuts off an incomplete
    /// last one.
    pub(super) fn resume(
        &mut self,
        mut accept: impl FnMut(u64, &Earlier) -> Result<(), String>,
    ) -> Result<(), String> {
        let name = self.name.clone();
        let wrong = |error: io::Error| format!("{name}: {error}");
        let mut reader = BufReader::new(self.store.try_clone().map_err(wrong)?);
        let (mut line, mut end) = (Vec::new(), 0);
        loop {
            line.clear();
            let mut bounded = reader.by_ref().take(MAX_LINE_BYTES);
            let count = bounded.read_until(b'\n', &mut line).map_err(wrong)?;
            if count as u64 == MAX_LINE_BYTES && line.last() != Some(&b'\n') {
                return Err(format!("{name}: a line has more than {MAX_LINE_BYTES} bytes"));
            }
            if line.last() != Some(&b'\n') {
                if count > 0 {
                    self.output.set_len(end).map_err(wrong)?;
                }
                return Ok(());
            }
            let number = self.written();
            let earlier: Earlier = serde_json::from_slice(&line).map_err(|error| {
                format!("{name}: line {} is not a result of a batch: {error}", number + 1)
            })?;
            accept(number, &earlier)?;
            self.counts.add(&earlier.verdict);
            self.counts.earlier += 1;
            end += count as u64;
            self.offsets.push(end);
        }
    }

    /// Returns the number of written lines.
    pub(super) fn written(&self) -> u64 {
        self.offsets.len() as u64 - 1
    }

    /// Takes the result of the job at a position, and writes all results without a gap before them.
    pub(super) fn put(&mut self, position: u64, entry: Entry) -> Result<(), String> {
        self.waiting.insert(position, entry);
        while let Some(entry) = self.waiting.remove(&self.written()) {
            let written = self.line(&entry).and_then(|line| self.append(&line));
            written
                .map_err(|error| format!("results cannot be written to {}: {error}", self.name))?;
        }
        Ok(())
    }

    fn line(&mut self, entry: &Entry) -> io::Result<String> {
        let Entry { id, key, answer } = entry;
        let copied;
        let (body, timing) = match answer {
            Answer::Own { body, timing } => (body.as_str(), timing.as_str()),
            Answer::CopyOf(position) => {
                copied = self.body(*position)?;
                self.counts.copied += 1;
                (copied.as_str(), r#"{"copied":true}"#)
            }
        };
        let fields = body.strip_prefix('{').and_then(|body| body.strip_suffix('}'));
        let fields = fields.ok_or(ErrorKind::InvalidData)?;
        self.counts.add(verdict(fields));
        let timing =
            if self.with_timings { format!(r#","timing":{timing}"#) } else { String::new() };
        Ok(format!("{{\"id\":{id},\"job\":\"{key}\",{fields}{timing}}}\n"))
    }

    /// Reads the answer to a job whose line is written.
    pub(super) fn body(&self, position: u64) -> io::Result<String> {
        let place = usize::try_from(position).map_err(io::Error::other)?;
        let [start, end] = self.offsets[place..][..2] else {
            return Err(ErrorKind::InvalidInput.into());
        };
        let mut bytes = vec![0; usize::try_from(end - start).map_err(io::Error::other)?];
        self.store.read_exact_at(&mut bytes, start)?;
        let line = String::from_utf8(bytes).map_err(io::Error::other)?;
        // Quotes inside of an id or a message are escaped, so these are the fields.
        let (_, fields) =
            line.trim_end().split_once(r#","job":""#).ok_or(ErrorKind::InvalidData)?;
        let (_, fields) = fields.split_once("\",").ok_or(ErrorKind::InvalidData)?;
        let fields = match fields.rsplit_once(r#","timing":{"#) {
            Some((fields, _)) => fields,
            None => fields.strip_suffix('}').ok_or(ErrorKind::InvalidData)?,
        };
        Ok(format!("{{{fields}}}"))
    }

    /// Writes a line at once. One that does not fit on the disk is removed again.
    fn append(&mut self, line: &str) -> io::Result<()> {
        let end = self.offsets.last().copied().unwrap_or(0);
        let written = self.output.write_all(line.as_bytes()).and_then(|()| self.output.flush());
        if let Err(error) = written {
            if self.is_file {
                let _ = self.output.set_len(end);
            }
            return Err(error);
        }
        if !self.is_file {
            self.store.write_all_at(line.as_bytes(), end)?;
        }
        self.offsets.push(end + line.len() as u64);
        Ok(())
    }
}

impl Counts {
    fn add(&mut self, verdict: &str) {
        match verdict {
            "proved" => self.proved += 1,
            "refuted" => self.refuted += 1,
            "unknown" => self.unknown += 1,
            "ran" => self.ran += 1,
            _ => self.invalid += 1,
        }
    }
}

/// Returns the verdict of an answer, its first field.
fn verdict(fields: &str) -> &str {
    let rest = fields.strip_prefix(r#""verdict":""#).unwrap_or_default();
    rest.split('"').next().unwrap_or_default()
}

/// Opens a file without a name, so that nothing remains of it however this process ends.
fn unnamed_file() -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    let mut number = 0;
    loop {
        let name = format!("warpproof-batch-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        match options.open(&path) {
            Ok(file) => return std::fs::remove_file(&path).map(|()| file),
            // Left behind by a process with the same number that was killed in between.
            Err(error) if error.kind() == ErrorKind::AlreadyExists && number < 1000 => number += 1,
            Err(error) => return Err(error),
        }
    }
}
