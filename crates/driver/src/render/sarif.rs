//! SARIF 2.1.0 (OASIS standard), in the form that code scanning reads: one run, a rule for each code that occurs, a
//! result for each finding. Unknown properties are results too: warnings with the code WP0020, so that a page without
//! results means that everything is proved.

use super::fingerprint::fingerprints;
use crate::Exit;
use crate::explain;
use crate::paths::in_repository;
use crate::render::escape;
use crate::report::{Finding, Location, Report, ShownLine};
use crate::verdict::Verdict;
use crate::vocabulary::{FindingKind, PropertyName, Severity};
use base::Code;
use serde_json::{Value, json};
use std::collections::BTreeSet;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

pub(super) fn render(reports: &[Report]) -> String {
    let results: Vec<Value> = reports.iter().flat_map(results).collect();
    let codes: BTreeSet<&str> =
        results.iter().filter_map(|result| result["ruleId"].as_str()).collect();
    let rules: Vec<Value> = codes.iter().filter_map(|code| Code::parse(code)).map(rule).collect();
    let exit = reports.iter().map(|report| report.exit as u8).max().unwrap_or(Exit::Unknown as u8);
    let document = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "warpproof",
                "version": env!("CARGO_PKG_VERSION"),
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "invocations": [invocation(reports, exit)],
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    serde_json::to_string_pretty(&document)
        .map_or_else(|error| error.to_string(), |text| escape::json(text + "\n"))
}

/// The end of the run, and the unexecuted parts of the kernels.
fn invocation(reports: &[Report], exit: u8) -> Value {
    let mut invocation =
        json!({ "executionSuccessful": exit != Exit::BadInput as u8, "exitCode": exit });
    let note = |report: &Report, note: String| {
        let message = json!({ "text": format!("{}: {note}", report.title()) });
        json!({ "level": "note", "message": message })
    };
    let notes: Vec<Value> = reports
        .iter()
        .flat_map(|report| report.unexecuted().into_iter().map(move |text| note(report, text)))
        .collect();
    if !notes.is_empty() {
        invocation["toolExecutionNotifications"] = json!(notes);
    }
    invocation
}

fn rule(code: Code) -> Value {
    let help = explain::page(code);
    json!({
        "id": code.to_string(),
        "name": format!("{code:?}"),
        "shortDescription": { "text": explain::title(code) },
        "fullDescription": { "text": explain::summary(code) },
        "help": { "text": help, "markdown": help },
        "defaultConfiguration": { "level": "error" },
    })
}

fn results(report: &Report) -> Vec<Value> {
    let prints = fingerprints(report, report.findings.iter());
    let mut results: Vec<Value> = Vec::new();
    for (finding, print) in report.findings.iter().zip(prints) {
        let level = if finding.is_error() { "error" } else { "note" };
        results.push(result(report, finding, level, &print));
    }
    let prints = fingerprints(report, report.open.iter());
    for (open, print) in report.open.iter().zip(prints) {
        results.push(result(report, open, "warning", &print));
    }
    if let Some(stopped) = &report.stopped {
        let finding = unknown(stopped.message.clone(), vec![stopped.location.clone()]);
        let print = fingerprints(report, std::iter::once(&finding)).remove(0);
        results.push(result(report, &finding, "warning", &print));
    }
    let open = report.properties.iter().filter(|property| property.verdict == Verdict::Unknown);
    let open: Vec<&str> = open.map(|property| property.name.name()).collect();
    if report.verdict == Verdict::Unknown && results.iter().all(|result| result["level"] == "note")
    {
        let open = if open.is_empty() { "nothing was checked".to_owned() } else { open.join(", ") };
        let finding = unknown(format!("{}: not proved: {open}", report.title()), Vec::new());
        let print = fingerprints(report, std::iter::once(&finding)).remove(0);
        results.push(result(report, &finding, "warning", &print));
    }
    results
}

fn unknown(message: String, locations: Vec<Location>) -> Finding {
    Finding {
        code: Code::NotFollowed.to_string(),
        kind: FindingKind::Unknown,
        severity: Severity::Warning,
        property: PropertyName::Several,
        side: None,
        message,
        note: None,
        help: None,
        locations,
        witness: None,
        count: 1,
        instructions: 0,
        allowed: None,
        race: None,
        tiles: Vec::new(),
    }
}

fn result(report: &Report, finding: &Finding, level: &str, print: &str) -> Value {
    let mut text = finding.message.clone();
    for (word, said) in [("note", &finding.note), ("help", &finding.help)] {
        said.iter().for_each(|said| text.push_str(&format!("\n{word}: {said}")));
    }
    let mut result = json!({
        "ruleId": finding.code,
        "level": level,
        "message": { "text": text },
        "partialFingerprints": { "warpproof/v1": print },
        "properties": { "kind": finding.kind, "check": report.title() },
    });
    let (first, others) = match finding.locations.split_first() {
        Some((first, others)) => (location(&first.shown), others),
        // Code scanning refuses results without a place.
        None => (location(&file_itself(report)), &[][..]),
    };
    result["locations"] = json!([first]);
    if let Some(first) = finding.locations.first().filter(|first| !first.message.is_empty()) {
        result["locations"][0]["message"] = json!({ "text": first.message });
    }
    if !others.is_empty() {
        let others = others.iter().zip(1..).map(|(other, id)| {
            let mut related = location(&other.shown);
            related["id"] = json!(id);
            related["message"] = json!({ "text": other.message });
            related
        });
        result["relatedLocations"] = others.collect();
    }
    if let Some(reason) = &finding.allowed {
        result["suppressions"] = json!([{ "kind": "external", "justification": reason }]);
    }
    result
}

fn file_itself(report: &Report) -> ShownLine {
    ShownLine {
        path: crate::paths::relative(&report.file),
        line: 1,
        column: 1,
        ..ShownLine::default()
    }
}

fn location(shown: &ShownLine) -> Value {
    let mut region = json!({ "startLine": shown.line.max(1), "startColumn": shown.column.max(1) });
    if shown.end_column > shown.column {
        region["endColumn"] = json!(shown.end_column);
    }
    if !shown.text.is_empty() {
        region["snippet"] = json!({ "text": shown.text });
    }
    let artifact = artifact(&in_repository(&shown.path));
    json!({ "physicalLocation": { "artifactLocation": artifact, "region": region } })
}

/// A relative reference from the root of the checkout; an absolute path as `file:`.
fn artifact(path: &str) -> Value {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let encoded: String = path
        .bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect();
    match path.starts_with('/') {
        true => json!({ "uri": format!("file://{encoded}") }),
        false => json!({ "uri": encoded, "uriBaseId": "%SRCROOT%" }),
    }
}
