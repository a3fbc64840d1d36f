//! Open files, the jobs that examine them, and the results shown for each.

use super::protocol::{CancelParams, DocumentParams, HoverParams, method};
use super::work::{self, FileResults, Limits};
use super::{Event, hover, report, uri};
use crate::call::Call;
use driver::Watch;
use driver::project::FILE_NAME;
use lsp_server::{Message, Notification, Request};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;

/// Most jobs at the same time. Each uses several processors itself.
const MAX_JOBS: usize = 2;
/// Bytes of a job's stack, as much as the program's main thread has.
const STACK: usize = 64 << 20;

/// A job that ended, and the call that owns its watch: once the call is dropped, the watch belongs to another.
#[derive(Debug)]
pub(super) struct FinishedJob {
    file: PathBuf,
    /// `None` after a panic, which is a bug of ours.
    found: Option<FileResults>,
    _call: Call,
}

/// An open file.
#[derive(Debug, Default)]
struct Document {
    found: FileResults,
    is_open: bool,
}

/// A job that runs.
#[derive(Clone, Copy, Debug)]
struct Job {
    watch: &'static Watch,
    /// The number of its progress, which is never used again.
    number: u64,
}

/// Files, jobs, and the abilities of the client.
#[derive(Debug)]
pub(super) struct Documents {
    pub(super) limits: Limits,
    pub(super) shows_progress: bool,
    pub(super) refreshes_lenses: bool,
    events: Sender<Event>,
    files: BTreeMap<PathBuf, Document>,
    /// The names that the client uses for files.
    uris: BTreeMap<PathBuf, String>,
    running: BTreeMap<PathBuf, Job>,
    /// Files to examine next.
    waiting: VecDeque<PathBuf>,
    requests: i32,
    jobs: u64,
    is_over: bool,
}

impl Documents {
    pub(super) fn new(events: Sender<Event>) -> Self {
        Self {
            limits: Limits { seconds: 1 },
            shows_progress: false,
            refreshes_lenses: false,
            events,
            files: BTreeMap::new(),
            uris: BTreeMap::new(),
            running: BTreeMap::new(),
            waiting: VecDeque::new(),
            requests: 0,
            jobs: 0,
            is_over: false,
        }
    }

    pub(super) fn open(&mut self, params: &DocumentParams) -> Vec<Message> {
        let uri = &params.text_document.uri;
        let Some(file) = uri::path(uri) else { return Vec::new() };
        self.uris.insert(file.clone(), uri.clone());
        self.files.entry(file.clone()).or_default().is_open = true;
        self.examine_again(&file);
        self.start_jobs()
    }

    pub(super) fn save(&mut self, params: &DocumentParams) -> Vec<Message> {
        let Some(file) = uri::path(&params.text_document.uri) else { return Vec::new() };
        let open = self.files.iter().filter(|(_, one)| one.is_open).map(|(path, _)| path.clone());
        // Other open files may include a header, or be entries of a project.
        let is_source =
            |path: &Path| path.extension().is_some_and(|one| one == "cu" || one == "ptx");
        let concerned: Vec<PathBuf> = match file.parent() {
            Some(folder) if file.file_name().is_some_and(|name| name == FILE_NAME) => {
                open.filter(|one| one.starts_with(folder)).collect()
            }
            _ if !is_source(&file) => open.collect(),
            _ => vec![file],
        };
        concerned.iter().for_each(|file| self.examine_again(file));
        self.start_jobs()
    }

    pub(super) fn close(&mut self, params: &DocumentParams) -> Vec<Message> {
        let Some(file) = uri::path(&params.text_document.uri) else { return Vec::new() };
        if let Some(job) = self.running.get(&file) {
            job.watch.stop();
        }
        self.waiting.retain(|waiting| *waiting != file);
        self.files.entry(file.clone()).or_default().is_open = false;
        let messages = self.show(&file, FileResults::default());
        self.files.remove(&file);
        messages
    }

    pub(super) fn cancel(&mut self, params: &CancelParams) -> Vec<Message> {
        let is_meant = |job: &&Job| params.token == token(job.number);
        if let Some(job) = self.running.values().find(is_meant) {
            job.watch.stop();
        }
        Vec::new()
    }

    pub(super) fn hover(&self, params: &HoverParams) -> Option<Value> {
        let file = uri::path(&params.text_document.uri)?;
        hover::at(&file, params.position, &self.files.get(&file)?.found)
    }

    pub(super) fn lenses(&self, params: &DocumentParams) -> Vec<Value> {
        let file = uri::path(&params.text_document.uri);
        let found = file.and_then(|file| Some((self.files.get(&file)?, file)));
        found.map(|(document, file)| hover::lenses(&file, &document.found)).unwrap_or_default()
    }

    /// Examines a file, starting again if a job for it runs.
    fn examine_again(&mut self, file: &Path) {
        if let Some(job) = self.running.get(file) {
            job.watch.stop();
        }
        if !self.waiting.iter().any(|waiting| waiting == file) {
            self.waiting.push_back(file.to_owned());
        }
    }

