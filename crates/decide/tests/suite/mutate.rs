//! One small change somewhere in a program: a sign, an index, a constant, an operand.

use term::Number;
use term::text::{Binary, Expression, Statement, Unary};

/// The `target`-th change of a block, or `None` past the last one.
pub(crate) fn mutated(body: &[Statement], target: usize) -> Option<Vec<Statement>> {
    let mut body = body.to_vec();
    let mut left = target;
    change_block(&mut body, &mut left).then_some(body)
}

/// The `target`-th change of an expression.
pub(crate) fn mutated_expression(expression: &Expression, target: usize) -> Option<Expression> {
    let mut expression = expression.clone();
    let mut left = target;
    change(&mut expression, &mut left).then_some(expression)
}

fn change_block(body: &mut [Statement], left: &mut usize) -> bool {
    body.iter_mut().any(|statement| match statement {
        Statement::Assign { value, .. } | Statement::Out(value) => change(value, left),
        Statement::For { first, body, .. } => change(first, left) || change_block(body, left),
    })
}

fn change(expression: &mut Expression, left: &mut usize) -> bool {
    for mutant in mutants(expression) {
        if *left == 0 {
            *expression = mutant;
            return true;
        }
        *left -= 1;
    }
    match expression {
        Expression::Number(_) | Expression::Pi | Expression::Infinity => false,
        Expression::Name(_, arguments) | Expression::Call(_, arguments) => {
            arguments.iter_mut().any(|argument| change(argument, left))
        }
        Expression::Unary(_, a) => change(a, left),
        Expression::Binary(_, a, b) => change(a, left) || change(b, left),
    }
}

/// The changes at the top of an expression.
fn mutants(expression: &Expression) -> Vec<Expression> {
    let binary = |operator, a: &Expression, b: &Expression| {
        Expression::Binary(operator, a.clone().into(), b.clone().into())
    };
    let negated = |a: &Expression| Expression::Unary(Unary::Negate, a.clone().into());
    match expression {
        Expression::Number(value) => vec![Expression::Number(value + &Number::ONE)],
        Expression::Pi | Expression::Infinity => Vec::new(),
        Expression::Name(name, indices) => match indices.split_last() {
            None => Vec::new(),
            Some((last, rest)) => {
                let one = Expression::Number(Number::ONE);
                let mut indices = rest.to_vec();
                indices.push(binary(Binary::Add, last, &one));
                vec![Expression::Name(name.clone(), indices)]
            }
        },
        Expression::Unary(Unary::Negate, a) => vec![(**a).clone()],
        Expression::Unary(Unary::Not, a) => vec![(**a).clone()],
        Expression::Binary(operator, a, b) => match operator {
            Binary::Add => vec![binary(Binary::Subtract, a, b), (**a).clone(), (**b).clone()],
            Binary::Subtract => vec![binary(Binary::Add, a, b), binary(Binary::Subtract, b, a)],
            Binary::Multiply => vec![binary(Binary::Add, a, b), binary(Binary::Multiply, a, a)],
            Binary::Divide => vec![binary(Binary::Multiply, a, b), binary(Binary::Divide, b, a)],
            Binary::Less => vec![binary(Binary::LessEqual, a, b), binary(Binary::Less, b, a)],
            Binary::LessEqual => vec![binary(Binary::Less, a, b)],
            Binary::Greater => vec![binary(Binary::GreaterEqual, a, b), binary(Binary::Less, a, b)],
            Binary::GreaterEqual => vec![binary(Binary::Greater, a, b)],
            Binary::Equal => vec![binary(Binary::NotEqual, a, b)],
            Binary::NotEqual => vec![binary(Binary::Equal, a, b)],
            Binary::And => vec![binary(Binary::Or, a, b)],
            Binary::Or => vec![binary(Binary::And, a, b)],
            Binary::Power | Binary::Remainder => Vec::new(),
        },
        Expression::Call(name, arguments) => {
            let renamed = |name: &str| Expression::Call(name.to_owned(), arguments.clone());
            match (name.as_str(), arguments.as_slice()) {
                ("max", _) => vec![renamed("min")],
                ("min", _) => vec![renamed("max")],
                ("exp", [a]) => vec![Expression::Call("exp".to_owned(), vec![negated(a)])],
                ("exp2", _) => vec![renamed("exp")],
                ("log2", _) => vec![renamed("log")],
                ("sqrt", _) => vec![renamed("rsqrt")],
                ("rsqrt", _) => vec![renamed("sqrt")],
                ("abs", [a]) => vec![a.clone()],
                ("tanh", _) => vec![renamed("erf")],
                ("fma", [a, b, c]) => {
                    vec![Expression::Call(name.clone(), vec![a.clone(), c.clone(), b.clone()])]
                }
                ("if", [c, a, b]) => {
                    vec![Expression::Call(name.clone(), vec![c.clone(), b.clone(), a.clone()])]
                }
                _ => Vec::new(),
            }
        }
    }
}
