//! Checks answers by evaluating the original terms at points that the procedure did not choose.

use decide::{Decision, Value, evaluate};
use term::{Input, Number, Term, Terms};
use testing::Random;

/// Describes why an answer of equality is wrong, if a point shows it.
pub(crate) fn contradiction(
    terms: &Terms,
    (reference, optimised): (Term, Term),
    assumptions: &[Term],
    answer: &Decision,
    points: u64,
    random: &mut Random,
) -> Option<String> {
    let Decision::Equal { conditions, rung } = answer else { return None };
    for _ in 0..points {
        let seed = random.bits();
        let point = |input: Input| value(seed, input);
        let mut roots = vec![reference, optimised];
        roots.extend_from_slice(assumptions);
        let values = evaluate(terms, &roots, &point);
        if values[2..].iter().any(|value| *value != Value::Truth(true)) {
            continue;
        }
        match (&values[0], &values[1]) {
            (Value::Real(a), Value::Real(b)) if a.is_disjoint(b) => {
                return Some(format!("equal by {rung}, but {a} and {b} at seed {seed}"));
            }
            (Value::Real(a), Value::Undefined) if conditions.is_empty() => {
                return Some(format!("equal by {rung}, but only {a} is defined at seed {seed}"));
            }
            _ => {}
        }
    }
    None
}

fn value(seed: u64, input: Input) -> Number {
    let random =
        Random::new(seed ^ (input.position() as u64).wrapping_mul(0x1234_5678_9ABC_DEF1)).bits();
    match seed % 4 {
        // Ties and zeros.
        0 => Number::from((random % 3) as i64 - 1),
        1 => Number::dyadic((random % 4096) as i64 + 1, -10),
        _ => Number::dyadic((random % 4096) as i64 - 2048, -9),
    }
}
