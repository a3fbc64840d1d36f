//! The pool: a thread reads jobs, one thread for each worker passes them on, and a supervisor checks the clock and
//! signals.
//!
//! Results are put in order before they are written. The reader waits if it is too far ahead of the first unanswered
//! job, so memory does not grow with the number of jobs.

use super::answer::{Limit, died, invalid};
use super::job::{Job, JobLimits};
use super::process::{Worker, WorkerCommand};
use super::results::{Answer, Entry, Results};
use super::signals::ReceivedSignals;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::collections::{HashMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The most jobs that may be read ahead of the first unanswered one.
const WINDOW: u64 = 16_384;
/// The most bytes of jobs that wait for a worker.
const BYTES: usize = 256 << 20;
/// The supervisor's interval.
const TICK: Duration = Duration::from_millis(20);
/// The time that jobs have after a signal to write their partial results.
const GRACE: Duration = Duration::from_secs(2);
/// The number of attempts to start a worker before the batch gives up.
const START_ATTEMPTS: u32 = 3;

/// The source of jobs: returns a line without its end, `None` at the end.
pub(super) trait Lines: Send {
    fn next_line(&mut self) -> Result<Option<Vec<u8>>, String>;
}

/// The settings of a pool.
#[derive(Debug)]
pub(super) struct Plan<'a> {
    pub(super) worker: WorkerCommand<'a>,
    pub(super) workers: usize,
    pub(super) limits: JobLimits,
    pub(super) signals: &'a ReceivedSignals,
    /// Hashes of answered jobs, with their positions.
    pub(super) first_results: HashMap<[u8; 32], u64>,
}

struct State {
    queue: VecDeque<(u64, Job)>,
    bytes: usize,
    results: Results,
    /// The number of jobs read; final once `ended` is set.
    read: u64,
    ended: bool,
    stop: bool,
    error: Option<String>,
    /// The number of running worker threads.
    slots: usize,
}

/// A running job: its deadline, and the process group to kill.
#[derive(Debug, Default)]
struct Running {
    deadline: Option<(Instant, Pid)>,
    is_killed: bool,
}

struct Pool<'a> {
    plan: &'a Plan<'a>,
    state: Mutex<State>,
    /// Signals a change: a new job, a written result, or the end.
    changed: Condvar,
    running: Vec<Mutex<Running>>,
}

/// Answers all jobs. Returns the results, and the error that ended it early.
pub(super) fn run<L: Lines + 'static>(
    plan: &Plan<'_>,
    lines: L,
    results: Results,
) -> (Results, Option<String>) {
    let read = results.written();
    let state = State {
        queue: VecDeque::new(),
        bytes: 0,
        results,
        read,
        ended: false,
        stop: false,
        error: None,
        slots: plan.workers,
    };
    let running = (0..plan.workers).map(|_| Mutex::default()).collect();
    let pool = Pool { plan, state: Mutex::new(state), changed: Condvar::new(), running };
    // Reading from a pipe cannot be interrupted. So a detached thread reads the lines and hands them over.
    let lines = QueuedLines::start(lines);
    thread::scope(|scope| {
        for slot in 0..plan.workers {
            let pool = &pool;
            scope.spawn(move || pool.work(slot));
        }
        scope.spawn(|| pool.read(lines));
        pool.supervise();
    });
    let state = pool.state.into_inner().unwrap_or_else(PoisonError::into_inner);
    (state.results, state.error)
}

/// Lines that another thread reads.
struct QueuedLines(std::sync::mpsc::Receiver<Result<Vec<u8>, String>>);

