//! The elements of an output on both sides: pairs of terms to compare, or the reason why there are none.

use super::{Outputs, Pair};
use crate::difference::Difference;
use crate::position::{OpenElement, OpenReason, Position};
use crate::scalar::integer_of;
use crate::side::{Output, Side};
use crate::side_run::SideRun;
use exec::{Element, Lost};
use ir::Scalar;
use term::Term;

/// The elements of an output.
pub(super) struct Elements {
    /// The output.
    pub(super) name: String,
    /// Elements with terms on both sides.
    pub(super) pairs: Vec<Pair>,
    /// Elements without terms, with the reason.
    pub(super) open: Vec<OpenElement>,
}

/// The final value of an element on one side.
pub(super) enum SideElement {
    Term(Term),
    Bits(u64),
    Unwritten,
    Lost(Lost),
}

/// Returns the terms of everything that a side writes; `None` if one was lost.
pub(super) fn terms_of(side: &Side<'_>, ran: &mut SideRun) -> Option<Vec<Term>> {
    let mut terms = Vec::new();
    for (_, output) in side.written().into_values() {
        for index in 0..output.starts.len() {
            match find(side, ran, output, index) {
                SideElement::Term(term) => terms.push(term),
                SideElement::Bits(_) | SideElement::Unwritten => {}
                SideElement::Lost(_) => return None,
            }
        }
    }
    Some(terms)
}

/// Returns the final value of an element on one side.
pub(super) fn find(
    side: &Side<'_>,
    ran: &mut SideRun,
    output: &Output,
    index: usize,
) -> SideElement {
    let launch = side.writer(side.count(), &output.name);
    let SideRun { results, domain, .. } = ran;
    let Some(results) = launch.and_then(|(number, _)| results.get_mut(number)) else {
        return SideElement::Unwritten;
    };
    let (start, scalar) = (output.starts[index], output.scalar);
    if let Scalar::Float(format) = scalar {
        return match results.real(domain, output.buffer, start, format) {
            Ok(value) => SideElement::Term(domain.term(value)),
            Err(Element::Lost(lost)) => SideElement::Lost(lost),
            Err(_) => SideElement::Unwritten,
        };
    }
    match results.element(domain, output.buffer, start, scalar) {
        Element::Bits(bits) => SideElement::Bits(bits),
        Element::Value(value) => SideElement::Term(domain.term(value)),
        Element::Lost(lost) => SideElement::Lost(lost),
        Element::Unwritten => SideElement::Unwritten,
    }
}

impl Outputs<'_, '_> {
    /// Collects the elements of an output.
    ///
    /// # Errors
    /// The first element with different known integers on the two sides: it differs for every input.
    pub(super) fn elements(&mut self, outputs: [&Output; 2]) -> Result<Elements, Box<Difference>> {
        let name = &outputs[0].name;
        let mut elements = Elements { name: name.clone(), pairs: Vec::new(), open: Vec::new() };
        for index in 0..outputs[0].starts.len() {
            self.compared.elements += 1;
            let found =
                [0, 1].map(|at| find(self.sides[at], &mut self.ran[at], outputs[at], index));
            let position = || Position { name: name.clone(), index };
            let lost = found.iter().enumerate().find_map(|(side, found)| match found {
                SideElement::Lost(lost) => Some((side, lost.place?)),
                _ => None,
            });
            let reason = match found {
                [SideElement::Term(a), _] if self.ran[0].domain.may_be_undefined(a) => {
                    OpenReason::Conditional
                }
                [SideElement::Term(a), SideElement::Term(b)] => {
                    elements.pairs.push((index, (a, b)));
                    continue;
                }
                [SideElement::Bits(a), SideElement::Bits(b)] if a == b => {
                    *self.compared.rungs.entry("equal bits".to_owned()).or_default() += 1;
                    continue;
                }
                // Both runs hold for all inputs, so these are the numbers for every input.
                [SideElement::Bits(a), SideElement::Bits(b)] => {
                    let numbers = [a, b].map(|bits| integer_of(outputs[0].scalar, bits));
                    return Err(Box::new(Difference::of_integers(position(), numbers)));
                }
                [SideElement::Bits(bits), SideElement::Term(b)] => {
                    let a = self.integer(0, outputs[0].scalar, bits);
                    elements.pairs.push((index, (a, b)));
                    continue;
                }
                [SideElement::Term(a), SideElement::Bits(bits)] => {
                    let b = self.integer(1, outputs[1].scalar, bits);
                    elements.pairs.push((index, (a, b)));
                    continue;
                }
                [SideElement::Lost(lost), _] | [_, SideElement::Lost(lost)] => {
                    OpenReason::Lost(lost.reason)
                }
                [SideElement::Unwritten, _] => OpenReason::ReferenceUnwritten,
                [_, SideElement::Unwritten] => OpenReason::OptimisedUnwritten,
            };
            elements.open.push(OpenElement { position: position(), reason, lost });
        }
        for (side, roots) in self.roots.iter_mut().enumerate() {
            if self.ran[side].domain.assumed_properties.has_read_signs() {
                let term = |(_, (a, b)): &Pair| if side == 0 { *a } else { *b };
                roots.extend(elements.pairs.iter().map(term));
            }
        }
        Ok(elements)
    }

    /// Builds a known integer as a term of a side.
    fn integer(&mut self, side: usize, scalar: Scalar, bits: u64) -> Term {
        let number = integer_of(scalar, bits);
        let terms = &mut self.ran[side].domain.terms;
        let (high, low) = ((number >> 32) as i64, (number & 0xffff_ffff) as i64);
        let (high, scale, low) = (terms.integer(high), terms.integer(1 << 32), terms.integer(low));
        let high = terms.multiply(high, scale);
        terms.add(high, low)
    }
}
