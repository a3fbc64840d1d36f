//! Translates elements of tensors and of earlier definitions.

use super::definitions::{EarlierDefinition, Translator, quantified};
use super::operators::to_common_type;
use super::term::{Term, Ty};
use crate::ast::{Expression, Name};
use crate::error::{Error, closest};
use base::Span;
use ir::Scalar;

impl<'f> Translator<'f> {
    /// Translates an element, and claims that it is inside of its array where that does not follow.
    pub(super) fn element(
        &mut self,
        name: &'f Name,
        indices: &'f [Expression],
        outside: Option<&'f Expression>,
        span: Span,
    ) -> Result<Term, Error> {
        let Some(sizes) = self.sizes_of(&name.text).map(<[Term]>::to_vec) else {
            return Err(self.unknown(&name.text, name.span));
        };
        if sizes.len() != indices.len() {
            let (count, given) = (sizes.len(), indices.len());
            let plural = if count == 1 { "" } else { "s" };
            let message =
                format!("`{}` has {count} dimension{plural} and here {given} indices", name.text);
            return Err(Error::new(span, message));
        }
        let indices = indices.iter().map(|index| self.integer(index));
        let indices = indices.collect::<Result<Vec<Term>, Error>>()?;
        let inside: Vec<String> = indices
            .iter()
            .zip(&sizes)
            .filter(|(index, size)| !self.runs_over(index, size))
            .map(|(index, size)| format!("(0 <= {0} && {0} < {1})", index.text, size.text))
            .collect();
        let condition = Term::all(&inside);
        let Some(outside) = outside else {
            // The proof of every clause shows that its values exist, including elements of one-dimensional tensors at
            // data-dependent indices.
            let is_shown = indices.len() == 1 && indices[0].is_data && !self.is_let(&name.text);
            if let Some(condition) = condition.filter(|_| !is_shown) {
                self.claim_formula(&condition, span);
            }
            return self.read_element(&name.text, &indices, &sizes, span);
        };
        let otherwise = self.expression(outside)?;
        let Some(condition) = condition else {
            return self.read_element(&name.text, &indices, &sizes, span);
        };
        let parts: Vec<&Term> = indices.iter().chain(&sizes).collect();
        let condition = Term::of(condition, Ty::Truth, &parts);
        let value = self
            .under(&condition, true, |one| one.read_element(&name.text, &indices, &sizes, span))?;
        let (value, otherwise) = to_common_type(value, otherwise);
        let text = format!("({} ? {} : {})", condition.text, value.text, otherwise.text);
        Ok(Term::of(text, value.ty, &[&condition, &value, &otherwise]))
    }

    fn is_let(&self, name: &str) -> bool {
        self.defined.iter().any(|one| one.name == name && one.is_let)
    }

    /// Returns `true` if an index is inside on its own: a variable that runs from 0 to the size, or a small literal.
    fn runs_over(&self, index: &Term, size: &Term) -> bool {
        let range = format!("0 <= {0} && {0} < {1}", index.text, size.text);
        let is_literal =
            index.to_i64().zip(size.to_i64()).is_some_and(|(at, size)| at >= 0 && at < size);
        is_literal || self.conditions.contains(&range)
    }

    /// Claims a property of the formula itself, under the conditions around the expression.
    pub(super) fn claim_formula(&mut self, condition: &str, span: Span) {
        let conditions: Vec<String> =
            self.conditions.iter().map(|one| format!("({one})")).collect();
        self.formula_claims.push((quantified(&self.variables, &conditions, condition), span));
    }

