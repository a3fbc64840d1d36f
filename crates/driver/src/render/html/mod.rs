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

/// The head of a page: its command line and date.
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
         </header>\n{contents}<main id=\"main\">\n{body}{codes}</main>\n<footer>Floats are treated as real numbers. The machine code that ptxas generates is not checked.</footer>\n</body>\n</html>\n",
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

#[cfg(test)]
mod tests {
    use super::STYLE;
    use std::collections::BTreeMap;

    /// The colours of a theme by name: `--red: #b3261e;`
    fn colours(rules: &'static str) -> BTreeMap<&'static str, [u8; 3]> {
        let channel = |hex: &str, at: usize| u8::from_str_radix(&hex[at..at + 2], 16).ok();
        let colour = |rule: &'static str| -> Option<(&'static str, [u8; 3])> {
            let (name, value) = rule.trim().strip_prefix("--")?.split_once(": #")?;
            let hex = match value.len() {
                3 => value.chars().flat_map(|c| [c, c]).collect(),
                _ => value.to_owned(),
            };
            // Eight digits are a colour with opacity, for lines only.
            (hex.len() == 6).then_some(())?;
            Some((name, [channel(&hex, 0)?, channel(&hex, 2)?, channel(&hex, 4)?]))
        };
        rules.split([';', '{', '}']).filter_map(colour).collect()
    }

    /// The contrast ratio of WCAG 2.2 (§1.4.3).
    fn contrast(one: [u8; 3], other: [u8; 3]) -> f64 {
        let luminance = |colour: [u8; 3]| {
            let [red, green, blue] = colour.map(|channel| {
                let value = f64::from(channel) / 255.0;
                if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
            });
            0.2126 * red + 0.7152 * green + 0.0722 * blue
        };
        let (one, other) = (luminance(one), luminance(other));
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    #[test]
    fn texts_can_be_read_in_both_themes() {
        let (light, rest) = STYLE.split_once("@media (prefers-color-scheme: dark)").unwrap();
        let dark = rest.split("\n}\n").next().unwrap();
        for theme in [light, dark] {
            let colours = colours(theme);
            assert_eq!(colours.len(), 15 + 8, "{colours:?}");
            let is_ground = |name: &str| name == "page" || name.starts_with("hit");
            let is_tile = |name: &str| name.len() == 2 && name.starts_with('w');
            for (ground, behind) in &colours {
                for (name, text) in &colours {
                    let on_line = is_ground(ground) && !is_ground(name) && !is_tile(name);
                    let on_tile = is_tile(ground) && *name == "text";
                    let ratio = contrast(*behind, *text);
                    assert!(
                        !(on_line || on_tile) || ratio >= 4.5,
                        "{name} on {ground}: {ratio:.2}"
                    );
                }
            }
        }
    }
}
