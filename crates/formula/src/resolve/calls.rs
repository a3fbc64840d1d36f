//! Resolves calls: functions of numbers, and reductions over indices.

use super::{Resolver, to_real};
use crate::ast::{Argument, Expression, ExpressionKind, Index, Name};
use crate::error::{Error, closest};
use crate::interval::interval;
use crate::typed::{Function, IndexId, Node, NodeKind, Range, Reduce, Reduction, Type};
use base::Span;
use ir::{Format, RealFunction, Rounding};
use term::Number;

/// Functions of reals: name, function.
const REALS: [(&str, RealFunction); 27] = [
    ("exp", RealFunction::Exp),
    ("exp2", RealFunction::Exp2),
    ("exp10", RealFunction::Exp10),
    ("expm1", RealFunction::Expm1),
    ("log", RealFunction::Log),
    ("log2", RealFunction::Log2),
    ("log10", RealFunction::Log10),
    ("log1p", RealFunction::Log1p),
    ("tanh", RealFunction::Tanh),
    ("sinh", RealFunction::Sinh),
    ("cosh", RealFunction::Cosh),
    ("erf", RealFunction::Erf),
    ("erfc", RealFunction::Erfc),
    ("erfinv", RealFunction::ErfInv),
    ("sin", RealFunction::Sin),
    ("cos", RealFunction::Cos),
    ("tan", RealFunction::Tan),
    ("asin", RealFunction::Asin),
    ("acos", RealFunction::Acos),
    ("atan", RealFunction::Atan),
    ("atan2", RealFunction::Atan2),
    ("asinh", RealFunction::Asinh),
    ("acosh", RealFunction::Acosh),
    ("atanh", RealFunction::Atanh),
    ("cbrt", RealFunction::Cbrt),
    ("lgamma", RealFunction::Lgamma),
    ("pow", RealFunction::Pow),
];

/// Other functions: name, function, number of arguments.
const OTHER_FUNCTIONS: [(&str, Function, usize); 14] = [
    ("sqrt", Function::Sqrt, 1),
    ("rsqrt", Function::ReciprocalSqrt, 1),
    ("abs", Function::Abs, 1),
    ("sign", Function::Sign, 1),
    ("sigmoid", Function::Sigmoid, 1),
    ("relu", Function::Relu, 1),
    ("floor", Function::Round(Rounding::Down), 1),
    ("ceil", Function::Round(Rounding::Up), 1),
    ("trunc", Function::Round(Rounding::Zero), 1),
    ("round", Function::Round(Rounding::NearestEven), 1),
    ("max", Function::Max, 2),
    ("min", Function::Min, 2),
    ("clamp", Function::Clamp, 3),
    ("fmod", Function::Real(RealFunction::Fmod), 2),
];

/// Formats that a literal may be rounded to.
const FORMATS: [(&str, Format); 2] = [("f32", Format::F32), ("f64", Format::F64)];

/// Functions of other libraries, with the formulas to write instead.
const HINTS: [(&str, &str); 12] = [
    ("softmax", "y[i,j] = exp(x[i,j]) / sum(k, exp(x[i,k]))"),
    ("log_softmax", "y[i,j] = x[i,j] - log(sum(k, exp(x[i,k])))"),
    ("logsumexp", "log(sum(k, exp(x[i,k])))"),
    ("matmul", "sum(k, A[i,k]*B[k,j])"),
    ("dot", "sum(k, a[k]*b[k])"),
    ("gelu", "x[i]/2 * (1 + erf(x[i]/sqrt(2)))"),
    ("silu", "x[i]*sigmoid(x[i])"),
    ("softplus", "log1p(exp(x[i]))"),
    ("var", "mean(k, (x[i,k] - m[i])^2) with `let m[i] = mean(k, x[i,k])`"),
    ("std", "sqrt(mean(k, (x[i,k] - m[i])^2)) with `let m[i] = mean(k, x[i,k])`"),
    ("norm", "sqrt(sum(k, x[k]^2))"),
    ("where", "a if c else b"),
];

