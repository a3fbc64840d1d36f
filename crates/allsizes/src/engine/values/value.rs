//! Stored values, as polynomials over *atoms*: elements of inputs, parameters, functions, sums.
//!
//! Floats are real numbers and integers are integers; two values with the same normal form are equal for all
//! inputs. The reverse does not hold: a function is known by its name alone. Operations fail (`None`) when a
//! value becomes unreasonably large.

use super::finiteness::Finiteness;
use crate::clause::Monoid;
use arith::formula::Formula;
use arith::poly::{Poly, Sym, greatest_common_divisor};
use base::Span;
use deadline::tick;
use kir::{ArrayId, Type};
use std::collections::{BTreeMap, BTreeSet};

/// Limit on the terms of a value.
const MAX_TERMS: usize = 64;

/// A fraction in lowest terms; the denominator is positive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Ratio {
    pub(super) top: i128,
    pub(super) bottom: i128,
}

impl Ratio {
    pub(super) const ZERO: Self = Self { top: 0, bottom: 1 };
    pub(super) const ONE: Self = Self { top: 1, bottom: 1 };

    fn new(top: i128, bottom: i128) -> Option<Self> {
        let divisor = greatest_common_divisor(top, bottom).max(1);
        let sign = if bottom < 0 { -1 } else { 1 };
        let (top, bottom) = (top.checked_mul(sign)? / divisor, bottom.checked_mul(sign)? / divisor);
        (bottom > 0).then_some(Self { top, bottom })
    }

    pub(super) fn plus(self, other: Self) -> Option<Self> {
        let left = self.top.checked_mul(other.bottom)?;
        let right = other.top.checked_mul(self.bottom)?;
        Self::new(left.checked_add(right)?, self.bottom.checked_mul(other.bottom)?)
    }

    pub(super) fn by(self, other: Self) -> Option<Self> {
        Self::new(self.top.checked_mul(other.top)?, self.bottom.checked_mul(other.bottom)?)
    }
}

/// A point in the kernel.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Point {
    /// The path down the tree of statements. Points are ordered by it.
    pub(super) position: Vec<usize>,
    /// The enclosing loops: the depth of each on the path, and the symbol that counts its iterations.
    pub(super) loops: Vec<(usize, Sym)>,
}

/// An element that a thread loads, not looked up yet.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Load {
    /// The kernel.
    pub(super) side: usize,
    pub(super) array: ArrayId,
    pub(super) index: Vec<Poly>,
    pub(super) point: Point,
    pub(super) span: Span,
}

/// Contents of an element when a loop was entered.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    /// The kernel.
    pub(super) side: usize,
    /// The loop.
    pub(super) point: Point,
    pub(super) array: ArrayId,
    pub(super) index: Vec<Poly>,
    /// The block, and the iterations of the enclosing loops.
    pub(super) around: Vec<(Sym, Poly)>,
    /// What it may be besides a real number. It is checked where the element is looked up.
    pub(super) finiteness: Finiteness,
}

/// The sum of a value over `0 ≤ digit < high`; empty if `high` is not positive.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Sum {
    pub(super) digit: Sym,
    pub(super) high: Poly,
    pub(super) body: Value,
}

/// The result of an associative operation on values, in this order; its unit if there are none.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Fold {
    pub(super) op: Monoid,
    /// The unit, if it is a known number.
    pub(super) unit: Option<i128>,
    pub(super) pieces: Vec<Piece>,
}

/// A part of a fold.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Piece {
    /// A single value.
    One(Value),
    /// All values of the body, in the order of the digit.
    Run(Sum),
}

/// The building blocks of values.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Atom {
    /// Contents of an array before the launch.
    Input(ArrayId, Vec<Poly>),
    /// A load that is not looked up yet.
    Load(Box<Load>),
    /// Contents of an array when a loop was entered.
    Entry(Box<Entry>),
    /// A floating-point parameter.
    Scalar(String),
    /// A floating-point constant that is not a small fraction, by its bits.
    Number(u64),
    /// An integer of the engine.
    Int(Sym),
    /// 1 if the formula holds, else 0.
    Truth(Formula),
    /// A function, known by its name.
    Call(String, Vec<Value>),
    Sum(Box<Sum>),
    Fold(Box<Fold>),
    /// A variable at the head of the current loop, by a number, and its finiteness.
    Carried(u32, Finiteness),
    /// An unsupported value: the reason, and a number that distinguishes it from others.
    Unknown(String, u32),
}

/// A product of atoms, each with its exponent, ascending.
pub(super) type Product = Vec<(Atom, u32)>;

