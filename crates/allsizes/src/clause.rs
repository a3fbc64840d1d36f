//! Clauses about arrays. One about cells is `\forall digits; when ==> array[index] == value`, where the *digits* are
//! the bound variables. A *total* is `\fold(op, k, 0, length, array[k]) == value`: it says what a range of elements
//! makes together, and nothing about any one of them.
//!
//! A clause of a loop holds at its head in every iteration; one of the whole kernel holds when it has ended.

use base::{Index, Span};
use kir::relevance;
use kir::spec::{self, Goal};
use kir::{
    ArrayId, Claim, Compare, Expr, ExprKind, FoldOp, Kernel, Loop, Stmt, Type, Unary, VarId, When,
};

/// An associative operation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Monoid {
    /// `+`, `max`, `min`, `|`, `&`, `^`, or the name of a function.
    pub(crate) name: String,
    pub(crate) commutes: bool,
    /// Width and sign of the machine integers that it compares. A value represents an integer only modulo 2^bits, so
    /// a maximum depends on the type. Bitwise operations are the same in every type.
    pub(crate) compares: Option<(u8, bool)>,
}

impl Monoid {
    /// Returns the monoid of one of C's own operations.
    pub(crate) fn named(name: &str) -> Self {
        Self { name: name.to_owned(), commutes: true, compares: None }
    }

    /// Returns the monoid of one of C's own operations, or of a function that a clause declares to be one.
    pub(crate) fn called(name: &str, kernel: &Kernel) -> Self {
        let monoid = kernel.monoids.iter().find(|one| one.name == name);
        let commutes = monoid.is_none_or(|one| one.commutative);
        Self { name: name.to_owned(), commutes, compares: None }
    }

    /// Returns the monoid for numbers of a type.
    pub(crate) fn for_type(self, ty: Type) -> Self {
        let compares = match ty {
            Type::Int { bits, signed } if matches!(self.name.as_str(), "max" | "min") => {
                Some((bits, signed))
            }
            _ => None,
        };
        Self { compares, ..self }
    }

    /// The operation of a fold.
    pub(crate) fn of(op: &FoldOp, kernel: &Kernel) -> Self {
        let name = match op {
            FoldOp::Add => "+",
            FoldOp::Mul => "*",
            FoldOp::Max => "max",
            FoldOp::Min => "min",
            FoldOp::Or => "|",
            FoldOp::And => "&",
            FoldOp::Xor => "^",
            FoldOp::Monoid(number) => {
                let Some(own) = kernel.monoids.get(*number) else { return Self::named("?") };
                return Self::called(&own.name, kernel);
            }
        };
        Self::named(name)
    }

    /// The neutral element, if it is a number of the type.
    pub(crate) fn unit(&self, ty: Type, kernel: &Kernel) -> Option<i128> {
        if let Some(own) = kernel.monoids.iter().find(|one| one.name == self.name) {
            return number(&own.unit).filter(|_| own.result.ty == ty);
        }
        let range = ty.range();
        match self.name.as_str() {
            "+" | "|" | "^" => Some(0),
            "*" => Some(1),
            "max" => range.map(|(least, _)| least),
            "min" => range.map(|(_, most)| most),
            "&" => range.map(|(least, most)| if least < 0 { -1 } else { most }),
            _ => None,
        }
    }
}

/// The value of a numeric literal.
fn number(expr: &Expr) -> Option<i128> {
    match &expr.kind {
        ExprKind::Int(value) => Some(*value),
        #[expect(clippy::cast_possible_truncation, reason = "it is a small whole number")]
        ExprKind::Float(value) if value.fract() == 0.0 && value.abs() < 1e15 => {
            Some(*value as i128)
        }
        ExprKind::Convert(inner) => number(inner).filter(|value| expr.ty.holds(*value)),
        _ => None,
    }
}

/// A clause.
#[derive(Clone, Debug)]
pub(crate) struct Clause {
    /// Its source notation, if it was inferred.
    pub(crate) text: Option<String>,
    pub(crate) forall: Vec<VarId>,
    /// The bound variables that are powers of two.
    pub(crate) levels: Vec<VarId>,
    pub(crate) when: Vec<Expr>,
    pub(crate) array: ArrayId,
    /// Of the element; of a total, the number of elements.
    pub(crate) index: Expr,
    pub(crate) value: Expr,
    /// The operation of a total; `None` for a clause about an element.
    pub(crate) total: Option<FoldOp>,
    /// Span of the claim, or of the loop.
    pub(crate) span: Span,
    /// The number of its claim among those of the loop, unless it was inferred. Claims of one annotation share a span.
    pub(crate) claim: Option<usize>,
}

/// Claims of loops.
#[derive(Clone, Debug, Default)]
pub(crate) struct GivenClauses {
    /// Clauses, each with the number of its loop.
    pub(crate) clauses: Vec<(usize, Clause)>,
    /// Spans of claims that are not clauses, and why.
    pub(crate) others: Vec<(Span, String)>,
}

/// The reason why a claim is not a clause.
pub(crate) const NO_CLAUSE: &str = "only invariants of the form `\\forall …; … ==> a[…] == …` about arrays that are written are followed";

