//! Register values as a graph of expressions, hash-consed: equal computations are one node, whatever their registers
//! and order.
//!
//! A value is an [`Edge`]: a node, negated or not. Negated means the sign bit flipped for floats and the opposite for
//! predicates. The sign of a product or sum is kept outside as far as possible, so that `-(a·b)` and `(-a)·b` are one
//! node. Subtraction is a sum, `or` of predicates an `and`, and only `<` and `=` compare. NaN and infinities are
//! ignored: `setp.ltu` and `setp.lt` are one comparison, and a test for NaN or infinity is false. So are `.ftz` and
//! `.approx`.

use ir::{
    ArgumentRange, FloatBinary, FloatUnary, Format, IntBinary, IntTernary, IntUnary, RealFunction,
    Rounding, Scalar, Width,
};
use rustc_hash::FxHashMap;
use std::fmt;

/// A node of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NodeId(pub(crate) u32);

/// A value: a node, negated or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Edge(u32);

impl Edge {
    pub(crate) const fn new(node: NodeId, negated: bool) -> Self {
        Self(node.0 << 1 | negated as u32)
    }

    pub(crate) const fn node(self) -> NodeId {
        NodeId(self.0 >> 1)
    }

    pub(crate) const fn is_negated(self) -> bool {
        self.0 & 1 == 1
    }

    /// Negates once more if `negate`.
    pub(crate) const fn flipped(self, negate: bool) -> Self {
        Self(self.0 ^ negate as u32)
    }

    /// Returns the value of the node, not negated.
    const fn positive(self) -> Self {
        Self(self.0 & !1)
    }
}

/// An operation without its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Code {
    Add(Format, Rounding),
    Mul(Format, Rounding),
    Fma(Format, Rounding),
    Float1(FloatUnary, Format, Rounding),
    Float2(FloatBinary, Format),
    /// `a < b`
    Less(Format),
    /// `a = b`
    Equal(Format),
    Convert {
        from: Scalar,
        to: Scalar,
        rounding: Rounding,
        saturate: bool,
    },
    /// Operands: the condition, the value if it holds, the value if not.
    Select,
    Int1(IntUnary, Width),
    Int2(IntBinary, Width),
    Int3(IntTernary, Width),
    IntLess {
        signed: bool,
        width: Width,
    },
    IntEqual(Width),
    Insert(Width),
    Resize {
        from: Width,
        signed: bool,
        to: Width,
    },
    Concat(u8),
    /// Part `.0` of `.1` equal parts.
    Part(u8, u8),
    /// A function recognised earlier.
    Real(RealFunction, Format, Option<ArgumentRange>),
}

/// Up to four operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Operands {
    edges: [Edge; 4],
    count: u8,
}

impl Operands {
    pub(crate) fn new(operands: &[Edge]) -> Option<Self> {
        let mut edges = [Edge(0); 4];
        edges.get_mut(..operands.len())?.copy_from_slice(operands);
        Some(Self { edges, count: operands.len() as u8 })
    }

    pub(crate) fn as_slice(&self) -> &[Edge] {
        &self.edges[..usize::from(self.count)]
    }
}

/// The content of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Node {
    /// An opaque value; the number distinguishes it from others.
    Opaque(u32),
    /// A constant; its magnitude where it is used as a float.
    Bits(u64),
    /// An operation.
    Op(Code, Operands),
}

/// A set of hash-consed nodes.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    nodes: Vec<Node>,
    ids: FxHashMap<Node, NodeId>,
    /// Number of opaque values.
    opaque: u32,
}

impl Graph {
    pub(crate) fn node(&self, id: NodeId) -> Node {
        self.nodes[id.0 as usize]
    }

