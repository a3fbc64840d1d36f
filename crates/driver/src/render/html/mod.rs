//! Reports as one self-contained page: no scripts, no network, no other files. All text from a kernel is quoted. In
//! addition, a content security policy forbids anything that quoting should have prevented.

mod barriers;
mod heat;
mod pipelines;
mod sources;
mod timeline;

use crate::render::escape::quoted;
use crate::report::{Finding, Report, Witness};
use crate::verdict::Verdict;

const STYLE: &str = include_str!("style.css");

/// A page of reports.
pub(crate) fn render(reports: &[Report]) -> String {
    let title = match reports {
        [one] => one.title(),
        _ => format!("{} checks", reports.len()),
    };
    let mut body = String::new();
    if reports.len() != 1 {
        body.push_str(&contents(reports));
    }
    for (number, report) in reports.iter().enumerate() {
        body.push_str(&section(report, number));
    }
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src \
         'unsafe-inline'\">\n<meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>warpproof: {title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n{body}\
         <footer>warpproof {version}. Floats are real numbers; what ptxas makes of the PTX is not \
         looked at.</footer>\n</body>\n</html>\n",
        title = quoted(&title),
        version = env!("CARGO_PKG_VERSION"),
    )
}

fn contents(reports: &[Report]) -> String {
    let row = |(number, report): (usize, &Report)| {
        let (verdict, title) = (report.verdict.name(), quoted(&report.title()));
        format!(
            "<tr><td><span class=\"badge {verdict}\">{verdict}</span></td><td><a \
             href=\"#r{number}\">{title}</a></td></tr>\n"
        )
    };
    let rows: String = reports.iter().enumerate().map(row).collect();
    format!("<h1>{} checks</h1>\n<table class=\"properties\">\n{rows}</table>\n", reports.len())
}

fn section(report: &Report, number: usize) -> String {
    let verdict = report.verdict.name();
    let mut text = format!(
        "<section id=\"r{number}\" class=\"{verdict}\">\n<h1>{} <span class=\"badge \
         {verdict}\">{verdict}</span></h1>\n",
        quoted(&report.title())
    );
    text.push_str(&properties(report));
    let all = report.findings.iter().map(|finding| (finding, kind(finding)));
    let open = report.open.iter().map(|finding| (finding, "open"));
    for (position, (finding, kind)) in all.chain(open).enumerate() {
        text.push_str(&one(report, finding, kind, (number, position)));
    }
    if let Some(stopped) = &report.stopped {
        text.push_str(&format!(
            "<div class=\"finding open\"><h3>{} {}</h3></div>\n",
            stopped.code,
            quoted(&stopped.message)
        ));
    }
    text.push_str(&pipelines::render(report));
    text.push_str(&sources::render(report, number));
    text.push_str(&barriers::render(report));
    for (word, lines) in [("assumed", &report.assumptions), ("note", &report.notes)] {
        lines.iter().for_each(|line| text.push_str(&format!("<p>{word}: {}</p>\n", quoted(line))));
    }
    for line in report.unexecuted() {
        text.push_str(&format!("<p>note: {}</p>\n", quoted(&line)));
    }
    text.push_str("</section>\n");
    text
}

fn kind(finding: &Finding) -> &'static str {
    if finding.is_error() { "error" } else { "note" }
}

fn properties(report: &Report) -> String {
    // Properties with the same verdict for the same reason share a row; errors come first.
    let mut groups: Vec<(Verdict, String, Vec<String>)> = Vec::new();
    for property in &report.properties {
        // A long list of proved properties would hide the rest.
        if report.properties.len() > 13
            && property.verdict == Verdict::Proved
            && property.side.is_some()
        {
            continue;
        }
        let side = property.side.map(|side| format!("{side}: ")).unwrap_or_default();
        let name = format!("{side}{}", property.name);
        let reasons = match property.verdict {
            Verdict::Unknown => quoted(&property.reasons.join("; ")),
            Verdict::Proved | Verdict::Refuted => String::new(),
        };
        let same = |group: &&mut (Verdict, String, Vec<String>)| {
            group.0 == property.verdict && group.1 == reasons
        };
        match groups.iter_mut().find(same) {
            Some((_, _, names)) => names.push(name),
            None => groups.push((property.verdict, reasons, vec![name])),
        }
    }
    groups.sort_by_key(|group| match group.0 {
        Verdict::Refuted => 0,
        Verdict::Unknown => 1,
        Verdict::Proved => 2,
    });
    let row = |(verdict, reasons, names): &(Verdict, String, Vec<String>)| {
        let (verdict, names) = (verdict.name(), names.join(", "));
        format!(
            "<tr><td><span class=\"badge {verdict}\">{verdict}</span></td><td>{names}</td>\
             <td>{reasons}</td></tr>\n"
        )
    };
    let rows: String = groups.iter().map(row).collect();
    format!("<table class=\"properties\">\n{rows}</table>\n")
}

fn one(report: &Report, finding: &Finding, kind: &str, id: (usize, usize)) -> String {
    let side = finding.side.map(|side| format!("{side}: ")).unwrap_or_default();
    let mut text = format!(
        "<div class=\"finding {kind}\" id=\"f{}-{}\">\n<h3>{} {side}{}</h3>\n",
        id.0,
        id.1,
        finding.code,
        quoted(&finding.message)
    );
    for location in &finding.locations {
        let shown = &location.shown;
        let anchor = sources::anchor(report, &shown.path, shown.line, id.0);
        text.push_str(&format!(
            "<p><a class=\"code\" href=\"#{anchor}\">{}:{}</a> {}</p>\n",
            quoted(&shown.path),
            shown.line,
            quoted(&location.message)
        ));
    }
    for (word, said) in
        [("note", &finding.note), ("help", &finding.help), ("allowed", &finding.allowed)]
    {
        said.iter().for_each(|said| text.push_str(&format!("<p>{word}: {}</p>\n", quoted(said))));
    }
    match &finding.witness {
        Some(Witness::Thread(witness)) => text.push_str(&timeline::render(witness)),
        Some(Witness::Difference(witness)) => text.push_str(&heat::render(report, witness)),
        Some(Witness::Overflow(_)) | None => {}
    }
    text.push_str("</div>\n");
    text
}
