//! Translates calls of functions of numbers to calls of C's functions. Their names begin with `::`, so that they denote
//! C's functions even if the file defines its own.

use super::definitions::Translator;
use super::numbers::quotient;
use super::operators::{to_common_type, to_real};
use super::term::{Term, Ty};
use crate::ast::{Argument, Expression, ExpressionKind, Name};
use crate::error::{Error, closest};
use crate::resolve::expressions;
use crate::typed::Reduction;
use base::Span;
use ir::Format;
use term::Number;

/// Functions of reals that C has: name, C's name, number of arguments.
const FUNCTIONS: [(&str, &str, usize); 26] = [
    ("exp", "exp", 1),
    ("exp2", "exp2", 1),
    ("exp10", "exp10", 1),
    ("expm1", "expm1", 1),
    ("log", "log", 1),
    ("log2", "log2", 1),
    ("log10", "log10", 1),
    ("log1p", "log1p", 1),
    ("sqrt", "sqrt", 1),
    ("rsqrt", "rsqrt", 1),
    ("cbrt", "cbrt", 1),
    ("sin", "sin", 1),
    ("cos", "cos", 1),
    ("tan", "tan", 1),
    ("asin", "asin", 1),
    ("acos", "acos", 1),
    ("atan", "atan", 1),
    ("sinh", "sinh", 1),
    ("cosh", "cosh", 1),
    ("tanh", "tanh", 1),
    ("erf", "erf", 1),
    ("floor", "floor", 1),
    ("ceil", "ceil", 1),
    ("trunc", "trunc", 1),
    // To the nearest, ties to even.
    ("round", "rint", 1),
    ("atan2", "atan2", 2),
];

/// Functions that are composed of others, and their numbers of arguments.
const COMPOSED_FUNCTIONS: [(&str, usize); 9] = [
    ("abs", 1),
    ("sign", 1),
    ("sigmoid", 1),
    ("relu", 1),
    ("max", 2),
    ("min", 2),
    ("clamp", 3),
    ("pow", 2),
    ("fmod", 2),
];

impl<'f> Translator<'f> {
    /// Translates a call of a reduction or function.
    pub(super) fn call(
        &mut self,
        name: &'f Name,
        arguments: &'f [Argument],
        span: Span,
    ) -> Result<Term, Error> {
        let text = name.text.as_str();
        let reduction = Reduction::ALL.iter().find(|one| one.0 == text).map(|one| one.1);
        if let Some(reduction) = reduction.filter(|one| self.is_reduction(*one, arguments)) {
            return self.reduction(reduction, name, arguments, span);
        }
        if text.starts_with('\\') {
            return self.contract_call(name, arguments, span);
        }
        match text {
            "size" => return self.size_call(arguments, span),
            "f32" => return self.rounded_call(Format::F32, arguments, span),
            "f64" => return self.rounded_call(Format::F64, arguments, span),
            _ => {}
        }
        self.plain_call(text, name, arguments, span)
    }

    /// Translates a call of a function of numbers.
    pub(super) fn plain_call(
        &mut self,
        text: &str,
        name: &Name,
        arguments: &'f [Argument],
        span: Span,
    ) -> Result<Term, Error> {
        let plain = FUNCTIONS.iter().find(|one| one.0 == text).map(|one| (Some(one.1), one.2));
        let other = || COMPOSED_FUNCTIONS.iter().find(|one| one.0 == text).map(|one| (None, one.1));
        let Some((c_name, count)) = plain.or_else(other) else {
            return Err(self.no_function(name));
        };
        let numbers = self.numbers(name, arguments, count, span)?;
        match c_name {
            Some(c_name) => Ok(c_call(c_name, numbers)),
            None => Ok(composed_call(text, numbers)),
        }
    }

    /// Returns the mistake of a call of an unknown function.
    fn no_function(&self, name: &Name) -> Error {
        let text = &name.text;
        if self.is_named(text) {
            let message = format!("`{text}` is not a function; an element is written `{text}[…]`");
            return Error::new(name.span, message);
        }
        let known =
            FUNCTIONS.iter().map(|one| one.0).chain(COMPOSED_FUNCTIONS.iter().map(|one| one.0));
        let known = known.chain(Reduction::ALL.iter().map(|one| one.0)).chain(["size"]);
        let hint = closest(text, known).map(|name| format!("; did you mean `{name}`?"));
        let message =
            format!("`{text}` is not a function for every size{}", hint.unwrap_or_default());
        Error::new(name.span, message)
    }