/// The claims of loop annotations about elements and real numbers.
pub(crate) fn given_clauses(kernel: &Kernel) -> GivenClauses {
    let (mut clauses, mut others) = (Vec::new(), Vec::new());
    for (number, (_, inner)) in loops(kernel).into_iter().enumerate() {
        for (at, claim) in inner.claims.iter().enumerate() {
            let parts: Option<Vec<Clause>> =
                spec::goals(claim).iter().map(|goal| clause(kernel, (at, claim), goal)).collect();
            match parts {
                Some(parts) => clauses.extend(parts.into_iter().map(|one| (number, one))),
                None => {
                    others.push((claim.span, NO_CLAUSE.to_owned()));
                }
            }
        }
    }
    GivenClauses { clauses, others }
}

fn clause(kernel: &Kernel, (at, claim): (usize, &Claim), goal: &Goal) -> Option<Clause> {
    let ExprKind::Compare(Compare::Eq, left, right) = &goal.goal.kind else { return None };
    let written = relevance::written(kernel);
    let sides = [(left, right), (right, left)];
    if claim.forall.is_empty() && goal.assumed.is_empty() {
        let total = sides.iter().find_map(|(one, other)| Some((total(kernel, one)?, *other)));
        // A sum of integers that a user states is exact. Totals of integers are known modulo 2^bits.
        let is_total = |array: ArrayId| {
            written[array.position()] && kernel.arrays[array].element == Type::Float
        };
        if let Some(((array, index, op), value)) = total.filter(|one| is_total(one.0.0)) {
            let (forall, levels, when) = (Vec::new(), Vec::new(), Vec::new());
            let (text, value, total) = (None, (**value).clone(), Some(op));
            let (span, claim) = (claim.span, Some(at));
            return Some(Clause {
                text,
                forall,
                levels,
                when,
                array,
                index,
                value,
                total,
                span,
                claim,
            });
        }
    }
    let (array, index, value) = sides.into_iter().find_map(|(one, other)| {
        let (array, index) = element(one)?;
        written[array.position()].then(|| (array, index, (**other).clone()))
    })?;
    let level = |var: &&VarId| {
        goal.assumed.iter().any(|one| match &one.kind {
            ExprKind::Unary(Unary::IsPow2, inner) => spec::is_var(inner, **var),
            _ => false,
        })
    };
    Some(Clause {
        text: None,
        forall: claim.forall.clone(),
        levels: claim.forall.iter().filter(level).copied().collect(),
        when: goal.assumed.clone(),
        array,
        index,
        value,
        total: None,
        span: claim.span,
        claim: Some(at),
    })
}

/// Returns the array and the index, if an expression is an element of a one-dimensional array at the current moment.
fn element(expr: &Expr) -> Option<(ArrayId, Expr)> {
    match &expr.kind {
        ExprKind::Convert(inner) => element(inner),
        ExprKind::Element(array, When::Here, index) => match &index[..] {
            [at] => Some((*array, spec::index(at))),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the array, the number of elements and the operation, if an expression is a total.
fn total(kernel: &Kernel, expr: &Expr) -> Option<(ArrayId, Expr, FoldOp)> {
    let ExprKind::Fold(fold) = &expr.kind else { return None };
    let (array, index) = element(&fold.body)?;
    let ty = kernel.arrays[array].element;
    let is_first = number(&fold.low) == Some(0) && spec::is_var(&index, fold.var);
    // A real number is made of a machine integer, not of one that is known modulo 2^bits.
    let is_converted = (fold.body.ty == Type::Float) != (ty == Type::Float);
    let is_total = is_first && !is_converted && has_totals(&fold.op, ty);
    is_total.then(|| (array, fold.high.clone(), fold.op.clone()))
}

/// Returns `true` if totals by an operation are supported. Integers are known modulo 2^bits alone, so of their
/// operations only the sum is.
pub(crate) fn has_totals(op: &FoldOp, ty: Type) -> bool {
    match op {
        FoldOp::Add => true,
        FoldOp::Max | FoldOp::Min => ty == Type::Float,
        _ => false,
    }
}

/// The loops of a kernel in source order, each with its place in the tree of statements.
pub(crate) fn loops(kernel: &Kernel) -> Vec<(Vec<usize>, &Loop)> {
    fn collect<'k>(
        statements: &'k [Stmt],
        place: &mut Vec<usize>,
        found: &mut Vec<(Vec<usize>, &'k Loop)>,
    ) {
        for (number, statement) in statements.iter().enumerate() {
            place.push(number);
            match statement {
                Stmt::If(_, then, otherwise) => {
                    for (branch, part) in [then, otherwise].into_iter().enumerate() {
                        place.push(branch);
                        collect(part, place, found);
                        place.pop();
                    }
                }
                Stmt::Loop(inner) => {
                    found.push((place.clone(), inner));
                    let parts = [&inner.head, &inner.body, &inner.step];
                    for (part, statements) in parts.into_iter().enumerate() {
                        place.push(part);
                        collect(statements, place, found);
                        place.pop();
                    }
                }
                _ => {}
            }
            place.pop();
        }
    }
    let mut found = Vec::new();
    collect(&kernel.body, &mut Vec::new(), &mut found);
    found
}
