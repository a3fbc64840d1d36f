//! The box about a proof: what was compared, by which method, for which inputs, and what was assumed.

use super::markdown::marked;
use crate::render::escape::quoted;
use crate::report::{ProofFact, Property, Report};
use crate::verdict::Verdict;
use crate::vocabulary::{PropertyName, listed};

pub(super) fn render(report: &Report, number: usize) -> String {
    // The property `launch` alone needs no box.
    let is_proved = |property: &&Property| property.verdict == Verdict::Proved;
    let proved: Vec<&Property> = report.properties.iter().filter(is_proved).collect();
    let has_more = proved.iter().any(|one| one.name != PropertyName::Launch);
    let notes = report.notes.iter().cloned().chain(report.unexecuted());
    let notes = list(notes.collect());
    let assumed = list(report.assumptions.clone());
    if !has_more {
        let boxed = |name: &str, list: String| match list.is_empty() {
            true => list,
            false => format!("<h3>{name}</h3>\n{list}"),
        };
        return boxed("Assumed", assumed) + &boxed("Notes", notes);
    }
    let mut facts: Vec<(&str, String)> = Vec::new();
    // Properties of each side of a comparison are proved by its runs.
    let names = |side: Option<&str>| {
        listed(proved.iter().filter(|one| one.side == side).map(|one| one.name))
    };
    let mut add = |side, subject: &'static str| {
        let names = names(side);
        facts.extend((!names.is_empty()).then(|| (subject, quoted(&names))));
    };
    add(None, "Proved");
    add(Some("reference"), "Of the reference");
    add(Some("optimised"), "Of the optimised kernel");
    let at = usize::from(proved.iter().any(|one| one.side.is_none()));
    let how = report.page.proof.iter().map(|one| (one.subject, sentences(one)));
    facts.splice(at..at, how);
    let nothing = "<p>nothing</p>\n".to_owned();
    facts.push(("Assumed", if assumed.is_empty() { nothing } else { assumed }));
    if !notes.is_empty() {
        facts.push(("Notes", notes));
    }
    let facts: String = facts.iter().map(|(name, value)| super::facts::fact(name, value)).collect();
    format!(
        "<section class=\"proof\" aria-labelledby=\"r{number}-proof\">\n<h3 id=\"r{number}-proof\">What is proved</h3>\n\
         <dl class=\"facts\">\n{facts}</dl>\n</section>\n"
    )
}

fn sentences(fact: &ProofFact) -> String {
    match &fact.sentences[..] {
        [one] => marked(one),
        several => list(several.to_vec()),
    }
}

fn list(lines: Vec<String>) -> String {
    let items: String = lines.iter().map(|line| format!("<li>{}</li>\n", marked(line))).collect();
    if items.is_empty() { items } else { format!("<ul>\n{items}</ul>\n") }
}