/// A value; no coefficient is zero.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Value {
    pub(super) terms: BTreeMap<Product, Ratio>,
}

impl Value {
    pub(super) fn atom(atom: Atom) -> Self {
        match atom {
            Atom::Truth(Formula::True) => Self::constant(1),
            Atom::Truth(Formula::False) => Self::default(),
            atom => Self { terms: BTreeMap::from([(vec![(atom, 1)], Ratio::ONE)]) },
        }
    }

    pub(super) fn constant(value: i128) -> Self {
        let terms = (value != 0).then_some((Vec::new(), Ratio { top: value, bottom: 1 }));
        Self { terms: terms.into_iter().collect() }
    }

    /// A floating-point constant.
    pub(super) fn number(value: f64) -> Self {
        let mut scaled = value;
        let mut bottom: i128 = 1;
        while scaled.fract() != 0.0 && bottom < 1 << 40 {
            scaled *= 2.0;
            bottom *= 2;
        }
        #[expect(clippy::cast_possible_truncation, reason = "it is a whole number of 50 bits")]
        let top = scaled as i128;
        match Ratio::new(top, bottom) {
            Some(ratio) if scaled.fract() == 0.0 && scaled.abs() < 1e15 => {
                let terms = (top != 0).then_some((Vec::new(), ratio));
                Self { terms: terms.into_iter().collect() }
            }
            _ => Self::atom(Atom::Number(value.to_bits())),
        }
    }

    /// Converts an integer polynomial; a symbol that `data` does not know is an integer.
    pub(super) fn of_poly(poly: &Poly, data: &mut impl FnMut(Sym) -> Option<Self>) -> Option<Self> {
        let mut sum = Self::default();
        for (monomial, coefficient) in poly.terms() {
            let mut product = Self::constant(coefficient);
            for (sym, power) in monomial {
                let factor = data(*sym).unwrap_or_else(|| Self::atom(Atom::Int(*sym)));
                for _ in 0..*power {
                    product = product.times(&factor)?;
                }
            }
            sum = sum.plus(&product)?;
        }
        Some(sum)
    }

    pub(super) fn is_zero(&self) -> bool {
        self.terms.is_empty()
    }

    pub(super) fn plus(&self, other: &Self) -> Option<Self> {
        let mut sum = self.clone();
        for (product, ratio) in &other.terms {
            sum.add(product.clone(), *ratio)?;
        }
        Some(sum)
    }

    pub(super) fn minus(&self, other: &Self) -> Option<Self> {
        self.plus(&other.times(&Self::constant(-1))?)
    }

    pub(super) fn add(&mut self, product: Product, ratio: Ratio) -> Option<()> {
        tick();
        let sum = match self.terms.get(&product) {
            Some(old) => old.plus(ratio)?,
            None => ratio,
        };
        match sum.top {
            0 => self.terms.remove(&product),
            _ => self.terms.insert(product, sum),
        };
        (self.terms.len() <= MAX_TERMS).then_some(())
    }

    pub(super) fn times(&self, other: &Self) -> Option<Self> {
        let mut product = Self::default();
        for (one, a) in &self.terms {
            for (two, b) in &other.terms {
                product.add(multiplied(one, two)?, a.by(*b)?)?;
            }
        }
        Some(product)
    }

    /// `1/x`, and 0 for 0. The result for a product is the product of the factors' results. That keeps `1/(x·y) =
    /// 1/x·1/y` for all numbers.
    pub(super) fn inverse(&self) -> Option<Self> {
        let (Some((product, ratio)), 1) = (self.terms.first_key_value(), self.terms.len()) else {
            return Some(Self::atom(Atom::Call("inverse".to_owned(), vec![self.clone()])));
        };
        let ratio = Ratio::new(ratio.bottom, ratio.top)?;
        let mut result = Self { terms: BTreeMap::from([(Vec::new(), ratio)]) };
        for (atom, power) in product {
            let factor = match (exponent(atom), atom) {
                (Some((name, argument)), _) => {
                    let argument = argument.times(&Self::constant(-1))?;
                    Self::atom(Atom::Call(name.to_owned(), vec![argument]))
                }
                (None, Atom::Call(name, arguments)) if name == "inverse" => {
                    arguments.first()?.clone()
                }
                // A factor that is 0 or 1 is its own inverse.
                (None, Atom::Truth(_)) => Self::atom(atom.clone()),
                _ => {
                    let base = Self::atom(atom.clone());
                    Self::atom(Atom::Call("inverse".to_owned(), vec![base]))
                }
            };
            for _ in 0..*power {
                result = result.times(&factor)?;
            }
        }
        Some(result)
    }

