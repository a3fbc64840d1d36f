//! Executes `testp`, which classifies a float.

use super::operand::{is_number, raw};
use super::reals::{followed, query_relation, reals, report_nan_tests};
use super::truth::{self, Predicate};
use super::{legal, special};
use crate::context::Context;
use crate::domain::{Connective, Numbers, Truths};
use crate::lanes::{Mask, WARP};
use ir::{FloatProperty, Format, Operand, Reg, Relation};

/// Tests a value. A value of the domain counts as a number, not a NaN; a test for infinity compares it with ±∞.
pub(super) fn test(
    context: &mut Context<'_, '_>,
    property: FloatProperty,
    format: Format,
    dst: Reg,
    a: Operand,
) -> bool {
    if is_number(context, a) {
        return false;
    }
    let source = raw(context, a);
    let lanes = context.lanes.without(source.1.poison);
    let settled = |truth: Mask| Truths { known: Mask::ALL, truth, values: [0; WARP] };
    if legal::numbers(context) == Numbers::Legal {
        let values = reals(context, &source, format, 0, lanes);
        let truths = legal::test(context, property, format, &values, lanes);
        truth::write(context, dst, &truths, source.1, context.lanes);
        return true;
    }
    let mut truths = match property {
        FloatProperty::Number | FloatProperty::NotANumber => {
            let values = reals(context, &source, format, 0, lanes);
            report_nan_tests(context, &values, lanes);
            let truth = if property == FloatProperty::Number { Mask::ALL } else { Mask::NONE };
            let mut truths = settled(truth);
            legal::confirm_numbers(context, format, (&source, &values), lanes, &mut truths);
            truths
        }
        FloatProperty::Finite | FloatProperty::Infinite => {
            let values = reals(context, &source, format, 0, lanes);
            let Some(valued) = &mut context.valued else { return false };
            let ends = [f64::INFINITY, f64::NEG_INFINITY]
                .map(|end| valued.constant(Format::F64, end.to_bits()));
            let [above, below] = ends
                .map(|end| query_relation(context, Relation::Eq, &[values, [end; WARP]], lanes));
            let mut infinite = either(context, &above, &below, lanes);
            let property = FloatProperty::Infinite;
            legal::confirm_test(context, property, format, &values, &mut infinite);
            infinite
        }
        FloatProperty::Normal | FloatProperty::Subnormal => return false,
    };
    special::settle_test(property, format, &source, lanes, &mut truths);
    truth::write(context, dst, &truths, source.1, context.lanes);
    // Finite is the opposite of infinite. `not` leaves a register of numbers alone to its caller.
    if property == FloatProperty::Finite && !truth::not(context, dst, dst.into()) {
        let infinite = Predicate::read(context, dst.into());
        let finite = Mask(!infinite.truth.0);
        context.registers.write_predicate(dst, finite, infinite.tags, context.lanes);
    }
    true
}

/// Computes the disjunction of two booleans in each lane.
fn either(context: &mut Context<'_, '_>, a: &Truths, b: &Truths, lanes: Mask) -> Truths {
    let known = a.known.and(b.known).or(a.known.and(a.truth)).or(b.known.and(b.truth));
    let truth = a.truth.and(a.known).or(b.truth.and(b.known));
    let mut out = Truths { known, truth, values: [0; WARP] };
    for lane in lanes.without(known).iter() {
        out.values[lane] = if a.known.has(lane) { b.values[lane] } else { a.values[lane] };
    }
    let both = lanes.without(a.known).without(b.known);
    let both = both.and(followed(&a.values)).and(followed(&b.values));
    if let Some(valued) = &mut context.valued
        && !both.is_empty()
    {
        valued.domain.connect(Connective::Or, [&a.values, &b.values], both, &mut out);
    }
    out
}
