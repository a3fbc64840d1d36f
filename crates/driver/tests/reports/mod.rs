//! Reports of `check` as data: kinds of findings and their source lines.

#![allow(dead_code, reason = "each test uses some of it")]

use std::collections::BTreeSet;

/// A finding of a report.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(crate) kind: String,
    pub(crate) is_note: bool,
    /// Source lines of the places shown, the primary one first; `ptx:N` if there is none.
    pub(crate) lines: Vec<String>,
    /// The suggested remedy, if there is one.
    pub(crate) help: Option<String>,
}

impl Told {
    /// `12-15`, the lower first; for races.
    pub(crate) fn pair(&self) -> String {
        let mut lines: Vec<String> = self.lines.iter().take(2).cloned().collect();
        if let [only] = &lines[..] {
            // Two threads at one instruction.
            lines.push(only.clone());
        }
        lines.sort_by_key(|line| (line.starts_with("ptx"), line.parse::<u32>().unwrap_or(0)));
        lines.join("-")
    }
}

/// The kinds of findings by their codes.
const KINDS: &[(&str, &str)] = &[
    ("WP0101", "out-of-bounds"),
    ("WP0102", "out-of-bounds"),
    ("WP0103", "misaligned"),
    ("WP0104", "input-modified"),
    ("WP0105", "undefined-value"),
    ("WP0106", "division-by-zero"),
    ("WP0107", "trap"),
    ("WP0108", "deadlock"),
    ("WP0109", "race"),
    ("WP0110", "barrier-divergence"),
    ("WP0111", "barrier-misuse"),
    ("WP0112", "barrier-reuse"),
    ("WP0113", "warp-collective"),
    ("WP0114", "async-copy"),
];

/// Findings of a report, in their order.
pub(crate) fn told(report: &str) -> Vec<Told> {
    let mut found: Vec<Told> = Vec::new();
    let mut inside = false;
    for line in report.lines() {
        if let Some((level, rest)) = header(line) {
            inside = level != "unsupported";
            if inside {
                found.push(new(level, rest));
            }
        } else if line.starts_with("error: output") {
            found.push(Told { kind: "unwritten-output".to_owned(), ..new("error", "") });
            inside = false;
        }
        if let (true, Some(last)) = (inside, found.last_mut()) {
            read(last, line);
        }
    }
    found
}

/// `error[WP0109]: …` as level and code.
fn header(line: &str) -> Option<(&str, &str)> {
    let (level, rest) = line.split_once('[')?;
    let known = matches!(level, "error" | "note" | "unsupported") && rest.starts_with("WP");
    known.then(|| (level, &rest[..6]))
}

fn new(level: &str, code: &str) -> Told {
    let kind = KINDS.iter().find(|(known, _)| *known == code);
    let kind = kind.map_or(code, |(_, kind)| kind).to_owned();
    Told { kind, is_note: level == "note", lines: Vec::new(), help: None }
}

/// Reads the lines of a finding one by one.
fn read(told: &mut Told, line: &str) {
    let text = line.trim_start();
    if let Some(help) = text.strip_prefix("= help: ") {
        told.help = Some(help.to_owned());
    }
    let place = text.strip_prefix("--> ").or_else(|| text.strip_prefix("::: "));
    if let Some(number) = place.and_then(|place| place.split(':').nth(1)) {
        told.lines.push(format!("ptx:{number}"));
    }
    let is_label = text.starts_with('|') && (text.contains("^^") || text.contains("--"));
    if let (true, Some(line), Some(last)) = (is_label, last_line(text), told.lines.last_mut()) {
        *last = line;
    }
}

/// The line after the last `from FILE:` or `inlined at FILE:`.
fn last_line(label: &str) -> Option<String> {
    let after = |word: &str| label.rfind(word).map(|at| (at, &label[at + word.len()..]));
    let (_, rest) = after(", inlined at ").max(after(", from "))?;
    let (_, rest) = rest.split_once(':')?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    Some(digits)
}

