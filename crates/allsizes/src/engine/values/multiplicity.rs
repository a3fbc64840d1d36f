//! Sums by multiplicity: compares the arguments at which each summand is taken, and how often.
//!
//! A sum is `Σ_{x∈D} c·f(φ(x))`, where `f` is the summand with its index expressions cut out. For every function `f`,
//! `Σ_j c_j·Σ_{x∈D_j} f(φ_j(x))` is 0 if for every argument `z` the multiplicities cancel: `Σ_j c_j·#{x∈D_j : φ_j(x)
//! = z} = 0`; regroup by `z`. Arguments that occur are `φ_j(x)` for some `j` and `x∈D_j`, so it is enough to consider
//! those. If `φ_k(y) = z` forces `y` to be one vector `ψ_k(z)`, the number for `k` is 1 or 0: 1 if `ψ_k(z)` is in
//! `D_k` and is mapped to `z`. Each condition of that is decided by itself; an undecided one is split into two cases.
//!
//! One rule therefore covers many loop transformations: unrolling with a remainder before or after the loop, even and
//! odd iterations, tiles, ragged tiles, halves, reversal, and distribution over threads or lanes. With a single rule,
//! no order of rules has to be chosen. Nothing is known of `f`, so it errs on the side of "not equal": sums that are
//! equal because of properties of their summands stay open.
//!
//! The same holds for folds of other operations that commute. For a minimum or maximum it suffices that every value
//! of one side occurs on the other, in any number.

use super::extremes;
use super::finiteness::Finiteness;
use super::inverse::{Effort, Equation};
use super::resolve::{Resolver, range};
use super::value::{Atom, Entry, Fold, Piece, Ratio, Sum, Value};
use arith::formula::Formula;
use arith::poly::{Poly, Sym};
use kir::ArrayId;
use std::collections::{BTreeMap, BTreeSet};

/// Limit on the summands.
const MAX_PARTS: usize = 48;
/// Limit on the cases of one summand.
const MAX_CASES: u32 = 96;

/// One summand over an index set.
#[derive(Clone, Debug)]
struct Part {
    ratio: Ratio,
    /// Its coordinates.
    coordinates: Vec<Sym>,
    /// Conditions that hold exactly on the index set.
    domain: Vec<Formula>,
    atoms: Vec<Atom>,
}

/// The shape of a summand: the summand with its index expressions cut out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Shape {
    Input(ArrayId),
    /// Contents of an array at a point, without an index.
    Entry(Box<Entry>),
    /// A product of integers.
    Integers,
    /// An atom that depends on no coordinate.
    Opaque(Atom),
    Call(String, Vec<Vec<(Vec<Self>, Ratio)>>),
}

/// Shapes of a product, and its index expressions in their order.
type Shaped = (Vec<Shape>, Vec<Poly>);

/// The terms of a value without their index expressions, and the index expressions.
type ShapedValue = (Vec<(Vec<Shape>, Ratio)>, Vec<Poly>);

/// A summand among others of its shape.
struct Member {
    part: Part,
    /// Its index expressions.
    holes: Vec<Poly>,
    inverse: Option<Inverse>,
}

/// The only coordinates at which a summand can have an argument.
struct Inverse {
    argument: Vec<Sym>,
    coordinates: Vec<(Sym, Poly)>,
}

/// Summands by their shapes.
type Groups = BTreeMap<Vec<Shape>, Vec<Member>>;

/// A summand's multiplicity at an argument: the ratio if all of these conditions hold, else 0.
type Occurrence = (Ratio, Vec<Formula>);

