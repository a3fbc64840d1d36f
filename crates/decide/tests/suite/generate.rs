//! Random pairs: equal by construction, through rewrites that keep value and domain, or nearly so.

use crate::check::contradiction;
use crate::mutate::mutated_expression;
use decide::{Budget, Decision, Problem, Reason, decide};
use std::sync::Arc;
use term::text::{Binary, Expression, Scope, Script, Unary};
use term::{Number, Terms};
use testing::Random;

/// The operations that a random expression may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Polynomial,
    Exponential,
    Fraction,
    Root,
    Piecewise,
    Mixed,
}

pub(crate) const CLASSES: [Class; 6] = [
    Class::Polynomial,
    Class::Exponential,
    Class::Fraction,
    Class::Root,
    Class::Piecewise,
    Class::Mixed,
];

/// Counts of the answers for one class.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    /// Pairs equal by construction: proved, proved with conditions, undecided, and those whose reference is defined
    /// nowhere as far as we know (so nothing could be claimed).
    pub(crate) equal: [u64; 4],
    /// Changed pairs: proved (harmless changes), conditional, different, unknown.
    pub(crate) changed: [u64; 4],
}

/// One random pair and its answer; an error if the answer is wrong.
pub(crate) fn trial(class: Class, random: &mut Random, tally: &mut Tally) -> Result<(), String> {
    let seed = random.seed();
    let reference = expression(class, random, 3);
    let mut optimised = reference.clone();
    for _ in 0..=random.below(4) {
        optimised = rewrite(&optimised, random);
    }
    let changed = random.below(2) == 1;
    if changed {
        let target = random.below(12);
        match mutated_expression(&optimised, target) {
            Some(mutant) => optimised = mutant,
            None => return Ok(()),
        }
    }
    let script = Script {
        inputs: ["x", "y", "z"].map(|name| (name.to_owned(), Vec::new())).to_vec(),
        ..Script::default()
    };
    let (mut scope, inputs) = Scope::declare(&script, &[]).map_err(|e| e.to_string())?;
    let mut terms = Terms::new(Arc::new(inputs));
    let pair = (scope.term(&mut terms, &reference), scope.term(&mut terms, &optimised));
    // A change may divide by a constant zero and the like; that is a term too. A power with an exponent that is no
    // longer a constant is not.
    let (Ok(a), Ok(b)) = pair else { return Ok(()) };
    let budget = Budget {
        rung: 100_000,
        normalise: 100_000,
        cases: 64,
        quick_points: 4,
        points: 12,
        ..Budget::default()
    };
    let problem = Problem { reference: &terms, optimised: &terms, assumptions: &[] };
    let answer = decide(&problem, &[(a, b)], &budget).remove(0);
    let describe =
        |what: &str| format!("seed {seed}: {what}\n  {}\n  {}", terms.print(a), terms.print(b));
    if let Some(what) = contradiction(&terms, (a, b), &[], &answer, 2, random) {
        return Err(describe(&what));
    }
    match (changed, &answer) {
        (false, Decision::Different { discrepancy, .. }) => {
            return Err(describe(&format!("equal by construction, but {discrepancy:?}")));
        }
        (false, Decision::Equal { conditions, .. }) => {
            tally.equal[usize::from(!conditions.is_empty())] += 1;
        }
        (false, Decision::Unknown(Reason::Undecided | Reason::Budget | Reason::TooLarge)) => {
            tally.equal[2] += 1;
        }
        (false, Decision::Unknown(_)) => tally.equal[3] += 1,
        (true, Decision::Equal { conditions, .. }) => {
            tally.changed[usize::from(!conditions.is_empty())] += 1;
        }
        (true, Decision::Different { .. }) => tally.changed[2] += 1,
        (true, Decision::Unknown(_)) => tally.changed[3] += 1,
    }
    Ok(())
}

fn binary(operator: Binary, a: Expression, b: Expression) -> Expression {
    Expression::Binary(operator, a.into(), b.into())
}

fn call(name: &str, arguments: Vec<Expression>) -> Expression {
    Expression::Call(name.to_owned(), arguments)
}

fn number(value: i64) -> Expression {
    Expression::Number(Number::from(value))
}

fn negated(a: Expression) -> Expression {
    Expression::Unary(Unary::Negate, a.into())
}