impl Resolver<'_> {
    /// Resolves a call of a reduction or function.
    pub(super) fn call(
        &mut self,
        name: &Name,
        arguments: &[Argument],
        span: Span,
    ) -> Result<Node, Error> {
        let text = name.text.as_str();
        if let Some(word) = text.strip_prefix('\\') {
            return self.contract_call(word, name, arguments, span);
        }
        let reduction = Reduction::ALL.iter().find(|(known, _)| *known == text);
        if let Some((_, reduction)) = reduction
            && self.is_reduction(*reduction, arguments)
        {
            return self.reduction(*reduction, name, arguments, span);
        }
        if text == "size" {
            return self.size_call(arguments, span);
        }
        if let Some((_, format)) = FORMATS.iter().find(|(known, _)| *known == text) {
            return self.rounded_literal(*format, name, arguments);
        }
        let real = REALS.iter().find(|(known, _)| *known == text);
        let real = real.map(|(_, one)| (Function::Real(*one), one.arguments()));
        let other = OTHER_FUNCTIONS.iter().find(|(known, ..)| *known == text);
        match real.or(other.map(|(_, function, count)| (*function, *count))) {
            Some((function, count)) => self.function(name, function, count, arguments, span),
            None => Err(self.unknown_function(text, name.span)),
        }
    }

    fn unknown_function(&self, name: &str, span: Span) -> Error {
        if let Some((_, hint)) = HINTS.iter().find(|(known, _)| *known == name) {
            return Error::new(span, format!("`{name}` is not a function; write `{hint}`"));
        }
        if self.is_named(name) {
            let message = format!("`{name}` is not a function; an element is written `{name}[…]`");
            return Error::new(span, message);
        }
        let known = REALS.iter().map(|one| one.0);
        let known = known.chain(OTHER_FUNCTIONS.iter().map(|one| one.0));
        let known = known.chain(Reduction::ALL.iter().map(|one| one.0)).chain(["size"]);
        let hint = closest(name, known).map(|name| format!("; did you mean `{name}`?"));
        Error::new(span, format!("`{name}` is not a function{}", hint.unwrap_or_default()))
    }

    /// Returns `true` if a call is a reduction: its arguments begin with an index. `max` and `min` of numbers
    /// are not.
    fn is_reduction(&self, reduction: Reduction, arguments: &[Argument]) -> bool {
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

    /// Resolves a function of numbers. Some keep integers; all others take reals.
    fn function(
        &mut self,
        name: &Name,
        function: Function,
        count: usize,
        arguments: &[Argument],
        span: Span,
    ) -> Result<Node, Error> {
        let expressions = expressions(arguments)?;
        if expressions.len() != count {
            let plural = if count == 1 { "" } else { "s" };
            let message = format!("`{}` takes {count} number{plural}", name.text);
            return Err(Error::new(span, message));
        }
        let mut nodes: Vec<Node> = expressions
            .iter()
            .map(|expression| self.numeric(expression))
            .collect::<Result<_, _>>()?;
        let is_data = nodes.iter().any(|node| node.is_data);
        let keeps_integers = matches!(
            function,
            Function::Abs
                | Function::Max
                | Function::Min
                | Function::Clamp
                | Function::Sign
                | Function::Relu
                | Function::Round(_)
        );
        let all_integers = nodes.iter().all(|node| node.ty == Type::Integer);
        if !(keeps_integers && all_integers) {
            let real = |node: Node| if node.ty == Type::Integer { to_real(node) } else { node };
            nodes = nodes.into_iter().map(real).collect();
        }
        let ty = match function {
            Function::Round(_) => Type::Integer,
            _ if keeps_integers && all_integers => Type::Integer,
            _ => Type::Real,
        };
        if let (Function::Round(rounding), [node]) = (function, nodes.as_slice()) {
            if node.ty == Type::Integer {
                return Ok(node.clone());
            }
            if let Some(whole) =
                node.number().and_then(|number| rounded_to_integer(number, rounding))
            {
                return Ok(Node::integer(whole, span));
            }
        }
        Ok(Node { kind: NodeKind::Function(function, nodes), ty, is_data, span })
    }

    /// Resolves `size(x, 0)`: a dimension of a tensor.
    fn size_call(&mut self, arguments: &[Argument], span: Span) -> Result<Node, Error> {
        let usage = || {
            Error::new(span, "`size` takes a tensor and the number of a dimension: `size(x, 0)`")
        };
        let expressions = expressions(arguments)?;
        let [tensor, axis] = expressions.as_slice() else { return Err(usage()) };
        let ExpressionKind::Name(name) = &tensor.kind else { return Err(usage()) };
        let Some(array) = self.array(name) else {
            return Err(match self.is_named(name) {
                true => Error::new(tensor.span, format!("`{name}` is not a tensor")),
                false => self.unknown(name, tensor.span),
            });
        };
        let axis = self.integer(axis)?;
        let axis =
            axis.number().and_then(Number::to_i64).and_then(|axis| usize::try_from(axis).ok());
        let shape = &self.typed.arrays[array].shape;
        match axis.and_then(|axis| shape.get(axis)) {
            Some(size) => Ok(Node::integer(i128::from(*size), span)),
            None => {
                let plural = if shape.len() == 1 { "" } else { "s" };
                let message =
                    format!("`{name}` has {} dimension{plural}, counted from 0", shape.len());
                Err(Error::new(span, message))
            }
        }
    }

    /// Resolves `f32(1e-5)`: the nearest float.
    fn rounded_literal(
        &mut self,
        format: Format,
        name: &Name,
        arguments: &[Argument],
    ) -> Result<Node, Error> {
        let expressions = expressions(arguments)?;
        let usage = || {
            let message = format!("`{0}` rounds a literal: `{0}(1e-5)`", name.text);
            Error::new(name.span, message)
        };
        let [one] = expressions.as_slice() else { return Err(usage()) };
        let node = self.real(one)?;
        let number = node.number().ok_or_else(usage)?;
        let double = number.to_f64_lossy();
        let bits = match format {
            // To single precision in one step: via double it might be rounded twice.
            Format::F32 => u64::from(nearest_single(number, double).to_bits()),
            _ => double.to_bits(),
        };
        Ok(Node { kind: NodeKind::Float(format, bits), ..node })
    }

    /// Resolves `\sum(k, lo, hi, e)` and others, in the notation of contracts.
    fn contract_call(
        &mut self,
        word: &str,
        name: &Name,
        arguments: &[Argument],
        span: Span,
    ) -> Result<Node, Error> {
        let reduction = match word {
            "max" | "min" => {
                let name = Name { text: word.to_owned(), span: name.span };
                let function = if word == "max" { Function::Max } else { Function::Min };
                return self.function(&name, function, 2, arguments, span);
            }
            "sum" => Reduction::Sum,
            "num_of" => Reduction::Count,
            _ => {
                let message = format!(
                    "`\\{word}` is not read in formulas; `\\sum`, `\\num_of`, `\\max` and `\\min` are"
                );
                return Err(Error::new(name.span, message));
            }
        };
        let expressions = expressions(arguments)?;
        let [index, low, high, body] = expressions.as_slice() else {
            let message = format!(
                "`\\{word}` takes an index, its ends and an expression: `\\{word}(k, 0, n, …)`"
            );
            return Err(Error::new(span, message));
        };
        let Some(name) = self.new_name(index) else {
            return Err(Error::new(index.span, "a new name is needed for the index"));
        };
        let range = Some(Box::new(((*low).clone(), (*high).clone())));
        self.reduce(reduction, &[Index { name, range }], body, span)
    }

    /// Resolves a call of a reduction: indices, then one expression.
    fn reduction(
        &mut self,
        reduction: Reduction,
        name: &Name,
        arguments: &[Argument],
        span: Span,
    ) -> Result<Node, Error> {
        let text = &name.text;
        let (mut indices, mut rest) = (Vec::new(), arguments);
        while let [first, others @ ..] = rest
            && !others.is_empty()
        {
            match first {
                Argument::Index(index) => indices.push(index.clone()),
                Argument::Expression(one) => match self.new_name(one) {
                    Some(name) => indices.push(Index { name, range: None }),
                    None => break,
                },
            }
            rest = others;
        }
        if indices.is_empty() {
            if let [Argument::Expression(first), _, ..] = arguments
                && let ExpressionKind::Name(known) = &first.kind
            {
                let message =
                    format!("`{known}` is an index already; take another name in `{text}`");
                let is_index = self.scope.iter().any(|(one, _)| one == known);
                let name_in_use = format!(
                    "`{known}` is an argument or a definition; take another name in `{text}`"
                );
                return Err(Error::new(first.span, if is_index { message } else { name_in_use }));
            }
            let message = format!("`{text}` needs an index and an expression: `{text}(k, …)`");
            return Err(Error::new(span, message));
        }
        match rest {
            [Argument::Expression(body)] => self.reduce(reduction, &indices, body, span),
            [Argument::Index(index)] => {
                Err(Error::new(index.name.span, format!("`{text}` ends with an expression")))
            }
            _ => {
                let index = &indices[0].name.text;
                let contract = match reduction {
                    Reduction::Sum => format!("; contracts write `\\{text}({index}, 0, 4, …)`"),
                    _ => String::new(),
                };
                let message = format!(
                    "`{text}` takes indices and then one expression: `{text}({index} in 0..4, …)`{contract}"
                );
                Err(Error::new(span, message))
            }
        }
    }

    /// Resolves a reduction over these indices.
    fn reduce(
        &mut self,
        reduction: Reduction,
        indices: &[Index],
        body: &Expression,
        span: Span,
    ) -> Result<Node, Error> {
        let depth = self.scope.len();
        let mut ranges = Vec::new();
        for index in indices {
            ranges.push(self.reduction_range(index, body)?);
        }
        let (value, filter) = match &body.kind {
            ExpressionKind::If { value, condition, otherwise: None } => {
                (&**value, Some(self.condition(condition)?))
            }
            _ => (body, None),
        };
        let may_be_empty = filter.as_ref().is_some_and(|filter| filter.is_data);
        let body = match reduction {
            Reduction::Count | Reduction::Any | Reduction::All => self.condition(value)?,
            Reduction::Mean => self.real(value)?,
            // The extreme of no elements is infinite, so it must be a real.
            Reduction::Max | Reduction::Min if may_be_empty => self.real(value)?,
            _ => self.numeric(value)?,
        };
        self.scope.truncate(depth);
        let takes_one = matches!(reduction, Reduction::ArgMax | Reduction::ArgMin);
        let name = reduction.name();
        if takes_one && ranges.len() != 1 {
            return Err(Error::new(span, format!("`{name}` takes one index")));
        }
        if takes_one && filter.as_ref().is_some_and(|filter| filter.is_data) {
            let message = format!("`{name}` cannot leave out elements by a condition on data");
            return Err(Error::new(span, message));
        }
        let ty = match reduction {
            Reduction::Count | Reduction::ArgMax | Reduction::ArgMin => Type::Integer,
            Reduction::Any | Reduction::All => Type::Truth,
            _ => body.ty,
        };
        let ends = ranges.iter().flat_map(|range: &Range| [&range.low, &range.high]);
        let is_data = body.is_data
            || filter.as_ref().is_some_and(|filter| filter.is_data)
            || ends.clone().any(|end| end.is_data);
        if let Some(end) = ends.into_iter().find(|end| end.is_data) {
            let message =
                "the ends of a range must not depend on data; leave elements out with `if` instead";
            return Err(Error::new(end.span, message));
        }
        let reduce = Reduce { reduction, ranges, filter, body };
        Ok(Node { kind: NodeKind::Reduce(Box::new(reduce)), ty, is_data, span })
    }

    /// Resolves the range of an index of a reduction, and brings the index into scope.
    fn reduction_range(&mut self, index: &Index, body: &Expression) -> Result<Range, Error> {
        let span = index.name.span;
        let (low, high) = match &index.range {
            Some(range) => (self.integer(&range.0)?, self.integer(&range.1)?),
            None => {
                let size = self.extent(&index.name, body)?;
                (Node::integer(0, span), Node::integer(i128::from(size), span))
            }
        };
        let wide = (i128::from(i64::MIN), i128::from(i64::MAX));
        let least = interval(&self.typed, &low).unwrap_or(wide);
        let most = interval(&self.typed, &high).unwrap_or(wide);
        let is_fixed = low.number().is_some() && high.number().is_some();
        let id: IndexId = self.bind(index, (least.0, (most.1 - 1).max(least.0 - 1)), is_fixed)?;
        Ok(Range { index: id, low, high })
    }
}

