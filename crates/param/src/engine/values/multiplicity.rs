//! Sums by multiplicity: which arguments each summand is taken at, and how often.
//!
//! A sum is `Σ_{x∈D} c·f(φ(x))`, where `f` is the summand with its index expressions cut out. For every function `f`,
//! `Σ_j c_j·Σ_{x∈D_j} f(φ_j(x))` is 0 if for every argument `z` the multiplicities cancel:
//! `Σ_j c_j·#{x∈D_j : φ_j(x) = z} = 0`; regroup by `z`. Arguments that occur are `φ_j(x)` for some `j` and `x∈D_j`, so it is enough to look
//! at those. If `φ_k(y) = z` forces `y` to be one vector `ψ_k(z)`, the number for `k` is 1 or 0: whether `ψ_k(z)` is in `D_k` and is mapped to
//! `z`. That is decided condition by condition; one that stays open makes two cases.
//!
//! So a loop that is unrolled with a rest before or behind it, its even and odd iterations, tiles, ragged tiles, halves, one that runs
//! backwards, and what is dealt out to threads or lanes are one rule, and the order of rules does not matter. Nothing is known of `f`, so it errs on
//! the side of "not equal": sums that are equal because of what their summands are stay open.
//!
//! The same holds for folds of other operations that commute. Of a least or greatest value it is enough that every value of one side
//! is one of the other: how often does not matter.

use super::resolve::{Resolver, range};
use super::value::{Atom, Fold, Piece, Ratio, Sum, Value};
use crate::kir::ArrayId;
use crate::logic::formula::Formula;
use crate::logic::poly::{Poly, Sym};
use std::collections::{BTreeMap, BTreeSet};

/// Summands that are looked at.
const MAX_PARTS: usize = 48;
/// Cases for one summand.
const MAX_CASES: u32 = 96;

/// One summand over an index set.
#[derive(Clone, Debug)]
struct Part {
    ratio: Ratio,
    /// Its coordinates.
    coordinates: Vec<Sym>,
    /// What holds exactly on the index set.
    domain: Vec<Formula>,
    atoms: Vec<Atom>,
}

/// A summand without its index expressions.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Shape {
    Input(ArrayId),
    /// A product of integers.
    Integers,
    /// Something that depends on no coordinate.
    Opaque(Atom),
    Call(String, Vec<Vec<(Vec<Self>, Ratio)>>),
}

/// Shapes of a product, and its index expressions in their order.
type Shaped = (Vec<Shape>, Vec<Poly>);

/// The terms of a value without their index expressions, and these.
type ShapedValue = (Vec<(Vec<Shape>, Ratio)>, Vec<Poly>);

/// Summands by their shapes, with their index expressions.
type Groups = BTreeMap<Vec<Shape>, Vec<(Part, Vec<Poly>)>>;

/// A summand's multiplicity at an argument: it is taken there exactly if all of these hold.
type Hit = (Ratio, Vec<Formula>);

impl Resolver {
    /// Whether a value is shown to be 0 by the multiplicities of its sums.
    pub(super) fn cancels(&mut self, value: &Value, known: &[Formula]) -> bool {
        let mut groups = Groups::new();
        let Some(parts) = self.parts(value) else { return false };
        if !parts.iter().any(|part| !part.coordinates.is_empty()) {
            return false;
        }
        for part in parts {
            let own: BTreeSet<Sym> = part.coordinates.iter().copied().collect();
            let Some((shapes, holes)) = self.shaped(&part.atoms, &own) else { return false };
            groups.entry(shapes).or_default().push((part, holes));
        }
        groups.values().all(|group| {
            group.iter().all(|(part, argument)| self.is_balanced(group, part, argument, known))
        })
    }

    /// Whether two folds of one operation that commutes are of the same values, as often; for the least or greatest of values it does not
    /// matter how often.
    pub(super) fn fold_the_same(&mut self, one: &Fold, other: &Fold, known: &[Formula]) -> bool {
        if !one.op.commutes {
            return false;
        }
        let Some(groups) = self.elements([one, other]) else { return false };
        let any = matches!(one.op.name.as_str(), "max" | "min");
        groups.values().all(|group| {
            group.iter().all(|(part, argument)| match any {
                true => self.is_covered(group, part, argument, known),
                false => self.is_balanced(group, part, argument, known),
            })
        })
    }

