//! JUnit's XML, as CI systems read it: a suite for each report, a test for each property. What is
//! refuted is a failure; what is unknown is an error and not skipped, because skipped tests pass.

use crate::render::escape::{markup, quoted};
use crate::report::{Finding, Property, Report};
use crate::verdict::Verdict;
use crate::vocabulary::PropertyName;

pub(super) fn render(reports: &[Report]) -> String {
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let (tests, failures, errors) = count(reports.iter().flat_map(cases));
    text.push_str(&format!(
        "<testsuites name=\"warpproof\" tests=\"{tests}\" failures=\"{failures}\" \
         errors=\"{errors}\">\n"
    ));
    reports.iter().for_each(|report| text.push_str(&suite(report)));
    text.push_str("</testsuites>\n");
    text
}

/// A test: its name, its verdict and what there is to say.
struct Case {
    name: String,
    verdict: Verdict,
    message: String,
    details: String,
}

fn count(cases: impl Iterator<Item = Case>) -> (usize, usize, usize) {
    cases.fold((0, 0, 0), |(tests, failures, errors), case| match case.verdict {
        Verdict::Proved => (tests + 1, failures, errors),
        Verdict::Refuted => (tests + 1, failures + 1, errors),
        Verdict::Unknown => (tests + 1, failures, errors + 1),
    })
}

/// Properties; what could not be started has one case of its own.
fn cases(report: &Report) -> Vec<Case> {
    if report.properties.is_empty() {
        let details: String = report.findings.iter().map(details).collect();
        let message = report.findings.first().map_or("nothing was checked", |one| &one.message);
        let (name, message) = (PropertyName::Launch.to_string(), message.to_owned());
        return vec![Case { name, verdict: report.verdict, message, details }];
    }
    report.properties.iter().map(|property| case(report, property)).collect()
}

fn case(report: &Report, property: &Property) -> Case {
    let about = |one: &&Finding| one.property == property.name && one.side == property.side;
    let findings: Vec<&Finding> = report.errors().filter(about).collect();
    let name = match property.side {
        Some(side) => format!("{side}: {}", property.name),
        None => property.name.to_string(),
    };
    let mut details: String = findings.iter().map(|finding| details(finding)).collect();
    property.reasons.iter().for_each(|reason| details.push_str(&format!("{reason}\n")));
    let first = findings.first().map(|finding| finding.message.clone());
    let message = first.or_else(|| property.reasons.first().cloned()).unwrap_or_default();
    Case { name, verdict: property.verdict, message, details }
}

fn suite(report: &Report) -> String {
    let cases = cases(report);
    let name = attribute(&report.title());
    let mut text = String::new();
    for case in &cases {
        let (case_name, message) = (attribute(&case.name), attribute(&case.message));
        let open = format!("    <testcase classname=\"{name}\" name=\"{case_name}\"");
        let element = match case.verdict {
            Verdict::Proved => {
                text.push_str(&format!("{open}/>\n"));
                continue;
            }
            Verdict::Refuted => "failure",
            Verdict::Unknown => "error",
        };
        let (kind, details) = (case.verdict.name(), markup(&case.details));
        text.push_str(&format!(
            "{open}>\n      <{element} type=\"{kind}\" message=\"{message}\">{details}</{element}>\n    \
             </testcase>\n"
        ));
    }
    let (tests, failures, errors) = count(cases.into_iter());
    let notes: String = report.unexecuted().iter().map(|note| format!("note: {note}\n")).collect();
    if !notes.is_empty() {
        text.push_str(&format!("    <system-out>{}</system-out>\n", markup(&notes)));
    }
    format!(
        "  <testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\" \
         errors=\"{errors}\">\n{text}  </testsuite>\n"
    )
}

fn details(finding: &Finding) -> String {
    let mut text = format!("{}: {}\n", finding.code, finding.message);
    for location in &finding.locations {
        let shown = &location.shown;
        text.push_str(&format!("  {}:{}: {}\n", shown.path, shown.line, location.message));
    }
    for (word, said) in [("note", &finding.note), ("help", &finding.help)] {
        said.iter().for_each(|said| text.push_str(&format!("  {word}: {said}\n")));
    }
    text
}

fn attribute(text: &str) -> String {
    quoted(text).replace('\n', "&#10;").replace('\t', "&#9;")
}
