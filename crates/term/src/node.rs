//! Handles of terms: a node, or a prefix of an append-only sum.

use crate::Input;

/// A term of a [`Terms`](crate::Terms) store; meaningless in any other.
///
/// A term is either a node or the first `sum_length` products of a list that may since have grown.
/// Copying one is free, and appending to a sum never changes the terms already handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Term {
    /// A [`NodeId`] if `sum_length` is 0, else the number of a list.
    pub(crate) id: u32,
    pub(crate) sum_length: u32,
}

impl Term {
    /// Number of products of a sum; 0 for anything else.
    #[must_use]
    #[inline]
    pub fn products(self) -> u32 {
        self.sum_length
    }

    /// Returns `true` if it is the sum `shorter` with one product more, in the same list.
    #[must_use]
    #[inline]
    pub fn is_grown_from(self, shorter: Self) -> bool {
        shorter.sum_length != 0
            && self.id == shorter.id
            && self.sum_length == shorter.sum_length + 1
    }

    /// Returns `true` if it is an equally long sum in the list `count` places after that of `first`.
    #[must_use]
    #[inline]
    pub fn is_sum_after(self, first: Self, count: u32) -> bool {
        first.sum_length != 0 && self.sum_length == first.sum_length && self.id == first.id + count
    }

    /// Returns the equally long sum in the list `count` places after this one's.
    #[must_use]
    #[inline]
    pub fn sum_after(self, count: u32) -> Self {
        Self { id: self.id + count, sum_length: self.sum_length }
    }

    /// Returns the sum with `count` more products, which its list must have by now.
    #[must_use]
    #[inline]
    pub fn grown(self, count: u32) -> Self {
        Self { id: self.id, sum_length: self.sum_length + count }
    }
}

/// A term that fits in 31 bits: the operands of nodes and products.
///
/// Children have smaller numbers than their parents, so ascending order is an evaluation order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub(crate) u32);

impl NodeId {
    /// Position in tables indexed by node.
    #[must_use]
    pub fn position(self) -> usize {
        self.0 as usize
    }
}

impl From<NodeId> for Term {
    fn from(node: NodeId) -> Self {
        Self { id: node.0, sum_length: 0 }
    }
}

/// A list of products, growing at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ListId(pub(crate) u32);

/// The first `length` products of a list, added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sum {
    /// The list.
    pub list: ListId,
    /// Number of its products that belong to this sum; at least 1.
    pub length: u32,
}

/// An interned exact constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConstantId(pub(crate) u32);

/// A summand `± left · right`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Factors {
    /// Bit 31 is the sign, so that subtracting needs no node.
    left: u32,
    right: u32,
}

const SIGN: u32 = 1 << 31;

impl Factors {
    pub(crate) const fn new(negative: bool, left: NodeId, right: NodeId) -> Self {
        Self { left: left.0 | if negative { SIGN } else { 0 }, right: right.0 }
    }

    /// Not a product: the slot that links a run of a list to the next one.
    pub(crate) const fn link(run: u32) -> Self {
        Self { left: run, right: 0 }
    }

    /// Returns the run that a link leads to.
    pub(crate) const fn linked(self) -> u32 {
        self.left
    }

    /// Returns `true` if the product is subtracted.
    #[must_use]
    pub const fn is_negative(self) -> bool {
        self.left & SIGN != 0
    }

    /// Returns the first factor.
    #[must_use]
    pub const fn left(self) -> NodeId {
        NodeId(self.left & !SIGN)
    }

    /// Returns the second factor.
    #[must_use]
    pub const fn right(self) -> NodeId {
        NodeId(self.right)
    }
}

/// A comparison of two reals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Relation {
    /// `<`
    Less,
    /// `≤`
    LessEqual,
    /// `=`
    Equal,
}

