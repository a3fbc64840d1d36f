//! Translates the operations of kernels into terms over the reals. Functions without a definition there are
//! uninterpreted: equal arguments give equal values.

use exec::domain::{Binary, Connective, LARGEST, Unary};
use ir::{Relation, Rounding};
use term::{Function, Term, Terms};

/// Translates an operation with one operand.
pub(crate) fn unary(terms: &mut Terms, op: Unary, a: Term) -> Term {
    match op {
        Unary::Negate => terms.negate(a),
        Unary::Abs => terms.absolute(a),
        Unary::Sqrt => terms.square_root(a),
        Unary::ReciprocalSqrt => terms.reciprocal_square_root(a),
        Unary::Reciprocal => {
            let one = terms.one();
            terms.divide(one, a)
        }
        Unary::Exp2 => terms.exp2(a),
        Unary::Log2 => terms.log2(a),
        Unary::Sin => terms.apply(Function::Sin, a),
        Unary::Cos => terms.apply(Function::Cos, a),
        Unary::Tanh => terms.apply(Function::Tanh, a),
        Unary::Round(rounding) => match rounding {
            Rounding::Down => terms.apply(Function::Floor, a),
            Rounding::Up => terms.apply(Function::Ceil, a),
            Rounding::Zero => terms.apply(Function::Trunc, a),
            Rounding::NearestEven => terms.apply(Function::Round, a),
            // Uninterpreted: equal arguments give equal values.
            Rounding::NearestAway => match terms.function("round_away") {
                Some(function) => terms.apply(function, a),
                None => terms.undefined(),
            },
        },
        Unary::Saturate => {
            let (zero, one) = (terms.zero(), terms.one());
            let above = terms.maximum(a, zero);
            terms.minimum(above, one)
        }
        Unary::Rectify => {
            let zero = terms.zero();
            terms.maximum(a, zero)
        }
        Unary::Finite(format) => match LARGEST.iter().find(|(one, _)| *one == format) {
            Some((_, largest)) => {
                let bounds = [-largest, *largest].map(|bound| terms.float(bound));
                let above = terms.maximum(a, bounds[0]);
                terms.minimum(above, bounds[1])
            }
            None => a,
        },
    }
}

/// Translates an operation with two operands.
pub(crate) fn binary(terms: &mut Terms, op: Binary, a: Term, b: Term) -> Term {
    match op {
        Binary::Add => terms.add(a, b),
        Binary::Sub => terms.subtract(a, b),
        Binary::Mul => terms.multiply(a, b),
        Binary::Div => terms.divide(a, b),
        Binary::Min => terms.minimum(a, b),
        Binary::Max => terms.maximum(a, b),
        Binary::CopySign => copy_sign(terms, a, b).1,
    }
}

/// Returns the condition that the first term is negative, and the second term's magnitude with the sign of
/// the first.
pub(crate) fn copy_sign(terms: &mut Terms, a: Term, b: Term) -> (Term, Term) {
    let magnitude = terms.absolute(b);
    let negated = terms.negate(magnitude);
    let zero = terms.zero();
    let negative = terms.compare(term::Relation::Less, a, zero);
    (negative, terms.select(negative, negated, magnitude))
}

/// Translates a comparison.
pub(crate) fn compare(terms: &mut Terms, relation: Relation, a: Term, b: Term) -> Term {
    use term::Relation::{Equal, Less, LessEqual};
    match relation {
        Relation::Eq => terms.compare(Equal, a, b),
        Relation::Ne => {
            let equal = terms.compare(Equal, a, b);
            terms.not(equal)
        }
        Relation::Lt => terms.compare(Less, a, b),
        Relation::Le => terms.compare(LessEqual, a, b),
        Relation::Gt => terms.compare(Less, b, a),
        Relation::Ge => terms.compare(LessEqual, b, a),
    }
}

/// Connects two conditions.
pub(crate) fn connect(terms: &mut Terms, op: Connective, a: Term, b: Term) -> Term {
    match op {
        Connective::And => terms.and(a, b),
        Connective::Or => terms.or(a, b),
        Connective::Xor => {
            let (either, both) = (terms.or(a, b), terms.and(a, b));
            let not_both = terms.not(both);
            terms.and(either, not_both)
        }
    }
}
