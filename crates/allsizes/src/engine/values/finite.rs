//! Determines which values are real numbers.
//!
//! The algebra of values is that of real numbers: `x − x` is 0 and `0·x` too. Infinities of the source (`m =
//! -INFINITY` before a maximum is taken) are not real numbers, and few operations on them are supported. They may be
//! compared, stored, be operands of minima and maxima, be added to numbers and to infinities of the same sign, and be
//! multiplied with constants; `e^−∞` is 0. All other operations on them are unsupported. Elements of inputs and
//! parameters are assumed to be real numbers.
//!
//! A variable that a loop changes has, at the head of an iteration, its value from before the loop or from the end of
//! an iteration. It is a real number only if both are ([`Atom::Carried`]).
//!
//! A loaded value is assumed to be a real number until the stores to its element are looked up. Then the stored value
//! is checked ([`Resolver::is_number`]), also where the algebra makes it irrelevant (`lookups.rs`). A maximum over a
//! range is a number only if the range is shown to be non-empty: the maximum of no values is −∞.

use super::extremes::{self, single_fold};
use super::finiteness::Finiteness;
use super::resolve::Resolver;
use super::value::{Atom, Fold, Piece, Product, Sum, Value};
use arith::formula::Formula;

impl Value {
    /// Returns `true` if it is a real number for all inputs.
    pub(super) fn is_finite(&self) -> bool {
        self.finiteness() == Finiteness::Finite
    }

    /// Returns its finiteness if no fold is over an empty range.
    pub(super) fn finiteness(&self) -> Finiteness {
        self.finiteness_if(&mut |_| false)
    }

    /// Returns its finiteness; `may_be_empty` decides which ranges of folds may be empty.
    fn finiteness_if(&self, may_be_empty: MayBeEmpty<'_>) -> Finiteness {
        let terms = self.terms.iter();
        terms.fold(Finiteness::Finite, |sum, (product, ratio)| {
            sum.or(finiteness_of_product(product, ratio.top < 0, may_be_empty))
        })
    }

    /// Returns `true` for a known real number other than 0.
    pub(super) fn is_constant(&self) -> bool {
        let known =
            |atom: &Atom| matches!(atom, Atom::Number(bits) if f64::from_bits(*bits).is_finite());
        self.terms.len() == 1 && self.terms.keys().flatten().all(|(atom, _)| known(atom))
    }

    /// Returns `true` if it may be an argument of any function, and a divisor unless it is zero. It must be a real
    /// number, and every exponent in it must be one too: `e^−∞` is 0 without being the exponential of a number.
    pub(super) fn is_plain(&self) -> bool {
        let mut plain = self.is_finite();
        self.visit(&mut |atom| {
            if let Atom::Call(name, arguments) = atom {
                plain &= !is_exponential(name) || arguments.iter().all(Value::is_finite);
            }
        });
        plain
    }
}

/// Functions that are 0 at −∞.
pub(super) fn is_exponential(name: &str) -> bool {
    matches!(name, "exp" | "exp2")
}

/// The finiteness of a product. Only constants may be multiplied with infinities; they decide the sign.
fn finiteness_of_product(
    product: &Product,
    mut negative: bool,
    may_be_empty: MayBeEmpty<'_>,
) -> Finiteness {
    let mut infinite = Finiteness::Finite;
    let mut constant = true;
    for (atom, exponent) in product {
        match (finiteness_of_atom(atom, may_be_empty), atom) {
            (Finiteness::Finite, Atom::Number(bits)) => {
                negative ^= f64::from_bits(*bits) < 0.0 && exponent % 2 == 1;
            }
            (Finiteness::Finite, _) => constant = false,
            (other, _) if infinite == Finiteness::Finite && *exponent == 1 => infinite = other,
            _ => infinite = Finiteness::Unknown,
        }
    }
    match infinite {
        Finiteness::Finite => Finiteness::Finite,
        _ if !constant => Finiteness::Unknown,
        one if negative => one.negated(),
        one => one,
    }
}