/// The right answer, from a file beside the kernel.
#[derive(Clone, Debug, Default)]
pub(crate) struct Expectation {
    /// `clean`, `refuted` or `unknown`.
    pub(crate) verdict: String,
    pub(crate) kinds: BTreeSet<String>,
    pub(crate) may: BTreeSet<String>,
    pub(crate) notes: BTreeSet<String>,
    /// Properties of a clean kernel that stay unknown.
    pub(crate) open: BTreeSet<String>,
    pub(crate) lines: BTreeSet<String>,
}

impl Expectation {
    pub(crate) fn parse(text: &str) -> Self {
        let mut expected = Self::default();
        let words = |text: &str| {
            let words = text.split([' ', ',']).filter(|word| !word.is_empty());
            words.map(str::to_owned).collect::<BTreeSet<String>>()
        };
        for line in text.lines() {
            let (key, value) = line.split_once(':').unwrap_or((line, ""));
            match key {
                "clean" | "unknown" if expected.verdict.is_empty() => {
                    expected.verdict = key.to_owned();
                }
                "refuted" => {
                    (expected.verdict, expected.kinds) = (key.to_owned(), words(value));
                }
                "may" => expected.may.extend(words(value)),
                "note" => expected.notes.extend(words(value)),
                "open" => expected.open.extend(words(value)),
                "lines" => expected.lines.extend(words(value)),
                _ => break,
            }
        }
        expected
    }

    /// Checks an answer; returns a description of the error.
    pub(crate) fn compare(&self, found: &[Told], exit: u8) -> Result<(), String> {
        let kinds = |notes: bool| -> BTreeSet<String> {
            let these = found.iter().filter(|told| told.is_note == notes);
            these.map(|told| told.kind.clone()).collect()
        };
        let (errors, notes) = (kinds(false), kinds(true));
        let verdict = &self.verdict;
        let wanted = match verdict.as_str() {
            "clean" if self.open.is_empty() => 0,
            "refuted" => 1,
            _ => 3,
        };
        if exit != wanted {
            return Err(format!("exit status {exit} instead of {wanted}"));
        }
        if verdict != "refuted" && !errors.is_empty() {
            return Err(format!("{errors:?} in a kernel that is {verdict}"));
        }
        let missing: Vec<_> = self.kinds.difference(&errors).collect();
        if !missing.is_empty() {
            return Err(format!("{missing:?} not found"));
        }
        let mut allowed: BTreeSet<_> = self.kinds.union(&self.may).cloned().collect();
        if allowed.contains("race") {
            // A race may let a thread read memory before it is written.
            allowed.insert("undefined-value".to_owned());
        }
        let surplus: Vec<_> = errors.difference(&allowed).collect();
        if !surplus.is_empty() {
            return Err(format!("{surplus:?} found"));
        }
        let missing: Vec<_> = self.notes.difference(&notes).collect();
        if !missing.is_empty() {
            return Err(format!("no note of {missing:?}"));
        }
        let allowed: BTreeSet<_> = self.notes.union(&self.may).cloned().collect();
        let surplus: Vec<_> = notes.difference(&allowed).collect();
        if !surplus.is_empty() {
            return Err(format!("a note of {surplus:?}"));
        }
        self.compare_lines(found)
    }

    fn compare_lines(&self, found: &[Told]) -> Result<(), String> {
        let races = found.iter().filter(|told| told.kind == "race");
        let pairs: BTreeSet<String> = races.map(Told::pair).collect();
        if self.lines.is_empty() || pairs.is_empty() {
            return Ok(());
        }
        let surplus: Vec<_> = pairs.difference(&self.lines).collect();
        if !surplus.is_empty() {
            return Err(format!("{surplus:?} cannot race, only {:?}", self.lines));
        }
        Ok(())
    }
}
