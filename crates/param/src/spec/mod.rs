//! What annotations say, beyond what a thread computes: claims about elements, folds and all integers.
//!
//! `cuda` reads clauses and gives their names a meaning, `read/claims.rs` lowers them, here is what is asked of them: of what kind
//! an expression is (`is_scalar`), which cases a claim has (`goals`), over which range a quantified variable goes
//! (`range`). No solver is needed for any of it.

use crate::kir::{Binary, Claim, Compare, Expr, ExprKind, Type, Unary, VarId, visit};

/// The first expression inside that is wanted.
pub(crate) fn find(expr: &Expr, wanted: impl Fn(&Expr) -> bool) -> Option<Expr> {
    let mut found = None;
    visit(expr, &mut |inner| {
        if found.is_none() && wanted(inner) {
            found = Some(inner.clone());
        }
    });
    found
}

/// Whether another thread is spoken of.
pub(crate) fn has_other(expr: &Expr) -> bool {
    find(expr, |inner| matches!(inner.kind, ExprKind::Other(_))).is_some()
}

/// Whether an expression is of integer variables and the launch alone.
pub(crate) fn is_scalar(expr: &Expr) -> bool {
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

/// The same without conversions that may change a number, so that integers without bounds are a model of it.
pub(crate) fn is_exact(expr: &Expr) -> bool {
    is_scalar(expr) && !converts(expr) && find(expr, is_power).is_none()
}

/// Whether a conversion inside may change a number.
pub(crate) fn converts(expr: &Expr) -> bool {
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

/// Whether every number of a type is one of another.
pub(crate) fn widens(from: Type, to: Type) -> bool {
    match (from.range(), to.range()) {
        (Some((low, high)), Some((least, most))) => least <= low && high <= most,
        (_, None) => to == Type::Whole,
        (None, Some(_)) => false,
    }
}

/// One thing to show: `goal` for all values of the claim's variables that `assumed` allows.
#[derive(Clone, Debug)]
pub(crate) struct Goal {
    pub(crate) assumed: Vec<Expr>,
    pub(crate) goal: Expr,
}

/// The cases of a claim: `A ==> (B && C)` is `A ==> B` and `A ==> C`.
pub(crate) fn goals(claim: &Claim) -> Vec<Goal> {
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
pub(crate) fn conjuncts(expr: &Expr) -> Vec<Expr> {
    match &expr.kind {
        ExprKind::And(left, right) => {
            let mut all = conjuncts(left);
            all.extend(conjuncts(right));
            all
        }
        _ => vec![expr.clone()],
    }
}

/// That a condition does not hold.
pub(crate) fn negated(expr: &Expr) -> Expr {
    match &expr.kind {
        ExprKind::Unary(Unary::Not, inner) => (**inner).clone(),
        _ => {
            let kind = ExprKind::Unary(Unary::Not, Box::new(expr.clone()));
            Expr { kind, ty: Type::Bool, span: expr.span }
        }
    }
}

/// Bounds of a variable that a list of conditions names: at least one of `low`, below all of `high`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Range {
    pub(crate) low: Vec<Expr>,
    /// Whether the bound itself is a value.
    pub(crate) high: Vec<(Expr, bool)>,
}

/// What conditions say of a variable directly. `low` holds bounds that are values themselves, or that are not, in
/// which case `false` stands beside them, as for `high`.
pub(crate) fn range(var: VarId, conditions: &[Expr]) -> Range {
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
            // One too many below does no harm: conditions are tested all the same.
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

/// The comparison with its sides exchanged.
pub(crate) fn mirrored(compare: Compare) -> Compare {
    match compare {
        Compare::Lt => Compare::Gt,
        Compare::Le => Compare::Ge,
        Compare::Gt => Compare::Lt,
        Compare::Ge => Compare::Le,
        other => other,
    }
}

/// Whether an expression is a variable, in whatever type.
pub(crate) fn is_var(expr: &Expr, var: VarId) -> bool {
    match &expr.kind {
        ExprKind::Var(own) => *own == var,
        ExprKind::Convert(inner) => is_var(inner, var),
        _ => false,
    }
}

/// An index as an integer without bounds, whatever type it is computed in.
pub(crate) fn index(expr: &Expr) -> Expr {
    let whole = |kind| Expr { kind, ty: Type::Whole, span: expr.span };
    match &expr.kind {
        ExprKind::Convert(inner) if expr.ty == Type::LONG => match inner.ty {
            Type::Whole => (**inner).clone(),
            _ => whole(ExprKind::Convert(inner.clone())),
        },
        ExprKind::Binary(operator @ (Binary::Add | Binary::Sub | Binary::Mul), left, right)
            if expr.ty == Type::LONG =>
        {
            whole(ExprKind::Binary(*operator, Box::new(index(left)), Box::new(index(right))))
        }
        _ if expr.ty == Type::Whole => expr.clone(),
        _ => whole(ExprKind::Convert(Box::new(expr.clone()))),
    }
}
