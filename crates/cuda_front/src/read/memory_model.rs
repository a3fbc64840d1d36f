//! The memory model as data: places of objects, parts of values, and targets of pointers.
//!
//! A struct is its scalars and pointers, and a pointer is one of finitely many targets, chosen by a tag, with an
//! index for each dimension.

use cuda::tree;
use kir::{ArrayId, Expr, VarId};

/// The C types of an array's elements.
#[derive(Clone, Debug)]
pub(super) struct ArrayInfo {
    /// The type that remains after each dimension.
    pub(super) element_types: Vec<tree::Type>,
    /// Constant contents of a table, in order.
    pub(super) table: Option<Vec<Expr>>,
    /// Set if a pointer of the launch points to it.
    pub(super) of_launch: bool,
}

/// The place of one scalar or pointer.
#[derive(Clone, Debug)]
pub(super) enum Spot {
    Var(VarId),
    /// A pointer variable, by its number.
    Slot(usize),
    /// An element; if indices are missing, an array of them.
    Cell(ArrayId, Vec<Expr>),
    /// A value without a place: a constant, or an argument of an annotation's function.
    Value(Expr),
    Pointer(Box<Pointer>),
}

/// The places of an object's scalars and pointers.
pub(super) type Spots = Vec<Spot>;

/// An object.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) ty: tree::Type,
    /// Selects one of `choices`, if there are several.
    pub(super) tag: Option<Expr>,
    pub(super) choices: Vec<Spots>,
    /// The pointer through which it was reached, if any.
    pub(super) origin: Option<Box<Pointer>>,
}

/// A scalar, pointer or array of a value.
#[derive(Clone, Debug)]
pub(super) enum Item {
    Scalar(Expr),
    Pointer(Pointer),
    /// A copy of an array, without aliases.
    Copy(ArrayId),
}

/// A value: the scalars and pointers of its type, in order.
pub(super) type Value = Vec<Item>;

impl Place {
    pub(super) fn new(ty: &tree::Type, spots: Spots) -> Self {
        Place { ty: ty.clone(), tag: None, choices: vec![spots], origin: None }
    }
}

/// One scalar of a pointer's target: element `i` has it at `stride·i + at` of the last dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TargetLeaf {
    pub(super) array: ArrayId,
    pub(super) stride: i128,
    pub(super) at: i128,
}

/// A possible target of a pointer.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Target {
    Null,
    /// Elements of arrays.
    Elements {
        /// Their type.
        ty: tree::Type,
        leaves: Vec<TargetLeaf>,
        /// Number of indices; the last one moves with the pointer.
        rank: usize,
        /// Sizes of the dimensions inside the first, if the one index counts elements of all of them.
        inner: Vec<i128>,
        /// Set for a view of scalars as structs; then `Pointer::base` is the first scalar.
        is_view: bool,
        /// Set if it points to an object outside of arrays, so that it cannot move.
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
    /// Possible targets; empty if nothing was ever assigned to it.
    pub(super) targets: Vec<Target>,
    /// Selects one of them, if there are several.
    pub(super) tag: Option<Expr>,
    /// The first scalar of a view.
    pub(super) base: Option<Expr>,
    /// An index for each dimension.
    pub(super) index: Vec<Expr>,
}

impl Pointer {
    /// A pointer without known targets.
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
    /// Set if it was read.
    pub(super) is_read: bool,
    /// Set for a parameter of the kernel, which has not moved at the start of the launch.
    pub(super) of_launch: bool,
    /// Set if it was declared without a value.
    pub(super) is_unset: bool,
}
