//! Comparisons of abstract values.

use crate::Enclosure;
use crate::domain::AbstractValue;
use AbstractValue::{Infinite, Real, Undecided, Undefined, Unsure};
use ir::Relation;
use std::cmp::Ordering;

const UNDEFINED: &str = "a comparison with an undefined value";
const CLOSE: &str = "a comparison of numbers too close to be told apart";

/// Returns the truth of a comparison, or why there is none.
pub(crate) fn compare<E: Enclosure>(
    relation: Relation,
    a: &AbstractValue<E>,
    b: &AbstractValue<E>,
) -> Result<bool, &'static str> {
    let rank = |negative: bool| if negative { -1 } else { 1 };
    let order = match (a, b) {
        (Undefined(_), _) | (_, Undefined(_)) => return Err(UNDEFINED),
        (Real(x), Real(y)) => return compare_reals(relation, x, y).ok_or(CLOSE),
        (Infinite { negative: x }, Infinite { negative: y }) => rank(*x).cmp(&rank(*y)),
        (Infinite { negative }, Real(_)) => rank(*negative).cmp(&0),
        (Real(_), Infinite { negative }) => 0.cmp(&rank(*negative)),
        (Unsure(why) | Undecided(why), _) | (_, Unsure(why) | Undecided(why)) => return Err(why),
    };
    Ok(holds(relation, order))
}

fn holds(relation: Relation, order: Ordering) -> bool {
    match relation {
        Relation::Eq => order.is_eq(),
        Relation::Ne => order.is_ne(),
        Relation::Lt => order.is_lt(),
        Relation::Le => order.is_le(),
        Relation::Gt => order.is_gt(),
        Relation::Ge => order.is_ge(),
    }
}

/// Enclosures that touch still decide `≤`, `>`, `≥` and `<` on one side: there, equality has the same answer as one
/// strict order.
fn compare_reals<E: Enclosure>(relation: Relation, x: &E, y: &E) -> Option<bool> {
    if let Some(order) = x.order(y) {
        return Some(holds(relation, order));
    }
    match relation {
        Relation::Le if x.at_most(y) => Some(true),
        Relation::Gt if x.at_most(y) => Some(false),
        Relation::Ge if y.at_most(x) => Some(true),
        Relation::Lt if y.at_most(x) => Some(false),
        _ => None,
    }
}
