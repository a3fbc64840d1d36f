//! Findings as marks in source files, for editors. Editors show only a place and a message of a report.

use crate::demangle::demangle;
use crate::report::{Finding, Location, Report, ShownLine};
use crate::verdict::Verdict;
use base::Code;

/// The severity of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Something is refuted.
    Error,
    /// Something is not proved.
    Warning,
    /// A remark.
    Note,
}

/// Part of a line; lines and columns are counted from 1, columns in characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, relative to the working folder if it is in it.
    pub path: String,
    /// The line.
    pub line: u32,
    /// The first column.
    pub column: u32,
    /// The column after the last; 0 if only the line is known.
    pub end_column: u32,
}

/// A finding at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The place; `None` means the kernel as a whole.
    pub place: Option<Place>,
    /// The severity.
    pub level: Level,
    /// `WP0109`
    pub code: String,
    /// A sentence, then a note and advice on lines of their own.
    pub message: String,
    /// Related places, and their part in the finding.
    pub related: Vec<(Place, String)>,
}

/// The results for a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// `check kernel.ptx::softmax`
    pub title: String,
    /// The file that was given.
    pub file: String,
    /// The kernel's name without parameters, if a kernel was examined.
    pub kernel: Option<String>,
    /// `proved`, `refuted` or `unknown`.
    pub verdict: &'static str,
    /// Names of properties: proved, refuted.
    pub settled: [Vec<String>; 2],
    /// Names of unknown properties, with the reasons.
    pub unknown: Vec<(String, Vec<String>)>,
    /// The assumptions of the answer.
    pub assumptions: Vec<String>,
}

impl Report {
    /// Returns the findings at their places.
    #[must_use]
    pub fn marks(&self) -> Vec<Mark> {
        let found = self.findings.iter().map(|finding| {
            let level = if finding.is_error() { Level::Error } else { Level::Note };
            mark(finding, level)
        });
        let open = self.open.iter().map(|one| mark(one, Level::Warning));
        let mut marks: Vec<Mark> = found.chain(open).collect();
        marks.extend(self.stopped.as_ref().map(|stopped| Mark {
            place: Some(place(&stopped.location.shown)),
            level: Level::Warning,
            code: stopped.code.clone(),
            message: full_message(&stopped.message, &None, &stopped.help),
            related: Vec::new(),
        }));
        let is_told = marks.iter().any(|mark| mark.level < Level::Note);
        if self.verdict == Verdict::Unknown && !is_told {
            let reasons = self.summary().unknown;
            let reasons = reasons.iter().map(|(name, why)| match why.first() {
                Some(why) => format!("{name}: {why}"),
                None => name.clone(),
            });
            let reasons: Vec<String> = reasons.collect();
            let what =
                if reasons.is_empty() { "nothing was checked".into() } else { reasons.join("\n") };
            marks.push(Mark {
                place: None,
                level: Level::Warning,
                code: Code::NotFollowed.to_string(),
                message: format!("not proved: {what}"),
                related: Vec::new(),
            });
        }
        marks
    }

    /// Returns the proved and the open properties of the kernel.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let name = |property: &crate::report::Property| match property.side {
            Some(side) => format!("{} ({side})", property.name),
            None => property.name.to_string(),
        };
        let with = |verdict: Verdict| {
            let named = self.properties.iter().filter(move |property| property.verdict == verdict);
            named.map(name).collect::<Vec<String>>()
        };
        let unknown =
            self.properties.iter().filter(|property| property.verdict == Verdict::Unknown);
        let kernel = self.kernel.as_deref().map(|kernel| {
            let shown = demangle(kernel).unwrap_or_else(|| kernel.to_owned());
            let shown = shown.split(['(', '<']).next().unwrap_or_default();
            shown.rsplit([':', ' ']).next().unwrap_or_default().to_owned()
        });
        Summary {
            title: self.title(),
            file: self.file.clone(),
            kernel,
            verdict: self.verdict.name(),
            settled: [with(Verdict::Proved), with(Verdict::Refuted)],
            unknown: unknown.map(|one| (name(one), one.reasons.clone())).collect(),
            assumptions: self.assumptions.clone(),
        }
    }
}

fn mark(finding: &Finding, level: Level) -> Mark {
    let (first, others) = match finding.locations.split_first() {
        Some((first, others)) => (Some(first), others),
        None => (None, &[][..]),
    };
    let mut message = full_message(&finding.message, &finding.note, &finding.help);
    if let Some(first) = first.filter(|first| !first.message.is_empty()) {
        message = message.replacen('\n', &format!("\n{}\n", first.message), 1);
        if !message.contains('\n') {
            message = format!("{message}\n{}", first.message);
        }
    }
    if let Some(reason) = &finding.allowed {
        message.push_str(&format!("\nallowed: {reason}"));
    }
    let related = |other: &Location| (place(&other.shown), other.message.clone());
    Mark {
        place: first.map(|first| place(&first.shown)),
        level,
        code: finding.code.clone(),
        message,
        related: others.iter().map(related).collect(),
    }
}

fn full_message(message: &str, note: &Option<String>, help: &Option<String>) -> String {
    let mut text = message.to_owned();
    for (word, said) in [("note", note), ("help", help)] {
        said.iter().for_each(|said| text.push_str(&format!("\n{word}: {said}")));
    }
    text
}

fn place(shown: &ShownLine) -> Place {
    let ShownLine { path, line, column, end_column, .. } = shown.clone();
    Place { path, line, column, end_column }
}
