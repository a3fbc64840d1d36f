//! Results for a kernel, shown on hover over its name and in a line above it.

use super::protocol::{Diagnostic, Position, Range};
use super::work::{FileResults, definition, units};
use driver::render::Summary;
use serde_json::{Value, json};
use std::path::Path;

/// Most reasons and assumptions shown.
const MAX_LINES: usize = 12;

/// Describes the results for the kernel at a position, or explains the code of the diagnostic there.
pub(super) fn at(file: &Path, position: Position, found: &FileResults) -> Option<Value> {
    let text = driver::read_text(file).ok()?;
    let (word, range) = word(&text, position)?;
    let about = found.summaries.iter().filter(|one| one.kernel.as_deref() == Some(word));
    let mut parts: Vec<String> = about.map(described).collect();
    let diagnostics = found.diagnostics.get(file).into_iter().flatten();
    let mut codes: Vec<&str> = diagnostics
        .filter(|one| one.range.start <= position && position <= one.range.end)
        .filter_map(|one: &Diagnostic| one.code.as_deref())
        .collect();
    codes.sort_unstable();
    codes.dedup();
    parts.extend(codes.into_iter().filter_map(driver::explain::markdown));
    if parts.is_empty() {
        return None;
    }
    let value = parts.join("\n\n---\n\n");
    Some(json!({ "contents": { "kind": "markdown", "value": value }, "range": range }))
}

/// Returns a line with the results of each kernel.
pub(super) fn lenses(file: &Path, found: &FileResults) -> Vec<Value> {
    let Ok(text) = driver::read_text(file) else { return Vec::new() };
    let lens = |about: &Summary| {
        let range = definition(&text, about.kernel.as_deref()?)?;
        let title = format!("warpproof {}: {}", command(about), line(about));
        Some(json!({ "range": range, "command": { "title": title, "command": "" } }))
    };
    found.summaries.iter().filter_map(lens).collect()
}

/// Summarises the results of all kernels of a file in a few words.
pub(super) fn status(all: &[Summary]) -> String {
    if all.is_empty() {
        return "nothing to check".to_owned();
    }
    let counts = ["proved", "refuted", "unknown"].map(|verdict| {
        let count = all.iter().filter(|one| one.verdict == verdict).count();
        (count > 0).then(|| format!("{count} {verdict}"))
    });
    counts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn command(about: &Summary) -> &str {
    about.title.split(' ').next().unwrap_or_default()
}

/// `proved`, or `refuted: races; unknown: bounds`
fn line(about: &Summary) -> String {
    let [_, refuted] = &about.settled;
    let unknown: Vec<&str> = about.unknown.iter().map(|(name, _)| name.as_str()).collect();
    let mut parts = Vec::new();
    if !refuted.is_empty() {
        parts.push(format!("refuted: {}", refuted.join(", ")));
    }
    if !unknown.is_empty() {
        parts.push(format!("unknown: {}", unknown.join(", ")));
    }
    if parts.is_empty() { about.verdict.to_owned() } else { parts.join("; ") }
}

fn described(about: &Summary) -> String {
    let [proved, refuted] = &about.settled;
    let mut text = format!("**warpproof {}**: {}\n", command(about), about.verdict);
    for (word, names) in [("proved", proved), ("refuted", refuted)] {
        if !names.is_empty() {
            text.push_str(&format!("\n- {word}: {}", names.join(", ")));
        }
    }
    for (name, reasons) in about.unknown.iter().take(MAX_LINES) {
        let why = reasons.first().map(|why| format!(" ({})", plain(why))).unwrap_or_default();
        text.push_str(&format!("\n- unknown: {name}{why}"));
    }
    for assumed in about.assumptions.iter().take(MAX_LINES) {
        text.push_str(&format!("\n- assumed: {}", plain(assumed)));
    }
    text
}

/// Escapes characters with a meaning in Markdown, and replaces line ends by blanks.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    for c in text.chars() {
        if "\\*_{}[]<>()#+!|~".contains(c) {
            plain.push('\\');
        }
        plain.push(if c == '\n' { ' ' } else { c });
    }
    plain
}

/// Returns the word at a position and its range. The word is empty next to blanks and signs.
fn word(text: &str, position: Position) -> Option<(&str, Range)> {
    let line = text.lines().nth(position.line as usize)?;
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let ends = line.char_indices().map(|(at, c)| at + c.len_utf8());
    let at = std::iter::once(0).chain(ends).find(|&at| units(&line[..at]) >= position.character)?;
    let start = line[..at].trim_end_matches(is_part).len();
    let end = line.len() - line[at..].trim_start_matches(is_part).len();
    let place = |at: usize| Position::new(position.line, units(&line[..at]));
    Some((&line[start..end], Range::new(place(start), place(end))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_counted_in_utf16() {
        let text = "a\n  😀 add(n)";
        let at = |column| word(text, Position::new(1, column)).map(|(word, _)| word);
        assert_eq!((at(5), at(8), at(4), at(9)), (Some("add"), Some("add"), Some(""), Some("n")));
        assert_eq!(at(100), None);
        assert_eq!(word(text, Position::new(7, 0)), None);
    }
}
