//! The parts of kernel IR that only annotations use: claims, quantifiers, folds, and the moments at which they read
//! arrays.

use crate::{Expr, Stmt, VarId};
use base::Span;
use std::sync::Arc;

/// The point of the run at which an annotation reads an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// At the annotation; at the end of the launch for a postcondition.
    Here,
    /// Before the launch: `\old(a[i])`.
    Before,
    /// Before the loop that the annotation belongs to: `\at(a[i], LoopEntry)`.
    LoopEntry,
}

/// The kind of a quantifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "they are what they are called")]
pub enum Quantifier {
    Forall,
    Exists,
}

/// The operation of a fold.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "they are what they are called")]
pub enum FoldOp {
    Add,
    Mul,
    Max,
    Min,
    Or,
    And,
    Xor,
    /// A `__device__` function that a clause declares to be a monoid, by its position in
    /// [`Kernel::monoids`](crate::Kernel::monoids).
    Monoid(usize),
}

/// `body` for all integers `low ≤ var < high`, in ascending order, combined; the unit of `op` if there are none.
#[derive(Clone, Debug)]
pub struct Fold {
    /// The operation.
    pub op: FoldOp,
    /// The variable, of [`Type::Whole`](crate::Type::Whole).
    pub var: VarId,
    /// The first value.
    pub low: Expr,
    /// The value after the last.
    pub high: Expr,
    /// The combined value.
    pub body: Expr,
    /// The monoid, if it is one of the file's.
    pub monoid: Option<Arc<Monoid>>,
}

/// A claim of an annotation.
///
/// Equations (`==`, `!=`) with an element of integer type are equations of that type, so modulo 2^bits: `x[i] ==
/// \sum(…)` claims that the stored value is the result of the machine's additions.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Variables that stand for all integers.
    pub forall: Vec<VarId>,
    /// The condition.
    pub condition: Expr,
    /// Span of the clause.
    pub span: Span,
}

/// A statement about integers that annotations may use once it is proved.
#[derive(Clone, Debug)]
pub struct Lemma {
    /// Its name.
    pub name: String,
    /// Variables that stand for all integers.
    pub forall: Vec<VarId>,
    /// The induction variable, from 0 upwards.
    pub induction: Option<VarId>,
    /// The statement.
    pub condition: Expr,
    /// Span of the clause.
    pub span: Span,
}

/// A `__device__` function of two values that a clause declares associative, with a unit.
#[derive(Clone, Debug)]
pub struct Monoid {
    /// Its name.
    pub name: String,
    /// Its parameters.
    pub parameters: [VarId; 2],
    /// Its result.
    pub result: Expr,
    /// Its unit.
    pub unit: Expr,
    /// Set if the clause declares it commutative.
    pub commutative: bool,
    /// Span of the clause.
    pub span: Span,
}

/// An unsupported clause: its claim is open.
#[derive(Clone, Debug)]
pub struct Unfollowed {
    /// Set for a postcondition; otherwise it is an invariant.
    pub is_postcondition: bool,
    /// Span of the clause.
    pub span: Span,
    /// The unsupported part.
    pub why: String,
}

/// The contract of a function at a call.
#[derive(Clone, Debug)]
pub struct CallContract {
    /// The function.
    pub name: String,
    /// The claims that hold when all threads of the block have reached the end of the function.
    pub claims: Vec<Claim>,
    /// Its scalar parameters and initial pointer targets, which must be equal in all threads.
    pub parameters: Vec<VarId>,
    /// Axes of a block that the function or its contract uses; the others must be 1.
    pub axes: [bool; 3],
    /// Span of the call.
    pub span: Span,
}

/// The contract of a function that is assumed at its calls, and must be proved on its own.
#[derive(Clone, Debug)]
pub struct Contract {
    /// The function.
    pub name: String,
    /// The function as a kernel of one block.
    pub kernel: Arc<crate::Kernel>,
    /// Span of its name.
    pub span: Span,
    /// Spans of the preconditions, which each call must prove.
    pub relies: Vec<Span>,
}

/// Elements of an array that the contract allows to be read, or written.
#[derive(Clone, Debug)]
pub struct Footprint {
    /// Set if they may be written; otherwise they may be read.
    pub writes: bool,
    /// The array.
    pub array: crate::ArrayId,
    /// The first of them.
    pub low: Expr,
    /// The last of them.
    pub high: Expr,
    /// Span of the clause.
    pub span: Span,
}

/// The claims at barriers among these statements, at any depth.
#[must_use]
pub fn barrier_claims(statements: &[Stmt]) -> Vec<&Claim> {
    let mut found = Vec::new();
    for statement in statements {
        match statement {
            Stmt::Claims(claims) => found.extend(claims),
            Stmt::If(_, then, otherwise) => {
                found.extend(barrier_claims(then));
                found.extend(barrier_claims(otherwise));
            }
            Stmt::Loop(inner) => {
                for part in [&inner.head, &inner.body, &inner.step] {
                    found.extend(barrier_claims(part));
                }
            }
            _ => {}
        }
    }
    found
}

/// The places of the lemmas that these statements use, at any depth.
#[must_use]
pub fn used_lemmas(statements: &[Stmt]) -> Vec<Span> {
    let mut found = Vec::new();
    for statement in statements {
        match statement {
            Stmt::Used(_, span) => found.push(*span),
            Stmt::If(_, then, otherwise) => {
                found.extend(used_lemmas(then));
                found.extend(used_lemmas(otherwise));
            }
            Stmt::Loop(inner) => {
                for part in [&inner.head, &inner.body, &inner.step] {
                    found.extend(used_lemmas(part));
                }
            }
            _ => {}
        }
    }
    found
}

/// Removes claims at barriers and other facts that are used without proof.
pub fn drop_claims(statements: &mut Vec<Stmt>) {
    let shown =
        |statement: &Stmt| !matches!(statement, Stmt::Claims(_) | Stmt::Given(_) | Stmt::Used(..));
    statements.retain(shown);
    for statement in statements {
        match statement {
            Stmt::If(_, then, otherwise) => {
                drop_claims(then);
                drop_claims(otherwise);
            }
            Stmt::Loop(inner) => {
                for part in [&mut inner.head, &mut inner.body, &mut inner.step] {
                    drop_claims(part);
                }
            }
            _ => {}
        }
    }
}