    /// Returns all nodes.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = Node> {
        self.nodes.iter().copied()
    }

    /// Returns all constants.
    pub(crate) fn constants(&self) -> impl Iterator<Item = u64> {
        self.nodes().filter_map(|node| match node {
            Node::Bits(bits) => Some(bits),
            _ => None,
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    fn intern(&mut self, node: Node) -> NodeId {
        let next = NodeId(self.nodes.len() as u32);
        let id = *self.ids.entry(node).or_insert(next);
        if id == next {
            self.nodes.push(node);
        }
        id
    }

    /// Creates an opaque value, different from all others.
    pub(crate) fn opaque(&mut self) -> Edge {
        self.opaque += 1;
        Edge::new(self.intern(Node::Opaque(self.opaque)), false)
    }

    /// Returns a constant.
    pub(crate) fn bits(&mut self, bits: u64) -> Edge {
        Edge::new(self.intern(Node::Bits(bits)), false)
    }

    /// Moves the sign of a constant out of the node; other values stay.
    fn as_float(&mut self, edge: Edge, format: Format) -> Edge {
        let sign = 1 << (format.width().bits() - 1);
        match self.node(edge.node()) {
            Node::Bits(bits) if bits & sign != 0 => {
                self.bits(bits ^ sign).flipped(!edge.is_negated())
            }
            _ => edge,
        }
    }

    /// Looks up an operation without creating it; signs stay as they are.
    pub(crate) fn find_op(&self, code: Code, operands: &[Edge]) -> Option<Edge> {
        let node = Node::Op(code, Operands::new(operands)?);
        self.ids.get(&node).map(|&id| Edge::new(id, false))
    }

    /// Builds an operation; `None` if it has too many operands.
    pub(crate) fn op(&mut self, code: Code, operands: &[Edge]) -> Option<Edge> {
        let mut edges = [Edge(0); 4];
        let edges = edges.get_mut(..operands.len())?;
        edges.copy_from_slice(operands);
        if let Some(format) = code.format() {
            for edge in edges.iter_mut() {
                *edge = self.as_float(*edge, format);
            }
        }
        match self.fold_constants(code, edges) {
            Some(edge) => Some(edge),
            None => self.normal(code, edges),
        }
    }

    /// Normalises signs and operand order, then interns the operation.
    fn normal(&mut self, code: Code, edges: &mut [Edge]) -> Option<Edge> {
        if let Some(simpler) = self.simplified(code, edges) {
            return Some(simpler);
        }
        order_operands(code, edges);
        let negate = move_signs(code, edges);
        let operands = Operands::new(edges)?;
        Some(Edge::new(self.intern(Node::Op(code, operands)), negate))
    }

    /// Returns the value of an operation that has a simpler form.
    fn simplified(&mut self, code: Code, edges: &[Edge]) -> Option<Edge> {
        match (code, edges) {
            // One of the factors is 1.
            (Code::Fma(format, rounding), &[a, b, c]) => {
                let other = self.factor(a, b, format)?;
                self.op(Code::Add(format, rounding), &[other, c])
            }
            // Flipped bits that do not include the sign: |x ^ m| = |x| ^ m.
            (Code::Float1(FloatUnary::Abs, Format::F32, _), &[a]) => {
                let (number, bits) = self.flipped_bits(a)?;
                let magnitude = self.op(code, &[number])?;
                self.op(Code::Int2(IntBinary::Xor, Width::B32), &[magnitude, bits])
            }
            (Code::Select, &[_, a, b]) if a == b => Some(a),
            (Code::Select, &[condition, a, b]) => {
                self.truth(condition).map(|holds| if holds { a } else { b })
            }
            (Code::Int2(IntBinary::And, Width::B1), &[a, b]) => {
                match (self.truth(a), self.truth(b)) {
                    (Some(true), _) | (None, Some(false)) => Some(b),
                    (Some(false), _) | (None, Some(true)) => Some(a),
                    (None, None) => None,
                }
            }
            (Code::Less(format) | Code::Equal(format), &[a, b])
                if self.is_infinite(a, format) || self.is_infinite(b, format) =>
            {
                self.compare_with_infinity(code, format, [a, b])
            }
            (Code::Int2(op, width), &[a, b]) => match self.sign_flip(op, width, [a, b]) {
                Some(sign) => Some(sign),
                None => self.magnitude(op, width, [a, b]),
            },
            _ => None,
        }
    }

    /// Returns the other factor of a product with ±1.
    fn factor(&self, a: Edge, b: Edge, format: Format) -> Option<Edge> {
        let one = match format {
            Format::F64 => 1f64.to_bits(),
            Format::F32 => 1f32.to_bits().into(),
            _ => return None,
        };
        let is_one = |edge: Edge| self.node(edge.node()) == Node::Bits(one);
        match (is_one(a), is_one(b)) {
            (true, _) => Some(b.flipped(a.is_negated())),
            (false, true) => Some(a.flipped(b.is_negated())),
            (false, false) => None,
        }
    }

    /// Returns the truth of a constant condition.
    pub(crate) fn truth(&self, condition: Edge) -> Option<bool> {
        match self.node(condition.node()) {
            Node::Bits(bits) => Some((bits & 1 == 1) != condition.is_negated()),
            _ => None,
        }
    }

    fn is_infinite(&self, edge: Edge, format: Format) -> bool {
        let infinity = match format {
            Format::F64 => f64::INFINITY.to_bits(),
            Format::F32 => f32::INFINITY.to_bits().into(),
            _ => return false,
        };
        self.node(edge.node()) == Node::Bits(infinity)
    }

    /// Folds a comparison with infinity: no other value is infinite, and none is beyond.
    fn compare_with_infinity(
        &mut self,
        code: Code,
        format: Format,
        [a, b]: [Edge; 2],
    ) -> Option<Edge> {
        let holds = match code {
            // Below +∞ or above −∞.
            Code::Less(_) if self.is_infinite(b, format) => !b.is_negated(),
            Code::Less(_) => a.is_negated(),
            _ => a == b,
        };
        Some(self.bits(holds.into()))
    }
}

/// Sorts the operands of an operation, where their order does not matter.
fn order_operands(code: Code, edges: &mut [Edge]) {
    match (code, edges) {
        // Signs move afterwards, so only the nodes count.
        (Code::Add(..) | Code::Mul(..) | Code::Fma(..), [a, b, ..]) if a.node() > b.node() => {
            std::mem::swap(a, b);
        }
        (Code::Int2(op, _), [a, b]) if op.commutes() && *a > *b => std::mem::swap(a, b),
        (Code::Equal(_) | Code::IntEqual(_), edges) => edges.sort_unstable(),
        _ => {}
    }
}

/// Moves signs out of an operation as far as possible. Returns `true` if the result is negated.
fn move_signs(code: Code, edges: &mut [Edge]) -> bool {
    match (code, edges) {
        (Code::Add(..), [a, b]) => {
            let negate = a.is_negated();
            (*a, *b) = (a.positive(), b.flipped(negate));
            negate
        }
        (Code::Mul(..), [a, b]) => {
            let negate = a.is_negated() != b.is_negated();
            (*a, *b) = (a.positive(), b.positive());
            negate
        }
        (Code::Fma(..), [a, b, c]) => {
            let negate = a.is_negated() != b.is_negated();
            (*a, *b, *c) = (a.positive(), b.positive(), c.flipped(negate));
            negate
        }
        (Code::Float1(FloatUnary::Abs, ..), [a]) => {
            *a = a.positive();
            false
        }
        (Code::Float1(op, _, rounding), [a]) if is_odd(op, rounding) => {
            let negate = a.is_negated();
            *a = a.positive();
            negate
        }
        (Code::Float2(FloatBinary::CopySign, _), [_, magnitude]) => {
            *magnitude = magnitude.positive();
            false
        }
        (Code::Select, [condition, a, b]) if condition.is_negated() => {
            *condition = condition.positive();
            std::mem::swap(a, b);
            false
        }
        _ => false,
    }
}

/// Returns `true` if f(−x) = −f(x).
pub(crate) fn is_odd(op: FloatUnary, rounding: Rounding) -> bool {
    match op {
        FloatUnary::Reciprocal | FloatUnary::Sin | FloatUnary::Tanh => true,
        FloatUnary::RoundToIntegral => !matches!(rounding, Rounding::Down | Rounding::Up),
        _ => false,
    }
}

/// Operations that commute: the order of operands does not matter.
pub(crate) trait Commutes {
    fn commutes(self) -> bool;
}

impl Commutes for IntBinary {
    fn commutes(self) -> bool {
        matches!(
            self,
            Self::Add
                | Self::Mul
                | Self::And
                | Self::Or
                | Self::Xor
                | Self::MulWide { .. }
                | Self::Min { .. }
                | Self::Max { .. }
        )
    }
}

impl Code {
    /// Format of the float operands.
    pub(super) fn format(self) -> Option<Format> {
        match self {
            Self::Add(format, _)
            | Self::Mul(format, _)
            | Self::Fma(format, _)
            | Self::Float1(_, format, _)
            | Self::Float2(_, format)
            | Self::Less(format)
            | Self::Equal(format)
            | Self::Convert { from: Scalar::Float(format), .. } => Some(format),
            _ => None,
        }
    }
}

/// The notation of the tables.
impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let write_name = |f: &mut fmt::Formatter<'_>, name: &str, format: Format, r: Rounding| {
            let rounding = match r {
                Rounding::NearestEven => "",
                Rounding::NearestAway => ".rna",
                Rounding::Zero => ".rz",
                Rounding::Down => ".rm",
                Rounding::Up => ".rp",
            };
            match format {
                Format::F32 => write!(f, "{name}{rounding}"),
                _ => write!(f, "{name}{rounding}.{}", format!("{format:?}").to_lowercase()),
            }
        };
        let nearest = Rounding::NearestEven;
        match *self {
            Self::Add(format, rounding) => write_name(f, "add", format, rounding),
            Self::Mul(format, rounding) => write_name(f, "mul", format, rounding),
            Self::Fma(format, rounding) => write_name(f, "fma", format, rounding),
            Self::Float1(op, format, rounding) => {
                write_name(f, &format!("{op:?}").to_lowercase(), format, rounding)
            }
            Self::Float2(op, format) => {
                let name = match op {
                    FloatBinary::Min { .. } => "min".to_owned(),
                    FloatBinary::Max { .. } => "max".to_owned(),
                    op => format!("{op:?}").to_lowercase(),
                };
                write_name(f, &name, format, nearest)
            }
            Self::Less(format) => write_name(f, "less", format, nearest),
            Self::Equal(format) => write_name(f, "equal", format, nearest),
            Self::Convert { from, to, rounding, saturate } => {
                let sat = if saturate { ".sat" } else { "" };
                let name = format!("convert{sat}.{}.{}", scalar(from), scalar(to));
                write_name(f, &name, Format::F32, rounding)
            }
            Self::Select => f.write_str("select"),
            Self::Int1(op, width) => write!(f, "int.{}.{width}", compact(op)),
            Self::Int2(op, width) => write!(f, "int.{}.{width}", compact(op)),
            Self::Int3(op, width) => write!(f, "int.{}.{width}", compact(op)),
            Self::IntLess { signed, width } => {
                write!(f, "int.less.{}{width}", if signed { "s" } else { "u" })
            }
            Self::IntEqual(width) => write!(f, "int.equal.{width}"),
            Self::Insert(width) => write!(f, "int.insert.{width}"),
            Self::Resize { from, signed, to } => {
                write!(f, "resize.{}{from}.{to}", if signed { "s" } else { "u" })
            }
            Self::Concat(count) => write!(f, "concat.{count}"),
            Self::Part(index, count) => write!(f, "part.{index}.{count}"),
            Self::Real(function, format, _) => {
                write_name(f, &format!("real.{}", compact(function)), format, nearest)
            }
        }
    }
}

fn scalar(scalar: Scalar) -> String {
    match scalar {
        Scalar::Integer { width, signed } => {
            format!("{}{}", if signed { "s" } else { "u" }, width.bits())
        }
        Scalar::Float(format) => format!("{format:?}").to_lowercase(),
    }
}

/// Returns the debug form as one word.
fn compact(op: impl fmt::Debug) -> String {
    let text = format!("{op:?}").to_lowercase();
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}
