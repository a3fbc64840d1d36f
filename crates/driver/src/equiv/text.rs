//! Formats the answer of `equiv` as text for people.

use super::FinishedComparison;
use super::values::{number, rounding, values};
use crate::Colour;
use crate::alignment;
use crate::execute::FinishedRun;
use crate::properties::properties;
use crate::report::ProofFact;
use crate::verdict::Verdict;
use equiv::{Answer, Compared, ConstantMeaning, Difference, Rechecked};
use std::fmt::Write;

/// Inputs of a difference that a report shows.
const SHOWN_INPUTS: usize = 12;

/// The names of the two kernels.
const NAMES: [&str; 2] = ["reference", "optimised"];

pub(super) fn text(
    answered: &FinishedComparison<'_>,
    unexecuted: &[String],
    colour: Colour,
) -> String {
    let mut text = String::new();
    for (finished, name) in
        answered.sides.iter().zip(NAMES).flat_map(|(side, name)| named_launches(side, name))
    {
        text.push_str(&finished.messages(colour));
        let open: Vec<String> = properties(finished)
            .iter()
            .filter(|property| property.verdict != Verdict::Proved)
            .map(|property| format!("{} {}", property.name, property.verdict.name()))
            .collect();
        if !open.is_empty() {
            let _ = writeln!(text, "{name}: {}", open.join(", "));
        }
        for reason in alignment::open(finished) {
            let _ = writeln!(text, "  alignment: {reason}");
        }
    }
    let judgement = answered.equality();
    let verdict = judgement.verdict.painted(colour);
    match (judgement.verdict, &answered.compared.answer) {
        (Verdict::Refuted, Some(Answer::Different(difference))) => {
            let _ = writeln!(text, "equivalence: {verdict}: {}", headline(answered, difference));
            write_difference(&mut text, difference, answered.has_formula());
            if let Some(note) = likely_cause(difference, &answered.scalars()) {
                let _ = writeln!(text, "  {note}");
            }
            for line in answered.stores(difference) {
                let _ = writeln!(text, "  {line}");
            }
        }
        (Verdict::Proved, _) => {
            let counts = proof_counts(&answered.sides, &answered.compared);
            let _ = writeln!(text, "equivalence: {verdict}: {counts}");
            if let Some(rechecked) = &answered.compared.rechecked {
                let _ = writeln!(text, "{}", recheck_sentence(rechecked));
            }
            for note in answered.precision() {
                let _ = writeln!(text, "precision: {note}");
            }
        }
        _ => {
            let reason = judgement.reason.unwrap_or_default();
            let _ = writeln!(text, "equivalence: {verdict}: {reason}");
        }
    }
    if let Some(found) = answered.overflowing() {
        let word = if found.is_error { "refuted" } else { "note" };
        let _ = writeln!(text, "overflow: {word}: {} (WP0141)", found.message);
        let _ = writeln!(text, "  {}", found.note);
        found.help.iter().for_each(|help| _ = writeln!(text, "  {help}"));
    }
    for assumption in answered.assumptions() {
        let _ = writeln!(text, "assumed: {assumption}");
    }
    for note in unexecuted {
        let _ = writeln!(text, "note: {note}");
    }
    text
}

fn recheck_sentence(rechecked: &Rechecked) -> String {
    let Rechecked { points, agreed, open } = *rechecked;
    let all = agreed + open;
    format!(
        "rechecked: runs on intervals at {points} random points agree in {agreed} of {all} elements"
    )
}

/// The launches of a side with their names.
fn named_launches<'f, 'r>(
    side: &'f [FinishedRun<'r>],
    name: &'static str,
) -> impl Iterator<Item = (&'f FinishedRun<'r>, String)> {
    let count = side.len();
    side.iter().enumerate().map(move |(number, launch)| match count {
        _ if launch.is_formula => (launch, "formula".to_owned()),
        1 => (launch, name.to_owned()),
        _ => (launch, format!("{name}, launch {}", number + 1)),
    })
}

/// The blocks of a side: `4 blocks`, `8 blocks then 2 blocks`, `a formula then 4 blocks`
fn blocks(side: &[FinishedRun<'_>]) -> String {
    let describe = |launch: &FinishedRun<'_>| match launch.is_formula {
        true => "a formula".to_owned(),
        false => launch.blocks(),
    };
    let mut all: Vec<String> = side.iter().map(describe).collect();
    // A formula becomes one launch for each definition.
    all.dedup_by(|one, other| one == other && one == "a formula");
    all.join(" then ")
}

