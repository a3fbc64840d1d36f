//! Every fixture of `corpus/terms` gets the answer it expects, at every size.

use decide::{Budget, Decision};

fn agrees(expected: &str, answer: &Decision) -> bool {
    match expected {
        "equal" => answer.is_equal(),
        "equal given" => {
            matches!(answer, Decision::Equal { conditions, .. } if !conditions.is_empty())
        }
        "different" => matches!(answer, Decision::Different { .. }),
        "unknown" => matches!(answer, Decision::Unknown(_)),
        "unproved" => !answer.is_equal(),
        other => panic!("no expectation is called `{other}`"),
    }
}

#[test]
fn fixtures_get_the_answers_they_expect() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for (name, script) in crate::fixtures::corpus() {
        for sizes in crate::fixtures::sizes(&script) {
            let case = crate::fixtures::case(
                &script,
                &sizes,
                crate::fixtures::section(&script, "optimised"),
            )
            .unwrap_or_else(|error| panic!("{name}: {error}"));
            for (index, answer) in
                crate::fixtures::answers(&case, &Budget::default()).into_iter().enumerate()
            {
                count += 1;
                if !agrees(crate::fixtures::expectation(&script), &answer) {
                    let (a, b) = case.pairs[index];
                    wrong.push(format!(
                        "{name} {sizes:?} output {index}: expected {}, got {answer:?}\n   {}\n   {}",
                        crate::fixtures::expectation(&script),
                        case.terms.print_limited(a, 80),
                        case.terms.print_limited(b, 80),
                    ));
                }
            }
        }
    }
    assert!(count > 200, "the corpus is not empty");
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
}
