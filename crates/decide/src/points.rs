//! The points that are tried, and the values of inputs there.
//!
//! Points are pseudo-random but fixed, with small significands (three bits), so that every value is exactly
//! representable in every float format down to 8 bits. Some have many ties and zeros, where selects and maxima are
//! decided. If an assumption bounds an input by a number, or an input is an integer, its values are moved into the
//! range, if possible by powers of two: an assumption on all elements of a tensor would hold at hardly any point
//! otherwise. Integers that assumptions declare different are different at every point, if their range has room. A
//! value always has its input's type, even if no such value is in the range: an assumption that no number of a type
//! satisfies holds at no point.

use crate::deadline::Deadline;
use crate::problem::{Budget, Problem};
use base::mix64;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use term::{FloatNumbers, Input, Node, Number, Numbers, Relation, Term, Terms};

/// Powers of two that are tried to bring a value into its range.
const MAX_SCALE: i32 = 24;

/// A bound, and `true` if it is excluded.
type Endpoint = Option<(Number, bool)>;

/// The allowed values of an input.
#[derive(Clone, Debug, Default)]
struct Range {
    low: Endpoint,
    high: Endpoint,
    /// Integers outside of the bounds that are allowed, too.
    others: Vec<Number>,
}

/// The points of a problem.
#[derive(Debug)]
pub struct Points<'t> {
    terms: &'t Terms,
    significand_bits: u32,
    ranges: FxHashMap<Input, Range>,
    /// Inputs that differ from each other: the index of each in its group, and the group's size.
    apart: FxHashMap<Input, (u64, u64)>,
    /// Set if any input stands for less than all reals.
    typed: bool,
    /// Deadline for searches that use these points.
    pub(crate) deadline: Deadline,
}

impl<'t> Points<'t> {
    pub(crate) fn new(problem: &Problem<'t>, budget: &Budget) -> Self {
        let points = Self::within(problem.reference, problem.assumptions, budget.significand_bits);
        Self { deadline: budget.deadline, ..points }
    }

    /// Creates points whose values are in the ranges that assumptions give single inputs.
    #[must_use]
    pub fn within(terms: &'t Terms, assumptions: &[Term], significand_bits: u32) -> Self {
        let mut ranges = FxHashMap::default();
        assumptions.iter().for_each(|assumption| collect_bounds(terms, *assumption, &mut ranges));
        let (apart, typed) = (groups_of_distinct(terms, assumptions), terms.inputs().has_types());
        Self { terms, significand_bits, ranges, apart, typed, deadline: Deadline::default() }
    }

    /// Returns the value, or a nearby one in the range of the input.
    #[must_use]
    pub fn confine(&self, input: Input, value: f64) -> f64 {
        match (self.ranges.get(&input), Number::from_f64(value)) {
            (Some(range), Some(number)) => range.real(number).to_f64_lossy(),
            _ => value,
        }
    }

    /// Returns the value of an input at point `number`.
    #[must_use]
    pub fn value(&self, number: u64, input: Input) -> Number {
        let bits = match number & DISTINCT {
            0 => self.significand_bits,
            _ => self.significand_bits.max(DISTINCT_BITS),
        };
        let usual = value(number, input, bits);
        let kind = match self.typed {
            true => self.terms.inputs().numbers(input),
            false => Numbers::Reals,
        };
        let range = self.ranges.get(&input);
        match (kind, range) {
            (Numbers::Reals, None) => usual,
            (Numbers::Reals, Some(range)) => range.real(usual),
            (Numbers::Floats(_), None) if bits <= MIN_BITS => usual,
            (Numbers::Floats(floats), None) => floats.at_most(&usual).unwrap_or(Number::ZERO),
            (Numbers::Floats(floats), Some(range)) => range.float(usual, floats),
            (Numbers::Integers(low, high), range) => {
                if let Some(other) = range.and_then(|range| range.other(number, input)) {
                    return other.clone();
                }
                let (least, most) = range.map_or((low, high), |range| range.integers(low, high));
                match least <= most {
                    true => match self.apart.get(&input) {
                        Some(&place) => permuted(number, place, (least, most)),
                        None => integer(&usual, least, most),
                    },
                    false => integer(&usual, low, high),
                }
            }
        }
    }

