//! The head of a page and of each report: the command, the launch, the arguments, and the verdict of each property.

use super::markdown::marked;
use super::{PageHead, badge};
use crate::arguments::shell_quoted;
use crate::render::escape::quoted;
use crate::report::{LaunchFacts, Report};
use crate::verdict::Verdict;

/// A line of a list of facts. The value is markup.
pub(super) fn fact(name: &str, value: &str) -> String {
    format!("<div><dt>{name}</dt><dd>{value}</dd></div>\n")
}

/// Command, date and version.
pub(super) fn of_page(head: &PageHead) -> String {
    let words: Vec<String> = head.words.iter().map(|word| shell_quoted(word)).collect();
    let command = match words.is_empty() {
        true => String::new(),
        false => fact("Command", &format!("<code>{}</code>", quoted(&words.join(" ")))),
    };
    let date = head.date;
    let version = concat!("warpproof ", env!("CARGO_PKG_VERSION"));
    format!(
        "<dl class=\"facts\">\n{command}{}{}</dl>\n",
        fact("Date", &format!("<time datetime=\"{date}\">{date}</time>")),
        fact("Version", version)
    )
}

/// The launches of a report, those of one side together.
pub(super) fn of_report(report: &Report) -> String {
    let launches = &report.page.launches;
    let is_launch = |launch_facts: &&LaunchFacts| !launch_facts.is_formula;
    let several =
        |side| launches.iter().filter(is_launch).filter(|launch| launch.side == side).count() > 1;
    let mut number = 0;
    let mut last = None;
    let mut text = String::new();
    for launch in launches {
        number = if last == Some(launch.side) { number + 1 } else { 1 };
        last = Some(launch.side);
        let place = if several(launch.side) && !launch.is_formula { Some(number) } else { None };
        text.push_str(&of_launch(launch, place));
    }
    text
}

fn of_launch(launch: &LaunchFacts, number: Option<usize>) -> String {
    let mut kernel = launch.side.map_or("Kernel", |side| match side {
        "reference" => "Reference",
        _ => "Optimised",
    });
    if launch.is_formula {
        kernel = "Formula";
    }
    let numbered;
    if let Some(number) = number {
        numbered = format!("{kernel}, launch {number}");
        kernel = &numbered;
    }
    let mut facts = fact(kernel, &format!("<code>{}</code>", quoted(&launch.kernel)));
    if !launch.sizes.is_empty() {
        let sizes = launch.sizes.iter().map(|(name, value)| match *name {
            "launch" => quoted(value),
            _ => format!("{name} {}", quoted(value)),
        });
        facts.push_str(&fact("Launch", &sizes.collect::<Vec<_>>().join(", ")));
    }
    if !launch.arguments.is_empty() {
        let codes =
            launch.arguments.iter().map(|argument| format!("<code>{}</code>", quoted(argument)));
        facts.push_str(&fact("Arguments", &codes.collect::<Vec<_>>().join(" ")));
    }
    format!("<dl class=\"facts\">\n{facts}</dl>\n")
}

/// Properties with the same verdict for the same reasons: a row of the table.
struct Group {
    verdict: Verdict,
    /// Of a comparison: which of the two kernels.
    side: Option<&'static str>,
    reasons: String,
    names: Vec<String>,
}

/// Properties with the same verdict for the same reason share a row; errors come first.
pub(super) fn properties(report: &Report) -> String {
    let mut groups: Vec<Group> = Vec::new();
    for property in &report.properties {
        // The section on the proof lists what is proved of one side; here it would hide the rest.
        if property.verdict == Verdict::Proved && property.side.is_some() {
            continue;
        }
        let name = property.name.to_string();
        let reasons = match property.verdict {
            Verdict::Unknown => marked(&property.reasons.join("; ")),
            Verdict::Proved | Verdict::Refuted => String::new(),
        };
        let side = property.side;
        let same = |group: &&mut Group| {
            (group.verdict, group.side, &group.reasons) == (property.verdict, side, &reasons)
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.names.push(name),
            None => {
                let names = vec![name];
                groups.push(Group { verdict: property.verdict, side, reasons, names });
            }
        }
    }
    if groups.is_empty() {
        return String::new();
    }
    groups.sort_by_key(|group| match group.verdict {
        Verdict::Refuted => 0,
        Verdict::Unknown => 1,
        Verdict::Proved => 2,
    });
    // Most tables have no reasons, and an empty column is noise to a screen reader.
    let with_reasons = groups.iter().any(|group| !group.reasons.is_empty());
    let row = |group: &Group| {
        let reasons =
            if with_reasons { format!("<td>{}</td>", group.reasons) } else { String::new() };
        let side = group.side.map(|side| format!("{side}: ")).unwrap_or_default();
        let (badge, names) = (badge(group.verdict.name()), group.names.join(", "));
        format!("<tr><td>{badge}</td><td>{side}{names}</td>{reasons}</tr>\n")
    };
    let rows: String = groups.iter().map(row).collect();
    let reason = if with_reasons { "<th scope=\"col\">Reason</th>" } else { "" };
    format!(
        "<div class=\"scrolls\" role=\"region\" aria-label=\"Properties\" tabindex=\"0\"><table class=\"properties\">\n\
         <caption class=\"unseen\">Properties and their verdicts</caption>\n<thead><tr><th scope=\"col\">Verdict</th>\
         <th scope=\"col\">Properties</th>{reason}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n"
    )
}
