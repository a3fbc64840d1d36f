//! The border between Python and the `warpproof` crate: words and texts in, text out.
//!
//! A call runs on a thread of its own. The calling thread waits without the interpreter's lock and checks for signals
//! between waits, because only Python may run Python's handlers. At Ctrl-C the watch of the call is stopped, and the
//! call ends with its results so far. JSON is the data format, as on the command line, so there is only one contract.

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyOSError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::any::Any;
use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};
use warpproof::{Call, CallResult, Host};

/// Bytes of a call's stack: terms and syntax trees are followed recursively. Pages are only used once they are touched.
const STACK: usize = 256 << 20;
/// Time between two checks for signals.
const SLICE: Duration = Duration::from_millis(20);
/// Time to wait for an interrupted call; later results are dropped. A run checks its watch some thousand times a
/// second, but not while it sets up gigabytes of memory.
const GRACE: Duration = Duration::from_millis(500);

create_exception!(_native, Bug, PyException, "A bug in Warpproof, not in the kernel.");

/// The results of a call.
#[pyclass(frozen, name = "Called", module = "warpproof._native")]
struct Results(CallResult);

#[pymethods]
impl Results {
    /// The exit status of the program.
    #[getter]
    fn exit(&self) -> u8 {
        self.0.exit as u8
    }

    /// The text for standard output.
    #[getter]
    fn output(&self) -> &str {
        &self.0.output
    }

    /// The text for standard error.
    #[getter]
    fn messages(&self) -> &str {
        &self.0.messages
    }

    /// Outputs of `simulate`, as `.npy` files.
    #[getter]
    fn arrays<'py>(&self, py: Python<'py>) -> Vec<(String, Bound<'py, PyBytes>)> {
        let arrays = self.0.arrays.iter();
        arrays.map(|(name, bytes)| (name.clone(), PyBytes::new(py, bytes))).collect()
    }

    /// Returns the output of `--format json`, if the command has a report.
    fn json(&self) -> Option<String> {
        self.0.json()
    }

    /// Returns the page of `--report`.
    fn html(&self) -> String {
        self.0.html()
    }
}

/// The end of a call's thread. It owns the call: its watch must not be handed to another call while this thread may
/// still stop it.
struct Ended {
    _call: Call,
    called: Result<CallResult, Box<dyn Any + Send>>,
}

/// Runs a command. `texts` are files that are not on disk; `prefix` is the folder of the Python environment.
#[pyfunction]
fn call(
    py: Python<'_>,
    words: Vec<String>,
    texts: Vec<(String, Vec<u8>)>,
    prefix: PathBuf,
) -> PyResult<Results> {
    let mut call = Call::new(words, texts, Some(prefix));
    let watch = call.watch();
    let (sender, mut receiver) = mpsc::sync_channel(1);
    let work = move || {
        let called = catch_unwind(AssertUnwindSafe(|| warpproof::call(&mut call)));
        // After a second Ctrl-C the receiver is gone.
        let _ = sender.send(Ended { _call: call, called });
    };
    let thread = std::thread::Builder::new().name("warpproof".to_owned()).stack_size(STACK);
    thread.spawn(work).map_err(PyOSError::new_err)?;
    loop {
        if let Some(ended) = wait(py, &mut receiver)? {
            return results(ended);
        }
        if let Err(signal) = py.check_signals() {
            watch.stop();
            attach(py, &signal, &mut receiver)?;
            return Err(signal);
        }
    }
}

/// Waits a while without the interpreter's lock.
fn wait(py: Python<'_>, receiver: &mut Receiver<Ended>) -> PyResult<Option<Ended>> {
    match py.detach(move || receiver.recv_timeout(SLICE)) {
        Ok(ended) => Ok(Some(ended)),
        Err(RecvTimeoutError::Timeout) => Ok(None),
        // Panics are caught and sent, so the thread did not end by itself.
        Err(RecvTimeoutError::Disconnected) => Err(Bug::new_err("a thread ended without results")),
    }
}

fn results(ended: Ended) -> PyResult<Results> {
    match ended.called {
        Ok(called) => Ok(Results(called)),
        Err(panic) => Err(Bug::new_err(panic_text(&*panic))),
    }
}

/// Gives an exception the attribute `called`, if the interrupted call ends soon.
fn attach(py: Python<'_>, signal: &PyErr, receiver: &mut Receiver<Ended>) -> PyResult<()> {
    let begun = Instant::now();
    while begun.elapsed() < GRACE {
        if let Some(ended) = wait(py, receiver)? {
            if let Ok(results) = results(ended) {
                signal.value(py).setattr("called", Bound::new(py, results)?)?;
            }
            return Ok(());
        }
        // A second Ctrl-C means: do not wait.
        py.check_signals()?;
    }
    Ok(())
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

/// Runs the program on the terminal, with the words after its name, and returns its exit status.
#[pyfunction]
fn main(py: Python<'_>, words: Vec<OsString>) -> PyResult<u8> {
    let words = std::iter::once(OsString::from("warpproof")).chain(words);
    let words: Vec<OsString> = words.collect();
    // This process runs Python, so workers of a batch are started as a module.
    let system = py.import("sys")?;
    let python: OsString = system.getattr("executable")?.extract()?;
    let program = vec![python, "-m".into(), "warpproof".into()];
    let host = Host { program, python: Some(system.getattr("prefix")?.extract()?) };
    Ok(py.detach(|| warpproof::main_in(words, &host)))
}

/// Returns version, revision, target and compiler.
#[pyfunction]
fn version() -> &'static str {
    warpproof::version()
}

/// Warpproof, as an extension module.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("Bug", module.py().get_type::<Bug>())?;
    module.add_class::<Results>()?;
    module.add_function(wrap_pyfunction!(call, module)?)?;
    module.add_function(wrap_pyfunction!(main, module)?)?;
    module.add_function(wrap_pyfunction!(version, module)?)
}
