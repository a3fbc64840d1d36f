//! Evaluates normal forms: certified signs of constant forms, by intervals ([`constant_sign`]), and
//! approximate values at a point, in doubles ([`FormValues`]). Only the first may settle an answer; the
//! second chooses what to try.

use super::elementary;
use super::float::apply_float;
use super::interval::{Binary, Interval};
use crate::algebra::{Algebra, Atom, AtomId, Condition, ConditionId, FormId, SignSet};
use rustc_hash::FxHashMap;

/// Constants nested deeper than this are not evaluated: their sign stays undecided.
const MAX_DEPTH: u32 = 12;

/// Returns the sign of a form without inputs. Only an enclosure that excludes zero, or an empty sum, settles
/// it: π − 355/113 is positive or negative because the interval says so. A constant whose enclosure contains
/// zero stays undecided.
pub(crate) fn constant_sign(algebra: &Algebra, form: FormId) -> SignSet {
    if algebra.form(form).is_empty() {
        return SignSet::ZERO;
    }
    match enclose(algebra, form, MAX_DEPTH).and_then(|value| value.sign()) {
        Some(sign) => SignSet::of(sign),
        None => SignSet::ANY,
    }
}

/// Encloses a form without inputs; `None` if it has an input, is nested too deeply or may be undefined.
fn enclose(algebra: &Algebra, form: FormId, depth: u32) -> Option<Interval> {
    let depth = depth.checked_sub(1)?;
    let mut sum = Interval::point(Binary::integer(0));
    for (monomial, coefficient) in algebra.form(form) {
        let mut product = Interval::of_number(coefficient);
        for (atom, power) in algebra.factors(*monomial) {
            let base = enclose_atom(algebra, atom, depth)?;
            let raised = match power.as_integer() {
                Some(integer) => base.integer_power(integer)?,
                None => {
                    let exponent = Interval::of_number(&power.to_number());
                    elementary::exp(&elementary::log(&base)?.times(&exponent))?
                }
            };
            product = product.times(&raised);
        }
        for part in monomial.exponent().parts() {
            if part != FormId::ZERO {
                product = product.times(&elementary::exp(&enclose(algebra, part, depth)?)?);
            }
        }
        sum = sum.plus(&product)?;
    }
    Some(sum)
}

fn enclose_atom(algebra: &Algebra, atom: AtomId, depth: u32) -> Option<Interval> {
    let integer =
        |value: u64| i64::try_from(value).ok().map(|v| Interval::point(Binary::integer(v)));
    match algebra.atom_ref(atom)? {
        Atom::Pi => Some(elementary::pi()),
        Atom::Integer(value) => integer(*value),
        Atom::LogInteger(value) => elementary::log(&integer(*value)?),
        Atom::Base(form) => enclose(algebra, *form, depth),
        Atom::Log(form) => {
            let value = enclose(algebra, *form, depth)?;
            let value = if value.sign()? < 0 { value.negated() } else { value };
            elementary::log(&value)
        }
        Atom::Input(_)
        | Atom::Maximum(_)
        | Atom::Select(..)
        | Atom::Apply(..)
        | Atom::Opaque { .. } => None,
    }
}

/// Approximate values of forms and atoms at one point.
#[derive(Debug)]
pub(crate) struct FormValues<'a> {
    algebra: &'a Algebra,
    /// From an input's position to its value.
    point: fn(u32) -> f64,
    atoms: FxHashMap<AtomId, f64>,
    forms: FxHashMap<FormId, f64>,
}

/// Forms nested deeper than this get no guess.
const MAX_GUESS_DEPTH: u32 = 200;

impl<'a> FormValues<'a> {
    pub(crate) fn new(algebra: &'a Algebra, point: fn(u32) -> f64) -> Self {
        Self { algebra, point, atoms: FxHashMap::default(), forms: FxHashMap::default() }
    }

    pub(crate) fn form(&mut self, form: FormId) -> f64 {
        self.form_at(form, MAX_GUESS_DEPTH)
    }

    fn form_at(&mut self, form: FormId, depth: u32) -> f64 {
        if let Some(value) = self.forms.get(&form) {
            return *value;
        }
        let Some(depth) = depth.checked_sub(1) else { return f64::NAN };
        let mut sum = 0.0;
        for (monomial, coefficient) in self.algebra.form(form) {
            let mut product = coefficient.to_f64_lossy();
            for (atom, power) in self.algebra.factors(*monomial) {
                product *= self.atom(atom, depth).powf(power.to_f64());
            }
            for part in monomial.exponent().parts() {
                if part != FormId::ZERO {
                    product *= self.form_at(part, depth).exp();
                }
            }
            sum += product;
        }
        self.forms.insert(form, sum);
        sum
    }

    fn atom(&mut self, atom: AtomId, depth: u32) -> f64 {
        if let Some(value) = self.atoms.get(&atom) {
            return *value;
        }
        let value = match self.algebra.atom(atom) {
            Atom::Input(position) => (self.point)(position),
            Atom::Pi => std::f64::consts::PI,
            Atom::Opaque { .. } => f64::NAN,
            Atom::Integer(value) => value as f64,
            Atom::LogInteger(value) => (value as f64).ln(),
            Atom::Log(form) => self.form_at(form, depth).abs().ln(),
            Atom::Base(form) => self.form_at(form, depth),
            Atom::Maximum(forms) => forms
                .iter()
                .map(|form| self.form_at(*form, depth))
                .fold(f64::NEG_INFINITY, f64::max),
            Atom::Select(condition, a, b) => {
                let chosen = if self.holds(condition, depth) { a } else { b };
                self.form_at(chosen, depth)
            }
            Atom::Apply(function, form) => apply_float(function, self.form_at(form, depth)),
        };
        self.atoms.insert(atom, value);
        value
    }

    fn holds(&mut self, condition: ConditionId, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        match self.algebra.condition(condition) {
            Condition::Truth(value) => value,
            Condition::Sign(form, wanted) => {
                let value = self.form_at(form, depth);
                let sign = if value > 0.0 { 1 } else { -i32::from(value < 0.0) };
                SignSet::of(sign).within(wanted)
            }
            Condition::And(a, b) => self.holds(a, depth) && self.holds(b, depth),
            Condition::Or(a, b) => self.holds(a, depth) || self.holds(b, depth),
            Condition::Not(inner) => !self.holds(inner, depth),
        }
    }
}
