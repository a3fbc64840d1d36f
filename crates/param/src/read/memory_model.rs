//! The model of memory as data: where objects are, what values are made of, and what pointers may point to.
//!
//! A struct is its scalars and pointers, and a pointer is one of finitely many targets, chosen by a tag, with an index for each
//! dimension.

use crate::kir::{ArrayId, Expr, VarId};
use cuda::tree;

/// What the elements of an array are in C.
#[derive(Clone, Debug)]
pub(super) struct ArrayInfo {
    /// What is left after each dimension.
    pub(super) chain: Vec<tree::Type>,
    /// Values of a table that never change, in order.
    pub(super) table: Option<Vec<Expr>>,
    /// Whether a pointer of the launch points to it.
    pub(super) of_launch: bool,
}

/// Where one scalar or pointer is.
#[derive(Clone, Debug)]
pub(super) enum Spot {
    Var(VarId),
    /// A pointer variable, by its number.
    Slot(usize),
    /// An element; if indices are missing, an array of them.
    Cell(ArrayId, Vec<Expr>),
    /// A value that has no place: a constant, or an argument of an annotation's function.
    Value(Expr),
    Pointer(Box<Pointer>),
}

/// Where the scalars and pointers of an object are.
pub(super) type Spots = Vec<Spot>;

/// An object.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) ty: tree::Type,
    /// Which of `choices` it is, if there are several.
    pub(super) tag: Option<Expr>,
    pub(super) choices: Vec<Spots>,
    /// The pointer that points to it, if it was reached through one.
    pub(super) origin: Option<Box<Pointer>>,
}

/// A scalar, pointer or array of a value.
#[derive(Clone, Debug)]
pub(super) enum Item {
    Scalar(Expr),
    Pointer(Pointer),
    /// A copy of an array, which nobody else knows.
    Copy(ArrayId),
}

/// A value: the scalars and pointers of its type, in order.
pub(super) type Value = Vec<Item>;

impl Place {
    pub(super) fn new(ty: &tree::Type, spots: Spots) -> Self {
        Place { ty: ty.clone(), tag: None, choices: vec![spots], origin: None }
    }
}

/// One scalar of what a pointer points to: element `i` has it at `stride·i + at` of the last dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TargetLeaf {
    pub(super) array: ArrayId,
    pub(super) stride: i128,
    pub(super) at: i128,
}

/// What a pointer may point to.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Target {
    Null,
    /// Elements of arrays.
    Elements {
        /// Their type.
        ty: tree::Type,
        leaves: Vec<TargetLeaf>,
        /// How many indices there are; the last one moves with the pointer.
        rank: usize,
        /// Sizes of the dimensions inside of the first, if the one index counts elements of all of them.
        inner: Vec<i128>,
        /// Whether it is a view of scalars as structs, with a first scalar (`Pointer::base`).
        is_view: bool,
        /// Whether it points to something that is in no array, so that it cannot move.
        is_pinned: bool,
    },
    /// A function, which can only be called.
    Function(tree::FunctionId),
    /// A variable of the thread, by its number.
    Object {
        /// Its type.
        ty: tree::Type,
        number: usize,
    },
}

/// A pointer.
#[derive(Clone, Debug)]
pub(super) struct Pointer {
    /// Where it may point to; nowhere if nothing was ever assigned to it.
    pub(super) targets: Vec<Target>,
    /// Which of them, if there are several.
    pub(super) tag: Option<Expr>,
    /// The first scalar of a view.
    pub(super) base: Option<Expr>,
    /// An index for each dimension.
    pub(super) index: Vec<Expr>,
}

impl Pointer {
    /// A pointer of which it is not known what it holds.
    pub(super) fn nothing() -> Self {
        Pointer { targets: Vec::new(), tag: None, base: None, index: Vec::new() }
    }

    pub(super) fn to(target: Target, index: Vec<Expr>) -> Self {
        Pointer { targets: vec![target], tag: None, base: None, index }
    }
}

/// A variable of pointer type.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub(super) name: String,
    pub(super) targets: Vec<Target>,
    pub(super) tag: Option<VarId>,
    pub(super) base: Option<VarId>,
    pub(super) index: Vec<VarId>,
    /// Whether it was looked at.
    pub(super) is_read: bool,
    /// Whether it is a parameter of the kernel, which has not moved when the launch begins.
    pub(super) of_launch: bool,
    /// Whether it was declared without a value.
    pub(super) is_unset: bool,
}