    /// Selects one of two values; common terms stay outside.
    pub(super) fn select(condition: &Formula, then: &Self, otherwise: &Self) -> Option<Self> {
        let mut common = Self::default();
        for (product, ratio) in &then.terms {
            if otherwise.terms.get(product) == Some(ratio) {
                common.add(product.clone(), *ratio)?;
            }
        }
        let mut sum = common.clone();
        let sides = [(condition.clone(), then), (condition.clone().not(), otherwise)];
        for (condition, value) in sides {
            let truth = Self::atom(Atom::Truth(condition));
            sum = sum.plus(&value.minus(&common)?.times(&truth)?)?;
        }
        Some(sum)
    }

    /// Calls `see` for every atom, nested ones too.
    pub(super) fn visit(&self, see: &mut impl FnMut(&Atom)) {
        for (atom, _) in self.terms.keys().flatten() {
            visit_atom(atom, see);
        }
    }

    /// The symbols in it, without those that sums bind.
    pub(super) fn symbols(&self) -> BTreeSet<Sym> {
        let mut found = BTreeSet::new();
        let mut bound = BTreeSet::new();
        self.visit(&mut |atom| match atom {
            Atom::Input(_, index) => found.extend(index.iter().flat_map(Poly::symbols)),
            Atom::Load(load) => found.extend(load.index.iter().flat_map(Poly::symbols)),
            Atom::Entry(entry) => {
                let around = entry.around.iter().map(|(_, value)| value);
                found.extend(entry.index.iter().chain(around).flat_map(Poly::symbols));
            }
            Atom::Int(sym) => {
                found.insert(*sym);
            }
            Atom::Truth(formula) => found.extend(formula.symbols()),
            Atom::Sum(sum) => {
                bound.insert(sum.digit);
                found.extend(sum.high.symbols());
            }
            Atom::Fold(fold) => {
                for piece in &fold.pieces {
                    let Piece::Run(sum) = piece else { continue };
                    bound.insert(sum.digit);
                    found.extend(sum.high.symbols());
                }
            }
            _ => {}
        });
        found.difference(&bound).copied().collect()
    }

    /// Maps the polynomials in all atoms; `None` if one cannot be mapped.
    pub(super) fn mapped(&self, map: &mut dyn FnMut(&Poly) -> Option<Poly>) -> Option<Self> {
        let mut sum = Self::default();
        for (product, ratio) in &self.terms {
            let mut value = Self { terms: BTreeMap::from([(Vec::new(), *ratio)]) };
            for (atom, power) in product {
                let factor = mapped_atom(atom, map)?;
                for _ in 0..*power {
                    value = value.times(&factor)?;
                }
            }
            sum = sum.plus(&value)?;
        }
        Some(sum)
    }
}

pub(super) fn visit_atom(atom: &Atom, see: &mut impl FnMut(&Atom)) {
    see(atom);
    match atom {
        Atom::Call(_, arguments) => {
            for (inner, _) in arguments.iter().flat_map(|one| one.terms.keys().flatten()) {
                // One level of recursion for each level of the value.
                visit_dyn(inner, see);
            }
        }
        Atom::Sum(sum) => {
            for (inner, _) in sum.body.terms.keys().flatten() {
                visit_dyn(inner, see);
            }
        }
        Atom::Fold(fold) => {
            let values = fold.pieces.iter().map(|piece| match piece {
                Piece::One(value) => value,
                Piece::Run(sum) => &sum.body,
            });
            for (inner, _) in values.flat_map(|value| value.terms.keys().flatten()) {
                visit_dyn(inner, see);
            }
        }
        _ => {}
    }
}

/// The same through a trait object, so that types stay finite.
fn visit_dyn(atom: &Atom, see: &mut dyn FnMut(&Atom)) {
    visit_atom(atom, &mut |one| see(one));
}

