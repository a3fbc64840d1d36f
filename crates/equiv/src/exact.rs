//! Scalars that are given as expressions (`--arg scale=1/sqrt(8)`): the float that a launch passes for such a number,
//! and what a kernel decides by it.
//!
//! A proof takes the expression's value. A launch passes the nearest float, and the report lists the difference as
//! assumed. Sums and products of the two differ by a rounding, but a comparison, a rounding to an integer or a sign
//! may come out otherwise: `scale >= 0.1f` fails for 1/10 and holds for the float nearest to it. So a
//! side that has such a scalar notes what comes out of every decision that no other input takes part in ([`Decisions`]). After
//! a proof it is run once more with the nearest floats, and all decisions must be the same.
//!
//! A comparison that other inputs take part in is a condition in the terms, the same one on both sides of the proof.
//! Expressions that name other scalars are taken at their word.

use crate::answer::{Options, Ran};
use crate::formula::Formula;
use crate::sequence::Launches;
use crate::side::{Input, InputKind, Side};
use decide::{Value, evaluate};
use exec::Place;
use exec::concrete::{self, Conversion};
use ir::{Format, Scalar};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hash};
use term::{Inputs, Node, NodeId, Number, Relation, Term, Terms};

/// The float nearest to an expression without names.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nearest {
    /// The float; infinite if the value is beyond its format.
    pub number: f64,
    /// Whether the expression has that value exactly.
    pub is_exact: bool,
    /// Whether the value is not zero and the float is.
    pub vanishes: bool,
}

impl Formula {
    /// The float of a format that is nearest to its value; `None` if it has names or no value.
    #[must_use]
    pub fn nearest(&self, format: Format) -> Option<Nearest> {
        let mut terms = Terms::new(Inputs::new().into());
        let term = self.term(&mut terms, &|_| None).ok()?;
        let Value::Real(value) = evaluate(&terms, &[term], &|_| Number::ZERO).pop()? else {
            return None;
        };
        let (low, high) = value.to_f64_bounds();
        let [low, high] = [low, high].map(|bound| rounded(format, bound));
        let number = match () {
            () if low == high => low,
            () if !low.is_finite() || !high.is_finite() => f64::INFINITY,
            () if is_nearer_to_first(&mut terms, term, [low, high]) => low,
            () => high,
        };
        let is_exact = match terms.as_number(term) {
            Some(exact) => Number::from_f64(number).as_ref() == Some(exact),
            None => false,
        };
        let vanishes = number == 0.0 && value.sign().is_some_and(|sign| sign != 0);
        Some(Nearest { number, is_exact, vanishes })
    }
}

/// The nearest float of a format.
pub(crate) fn rounded(format: Format, number: f64) -> f64 {
    let conversion = Conversion::nearest(Scalar::Float(Format::F64), Scalar::Float(format));
    concrete::to_double(format, concrete::convert(conversion, number.to_bits()))
}

/// Whether a value between two floats is at most half way.
fn is_nearer_to_first(terms: &mut Terms, value: Term, floats: [f64; 2]) -> bool {
    let [low, high] = floats.map(|number| terms.float(number));
    let (sum, twice) = (terms.add(low, high), terms.add(value, value));
    let nearer = terms.compare(Relation::LessEqual, twice, sum);
    evaluate(terms, &[nearer], &|_| Number::ZERO).pop() == Some(Value::Truth(true))
}

/// The nearest float of an input that is an expression without names and no float itself.
pub(crate) fn rounded_scalar(input: &Input) -> Option<f64> {
    let (InputKind::Related(formula), Scalar::Float(format)) = (&input.kind, input.scalar) else {
        return None;
    };
    let nearest = formula.nearest(format).filter(|nearest| !nearest.is_exact)?;
    Some(nearest.number)
}

/// What came out of decisions by numbers without inputs, place by place, in the order of a run.
#[derive(Debug, Default)]
pub(crate) struct Decisions {
    /// A hash of everything that came out at a place.
    places: BTreeMap<Option<Place>, u64>,
    known: FxHashMap<Term, u64>,
}

/// What came out: not settled without inputs, not settled at all.
const OPEN: u64 = 2;
const UNSETTLED: u64 = 3;

impl Decisions {
    /// Notes what a condition or a rounded number is.
    pub(crate) fn note(&mut self, terms: &Terms, place: Option<Place>, term: Term) {
        let outcome = match self.known.get(&term) {
            Some(outcome) => *outcome,
            None => {
                let outcome = outcome(terms, term);
                self.known.insert(term, outcome);
                outcome
            }
        };
        let hash = self.places.entry(place).or_default();
        let mut hasher = rustc_hash::FxBuildHasher.build_hasher();
        (*hash, outcome).hash(&mut hasher);
        *hash = std::hash::Hasher::finish(&hasher);
    }

    /// The first place at which something else came out in another run.
    fn first_difference(&self, other: &Self) -> Option<Option<Place>> {
        let places = self.places.keys().chain(other.places.keys());
        places.copied().find(|place| self.places.get(place) != other.places.get(place))
    }
}

