//! Workflow commands: `::error file=…,line=…,title=…::message`, one line each. GitHub shows them
//! beside the lines of a pull request.
//!
//! <https://docs.github.com/actions/reference/workflow-commands-for-github-actions>

use crate::paths::in_repository;
use crate::render::escape::visible;
use crate::report::{Finding, Report, ShownLine};
use crate::verdict::Verdict;

pub(super) fn render(reports: &[Report]) -> String {
    let mut text = String::new();
    for report in reports {
        for finding in &report.findings {
            let command = if finding.is_error() { "error" } else { "notice" };
            text.push_str(&of_finding(command, finding));
        }
        report.open.iter().for_each(|open| text.push_str(&of_finding("warning", open)));
        if let Some(stopped) = &report.stopped {
            let shown = Some(&stopped.location.shown);
            text.push_str(&command("warning", shown, "WP0020 unknown", &stopped.message));
        }
        let unknown =
            report.properties.iter().filter(|property| property.verdict == Verdict::Unknown);
        let unknown: Vec<&str> = unknown.map(|property| property.name.name()).collect();
        if !unknown.is_empty() {
            let message = format!("{}: not proved: {}", report.title(), unknown.join(", "));
            text.push_str(&command("warning", None, "unknown", &message));
        }
        for note in report.unexecuted() {
            let message = format!("{}: {note}", report.title());
            text.push_str(&command("notice", None, "not executed", &message));
        }
    }
    text
}

fn of_finding(word: &str, finding: &Finding) -> String {
    let mut message = finding.message.clone();
    for location in &finding.locations {
        if !location.message.is_empty() {
            let ShownLine { path, line, .. } = &location.shown;
            message.push_str(&format!("\n{path}:{line}: {}", location.message));
        }
    }
    for (word, text) in [("note", &finding.note), ("help", &finding.help)] {
        if let Some(text) = text {
            message.push_str(&format!("\n{word}: {text}"));
        }
    }
    if let Some(reason) = &finding.allowed {
        message.push_str(&format!("\nallowed: {reason}"));
    }
    let shown = finding.locations.first().map(|location| &location.shown);
    command(word, shown, &format!("{} {}", finding.code, finding.kind), &message)
}

fn command(word: &str, shown: Option<&ShownLine>, title: &str, message: &str) -> String {
    let mut properties = Vec::new();
    if let Some(shown) = shown {
        properties.push(format!("file={}", escaped_property(&in_repository(&shown.path))));
        properties.push(format!("line={}", shown.line));
        properties.push(format!("col={}", shown.column));
    }
    properties.push(format!("title={}", escaped_property(title)));
    format!("::{word} {}::{}\n", properties.join(","), escaped(message))
}

fn escaped(text: &str) -> String {
    visible(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn escaped_property(text: &str) -> String {
    escaped(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_a_command_early() {
        let shown =
            ShownLine { path: "/a,b:c.cu".to_owned(), line: 3, column: 1, ..ShownLine::default() };
        let text = command("error", Some(&shown), "WP0109: race", "100%\n::warning::x");
        assert_eq!(
            text,
            "::error file=/a%2Cb%3Ac.cu,line=3,col=1,title=WP0109%3A race::100%25%0A::warning::x\n"
        );
    }
}