impl Resolver {
    /// Returns `true` if a value is proved to be 0 by the multiplicities of its sums.
    pub(super) fn cancels(&mut self, value: &Value, known: &[Formula]) -> bool {
        let mut groups = Groups::new();
        let Some(parts) = self.parts(value) else { return false };
        if !parts.iter().any(|part| !part.coordinates.is_empty()) {
            return false;
        }
        for part in parts {
            let coordinates: BTreeSet<Sym> = part.coordinates.iter().copied().collect();
            let Some((shapes, holes)) = self.shaped(&part.atoms, &coordinates) else {
                return false;
            };
            let inverse = self.inverse_of(&part, &holes, known);
            groups.entry(shapes).or_default().push(Member { part, holes, inverse });
        }
        groups.values().all(|group| group.iter().all(|one| self.is_balanced(group, one, known)))
    }

    /// Returns `true` if two folds of one commuting operation have the same values, equally often. For minima and
    /// maxima the number does not matter.
    pub(super) fn have_same_elements(
        &mut self,
        one: &Fold,
        other: &Fold,
        known: &[Formula],
    ) -> bool {
        if !one.op.commutes {
            return false;
        }
        let Some(groups) = self.elements([one, other], known) else { return false };
        let any = matches!(one.op.name.as_str(), "max" | "min");
        groups.values().all(|group| {
            group.iter().all(|member| match any {
                true => self.is_covered(group, member, known),
                false => self.is_balanced(group, member, known),
            })
        })
    }

    /// Collects the elements of two folds by their shapes; those of the second count negatively.
    fn elements(&mut self, folds: [&Fold; 2], known: &[Formula]) -> Option<Groups> {
        let mut groups = Groups::new();
        for (fold, top) in folds.into_iter().zip([1, -1]) {
            let ratio = Ratio { top, bottom: 1 };
            let (coordinates, domain, atoms) = (Vec::new(), Vec::new(), Vec::new());
            let mut parts = Vec::new();
            self.collect_elements(fold, Part { ratio, coordinates, domain, atoms }, &mut parts)?;
            for part in parts {
                let coordinates: BTreeSet<Sym> = part.coordinates.iter().copied().collect();
                let (shapes, holes) = self.shaped(&part.atoms, &coordinates)?;
                let inverse = self.inverse_of(&part, &holes, known);
                groups.entry(shapes).or_default().push(Member { part, holes, inverse });
            }
        }
        Some(groups)
    }

    /// Collects the elements of a fold inside others, with the coordinates and conditions of `around`.
    fn collect_elements(&mut self, fold: &Fold, around: Part, parts: &mut Vec<Part>) -> Option<()> {
        for piece in &fold.pieces {
            let mut part = around.clone();
            let element = match piece {
                Piece::One(value) => value.clone(),
                Piece::Run(sum) => {
                    let digit = self.variable();
                    part.coordinates.push(digit);
                    part.domain.extend(range(digit, &sum.high)?);
                    self.at_digit(&sum.body, sum.digit, &Poly::symbol(digit))?
                }
            };
            self.collect_elements_of_value(fold, &element, part, parts)?;
        }
        Some(())
    }

    fn collect_elements_of_value(
        &mut self,
        fold: &Fold,
        value: &Value,
        mut part: Part,
        parts: &mut Vec<Part>,
    ) -> Option<()> {
        if let Some((condition, value)) = extremes::condition_and_value(&fold.op.name, value) {
            part.domain.extend_from_slice(condition.conjuncts());
            return self.collect_elements_of_value(fold, value, part, parts);
        }
        if let Some(inner) = extremes::as_fold(value, fold) {
            return self.collect_elements(inner, part, parts);
        }
        if let Some(operands) = extremes::operands(&fold.op.name, value) {
            for operand in operands {
                self.collect_elements_of_value(fold, operand, part.clone(), parts)?;
            }
            return Some(());
        }
        part.atoms = vec![Atom::Call(String::new(), vec![value.clone()])];
        parts.push(part);
        (parts.len() <= MAX_PARTS).then_some(())
    }

