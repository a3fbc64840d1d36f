//! Constants in products and sums: `(x + x)*0.5` is `x`.
//!
//! A summand is a coefficient above 0, a sign, and a base without constants. Summands of one base and one sign are
//! counted together. If all coefficients of a sum are integers with a common divisor, the divisor is taken out as a
//! factor of a product, and is multiplied with other constants there. [`Numbering::add`] takes such an integer into
//! the summands again, so it does not matter how a sum was put together.
//!
//! A base may be infinite at some inputs. `2·M + 3·M = 5·M` holds there too, but `0·M` is undefined: summands with the
//! coefficient 0 are counted apart from the others.

use super::{MAX_FACTORS, Numbering, Product, Value, ValueNumber};
use term::Number;

/// Limit on the bits of a product of constants; beyond it both stay.
const MAX_BITS: usize = 512;
/// The largest factor of a sum that is taken into its summands.
const MAX_FACTOR: i64 = 1 << 14;
/// A summand copied with a factor counts as so many copies: it becomes a new value.
const COPY_COST: usize = 64;

impl Numbering {
    /// Returns the number of a constant. One below 0 is a negated one.
    pub(super) fn constant(&mut self, constant: &Number) -> Option<ValueNumber> {
        let number = self.intern(Value::Constant(constant.abs()))?;
        if constant.is_negative() { self.negated(number) } else { Some(number) }
    }

    pub(super) fn is_constant(&self, number: ValueNumber) -> bool {
        self.constant_at(number).is_some()
    }

    /// Returns `true` if a value is a factor as it is: neither a constant, a product nor a negated value.
    #[inline]
    pub(super) fn is_single_factor(&self, number: ValueNumber) -> bool {
        match self.value(number).map(|value| &**value) {
            Some(Value::Constant(_) | Value::Product(_)) => false,
            Some(Value::Sum(summands)) => summands.len() != 1,
            _ => true,
        }
    }

    fn constant_at(&self, number: ValueNumber) -> Option<&Number> {
        match self.value(number).map(|value| &**value) {
            Some(Value::Constant(constant)) => Some(constant),
            _ => None,
        }
    }

    /// Returns the number of the reciprocal of a constant above 0; `Some(None)` for any other value, and `None` if
    /// there is no room.
    pub(super) fn reciprocal(&mut self, number: ValueNumber) -> Option<Option<ValueNumber>> {
        let reciprocal = self.constant_at(number).and_then(Number::reciprocal);
        match reciprocal {
            Some(reciprocal) => self.intern(Value::Constant(reciprocal)).map(Some),
            None => Some(None),
        }
    }

    /// Multiplies the constants among factors.
    pub(super) fn fold_constants(&mut self, factors: &mut Vec<ValueNumber>) -> Option<()> {
        let mut constants =
            factors.iter().filter_map(|factor| Some((*factor, self.constant_at(*factor)?.clone())));
        let (Some((_, first)), Some(second)) = (constants.next(), constants.next()) else {
            return Some(());
        };
        let mut product = first;
        for (_, constant) in std::iter::once(second).chain(constants) {
            product = &product * &constant;
            if product.bits() > MAX_BITS {
                return Some(());
            }
        }
        factors.retain(|factor| !self.is_constant(*factor));
        if !product.is_one() {
            factors.push(self.intern(Value::Constant(product))?);
        }
        Some(())
    }

    /// Adds a small integer times a sum to the sum under construction, summand by summand; `false` if the factors are
    /// something else.
    pub(super) fn add_multiple(&mut self, product: Product) -> Option<bool> {
        if !self.is_scaled(product) {
            return Some(false);
        }
        let pair = product.operands();
        let Some(position) = pair.iter().position(|one| self.is_constant(*one)) else {
            return Some(false);
        };
        let times = self.constant_at(pair[position]).and_then(Number::to_i64);
        let Some(times) = times.filter(|times| (1..=MAX_FACTOR).contains(times)) else {
            return Some(false);
        };
        let sum = self.value(pair[1 - position]).cloned();
        let Some(Value::Sum(summands)) = sum.as_deref() else { return Some(false) };
        if !self.may_copy(self.products.len(), summands.len().saturating_mul(COPY_COST)) {
            return Some(false);
        }
        for summand in summands {
            let (base, coefficient) = self.split(summand.negated(product.is_negative()))?;
            let summand = self.join(base, &coefficient * &Number::from(times))?;
            self.products.push(summand);
        }
        Some(true)
    }