fn leaf(random: &mut Random) -> Expression {
    match random.below(5) {
        0 => number(random.below(5) as i64 - 2),
        1 => Expression::Number(Number::dyadic(random.below(7) as i64 + 1, -2)),
        choice => Expression::Name(["x", "y", "z"][choice as usize - 2].to_owned(), Vec::new()),
    }
}

fn expression(class: Class, random: &mut Random, depth: u32) -> Expression {
    let Some(depth) = depth.checked_sub(1) else { return leaf(random) };
    if random.below(6) == 0 {
        return leaf(random);
    }
    let operand = |random: &mut Random| expression(class, random, depth);
    let special = match class {
        Class::Polynomial => random.below(4) == 0,
        _ => random.below(5) < 2,
    };
    if special {
        let class = match class {
            Class::Mixed => CLASSES[random.below(5)],
            other => other,
        };
        let a = operand(random);
        return match class {
            Class::Polynomial | Class::Mixed => binary(Binary::Power, a, number(2)),
            Class::Exponential if random.below(4) == 0 => call("tanh", vec![a]),
            Class::Exponential => call("exp", vec![a]),
            Class::Fraction => {
                let b = operand(random);
                binary(Binary::Divide, a, b)
            }
            Class::Root => match random.below(5) {
                0 => call("sqrt", vec![a]),
                1 => call("rsqrt", vec![a]),
                2 => call("log", vec![a]),
                3 => call("exp", vec![call("log", vec![a])]),
                _ => call("sqrt", vec![binary(Binary::Power, a, number(2))]),
            },
            Class::Piecewise => piecewise(random, a, operand),
        };
    }
    let (a, b) = (operand(random), operand(random));
    let operator = [Binary::Add, Binary::Subtract, Binary::Multiply][random.below(3)];
    binary(operator, a, b)
}

fn piecewise(
    random: &mut Random,
    a: Expression,
    operand: impl Fn(&mut Random) -> Expression,
) -> Expression {
    match random.below(4) {
        0 => call("abs", vec![a]),
        1 => call("max", vec![a, operand(random)]),
        2 => call("min", vec![a, operand(random)]),
        _ => {
            let operator = [Binary::Less, Binary::LessEqual, Binary::Equal][random.below(3)];
            let condition = binary(operator, operand(random), leaf(random));
            call("if", vec![condition, a, operand(random)])
        }
    }
}

/// A rewrite at a random place.
fn rewrite(expression: &Expression, random: &mut Random) -> Expression {
    let mut result = expression.clone();
    let mut target = random.below(size(expression));
    descend(&mut result, &mut target, random);
    result
}

fn size(expression: &Expression) -> u64 {
    1 + match expression {
        Expression::Number(_) | Expression::Pi | Expression::Infinity | Expression::Name(..) => 0,
        Expression::Call(_, arguments) => arguments.iter().map(size).sum(),
        Expression::Unary(_, a) => size(a),
        Expression::Binary(_, a, b) => size(a) + size(b),
    }
}

/// Rewrites the node that `target` counts down to; true once done.
fn descend(expression: &mut Expression, target: &mut u64, random: &mut Random) -> bool {
    if *target == 0 {
        *expression = step(expression.clone(), random);
        return true;
    }
    *target -= 1;
    match expression {
        Expression::Number(_) | Expression::Pi | Expression::Infinity | Expression::Name(..) => {
            false
        }
        Expression::Call(_, arguments) => {
            arguments.iter_mut().any(|argument| descend(argument, target, random))
        }
        Expression::Unary(_, a) => descend(a, target, random),
        // The exponent of a power must stay a constant.
        Expression::Binary(Binary::Power, a, _) => descend(a, target, random),
        Expression::Binary(_, a, b) => descend(a, target, random) || descend(b, target, random),
    }
}

