//! Syntax to terms: runs a section of a script for given sizes.

use super::Error;
use super::ast::{Binary, Expression, Script, Statement, Unary};
use crate::{Function, Inputs, Node, Number, Relation, Term, Terms};
use std::collections::BTreeMap;

/// A script may run at most this many statements, so that no input hangs.
const MAX_STEPS: u64 = 50_000_000;

/// The meaning of names while a script runs.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// Sizes and loop variables.
    pub integers: BTreeMap<String, i64>,
    dimensions: BTreeMap<String, Vec<i64>>,
    locals: BTreeMap<(String, Vec<i64>), Term>,
    steps: u64,
}

impl Scope {
    /// Returns a scope with the sizes of a script, and the table of its inputs.
    ///
    /// # Errors
    /// When an input's dimensions are not positive integers.
    pub fn declare(script: &Script, sizes: &[(String, i64)]) -> Result<(Self, Inputs), Error> {
        let mut scope = Self { integers: sizes.iter().cloned().collect(), ..Self::default() };
        let mut inputs = Inputs::new();
        for (name, dimensions) in &script.inputs {
            let dimensions: Vec<i64> = dimensions
                .iter()
                .map(|dimension| scope.integer(dimension))
                .collect::<Result<_, _>>()?;
            let mut length = 1_i64;
            for dimension in &dimensions {
                length = length.checked_mul(*dimension).unwrap_or(-1);
            }
            let added = match u32::try_from(length) {
                Ok(_) if dimensions.is_empty() => inputs.scalar(name),
                Ok(length) if length > 0 => inputs.tensor(name, length),
                _ => return Err(fail(format!("bad dimensions of `{name}`"))),
            };
            added.map_err(|_| fail("too many inputs"))?;
            scope.dimensions.insert(name.clone(), dimensions);
        }
        Ok((scope, inputs))
    }

    /// Returns the term of an expression.
    ///
    /// # Errors
    /// For unknown names, wrong sorts and indices out of range.
    pub fn term(&mut self, terms: &mut Terms, expression: &Expression) -> Result<Term, Error> {
        match expression {
            Expression::Number(value) => Ok(terms.constant(value.clone())),
            Expression::Pi => Ok(terms.pi()),
            Expression::Infinity => Ok(terms.infinity(false)),
            Expression::Name(name, indices) => self.name(terms, name, indices),
            Expression::Unary(Unary::Negate, a) => {
                let a = self.real(terms, a)?;
                Ok(terms.negate(a))
            }
            Expression::Unary(Unary::Not, a) => {
                let a = self.condition(terms, a)?;
                Ok(terms.not(a))
            }
            Expression::Binary(operator, a, b) => self.binary(terms, *operator, a, b),
            Expression::Call(name, arguments) => self.call(terms, name, arguments),
        }
    }

    /// Returns the integer of an index expression.
    ///
    /// # Errors
    /// For anything but integers, sizes and loop variables under `+ - * / %`.
    pub fn integer(&self, expression: &Expression) -> Result<i64, Error> {
        let value = match expression {
            Expression::Number(value) => value.to_i64(),
            Expression::Name(name, indices) if indices.is_empty() => {
                self.integers.get(name).copied()
            }
            Expression::Unary(Unary::Negate, a) => self.integer(a)?.checked_neg(),
            Expression::Binary(operator, a, b) => {
                let (a, b) = (self.integer(a)?, self.integer(b)?);
                match operator {
                    Binary::Add => a.checked_add(b),
                    Binary::Subtract => a.checked_sub(b),
                    Binary::Multiply => a.checked_mul(b),
                    Binary::Divide => a.checked_div_euclid(b),
                    Binary::Remainder => a.checked_rem_euclid(b),
                    _ => None,
                }
            }
            _ => None,
        };
        value.ok_or_else(|| fail("an integer is needed here"))
    }

