//! Translates reductions (`sum(k, …)`, `max`, `any`, …) into the language of contracts: `\fold`, `\num_of`,
//! `\exists` and `\forall`, nested, one for each index.
//!
//! Refused: ends of a range that depend on data, `argmax`, `argmin`, and `max` or `min` that leave elements out. For
//! `max`, `min` and `mean` the contract also claims that the range is not empty.

use super::definitions::Translator;
use super::operators::{combine, to_real};
use super::term::{Term, Ty};
use crate::ast::{Argument, Binary, Expression, ExpressionKind, Index, Name};
use crate::error::Error;
use crate::resolve::expressions;
use crate::typed::Reduction;
use base::Span;

/// An index as written in the formula, with the ends of its range if given.
type SourceIndex<'f> = (&'f str, Name, Option<(&'f Expression, &'f Expression)>);

/// A translated index: its variable in the contract, and its range from `low` to before `high`.
struct IndexRange {
    variable: String,
    low: Term,
    high: Term,
}

impl<'f> Translator<'f> {
    /// Returns `true` if a call is a reduction: its arguments begin with an index. `max(a, b)` and `min(a, b)` of
    /// numbers are not.
    pub(super) fn is_reduction(&self, reduction: Reduction, arguments: &[Argument]) -> bool {
        let is_index = match arguments.first() {
            Some(Argument::Index(_)) => true,
            Some(Argument::Expression(first)) => self.new_name(first).is_some(),
            None => false,
        };
        is_index || !matches!(reduction, Reduction::Max | Reduction::Min)
    }

    /// Returns an expression's name, if it is a name that is still free.
    fn new_name(&self, expression: &Expression) -> Option<Name> {
        let ExpressionKind::Name(text) = &expression.kind else { return None };
        let is_known = self.scope.iter().any(|(known, _)| known == text) || self.is_named(text);
        let is_constant = matches!(text.as_str(), "pi" | "inf" | "log2e" | "ln2");
        (!is_known && !is_constant).then(|| Name { text: text.clone(), span: expression.span })
    }

    /// Translates a call of a reduction.
    pub(super) fn reduction(
        &mut self,
        reduction: Reduction,
        name: &Name,
        arguments: &'f [Argument],
        span: Span,
    ) -> Result<Term, Error> {
        let text = &name.text;
        let Some((Argument::Expression(body), indices)) = arguments.split_last() else {
            return Err(Error::new(span, format!("`{text}` ends with an expression")));
        };
        if indices.is_empty() {
            let message = format!("`{text}` needs an index and an expression: `{text}(k, …)`");
            return Err(Error::new(span, message));
        }
        let mut named = Vec::new();
        for argument in indices {
            named.push(match argument {
                Argument::Index(Index { name, range }) => {
                    let ends = range.as_deref().map(|(low, high)| (low, high));
                    (name.text.as_str(), name.clone(), ends)
                }
                Argument::Expression(Expression { kind: ExpressionKind::Name(text), span }) => {
                    (text.as_str(), Name { text: text.clone(), span: *span }, None)
                }
                Argument::Expression(other) => {
                    let message = format!(
                        "`{text}` takes indices and then one expression: `{text}(k in 0..4, …)`"
                    );
                    return Err(Error::new(other.span, message));
                }
            });
        }
        self.reduce(reduction, &named, body, span)
    }

    /// Translates `\sum(k, lo, hi, e)` and others, in the notation of contracts.
    pub(super) fn contract_call(
        &mut self,
        name: &Name,
        arguments: &'f [Argument],
        span: Span,
    ) -> Result<Term, Error> {
        let reduction = match name.text.as_str() {
            "\\sum" => Reduction::Sum,
            "\\num_of" => Reduction::Count,
            "\\max" => return self.plain_call("max", name, arguments, span),
            "\\min" => return self.plain_call("min", name, arguments, span),
            other => {
                let message = format!(
                    "`{other}` is not read in formulas; `\\sum`, `\\num_of`, `\\max` and `\\min` are"
                );
                return Err(Error::new(name.span, message));
            }
        };
        let all = expressions(arguments)?;
        let [index, low, high, body] = all.as_slice() else {
            let word = &name.text;
            let message = format!(
                "`{word}` takes an index, its ends and an expression: `{word}(k, 0, n, …)`"
            );
            return Err(Error::new(span, message));
        };
        let ExpressionKind::Name(text) = &index.kind else {
            return Err(Error::new(index.span, "a new name is needed for the index"));
        };
        let new_name = Name { text: text.clone(), span: index.span };
        self.reduce(reduction, &[(text, new_name, Some((low, high)))], body, span)
    }