fn mapped_atom(atom: &Atom, map: &mut dyn FnMut(&Poly) -> Option<Poly>) -> Option<Value> {
    Some(match atom {
        Atom::Input(array, index) => {
            let index: Option<Vec<Poly>> = index.iter().map(map).collect();
            Value::atom(Atom::Input(*array, index?))
        }
        Atom::Entry(entry) => {
            let index: Option<Vec<Poly>> = entry.index.iter().map(&mut *map).collect();
            let around = entry.around.iter().map(|(digit, value)| Some((*digit, map(value)?)));
            let around: Option<Vec<(Sym, Poly)>> = around.collect();
            let entry = Entry { index: index?, around: around?, ..(**entry).clone() };
            Value::atom(Atom::Entry(Box::new(entry)))
        }
        Atom::Int(sym) => Value::of_poly(&map(&Poly::symbol(*sym))?, &mut |_| None)?,
        Atom::Truth(formula) => {
            Value::atom(Atom::Truth(formula.mapped(&mut |poly: &Poly| map(poly))?))
        }
        Atom::Call(name, arguments) => {
            let arguments: Option<Vec<Value>> =
                arguments.iter().map(|one| one.mapped(map)).collect();
            Value::atom(Atom::Call(name.clone(), arguments?))
        }
        Atom::Sum(sum) => Value::atom(Atom::Sum(Box::new(mapped_sum(sum, map)?))),
        Atom::Fold(fold) => {
            let mut pieces = Vec::new();
            for piece in &fold.pieces {
                pieces.push(match piece {
                    Piece::One(value) => Piece::One(value.mapped(map)?),
                    Piece::Run(sum) => Piece::Run(mapped_sum(sum, map)?),
                });
            }
            let (op, unit) = (fold.op.clone(), fold.unit);
            Value::atom(Atom::Fold(Box::new(Fold { op, unit, pieces })))
        }
        Atom::Scalar(_) | Atom::Number(_) => Value::atom(atom.clone()),
        // These stand for a value at a point of the kernel; their polynomials alone do not determine it.
        Atom::Load(_) | Atom::Carried(..) | Atom::Unknown(..) => return None,
    })
}

fn mapped_sum(sum: &Sum, map: &mut dyn FnMut(&Poly) -> Option<Poly>) -> Option<Sum> {
    let digit = map(&Poly::symbol(sum.digit))?.as_symbol()?;
    let (high, body) = (map(&sum.high)?, sum.body.mapped(map)?);
    Some(Sum { digit, high, body })
}

fn multiplied(one: &Product, two: &Product) -> Option<Product> {
    let mut powers: BTreeMap<Atom, u32> = one.iter().cloned().collect();
    for (atom, power) in two {
        *powers.entry(atom.clone()).or_default() += power;
    }
    for (atom, power) in &mut powers {
        if matches!(atom, Atom::Truth(_)) {
            *power = 1;
        }
    }
    for name in EXPONENTIALS {
        with_one_exponential(&mut powers, name)?;
    }
    (powers.len() <= 24).then(|| powers.into_iter().collect())
}

/// Functions with `f(a)·f(b) = f(a+b)`, which are nowhere 0.
const EXPONENTIALS: [&str; 2] = ["exp", "exp2"];

/// Returns the argument of an exponential.
pub(super) fn exponent(atom: &Atom) -> Option<(&str, &Value)> {
    match atom {
        Atom::Call(name, arguments) if EXPONENTIALS.contains(&name.as_str()) => {
            arguments.first().map(|argument| (name.as_str(), argument))
        }
        _ => None,
    }
}

/// Merges all exponentials of a product into one.
fn with_one_exponential(powers: &mut BTreeMap<Atom, u32>, name: &str) -> Option<()> {
    let is_exponential = |atom: &Atom| exponent(atom).is_some_and(|(function, _)| function == name);
    let plain = |(atom, power): (&Atom, &u32)| {
        *power == 1 && exponent(atom).is_none_or(|(_, argument)| !argument.is_zero())
    };
    let single = powers.iter().filter(|(atom, _)| is_exponential(atom)).all(plain);
    if single && powers.keys().filter(|atom| is_exponential(atom)).count() < 2 {
        return Some(());
    }
    let mut sum = Value::default();
    for (atom, power) in powers.iter() {
        let Some((_, argument)) = exponent(atom).filter(|(function, _)| *function == name) else {
            continue;
        };
        sum = sum.plus(&argument.times(&Value::constant(i128::from(*power)))?)?;
    }
    powers.retain(|atom, _| !is_exponential(atom));
    if !sum.is_zero() {
        powers.insert(Atom::Call(name.to_owned(), vec![sum]), 1);
    }
    Some(())
}

/// Returns the name of a conversion: `wrap…` to a machine integer of the type, `real…` from one to a real number.
pub(super) fn conversion_name(prefix: &str, ty: Type) -> String {
    match ty {
        Type::Int { bits, signed } => format!("{prefix}{bits}{}", if signed { 's' } else { 'u' }),
        _ => prefix.to_owned(),
    }
}