    /// Translates an element that is inside of its array.
    fn read_element(
        &mut self,
        name: &str,
        indices: &[Term],
        sizes: &[Term],
        span: Span,
    ) -> Result<Term, Error> {
        let defined = self.defined.iter().find(|one| one.name == name).cloned();
        if let Some(defined) = defined.as_ref().filter(|one| one.is_let) {
            return self.inline_let(defined, indices, span);
        }
        let Some(tensor) = self.sizes.tensors.iter().find(|tensor| tensor.name == name) else {
            return Err(self.unknown(name, span));
        };
        let element = format!("{name}[{}]", flat_position(indices, sizes));
        let text = match (&defined, tensor.is_output) {
            // Another claim states that the final contents of this tensor are the values of its definition.
            (Some(_), _) => element,
            (None, true) => return Err(self.unknown(name, span)),
            (None, false) => format!("\\old({element})"),
        };
        let (ty, is_unsigned) = match tensor.scalar {
            Scalar::Float(_) => (Ty::Real, false),
            Scalar::Integer { signed, .. } => (Ty::Integer, !signed),
        };
        let parts: Vec<&Term> = indices.iter().chain(sizes).collect();
        Ok(Term { is_data: true, is_unsigned, ..Term::of(text, ty, &parts) })
    }

    /// Translates the value of a `let` at indices.
    fn inline_let(
        &mut self,
        defined: &EarlierDefinition<'f>,
        indices: &[Term],
        span: Span,
    ) -> Result<Term, Error> {
        let own_indices: Vec<(&'f str, Term)> =
            defined.indices.iter().copied().zip(indices.iter().cloned()).collect();
        // In a `let`, only its own indices and earlier definitions are in scope.
        let outer = std::mem::replace(&mut self.scope, own_indices);
        let position = self.defined.iter().position(|one| one.name == defined.name);
        let later = self.defined.split_off(position.unwrap_or(0));
        let value = self.expression(defined.value);
        self.defined.extend(later);
        self.scope = outer;
        let value = value?;
        match value.text.len() > super::expressions::MAX_TEXT {
            true => Err(super::expressions::too_long(span)),
            false => Ok(value),
        }
    }

    /// Translates the name of a tensor of one element, or of a definition without indices. `None` for another name.
    pub(super) fn single(&mut self, name: &str, span: Span) -> Option<Result<Term, Error>> {
        let sizes = self.sizes_of(name)?.to_vec();
        if !sizes.iter().all(|size| size.to_i64() == Some(1)) {
            let count = sizes.len();
            let plural = if count == 1 { "index" } else { "indices" };
            let message = format!("`{name}` is a tensor: give its {count} {plural}");
            return Some(Err(Error::new(span, message)));
        }
        let indices: Vec<Term> = sizes.iter().map(|_| Term::integer(0)).collect();
        Some(self.read_element(name, &indices, &sizes, span))
    }

    /// Returns the mistake of an unknown name.
    pub(super) fn unknown(&self, name: &str, span: Span) -> Error {
        if self.sizes.tensors.iter().any(|tensor| tensor.name == name) {
            let message = format!("`{name}` is an output that is not defined above");
            return Error::new(span, message);
        }
        let tensors = self.sizes.tensors.iter().map(|tensor| tensor.name.as_str());
        let known = tensors
            .chain(self.sizes.scalars.iter().map(|scalar| scalar.name.as_str()))
            .chain(self.defined.iter().map(|one| one.name))
            .chain(self.scope.iter().map(|one| one.0));
        let hint = closest(name, known.filter(|one| *one != name));
        let hint = hint.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
        Error::new(span, format!("`{name}` is not an argument and not defined above{hint}"))
    }

    /// Translates an expression that is only evaluated if a condition holds, or if it does not.
    pub(super) fn under<T>(
        &mut self,
        condition: &Term,
        holds: bool,
        inner: impl FnOnce(&mut Self) -> T,
    ) -> T {
        // Only conditions on indices restrict the elements that must exist.
        let depth = self.conditions.len();
        self.conditions.extend(condition.implied[usize::from(holds)].iter().cloned());
        let result = inner(self);
        self.conditions.truncate(depth);
        result
    }
}

/// Writes the position of an element in memory: the last index runs fastest.
pub(super) fn flat_position(indices: &[Term], sizes: &[Term]) -> String {
    let mut position: Option<String> = None;
    for (index, size) in indices.iter().zip(sizes) {
        position = Some(match position {
            None => index.text.clone(),
            Some(before) => format!("({before})*{} + {}", size.text, index.text),
        });
    }
    position.unwrap_or_else(|| "0".to_owned())
}
