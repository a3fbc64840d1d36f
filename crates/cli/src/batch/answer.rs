//! The part of a result line without the job's name: verdict, exit status, limit, messages, report.

use crate::call::CallResult;
use driver::{Exit, Format};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The limit that ended a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Limit {
    Steps,
    Time,
    Memory,
    /// The process died for a reason other than a limit.
    Crash,
}

/// The answer to a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Verdict {
    Proved,
    Refuted,
    Unknown,
    /// Invalid input: a malformed line, a missing file, a wrong flag.
    Invalid,
    /// A simulation that ran to its end. It proves nothing.
    Ran,
}

#[derive(Serialize)]
struct Body<'r> {
    verdict: Verdict,
    exit: u8,
    limit: Option<Limit>,
    messages: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<&'r str>,
    report: Option<&'r RawValue>,
}

/// The fields of a report with its verdict and the reasons why it is open.
#[derive(Debug, Deserialize)]
struct ReportFields {
    verdict: String,
    properties: Vec<SeenProperty>,
    stopped: Option<SeenStop>,
    notes: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct SeenProperty {
    reasons: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct SeenStop {
    message: String,
    help: Option<String>,
}

/// Returns the answer of a call of a command, as JSON on one line.
pub(super) fn of_call(command: &str, called: &CallResult) -> String {
    let seen = called.reports.iter().map(|report| {
        let json = report.render(Format::Json).unwrap_or_default();
        serde_json::from_str::<ReportFields>(&json).ok()
    });
    let seen: Vec<Option<ReportFields>> = seen.collect();
    let is_proved = !seen.is_empty()
        && seen.iter().all(|one| one.as_ref().is_some_and(|one| one.verdict == "proved"));
    let verdict = match called.exit {
        Exit::Success if command == "simulate" => Verdict::Ran,
        Exit::Success if is_proved => Verdict::Proved,
        // `check --help` succeeds without a verdict.
        Exit::Success if seen.is_empty() => Verdict::Invalid,
        Exit::Success | Exit::Unknown | Exit::Bug => Verdict::Unknown,
        Exit::Refuted => Verdict::Refuted,
        Exit::BadInput => Verdict::Invalid,
    };
    let limit = match verdict {
        Verdict::Unknown => seen.iter().flatten().find_map(ReportFields::limit),
        Verdict::Proved | Verdict::Refuted | Verdict::Invalid | Verdict::Ran => None,
    };
    let limit = limit.or_else(|| {
        (verdict == Verdict::Unknown && command == "simulate")
            .then(|| limit_named_in(&called.messages))
            .flatten()
    });
    let report = called.json().map(|json| on_one_line(&json));
    let report = report.and_then(|json| RawValue::from_string(json).ok());
    body(&Body {
        verdict,
        exit: called.exit as u8,
        limit,
        messages: &called.messages,
        output: (command == "simulate").then_some(&called.output),
        report: report.as_deref(),
    })
}

/// Returns the answer to a line that is not a job.
pub(super) fn invalid(message: &str) -> String {
    let (verdict, exit) = (Verdict::Invalid, Exit::BadInput as u8);
    let messages = &format!("error: {message}\n");
    body(&Body { verdict, exit, limit: None, messages, output: None, report: None })
}

/// Returns the answer to a job whose process died.
pub(super) fn died(limit: Limit, message: &str) -> String {
    let (verdict, exit, limit) = (Verdict::Unknown, Exit::Unknown as u8, Some(limit));
    body(&Body { verdict, exit, limit, messages: message, output: None, report: None })
}

fn body(body: &Body<'_>) -> String {
    // Nothing in it can fail: there are no maps, and no numbers beyond JSON's.
    serde_json::to_string(body).unwrap_or_default()
}

impl ReportFields {
    /// Finds the limit that a run or a comparison reached. Reports state it in words; tests compare those with the
    /// texts here.
    fn limit(&self) -> Option<Limit> {
        let stop = self.stopped.iter().flat_map(|stop| stop.help.iter().chain([&stop.message]));
        let reasons = self.properties.iter().flat_map(|property| &property.reasons);
        stop.chain(reasons).chain(&self.notes).find_map(|text| limit_named_in(text))
    }
}

/// Finds the limit that a sentence is about.
fn limit_named_in(text: &str) -> Option<Limit> {
    let has = |part| text.contains(part);
    if has("--timeout") || has("the time was up") || has("not decided in time") {
        Some(Limit::Time)
    } else if has("--max-instructions") || has("the budget of steps is spent") {
        Some(Limit::Steps)
    } else {
        None
    }
}

/// Removes the space between the parts of a JSON text.
fn on_one_line(json: &str) -> String {
    let (mut line, mut is_text, mut is_escaped) = (String::with_capacity(json.len()), false, false);
    for character in json.chars() {
        if is_text || !character.is_ascii_whitespace() {
            line.push(character);
        }
        is_text = is_text != (character == '"' && !is_escaped);
        is_escaped = is_text && character == '\\' && !is_escaped;
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn space_inside_of_texts_stays() {
        let json = "{\n  \"a b\": [1, 2],\n \"c\\\" d\\\\\": \" e \\\\\"\n}\n";
        assert_eq!(on_one_line(json), r#"{"a b":[1,2],"c\" d\\":" e \\"}"#);
    }

    #[test]
    fn a_death_is_no_verdict() {
        assert_eq!(
            died(Limit::Memory, "m"),
            r#"{"verdict":"unknown","exit":3,"limit":"memory","messages":"m","report":null}"#
        );
    }
}