impl QueuedLines {
    fn start<L: Lines + 'static>(mut lines: L) -> Self {
        let (sender, receiver) = std::sync::mpsc::sync_channel(64);
        thread::spawn(move || {
            while let Some(line) = lines.next_line().transpose() {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self(receiver)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Pool<'_> {
    /// Reads jobs until there are no more, and queues them.
    fn read(&self, lines: QueuedLines) {
        let mut first_results = self.plan.first_results.clone();
        let mut position = locked(&self.state).read;
        while self.has_room() {
            let line = match lines.0.recv_timeout(TICK) {
                Ok(Ok(line)) => line,
                Ok(Err(error)) => {
                    self.fail(error);
                    break;
                }
                Err(std::sync::mpsc::RecvTimeoutError::Timeout) => continue,
                Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => break,
            };
            let job = Job::read(&line, position, self.plan.limits);
            let first = *first_results.entry(job.key).or_insert(position);
            self.take(position, job, first);
            position += 1;
        }
        locked(&self.state).ended = true;
        self.changed.notify_all();
    }

    /// Waits until another job may be read; returns `false` if none is wanted.
    fn has_room(&self) -> bool {
        let mut state = locked(&self.state);
        loop {
            let ahead = state.read - state.results.written();
            if state.stop {
                return false;
            }
            if ahead < WINDOW && state.bytes < BYTES {
                return true;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Queues a job, unless its answer is known.
    fn take(&self, position: u64, job: Job, first: u64) {
        let mut state = locked(&self.state);
        state.read = position + 1;
        let answer = match &job.task {
            _ if first < position => Some(Answer::CopyOf(first)),
            Err(message) => Some(Answer::Own { body: invalid(message), timing: "{}".to_owned() }),
            Ok(_) => None,
        };
        match answer {
            Some(answer) => {
                let entry = Entry { key: job.key_text(), id: job.id, answer };
                self.put(&mut state, position, entry);
            }
            None => {
                state.bytes += job.size();
                state.queue.push_back((position, job));
            }
        }
        drop(state);
        self.changed.notify_all();
    }

    fn put(&self, state: &mut State, position: u64, entry: Entry) {
        if state.stop && state.error.is_some() {
            return;
        }
        if let Err(error) = state.results.put(position, entry) {
            state.error.get_or_insert(error);
            state.stop = true;
        }
    }

    fn fail(&self, error: String) {
        let mut state = locked(&self.state);
        state.error.get_or_insert(error);
        state.stop = true;
        drop(state);
        self.changed.notify_all();
    }

    /// Passes jobs to a worker, one at a time.
    fn work(&self, slot: usize) {
        let mut worker = None;
        while let Some((position, job)) = self.next_job() {
            let begun = Instant::now();
            let Some(body) =
                self.answer(slot, &mut worker, job.task.as_deref().unwrap_or_default())
            else {
                break;
            };
            let seconds = begun.elapsed().as_secs_f64();
            let timing = format!(r#"{{"seconds":{seconds:.4},"worker":{slot}}}"#);
            let answer = Answer::Own { body, timing };
            let entry = Entry { key: job.key_text(), id: job.id, answer };
            self.put(&mut locked(&self.state), position, entry);
            self.changed.notify_all();
        }
        drop(worker);
        locked(&self.state).slots -= 1;
        self.changed.notify_all();
    }

    /// Waits for a job; returns `None` at the end.
    fn next_job(&self) -> Option<(u64, Job)> {
        let mut state = locked(&self.state);
        loop {
            if state.stop {
                return None;
            }
            if let Some((position, job)) = state.queue.pop_front() {
                state.bytes -= job.size();
                return Some((position, job));
            }
            if state.ended {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Returns the answer to a task, or `None` if the batch is over.
    ///
    /// A job that kills its worker gets a second try in a fresh one: leftovers of earlier jobs must not decide its
    /// answer.
    fn answer(&self, slot: usize, worker: &mut Option<Worker>, task: &str) -> Option<String> {
        for is_last in [false, true] {
            let mut one = match worker.take() {
                Some(one) => one,
                None => self.start()?,
            };
            let deadline = Instant::now() + self.kill_after();
            *locked(&self.running[slot]) =
                Running { deadline: Some((deadline, one.group())), is_killed: false };
            let answer = one.ask(task);
            let is_killed = {
                let mut running = locked(&self.running[slot]);
                running.deadline = None;
                running.is_killed
            };
            if let Some(answer) = answer {
                *worker = Some(one);
                return Some(answer);
            }
            if is_killed {
                drop(one);
                if locked(&self.state).stop {
                    return None;
                }
                let seconds = self.plan.limits.time.as_secs_f64();
                let message = format!(
                    "error: the job was still running after {seconds} s (--timeout) and was killed\n"
                );
                return Some(died(Limit::Time, &message));
            }
            let death = one.cause_of_death();
            if is_last {
                return Some(died(death.limit, &death.message));
            }
        }
        None
    }

    /// The time after which a job's process is killed. A job knows its own time limit, so this is only for code that
    /// never checks the clock.
    fn kill_after(&self) -> Duration {
        self.plan.limits.time.mul_f64(1.1).saturating_add(Duration::from_secs(2))
    }

    /// Starts a worker. Retries, because the system may be short of processes or memory for a moment.
    fn start(&self) -> Option<Worker> {
        for tries in 1..=START_ATTEMPTS {
            match Worker::start(&self.plan.worker) {
                Ok(worker) => return Some(worker),
                Err(error) if tries == START_ATTEMPTS => {
                    self.fail(format!("a worker cannot be started: {error}"));
                }
                Err(_) => thread::sleep(Duration::from_millis(200)),
            }
            if locked(&self.state).stop {
                return None;
            }
        }
        None
    }

    /// Kills late jobs, and ends the batch at a signal.
    fn supervise(&self) {
        let mut stopped_at = None;
        loop {
            let mut state = locked(&self.state);
            if state.slots == 0 {
                return;
            }
            if self.plan.signals.signal().is_some() {
                state.stop = true;
            }
            let (is_stopped, has_failed) = (state.stop, state.error.is_some());
            if is_stopped && stopped_at.is_none() {
                stopped_at = Some(Instant::now());
                self.changed.notify_all();
            }
            let (state, _) =
                self.changed.wait_timeout(state, TICK).unwrap_or_else(PoisonError::into_inner);
            drop(state);
            let is_over = stopped_at.is_some_and(|at| at.elapsed() > GRACE);
            self.kill_late(is_stopped && (is_over || has_failed || self.plan.signals.is_urgent()));
        }
    }

    fn kill_late(&self, all: bool) {
        for running in &self.running {
            let mut running = locked(running);
            if let Some((deadline, group)) = running.deadline
                && (all || Instant::now() >= deadline)
            {
                let _ = killpg(group, Signal::SIGKILL);
                running.deadline = None;
                running.is_killed = true;
            }
        }
    }
}