    fn name(&self, terms: &mut Terms, name: &str, indices: &[Expression]) -> Result<Term, Error> {
        if indices.is_empty()
            && let Some(value) = self.integers.get(name)
        {
            return Ok(terms.integer(*value));
        }
        let indices: Vec<i64> =
            indices.iter().map(|index| self.integer(index)).collect::<Result<_, _>>()?;
        if let Some(term) = self.locals.get(&(name.to_owned(), indices.clone())) {
            return Ok(*term);
        }
        let dimensions = self.dimensions.get(name);
        let dimensions = dimensions.ok_or_else(|| fail(format!("`{name}` is not assigned")))?;
        let index = position_of(dimensions, &indices);
        let index = index.ok_or_else(|| fail(format!("bad index {indices:?} of `{name}`")))?;
        let index = (!dimensions.is_empty()).then_some(index);
        let input = terms.inputs().find(name, index);
        Ok(terms.input(input.ok_or_else(|| fail(format!("no input `{name}`")))?))
    }

    fn binary(
        &mut self,
        terms: &mut Terms,
        operator: Binary,
        a: &Expression,
        b: &Expression,
    ) -> Result<Term, Error> {
        if matches!(operator, Binary::And | Binary::Or) {
            let (a, b) = (self.condition(terms, a)?, self.condition(terms, b)?);
            return Ok(if operator == Binary::And { terms.and(a, b) } else { terms.or(a, b) });
        }
        if operator == Binary::Remainder {
            return Err(fail("`%` is for indices"));
        }
        let (a, b) = (self.real(terms, a)?, self.real(terms, b)?);
        Ok(match operator {
            Binary::Add => terms.add(a, b),
            Binary::Subtract => terms.subtract(a, b),
            Binary::Multiply => terms.multiply(a, b),
            Binary::Divide => terms.divide(a, b),
            Binary::Power => return power(terms, a, b),
            Binary::Less => terms.compare(Relation::Less, a, b),
            Binary::LessEqual => terms.compare(Relation::LessEqual, a, b),
            Binary::Greater => terms.compare(Relation::Less, b, a),
            Binary::GreaterEqual => terms.compare(Relation::LessEqual, b, a),
            Binary::Equal => terms.compare(Relation::Equal, a, b),
            Binary::NotEqual => {
                let equal = terms.compare(Relation::Equal, a, b);
                terms.not(equal)
            }
            Binary::And | Binary::Or | Binary::Remainder => return Err(fail("handled above")),
        })
    }

    fn call(
        &mut self,
        terms: &mut Terms,
        name: &str,
        arguments: &[Expression],
    ) -> Result<Term, Error> {
        if name == "if" {
            let [condition, a, b] = arguments else { return Err(fail("`if` takes three")) };
            let condition = self.condition(terms, condition)?;
            let (a, b) = (self.real(terms, a)?, self.real(terms, b)?);
            return Ok(terms.select(condition, a, b));
        }
        let arguments: Vec<Term> = arguments
            .iter()
            .map(|argument| self.real(terms, argument))
            .collect::<Result<_, _>>()?;
        match (name, arguments.as_slice()) {
            ("max", [first, rest @ ..]) => {
                Ok(rest.iter().fold(*first, |a, b| terms.maximum(a, *b)))
            }
            ("min", [first, rest @ ..]) => {
                Ok(rest.iter().fold(*first, |a, b| terms.minimum(a, *b)))
            }
            ("fma", [a, b, c]) => Ok(terms.fused_multiply_add(*a, *b, *c)),
            ("pow", [a, b]) => power(terms, *a, *b),
            (_, [a]) => unary_call(terms, name, *a),
            _ => Err(fail(format!("wrong number of arguments of `{name}`"))),
        }
    }

    fn real(&mut self, terms: &mut Terms, expression: &Expression) -> Result<Term, Error> {
        let term = self.term(terms, expression)?;
        if is_condition(terms.node(term)) { Err(fail("a real is needed here")) } else { Ok(term) }
    }

    fn condition(&mut self, terms: &mut Terms, expression: &Expression) -> Result<Term, Error> {
        let term = self.term(terms, expression)?;
        if is_condition(terms.node(term)) {
            Ok(term)
        } else {
            Err(fail("a condition is needed here"))
        }
    }

