//! What annotations are made of, beside what a kernel computes with.

use super::{Expr, Stmt, VarId};
use base::Span;
use std::sync::Arc;

/// At what moment an annotation looks at an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Where the annotation stands; at the end of the launch for a postcondition.
    Here,
    /// Before the launch: `\old(a[i])`.
    Before,
    /// Before the loop that the annotation belongs to: `\at(a[i], LoopEntry)`.
    LoopEntry,
}

/// For how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "they are what they are called")]
pub enum Quantifier {
    Forall,
    Exists,
}

/// What a fold combines with.
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
    /// A `__device__` function that a clause says is a monoid, by its place in [`Kernel::monoids`](super::Kernel::monoids).
    Monoid(usize),
}

/// `body` for all integers `low ≤ var < high`, in ascending order, combined; the unit of `op` if there are none.
#[derive(Clone, Debug)]
pub struct Fold {
    /// How.
    pub op: FoldOp,
    /// The variable, of [`Type::Whole`](super::Type::Whole).
    pub var: VarId,
    /// The first value.
    pub low: Expr,
    /// The value after the last.
    pub high: Expr,
    /// What is combined.
    pub body: Expr,
    /// The monoid, if it is one of the file's.
    pub monoid: Option<Arc<Monoid>>,
}

/// What an annotation says holds.
///
/// Equations (`==`, `!=`) with an element of integer type are equations of that type, so modulo 2^bits: `x[i] == \sum(…)` claims that
/// what is stored is what the machine's additions give.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Variables that stand for all integers.
    pub forall: Vec<VarId>,
    /// What holds.
    pub condition: Expr,
    /// Where the clause is.
    pub span: Span,
}

/// A statement about integers that annotations may use once it is proved.
#[derive(Clone, Debug)]
pub struct Lemma {
    /// Its name.
    pub name: String,
    /// Variables that stand for all integers.
    pub forall: Vec<VarId>,
    /// The one that induction is over, from 0 upwards.
    pub induction: Option<VarId>,
    /// What holds.
    pub condition: Expr,
    /// Where the clause is.
    pub span: Span,
}

/// A `__device__` function of two values that a clause says is associative, with a unit.
#[derive(Clone, Debug)]
pub struct Monoid {
    /// Its name.
    pub name: String,
    /// Its parameters.
    pub parameters: [VarId; 2],
    /// What it returns.
    pub result: Expr,
    /// Its unit.
    pub unit: Expr,
    /// Whether the clause says that it is commutative.
    pub commutative: bool,
    /// Where the clause is.
    pub span: Span,
}

/// A clause that was read and that nothing follows: whatever it claims is open.
#[derive(Clone, Debug)]
pub struct Unfollowed {
    /// Whether it is a postcondition, or else an invariant.
    pub is_postcondition: bool,
    /// Where it is.
    pub span: Span,
    /// What about it is not followed.
    pub why: String,
}

/// What the contract of a function says where it is called.
#[derive(Clone, Debug)]
pub struct Given {
    /// The function.
    pub name: String,
    /// What holds when all threads of the block are at the end.
    pub claims: Vec<Claim>,
    /// Its scalar parameters, and where its pointers point, as they were at first: the same for all threads.
    pub parameters: Vec<VarId>,
    /// Which axes of a block the function or its contract looks at: others must be 1.
    pub axes: [bool; 3],
    /// Where it is called.
    pub span: Span,
}

/// The contract of a function that is used where the function is called, and must be shown by itself.
#[derive(Clone, Debug)]
pub struct Contract {
    /// The function.
    pub name: String,
    /// The function as a kernel of one block.
    pub kernel: Arc<super::Kernel>,
    /// Where its name is written.
    pub span: Span,
    /// What calls must show first.
    pub relies: Vec<Span>,
}

/// Elements of an array that the contract allows to be read, or written.
#[derive(Clone, Debug)]
pub struct Footprint {
    /// Whether they may be written, or else read.
    pub writes: bool,
    /// Which array.
    pub array: super::ArrayId,
    /// The first of them.
    pub low: Expr,
    /// The last of them.
    pub high: Expr,
    /// Where the clause is.
    pub span: Span,
}

/// What is claimed at barriers among these statements, at any depth.
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

/// Where the lemmas are that these statements use, at any depth.
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

/// Takes out what is claimed at barriers and elsewhere and used without being shown.
pub(crate) fn drop_claims(statements: &mut Vec<Stmt>) {
    let shown = |one: &Stmt| !matches!(one, Stmt::Claims(_) | Stmt::Given(_) | Stmt::Used(..));
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
