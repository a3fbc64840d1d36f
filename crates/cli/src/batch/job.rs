//! A line of the job file: reading and checking it.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::time::Duration;

/// Commands that a job may run. The others answer no question about a kernel, or are batches themselves.
const COMMANDS: [&str; 4] = ["check", "equiv", "prove", "simulate"];

/// A job as written in the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with a `command`")]
struct Line {
    #[serde(default)]
    id: Value,
    command: Vec<String>,
    #[serde(default)]
    files: BTreeMap<String, String>,
}

/// The name of a job, read from a line that is not a valid job.
#[derive(Debug, Deserialize)]
struct JobName {
    #[serde(default)]
    id: Value,
}

/// A task for a worker: a command line, and the contents of files.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Task {
    pub(super) words: Vec<String>,
    pub(super) files: BTreeMap<String, String>,
}

/// Limits of jobs without their own.
#[derive(Clone, Copy, Debug)]
pub(super) struct JobLimits {
    pub(super) instructions: Option<u64>,
    pub(super) time: Duration,
    /// Bytes that a job may map.
    pub(super) memory: u64,
}

/// A line that was read.
#[derive(Debug)]
pub(super) struct Job {
    /// The `id` of its result, as JSON.
    pub(super) id: String,
    /// Equal for jobs with the same answer.
    pub(super) key: [u8; 32],
    /// The task as one line of JSON, or the reason why the line is not a job.
    pub(super) task: Result<String, String>,
}

impl Job {
    /// Reads the line of the job at a position, counted from 0.
    pub(super) fn read(line: &[u8], position: u64, limits: JobLimits) -> Self {
        let unnamed = || position.to_string();
        let task = match serde_json::from_slice::<Line>(line) {
            Ok(Line { id, command, files }) => match id_text(&id) {
                Some(id) => (id.unwrap_or_else(unnamed), task(command, files, limits)),
                None => (unnamed(), Err("`id` must be a text or an integer".to_owned())),
            },
            Err(error) => {
                let named: Option<JobName> = serde_json::from_slice(line).ok();
                let id = named.and_then(|named| id_text(&named.id)).flatten();
                (id.unwrap_or_else(unnamed), Err(format!("this line is not a job: {error}")))
            }
        };
        let (id, task) = task;
        // Equal lines have equal errors.
        let key = match &task {
            // The limit of memory decides answers, too, and is not part of the task.
            Ok(task) => Sha256::new()
                .chain_update(task.as_bytes())
                .chain_update(limits.memory.to_le_bytes())
                .finalize()
                .into(),
            Err(_) => Sha256::digest(line).into(),
        };
        Self { id, key, task }
    }

