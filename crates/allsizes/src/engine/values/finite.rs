//! Determines which values are real numbers.
//!
//! The algebra of values is that of real numbers: `x − x` is 0 and `0·x` too. Infinities of the source (`m =
//! -INFINITY` before a maximum is taken) are not real numbers, and few operations on them are supported. They may be
//! compared, stored, be operands of minima and maxima, be added to numbers and to infinities of the same sign, and be
//! multiplied with constants; `e^−∞` is 0. All other operations on them are unsupported. Elements of inputs and
//! parameters are numbers.
//!
//! A variable that a loop changes has, at the head of an iteration, its value from before the loop or from the end of
//! an iteration. It is not simply a number.
//!
//! A loaded value is taken for a number until it is looked up. Then it is checked again, and there a maximum is a
//! number only if it is proved to have operands.

use super::extent::Extent;
use super::extremes::{self, single_fold};
use super::resolve::Resolver;
use super::value::{Atom, Fold, Piece, Product, Sum, Value};
use arith::formula::Formula;

impl Value {
    /// Is it a real number for all inputs?
    pub(super) fn is_finite(&self) -> bool {
        self.extent() == Extent::Finite
    }

    /// The non-finite values that it may have, if no fold is empty.
    pub(super) fn extent(&self) -> Extent {
        self.extent_if(&mut |_| false)
    }

    /// The non-finite values that it may have, if these runs may be empty.
    fn extent_if(&self, empty: Empty<'_>) -> Extent {
        let terms = self.terms.iter();
        terms.fold(Extent::Finite, |sum, (product, ratio)| {
            sum.or(of_product(product, ratio.top < 0, empty))
        })
    }

    /// Is it a known finite number other than 0?
    pub(super) fn is_constant(&self) -> bool {
        let known =
            |atom: &Atom| matches!(atom, Atom::Number(bits) if f64::from_bits(*bits).is_finite());
        self.terms.len() == 1 && self.terms.keys().flatten().all(|(atom, _)| known(atom))
    }