    /// The elements of two folds by their shapes; those of the second count negatively.
    fn elements(&mut self, folds: [&Fold; 2]) -> Option<Groups> {
        let mut groups = Groups::new();
        for (fold, sign) in folds.into_iter().zip([1, -1]) {
            for piece in &fold.pieces {
                let (mut coordinates, mut domain) = (Vec::new(), Vec::new());
                let element = match piece {
                    Piece::One(value) => value.clone(),
                    Piece::Run(sum) => {
                        let digit = self.variable();
                        coordinates.push(digit);
                        domain.extend(range(digit, &sum.high)?);
                        let new = Poly::symbol(digit);
                        sum.body.mapped(&mut |poly| poly.substituted(sum.digit, &new))?
                    }
                };
                let ratio = Ratio { top: sign, bottom: 1 };
                let own: BTreeSet<Sym> = coordinates.iter().copied().collect();
                let atoms = vec![Atom::Call(String::new(), vec![element])];
                let (shapes, holes) = self.shaped(&atoms, &own)?;
                let part = Part { ratio, coordinates, domain, atoms };
                groups.entry(shapes).or_default().push((part, holes));
            }
        }
        Some(groups)
    }

    /// Whether every element of one side is one of the other.
    fn is_covered(
        &mut self,
        group: &[(Part, Vec<Poly>)],
        part: &Part,
        argument: &[Poly],
        known: &[Formula],
    ) -> bool {
        let known: Vec<Formula> = known.iter().chain(&part.domain).cloned().collect();
        let mut hits: Vec<Vec<Formula>> = Vec::new();
        for (other, holes) in group.iter().filter(|(other, _)| other.ratio != part.ratio) {
            // One that cannot be looked up is as if it were not there.
            hits.extend(self.hit(other, holes, argument, &known));
        }
        let mut left = MAX_CASES;
        self.is_hit(&hits, &known, &mut left)
    }

    /// Whether one of several is hit in all cases.
    fn is_hit(&mut self, hits: &[Vec<Formula>], known: &[Formula], left: &mut u32) -> bool {
        let Some(fewer) = left.checked_sub(1) else { return false };
        *left = fewer;
        let mut open: Vec<Vec<Formula>> = Vec::new();
        for conditions in hits {
            let undecided: Vec<Formula> = conditions
                .iter()
                .filter(|one| !self.prover.proves_alone(known, one))
                .cloned()
                .collect();
            if undecided.is_empty() {
                return true;
            }
            if !undecided.iter().any(|one| self.prover.proves_alone(known, &one.clone().not())) {
                open.push(undecided);
            }
        }
        let Some(split) = open.first().and_then(|conditions| conditions.first()).cloned() else {
            return self.shows(known, &Formula::False);
        };
        [split.clone(), split.not()].into_iter().all(|condition| {
            let known = self.with(known, &condition);
            self.prover.proves_alone(&known, &Formula::False) || self.is_hit(&open, &known, left)
        })
    }

    /// The summands of a value, each with coordinates of its own.
    fn parts(&mut self, value: &Value) -> Option<Vec<Part>> {
        let mut all = Vec::new();
        for (product, ratio) in &value.terms {
            let (coordinates, domain, atoms) = (Vec::new(), Vec::new(), Vec::new());
            let mut parts = vec![Part { ratio: *ratio, coordinates, domain, atoms }];
            for (atom, power) in product {
                match atom {
                    Atom::Sum(sum) => {
                        for _ in 0..*power {
                            parts = self.times_sum(&parts, sum)?;
                        }
                    }
                    Atom::Truth(formula) => {
                        let holds = formula.conjuncts();
                        parts.iter_mut().for_each(|part| part.domain.extend_from_slice(holds));
                    }
                    other => {
                        let copies = std::iter::repeat_n(other, *power as usize);
                        parts
                            .iter_mut()
                            .for_each(|part| part.atoms.extend(copies.clone().cloned()));
                    }
                }
            }
            all.extend(parts);
        }
        (all.len() <= MAX_PARTS).then_some(all)
    }

