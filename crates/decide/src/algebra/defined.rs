//! Sums that occur both by name and written out: `S = Σ cᵢ·xᵢ`.
//!
//! A variance in one pass has `S²`; one in two passes has `S·Σ xᵢ` with the sum multiplied into every summand.
//! Neither should be multiplied out, which is quadratic in the length of a row. So a summand `S·x₀`, for the first
//! input `x₀` of `S`, becomes `(S² − Σ cᵢ·S·xᵢ) / c₀`, `i > 0`: the summands `S·xᵢ` cancel if all of them are there,
//! and `S²` remains. The identity holds wherever it is applied. It is not applied everywhere (`S·x₀` inside a larger
//! product stays), which costs proofs, but is sound.

use super::{Algebra, AtomId, Monomial, Outcome, Polynomial, Summand};
use rustc_hash::FxHashMap;
use term::Number;

/// The sum that a block of inputs stands for, solved for its first input.
#[derive(Debug)]
pub(super) struct Definition {
    first: AtomId,
    /// `1 / c₀`
    inverse: Number,
    /// The other inputs with `−cᵢ / c₀`.
    others: Vec<(AtomId, Number)>,
}

/// Definitions of blocks, by the block's atom.
pub(super) type Definitions = FxHashMap<AtomId, Definition>;

impl Algebra {
    /// Defines a block, if its sum has only inputs with coefficients.
    pub(crate) fn define(&mut self, block: AtomId, sum: Polynomial) {
        let Ok(expanded) = self.expanded(sum) else { return };
        let mut summands = Vec::new();
        for (monomial, coefficient) in expanded {
            match monomial.as_atom() {
                Some(atom) if atom.0 <= self.inputs => summands.push((atom, coefficient)),
                _ => return,
            }
        }
        let Some((first, leading)) = summands.first().cloned() else { return };
        let Some(inverse) = leading.reciprocal() else { return };
        let others = summands.drain(1..).map(|(atom, own)| (atom, -&(&own * &inverse))).collect();
        self.definitions.insert(block, Definition { first, inverse, others });
    }

    /// Returns the same sum without products of a block and its first input.
    pub(crate) fn with_definitions(&mut self, polynomial: Polynomial) -> Outcome<Polynomial> {
        if self.definitions.is_empty() || polynomial.length() < 2 {
            return Ok(polynomial);
        }
        let mut polynomial = polynomial;
        let scale = polynomial.scale();
        if scale.as_atom().is_some_and(|atom| self.definitions.contains_key(&atom)) {
            polynomial = Polynomial::from_sorted(self.expanded(polynomial)?);
        }
        polynomial.tidy();
        // A replacement adds no other product of a block and its first input.
        while let Some((block, coefficient)) = self.first_defined(&polynomial) {
            let added = self.replacement(block, &coefficient);
            self.spend(added.len())?;
            polynomial.extend_raw(added);
        }
        Ok(polynomial)
    }

    /// Finds a block that occurs multiplied with its first input, and the coefficient of the product.
    fn first_defined(&self, polynomial: &Polynomial) -> Option<(AtomId, Number)> {
        polynomial.raw_terms().iter().find_map(|(monomial, coefficient)| {
            let (input, block) = monomial.as_pair()?;
            let definition = self.definitions.get(&block)?;
            (definition.first == input).then(|| (block, coefficient.clone()))
        })
    }

    /// Returns the summands to add so that `coefficient · S·x₀` is replaced.
    fn replacement(&self, block: AtomId, coefficient: &Number) -> Vec<Summand> {
        let Some(definition) = self.definitions.get(&block) else { return Vec::new() };
        let with = |atom: AtomId| Monomial::of_atoms(atom, block);
        let mut added = vec![
            (with(definition.first), -coefficient),
            (with(block), coefficient * &definition.inverse),
        ];
        let others = definition.others.iter();
        added.extend(others.map(|(atom, own)| (with(*atom), coefficient * own)));
        added
    }
}