fn proof_counts(sides: &[Vec<FinishedRun<'_>>; 2], compared: &Compared) -> String {
    let [one, other] = sides.each_ref().map(|side| blocks(side));
    let (elements, methods) = (compared.elements, methods(compared));
    match elements {
        1 => format!("the only output element is equal ({methods}); {one} against {other}"),
        _ => format!("{elements} output elements are equal ({methods}); {one} against {other}"),
    }
}

/// The methods that proved the elements equal, with counts if there are several.
fn methods(compared: &Compared) -> String {
    let mut rungs = compared.rungs.keys();
    if let (Some(rung), None) = (rungs.next(), rungs.next()) {
        return format!("by {}", method(rung));
    }
    let counted = compared.rungs.iter();
    let counted: Vec<String> =
        counted.map(|(rung, count)| format!("{count} by {}", method(rung))).collect();
    counted.join(", ")
}

/// The facts about a proof of equality, for the section on the proof in HTML reports; none if equality is not proved.
pub(super) fn proof(answered: &FinishedComparison<'_>) -> Vec<ProofFact> {
    if answered.equality().verdict != Verdict::Proved {
        return Vec::new();
    }
    let compared = &answered.compared;
    let elements = match compared.elements {
        1 => "the only output element is equal".to_owned(),
        count => format!("{count} output elements are equal"),
    };
    let [one, other] = answered.sides.each_ref().map(|side| blocks(side));
    let method = |(rung, count): (&String, &usize)| {
        let elements = if *count == 1 { "1 element" } else { &format!("{count} elements") };
        format!("{elements} by {}: {}", method(rung), method_sentence(rung))
    };
    let methods = compared.rungs.iter().map(method).collect();
    let mut facts = vec![
        ProofFact::new("Compared", elements),
        ProofFact { subject: "Method", sentences: methods },
        ProofFact::new("Runs", format!("{one} against {other}")),
        ProofFact::new(
            "Holds for",
            "these launches, every input that the assumptions allow, and every thread schedule",
        ),
    ];
    facts.extend(
        compared
            .rechecked
            .as_ref()
            .map(|one| ProofFact::new("Checked again", recheck_sentence(one))),
    );
    let precision = answered.precision();
    if !precision.is_empty() {
        facts.push(ProofFact { subject: "Precision", sentences: precision });
    }
    facts
}

/// Describes a rung of the decision procedure in a sentence.
fn method_sentence(rung: &str) -> &'static str {
    match rung {
        "products" => "both values are the same sum of products of inputs",
        "structure" => "both values come from the same operations, up to their order",
        "composite" => {
            "both values have the same normal form; quotients and roots of sums count as unknowns in it"
        }
        "inline" => "both values have the same normal form, with all their parts written out",
        "facts" => "both values have the same normal form, once the signs of their parts are known",
        "cases" => "whichever way each comparison goes, both values have the same normal form",
        _ => "both values are equal as real numbers",
    }
}

/// The plain name of a rung of the decision procedure.
fn method(rung: &str) -> &str {
    match rung {
        "products" => "equal sums of products",
        "structure" => "equal operations",
        "composite" => "equal normal forms",
        "inline" => "equal expanded normal forms",
        "facts" => "normal forms and sign facts",
        "cases" => "cases of an ordering",
        other => other,
    }
}

fn headline(answered: &FinishedComparison<'_>, difference: &Difference) -> String {
    format!("`{}` differs", answered.element(&difference.position))
}

fn write_difference(text: &mut String, difference: &Difference, has_formula: bool) {
    for [one, other] in &difference.reads {
        let _ = writeln!(text, "  reference reads {one}, optimised reads {other}");
    }
    if difference.expressions.iter().any(|expression| !expression.is_empty()) {
        for (name, expression) in NAMES.iter().zip(&difference.expressions) {
            let _ = writeln!(text, "  {name}: {expression}");
        }
    }
    let values = values(difference);
    let _ = match inputs(difference) {
        Some(inputs) => writeln!(text, "  with {inputs}:"),
        None => writeln!(text, "  whatever the inputs are:"),
    };
    for (name, value) in NAMES.iter().zip(values) {
        let _ = writeln!(text, "  {name} = {value}");
    }
    if difference.is_confirmed() {
        let both = if has_formula { "both sides, evaluated" } else { "both kernels, run" };
        let _ =
            writeln!(text, "  {both} on these inputs in interval arithmetic, give these values");
    }
    if difference.is_numeric {
        text.push_str("  found on these inputs only: a run on all inputs did not finish\n");
    }
    if let (Some(floats), true) = (difference.floats, difference.values.contains(&None)) {
        let [one, other] = floats.values().map(number);
        let _ = writeln!(text, "  in floats they compute {one} and {other}");
    }
    if let Some(rounding) = rounding(difference) {
        let _ = writeln!(text, "  {rounding}");
    }
}

/// The likely cause of a very small difference. `scalars` are arguments that were given as numbers.
pub(super) fn likely_cause(difference: &Difference, scalars: &[(String, f64)]) -> Option<String> {
    const SMALL: f64 = 1e-5;
    let [Some(one), Some(other)] = difference.values else { return None };
    let relative = (one - other).abs() / one.abs().max(other.abs());
    // No note if the difference is explained already, or not small.
    if relative.is_nan() || relative >= SMALL || !difference.rounding.is_empty() {
        return None;
    }
    let mut note =
        format!("the sides differ by {relative:.0e} relative: likely a rounded constant");
    for near in &difference.near {
        let ConstantMeaning { constant, form } = near;
        note.push_str(&format!("; {constant} is close to {form}"));
        let given = scalars.iter().find(|(_, value)| *value == constant.value());
        if let Some((name, _)) = given {
            note.push_str(&format!("; pass the scalar exactly (`--arg {name}={form}`)"));
        }
    }
    Some(note)
}

fn inputs(difference: &Difference) -> Option<String> {
    let shown = difference.inputs.iter().take(SHOWN_INPUTS);
    let mut inputs: Vec<String> = shown.map(|(name, value)| format!("{name} = {value}")).collect();
    if difference.inputs.len() > SHOWN_INPUTS {
        inputs.push(format!("{} more", difference.inputs.len() - SHOWN_INPUTS));
    }
    (!inputs.is_empty()).then(|| inputs.join(", "))
}
