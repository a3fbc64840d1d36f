//! Prints learnt clauses in source notation, so that a note can show them as `//@ loop invariant …`. For display only:
//! expressions that a learnt clause cannot contain are printed as `…`.

use crate::clause::{Clause, Monoid};
use kir::{Binary, Compare, Expr, ExprKind, Kernel, Type, Unary, When};

/// A clause as an annotation of its loop.
pub(super) fn clause(kernel: &Kernel, clause: &Clause) -> String {
    let names: Vec<&str> =
        clause.forall.iter().map(|var| kernel.vars[*var].name.as_str()).collect();
    let when: Vec<String> = clause.when.iter().map(|one| text(kernel, one, 0)).collect();
    let (index, value) = (text(kernel, &clause.index, 0), text(kernel, &clause.value, 0));
    let array = &kernel.arrays[clause.array].name;
    if let Some(op) = &clause.total {
        let op = Monoid::of(op, kernel).name;
        let modulo = match kernel.arrays[clause.array].element {
            Type::Int { bits, .. } => format!(" // modulo 2^{bits}"),
            _ => String::new(),
        };
        return format!(
            "loop invariant \\fold({op}, i, 0, {index}, {array}[i]) == {value};{modulo}"
        );
    }
    format!(
        "loop invariant \\forall int {}; {} ==> {array}[{index}] == {value};",
        names.join(", "),
        when.join(" && ")
    )
}

/// Binding strength and notation of an operator.
fn operator(operator: Binary) -> Option<(u8, &'static str)> {
    Some(match operator {
        Binary::Add => (1, "+"),
        Binary::Sub => (1, "-"),
        Binary::Mul => (2, "*"),
        Binary::Div => (2, "/"),
        Binary::Rem => (2, "%"),
        _ => return None,
    })
}

/// Prints an expression. `around` is the binding strength of the context: weaker operators get parentheses.
fn text(kernel: &Kernel, expr: &Expr, around: u8) -> String {
    let inner = |one: &Expr, around: u8| text(kernel, one, around);
    match &expr.kind {
        ExprKind::Int(value) => value.to_string(),
        ExprKind::Var(var) => kernel.vars[*var].name.clone(),
        ExprKind::Builtin(builtin, axis) => builtin.name(*axis),
        ExprKind::Convert(one) => inner(one, around),
        ExprKind::Unary(Unary::IsPow2, one) => format!("\\is_pow2({})", inner(one, 0)),
        ExprKind::Binary(Binary::Max, a, b) => format!("\\max({}, {})", inner(a, 0), inner(b, 0)),
        ExprKind::Binary(Binary::Min, a, b) => format!("\\min({}, {})", inner(a, 0), inner(b, 0)),
        ExprKind::Binary(own, left, right) => {
            let Some((level, sign)) = operator(*own) else { return "…".to_owned() };
            let (left, right) = (inner(left, level), inner(right, level + 1));
            let all = match level {
                1 => format!("{left} {sign} {right}"),
                _ => format!("{left}{sign}{right}"),
            };
            if level < around { format!("({all})") } else { all }
        }
        ExprKind::Compare(compare, left, right) => {
            let sign = match compare {
                Compare::Eq => "==",
                Compare::Ne => "!=",
                Compare::Lt => "<",
                Compare::Le => "<=",
                Compare::Gt => ">",
                Compare::Ge => ">=",
            };
            format!("{} {sign} {}", inner(left, 1), inner(right, 1))
        }
        ExprKind::Element(array, when, index) => {
            let index: String = index.iter().map(|one| format!("[{}]", inner(one, 0))).collect();
            let element = format!("{}{index}", kernel.arrays[*array].name);
            match when {
                When::LoopEntry => format!("\\at({element}, LoopEntry)"),
                When::Here | When::Before => element,
            }
        }
        ExprKind::Fold(fold) => format!(
            "\\fold({}, {}, {}, {}, {})",
            Monoid::of(&fold.op, kernel).name,
            kernel.vars[fold.var].name,
            inner(&fold.low, 0),
            inner(&fold.high, 0),
            inner(&fold.body, 0)
        ),
        _ => "…".to_owned(),
    }
}
