//! A formula with resolved names: every expression has a type, every index a range.

use base::{IndexVec, Span};
use ir::{RealFunction, Rounding, Scalar};
use std::collections::BTreeSet;
use term::Number;

base::define_index! {
    /// An index of a definition or reduction.
    pub(crate) struct IndexId;
    /// A tensor or intermediate array.
    pub(crate) struct ArrayId;
}

/// The type of an expression. Integers have 64 bits, reals are exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Integer,
    Real,
    Truth,
}

/// A tensor or intermediate array.
#[derive(Clone, Debug)]
pub(crate) struct Array {
    pub(crate) name: String,
    pub(crate) scalar: Scalar,
    pub(crate) shape: Vec<u64>,
    pub(crate) origin: Origin,
    /// Known bounds of its elements.
    pub(crate) bounds: Option<(i128, i128)>,
}

/// The origin of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Has contents before anything is computed.
    Input,
    /// Defined by the formula; the kernel's own output is compared with it.
    Output,
    /// Defined for use in other definitions.
    Let,
}

/// An index and its bounds.
#[derive(Clone, Debug)]
pub(crate) struct IndexInfo {
    pub(crate) name: String,
    /// The least and the largest value that it ever has, if it has one.
    pub(crate) bounds: (i128, i128),
    /// Set if it takes all values between them at each of its uses.
    pub(crate) is_fixed: bool,
}

/// A definition of an array, element by element.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) array: ArrayId,
    /// One for each dimension of the array; none for a single number.
    pub(crate) indices: Vec<IndexId>,
    pub(crate) value: Node,
    pub(crate) span: Span,
}

/// A whole formula.
#[derive(Debug, Default)]
pub(crate) struct Typed {
    pub(crate) arrays: IndexVec<ArrayId, Array>,
    pub(crate) indices: IndexVec<IndexId, IndexInfo>,
    /// Names and types of scalar parameters.
    pub(crate) scalars: Vec<(String, Scalar)>,
    /// In the order in which they are computed.
    pub(crate) steps: Vec<Step>,
}

impl Typed {
    /// Appends a suffix to the names of intermediate arrays.
    pub(crate) fn add_suffix(&mut self, suffix: &str) {
        let inner = self.arrays.iter_mut().filter(|array| array.origin == Origin::Let);
        inner.for_each(|array| array.name.push_str(suffix));
    }

    /// Drops intermediate arrays that nothing reads; they were checked for mistakes before.
    pub(crate) fn drop_unused(&mut self) {
        let mut used = BTreeSet::new();
        let mut kept = Vec::new();
        for step in std::mem::take(&mut self.steps).into_iter().rev() {
            let is_let = self.arrays[step.array].origin == Origin::Let;
            if is_let && !used.contains(&step.array) {
                continue;
            }
            step.value.collect_arrays(&mut used);
            kept.push(step);
        }
        kept.reverse();
        self.steps = kept;
    }
}

/// An expression.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) kind: NodeKind,
    pub(crate) ty: Type,
    /// Set if it depends on contents of tensors or on scalars of any value. Otherwise it depends on indices alone.
    pub(crate) is_data: bool,
    pub(crate) span: Span,
}