impl Resolver {
    /// Returns `true` if a value whose loads have been looked up is a real number. A maximum is one only if `known`
    /// shows that it has operands.
    pub(super) fn is_number(&mut self, value: &Value, known: &[Formula]) -> bool {
        self.has_finiteness(value, Finiteness::Finite, known)
    }

    /// Returns `true` if a value whose loads have been looked up is a real number or what `wanted` allows besides.
    pub(super) fn has_finiteness(
        &mut self,
        value: &Value,
        wanted: Finiteness,
        known: &[Formula],
    ) -> bool {
        let mut may_be_empty = |range: &Sum| {
            let has_element = range.high.offset(-1).map(Formula::ge);
            !has_element.is_some_and(|condition| self.proves(known, &condition))
        };
        [Finiteness::Finite, wanted].contains(&value.finiteness_if(&mut may_be_empty))
    }
}

/// Decides whether the range of a fold may be empty.
type MayBeEmpty<'e> = &'e mut dyn FnMut(&Sum) -> bool;

/// The finiteness of an operand of a maximum or minimum. An operand that folds over ranges alone comes from a
/// loop that may have no iterations ([`Recurrence::value`](super::recurrences::Recurrence::value)), and the maximum of
/// no values is −∞. Such an operand is never taken for finite; the other operands have to be.
fn finiteness_of_operand(name: &str, value: &Value, may_be_empty: MayBeEmpty<'_>) -> Finiteness {
    let only_ranges = |fold: &Fold| fold.pieces.iter().all(|piece| matches!(piece, Piece::Run(_)));
    match value.finiteness_if(may_be_empty) {
        Finiteness::Finite if single_fold(value).is_some_and(only_ranges) => match name {
            "max" => Finiteness::OrMinusInfinity,
            _ => Finiteness::OrPlusInfinity,
        },
        other => other,
    }
}