    /// May it be an argument of any function, or a divisor that is not zero? It must be a real number without an
    /// `e^x` whose exponent may be −∞.
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

/// The extent of a product: only constants may be multiplied with infinities.
fn of_product(product: &Product, mut negative: bool, empty: Empty<'_>) -> Extent {
    let mut infinite = Extent::Finite;
    let mut constant = true;
    for (atom, exponent) in product {
        match (of_atom(atom, empty), atom) {
            (Extent::Finite, Atom::Number(bits)) => {
                negative ^= f64::from_bits(*bits) < 0.0 && exponent % 2 == 1;
            }
            (Extent::Finite, _) => constant = false,
            (other, _) if infinite == Extent::Finite && *exponent == 1 => infinite = other,
            _ => infinite = Extent::Other,
        }
    }
    match infinite {
        Extent::Finite => Extent::Finite,
        _ if !constant => Extent::Other,
        one if negative => one.negated(),
        one => one,
    }
}

impl Resolver {
    /// Is a value that was looked up a real number? A maximum is one only if it has operands.
    pub(super) fn is_number(&mut self, value: &Value, known: &[Formula]) -> bool {
        let mut empty = |run: &Sum| {
            let some = run.high.offset(-1).map(Formula::ge);
            !some.is_some_and(|some| self.proves(known, &some))
        };
        value.extent_if(&mut empty) == Extent::Finite
    }
}

/// Decides whether a run may be empty.
type Empty<'e> = &'e mut dyn FnMut(&Sum) -> bool;

/// The non-finite values of an operand, where a maximum or minimum has others. A loop that may have no iterations is
/// such an operand ([`Recurrence::value`](super::recurrences::Recurrence::value)): the maximum of no values is −∞.
fn extent_of_operand(name: &str, value: &Value, empty: Empty<'_>) -> Extent {
    let runs = |fold: &Fold| fold.pieces.iter().all(|piece| matches!(piece, Piece::Run(_)));
    match value.extent_if(empty) {
        Extent::Finite if single_fold(value).is_some_and(runs) => match name {
            "max" => Extent::Low,
            _ => Extent::High,
        },
        extent => extent,
    }
}

/// The non-finite values that an atom may have.
fn of_atom(atom: &Atom, empty: Empty<'_>) -> Extent {
    match atom {
        Atom::Number(bits) => match f64::from_bits(*bits) {
            number if number.is_finite() => Extent::Finite,
            f64::NEG_INFINITY => Extent::Low,
            f64::INFINITY => Extent::High,
            _ => Extent::Other,
        },
        Atom::Call(name, arguments) if matches!(name.as_str(), "max" | "min") => {
            let extents: Vec<Extent> =
                arguments.iter().map(|one| extent_of_operand(name, one, empty)).collect();
            Extent::extreme(name, extents.into_iter())
        }
        Atom::Call(name, arguments) if let Some(extent) = extremes::extent(name) => {
            let finite = |one: &Value| one.extent_if(empty) == Extent::Finite;
            if arguments.iter().all(finite) { extent } else { Extent::Other }
        }
        Atom::Call(name, arguments) if is_exponential(name) => {
            let number = |one: &Value| matches!(one.extent_if(empty), Extent::Finite | Extent::Low);
            Extent::if_all(arguments.iter().all(number))
        }
        Atom::Call(_, arguments) => {
            let mut finite = |one: &Value| one.extent_if(empty) == Extent::Finite;
            Extent::if_all(arguments.iter().all(&mut finite))
        }
        Atom::Sum(sum) => Extent::if_all(sum.body.extent_if(empty) == Extent::Finite),
        Atom::Fold(fold) => {
            let name = fold.op.name.as_str();
            let mut extents = Vec::new();
            for piece in &fold.pieces {
                extents.push(match piece {
                    Piece::One(value) => value.extent_if(empty),
                    // Integers have a minimum and a maximum.
                    Piece::Run(sum) if fold.unit.is_none() && empty(sum) => match name {
                        "max" => Extent::Low,
                        "min" => Extent::High,
                        _ => Extent::Other,
                    },
                    Piece::Run(sum) => match (name, sum.body.extent_if(empty)) {
                        ("max", Extent::Low) => Extent::Low,
                        ("min", Extent::High) => Extent::High,
                        (_, extent) => Extent::if_all(extent == Extent::Finite),
                    },
                });
            }
            match name {
                "max" | "min" => Extent::extreme(name, extents.into_iter()),
                _ => Extent::if_all(extents.iter().all(|extent| *extent == Extent::Finite)),
            }
        }
        Atom::Input(..)
        | Atom::Load(_)
        | Atom::Entry(_)
        | Atom::Scalar(_)
        | Atom::Int(_)
        | Atom::Truth(_) => Extent::Finite,
        Atom::Carried(_, extent) => *extent,
        Atom::Unknown(..) => Extent::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &str, arguments: Vec<Value>) -> Value {
        Value::atom(Atom::Call(name.to_owned(), arguments))
    }

    #[test]
    fn infinities_are_seen_through_what_keeps_them() {
        let x = Value::atom(Atom::Scalar("x".to_owned()));
        let low = Value::number(f64::NEG_INFINITY);
        let high = low.times(&Value::constant(-1)).unwrap();
        assert_eq!((low.extent(), high.extent()), (Extent::Low, Extent::High));
        assert!(x.is_finite() && Value::number(1e300).is_finite() && Value::default().is_finite());
        // The greater of a number and −∞ is the number, the lesser is not.
        assert!(call("max", vec![low.clone(), x.clone()]).is_finite());
        assert_eq!(call("min", vec![low.clone(), x.clone()]).extent(), Extent::Low);
        assert_eq!(call("max", vec![high.clone(), x.clone()]).extent(), Extent::High);
        assert!(call("min", vec![high, x.clone()]).is_finite());
        assert_eq!(call("max", vec![low.clone(), low.clone()]).extent(), Extent::Low);
        // An infinity plus a number is still that infinity, and `e^−∞` is 0.
        assert_eq!(low.plus(&x).unwrap().extent(), Extent::Low);
        assert_eq!(call("exp", vec![low.clone()]).extent(), Extent::Finite);
        assert!(
            !call("exp", vec![low.clone()]).is_plain() && call("exp", vec![x.clone()]).is_plain()
        );
        let scale = Value::number(-1.3);
        assert_eq!(low.times(&scale).unwrap().extent(), Extent::High);
        // The result of any other operation on them may be anything.
        let high = low.times(&Value::constant(-1)).unwrap();
        assert_eq!(low.plus(&x.times(&x).unwrap()).unwrap().extent(), Extent::Low);
        assert_eq!(call("exp", vec![high]).extent(), Extent::Other);
        assert_eq!(call("log", vec![low.clone()]).extent(), Extent::Other);
        assert_eq!(low.times(&x).unwrap().extent(), Extent::Other);
        assert_eq!(Value::number(f64::NAN).extent(), Extent::Other);
    }
}
