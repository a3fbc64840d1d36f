//! Every fixture with one sign, index, constant or operand changed: never wrongly equal.
//!
//! Some changes have no effect (a start value that is overwritten, `min` of a single element). Those survive, and
//! evaluation at many points must agree that they are equal.

use crate::check::contradiction;
use decide::Budget;
use testing::Random;

#[test]
fn no_mutant_is_wrongly_proved() {
    let budget = Budget { points: 48, cases: 200, rung: 300_000, ..Budget::default() };
    let mut random = Random::new(1);
    let (mut made, mut refuted, mut open) = (0, 0, 0);
    let mut survivors = Vec::new();
    let mut wrong = Vec::new();
    for (name, script) in crate::fixtures::corpus() {
        if !crate::fixtures::expectation(&script).starts_with("equal") {
            continue;
        }
        let sizes: Vec<(String, i64)> = script
            .sizes
            .iter()
            .map(|(name, values)| (name.clone(), values[values.len() / 2]))
            .collect();
        let original = crate::fixtures::section(&script, "optimised");
        for target in 0.. {
            let Some(body) = crate::mutate::mutated(original, target) else { break };
            // An index out of range, or a different number of results, is not a valid program.
            let Ok(case) = crate::fixtures::case(&script, &sizes, &body) else { continue };
            made += 1;
            let answers = crate::fixtures::answers(&case, &budget);
            for (pair, answer) in case.pairs.iter().zip(&answers) {
                let found =
                    contradiction(&case.terms, *pair, &case.assumptions, answer, 8, &mut random);
                wrong.extend(found.map(|what| format!("{name} mutant {target}: {what}")));
            }
            if answers.iter().any(|answer| matches!(answer, decide::Decision::Different { .. })) {
                refuted += 1;
            } else if answers.iter().any(|answer| !answer.is_equal()) {
                open += 1;
            } else {
                survivors.push(format!("{name} mutant {target}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(made > 500, "{made} mutants");
    // Equivalent mutants exist, but few: a jump here means the answers got weaker.
    let summary = format!(
        "{made} mutants: {refuted} refuted, {open} not proved, {} equal:\n{}",
        survivors.len(),
        survivors.join("\n")
    );
    assert!(survivors.len() * 10 < made, "{summary}");
    if let Ok(path) = std::env::var("MUTANTS_REPORT") {
        std::fs::write(path, summary).expect("the report can be written");
    }
}