/// Applies one rewrite at the top that keeps the value, and the set of inputs where it is defined.
fn step(expression: Expression, random: &mut Random) -> Expression {
    let is_condition = matches!(
        expression,
        Expression::Binary(
            Binary::Less | Binary::LessEqual | Binary::Equal | Binary::And | Binary::Or,
            ..
        ) | Expression::Unary(Unary::Not, _)
    );
    if is_condition {
        return Expression::Unary(
            Unary::Not,
            Expression::Unary(Unary::Not, expression.into()).into(),
        );
    }
    if random.below(3) == 0 {
        return anywhere(expression, random);
    }
    match expression {
        Expression::Binary(Binary::Add, a, b) => match *a {
            Expression::Binary(Binary::Add, p, q) if random.below(2) == 0 => {
                binary(Binary::Add, *p, binary(Binary::Add, *q, *b))
            }
            a => binary(Binary::Add, *b, a),
        },
        Expression::Binary(Binary::Subtract, a, b) => binary(Binary::Add, negated(*b), *a),
        Expression::Binary(Binary::Multiply, a, b) => match *b {
            Expression::Binary(operator @ (Binary::Add | Binary::Subtract), p, q) => binary(
                operator,
                binary(Binary::Multiply, (*a).clone(), *p),
                binary(Binary::Multiply, *a, *q),
            ),
            b => binary(Binary::Multiply, b, *a),
        },
        Expression::Binary(Binary::Divide, a, b) => {
            binary(Binary::Multiply, *a, binary(Binary::Divide, number(1), *b))
        }
        Expression::Binary(Binary::Power, a, b) if *b == number(2) => {
            binary(Binary::Multiply, (*a).clone(), *a)
        }
        Expression::Call(name, arguments) => called(name, arguments, random),
        other => anywhere(other, random),
    }
}

fn called(name: String, arguments: Vec<Expression>, random: &mut Random) -> Expression {
    let less = |a: &Expression, b: &Expression| binary(Binary::Less, a.clone(), b.clone());
    match (name.as_str(), arguments.as_slice()) {
        ("exp", [Expression::Binary(Binary::Add, a, b)]) => binary(
            Binary::Multiply,
            call("exp", vec![(**a).clone()]),
            call("exp", vec![(**b).clone()]),
        ),
        ("exp", [a]) => binary(Binary::Divide, number(1), call("exp", vec![negated(a.clone())])),
        ("tanh", [a]) => {
            let double = binary(Binary::Multiply, number(2), a.clone());
            let twice = binary(Binary::Multiply, number(2), call("sigmoid", vec![double]));
            binary(Binary::Subtract, twice, number(1))
        }
        ("abs", [a]) => match random.below(3) {
            0 => call("max", vec![a.clone(), negated(a.clone())]),
            1 => call("sqrt", vec![binary(Binary::Multiply, a.clone(), a.clone())]),
            _ => call("if", vec![less(a, &number(0)), negated(a.clone()), a.clone()]),
        },
        ("max", [a, b]) => match random.below(3) {
            0 => call("max", vec![b.clone(), a.clone()]),
            1 => call("if", vec![less(a, b), b.clone(), a.clone()]),
            _ => {
                let gap = binary(Binary::Subtract, b.clone(), a.clone());
                binary(Binary::Add, a.clone(), call("max", vec![gap, number(0)]))
            }
        },
        ("min", [a, b]) => negated(call("max", vec![negated(a.clone()), negated(b.clone())])),
        ("if", [c, a, b]) => {
            let other = Expression::Unary(Unary::Not, c.clone().into());
            call("if", vec![other, b.clone(), a.clone()])
        }
        ("rsqrt", [a]) => binary(Binary::Divide, number(1), call("sqrt", vec![a.clone()])),
        ("log", [a]) => {
            // log(a) = log(a·e) − 1
            let scaled = binary(Binary::Multiply, a.clone(), call("exp", vec![number(1)]));
            binary(Binary::Subtract, call("log", vec![scaled]), number(1))
        }
        _ => Expression::Call(name, arguments),
    }
}

/// Rewrites for any expression.
fn anywhere(a: Expression, random: &mut Random) -> Expression {
    let other = leaf(random);
    match random.below(4) {
        0 => binary(Binary::Subtract, binary(Binary::Add, a, other.clone()), other),
        1 => negated(negated(a)),
        2 => binary(Binary::Divide, binary(Binary::Multiply, a, number(3)), number(3)),
        _ => {
            let (up, down) = (call("exp", vec![other.clone()]), call("exp", vec![negated(other)]));
            binary(Binary::Multiply, binary(Binary::Multiply, a, up), down)
        }
    }
}