    fn times_sum(&mut self, parts: &[Part], sum: &Sum) -> Option<Vec<Part>> {
        let mut products = Vec::new();
        for part in parts {
            let digit = self.variable();
            let new = Poly::symbol(digit);
            let body = sum.body.mapped(&mut |poly| poly.substituted(sum.digit, &new))?;
            let range = range(digit, &sum.high)?;
            for inner in self.parts(&body)? {
                let mut product = part.clone();
                product.ratio = part.ratio.by(inner.ratio)?;
                product.coordinates.push(digit);
                product.coordinates.extend(inner.coordinates);
                product.domain.extend(range.iter().cloned().chain(inner.domain));
                product.atoms.extend(inner.atoms);
                products.push(product);
            }
        }
        (products.len() <= MAX_PARTS).then_some(products)
    }

    /// A product without its index expressions.
    fn shaped(&self, atoms: &[Atom], coordinates: &BTreeSet<Sym>) -> Option<Shaped> {
        let mut shaped: Vec<(Shape, Vec<Poly>)> = Vec::new();
        let mut integers = Poly::constant(1);
        for atom in atoms {
            shaped.push(match atom {
                Atom::Int(sym) => {
                    integers = integers.times(&Poly::symbol(*sym))?;
                    continue;
                }
                Atom::Input(array, index) => (Shape::Input(*array), index.clone()),
                Atom::Call(name, arguments) => {
                    let arguments: Vec<&Value> = arguments.iter().collect();
                    self.shaped_call(name, &arguments, false, coordinates)?
                }
                Atom::Fold(fold) if singles(fold).is_some() => {
                    let (name, commutes) =
                        (format!("{:?} {:?}", fold.op, fold.unit), fold.op.commutes);
                    self.shaped_call(&name, &singles(fold)?, commutes, coordinates)?
                }
                other if self.is_free_of(other, coordinates) => {
                    (Shape::Opaque(other.clone()), Vec::new())
                }
                _ => return None,
            });
        }
        if integers.as_constant().is_none() {
            shaped.push((Shape::Integers, vec![integers]));
        }
        shaped.sort_by(|(one, _), (other, _)| one.cmp(other));
        let (shapes, holes): (Vec<Shape>, Vec<Vec<Poly>>) = shaped.into_iter().unzip();
        Some((shapes, holes.concat()))
    }

    /// A function of values without their index expressions; those of one that commutes are in an order of their own.
    fn shaped_call(
        &self,
        name: &str,
        arguments: &[&Value],
        commutes: bool,
        coordinates: &BTreeSet<Sym>,
    ) -> Option<(Shape, Vec<Poly>)> {
        let shaped = arguments.iter().map(|one| self.shaped_value(one, coordinates));
        let mut shaped: Vec<ShapedValue> = shaped.collect::<Option<_>>()?;
        if commutes {
            shaped.sort_by(|(one, _), (other, _)| one.cmp(other));
        }
        let (shapes, holes): (Vec<_>, Vec<Vec<Poly>>) = shaped.into_iter().unzip();
        Some((Shape::Call(name.to_owned(), shapes), holes.concat()))
    }

    fn shaped_value(&self, value: &Value, coordinates: &BTreeSet<Sym>) -> Option<ShapedValue> {
        let mut terms: Vec<(Vec<Shape>, Ratio, Vec<Poly>)> = Vec::new();
        for (product, ratio) in &value.terms {
            let atoms: Vec<Atom> = product
                .iter()
                .flat_map(|(atom, power)| std::iter::repeat_n(atom.clone(), *power as usize))
                .collect();
            let (shape, own) = self.shaped(&atoms, coordinates)?;
            terms.push((shape, *ratio, own));
        }
        terms.sort_by(|one, other| (&one.0, one.1).cmp(&(&other.0, other.1)));
        let holes = terms.iter().flat_map(|(.., own)| own.iter().cloned()).collect();
        Some((terms.into_iter().map(|(shape, ratio, _)| (shape, ratio)).collect(), holes))
    }