    /// Returns the first input, in their order, with no number of its type between its bounds.
    pub(crate) fn impossible(&self) -> Option<Input> {
        let mut inputs: Vec<&Input> = self.ranges.keys().collect();
        inputs.sort_unstable();
        let empty = |input: &&Input| {
            let range = &self.ranges[*input];
            match self.terms.inputs().numbers(**input) {
                Numbers::Reals => range.is_empty(),
                Numbers::Floats(floats) => match (range.least(floats), range.most(floats)) {
                    (Some(least), Some(most)) => least > most,
                    _ => true,
                },
                Numbers::Integers(low, high) => {
                    let (least, most) = range.integers(low, high);
                    // The set of u64 ends at `i64::MAX`, so a range that reaches it may have larger numbers.
                    least > most && most < i64::MAX
                }
            }
        };
        inputs.into_iter().find(empty).copied()
    }
}

/// Points with this bit have longer significands, so that hardly any two inputs are the same. Among a thousand short
/// ones the largest occurs many times, and a bug that affects all but one of them does not show.
pub(crate) const DISTINCT: u64 = 1 << 20;
const DISTINCT_BITS: u32 = 11;

/// Bits of a significand that every float format has.
const MIN_BITS: u32 = 3;

/// Returns an integer between two, made from a value that is a multiple of 2^-24 and mostly of 1/8.
fn integer(usual: &Number, low: i64, high: i64) -> Number {
    let scaled = [0, 3, 24].into_iter().find_map(|by| (usual * &Number::dyadic(1, by)).to_i64());
    let nearest = scaled.unwrap_or(1);
    if low > high || (low..=high).contains(&nearest) {
        return Number::from(nearest);
    }
    let span = (i128::from(high) - i128::from(low) + 1).max(1);
    let inside = i128::from(low) + i128::from(nearest).rem_euclid(span);
    Number::from(i64::try_from(inside).unwrap_or(low))
}