    /// Counts equal summands of a sorted sum, and takes out a common factor of all; the result is sorted.
    pub(super) fn collect(&mut self, products: &mut Vec<Product>) -> Option<Option<ValueNumber>> {
        let repeats = products.windows(2).any(|pair| pair[0] == pair[1]);
        if !repeats && !products.iter().any(|product| self.is_scaled(*product)) {
            return Some(None);
        }
        let mut summands = Vec::with_capacity(products.len());
        for product in products.iter() {
            summands.push(self.split(*product)?);
        }
        // 0·M + M is not M where M is infinite: the former is undefined there.
        summands.sort_by_key(|(base, coefficient)| (*base, coefficient.is_zero()));
        summands.dedup_by(|(base, coefficient), (kept, all)| {
            let same = base == kept && coefficient.is_zero() == all.is_zero();
            if same {
                *all = &*all + coefficient;
            }
            same
        });
        let divisor = if summands.len() > 1 { common_divisor(&summands) } else { None };
        products.clear();
        for (base, coefficient) in summands {
            let coefficient = match divisor {
                Some(divisor) => Number::ratio(coefficient.to_i64()?, divisor)?,
                None => coefficient,
            };
            let product = self.join(base, coefficient)?;
            products.push(product);
        }
        products.sort_unstable();
        match divisor {
            Some(divisor) => self.intern(Value::Constant(Number::from(divisor))).map(Some),
            None => Some(None),
        }
    }

    /// Returns the number of a product of a constant and a value.
    pub(super) fn multiple(
        &mut self,
        constant: ValueNumber,
        number: ValueNumber,
    ) -> Option<ValueNumber> {
        let product = self.product(false, [constant, number])?;
        self.number_of_product(product)
    }

    /// Returns `true` if a summand has a coefficient other than 1.
    fn is_scaled(&self, product: Product) -> bool {
        let is = |number: ValueNumber| {
            number.checked_sub(self.inputs).is_some_and(|at| self.scaled[at as usize])
        };
        product.operands().into_iter().any(is)
    }

    /// Returns the base of a summand, with its sign, and its coefficient.
    fn split(&mut self, product: Product) -> Option<(Product, Number)> {
        if !self.is_scaled(product) {
            return Some((product, Number::ONE));
        }
        let mut factors = Vec::new();
        let odd = product
            .operands()
            .into_iter()
            .fold(false, |odd, number| odd ^ self.factors(number, &mut factors));
        self.fold_constants(&mut factors)?;
        if factors.len() > MAX_FACTORS {
            return Some((product, Number::ONE));
        }
        let mut coefficient = Number::ONE;
        if let Some(position) = factors.iter().position(|factor| self.is_constant(*factor)) {
            let constant = self.constant_at(factors.swap_remove(position));
            coefficient = constant.cloned()?;
        }
        factors.sort_unstable();
        let pair = match factors[..] {
            [] => [self.number_of_one(); 2],
            [one] => [one, self.number_of_one()],
            [a, b] => [a, b],
            _ => [self.intern(Value::Product(factors.into()))?, self.number_of_one()],
        };
        Some((Product::new(product.is_negative() ^ odd, pair), coefficient))
    }

    /// Returns the summand of a base and a coefficient.
    fn join(&mut self, base: Product, coefficient: Number) -> Option<Product> {
        if coefficient.is_one() {
            return Some(base);
        }
        let constant = self.intern(Value::Constant(coefficient))?;
        let number = self.number_of_product(base.negated(base.is_negative()))?;
        self.product(base.is_negative(), [constant, number])
    }
}

/// Returns the greatest common divisor of the coefficients of a sum, if all are integers and it is above 1.
fn common_divisor(summands: &[(Product, Number)]) -> Option<i64> {
    let mut divisor = 0;
    for (_, coefficient) in summands {
        divisor = gcd(divisor, coefficient.to_i64()?);
        if divisor == 1 {
            return None;
        }
    }
    (divisor > 1).then_some(divisor)
}

fn gcd(mut a: i64, mut b: i64) -> i64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