/// A function known by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Function {
    /// Hyperbolic tangent.
    Tanh,
    /// The error function.
    Erf,
    /// Sine.
    Sin,
    /// Cosine.
    Cos,
    /// Arc tangent.
    Atan,
    /// Real cube root, defined everywhere (unlike the power 1/3).
    Cbrt,
    /// Largest integer not above.
    Floor,
    /// Smallest integer not below.
    Ceil,
    /// Towards zero.
    Trunc,
    /// To nearest, ties to even.
    Round,
    /// The argument, an integer that was converted to a float. A machine may round it. So a comparison of the float is
    /// another condition than the same comparison of the integer, and says nothing exact about the integer.
    Rounded,
    /// The element of a tensor whose index is the argument: the free variable that many places after this one, the
    /// first. The argument must be an integer below the number of elements for all inputs; elsewhere nothing is
    /// claimed.
    Element(Input),
    /// An uninterpreted function: equal arguments give equal values, and nothing else is known. The number is the
    /// store's own; see [`Terms::named_functions`](crate::Terms::named_functions).
    Named(u16),
}

impl Function {
    /// The functions with a meaning of their own, and their notation.
    pub const KNOWN: [(Self, &'static str); 10] = [
        (Self::Tanh, "tanh"),
        (Self::Erf, "erf"),
        (Self::Sin, "sin"),
        (Self::Cos, "cos"),
        (Self::Atan, "atan"),
        (Self::Cbrt, "cbrt"),
        (Self::Floor, "floor"),
        (Self::Ceil, "ceil"),
        (Self::Trunc, "trunc"),
        (Self::Round, "round"),
    ];
}

/// An operation of a term, with its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// A free variable, finite.
    Input(Input),
    /// An exact rational.
    Constant(ConstantId),
    /// π.
    Pi,
    /// +∞ or −∞, which only constants produce.
    Infinity {
        /// −∞.
        negative: bool,
    },
    /// The result of an operation that is defined nowhere: 1/0, ∞−∞, 0·∞, log 0.
    Undefined,
    /// A sum of products.
    Sum(Sum),
    /// `a · b`
    Product(NodeId, NodeId),
    /// `−a`
    Negation(NodeId),
    /// `a / b`, defined where `b ≠ 0`.
    Quotient(NodeId, NodeId),
    /// `a^q`. For integers: defined where `a ≠ 0` if `q < 0`. For other rationals: where `a ≥ 0`,
    /// and `a > 0` if `q < 0`.
    Power(NodeId, ConstantId),
    /// `e^a`
    Exp(NodeId),
    /// Natural logarithm, defined where `a > 0`.
    Log(NodeId),
    /// The larger.
    Maximum(NodeId, NodeId),
    /// The smaller.
    Minimum(NodeId, NodeId),
    /// `|a|`
    Absolute(NodeId),
    /// The second operand where the first one, a condition, holds; else the third. The one not taken need not
    /// be defined.
    Select(NodeId, NodeId, NodeId),
    /// A named function.
    Apply(Function, NodeId),
    /// A constant condition.
    Truth(bool),
    /// A comparison of reals.
    Compare(Relation, NodeId, NodeId),
    /// A negated condition.
    Not(NodeId),
    /// Both conditions.
    And(NodeId, NodeId),
    /// Either condition.
    Or(NodeId, NodeId),
}

impl Node {
    /// Returns the nodes this one refers to directly; a [`Node::Sum`] reports none, its list has them.
    pub fn children(self) -> impl Iterator<Item = NodeId> {
        let slots = match self {
            Self::Input(_)
            | Self::Constant(_)
            | Self::Pi
            | Self::Infinity { .. }
            | Self::Undefined
            | Self::Truth(_)
            | Self::Sum(_) => [None, None, None],
            Self::Negation(a)
            | Self::Power(a, _)
            | Self::Exp(a)
            | Self::Log(a)
            | Self::Absolute(a)
            | Self::Apply(_, a)
            | Self::Not(a) => [Some(a), None, None],
            Self::Product(a, b)
            | Self::Quotient(a, b)
            | Self::Maximum(a, b)
            | Self::Minimum(a, b)
            | Self::Compare(_, a, b)
            | Self::And(a, b)
            | Self::Or(a, b) => [Some(a), Some(b), None],
            Self::Select(a, b, c) => [Some(a), Some(b), Some(c)],
        };
        slots.into_iter().flatten()
    }
}
