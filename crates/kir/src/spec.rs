//! Queries on the expressions and claims of annotations.
//!
//! `cuda` parses clauses and resolves their names, and `cuda_front` lowers them. This module answers questions about
//! them without a solver: the kind of an expression (`is_scalar`), the cases of a claim (`goals`), the range of a
//! quantified variable (`range`).

use crate::{Binary, Claim, Compare, Expr, ExprKind, Type, Unary, VarId, visit};

/// The first expression inside that satisfies `wanted`.
pub fn find(expr: &Expr, wanted: impl Fn(&Expr) -> bool) -> Option<Expr> {
    let mut found = None;
    visit(expr, &mut |inner| {
        if found.is_none() && wanted(inner) {
            found = Some(inner.clone());
        }
    });
    found
}

/// Returns `true` if an expression contains an operation on integers that is not defined everywhere.
pub fn is_partial_integer(expr: &Expr) -> bool {
    find(expr, |inner| match &inner.kind {
        ExprKind::Binary(operator, ..) => {
            inner.ty != Type::Float
                && matches!(operator, Binary::Div | Binary::Rem | Binary::Shl | Binary::Shr)
        }
        ExprKind::Unary(Unary::Pow2, _) => true,
        _ => false,
    })
    .is_some()
}

/// Returns `true` if an expression mentions another thread.
pub fn has_other(expr: &Expr) -> bool {
    find(expr, |inner| matches!(inner.kind, ExprKind::Other(_))).is_some()
}

/// Returns `true` if an expression depends only on integer variables and the launch.
pub fn is_scalar(expr: &Expr) -> bool {
    find(expr, |inner| {
        inner.ty == Type::Float
            || matches!(
                inner.kind,
                ExprKind::Element(..)
                    | ExprKind::Quantified(..)
                    | ExprKind::Fold(_)
                    | ExprKind::Other(_)
            )
    })
    .is_none()
}

/// Returns `true` if unbounded integers model the expression: it is scalar ([`is_scalar`]), and has no powers of two
/// and no conversion that may change a number.
pub fn is_exact(expr: &Expr) -> bool {
    is_scalar(expr) && !converts(expr) && find(expr, is_power).is_none()
}

/// Returns `true` if a conversion inside may change a number.
pub fn converts(expr: &Expr) -> bool {
    find(expr, |inner| match &inner.kind {
        ExprKind::Convert(from) => {
            matches!(inner.ty, Type::Int { .. } | Type::Bool) && !widens(from.ty, inner.ty)
        }
        _ => false,
    })
    .is_some()
}

fn is_power(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Unary(Unary::Pow2 | Unary::LowBit, _))
}

/// Returns `true` if the type `to` has every number of the type `from`.
pub fn widens(from: Type, to: Type) -> bool {
    match (from.range(), to.range()) {
        (Some((low, high)), Some((least, most))) => least <= low && high <= most,
        (_, None) => to == Type::Whole,
        (None, Some(_)) => false,
    }
}

/// A case of a claim: `goal` must hold for all values of the claim's variables that satisfy `assumed`.
#[derive(Clone, Debug)]
pub struct Goal {
    /// Conditions under which it must hold.
    pub assumed: Vec<Expr>,
    /// The condition to show.
    pub goal: Expr,
}

/// The cases of a claim: `A ==> (B && C)` is `A ==> B` and `A ==> C`.
pub fn goals(claim: &Claim) -> Vec<Goal> {
    let mut goals = Vec::new();
    split(&claim.condition, &mut Vec::new(), &mut goals);
    goals
}

fn split(expr: &Expr, assumed: &mut Vec<Expr>, goals: &mut Vec<Goal>) {
    match &expr.kind {
        ExprKind::And(left, right) => {
            split(left, assumed, goals);
            split(right, assumed, goals);
        }
        // `A ==> B` is `!A || B`.
        ExprKind::Or(left, right) => {
            let depth = assumed.len();
            assumed.extend(conjuncts(&negated(left)));
            split(right, assumed, goals);
            assumed.truncate(depth);
        }
        _ => goals.push(Goal { assumed: assumed.clone(), goal: expr.clone() }),
    }
}