    /// Translates a reduction over these indices, the last one innermost.
    fn reduce(
        &mut self,
        reduction: Reduction,
        indices: &[SourceIndex<'f>],
        body: &'f Expression,
        span: Span,
    ) -> Result<Term, Error> {
        let depth = self.depth();
        let mut ranges = Vec::new();
        for (text, name, range) in indices {
            let ends = match range {
                Some((low, high)) => (self.integer(low)?, self.integer(high)?),
                None => (Term::integer(0), self.extent(name, body)?),
            };
            if ends.0.is_data || ends.1.is_data {
                let message = "the ends of a range must not depend on data; leave elements out with `if` instead";
                return Err(Error::new(span, message));
            }
            if matches!(reduction, Reduction::Max | Reduction::Min | Reduction::Mean) {
                self.claim_not_empty(&ends, span);
            }
            ranges.push(self.bind(text, name, ends)?);
        }
        let result = self.body(reduction, &ranges, body, span);
        self.restore_depth(depth);
        result
    }

    /// Returns the sizes of the scopes, for [`restore_depth`](Self::restore_depth).
    fn depth(&self) -> (usize, usize, usize) {
        (self.scope.len(), self.variables.len(), self.conditions.len())
    }

    /// Leaves scopes entered since [`depth`](Self::depth).
    fn restore_depth(&mut self, (scope, variables, within): (usize, usize, usize)) {
        self.scope.truncate(scope);
        self.variables.truncate(variables);
        self.conditions.truncate(within);
    }

    /// Brings an index into scope.
    fn bind(
        &mut self,
        text: &'f str,
        name: &Name,
        (low, high): (Term, Term),
    ) -> Result<IndexRange, Error> {
        self.require_new_name(name)?;
        let variable = self.fresh(text);
        let is_unsigned = low.is_unsigned;
        let term = Term { is_unsigned, ..Term::unsigned(variable.clone()) };
        self.conditions.push(format!("{} <= {variable} && {variable} < {}", low.text, high.text));
        self.scope.push((text, term));
        self.variables.push(variable.clone());
        Ok(IndexRange { variable, low, high })
    }

    /// Translates the reduced expression, and folds it. `if` without `else` leaves elements out.
    fn body(
        &mut self,
        reduction: Reduction,
        ranges: &[IndexRange],
        body: &'f Expression,
        span: Span,
    ) -> Result<Term, Error> {
        let (value, filter) = match &body.kind {
            ExpressionKind::If { value, condition, otherwise: None } => {
                (&**value, Some(self.condition(condition)?))
            }
            _ => (body, None),
        };
        let wants_condition =
            matches!(reduction, Reduction::Count | Reduction::Any | Reduction::All);
        let translate = |one: &mut Self| match wants_condition {
            true => one.condition(value),
            false => one.number(value),
        };
        let value = match &filter {
            Some(filter) => self.under(filter, true, translate),
            None => translate(self),
        }?;
        let (filter, value) = (filter.as_ref(), &value);
        match reduction {
            Reduction::Sum => Ok(fold_over("+", ranges, &filtered(filter, value, 0))),
            Reduction::Product => Ok(fold_over("*", ranges, &filtered(filter, value, 1))),
            Reduction::Mean => {
                let sum = fold_over("+", ranges, &filtered(filter, &to_real(value.clone()), 0));
                let count = match filter {
                    Some(filter) => count_over(ranges, filter),
                    None => tuple_count(ranges),
                };
                Ok(combine(Binary::Divide, &to_real(sum), &to_real(count)))
            }
            Reduction::Max | Reduction::Min if filter.is_some() => {
                let name = reduction.name();
                let message = format!("for every size, `{name}` cannot leave elements out");
                Err(Error::new(span, message))
            }
            Reduction::Max | Reduction::Min => Ok(fold_over(reduction.name(), ranges, value)),
            Reduction::Count => Ok(count_over(ranges, &filter_and(filter, value))),
            Reduction::Any => Ok(quantify_over("exists", "&&", ranges, &filter_and(filter, value))),
            Reduction::All => {
                let value = match filter {
                    Some(filter) => {
                        let text = format!("((!{}) || {})", filter.text, value.text);
                        Term::of(text, Ty::Truth, &[filter, value])
                    }
                    None => value.clone(),
                };
                Ok(quantify_over("forall", "==>", ranges, &value))
            }
            Reduction::ArgMax | Reduction::ArgMin => {
                let message = format!("`{}` has no counterpart in a contract", reduction.name());
                Err(Error::new(span, message))
            }
        }
    }

    /// Claims that a range is not empty: the maximum of nothing is undefined.
    fn claim_not_empty(&mut self, (low, high): &(Term, Term), span: Span) {
        let is_not_empty = low.to_i64().zip(high.to_i64()).is_some_and(|(low, high)| low < high);
        if !is_not_empty {
            self.claim_formula(&format!("{} < {}", low.text, high.text), span);
        }
    }
}

/// Builds a value, or the neutral element if it is filtered out.
fn filtered(filter: Option<&Term>, value: &Term, unit: i64) -> Term {
    let Some(filter) = filter else { return value.clone() };
    let unit = Term::integer(unit);
    let unit = if value.ty == Ty::Real { to_real(unit) } else { unit };
    let text = format!("({} ? {} : {})", filter.text, value.text, unit.text);
    Term { is_unsigned: value.is_unsigned, ..Term::of(text, value.ty, &[filter, value]) }
}

/// Builds the conjunction of a filter and a condition.
fn filter_and(filter: Option<&Term>, value: &Term) -> Term {
    match filter {
        Some(filter) => {
            let text = format!("({} && {})", filter.text, value.text);
            Term::of(text, Ty::Truth, &[filter, value])
        }
        None => value.clone(),
    }
}

/// Folds over all ranges, the last one innermost.
fn fold_over(operator: &str, ranges: &[IndexRange], value: &Term) -> Term {
    ranges.iter().rev().fold(value.clone(), |inner, range| {
        let IndexRange { variable, low, high } = range;
        let text =
            format!("\\fold({operator}, {variable}, {}, {}, {})", low.text, high.text, inner.text);
        bound_term(text, inner.ty, inner.is_unsigned, &inner, range)
    })
}

/// Counts the index tuples that meet a condition.
fn count_over(ranges: &[IndexRange], condition: &Term) -> Term {
    let Some((last, others)) = ranges.split_last() else { return Term::integer(0) };
    let IndexRange { variable, low, high } = last;
    let text = format!("\\num_of({variable}, {}, {}, {})", low.text, high.text, condition.text);
    fold_over("+", others, &bound_term(text, Ty::Integer, true, condition, last))
}

/// Writes a quantifier over all ranges. `joint` connects each range with the condition.
fn quantify_over(word: &str, joint: &str, ranges: &[IndexRange], condition: &Term) -> Term {
    ranges.iter().rev().fold(condition.clone(), |inner, range| {
        let IndexRange { variable, low, high } = range;
        let text = format!(
            "(\\{word} int {variable}; ({} <= {variable} && {variable} < {}) {joint} {})",
            low.text, high.text, inner.text
        );
        bound_term(text, Ty::Truth, false, &inner, range)
    })
}

/// Writes the number of index tuples in the ranges, which are not empty.
fn tuple_count(ranges: &[IndexRange]) -> Term {
    let Some((last, others)) = ranges.split_last() else { return Term::integer(1) };
    let length = combine(Binary::Subtract, &last.high, &last.low);
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut words = length.text.split(|letter| !is_word(letter));
    match words.any(|word| others.iter().any(|other| other.variable == word)) {
        true => fold_over("+", others, &length),
        false => combine(Binary::Multiply, &tuple_count(others), &length),
    }
}

/// Returns the term of a reduction over `range`, whose text binds the variable.
fn bound_term(text: String, ty: Ty, is_unsigned: bool, inner: &Term, range: &IndexRange) -> Term {
    Term { is_unsigned, ..Term::of(text, ty, &[inner, &range.low, &range.high]) }
}