    /// Translates arguments that are numbers, and checks their count.
    fn numbers(
        &mut self,
        name: &Name,
        arguments: &'f [Argument],
        count: usize,
        span: Span,
    ) -> Result<Vec<Term>, Error> {
        let expressions = expressions(arguments)?;
        if expressions.len() != count {
            let plural = if count == 1 { "" } else { "s" };
            return Err(Error::new(span, format!("`{}` takes {count} number{plural}", name.text)));
        }
        expressions.into_iter().map(|expression| self.number(expression)).collect()
    }

    /// `size(x, 0)`: a dimension of a tensor.
    fn size_call(&mut self, arguments: &'f [Argument], span: Span) -> Result<Term, Error> {
        let usage = || {
            Error::new(span, "`size` takes a tensor and the number of a dimension: `size(x, 0)`")
        };
        let expressions = expressions(arguments)?;
        let [tensor, axis] = expressions.as_slice() else { return Err(usage()) };
        let ExpressionKind::Name(name) = &tensor.kind else { return Err(usage()) };
        let axis = self.integer(axis)?.to_i64().and_then(|axis| usize::try_from(axis).ok());
        let Some(sizes) = self.sizes_of(name) else { return Err(self.unknown(name, tensor.span)) };
        axis.and_then(|axis| sizes.get(axis)).cloned().ok_or_else(usage)
    }

    /// `f32(1e-5)`: the nearest float.
    fn rounded_call(
        &mut self,
        format: Format,
        arguments: &'f [Argument],
        span: Span,
    ) -> Result<Term, Error> {
        let usage = || Error::new(span, "`f32` and `f64` round a literal: `f32(1e-5)`");
        let expressions = expressions(arguments)?;
        let [Expression { kind: ExpressionKind::Number(number, _), .. }] = expressions.as_slice()
        else {
            return Err(usage());
        };
        let written = expressions[0].to_string();
        self.nearest_float(number, format, &written).ok_or_else(usage)
    }
}

/// Builds a call of a C function.
fn c_call(name: &str, numbers: Vec<Term>) -> Term {
    let numbers: Vec<Term> = numbers.into_iter().map(to_real).collect();
    if let ("sqrt", [only]) = (name, numbers.as_slice())
        && let Some(root) = only.number.as_ref().and_then(Number::exact_square_root)
        && let Some(root) = quotient(&root)
    {
        return root;
    }
    let texts: Vec<&str> = numbers.iter().map(|number| number.text.as_str()).collect();
    let parts: Vec<&Term> = numbers.iter().collect();
    Term::of(format!("::{name}({})", texts.join(", ")), Ty::Real, &parts)
}

/// Builds a function that C does not have, or has for reals alone.
fn composed_call(name: &str, mut numbers: Vec<Term>) -> Term {
    match (name, numbers.as_mut_slice()) {
        ("pow" | "fmod", _) => c_call(name, numbers),
        ("max" | "min", [a, b]) => extreme(name, a.clone(), b.clone()),
        ("clamp", [x, low, high]) => {
            extreme("min", extreme("max", x.clone(), low.clone()), high.clone())
        }
        ("relu", [x]) => extreme("max", x.clone(), Term::integer(0)),
        ("abs", [x]) => {
            Term { is_unsigned: true, ..Term::of(format!("\\abs({})", x.text), x.ty, &[x]) }
        }
        ("sign", [x]) => {
            let zero = if x.ty == Ty::Real { "0.0" } else { "0" };
            let text = format!("({0} > {zero} ? 1 : ({0} < {zero} ? -1 : 0))", x.text);
            let sign = Term::of(text, Ty::Integer, &[x]);
            if x.ty == Ty::Real { to_real(sign) } else { sign }
        }
        // sigmoid
        (_, numbers) => {
            let x = numbers.first().cloned().map_or_else(|| Term::integer(0), to_real);
            Term::of(format!("(1.0/(1.0 + ::exp(-{})))", x.text), Ty::Real, &[&x])
        }
    }
}

/// Builds a maximum or minimum of two numbers.
fn extreme(name: &str, a: Term, b: Term) -> Term {
    let (a, b) = to_common_type(a, b);
    let is_unsigned = a.is_unsigned && b.is_unsigned;
    Term { is_unsigned, ..Term::of(format!("\\{name}({}, {})", a.text, b.text), a.ty, &[&a, &b]) }
}