    /// Whether an atom is the same whatever the coordinates are.
    fn is_free_of(&self, atom: &Atom, coordinates: &BTreeSet<Sym>) -> bool {
        if matches!(atom, Atom::Load(_) | Atom::Carried(..) | Atom::Unknown(..)) {
            return false;
        }
        let mut is_free = true;
        let visited = Value::atom(atom.clone()).mapped(&mut |poly| {
            let depends = |sym: Sym| {
                coordinates.contains(&sym) || !self.bound_in(sym).is_disjoint(coordinates)
            };
            is_free &= !poly.mentioned().any(depends);
            Some(poly.clone())
        });
        visited.is_some() && is_free
    }

    /// Whether the multiplicities at the arguments of one summand cancel.
    fn is_balanced(
        &mut self,
        group: &[(Part, Vec<Poly>)],
        part: &Part,
        argument: &[Poly],
        known: &[Formula],
    ) -> bool {
        let known: Vec<Formula> = known.iter().chain(&part.domain).cloned().collect();
        let mut hits: Vec<Hit> = Vec::new();
        for (other, holes) in group {
            let Some(hit) = self.hit(other, holes, argument, &known) else { return false };
            hits.push((other.ratio, hit));
        }
        let mut left = MAX_CASES;
        self.is_zero(&hits, &known, &mut left)
    }

    /// When a summand is taken at an argument, by the only coordinates that it may have there.
    fn hit(
        &mut self,
        part: &Part,
        holes: &[Poly],
        argument: &[Poly],
        known: &[Formula],
    ) -> Option<Vec<Formula>> {
        // Unknown coordinates of their own: the argument may be one of this very summand.
        let mut equations = Vec::new();
        let mut domain = part.domain.clone();
        let mut own: Vec<Poly> = holes.to_vec();
        let mut unknown = Vec::new();
        for coordinate in &part.coordinates {
            let copy = self.variable();
            let new = Poly::symbol(copy);
            let renamed = |poly: &Poly| poly.substituted(*coordinate, &new);
            own = own.iter().map(renamed).collect::<Option<_>>()?;
            let mut map = |poly: &Poly| poly.substituted(*coordinate, &new);
            domain = domain.iter().map(|one| one.mapped(&mut map)).collect::<Option<_>>()?;
            // What is known of the coordinate by name only would be lost.
            if domain
                .iter()
                .flat_map(Formula::symbols)
                .chain(own.iter().flat_map(Poly::symbols))
                .any(|sym| sym != *coordinate && self.bound_in(sym).contains(coordinate))
            {
                return None;
            }
            unknown.push(copy);
        }
        for (one, other) in own.iter().zip(argument) {
            equations.push(one.minus(other)?);
        }
        self.solved(unknown, equations, domain, known)
    }

    /// The conditions that are left once equations have given every unknown its value.
    fn solved(
        &mut self,
        mut unknown: Vec<Sym>,
        mut equations: Vec<Poly>,
        mut domain: Vec<Formula>,
        known: &[Formula],
    ) -> Option<Vec<Formula>> {
        while !unknown.is_empty() {
            let all: Vec<Formula> = known.iter().chain(&domain).cloned().collect();
            equations.sort_by_key(|one| {
                let own = one.symbols().into_iter().filter(|sym| unknown.contains(sym)).count();
                (own == 0, own, one.terms().count())
            });
            let (sym, value) = equations.iter().find_map(|one| self.forced(one, &unknown, &all))?;
            equations = equations
                .iter()
                .map(|one| one.substituted(sym, &value))
                .collect::<Option<Vec<_>>>()?;
            let mut map = |poly: &Poly| poly.substituted(sym, &value);
            domain = domain.iter().map(|one| one.mapped(&mut map)).collect::<Option<_>>()?;
            unknown.retain(|one| *one != sym);
        }
        let left = equations.into_iter().filter(|one| !one.is_zero()).map(Formula::eq);
        Some(left.chain(domain).filter(|one| *one != Formula::True).collect())
    }