    /// Starts jobs for waiting files, unless too many run already.
    pub(super) fn start_jobs(&mut self) -> Vec<Message> {
        let mut messages = Vec::new();
        while self.running.len() < MAX_JOBS && !self.is_over {
            let is_free = |file: &PathBuf| !self.running.contains_key(file);
            let Some(next) = self.waiting.iter().position(is_free) else { break };
            let Some(file) = self.waiting.remove(next) else { break };
            self.jobs += 1;
            let number = self.jobs;
            messages.extend(self.begin_progress(number, &file));
            let mut call = Call::new(work::words(&file, self.limits), Vec::new(), None);
            self.running.insert(file.clone(), Job { watch: call.watch(), number });
            let (events, limits) = (self.events.clone(), self.limits);
            let name = file.clone();
            let job = move || {
                let looked =
                    catch_unwind(AssertUnwindSafe(|| work::check_file(&file, &mut call, limits)));
                report(&events, FinishedJob { file, found: looked.ok(), _call: call });
            };
            if std::thread::Builder::new().stack_size(STACK).spawn(job).is_err() {
                // There is no result, but the file can be saved again.
                self.running.remove(&name);
                let end = json!({ "kind": "end", "message": "no thread could be started" });
                messages.extend(self.progress(number, &end));
            }
        }
        messages
    }

    /// Takes the result of a job, and starts the next one.
    pub(super) fn finish(&mut self, finished: FinishedJob) -> Vec<Message> {
        let FinishedJob { file, found, .. } = &finished;
        let job = self.running.remove(file);
        let is_outdated = self.waiting.contains(file);
        let is_open = self.files.get(file).is_some_and(|document| document.is_open);
        let status_text = match found {
            None => "a bug in warpproof ended this; the log has the message".to_owned(),
            Some(_) if is_outdated || !is_open => "stopped".to_owned(),
            Some(found) => hover::status(&found.summaries),
        };
        let end = json!({ "kind": "end", "message": status_text });
        let FinishedJob { file, found, _call } = finished;
        let mut messages = Vec::new();
        if let (Some(found), true) = (found, is_open && !is_outdated) {
            messages.extend(self.show(&file, found));
            if self.refreshes_lenses {
                messages.push(self.request(method::CODE_LENS_REFRESH, json!(null)));
            }
        }
        messages.extend(job.into_iter().flat_map(|job| self.progress(job.number, &end)));
        messages.extend(self.start_jobs());
        messages
    }

    /// Returns `true` while jobs are running.
    pub(super) fn is_busy(&self) -> bool {
        !self.running.is_empty()
    }

    /// Stops all jobs, and starts no more.
    pub(super) fn stop_all(&mut self) {
        self.is_over = true;
        self.waiting.clear();
        self.running.values().for_each(|job| job.watch.stop());
    }

    /// Replaces the results shown for a file. Diagnostics that no longer hold are cleared, in other files too.
    fn show(&mut self, file: &Path, found: FileResults) -> Vec<Message> {
        let document = self.files.entry(file.to_owned()).or_default();
        let before: BTreeSet<PathBuf> = document.found.diagnostics.keys().cloned().collect();
        document.found = found;
        let now = document.found.diagnostics.keys().cloned();
        let mut paths: BTreeSet<PathBuf> = before.into_iter().chain(now).collect();
        // An empty list shows that a file was examined.
        paths.insert(file.to_owned());
        paths.iter().filter_map(|path| self.publish(path)).collect()
    }

    /// The message with all diagnostics of a file, from all jobs.
    fn publish(&self, path: &Path) -> Option<Message> {
        let uri = self.uris.get(path).cloned().or_else(|| uri::of(path))?;
        let mut diagnostics = Vec::new();
        for document in self.files.values() {
            for one in document.found.diagnostics.get(path).into_iter().flatten() {
                if !diagnostics.contains(one) {
                    diagnostics.push(one.clone());
                }
            }
        }
        let params = json!({ "uri": uri, "diagnostics": diagnostics });
        Some(Notification::new(method::PUBLISH_DIAGNOSTICS.to_owned(), params).into())
    }

    fn begin_progress(&mut self, number: u64, file: &Path) -> Vec<Message> {
        if !self.shows_progress {
            return Vec::new();
        }
        let create = json!({ "token": token(number) });
        let mut messages = vec![self.request(method::CREATE_PROGRESS, create)];
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let begin =
            json!({ "kind": "begin", "title": "warpproof", "message": name, "cancellable": true });
        messages.extend(self.progress(number, &begin));
        messages
    }

    fn progress(&self, number: u64, value: &Value) -> Vec<Message> {
        if !self.shows_progress {
            return Vec::new();
        }
        let params = json!({ "token": token(number), "value": value });
        vec![Notification::new(method::PROGRESS.to_owned(), params).into()]
    }

    fn request(&mut self, method: &str, params: Value) -> Message {
        self.requests += 1;
        Request::new(self.requests.into(), method.to_owned(), params).into()
    }
}

/// The name of a job's progress.
fn token(number: u64) -> String {
    format!("warpproof/{number}")
}