/// Returns arguments without ranges.
pub(crate) fn expressions<'e>(arguments: &'e [Argument]) -> Result<Vec<&'e Expression>, Error> {
    let one = |argument: &'e Argument| match argument {
        Argument::Expression(expression) => Ok(expression),
        Argument::Index(index) => Err(Error::new(
            index.name.span,
            "a range belongs to a reduction such as `sum(k in 0..4, …)`",
        )),
    };
    arguments.iter().map(one).collect()
}

/// Rounds a literal to an integer; `None` if it is large.
fn rounded_to_integer(number: &Number, rounding: Rounding) -> Option<i128> {
    let (above, below) = number.to_small_ratio()?;
    let (above, below) = (i128::from(above), i128::from(below));
    let down = above.div_euclid(below);
    let rest = above - down * below;
    let up = down + i128::from(rest != 0);
    Some(match rounding {
        Rounding::Down => down,
        Rounding::Up => up,
        Rounding::Zero => {
            if above < 0 {
                up
            } else {
                down
            }
        }
        Rounding::NearestEven | Rounding::NearestAway => match (2 * rest).cmp(&below) {
            std::cmp::Ordering::Less => down,
            std::cmp::Ordering::Greater => up,
            std::cmp::Ordering::Equal if down % 2 == 0 => down,
            std::cmp::Ordering::Equal => up,
        },
    })
}

/// Returns the single nearest to a number, given a double near it.
pub(crate) fn nearest_single(number: &Number, double: f64) -> f32 {
    let guess = double as f32;
    let distance = |single: f32| {
        let exact = Number::from_f64(single.into()).unwrap_or(Number::ZERO);
        (number - &exact).abs()
    };
    let is_even = |single: f32| single.to_bits() & 1 == 0;
    let better = |a: f32, b: f32| {
        let difference = &distance(a) - &distance(b);
        match difference.signum() {
            0 if is_even(b) => b,
            0 | -1 => a,
            _ => b,
        }
    };
    if !guess.is_finite() {
        return guess;
    }
    [guess.next_down(), guess.next_up()]
        .into_iter()
        .filter(|one| one.is_finite())
        .fold(guess, better)
}
