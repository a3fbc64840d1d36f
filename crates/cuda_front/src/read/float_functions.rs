//! Lowers functions of floats: mathematical functions, arithmetic with a rounding mode, and conversions.

use super::diagnostics::{Result, error, unsupported};
use super::lowerer::Lowerer;
use super::types::{binary, compare, convert};
use base::Span;
use cuda::tree;
use kir::{Binary, Compare, Expr, ExprKind, Type, Unary};

/// Mathematical functions: C's name, number of arguments.
const FUNCTIONS: &[(&str, usize)] = &[
    ("sqrt", 1),
    ("rsqrt", 1),
    ("cbrt", 1),
    ("exp", 1),
    ("exp2", 1),
    ("exp10", 1),
    ("expm1", 1),
    ("log", 1),
    ("log2", 1),
    ("log10", 1),
    ("log1p", 1),
    ("sin", 1),
    ("cos", 1),
    ("tan", 1),
    ("asin", 1),
    ("acos", 1),
    ("atan", 1),
    ("sinh", 1),
    ("cosh", 1),
    ("tanh", 1),
    ("erf", 1),
    ("fabs", 1),
    ("floor", 1),
    ("ceil", 1),
    ("round", 1),
    ("rint", 1),
    ("trunc", 1),
    ("pow", 2),
    ("atan2", 2),
    ("hypot", 2),
    ("fmod", 2),
    ("fmin", 2),
    ("fmax", 2),
    ("fma", 3),
    ("fdivide", 2),
];

/// Types in the names of conversions, as in `__float2int_rd`.
const TYPES: &[&str] =
    &["int", "uint", "ll", "ull", "float", "double", "half", "bfloat16", "short", "ushort"];

