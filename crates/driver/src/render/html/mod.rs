//! Reports as one self-contained page: no scripts, no network, no other files. All text from a kernel is quoted. In
//! addition, a content security policy forbids anything that quoting should have prevented.
//!
//! Everything that a picture shows is also on the page in words. Headings form an outline without gaps, regions that
//! scroll can be reached with the keyboard, and no meaning is in colour alone. The same reports and the same
//! [`PageHead`] give the same bytes.

mod barriers;
mod codes;
mod facts;
mod findings;
mod heat;
mod highlight;
mod markdown;
mod pipelines;
mod proof;
mod ptx;
mod race;
mod sources;
mod tiles;
mod timeline;

use crate::project::Date;
use crate::render::escape::quoted;
use crate::report::Report;

const STYLE: &str = include_str!("style.css");

/// What a page says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageHead {
    /// The words of the command line; empty if there was none.
    pub words: Vec<String>,
    /// The day the page was made.
    pub date: Date,
}

/// A page of reports.
pub(crate) fn render(reports: &[Report], head: &PageHead) -> String {
    let title = match reports {
        [one] => one.title(),
        _ => format!("{} checks", reports.len()),
    };
    let contents = if reports.len() == 1 { String::new() } else { contents(reports) };
    let sections = reports.iter().enumerate();
    let body: String = sections.map(|(number, report)| section(report, number)).collect();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src \
         'unsafe-inline'\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>warpproof: {title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#main\">Skip to the results</a>\n<header>\n<h1>Warpproof report</h1>\n{facts}\
         </header>\n{contents}<main id=\"main\">\n{body}{codes}</main>\n<footer>Floats are real numbers; what ptxas makes of \
         the PTX is not looked at.</footer>\n</body>\n</html>\n",
        title = quoted(&title),
        facts = facts::of_page(head),
        codes = codes::render(reports),
    )
}

/// The verdict as a coloured word.
fn badge(verdict: &str) -> String {
    format!("<span class=\"badge {verdict}\">{verdict}</span>")
}

fn contents(reports: &[Report]) -> String {
    let row = |(number, report): (usize, &Report)| {
        let (verdict, title) = (badge(report.verdict.name()), quoted(&report.title()));
        format!("<tr><td>{verdict}</td><td><a href=\"#r{number}\">{title}</a></td></tr>\n")
    };
    let rows: String = reports.iter().enumerate().map(row).collect();
    format!(
        "<nav aria-labelledby=\"contents\">\n<h2 id=\"contents\">{} checks</h2>\n<table class=\"properties\">\n<thead>\
         <tr><th scope=\"col\">Verdict</th><th scope=\"col\">Check</th></tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n</nav>\n",
        reports.len()
    )
}

fn section(report: &Report, number: usize) -> String {
    let verdict = report.verdict.name();
    let mut text = format!(
        "<section id=\"r{number}\" class=\"report {verdict}\" aria-labelledby=\"r{number}-title\">\n\
         <h2 id=\"r{number}-title\">{} {}</h2>\n",
        quoted(&report.title()),
        badge(verdict)
    );
    text.push_str(&facts::of_report(report));
    text.push_str(&facts::properties(report));
    text.push_str(&findings::render(report, number));
    text.push_str(&proof::render(report, number));
    text.push_str(&pipelines::render(report));
    text.push_str(&sources::render(report, number));
    text.push_str(&barriers::render(report));
    text.push_str("</section>\n");
    text
}
