//! Formulas with one change: a constant, an operator, a bound, a comparison, an index. A mutant must not be proved
//! unless it is the same function. Evaluation on numbers decides: if an independent run tells the mutant from the
//! formula, it must not be proved equal to a kernel that the formula is proved equal to.

use super::{corpus, read, small_pairs};
use driver::{Exit, Input};
use formula::{Argument, Binary, Definition, Expression, ExpressionKind, Formula, Relation, parse};

/// Mutants of each formula that are tried.
const EACH: usize = 3;

/// All trees that differ in one place.
fn mutants(formula: &Formula) -> Vec<Formula> {
    let mut all = Vec::new();
    for (position, definition) in formula.definitions.iter().enumerate() {
        for value in changed(&definition.value) {
            let mut one = formula.clone();
            one.definitions[position] = Definition { value, ..definition.clone() };
            all.push(one);
        }
    }
    all
}

fn with(kind: ExpressionKind, of: &Expression) -> Expression {
    Expression { kind, span: of.span }
}

fn changed(expression: &Expression) -> Vec<Expression> {
    let mut all = Vec::new();
    let boxed = |expression: Expression| Box::new(expression);
    match &expression.kind {
        ExpressionKind::Number(number, is_real) => {
            let more = number + &equiv::Number::ONE;
            all.push(with(ExpressionKind::Number(more, *is_real), expression));
        }
        ExpressionKind::Name(_) => {}
        ExpressionKind::Element { name, indices, outside } => {
            for (position, index) in indices.iter().enumerate() {
                for other in changed(index) {
                    let mut indices = indices.clone();
                    indices[position] = other;
                    let (name, outside) = (name.clone(), outside.clone());
                    all.push(with(ExpressionKind::Element { name, indices, outside }, expression));
                }
            }
            for other in outside.iter().flat_map(|one| changed(one)) {
                let (name, indices) = (name.clone(), indices.clone());
                let kind = ExpressionKind::Element { name, indices, outside: Some(boxed(other)) };
                all.push(with(kind, expression));
            }
        }
        ExpressionKind::Call { name, arguments } => {
            for (position, argument) in arguments.iter().enumerate() {
                for other in changed_argument(argument) {
                    let mut arguments = arguments.clone();
                    arguments[position] = other;
                    let name = name.clone();
                    all.push(with(ExpressionKind::Call { name, arguments }, expression));
                }
            }
        }
        ExpressionKind::Unary(operator, a) => {
            all.push((**a).clone());
            all.extend(
                changed(a)
                    .into_iter()
                    .map(|a| with(ExpressionKind::Unary(*operator, boxed(a)), expression)),
            );
        }
        ExpressionKind::Binary(operator, a, b) => {
            let other = match operator {
                Binary::Add => Binary::Subtract,
                Binary::Subtract => Binary::Add,
                Binary::Multiply => Binary::Divide,
                Binary::Divide => Binary::Multiply,
                Binary::And => Binary::Or,
                Binary::Or => Binary::And,
                same => *same,
            };
            if other != *operator {
                all.push(with(ExpressionKind::Binary(other, a.clone(), b.clone()), expression));
            }
            for a in changed(a) {
                all.push(with(ExpressionKind::Binary(*operator, boxed(a), b.clone()), expression));
            }
            for b in changed(b) {
                all.push(with(ExpressionKind::Binary(*operator, a.clone(), boxed(b)), expression));
            }
        }
        ExpressionKind::Comparison(first, others) => {
            for (position, (relation, _)) in others.iter().enumerate() {
                let mut others = others.clone();
                others[position].0 = match relation {
                    Relation::Less => Relation::LessEqual,
                    Relation::LessEqual => Relation::Less,
                    Relation::Greater => Relation::GreaterEqual,
                    Relation::GreaterEqual => Relation::Greater,
                    Relation::Equal => Relation::NotEqual,
                    Relation::NotEqual => Relation::Equal,
                };
                all.push(with(ExpressionKind::Comparison(first.clone(), others), expression));
            }
        }
        ExpressionKind::If { value, condition, otherwise } => {
            for value in changed(value) {
                let (condition, otherwise) = (condition.clone(), otherwise.clone());
                let kind = ExpressionKind::If { value: boxed(value), condition, otherwise };
                all.push(with(kind, expression));
            }
            for condition in changed(condition) {
                let (value, otherwise) = (value.clone(), otherwise.clone());
                let kind = ExpressionKind::If { value, condition: boxed(condition), otherwise };
                all.push(with(kind, expression));
            }
        }
    }
    all
}

fn changed_argument(argument: &Argument) -> Vec<Argument> {
    match argument {
        Argument::Expression(one) => changed(one).into_iter().map(Argument::Expression).collect(),
        Argument::Index(index) => {
            let Some(range) = &index.range else { return Vec::new() };
            let other = |high| {
                Argument::Index(formula::Index {
                    range: Some(Box::new((range.0.clone(), high))),
                    ..index.clone()
                })
            };
            changed(&range.1).into_iter().map(other).collect()
        }
    }
}

/// A proved mutant must be the same function as the formula, by evaluation on numbers.
#[test]
fn changed_formulas_are_not_proved() {
    let pairs = small_pairs().filter(|pair| pair.expected == "proved").enumerate();
    let pairs: Vec<_> = pairs.filter(|(position, _)| corpus::is_sampled(*position)).collect();
    let (mut looked_at, mut settled) = (0, 0);
    for (seed, pair) in &pairs {
        let formula = read(pair);
        if pair.ask_formula(&formula).exit != Exit::Success {
            continue;
        }
        let all = mutants(&parse(formula.source.text()).unwrap());
        let step = (all.len() / EACH).max(1);
        for mutant in all.iter().skip(seed % step).step_by(step).take(EACH) {
            let text = mutant.to_string();
            assert_eq!(&parse(&text).unwrap(), mutant, "{text}");
            let input = Input::of_formula(&text).unwrap();
            let outcome = pair.ask_formula(&input);
            looked_at += 1;
            settled += usize::from(outcome.exit == Exit::Refuted);
            let same = SAME.iter().any(|(name, known)| pair.name == *name && text.contains(known));
            assert!(
                outcome.exit != Exit::Success || same,
                "{}: {text}\n{}",
                pair.name,
                outcome.output
            );
        }
    }
    assert!(looked_at > 50 && settled * 2 > looked_at, "{settled} of {looked_at} are refuted");
}

/// Mutants that are the same function, by pair and a part of their text.
const SAME: [(&str, &str); 1] = [("branch/sides", "x[i] >= 1 else 4*x[i]")];