impl Lowerer<'_> {
    /// Arithmetic and conversions with a rounding mode. Over the reals the mode only matters for conversions to
    /// integers.
    pub(super) fn rounding_function(
        &mut self,
        name: &str,
        values: &[Expr],
        expr: &tree::Expr,
    ) -> Result<Option<Expr>> {
        let span = expr.span;
        let plain = name.trim_start_matches("__");
        let (stem, mode) = plain.rsplit_once('_').unwrap_or((plain, ""));
        let directed = matches!(mode, "rn" | "rz" | "ru" | "rd");
        let wanted = self.scalar(&expr.ty);
        let real = |value: &Expr| convert(value.clone(), Type::Float);
        let operation = |operator, left: &Expr, right: &Expr| {
            Ok(Some(binary(operator, real(left), real(right), span)))
        };
        let of_floats = wanted == Some(Type::Float);
        match (stem, values) {
            ("fadd" | "dadd", [left, right]) if directed => operation(Binary::Add, left, right),
            ("fsub" | "dsub", [left, right]) if directed => operation(Binary::Sub, left, right),
            ("fmul" | "dmul", [left, right]) if directed => operation(Binary::Mul, left, right),
            ("fdiv" | "ddiv", [left, right]) if directed => operation(Binary::Div, left, right),
            ("hadd", [left, right]) if of_floats => operation(Binary::Add, left, right),
            ("hsub", [left, right]) if of_floats => operation(Binary::Sub, left, right),
            ("hmul", [left, right]) if of_floats => operation(Binary::Mul, left, right),
            ("hdiv" | "h2div", [left, right]) if of_floats => operation(Binary::Div, left, right),
            ("frcp" | "drcp", [inner]) if directed => {
                let one = Expr { kind: ExprKind::Float(1.0), ty: Type::Float, span };
                operation(Binary::Div, &one, inner)
            }
            ("hneg", [inner]) => {
                let kind = ExprKind::Unary(Unary::Neg, Box::new(real(inner)));
                Ok(Some(Expr { kind, ty: Type::Float, span }))
            }
            ("heq" | "hne" | "hlt" | "hle" | "hgt" | "hge", [left, right]) => {
                let operator = match stem {
                    "heq" => Compare::Eq,
                    "hne" => Compare::Ne,
                    "hlt" => Compare::Lt,
                    "hle" => Compare::Le,
                    "hgt" => Compare::Gt,
                    _ => Compare::Ge,
                };
                Ok(Some(Expr { span, ..compare(operator, real(left), real(right)) }))
            }
            ("hrcp", [inner]) => {
                let one = Expr { kind: ExprKind::Float(1.0), ty: Type::Float, span };
                operation(Binary::Div, &one, inner)
            }
            ("saturatef", [inner]) => {
                let number = |value| Expr { kind: ExprKind::Float(value), ty: Type::Float, span };
                let low = binary(Binary::Max, real(inner), number(0.0), span);
                Ok(Some(binary(Binary::Min, low, number(1.0), span)))
            }
            (
                "float2half" | "half2float" | "float2bfloat16" | "bfloat162float" | "double2half",
                [inner],
            ) => Ok(Some(real(inner))),
            _ => Ok(self.directed_conversion(plain, values, wanted, span)),
        }
    }

    /// `__float2int_rd` and its like.
    fn directed_conversion(
        &self,
        plain: &str,
        values: &[Expr],
        wanted: Option<Type>,
        span: Span,
    ) -> Option<Expr> {
        let ([inner], Some(wanted)) = (values, wanted) else { return None };
        let (stem, mode) = plain.rsplit_once('_').unwrap_or((plain, ""));
        let (from, to) = stem.split_once('2')?;
        if !TYPES.contains(&from) || !TYPES.contains(&to) {
            return None;
        }
        if inner.ty != Type::Float || wanted == Type::Float {
            return Some(Expr { span, ..convert(inner.clone(), wanted) });
        }
        let call = |name| {
            let kind = ExprKind::Call(name, vec![inner.clone()]);
            Expr { kind, ty: Type::Float, span }
        };
        let rounded = match mode {
            "rd" => call("floor"),
            "ru" => call("ceil"),
            "rn" => call("rint"),
            "rz" => inner.clone(),
            _ => return None,
        };
        Some(Expr { span, ..convert(rounded, wanted) })
    }

    /// Lowers a call of a function that is part of kernel IR, under its C name.
    pub(super) fn mathematical(
        &mut self,
        name: &str,
        values: Vec<Expr>,
        expr: &tree::Expr,
    ) -> Result<Expr> {
        let span = expr.span;
        let Some(known) = function(name) else {
            return Err(unsupported(span, format!("the function `{name}` is not supported")));
        };
        if values.len() != known.1 {
            return Err(error(span, format!("`{name}` takes {} arguments", known.1)));
        }
        if self.scalar(&expr.ty) != Some(Type::Float) {
            return Err(unsupported(span, format!("the function `{name}` is not supported here")));
        }
        let values = values.into_iter().map(|value| convert(value, Type::Float)).collect();
        Ok(Expr { kind: ExprKind::Call(known.0, values), ty: Type::Float, span })
    }
}

/// The mathematical function of a name: underscores and `f` only affect its precision.
pub(super) fn function(name: &str) -> Option<(&'static str, usize)> {
    let plain = name.trim_start_matches("__");
    let find = |text: &str| FUNCTIONS.iter().find(|(known, _)| *known == text).copied();
    let aliased = match plain {
        "nearbyint" | "nearbyintf" => "rint",
        "fsqrt_rn" | "fsqrt_rz" | "fsqrt_ru" | "fsqrt_rd" | "dsqrt_rn" | "hsqrt" => "sqrt",
        "frsqrt_rn" | "hrsqrt" => "rsqrt",
        "fmaf_rn" | "fmaf_rz" | "fmaf_ru" | "fmaf_rd" | "fma_rn" | "fma_rz" | "hfma" => "fma",
        "hexp" => "exp",
        "hexp2" => "exp2",
        "hlog2" => "log2",
        "hfloor" => "floor",
        "hceil" => "ceil",
        "hrint" => "rint",
        "htanh" => "tanh",
        "hlog" => "log",
        "hsin" => "sin",
        "hcos" => "cos",
        "habs" => "fabs",
        "fdividef" => "fdivide",
        _ => plain,
    };
    find(aliased).or_else(|| find(aliased.strip_suffix('f')?))
}

/// Returns `true` for the name of a conversion without its rounding mode.
pub(super) fn is_conversion(stem: &str) -> bool {
    let parts = stem.split_once('2');
    parts.is_some_and(|(from, to)| TYPES.contains(&from) && TYPES.contains(&to))
}