    /// Returns the key as written in results.
    pub(super) fn key_text(&self) -> String {
        self.key.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The size in bytes of a waiting job.
    pub(super) fn size(&self) -> usize {
        self.id.len() + self.task.as_ref().map_or_else(String::len, String::len)
    }
}

/// Returns an id as JSON. The inner `None` is for a missing id, the outer one for an id of a wrong type.
fn id_text(id: &Value) -> Option<Option<String>> {
    match id {
        Value::Null => Some(None),
        Value::String(_) => Some(Some(id.to_string())),
        Value::Number(number) if number.is_i64() || number.is_u64() => Some(Some(id.to_string())),
        _ => None,
    }
}

fn task(
    mut words: Vec<String>,
    files: BTreeMap<String, String>,
    limits: JobLimits,
) -> Result<String, String> {
    let Some(command) = words.first().filter(|word| COMMANDS.contains(&word.as_str())) else {
        let found = words.first().map_or_else(|| "nothing".to_owned(), |word| format!("`{word}`"));
        let commands = COMMANDS.join("`, `");
        return Err(format!("`command` must begin with one of `{commands}`, not with {found}"));
    };
    if words.iter().any(|word| word == "-" || word.starts_with("-::")) {
        return Err("a job has no standard input: put the text into `files`".to_owned());
    }
    let mut usual = Vec::new();
    // A job uses one core; the batch is parallel.
    usual.extend((!sets(&words, "--jobs", Some("-j"))).then(|| "--jobs=1".to_owned()));
    if !sets(&words, "--timeout", None) {
        usual.push(format!("--timeout={}", limits.time.as_secs_f64()));
    }
    if let Some(instructions) = limits.instructions
        && command != "prove"
        && !sets(&words, "--max-instructions", None)
    {
        usual.push(format!("--max-instructions={instructions}"));
    }
    words.splice(1..1, usual);
    // Texts and maps of texts can always be written as JSON.
    serde_json::to_string(&Task { words, files }).map_err(|error| error.to_string())
}

/// Returns `true` if an option occurs among the words. `-j4` counts, too.
fn sets(words: &[String], long: &str, short: Option<&str>) -> bool {
    words.iter().any(|word| {
        let rest = word.strip_prefix(long);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
            || short.is_some_and(|short| word.starts_with(short))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: JobLimits =
        JobLimits { instructions: Some(1000), time: Duration::from_millis(1500), memory: 1 << 30 };

    fn read(line: &str) -> Job {
        Job::read(line.as_bytes(), 7, LIMITS)
    }

    fn words(line: &str) -> Vec<String> {
        let task: Task = serde_json::from_str(&read(line).task.unwrap()).unwrap();
        task.words
    }

    #[test]
    fn limits_are_added_unless_the_job_has_its_own() {
        assert_eq!(
            words(r#"{"command": ["check", "k.ptx"]}"#),
            ["check", "--jobs=1", "--timeout=1.5", "--max-instructions=1000", "k.ptx"]
        );
        assert_eq!(
            words(
                r#"{"command": ["check", "k.ptx", "-j4", "--timeout", "1", "--max-instructions=5"]}"#
            ),
            ["check", "k.ptx", "-j4", "--timeout", "1", "--max-instructions=5"]
        );
        assert_eq!(
            words(r#"{"command": ["prove", "k.cu"]}"#),
            ["prove", "--jobs=1", "--timeout=1.5", "k.cu"]
        );
    }

    #[test]
    fn an_id_is_no_part_of_the_key() {
        let one =
            read(r#"{"id": "a", "command": ["check", "k.ptx"], "files": {"x": "1", "y": "2"}}"#);
        let other = read(r#"{"files": {"y": "2", "x": "1"}, "command": ["check", "k.ptx"]}"#);
        assert_eq!((one.id.as_str(), other.id.as_str()), ("\"a\"", "7"));
        assert_eq!(one.key, other.key);
        let alone = r#"{"command": ["check", "k.ptx"]}"#;
        assert_ne!(one.key, read(alone).key);
        // Less memory may mean another answer.
        let less = JobLimits { memory: 1 << 20, ..LIMITS };
        assert_ne!(read(alone).key, Job::read(alone.as_bytes(), 7, less).key);
    }

    #[test]
    fn a_line_that_is_no_job_says_why() {
        let why = |line| read(line).task.unwrap_err();
        assert!(why("{").contains("this line is not a job: EOF"));
        assert!(why(r#"{"command": ["run"]}"#).contains("not with `run`"));
        assert!(why(r#"{"command": []}"#).contains("not with nothing"));
        assert!(why(r#"{"command": ["check", "-"]}"#).contains("no standard input"));
        assert!(why(r#"{"command": ["check"], "file": {}}"#).contains("unknown field `file`"));
        assert!(why(r#"{"id": [1], "command": ["check"]}"#).contains("`id` must be"));
        assert_eq!(read(r#"{"id": 12, "comand": []}"#).id, "12");
        assert!(why("[1]").contains("this line is not a job"));
        assert!(why("3").contains("expected an object with a `command`"));
    }
}
