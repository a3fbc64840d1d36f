//! Cases of `corpus/adversarial`: the comment lines of a file, as commands and expectations.
//!
//! `corpus/adversarial/README.md` describes the format. A line with a key in a wrong place, a case without a command
//! or an unknown property is an error in the file, never skipped.

use std::path::{Path, PathBuf};

/// Properties in reports. A misspelt one would never be proved and hide a wrong answer.
const PROPERTIES: &[&str] = &[
    "launch",
    "bounds",
    "alignment",
    "initialised",
    "frame",
    "division",
    "traps",
    "races",
    "barriers",
    "deadlock",
    "collectives",
    "determinism",
    "equivalence",
];

const VERDICTS: &[&str] = &["proved", "refuted", "unknown"];

/// One command, with its forbidden or required answers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Case {
    pub(crate) file: PathBuf,
    /// Position of `why` in the file.
    pub(crate) line: usize,
    pub(crate) why: String,
    /// Words of the command line.
    pub(crate) run: Vec<String>,
    pub(crate) not: Vec<String>,
    pub(crate) proved: Vec<String>,
    /// Verdict of the whole report at the time of writing.
    pub(crate) today: Option<String>,
    /// Reason why the answer is wrong now.
    pub(crate) open: Option<String>,
    /// Text of an assumption under which it may be proved.
    pub(crate) unless: Option<String>,
    /// Text of the message that refuses the command.
    pub(crate) refused: Option<String>,
}

impl Case {
    pub(crate) fn is_attack(&self) -> bool {
        !self.not.is_empty()
    }

    /// Name of the folder below `corpus/adversarial`.
    pub(crate) fn class(&self) -> String {
        let folder = self.file.parent().and_then(Path::file_name);
        folder.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Place and command, for messages.
    pub(crate) fn title(&self) -> String {
        let file = self.file.file_name().unwrap_or_default().to_string_lossy();
        format!("{}/{file}:{}: {}", self.class(), self.line, self.run.join(" "))
    }

    /// Command line of `warpproof` in the folder of the file: kernels without `::` are in the file.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let file = self.file.file_name().unwrap_or_default().to_string_lossy();
        let kernel = |name: &String| {
            if name.contains("::") { name.clone() } else { format!("{file}::{name}") }
        };
        let kernels = match self.run[0].as_str() {
            "check" => 1,
            "equiv" => 2,
            _ => return [&["run".to_owned(), file.into_owned()], &self.run[1..]].concat(),
        };
        let mut words = vec![self.run[0].clone()];
        words.extend(self.run[1..=kernels].iter().map(kernel));
        words.extend_from_slice(&self.run[kernels + 1..]);
        words
    }

    fn add(&mut self, key: &str, text: &str) -> Result<(), String> {
        let twice = match key {
            "run" => !std::mem::replace(&mut self.run, super::words(text)).is_empty(),
            "not" => !std::mem::replace(&mut self.not, properties(text)?).is_empty(),
            "proved" => !std::mem::replace(&mut self.proved, properties(text)?).is_empty(),
            "today" if !VERDICTS.contains(&text) => return Err(format!("no verdict: `{text}`")),
            "today" => self.today.replace(text.to_owned()).is_some(),
            "unless" => self.unless.replace(text.to_owned()).is_some(),
            "refused" => self.refused.replace(text.to_owned()).is_some(),
            _ => self.open.replace(text.to_owned()).is_some(),
        };
        if twice { Err(format!("`{key}` twice")) } else { Ok(()) }
    }

    /// Reports a missing part.
    fn complain(&self) -> Result<(), String> {
        let kernels = match self.run.first().map(String::as_str) {
            None => return Err("no `run`".to_owned()),
            Some("check" | "run") => 1,
            Some("equiv") => 2,
            Some(other) => return Err(format!("`{other}` is neither check, equiv nor run")),
        };
        if self.run.len() <= kernels
            || self.run[1..=kernels].iter().any(|word| word.starts_with('-'))
        {
            return Err("`run` names no kernel".to_owned());
        }
        if self.why.is_empty() || self.open.as_ref().is_some_and(String::is_empty) {
            return Err("`why` or `open` without a reason".to_owned());
        }
        if self.not.is_empty() && self.proved.is_empty() {
            return Err("neither `not` nor `proved`".to_owned());
        }
        Ok(())
    }
}

fn properties(text: &str) -> Result<Vec<String>, String> {
    let names: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
    match names.iter().find(|name| !PROPERTIES.contains(&name.as_str())) {
        Some(name) => Err(format!("no property: `{name}`")),
        None => Ok(names),
    }
}

/// Splits a comment line `// key: text` (`# key: text` in a project file).
fn key_and_text(line: &str) -> Option<(&str, &str)> {
    let comment = line.strip_prefix("// ").or_else(|| line.strip_prefix("# "))?;
    let (key, text) = comment.split_once(':')?;
    let keys = ["why", "run", "not", "proved", "today", "open", "unless", "refused"];
    let known = keys.contains(&key);
    known.then(|| (key, text.trim()))
}

/// Reads the cases of one file.
pub(crate) fn of_file(path: &Path) -> Result<Vec<Case>, String> {
    let text =
        std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut cases: Vec<Case> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let Some((key, text)) = key_and_text(line) else { continue };
        if key == "why" {
            let (file, why) = (path.to_owned(), text.to_owned());
            cases.push(Case { file, line: number, why, ..Case::default() });
            continue;
        }
        let Some(case) = cases.last_mut() else {
            return Err(format!("{}:{number}: `{key}` before `why`", path.display()));
        };
        case.add(key, text).map_err(|why| format!("{}:{number}: {why}", path.display()))?;
    }
    for case in &cases {
        case.complain().map_err(|why| format!("{}:{}: {why}", path.display(), case.line))?;
    }
    if cases.is_empty() {
        return Err(format!("{}: no case", path.display()));
    }
    Ok(cases)
}