fn outcome(terms: &Terms, term: Term) -> u64 {
    if let Node::Truth(holds) = terms.node(term) {
        return holds.into();
    }
    if has_inputs(terms, term) {
        return OPEN;
    }
    match evaluate(terms, &[term], &|_| Number::ZERO).pop() {
        Some(Value::Truth(holds)) => holds.into(),
        Some(Value::Real(value)) if value.is_point() => value.to_f64_lossy().to_bits() ^ OPEN,
        _ => UNSETTLED,
    }
}

/// Whether a term depends on inputs.
pub(crate) fn has_inputs(terms: &Terms, root: Term) -> bool {
    let mut seen = FxHashSet::default();
    let mut work = vec![terms.node(root)];
    while let Some(node) = work.pop() {
        let mut is_input = |child: NodeId| {
            let node = terms.at(child);
            if seen.insert(child) {
                work.push(node);
            }
            matches!(node, Node::Input(_))
        };
        // Sums are long, and their first product has an input most often.
        let found = match node {
            Node::Input(_) => true,
            Node::Sum(sum) => {
                let factors = terms.products(sum).flatten();
                let mut nodes = factors.flat_map(|factors| [factors.left(), factors.right()]);
                nodes.any(&mut is_input)
            }
            other => other.children().any(&mut is_input),
        };
        if found {
            return true;
        }
    }
    false
}

/// A decision that the nearest floats of scalars take otherwise than the scalars themselves.
#[derive(Clone, Debug)]
pub struct Otherwise {
    /// The scalars of the side, their expressions and the nearest floats.
    pub scalars: Vec<(String, String, f64)>,
    /// The side, the reference or the other.
    pub side: usize,
    /// Where.
    pub place: Option<Place>,
}

/// Looks for such a decision: runs sides with such scalars once more.
pub(crate) fn find(
    launches: &[Launches<'_, '_>; 2],
    options: &Options<'_>,
    ran: &[Ran; 2],
) -> Option<Otherwise> {
    launches.iter().zip(ran).find_map(|(one, ran)| {
        let before = ran.domain.decisions.as_ref()?;
        let side = one.number;
        let otherwise = |place| Otherwise { scalars: scalars(one.side), side, place };
        let Ok(mut domain) = one.table.domain_of_floats(one.side, one.number, options.snap) else {
            return Some(otherwise(None));
        };
        domain.constants.replace(ran.domain.constants.stand_for().iter().cloned());
        domain.relied.clamps = ran.domain.relied.clamps;
        let again = one.run(domain, None);
        let after = again.domain.decisions.as_ref().filter(|_| again.ended());
        match after {
            Some(after) => before.first_difference(after).map(otherwise),
            None => Some(otherwise(None)),
        }
    })
}

fn scalars(side: &Side<'_>) -> Vec<(String, String, f64)> {
    let mut all: Vec<(String, String, f64)> = Vec::new();
    for input in side.launches().flat_map(|launch| &launch.inputs) {
        if let (InputKind::Related(formula), Some(nearest)) = (&input.kind, rounded_scalar(input))
            && !all.iter().any(|(name, ..)| *name == input.name)
        {
            all.push((input.name.clone(), formula.to_string(), nearest));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nearest(text: &str, format: Format) -> Nearest {
        Formula::expression(text).unwrap().nearest(format).unwrap()
    }

    #[test]
    fn the_nearest_float_is_found() {
        let root = 0.125_f64.sqrt();
        for (format, expected) in [(Format::F32, f64::from(root as f32)), (Format::F64, root)] {
            let found = nearest("1/sqrt(8)", format);
            assert_eq!((found.number, found.is_exact, found.vanishes), (expected, false, false));
        }
        assert_eq!(nearest("1/3", Format::F16).number, 0.333_251_953_125);
        assert_eq!(nearest("1/3", Format::Bf16).number, 0.333_984_375);
        // A tie of singles, and its neighbours closer than any double.
        for (text, expected) in [
            ("1+2^-24", 1.0),
            ("1+2^-24+2^-90", 1.0 + f64::from(f32::EPSILON)),
            ("1+2^-24-2^-90", 1.0),
        ] {
            assert_eq!(nearest(text, Format::F32).number, expected, "{text}");
        }
        assert!(nearest("sqrt(4)/8", Format::F16).is_exact);
        assert!(
            nearest("log(1)", Format::F32).is_exact && !nearest("log(1)", Format::F32).vanishes
        );
        assert_eq!(Formula::expression("x/2").unwrap().nearest(Format::F32), None);
    }

    #[test]
    fn the_ends_of_formats_are_known() {
        let too_large = [
            ("exp(1000)", Format::F64),
            ("exp(89)", Format::F32),
            ("-exp(89)", Format::F32),
            ("exp(12)", Format::F16),
            ("exp(89)", Format::Bf16),
        ];
        for (text, format) in too_large {
            assert!(!nearest(text, format).number.is_finite(), "{text} {format:?}");
        }
        let too_small = [
            ("exp(-1000)", Format::F64),
            ("exp(-200)", Format::F32),
            ("-exp(-20)", Format::F16),
            ("exp(-100)", Format::Bf16),
        ];
        for (text, format) in too_small {
            assert!(nearest(text, format).vanishes, "{text} {format:?}");
        }
        assert!(nearest("exp(88)", Format::F32).number.is_finite());
        assert!(!nearest("exp(-100)", Format::F32).vanishes);
    }
}