/// Returns the integer at `place` of a random permutation of those in an inclusive range: different at
/// different places, as long as there are as many integers as places.
fn permuted(number: u64, (place, count): (u64, u64), (low, high): (i64, i64)) -> Number {
    let span = (i128::from(high) - i128::from(low) + 1).cast_unsigned();
    // At every other point the numbers are close together, at the others far apart.
    let span = if number.is_multiple_of(2) { span.min(u128::from(count)) } else { span };
    let random = |salt: u64| u128::from(mix64(number ^ salt << 48)) % span;
    let (mut factor, first) = (random(1), random(2));
    while gcd(factor, span) != 1 {
        factor = (factor + 1) % span;
    }
    let chosen = (factor * u128::from(place) + first) % span;
    // The sum is at most `high`, so it fits.
    Number::from(i64::try_from(i128::from(low) + chosen.cast_signed()).unwrap_or(low))
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Finds groups of inputs that differ from each other: conditions `a != b` connect them.
fn groups_of_distinct(terms: &Terms, assumptions: &[Term]) -> FxHashMap<Input, (u64, u64)> {
    let mut group_of: BTreeMap<Input, usize> = BTreeMap::new();
    let mut groups: Vec<BTreeSet<Input>> = Vec::new();
    for assumption in assumptions {
        let Node::Not(inner) = terms.node(*assumption) else { continue };
        let Node::Compare(Relation::Equal, a, b) = terms.at(inner) else { continue };
        let (Node::Input(a), Node::Input(b)) = (terms.at(a), terms.at(b)) else { continue };
        let [x, y] = [a, b].map(|input| {
            *group_of.entry(input).or_insert_with(|| {
                groups.push(BTreeSet::from([input]));
                groups.len() - 1
            })
        });
        if x != y {
            let moved = std::mem::take(&mut groups[y]);
            moved.iter().for_each(|input| *group_of.entry(*input).or_default() = x);
            groups[x].extend(moved);
        }
    }
    let places = |group: BTreeSet<Input>| {
        let count = group.len() as u64;
        (0..count).zip(group).map(move |(place, input)| (input, (place, count)))
    };
    groups.into_iter().flat_map(places).collect()
}

impl Range {
    /// Adds a lower bound.
    fn raise(&mut self, bound: (Number, bool)) {
        if self.low.as_ref().is_none_or(|known| is_tighter(&bound, known, true)) {
            self.low = Some(bound);
        }
    }

    /// Adds an upper bound.
    fn lower(&mut self, bound: (Number, bool)) {
        if self.high.as_ref().is_none_or(|known| is_tighter(&bound, known, false)) {
            self.high = Some(bound);
        }
    }

    fn has(&self, value: &Number) -> bool {
        let above = self
            .low
            .as_ref()
            .is_none_or(|(low, excluded)| value > low || !excluded && value == low);
        let below = self
            .high
            .as_ref()
            .is_none_or(|(high, excluded)| value < high || !excluded && value == high);
        above && below
    }

    /// Returns the value or a nearby one in the range; the value itself if none is found.
    fn real(&self, usual: Number) -> Number {
        if self.has(&usual) {
            return usual;
        }
        let magnitude = if usual.is_zero() { Number::dyadic(1, -1) } else { usual.abs() };
        let negative = -&magnitude;
        for by in (0..MAX_SCALE).flat_map(|by| [-by, by]) {
            let power = Number::dyadic(1, by);
            let scaled = [&magnitude * &power, &negative * &power];
            if let Some(inside) = scaled.into_iter().find(|one| self.has(one)) {
                return inside;
            }
        }
        let between = match (&self.low, &self.high) {
            (Some((low, _)), Some((high, _))) => {
                // Halve the magnitude until it is a fraction between 0 and 1.
                let mut part = magnitude;
                while part >= Number::ONE {
                    part = &part * &Number::dyadic(1, -1);
                }
                low + &(&(high - low) * &part)
            }
            (Some((low, _)), None) => low + &magnitude,
            (None, Some((high, _))) => high - &magnitude,
            (None, None) => return usual,
        };
        if self.has(&between) { between } else { usual }
    }

    /// Chooses an allowed integer outside of the bounds, at one of four points.
    fn other(&self, number: u64, input: Input) -> Option<&Number> {
        let random = mix64(number << 32 ^ input.position() as u64 ^ 1 << 62);
        let chosen = (random >> 8) % (self.others.len() as u64).max(1);
        self.others.get(chosen as usize).filter(|_| random.is_multiple_of(4))
    }

    /// The number, if only one is in it.
    fn only(&self) -> Option<&Number> {
        match (&self.low, &self.high) {
            (Some((low, false)), Some((high, false))) => (low == high).then_some(low),
            _ => None,
        }
    }

    /// Returns `true` if no real number is in it.
    fn is_empty(&self) -> bool {
        let (Some((low, above)), Some((high, below))) = (&self.low, &self.high) else {
            return false;
        };
        low > high || low == high && (*above || *below)
    }

    /// Returns the smallest number of a format that satisfies the lower bound, if there is one.
    fn least(&self, floats: FloatNumbers) -> Option<Number> {
        let Some((low, excluded)) = &self.low else { return Some(-&floats.most()) };
        let least = floats.at_least(low)?;
        if *excluded && least == *low { floats.after(&least) } else { Some(least) }
    }

    /// Returns the largest number of a format that satisfies the upper bound, if there is one.
    fn most(&self, floats: FloatNumbers) -> Option<Number> {
        let Some((high, excluded)) = &self.high else { return Some(floats.most()) };
        let most = floats.at_most(high)?;
        if *excluded && most == *high { floats.before(&most) } else { Some(most) }
    }

    /// Returns a number of a format near a value and in the range; outside of it if there is none.
    fn float(&self, usual: Number, floats: FloatNumbers) -> Number {
        let inside = |number: &Number| self.has(number) && floats.has(number);
        let wanted = self.real(usual.clone());
        if inside(&wanted) {
            return wanted;
        }
        let neighbours = [floats.at_most(&wanted), floats.at_least(&wanted)];
        let neighbours = neighbours.into_iter().flatten().find(|number| inside(number));
        let ends = || [self.least(floats), self.most(floats)].into_iter().flatten().find(inside);
        neighbours.or_else(ends).or_else(|| floats.at_most(&usual)).unwrap_or(Number::ZERO)
    }

    /// Returns the integers of a range that are in this one, by their ends.
    fn integers(&self, low: i64, high: i64) -> (i64, i64) {
        let whole = |bound: &Endpoint, up: bool| {
            let (number, excluded) = bound.as_ref()?;
            let big = number.to_big();
            let whole = if up { big.ceil() } else { big.floor() };
            let exact = number.to_i64().is_some();
            let end = match (i64::try_from(&whole), number.is_negative()) {
                (Ok(end), _) => end,
                (Err(_), true) => i64::MIN,
                (Err(_), false) => i64::MAX,
            };
            let step = if up { 1 } else { -1 };
            Some(if *excluded && exact { end.saturating_add(step) } else { end })
        };
        let low = whole(&self.low, true).map_or(low, |bound| bound.max(low));
        let high = whole(&self.high, false).map_or(high, |bound| bound.min(high));
        (low, high)
    }
}

/// Collects bounds of single inputs by numbers.
fn collect_bounds(terms: &Terms, condition: Term, ranges: &mut FxHashMap<Input, Range>) {
    match terms.node(condition) {
        Node::And(a, b) => {
            collect_bounds(terms, a.into(), ranges);
            collect_bounds(terms, b.into(), ranges);
        }
        // `0 <= x and x < 10 or x == -1`
        Node::Or(a, b) => {
            let [left, right] = [a, b].map(|side| {
                let mut bounds = FxHashMap::default();
                collect_bounds(terms, side.into(), &mut bounds);
                let alone = bounds.len() == 1;
                bounds.into_iter().next().filter(|_| alone)
            });
            let (Some((input, x)), Some((other, y))) = (left, right) else { return };
            let (mut range, single) = match (y.only().cloned(), x.only().cloned()) {
                (Some(number), _) => (x, number),
                (None, Some(number)) => (y, number),
                (None, None) => return,
            };
            if input == other && !ranges.contains_key(&input) {
                range.others.push(single);
                ranges.insert(input, range);
            }
        }
        Node::Compare(relation, a, b) => {
            let excluded = relation == Relation::Less;
            let bound = |number| (terms.number(number).clone(), excluded);
            match (terms.at(a), terms.at(b)) {
                (Node::Input(input), Node::Constant(number)) => {
                    let range = ranges.entry(input).or_default();
                    if relation == Relation::Equal {
                        range.raise(bound(number));
                    }
                    range.lower(bound(number));
                }
                (Node::Constant(number), Node::Input(input)) => {
                    let range = ranges.entry(input).or_default();
                    if relation == Relation::Equal {
                        range.lower(bound(number));
                    }
                    range.raise(bound(number));
                }
                _ => {}
            }
        }
        _ => {}
    }
}

/// Returns `true` if a bound excludes more than the known one.
fn is_tighter(new: &(Number, bool), known: &(Number, bool), low: bool) -> bool {
    let beyond = if low { new.0 > known.0 } else { new.0 < known.0 };
    beyond || new.0 == known.0 && new.1
}

/// Returns the value of an input at point `number`.
fn value(number: u64, input: Input, significand_bits: u32) -> Number {
    let random_bits = mix64(number << 32 ^ input.position() as u64);
    let shared = mix64(number);
    let bits = significand_bits.clamp(1, 24);
    let small = |random: u64| Number::from((random % 4) as i64 - 1);
    let ordinary = |random: u64, positive: bool| {
        let mantissa = (random % (1 << bits)) as i64;
        let sign = if !positive && random >> 40 & 1 == 1 { -1 } else { 1 };
        Number::dyadic(sign * mantissa, (random >> 50 & 3) as i32 - bits as i32)
    };
    match number % 8 {
        0 => ordinary(random_bits, false),
        1 => ordinary(random_bits | 1, true),
        2 => small(random_bits),
        3 if !random_bits.is_multiple_of(4) => Number::ZERO,
        3 => ordinary(random_bits, false),
        4 => ordinary(shared, false),
        5 => -&ordinary(random_bits | 1, true),
        6 => Number::from((random_bits % 2) as i64 + (shared % 2) as i64),
        _ => &ordinary(random_bits, false) * &Number::from(8),
    }
}
