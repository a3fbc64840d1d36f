//! Measures another program on the equations of the rows: SymEngine, from Python. `--peers` searches for a Python that
//! has it.
//!
//! The search tries `WARPPROOF_PEER_PYTHON`, the active virtual environment and `python3`, in this order. A row takes
//! no longer than [`CAP`]; the rest is extrapolated, and the page says so.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Time limit for a row, in seconds.
pub(crate) const CAP: u32 = 20;

/// A Python with SymEngine.
pub(crate) struct Peer {
    python: PathBuf,
    /// Earlier answers: rows may have the same condition.
    answers: BTreeMap<Vec<String>, Answer>,
}

/// The answer to a condition, the arguments of `bench/peer_symengine.py`.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    /// Seconds, at most about [`CAP`].
    pub(crate) seconds: f64,
    /// The share of the outputs done in that time.
    pub(crate) share: f64,
}

impl Answer {
    /// The estimated time for all outputs.
    pub(crate) fn estimate(&self) -> f64 {
        self.seconds / self.share.max(1e-9)
    }
}

/// Searches for a Python with SymEngine; prints a message if there is none.
pub(crate) fn find() -> Option<Peer> {
    let named = std::env::var_os("WARPPROOF_PEER_PYTHON").map(PathBuf::from);
    let active =
        std::env::var_os("VIRTUAL_ENV").map(|folder| Path::new(&folder).join("bin/python"));
    let all = [named, active, Some("python3".into())];
    for python in all.into_iter().flatten() {
        let output = Command::new(&python)
            .args(["-c", "import symengine; print(symengine.__version__)"])
            .output();
        if let Ok(output) = output
            && output.status.success()
        {
            let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
            println!("SymEngine {version}, at most {CAP} s for a row");
            return Some(Peer { python, answers: BTreeMap::new() });
        }
    }
    println!(
        "no SymEngine: `pip install symengine`, and WARPPROOF_PEER_PYTHON=…/bin/python; its column is left out"
    );
    None
}

impl Peer {
    /// Answers the condition of a row.
    pub(crate) fn ask(&mut self, root: &Path, condition: &[String]) -> Result<Answer, String> {
        if let Some(answer) = self.answers.get(condition) {
            return Ok(answer.clone());
        }
        let output = Command::new(&self.python)
            .arg(root.join("bench/peer_symengine.py"))
            .args(condition)
            .arg(CAP.to_string())
            .output()
            .map_err(|error| format!("{}: {error}", self.python.display()))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let mut numbers = text.split_whitespace().map(str::parse::<f64>);
        match (output.status.success(), numbers.next(), numbers.next()) {
            (true, Some(Ok(seconds)), Some(Ok(share))) => {
                let answer = Answer { seconds, share };
                self.answers.insert(condition.to_vec(), answer.clone());
                Ok(answer)
            }
            _ => {
                let why = String::from_utf8_lossy(&output.stderr).trim().to_owned();
                Err(format!("SymEngine on `{}`: {why}", condition.join(" ")))
            }
        }
    }
}