/// The finiteness of an atom.
fn finiteness_of_atom(atom: &Atom, may_be_empty: MayBeEmpty<'_>) -> Finiteness {
    match atom {
        Atom::Number(bits) => match f64::from_bits(*bits) {
            number if number.is_finite() => Finiteness::Finite,
            f64::NEG_INFINITY => Finiteness::OrMinusInfinity,
            f64::INFINITY => Finiteness::OrPlusInfinity,
            _ => Finiteness::Unknown,
        },
        Atom::Call(name, arguments) if matches!(name.as_str(), "max" | "min") => {
            let operands: Vec<Finiteness> = arguments
                .iter()
                .map(|one| finiteness_of_operand(name, one, may_be_empty))
                .collect();
            Finiteness::extreme(name, operands.into_iter())
        }
        Atom::Call(name, arguments)
            if let Some(if_finite) = extremes::conditional_finiteness(name) =>
        {
            let finite = |one: &Value| one.finiteness_if(may_be_empty) == Finiteness::Finite;
            if arguments.iter().all(finite) { if_finite } else { Finiteness::Unknown }
        }
        Atom::Call(name, arguments) if is_exponential(name) => {
            let number = |one: &Value| {
                matches!(
                    one.finiteness_if(may_be_empty),
                    Finiteness::Finite | Finiteness::OrMinusInfinity
                )
            };
            Finiteness::if_all(arguments.iter().all(number))
        }
        Atom::Call(_, arguments) => {
            let mut finite = |one: &Value| one.finiteness_if(may_be_empty) == Finiteness::Finite;
            Finiteness::if_all(arguments.iter().all(&mut finite))
        }
        Atom::Sum(sum) => {
            Finiteness::if_all(sum.body.finiteness_if(may_be_empty) == Finiteness::Finite)
        }
        Atom::Fold(fold) => {
            let name = fold.op.name.as_str();
            let mut pieces = Vec::new();
            for piece in &fold.pieces {
                pieces.push(match piece {
                    Piece::One(value) => value.finiteness_if(may_be_empty),
                    // A fold of no elements is its unit: a known number for integers, else an infinity.
                    Piece::Run(sum) if fold.unit.is_none() && may_be_empty(sum) => match name {
                        "max" => Finiteness::OrMinusInfinity,
                        "min" => Finiteness::OrPlusInfinity,
                        _ => Finiteness::Unknown,
                    },
                    Piece::Run(sum) => match (name, sum.body.finiteness_if(may_be_empty)) {
                        ("max", Finiteness::OrMinusInfinity) => Finiteness::OrMinusInfinity,
                        ("min", Finiteness::OrPlusInfinity) => Finiteness::OrPlusInfinity,
                        (_, other) => Finiteness::if_all(other == Finiteness::Finite),
                    },
                });
            }
            match name {
                "max" | "min" => Finiteness::extreme(name, pieces.into_iter()),
                _ => Finiteness::if_all(pieces.iter().all(|one| *one == Finiteness::Finite)),
            }
        }
        Atom::Input(..) | Atom::Load(_) | Atom::Scalar(_) | Atom::Int(_) | Atom::Truth(_) => {
            Finiteness::Finite
        }
        Atom::Entry(entry) => entry.finiteness,
        Atom::Carried(_, finiteness) => *finiteness,
        Atom::Unknown(..) => Finiteness::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &str, arguments: Vec<Value>) -> Value {
        Value::atom(Atom::Call(name.to_owned(), arguments))
    }

    #[test]
    fn operations_keep_or_remove_infinities() {
        let x = Value::atom(Atom::Scalar("x".to_owned()));
        let low = Value::number(f64::NEG_INFINITY);
        let high = low.times(&Value::constant(-1)).unwrap();
        assert_eq!(
            (low.finiteness(), high.finiteness()),
            (Finiteness::OrMinusInfinity, Finiteness::OrPlusInfinity)
        );
        assert!(x.is_finite() && Value::number(1e300).is_finite() && Value::default().is_finite());
        // The greater of a number and −∞ is the number, the lesser is not.
        assert!(call("max", vec![low.clone(), x.clone()]).is_finite());
        assert_eq!(
            call("min", vec![low.clone(), x.clone()]).finiteness(),
            Finiteness::OrMinusInfinity
        );
        assert_eq!(
            call("max", vec![high.clone(), x.clone()]).finiteness(),
            Finiteness::OrPlusInfinity
        );
        assert!(call("min", vec![high, x.clone()]).is_finite());
        assert_eq!(
            call("max", vec![low.clone(), low.clone()]).finiteness(),
            Finiteness::OrMinusInfinity
        );
        // An infinity plus a number is still that infinity, and `e^−∞` is 0.
        assert_eq!(low.plus(&x).unwrap().finiteness(), Finiteness::OrMinusInfinity);
        assert_eq!(call("exp", vec![low.clone()]).finiteness(), Finiteness::Finite);
        assert!(
            !call("exp", vec![low.clone()]).is_plain() && call("exp", vec![x.clone()]).is_plain()
        );
        let scale = Value::number(-1.3);
        assert_eq!(low.times(&scale).unwrap().finiteness(), Finiteness::OrPlusInfinity);
        // The result of any other operation on them may be anything.
        let high = low.times(&Value::constant(-1)).unwrap();
        assert_eq!(
            low.plus(&x.times(&x).unwrap()).unwrap().finiteness(),
            Finiteness::OrMinusInfinity
        );
        assert_eq!(call("exp", vec![high]).finiteness(), Finiteness::Unknown);
        assert_eq!(call("log", vec![low.clone()]).finiteness(), Finiteness::Unknown);
        assert_eq!(low.times(&x).unwrap().finiteness(), Finiteness::Unknown);
        assert_eq!(Value::number(f64::NAN).finiteness(), Finiteness::Unknown);
    }
}
