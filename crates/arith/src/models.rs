//! Models: values of symbols for which all assumptions hold.
//!
//! If a polynomial is negative in one of the models, no proof that it is at least 0 exists, so none is tried. Symbols
//! get values one after the other, inside the bounds that the assumptions leave; a few simple choices are tried. If
//! none works, no model is found, which only costs time.

use crate::poly::{Poly, Sym};
use crate::symbols::Symbols;
use rustc_hash::FxHashMap;

/// Number of ways to choose values, each tried for all symbols.
const CHOICES: u64 = 6;
/// Largest distance of a value from a bound.
const STEPS: u64 = 5;
/// Limit on the values that are tried for all symbols together.
const TRIALS: u32 = 120;
/// Limit on the models of earlier queries.
const MAX_MODELS: usize = 12;

/// Values of symbols.
pub struct Model {
    values: FxHashMap<Sym, i128>,
}

impl Model {
    /// The value of a polynomial, if all of its symbols have one.
    fn value(&self, poly: &Poly) -> Option<i128> {
        let mut sum = 0i128;
        for (monomial, coefficient) in poly.terms() {
            let mut product = coefficient;
            for (sym, power) in monomial {
                let value = *self.values.get(sym)?;
                for _ in 0..*power {
                    product = product.checked_mul(value)?;
                }
            }
            sum = sum.checked_add(product)?;
        }
        Some(sum)
    }

    /// Returns `true` if a polynomial is negative here.
    pub fn refutes(&self, poly: &Poly) -> bool {
        self.value(poly).is_some_and(|value| value < 0)
    }
}

/// One step of a search: a symbol, with the assumptions that mention it and otherwise only earlier symbols.
struct Step<'k> {
    sym: Sym,
    low: Option<&'k Poly>,
    high: Option<&'k Poly>,
    known: Vec<&'k Poly>,
}

/// Finds values for which all of `known` are at least 0 and symbols are inside their bounds.
pub fn find(known: &[Poly], symbols: &Symbols) -> Vec<Model> {
    let steps = steps(known, symbols);
    (0..CHOICES).filter_map(|choice| model(&steps, choice)).collect()
}

/// Models of earlier queries. Most failing queries of a proof differ little, so that one model serves many.
#[derive(Default)]
pub struct Pool {
    /// The last one served last.
    models: Vec<Model>,
}

impl Pool {
    /// Returns `true` if a model of earlier queries, or one that a quick search finds, satisfies all of `known`.
    pub fn satisfies_quickly(&mut self, known: &[Poly], symbols: &Symbols) -> bool {
        let holds = |model: &Model| {
            known.iter().all(|one| model.value(one).is_some_and(|value| value >= 0))
        };
        if let Some(at) = self.models.iter().rposition(holds) {
            let last = self.models.remove(at);
            self.models.push(last);
            return true;
        }
        let steps = steps(known, symbols);
        self.keep((0..CHOICES).find_map(|choice| model(&steps, choice)))
    }

    /// Returns `true` if a longer search finds a model. Unlike the quick one, it backtracks: if a value leaves none for
    /// a later symbol, it tries another value.
    pub fn satisfies(&mut self, known: &[Poly], symbols: &Symbols) -> bool {
        let steps = steps(known, symbols);
        self.keep((0..CHOICES).find_map(|choice| {
            let (mut model, mut trials) = (Model { values: FxHashMap::default() }, TRIALS);
            model.complete(&steps, (choice, 0), &mut trials).then_some(model)
        }))
    }

    fn keep(&mut self, found: Option<Model>) -> bool {
        let is_found = found.is_some();
        if self.models.len() >= MAX_MODELS {
            self.models.remove(0);
        }
        self.models.extend(found);
        is_found
    }
}

fn steps<'k>(known: &'k [Poly], symbols: &'k Symbols) -> Vec<Step<'k>> {
    let rank = |sym: Sym| (symbols.get(sym).level, sym);
    let mut position: FxHashMap<Sym, usize> = FxHashMap::default();
    let mut waiting: Vec<Sym> = known.iter().flat_map(Poly::mentioned).collect();
    let mut all: Vec<Sym> = Vec::new();
    while let Some(sym) = waiting.pop() {
        if position.insert(sym, 0).is_none() {
            all.push(sym);
            let symbol = symbols.get(sym);
            waiting.extend(symbol.low.iter().chain(&symbol.high).flat_map(Poly::mentioned));
        }
    }
    all.sort_unstable_by_key(|sym| rank(*sym));
    let mut steps: Vec<Step<'_>> = Vec::with_capacity(all.len());
    for (number, sym) in all.into_iter().enumerate() {
        let symbol = symbols.get(sym);
        let (low, high) = (symbol.low.as_ref(), symbol.high.as_ref());
        position.insert(sym, number);
        steps.push(Step { sym, low, high, known: Vec::new() });
    }
    for one in known {
        let last = one.mentioned().filter_map(|sym| position.get(&sym)).max();
        if let Some(step) = last.and_then(|last| steps.get_mut(*last)) {
            step.known.push(one);
        }
    }
    steps
}

