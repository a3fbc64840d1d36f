//! Scalars given as expressions (`--arg scale=1/sqrt(8)`): decisions that depend on rounding them to a float.
//!
//! A proof uses the value of the expression. A launch passes the nearest float, and the report lists the
//! difference as assumed. Sums and products with the two differ by a rounding. But a comparison, a rounding
//! to an integer or a sign may come out differently: `scale >= 0.1f` fails for 1/10 and holds for the nearest
//! float. So a side with such a scalar records the outcome of every decision without other inputs
//! ([`Decisions`](crate::decisions::Decisions)). After a proof it runs once more with the nearest floats, and
//! all decisions must be the same.
//!
//! A comparison with other inputs is a condition in the terms, the same on both sides of the proof.
//! Expressions that name other scalars are not checked.

use crate::nearest::rounded_scalar;
use crate::options::Options;
use crate::sequence::Launches;
use crate::side::{InputKind, Side};
use crate::side_run::SideRun;
use exec::Place;

/// A decision that comes out differently with the nearest floats than with the exact scalars.
#[derive(Clone, Debug)]
pub struct ScalarDecision {
    /// The scalars of the side, their expressions and nearest floats.
    pub scalars: Vec<(String, String, f64)>,
    /// The side, 0 for the reference.
    pub side: usize,
    /// The place of the decision.
    pub place: Option<Place>,
}

/// Runs the sides with exact scalars once more, with floats, and returns the first decision that changes.
pub(crate) fn find(
    launches: &[Launches<'_, '_>; 2],
    options: &Options<'_>,
    ran: &[SideRun; 2],
) -> Option<ScalarDecision> {
    launches.iter().zip(ran).find_map(|(one, ran)| {
        let before = ran.domain.decisions.as_ref()?;
        let side = one.number;
        let differs = |place| ScalarDecision { scalars: scalars(one.side), side, place };
        let Ok(mut domain) = one.table.domain_of_floats(one.side, one.number, options.snap) else {
            return Some(differs(None));
        };
        domain.constants.replace(ran.domain.constants.meanings().iter().cloned());
        domain.assumed_properties.clamps = ran.domain.assumed_properties.clamps;
        let again = one.run(domain, None);
        let after = again.domain.decisions.as_ref().filter(|_| again.ended());
        match after {
            Some(after) => before.first_difference(after).map(differs),
            None => Some(differs(None)),
        }
    })
}

/// Returns the exact scalars of a side: names, expressions and nearest floats.
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
