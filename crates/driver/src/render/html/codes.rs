//! Explanations of the codes on a page: those that `warpproof explain` prints.

use super::markdown;
use crate::explain;
use crate::render::escape::quoted;
use crate::report::Report;
use base::Code;
use std::collections::BTreeSet;

/// A code as a link to its explanation below.
pub(super) fn link(code: &str) -> String {
    match Code::parse(code) {
        Some(_) => {
            format!("<a class=\"code\" href=\"#code-{code}\">{code}</a>", code = quoted(code))
        }
        None => quoted(code),
    }
}

/// The explanations of all codes on the page.
pub(super) fn render(reports: &[Report]) -> String {
    let of_report = |report: &'_ Report| -> Vec<String> {
        let findings = report.findings.iter().chain(&report.open).map(|one| one.code.clone());
        findings.chain(report.stopped.iter().map(|one| one.code.clone())).collect()
    };
    let codes: BTreeSet<String> = reports.iter().flat_map(of_report).collect();
    let explained: String =
        codes.iter().filter_map(|code| Code::parse(code)).map(code_article).collect();
    match explained.is_empty() {
        true => explained,
        false => format!(
            "<section class=\"codes\" aria-labelledby=\"codes\">\n<h2 id=\"codes\">What the codes mean</h2>\n{explained}</section>\n"
        ),
    }
}

fn code_article(code: Code) -> String {
    // The title and the first paragraph are above; the rest opens on demand.
    let page = explain::page(code);
    let rest = page.splitn(3, "\n\n").nth(2).unwrap_or_default();
    format!(
        "<article id=\"code-{code}\"><h3>{code}: {}</h3>\n<p>{}</p>\n<details><summary>The whole page of {code}</summary>\n{}\
         </details></article>\n",
        markdown::inline(explain::title(code)),
        markdown::inline(&explain::summary(code)),
        markdown::render(rest, 4)
    )
}
