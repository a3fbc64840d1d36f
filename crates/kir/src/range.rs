//! Ranges of types, and wrapping of numbers outside.

use crate::Type;

impl Type {
    /// Minimum and maximum, if the type has them.
    #[must_use]
    pub fn range(self) -> Option<(i128, i128)> {
        match self {
            Self::Bool => Some((0, 1)),
            Self::Int { bits, signed: true } => Some((-(1 << (bits - 1)), (1 << (bits - 1)) - 1)),
            Self::Int { bits, signed: false } => Some((0, (1 << bits) - 1)),
            Self::Whole | Self::Float => None,
        }
    }

    /// Returns `true` if the type has a number. `Whole` and `Float` are unbounded.
    #[must_use]
    pub fn holds(self, number: i128) -> bool {
        self.range().is_none_or(|(least, most)| (least..=most).contains(&number))
    }

    /// Returns the integer of the type that is congruent modulo 2^bits (ISO C++20 \[conv.integral\]). Other types have
    /// no such rule: their numbers stay.
    #[must_use]
    pub fn wrap(self, number: i128) -> i128 {
        let Self::Int { bits, signed } = self else { return number };
        let residue = number.rem_euclid(1 << bits);
        if signed && residue >= 1 << (bits - 1) { residue - (1 << bits) } else { residue }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compared with all numbers of small types.
    #[test]
    fn numbers_wrap_to_the_one_that_is_congruent() {
        for (bits, signed) in [(1, false), (2, true), (3, true), (3, false), (5, true), (5, false)]
        {
            let ty = Type::Int { bits, signed };
            let (least, most) = ty.range().unwrap();
            assert_eq!(most - least, (1 << bits) - 1);
            for number in -100..100 {
                let congruent = |own: &i128| (number - own) % (1 << bits) == 0;
                let found: Vec<i128> = (least..=most).filter(congruent).collect();
                assert_eq!(found, [ty.wrap(number)], "{number} in {ty:?}");
                assert_eq!(ty.holds(number), ty.wrap(number) == number, "{number} in {ty:?}");
            }
        }
    }

    #[test]
    fn numbers_without_bounds_stay() {
        for ty in [Type::Whole, Type::Float] {
            assert!(ty.holds(1 << 100) && ty.wrap(-(1 << 100)) == -(1 << 100));
        }
        assert!(Type::Bool.holds(1) && !Type::Bool.holds(2));
    }
}
