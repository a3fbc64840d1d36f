//! The PTX of a kernel beside its source, on demand. Each instruction leads to its source line, and lines with
//! findings are marked as in the source.

use super::highlight::{Highlighter, Language};
use super::sources::{Marks, home};
use crate::render::escape::quoted;
use crate::report::{PtxText, Report};

/// The name of a line, for links.
pub(super) fn anchor(listing: usize, number: usize, line: u32) -> String {
    format!("r{number}-p{listing}-l{line}")
}

/// The listing with an instruction: its number, if the line is shown.
pub(super) fn find(report: &Report, path: &str, line: u32, side: Option<&str>) -> Option<usize> {
    let is_in = |text: &PtxText| {
        let inside = (text.lines.len() as u64) + u64::from(text.first);
        text.path == path && text.side == side && text.first <= line && u64::from(line) < inside
    };
    let on_page = |text: &&PtxText| is_in(text) && home(report, text).is_some();
    let found = report.page.ptx.iter().find(on_page)?;
    report.page.ptx.iter().position(|text| std::ptr::eq(text, found))
}

/// `link` has the anchors of source lines that are on the page.
pub(super) fn render(
    report: &Report,
    listing: usize,
    number: usize,
    link: &dyn Fn(&str, u32) -> Option<String>,
) -> String {
    let text = &report.page.ptx[listing];
    let marks = Marks::of_ptx(report, text);
    let mut highlighter = Highlighter::new(Language::Ptx);
    let mut rows = String::new();
    for (line, written) in (text.first..).zip(&text.lines) {
        let origin = text.origins.get(&line).map(|(path, source)| {
            match link(path, *source) {
                Some(anchor) => format!("<a href=\"#{anchor}\">{source}</a>"),
                // A line that is not on the page: the name of its file is in the title.
                None => format!("<span title=\"{}\">{source}</span>", quoted(path)),
            }
        });
        rows.push_str(&format!(
            "<tr id=\"{}\"{}><th scope=\"row\" class=\"number\">{line}</th><td class=\"number\">{}</td><td>{}</td></tr>\n",
            anchor(listing, number, line),
            marks.class(line),
            origin.unwrap_or_default(),
            highlighter.line(written)
        ));
    }
    let more = match text.left_out {
        0 => String::new(),
        more => format!("<p>{more} more lines are in {}.</p>\n", quoted(&text.path)),
    };
    format!(
        "<details class=\"ptx\"><summary>PTX of {kernel}</summary>\n<div class=\"source\" role=\"region\" aria-label=\"PTX of \
         {kernel}\" tabindex=\"0\"><table class=\"code\">\n<caption class=\"unseen\">{path}</caption><thead class=\"unseen\"><tr>\
         <th scope=\"col\">PTX line</th><th scope=\"col\">Source line</th><th scope=\"col\">PTX</th></tr></thead>\n<tbody>\n\
         {rows}</tbody></table></div>\n{more}</details>\n",
        kernel = quoted(&text.kernel),
        path = quoted(&text.path),
    )
}
