//! Bit operations on singles and doubles that are arithmetic: negation and magnitude.

use super::graph::{Code, Edge, Graph, Node};
use ir::{FloatUnary, Format, IntBinary, Rounding, Width};

impl Graph {
    /// Recognises `x ^ sign` as −x.
    pub(super) fn sign_flip(
        &mut self,
        op: IntBinary,
        width: Width,
        [a, b]: [Edge; 2],
    ) -> Option<Edge> {
        let is_sign = |graph: &Self, edge: Edge| {
            !edge.is_negated() && graph.node(edge.node()) == Node::Bits(1 << (width.bits() - 1))
        };
        match (op, width) {
            (IntBinary::Xor, Width::B32 | Width::B64) if is_sign(self, b) => Some(a.flipped(true)),
            (IntBinary::Xor, Width::B32 | Width::B64) if is_sign(self, a) => Some(b.flipped(true)),
            _ => None,
        }
    }

    /// Splits `x ^ mask` into the value and the mask, if the mask is a constant without the sign bit.
    pub(super) fn flipped_bits(&self, edge: Edge) -> Option<(Edge, Edge)> {
        let Node::Op(Code::Int2(IntBinary::Xor, Width::B32), operands) = self.node(edge.node())
        else {
            return None;
        };
        let &[a, b] = operands.as_slice() else { return None };
        let is_mask = |edge: Edge| match self.node(edge.node()) {
            Node::Bits(bits) => !edge.is_negated() && bits >> 31 == 0,
            _ => false,
        };
        match (is_mask(a), is_mask(b)) {
            (false, true) => Some((a, b)),
            (true, false) => Some((b, a)),
            _ => None,
        }
    }

    /// Recognises a single without its sign bit as |x|.
    pub(super) fn magnitude(
        &mut self,
        op: IntBinary,
        width: Width,
        [a, b]: [Edge; 2],
    ) -> Option<Edge> {
        let is_rest = |graph: &Self, edge: Edge| {
            !edge.is_negated() && graph.node(edge.node()) == Node::Bits(0x7fff_ffff)
        };
        let number = match (op, width) {
            (IntBinary::And, Width::B32) if is_rest(self, b) => a,
            (IntBinary::And, Width::B32) if is_rest(self, a) => b,
            _ => return None,
        };
        self.op(Code::Float1(FloatUnary::Abs, Format::F32, Rounding::NearestEven), &[number])
    }
}
