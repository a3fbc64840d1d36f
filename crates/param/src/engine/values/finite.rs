//! Which values are real numbers.
//!
//! The algebra of values is that of real numbers: `x − x` is 0 and `0·x` too. Infinities of the source (`m = -INFINITY` before
//! a maximum is looked for) are none, and little is computed with them: they may be compared, stored, be the lesser of two, be added to
//! numbers and to infinities of the same sign, multiplied with constants, and `e^−∞` is 0. All else with them is not followed. Elements of
//! inputs and parameters are numbers.
//!
//! What a loop changes is at the head of an iteration what it was before the loop or what an iteration leaves
//! , not simply a number.
//!
//! What a thread loads is taken for a number until it is looked up; then it is looked at again, and there the greatest of values is a number
//! only if it is shown that there are some.

use super::extent::Extent;
use super::extremes::{self, single_fold};
use super::resolve::Resolver;
use super::value::{Atom, Fold, Piece, Product, Sum, Value};
use crate::logic::formula::Formula;

impl Value {
    /// Whether it is a real number, whatever the inputs are.
    pub(super) fn is_finite(&self) -> bool {
        self.extent() == Extent::Finite
    }

    /// What it may be besides a real number, if what is combined in folds is not nothing.
    pub(super) fn extent(&self) -> Extent {
        self.extent_if(&mut |_| false)
    }

    /// What it may be besides a real number, where these runs may have no values.
    fn extent_if(&self, empty: Empty<'_>) -> Extent {
        let terms = self.terms.iter();
        terms.fold(Extent::Finite, |sum, (product, ratio)| {
            sum.or(of_product(product, ratio.top < 0, empty))
        })
    }

    /// Whether it is a finite number other than 0 that is known.
    pub(super) fn is_constant(&self) -> bool {
        let known =
            |atom: &Atom| matches!(atom, Atom::Number(bits) if f64::from_bits(*bits).is_finite());
        self.terms.len() == 1 && self.terms.keys().flatten().all(|(atom, _)| known(atom))
    }

    /// Whether it can be an argument of any function, or a divisor that is not zero: it is a real number, and has no `e^x`
    /// whose exponent may be −∞.
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

/// Of a product: infinities keep to constants.
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
    /// Whether a value that was looked up is a real number. The greatest of values is one only if there are some.
    pub(super) fn is_number(&mut self, value: &Value, known: &[Formula]) -> bool {
        let mut empty = |run: &Sum| {
            let some = run.high.offset(-1).map(Formula::ge);
            !some.is_some_and(|some| self.shows(known, &some))
        };
        value.extent_if(&mut empty) == Extent::Finite
    }
}

/// Whether a run may have no values.
type Empty<'e> = &'e mut dyn FnMut(&Sum) -> bool;

/// A value of which the greatest, or least, with others is taken. Iterations of which there may be none are kept so
/// ([`Carry::value`](super::carry::Carry::value)): the greatest of no values is −∞.
fn beside_others(name: &str, value: &Value, empty: Empty<'_>) -> Extent {
    let runs = |fold: &Fold| fold.pieces.iter().all(|piece| matches!(piece, Piece::Run(_)));
    match value.extent_if(empty) {
        Extent::Finite if single_fold(value).is_some_and(runs) => match name {
            "max" => Extent::Low,
            _ => Extent::High,
        },
        extent => extent,
    }
}

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
                arguments.iter().map(|one| beside_others(name, one, empty)).collect();
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
                    // Integers have a least and a greatest one.
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
        // A number more is still one of them, and `e^−∞` is 0.
        assert_eq!(low.plus(&x).unwrap().extent(), Extent::Low);
        assert_eq!(call("exp", vec![low.clone()]).extent(), Extent::Finite);
        assert!(
            !call("exp", vec![low.clone()]).is_plain() && call("exp", vec![x.clone()]).is_plain()
        );
        let scale = Value::number(-1.3);
        assert_eq!(low.times(&scale).unwrap().extent(), Extent::High);
        // Computed with otherwise, they are anything.
        let high = low.times(&Value::constant(-1)).unwrap();
        assert_eq!(low.plus(&x.times(&x).unwrap()).unwrap().extent(), Extent::Low);
        assert_eq!(call("exp", vec![high]).extent(), Extent::Other);
        assert_eq!(call("log", vec![low.clone()]).extent(), Extent::Other);
        assert_eq!(low.times(&x).unwrap().extent(), Extent::Other);
        assert_eq!(Value::number(f64::NAN).extent(), Extent::Other);
    }
}