fn model(steps: &[Step<'_>], choice: u64) -> Option<Model> {
    let mut model = Model { values: FxHashMap::default() };
    for (number, step) in steps.iter().enumerate() {
        let value = model.choose(step, choice, number as u64)?;
        model.values.insert(step.sym, value);
        if step.known.iter().any(|one| model.value(one).is_none_or(|value| value < 0)) {
            return None;
        }
    }
    Some(model)
}

impl Model {
    /// The least and the greatest value of the next symbol.
    fn range(&self, step: &Step<'_>) -> Option<(Option<i128>, Option<i128>)> {
        let mut least = match step.low {
            Some(low) => Some(self.value(low)?),
            None => None,
        };
        let mut most = match step.high {
            Some(high) => Some(self.value(high)?),
            None => None,
        };
        for one in &step.known {
            // `factor·x + rest ≥ 0`.
            let Some((factor, rest)) = self.linear(one, step.sym) else { continue };
            if factor > 0 {
                let bound = -rest.div_euclid(factor);
                least = Some(least.map_or(bound, |least| least.max(bound)));
            } else if factor < 0 {
                let bound = rest.div_euclid(-factor);
                most = Some(most.map_or(bound, |most| most.min(bound)));
            }
        }
        Some((least, most))
    }

    /// A value for the next symbol.
    fn choose(&self, step: &Step<'_>, choice: u64, number: u64) -> Option<i128> {
        let (least, most) = self.range(step)?;
        let drawn = pseudo_random(choice, number);
        let distance = i128::from(drawn / 2 % STEPS);
        match (least, most) {
            (Some(least), Some(most)) if least > most => None,
            (Some(least), Some(most)) => Some(match (choice, drawn % 2) {
                (0, _) => least,
                (1, _) | (_, 1) => least.max(most.checked_sub(distance)?),
                _ => most.min(least.checked_add(distance)?),
            }),
            (Some(least), None) => {
                least.checked_add(if choice < 2 { i128::from(choice) } else { distance })
            }
            (None, Some(most)) => {
                most.checked_sub(if choice < 2 { i128::from(choice) } else { distance })
            }
            (None, None) => Some(distance - 1),
        }
    }

    /// Gives all later symbols values, after at most some trials.
    fn complete(
        &mut self,
        steps: &[Step<'_>],
        (choice, number): (u64, u64),
        trials: &mut u32,
    ) -> bool {
        let Some((step, later)) = steps.split_first() else { return true };
        let Some((least, most)) = self.range(step) else { return false };
        let close_to =
            |bound: i128, sign: i128| (0..3).filter_map(move |by| bound.checked_add(sign * by));
        let below = most.into_iter().flat_map(|most| close_to(most, -1));
        let above = least.into_iter().flat_map(|least| close_to(least, 1));
        let mut values: Vec<i128> = below.chain(above).collect();
        if values.is_empty() {
            values.extend([0, 1, 2]);
        }
        values.retain(|value| {
            least.is_none_or(|least| least <= *value) && most.is_none_or(|most| *value <= most)
        });
        values.sort_unstable();
        values.dedup();
        values.sort_by_key(|value| {
            let byte = u64::try_from(value.rem_euclid(256)).unwrap_or_default();
            pseudo_random(choice, number << 8 | byte)
        });
        for value in values {
            if *trials == 0 {
                return false;
            }
            *trials -= 1;
            self.values.insert(step.sym, value);
            let holds = |one: &&Poly| self.value(one).is_some_and(|value| value >= 0);
            if step.known.iter().all(holds) && self.complete(later, (choice, number + 1), trials) {
                return true;
            }
        }
        self.values.remove(&step.sym);
        false
    }

    /// The factor of a symbol and the rest, if it occurs linearly and the other symbols have values.
    fn linear(&self, poly: &Poly, sym: Sym) -> Option<(i128, i128)> {
        let (mut factor, mut rest) = (0i128, 0i128);
        for (monomial, coefficient) in poly.terms() {
            let mut product = coefficient;
            let mut has_symbol = false;
            for (one, power) in monomial {
                if *one == sym {
                    has_symbol = true;
                    if *power > 1 {
                        return None;
                    }
                    continue;
                }
                let value = *self.values.get(one)?;
                for _ in 0..*power {
                    product = product.checked_mul(value)?;
                }
            }
            let sum = if has_symbol { &mut factor } else { &mut rest };
            *sum = sum.checked_add(product)?;
        }
        Some((factor, rest))
    }
}

/// A pseudo-random number that depends on both.
fn pseudo_random(choice: u64, number: u64) -> u64 {
    let product = (choice << 32 ^ number).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (product ^ product >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbols::Level;
    use base::Index;

    fn sum(terms: &[(i128, &[Sym])]) -> Poly {
        let term = |(factor, symbols): &(i128, &[Sym])| {
            let start = Poly::constant(*factor);
            symbols.iter().fold(start, |product, one| product.times(&Poly::symbol(*one)).unwrap())
        };
        terms.iter().fold(Poly::default(), |all, one| all.plus(&term(one)).unwrap())
    }

    /// A block of threads: its size, a thread, an element, and its quotient by the size.
    fn block() -> (Symbols, [Sym; 4], Vec<Poly>) {
        let mut symbols = Symbols::default();
        let (low, high) = (Some(Poly::constant(1)), Some(Poly::constant(1024)));
        let size = symbols.bounded("size", Level::Launch, low, high);
        let most = Poly::symbol(size).offset(-1);
        let thread = symbols.bounded("thread", Level::Thread, Some(Poly::constant(0)), most);
        let element = symbols.fresh("element", Level::Thread);
        let quotient = symbols.fresh("quotient", Level::Thread);
        let known = vec![
            sum(&[(1, &[element]), (-1, &[size])]),
            sum(&[(1, &[element]), (-1, &[size, quotient])]),
            sum(&[(1, &[size, quotient]), (1, &[size]), (-1, &[element]), (-1, &[])]),
            sum(&[(1, &[element, element]), (-5, &[])]),
        ];
        (symbols, [size, thread, element, quotient], known)
    }

    #[test]
    fn all_that_is_assumed_holds() {
        let (symbols, [size, thread, element, quotient], mut known) = block();
        known.push(Poly::symbol(thread));
        let models = find(&known, &symbols);
        assert!(models.len() >= 3);
        for model in &models {
            let [s, t, e, q] = [size, thread, element, quotient].map(|sym| model.values[&sym]);
            assert!((1..=1024).contains(&s) && (0..s).contains(&t), "{s} {t}");
            assert!(e >= s && e * e >= 5 && q == e.div_euclid(s), "{s} {e} {q}");
        }
        // The models disagree on a claim that the assumptions leave open.
        let open = sum(&[(1, &[size]), (-2, &[thread]), (-1, &[])]);
        assert!(models.iter().any(|model| model.refutes(&open)));
        assert!(!models.iter().all(|model| model.refutes(&open)));
        // Models do not refute consequences of the assumptions, nor claims about symbols without a value.
        assert!(!models.iter().any(|model| model.refutes(&sum(&[(1, &[quotient]), (-1, &[])]))));
        let other = Sym::from_position(9);
        assert!(!models.iter().any(|model| model.refutes(&sum(&[(-1, &[other]), (-1, &[])]))));
    }

    #[test]
    fn values_are_exchanged() {
        // `odd = 2·half + 1` has no solution for an even first guess of `odd`.
        let mut symbols = Symbols::default();
        let [odd, half] = ["odd", "half"].map(|name| symbols.fresh(name, Level::Launch));
        let difference = sum(&[(1, &[odd]), (-2, &[half]), (-1, &[])]);
        let mut known = vec![difference.clone(), difference.scaled(-1).unwrap()];
        known.push(sum(&[(1, &[odd]), (-8, &[])]));
        known.push(sum(&[(-1, &[odd]), (10, &[])]));
        assert!(Pool::default().satisfies(&known, &symbols));
        known.push(sum(&[(-1, &[odd]), (8, &[])]));
        assert!(!Pool::default().satisfies(&known, &symbols));
    }

    #[test]
    fn a_model_serves_only_queries_that_it_satisfies() {
        let (symbols, [size, thread, ..], known) = block();
        let mut pool = Pool::default();
        assert!(pool.satisfies_quickly(&known, &symbols));
        let mut with = known.clone();
        // Symbols without a value in an earlier model, and contradictions.
        with.push(sum(&[(1, &[size]), (-1, &[thread]), (-1, &[])]));
        assert!(pool.satisfies_quickly(&with, &symbols));
        with.push(sum(&[(1, &[thread]), (-1, &[size])]));
        assert!(!pool.satisfies_quickly(&with, &symbols) && !pool.satisfies(&with, &symbols));
    }

    #[test]
    fn a_contradiction_has_none() {
        let (symbols, [_, thread, ..], known) = block();
        let mut with = known.clone();
        with.push(sum(&[(-1, &[thread]), (-1, &[])]));
        assert!(!find(&known, &symbols).is_empty());
        assert!(find(&with, &symbols).is_empty());
    }

    #[test]
    fn numbers_that_are_too_large_refute_nothing() {
        let (symbols, [size, ..], _) = block();
        let models = find(&[sum(&[(1, &[size]), (-1000, &[])])], &symbols);
        assert!(!models.is_empty());
        let huge = sum(&[(-(1 << 126), &[size]), (i128::MAX, &[])]);
        assert!(!models.iter().any(|model| model.refutes(&huge)));
    }
}
