//! Scalars that are given as expressions (`--arg scale=1/sqrt(8)`): the float that a launch passes for such a number,
//! and what a kernel decides by it.
//!
//! A proof takes the expression's value. A launch passes the nearest float, and the report lists the difference as
//! assumed. Sums and products of the two differ by a rounding, but a comparison, a rounding to an integer or a sign
//! may come out otherwise: `scale >= 0.1f` fails for 1/10 and holds for the float nearest to it. So a
//! side that has such a scalar notes what comes out of every decision that no other input takes part in ([`Decisions`](crate::decisions::Decisions)). After
//! a proof it is run once more with the nearest floats, and all decisions must be the same.
//!
//! A comparison that other inputs take part in is a condition in the terms, the same one on both sides of the proof.
//! Expressions that name other scalars are taken at their word.

use crate::nearest::rounded_scalar;
use crate::options::Options;
use crate::ran::Ran;
use crate::sequence::Launches;
use crate::side::{InputKind, Side};
use exec::Place;

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