/// The conjuncts of a condition.
pub fn conjuncts(expr: &Expr) -> Vec<Expr> {
    match &expr.kind {
        ExprKind::And(left, right) => {
            let mut all = conjuncts(left);
            all.extend(conjuncts(right));
            all
        }
        _ => vec![expr.clone()],
    }
}

/// The negation of a condition.
pub fn negated(expr: &Expr) -> Expr {
    match &expr.kind {
        ExprKind::Unary(Unary::Not, inner) => (**inner).clone(),
        _ => {
            let kind = ExprKind::Unary(Unary::Not, Box::new(expr.clone()));
            Expr { kind, ty: Type::Bool, span: expr.span }
        }
    }
}

/// Bounds of a variable from a list of conditions: lower bounds `low`, upper bounds `high`.
#[derive(Clone, Debug, Default)]
pub struct Range {
    /// Inclusive lower bounds.
    pub low: Vec<Expr>,
    /// Upper bounds; `true` if the bound itself is a value.
    pub high: Vec<(Expr, bool)>,
}

/// Collects the bounds that conditions give a variable directly. Lower bounds of `>` are stored like those of `>=`.
pub fn range(var: VarId, conditions: &[Expr]) -> Range {
    let mut range = Range::default();
    for condition in conditions {
        let ExprKind::Compare(compare, left, right) = &condition.kind else { continue };
        let (compare, bound) = match (is_var(left, var), is_var(right, var)) {
            (true, false) => (*compare, right),
            (false, true) => (mirrored(*compare), left),
            _ => continue,
        };
        match compare {
            Compare::Lt => range.high.push(((**bound).clone(), false)),
            Compare::Le => range.high.push(((**bound).clone(), true)),
            // One value too many at the low end is harmless: users of the range test the conditions themselves, too.
            Compare::Ge | Compare::Gt => range.low.push((**bound).clone()),
            Compare::Eq => {
                range.low.push((**bound).clone());
                range.high.push(((**bound).clone(), true));
            }
            Compare::Ne => {}
        }
    }
    range
}

/// Swaps the sides of a comparison.
pub fn mirrored(compare: Compare) -> Compare {
    match compare {
        Compare::Lt => Compare::Gt,
        Compare::Le => Compare::Ge,
        Compare::Gt => Compare::Lt,
        Compare::Ge => Compare::Le,
        other => other,
    }
}

/// Returns `true` if an expression is this variable, possibly converted to other types.
pub fn is_var(expr: &Expr, var: VarId) -> bool {
    match &expr.kind {
        ExprKind::Var(own) => *own == var,
        ExprKind::Convert(inner) => is_var(inner, var),
        _ => false,
    }
}

/// Rewrites an index of annotations to an unbounded integer: removes conversions to `long long`, also below `+`, `-`
/// and `*`.
pub fn index(expr: &Expr) -> Expr {
    let as_whole = |kind| Expr { kind, ty: Type::Whole, span: expr.span };
    match &expr.kind {
        ExprKind::Convert(inner) if expr.ty == Type::LONG => match inner.ty {
            Type::Whole => (**inner).clone(),
            _ => as_whole(ExprKind::Convert(inner.clone())),
        },
        ExprKind::Binary(operator @ (Binary::Add | Binary::Sub | Binary::Mul), left, right)
            if expr.ty == Type::LONG =>
        {
            as_whole(ExprKind::Binary(*operator, Box::new(index(left)), Box::new(index(right))))
        }
        _ if expr.ty == Type::Whole => expr.clone(),
        _ => as_whole(ExprKind::Convert(Box::new(expr.clone()))),
    }
}