    /// Returns `true` if an element of one side occurs on the other.
    fn is_covered(&mut self, group: &[Member], member: &Member, known: &[Formula]) -> bool {
        let mut known: Vec<Formula> = known.iter().chain(&member.part.domain).cloned().collect();
        let mut hits: Vec<Vec<Formula>> = Vec::new();
        for other in group.iter().filter(|other| other.part.ratio != member.part.ratio) {
            // An element that cannot be looked up is ignored.
            hits.extend(self.conditions_at_argument(other, &member.holes));
        }
        self.add_positive_divisors(&mut known, hits.iter().flatten());
        let mut left = MAX_CASES;
        self.is_hit(&hits, &known, &mut left)
    }

    /// Returns `true` if in every case the conditions of one of `hits` hold.
    pub(super) fn is_hit(
        &mut self,
        hits: &[Vec<Formula>],
        known: &[Formula],
        left: &mut u32,
    ) -> bool {
        let Some(fewer) = left.checked_sub(1) else { return false };
        *left = fewer;
        let mut open: Vec<Vec<Formula>> = Vec::new();
        for conditions in hits {
            let undecided: Vec<Formula> = conditions
                .iter()
                .filter(|one| !self.prover.proves_lightly(known, one))
                .cloned()
                .collect();
            if undecided.is_empty() {
                return true;
            }
            if !undecided.iter().any(|one| self.prover.proves_lightly(known, &one.clone().not())) {
                open.push(undecided);
            }
        }
        let Some(split) = open.first().and_then(|conditions| conditions.first()).cloned() else {
            return self.proves(known, &Formula::False);
        };
        cases(split).into_iter().all(|condition| {
            let known = self.with_fact(known, &condition);
            self.prover.proves_lightly(&known, &Formula::False) || self.is_hit(&open, &known, left)
        })
    }

    /// Returns the summands of a value, each with coordinates of its own.
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
            let body = self.at_digit(&sum.body, sum.digit, &Poly::symbol(digit))?;
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

    /// Cuts the index expressions out of a product; returns its shape and the expressions.
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
                Atom::Entry(entry) if self.is_free_of_all(&entry.around, coordinates) => {
                    let (index, finiteness) = (Vec::new(), Finiteness::Unknown);
                    let place = Entry { index, finiteness, ..(**entry).clone() };
                    (Shape::Entry(Box::new(place)), entry.index.clone())
                }
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

    /// A call without the index expressions of its arguments; the arguments of a commuting function are put in
    /// canonical order.
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

    /// Returns `true` if values are independent of the coordinates.
    fn is_free_of_all(&self, values: &[(Sym, Poly)], coordinates: &BTreeSet<Sym>) -> bool {
        let mut symbols = values.iter().flat_map(|(_, value)| value.mentioned());
        symbols
            .all(|sym| !coordinates.contains(&sym) && self.bound_in(sym).is_disjoint(coordinates))
    }

    /// Returns `true` if an atom is independent of the coordinates.
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

    /// Returns `true` if the multiplicities at the arguments of one summand cancel.
    fn is_balanced(&mut self, group: &[Member], member: &Member, known: &[Formula]) -> bool {
        let mut known: Vec<Formula> = known.iter().chain(&member.part.domain).cloned().collect();
        let mut hits: Vec<Occurrence> = Vec::new();
        for other in group {
            let Some(hit) = self.conditions_at_argument(other, &member.holes) else { return false };
            hits.push((other.part.ratio, hit));
        }
        self.add_positive_divisors(&mut known, hits.iter().flat_map(|(_, hit)| hit));
        let mut left = MAX_CASES;
        self.is_zero(&hits, &known, &mut left)
    }