    fn statement(
        &mut self,
        terms: &mut Terms,
        statement: &Statement,
        results: &mut Vec<Term>,
    ) -> Result<(), Error> {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            return Err(fail("the script runs too long"));
        }
        match statement {
            Statement::Assign { name, indices, value } => {
                let value = self.real(terms, value)?;
                let indices =
                    indices.iter().map(|index| self.integer(index)).collect::<Result<_, _>>()?;
                self.locals.insert((name.clone(), indices), value);
            }
            Statement::Out(value) => results.push(self.real(terms, value)?),
            Statement::For { variable, first, end, step, reverse, body } => {
                let (first, end) = (self.integer(first)?, self.integer(end)?);
                let step = step.as_ref().map_or(Ok(1), |step| self.integer(step))?;
                if step < 1 || end.saturating_sub(first) > MAX_STEPS as i64 {
                    return Err(fail("bad loop bounds"));
                }
                let mut values: Vec<i64> = (first..end).step_by(step as usize).collect();
                if *reverse {
                    values.reverse();
                }
                let shadowed = self.integers.get(variable).copied();
                for value in values {
                    self.integers.insert(variable.clone(), value);
                    for inner in body {
                        self.statement(terms, inner, results)?;
                    }
                }
                self.integers.remove(variable);
                if let Some(value) = shadowed {
                    self.integers.insert(variable.clone(), value);
                }
            }
        }
        Ok(())
    }
}

/// Runs a block and returns its results in order.
///
/// # Errors
/// Like [`Scope::term`].
pub fn run(scope: &Scope, terms: &mut Terms, body: &[Statement]) -> Result<Vec<Term>, Error> {
    let mut scope = scope.clone();
    let mut results = Vec::new();
    for statement in body {
        scope.statement(terms, statement, &mut results)?;
    }
    Ok(results)
}

fn unary_call(terms: &mut Terms, name: &str, a: Term) -> Result<Term, Error> {
    Ok(match name {
        "exp" => terms.exp(a),
        "exp2" => terms.exp2(a),
        "log" => terms.log(a),
        "log2" => terms.log2(a),
        "sqrt" => terms.square_root(a),
        "rsqrt" => terms.reciprocal_square_root(a),
        "abs" => terms.absolute(a),
        "sigmoid" => {
            let minus = terms.negate(a);
            let power = terms.exp(minus);
            let one = terms.integer(1);
            let denominator = terms.add(one, power);
            terms.divide(one, denominator)
        }
        "f32" => {
            let value = terms.as_number(a).map(|value| f64::from(value.to_f64_lossy() as f32));
            let value = value.and_then(Number::from_f64);
            terms.constant(value.ok_or_else(|| fail("`f32` rounds a constant"))?)
        }
        _ => {
            let function: Option<Function> = terms.function(name);
            terms.apply(function.ok_or_else(|| fail("too many functions"))?, a)
        }
    })
}

fn power(terms: &mut Terms, base: Term, exponent: Term) -> Result<Term, Error> {
    let exponent = terms.as_number(exponent).cloned();
    Ok(terms.power(base, &exponent.ok_or_else(|| fail("a power needs a constant exponent"))?))
}

/// Returns the row-major position of an element.
fn position_of(dimensions: &[i64], indices: &[i64]) -> Option<u32> {
    if dimensions.len() != indices.len() {
        return None;
    }
    let mut position = 0_i64;
    for (dimension, index) in dimensions.iter().zip(indices) {
        if !(0..*dimension).contains(index) {
            return None;
        }
        position = position * dimension + index;
    }
    u32::try_from(position).ok()
}

fn is_condition(node: Node) -> bool {
    matches!(node, Node::Truth(_) | Node::Compare(..) | Node::Not(_) | Node::And(..) | Node::Or(..))
}

fn fail(message: impl Into<String>) -> Error {
    Error::new(0, message)
}