#[derive(Clone, Debug)]
pub(crate) enum NodeKind {
    Number(Number),
    Infinity,
    /// A float of a format, by its bits.
    Float(ir::Format, u64),
    /// An irrational constant.
    Constant(Constant),
    Index(IndexId),
    /// A scalar parameter, by its position.
    Scalar(usize),
    Element {
        array: ArrayId,
        indices: Vec<Node>,
        outside: Option<Box<Node>>,
    },
    /// An integer as a real.
    ToReal(Box<Node>),
    Negate(Box<Node>),
    Not(Box<Node>),
    Arithmetic(Arithmetic, Box<Node>, Box<Node>),
    /// A power with a literal exponent.
    Power(Box<Node>, Number),
    /// An integer to a power that depends on indices alone and is not negative.
    IntegerPower(Box<Node>, Box<Node>),
    Compare(ir::Relation, Box<Node>, Box<Node>),
    And(Box<Node>, Box<Node>),
    Or(Box<Node>, Box<Node>),
    Function(Function, Vec<Node>),
    If {
        condition: Box<Node>,
        value: Box<Node>,
        otherwise: Box<Node>,
    },
    Reduce(Box<Reduce>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Constant {
    Pi,
    E,
    Log2E,
    Ln2,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    /// Division of reals.
    Divide,
    /// Division of integers, rounded down.
    FloorDivide,
    /// Remainder of integers, with the sign of the divisor.
    Remainder,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    Sqrt,
    ReciprocalSqrt,
    Abs,
    Sign,
    Sigmoid,
    Relu,
    Max,
    Min,
    Clamp,
    /// To an integer.
    Round(Rounding),
    Real(RealFunction),
}

/// A sum or another reduction over indices.
#[derive(Clone, Debug)]
pub(crate) struct Reduce {
    pub(crate) reduction: Reduction,
    pub(crate) ranges: Vec<Range>,
    /// Elements for which it is false are skipped.
    pub(crate) filter: Option<Node>,
    pub(crate) body: Node,
}

/// An index that runs from `low` to before `high`.
#[derive(Clone, Debug)]
pub(crate) struct Range {
    pub(crate) index: IndexId,
    pub(crate) low: Node,
    pub(crate) high: Node,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reduction {
    Sum,
    Product,
    Max,
    Min,
    Mean,
    Count,
    Any,
    All,
    ArgMax,
    ArgMin,
}

impl Reduction {
    pub(crate) const ALL: [(&'static str, Self); 10] = [
        ("sum", Self::Sum),
        ("prod", Self::Product),
        ("max", Self::Max),
        ("min", Self::Min),
        ("mean", Self::Mean),
        ("count", Self::Count),
        ("any", Self::Any),
        ("all", Self::All),
        ("argmax", Self::ArgMax),
        ("argmin", Self::ArgMin),
    ];

    /// Returns the function's spelling.
    pub(crate) fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, one)| *one == self).map_or("", |(name, _)| name)
    }
}

/// Visits the operands of a node: `iter` by shared reference, `iter_mut` by mutable reference.
macro_rules! each_operand {
    (@body iter $reduce:ident, $visit:ident) => {
        $visit(&$reduce.body)
    };
    (@body iter_mut $reduce:ident, $visit:ident) => {
        $visit(&mut $reduce.body)
    };
    ($kind:expr, $visit:ident, $iter:ident) => {
        match $kind {
            NodeKind::Number(_)
            | NodeKind::Infinity
            | NodeKind::Float(..)
            | NodeKind::Constant(_)
            | NodeKind::Index(_)
            | NodeKind::Scalar(_) => {}
            NodeKind::Element { indices, outside, .. } => {
                indices.$iter().for_each(&mut *$visit);
                outside.$iter().for_each(|one| $visit(one));
            }
            NodeKind::ToReal(a)
            | NodeKind::Negate(a)
            | NodeKind::Not(a)
            | NodeKind::Power(a, _) => $visit(a),
            NodeKind::Arithmetic(_, a, b)
            | NodeKind::IntegerPower(a, b)
            | NodeKind::Compare(_, a, b)
            | NodeKind::And(a, b)
            | NodeKind::Or(a, b) => [a, b].into_iter().for_each(|one| $visit(one)),
            NodeKind::Function(_, arguments) => arguments.$iter().for_each($visit),
            NodeKind::If { condition, value, otherwise } => {
                [condition, value, otherwise].into_iter().for_each(|one| $visit(one));
            }
            NodeKind::Reduce(reduce) => {
                for range in reduce.ranges.$iter() {
                    let Range { low, high, .. } = range;
                    [low, high].into_iter().for_each(|one| $visit(one));
                }
                reduce.filter.$iter().for_each(&mut *$visit);
                each_operand!(@body $iter reduce, $visit);
            }
        }
    };
}

impl Node {
    /// Builds a literal integer.
    pub(crate) fn integer(value: i128, span: Span) -> Self {
        let number = i64::try_from(value).map(Number::from);
        let number = number.unwrap_or_else(|_| {
            let (high, low) = (value.div_euclid(1 << 32), value.rem_euclid(1 << 32));
            let part = |part: i128| Number::from(i64::try_from(part).unwrap_or(0));
            &(&part(high) * &part(1 << 32)) + &part(low)
        });
        Self { kind: NodeKind::Number(number), ty: Type::Integer, is_data: false, span }
    }

    /// Returns the number, if the node is a literal.
    pub(crate) fn number(&self) -> Option<&Number> {
        match &self.kind {
            NodeKind::Number(number) => Some(number),
            NodeKind::ToReal(inner) => inner.number(),
            _ => None,
        }
    }

    /// Calls `visit` for each operand.
    pub(crate) fn each_child<'n>(&'n self, visit: &mut dyn FnMut(&'n Self)) {
        each_operand!(&self.kind, visit, iter);
    }

    /// Calls `visit` for each operand, to change it.
    pub(crate) fn each_child_mut(&mut self, visit: &mut dyn FnMut(&mut Self)) {
        each_operand!(&mut self.kind, visit, iter_mut);
    }

    fn collect_arrays(&self, found: &mut BTreeSet<ArrayId>) {
        if let NodeKind::Element { array, .. } = self.kind {
            found.insert(array);
        }
        self.each_child(&mut |inner| inner.collect_arrays(found));
    }

    /// Returns the indices of the definition and of enclosing reductions that it depends on.
    pub(crate) fn free_indices(&self) -> BTreeSet<IndexId> {
        let mut found = BTreeSet::new();
        self.collect_free(&mut found);
        found
    }

    fn collect_free(&self, found: &mut BTreeSet<IndexId>) {
        if let NodeKind::Index(index) = self.kind {
            found.insert(index);
        }
        self.each_child(&mut |inner| inner.collect_free(found));
        if let NodeKind::Reduce(reduce) = &self.kind {
            // Each index has its own number, so none of these was present before.
            reduce.ranges.iter().for_each(|range| _ = found.remove(&range.index));
        }
    }

    /// Splits a conjunction into conditions on indices alone (*decided*: a run knows them), and those on data
    /// (*open*).
    pub(crate) fn conjuncts(&self) -> (Vec<&Self>, Vec<&Self>) {
        let (mut decided, mut open, mut work) = (Vec::new(), Vec::new(), vec![self]);
        while let Some(node) = work.pop() {
            match &node.kind {
                NodeKind::And(a, b) => work.extend([&**b, &**a]),
                _ if node.is_data => open.push(node),
                _ => decided.push(node),
            }
        }
        (decided, open)
    }
}
