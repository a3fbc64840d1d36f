//! Writes the index of an arbitrary array element in mixed-radix digits, so that the quotients and remainders by which
//! two kernels compute their indices become digits too.
//!
//! Let `1 = s₀ | s₁ | … | sₘ` be polynomials of sizes, each at least 1 and each a multiple of the one before. Every
//! number that is not negative is a sum `Σ sᵢ·eᵢ` with `0 ≤ eᵢ < sᵢ₊₁/sᵢ` and `eₘ ≥ 0`, in one way, and its quotients
//! and remainders by the members of the chain are sums of its digits. So an element written in such digits is still
//! an arbitrary one.

use super::resolve::Resolver;
use crate::engine::state::Operation;
use arith::formula::Formula;
use arith::poly::{Monomial, Poly};
use arith::symbols::Level;
use kir::ArrayId;

/// Limit on the strides of an element.
const MAX_STRIDES: usize = 5;

impl Resolver {
    /// Returns an arbitrary element, written in the strides of the kernels' stores, and the facts about its digits.
    pub(super) fn arbitrary_element(
        &mut self,
        array: ArrayId,
        extents: [&[Option<Poly>]; 2],
    ) -> Option<(Vec<Poly>, Vec<Formula>)> {
        let (mut index, mut known) = (Vec::new(), Vec::new());
        for (axis, (one, other)) in extents[0].iter().zip(extents[1]).enumerate() {
            if let (Some(one), Some(other)) = (one, other)
                && !self.proves(&[], &Formula::eq(one.minus(other)?))
            {
                return None;
            }
            let extent = one.as_ref().or(other.as_ref());
            let strides = self.strides(array, axis, extent);
            let mut place = Poly::default();
            for (number, stride) in strides.iter().enumerate().rev() {
                let low = Some(Poly::constant(0));
                // The digit ends where the next larger stride begins, measured in units of this stride.
                let high = match strides.get(number + 1) {
                    Some(next) => next.divided_exactly(stride)?.offset(-1),
                    None => None,
                };
                let name = match strides.len() {
                    1 => "i",
                    _ => ["j", "i", "h", "g"].get(number).copied().unwrap_or("e"),
                };
                let digit =
                    Poly::symbol(self.prover.symbols.bounded(name, Level::Block, low, high));
                place = place.plus(&digit.times(stride)?)?;
                // `S·i + j < S·n` with `0 ≤ j < S` is `i < n`.
                let exact_quotient = extent.and_then(|extent| extent.divided_exactly(stride));
                if let Some(quotient) = exact_quotient
                    && number + 1 == strides.len()
                {
                    known.push(Formula::ge(quotient.minus(&digit)?.offset(-1)?));
                }
            }
            if let Some(extent) = extent {
                known.push(Formula::ge(extent.minus(&place)?.offset(-1)?));
            }
            index.push(place);
        }
        Some((index, known))
    }

    /// Returns the strides of stores of either side and divisors of sizes, each a multiple of the one before; the
    /// first is 1.
    ///
    /// Every number is a sum of digits below the ratios of such strides in one way, so any chain is sound. A good one
    /// makes the quotients of both sides digits. Strides that occur on both sides come first, then those that divide
    /// the extent.
    fn strides(&mut self, array: ArrayId, axis: usize, extent: Option<&Poly>) -> Vec<Poly> {
        let mut strides_of_sides: Vec<Vec<Poly>> = Vec::new();
        for side in &self.sides {
            let mut set: Vec<Poly> = Vec::new();
            for site in side.sites.iter().filter(|site| site.array == array) {
                let Some(index) = site.index.get(axis) else { continue };
                set.extend(self.coefficients(index));
            }
            strides_of_sides.push(set);
        }
        let divisors: Vec<Poly> = self.divisors();
        let mut all: Vec<Poly> =
            strides_of_sides.iter().flatten().chain(&divisors).cloned().collect();
        all.retain(|one| one.as_constant().is_none());
        let is_common =
            |one: &Poly| strides_of_sides.iter().all(|set| set.is_empty() || set.contains(one));
        let divides =
            |one: &Poly| extent.is_some_and(|extent| extent.divided_exactly(one).is_some());
        all.retain(|one| is_common(one) || divides(one));
        all.sort_by_cached_key(|one| (!is_common(one), !divides(one), degree(one), one.clone()));
        all.dedup();
        // If the array has no elements, there is nothing to show.
        let exists: Vec<Formula> =
            extent.and_then(|one| one.offset(-1)).map(Formula::ge).into_iter().collect();
        let mut chain: Vec<Poly> = vec![Poly::constant(1)];
        for stride in all {
            let fits = chain.iter().all(|one| {
                one.divided_exactly(&stride).is_some() || stride.divided_exactly(one).is_some()
            });
            let positive = stride.offset(-1).map(Formula::ge);
            if fits
                && chain.len() < MAX_STRIDES
                && positive.is_some_and(|one| self.proves(&exists, &one))
            {
                let at = chain.iter().position(|one| one.divided_exactly(&stride).is_some());
                chain.insert(at.unwrap_or(chain.len()), stride);
            }
        }
        chain
    }

    /// Returns the factors of blocks, threads and iterations in an index that are sizes.
    fn coefficients(&self, index: &Poly) -> Vec<Poly> {
        let symbols = &self.prover.symbols;
        let mut found = Vec::new();
        for sym in
            index.symbols().into_iter().filter(|sym| symbols.get(*sym).level != Level::Launch)
        {
            let powers = index.by_powers(sym);
            let [_, factor] = &powers[..] else { continue };
            let factor = factor
                .scaled(factor.leading_sign())
                .filter(|one| symbols.level(one) == Level::Launch);
            found.extend(factor);
        }
        found
    }

    /// Returns the divisors that are sizes.
    fn divisors(&self) -> Vec<Poly> {
        let divisor = |one: &Operation| match one {
            Operation::Div(_, by) => Some(by.clone()),
            _ => None,
        };
        let all = self.definitions.values().filter_map(divisor);
        all.filter(|one| self.prover.symbols.level(one) == Level::Launch).collect()
    }
}

fn degree(poly: &Poly) -> u32 {
    let degree = |monomial: &Monomial| monomial.iter().map(|(_, power)| power).sum();
    poly.terms().map(|(monomial, _)| degree(monomial)).max().unwrap_or_default()
}