    /// An unknown to which an equation gives one value: `±y + rest = 0`, or `s·q + r = w` with `0 ≤ r < s`.
    fn forced(
        &mut self,
        equation: &Poly,
        unknown: &[Sym],
        known: &[Formula],
    ) -> Option<(Sym, Poly)> {
        let own: Vec<Sym> =
            equation.symbols().into_iter().filter(|sym| unknown.contains(sym)).collect();
        for sym in &own {
            let powers = equation.by_powers(*sym);
            let [rest, factor] = &powers[..] else { continue };
            if let Some(sign @ (1 | -1)) = factor.as_constant()
                && own.len() == 1
            {
                return Some((*sym, rest.scaled(-sign)?));
            }
        }
        own.iter().find_map(|sym| self.by_division(equation, *sym, &own, known))
    }

    fn by_division(
        &mut self,
        equation: &Poly,
        sym: Sym,
        own: &[Sym],
        known: &[Formula],
    ) -> Option<(Sym, Poly)> {
        let powers = equation.by_powers(sym);
        let [rest, factor] = &powers[..] else { return None };
        if factor.mentioned().any(|one| own.contains(&one)) {
            return None;
        }
        let sign = factor.terms().next()?.1.signum();
        let (stride, rest) = (factor.scaled(sign)?, rest.scaled(sign)?);
        let mut others = Poly::default();
        for (monomial, coefficient) in rest.terms() {
            if monomial.iter().any(|(one, _)| own.contains(one)) {
                others = others.plus(&Poly::monomial(monomial.clone(), coefficient))?;
            }
        }
        let whole = others.minus(&rest)?;
        let below = stride.minus(&others)?.offset(-1)?;
        let mut shows = |poly: Poly| self.prover.proves_alone(known, &Formula::ge(poly));
        if shows(others.clone()) && shows(below) {
            return Some((sym, self.quotient(&whole, &stride, known)?));
        }
        // −s < r ≤ 0: the quotient is rounded up.
        let above = stride.plus(&others)?.offset(-1)?;
        let mut shows = |poly: Poly| self.prover.proves_alone(known, &Formula::ge(poly));
        if shows(others.scaled(-1)?) && shows(above) {
            let whole = whole.plus(&stride)?.offset(-1)?;
            return Some((sym, self.quotient(&whole, &stride, known)?));
        }
        None
    }

    /// Whether multiplicities add up to 0 in all cases.
    fn is_zero(&mut self, hits: &[Hit], known: &[Formula], left: &mut u32) -> bool {
        let Some(fewer) = left.checked_sub(1) else { return false };
        *left = fewer;
        let (mut total, mut open): (Option<Ratio>, Vec<Hit>) = (Some(Ratio::ZERO), Vec::new());
        for (ratio, conditions) in hits {
            let mut undecided = Vec::new();
            let mut is_missed = false;
            for condition in conditions {
                if self.prover.proves_alone(known, condition) {
                    continue;
                }
                is_missed = self.prover.proves_alone(known, &condition.clone().not());
                if is_missed {
                    break;
                }
                undecided.push(condition.clone());
            }
            match undecided.is_empty() {
                _ if is_missed => {}
                true => total = total.and_then(|total| total.plus(*ratio)),
                false => open.push((*ratio, undecided)),
            }
        }
        let Some(split) = open.first().and_then(|(_, conditions)| conditions.first()).cloned()
        else {
            return total == Some(Ratio::ZERO) || self.shows(known, &Formula::False);
        };
        if let Some(total) = total.filter(|total| *total != Ratio::ZERO) {
            open.push((total, Vec::new()));
        }
        [split.clone(), split.not()].into_iter().all(|condition| {
            let known = self.with(known, &condition);
            self.prover.proves_alone(&known, &Formula::False) || self.is_zero(&open, &known, left)
        })
    }
}

/// The values of a fold that has no runs.
fn singles(fold: &Fold) -> Option<Vec<&Value>> {
    let pieces = fold.pieces.iter().map(|piece| match piece {
        Piece::One(value) => Some(value),
        Piece::Run(_) => None,
    });
    pieces.collect()
}
