//! Products of known floats: the manual fixes an element of D only if no partial sum is rounded, in any order
//! ([`crate::legal`]).

use super::factors::{Numbers, Product, Terms, format};
use super::fragment::parts;
use crate::context::Context;
use crate::domain;
use crate::interpret::symbolic;
use crate::lanes::{Mask, WARP};
use crate::legal::{Enclosure, Unfixed, matrix_sum};
use crate::tags::Tags;

/// Returns `true` if the run keeps numbers as bits common to every GPU.
pub(super) fn wants_bits(context: &Context<'_, '_>) -> bool {
    match &context.valued {
        None => context.tracker.is_checking(),
        Some(valued) => valued.domain.numbers() == domain::Numbers::Legal,
    }
}

/// Executes a product of numbers.
pub(super) fn execute(
    context: &mut Context<'_, '_>,
    product: &Product<'_>,
    numbers: &Numbers,
    terms: &Terms,
) {
    let formats = [product.a.element, product.b.element, product.c.element, product.d_element];
    let [Some(a), Some(b), Some(c), Some(d)] = formats.map(format) else { return };
    let (count, bits) = (parts(product.d_element), product.d_element.bits());
    for (register, &dst) in product.d.iter().enumerate() {
        let mut words = [0; WARP];
        let mut sums = vec![[None::<Enclosure>; WARP]; count];
        let mut fixed = Mask::ALL;
        for lane in 0..WARP {
            for (part, sums) in sums.iter_mut().enumerate() {
                let place = product.d_layout.place(lane, register, part);
                let start = numbers.start(place);
                let element = numbers.combine(product, terms, place);
                words[lane] |= element << (part as u32 * bits);
                let sum = matrix_sum((a, b), numbers.pairs(terms, place), (c, start), d);
                if sum.is_none_or(|sum| sum.cause.is_some() || sum.fixed(d).is_none()) {
                    fixed = fixed.without(Mask(1 << lane));
                }
                sums[lane] = sum;
            }
        }
        let tags = Tags::NUMBER.unfixed(Mask(!fixed.0), Unfixed::MatrixSum);
        context.report.unfixed |= !tags.is_number_in(context.lanes);
        context.write(dst, &words, tags);
        if context.valued.is_some() && !tags.is_number() {
            symbolic::enclosed_sums(context, d, dst, (&sums, tags.unknown));
        }
    }
}
