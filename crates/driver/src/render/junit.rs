//! JUnit's XML, in the form that CI systems read: a suite for each report, a test for each property.
//!
//! CI systems decide by the elements of a test, so these agree with the exit status. A finding is a failure. An unknown
//! property is an error and not skipped, because skipped tests pass. If the user accepted it, it does not fail the run,
//! so it is skipped, with the reason: a finding by `[[allow]]`, an unknown property by `require = "not-refuted"`.

use crate::render::escape::{markup, quoted};
use crate::report::{Finding, Property, Report};
use crate::verdict::Verdict;
use crate::vocabulary::PropertyName;
use std::collections::BTreeMap;

pub(super) fn render(reports: &[Report]) -> String {
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let counts = count(reports.iter().flat_map(cases));
    text.push_str(&format!("<testsuites name=\"warpproof\" {counts}>\n"));
    reports.iter().for_each(|report| text.push_str(&suite(report)));
    text.push_str("</testsuites>\n");
    text
}

/// A test: its name, its verdict and its messages.
struct Case {
    name: String,
    verdict: Verdict,
    /// The user accepted everything against it.
    is_accepted: bool,
    message: String,
    details: String,
}

impl Case {
    /// The element that tells CI systems the result; a passed test has none.
    fn element(&self) -> Option<&'static str> {
        match self.verdict {
            Verdict::Proved => None,
            Verdict::Refuted | Verdict::Unknown if self.is_accepted => Some("skipped"),
            Verdict::Refuted => Some("failure"),
            Verdict::Unknown => Some("error"),
        }
    }
}

/// The numbers of tests, as attributes.
fn count(cases: impl Iterator<Item = Case>) -> String {
    let elements: Vec<Option<&str>> = cases.map(|case| case.element()).collect();
    let of = |name: &str| elements.iter().filter(|element| **element == Some(name)).count();
    let (tests, failures, errors, skipped) =
        (elements.len(), of("failure"), of("error"), of("skipped"));
    let skipped = if skipped == 0 { String::new() } else { format!(" skipped=\"{skipped}\"") };
    format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\"{skipped}")
}

/// Makes a test case of each property. A run that could not start has a single case.
fn cases(report: &Report) -> Vec<Case> {
    if report.properties.is_empty() {
        let details: String = report.findings.iter().map(details).collect();
        let message = report.findings.first().map_or("nothing was checked", |one| &one.message);
        let (name, message) = (PropertyName::Launch.to_string(), message.to_owned());
        let (verdict, is_accepted) = (report.verdict, report.accepts_unknown);
        return vec![Case { name, verdict, is_accepted, message, details }];
    }
    let of_properties = report.properties.iter().flat_map(|property| of_property(report, property));
    // An error that is about none of the properties must not be lost.
    let is_told =
        |finding: &&Finding| report.properties.iter().any(|property| is_about(finding, property));
    let others = report
        .errors()
        .filter(|error| !is_told(error))
        .map(|error| of_finding(error, error.property.name()));
    let mut cases: Vec<Case> = of_properties.chain(others).collect();
    number_names(&mut cases);
    cases
}

fn is_about(finding: &Finding, property: &Property) -> bool {
    finding.property == property.name && finding.side == property.side
}

/// A test for each error against a property, or one if there is none.
fn of_property(report: &Report, property: &Property) -> Vec<Case> {
    let name = match property.side {
        Some(side) => format!("{side}: {}", property.name),
        None => property.name.to_string(),
    };
    let mut findings: Vec<&Finding> =
        report.errors().filter(|error| is_about(error, property)).collect();
    if findings.is_empty() && property.verdict == Verdict::Refuted {
        let allowed = report.findings.iter().filter(|finding| finding.allowed.is_some());
        findings = allowed.filter(|one| is_about(one, property)).collect();
    }
    let reasons: String = property.reasons.iter().map(|reason| format!("{reason}\n")).collect();
    match findings.as_slice() {
        [] => {
            let mut message = property.reasons.first().cloned().unwrap_or_default();
            let mut details = reasons;
            let verdict = property.verdict;
            let is_accepted = verdict == Verdict::Unknown && report.accepts_unknown;
            if is_accepted {
                message = format!("unknown, accepted by require = \"not-refuted\": {message}");
            }
            if let (Verdict::Unknown, Some(stopped)) = (verdict, &report.stopped) {
                let shown = &stopped.location.shown;
                details.push_str(&format!("{}:{}: {}\n", shown.path, shown.line, stopped.message));
            }
            vec![Case { name, verdict, is_accepted, message, details }]
        }
        [only] => {
            let mut case = of_finding(only, &name);
            case.details.push_str(&reasons);
            vec![case]
        }
        several => {
            several.iter().map(|one| of_finding(one, &name_with_place(one, &name))).collect()
        }
    }
}

fn of_finding(finding: &Finding, name: &str) -> Case {
    Case {
        name: name.to_owned(),
        verdict: Verdict::Refuted,
        is_accepted: finding.allowed.is_some(),
        message: finding.message.clone(),
        details: details(finding),
    }
}

/// `races (WP0109 at kernel.cu:5)`
fn name_with_place(finding: &Finding, name: &str) -> String {
    match finding.locations.first() {
        Some(first) => {
            format!("{name} ({} at {}:{})", finding.code, first.shown.path, first.shown.line)
        }
        None => format!("{name} ({})", finding.code),
    }
}

/// Tells tests of the same name apart: CI systems take them for one.
fn number_names(cases: &mut [Case]) {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for case in cases {
        let count = seen.entry(case.name.clone()).or_insert(0);
        *count += 1;
        if *count > 1 {
            case.name = format!("{} #{count}", case.name);
        }
    }
}

fn suite(report: &Report) -> String {
    let cases = cases(report);
    let name = attribute(&report.title());
    let mut text = String::new();
    for case in &cases {
        let (case_name, message) = (attribute(&case.name), attribute(&case.message));
        let open = format!("    <testcase classname=\"{name}\" name=\"{case_name}\"");
        let Some(element) = case.element() else {
            text.push_str(&format!("{open}/>\n"));
            continue;
        };
        // The schema allows `skipped` no type.
        let kind = match element {
            "skipped" => String::new(),
            _ => format!("type=\"{}\" ", case.verdict.name()),
        };
        let details = markup(&case.details);
        text.push_str(&format!(
            "{open}>\n      <{element} {kind}message=\"{message}\">{details}</{element}>\n    \
             </testcase>\n"
        ));
    }
    let counts = count(cases.into_iter());
    let notes: String = report.unexecuted().iter().map(|note| format!("note: {note}\n")).collect();
    if !notes.is_empty() {
        text.push_str(&format!("    <system-out>{}</system-out>\n", markup(&notes)));
    }
    format!("  <testsuite name=\"{name}\" {counts}>\n{text}  </testsuite>\n")
}

fn details(finding: &Finding) -> String {
    let mut text = format!("{}: {}\n", finding.code, finding.message);
    for location in &finding.locations {
        let shown = &location.shown;
        text.push_str(&format!("  {}:{}: {}\n", shown.path, shown.line, location.message));
    }
    let said = [("note", &finding.note), ("help", &finding.help), ("allowed", &finding.allowed)];
    for (word, said) in said {
        said.iter().for_each(|said| text.push_str(&format!("  {word}: {said}\n")));
    }
    text
}

fn attribute(text: &str) -> String {
    quoted(text).replace('\n', "&#10;").replace('\t', "&#9;")
}