    /// Returns the only coordinates that a summand can have at an arbitrary argument.
    fn inverse_of(&mut self, part: &Part, holes: &[Poly], known: &[Formula]) -> Option<Inverse> {
        // Fresh unknown coordinates: the argument may be one of this very summand.
        let mut copies: BTreeMap<Sym, Poly> = BTreeMap::new();
        for coordinate in &part.coordinates {
            copies.insert(*coordinate, Poly::symbol(self.variable()));
        }
        let wanted: BTreeSet<Sym> = copies.values().filter_map(Poly::as_symbol).collect();
        let mut known = known.to_vec();
        for condition in &part.domain {
            known.push(self.substitute_bound_formula(condition, &copies)?);
        }
        let (mut equations, mut argument) = (Vec::new(), Vec::new());
        for own in holes {
            let at = self.variable();
            argument.push(at);
            equations.push(Equation {
                own: self.substitute_bound(own, &copies)?,
                argument: Poly::symbol(at),
            });
        }
        let conditions = known.iter().flat_map(Formula::symbols);
        let symbols = conditions.chain(equations.iter().flat_map(|one| one.own.symbols()));
        let unknowns = self.unknowns(wanted, symbols.collect());
        let values = self.inverse(unknowns, equations, &known, &[Effort::Light])?;
        let mut coordinates = Vec::new();
        for (coordinate, copy) in copies {
            coordinates.push((coordinate, values.get(&copy.as_symbol()?)?.clone()));
        }
        Some(Inverse { argument, coordinates })
    }

    /// Returns the conditions under which a summand is taken at an argument.
    fn conditions_at_argument(
        &mut self,
        Member { part, holes, inverse }: &Member,
        argument: &[Poly],
    ) -> Option<Vec<Formula>> {
        let inverse = inverse.as_ref()?;
        let at = inverse.argument.iter().copied().zip(argument.iter().cloned()).collect();
        let mut coordinates: BTreeMap<Sym, Poly> = BTreeMap::new();
        for (coordinate, value) in &inverse.coordinates {
            coordinates.insert(*coordinate, self.substitute_bound(value, &at)?);
        }
        let mut left = Vec::new();
        for (own, argument) in holes.iter().zip(argument) {
            left.push(Formula::eq(self.substitute_bound(own, &coordinates)?.minus(argument)?));
        }
        for condition in &part.domain {
            left.push(self.substitute_bound_formula(condition, &coordinates)?);
        }
        left.retain(|one| *one != Formula::True);
        Some(left)
    }

    /// Returns `true` if multiplicities add up to 0 in all cases.
    fn is_zero(&mut self, hits: &[Occurrence], known: &[Formula], left: &mut u32) -> bool {
        let Some(fewer) = left.checked_sub(1) else { return false };
        *left = fewer;
        let (mut total, mut open): (Option<Ratio>, Vec<Occurrence>) =
            (Some(Ratio::ZERO), Vec::new());
        for (ratio, conditions) in hits {
            let mut undecided = Vec::new();
            let mut is_missed = false;
            for condition in conditions {
                if self.prover.proves_lightly(known, condition) {
                    continue;
                }
                is_missed = self.prover.proves_lightly(known, &condition.clone().not());
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
            return total == Some(Ratio::ZERO) || self.proves(known, &Formula::False);
        };
        if let Some(total) = total.filter(|total| *total != Ratio::ZERO) {
            open.push((total, Vec::new()));
        }
        cases(split).into_iter().all(|condition| {
            let known = self.with_fact(known, &condition);
            self.prover.proves_lightly(&known, &Formula::False) || self.is_zero(&open, &known, left)
        })
    }
}

/// Returns the values of a fold that has no runs.
fn singles(fold: &Fold) -> Option<Vec<&Value>> {
    let pieces = fold.pieces.iter().map(|piece| match piece {
        Piece::One(value) => Some(value),
        Piece::Run(_) => None,
    });
    pieces.collect()
}

/// A condition, and the cases in which it is false: a nonzero number is above or below zero, which bounds can
/// express.
fn cases(condition: Formula) -> Vec<Formula> {
    if let Formula::Eq(poly) = &condition
        && let (Some(above), Some(below)) =
            (poly.offset(-1), poly.scaled(-1).and_then(|one| one.offset(-1)))
    {
        return vec![Formula::ge(above), Formula::ge(below), condition];
    }
    vec![condition.clone(), condition.not()]
}
