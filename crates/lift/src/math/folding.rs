//! Constant folding as compilers do it: singles rounded to nearest, and 32-bit words.
//!
//! Reciprocals are rounded correctly, as compilers do for `rcp.approx` of a constant. If a compiler folds
//! differently, its constants differ and nothing is recognised.

use super::graph::{Code, Edge, Graph, Node};
use ir::{FloatUnary, Format, IntBinary, Rounding, Scalar, Width};

impl Graph {
    /// Folds an operation on constants.
    pub(super) fn fold_constants(&mut self, code: Code, edges: &[Edge]) -> Option<Edge> {
        let mut bits = [0u32; 4];
        for (bits, edge) in bits.iter_mut().zip(edges) {
            let Node::Bits(known) = self.node(edge.node()) else { return None };
            *bits = u32::try_from(known).ok()? ^ (u32::from(edge.is_negated()) << 31);
        }
        let folded = match code.format() {
            Some(Format::F32) => fold_singles(code, bits.map(f32::from_bits)),
            Some(_) => None,
            None => fold_words(code, bits),
        };
        Some(self.bits(folded?.into()))
    }
}

/// Computes an operation on singles.
fn fold_singles(code: Code, [a, b, c, _]: [f32; 4]) -> Option<u32> {
    let nearest = Rounding::NearestEven;
    let number = match code {
        Code::Add(_, rounding) if rounding == nearest => a + b,
        Code::Mul(_, rounding) if rounding == nearest => a * b,
        Code::Fma(_, rounding) if rounding == nearest => a.mul_add(b, c),
        Code::Float1(FloatUnary::Abs, ..) => a.abs(),
        Code::Float1(FloatUnary::Reciprocal, _, rounding) if rounding == nearest => 1.0 / a,
        Code::Float1(FloatUnary::RoundToIntegral, _, rounding) => match rounding {
            Rounding::NearestEven => a.round_ties_even(),
            Rounding::NearestAway => a.round(),
            Rounding::Zero => a.trunc(),
            Rounding::Down => a.floor(),
            Rounding::Up => a.ceil(),
        },
        Code::Less(_) => return Some((a < b).into()),
        Code::Equal(_) => return Some((a == b).into()),
        Code::Convert {
            to: Scalar::Integer { width: Width::B32, signed: true },
            rounding: Rounding::Zero,
            saturate: false,
            ..
        } => return Some(a as i32 as u32),
        _ => return None,
    };
    Some(number.to_bits())
}

/// Computes an operation on 32-bit words.
fn fold_words(code: Code, [a, b, ..]: [u32; 4]) -> Option<u32> {
    match code {
        Code::Int2(op, Width::B32) => Some(match op {
            IntBinary::Add => a.wrapping_add(b),
            IntBinary::Sub => a.wrapping_sub(b),
            IntBinary::And => a & b,
            IntBinary::Xor => a ^ b,
            IntBinary::Shl => a.checked_shl(b).unwrap_or(0),
            _ => return None,
        }),
        Code::Convert {
            from: Scalar::Integer { width: Width::B32, signed: true },
            to: Scalar::Float(Format::F32),
            rounding: Rounding::NearestEven,
            saturate: false,
        } => Some((a as i32 as f32).to_bits()),
        _ => None,
    }
}
