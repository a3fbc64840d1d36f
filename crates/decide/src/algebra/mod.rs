//! The ring that terms are mapped into, and its normal forms.
//!
//! A normal form is a finite sum `Σ cᵢ · Πⱼ aⱼ^qⱼ · e^Eᵢ`: rational coefficients, rational powers of *atoms*, and an
//! exponent that is again such a sum. Atoms are inputs, π, logarithms, and composites over normal forms: maxima,
//! selects, named functions, and *bases*, which are sums of several terms raised to a power (so a quotient is a sum
//! times a base to the −1).
//!
//! The types come first: [`form`], [`atom`], [`condition`], [`monomial`], [`polynomial`], [`facts`]. Then
//! [`monomial_product`] multiplies atoms and exponents, [`arithmetic`] adds and multiplies sums, [`content`] pulls
//! out common factors, and the remaining files hold one operation each. Every operation keeps the *pointwise
//! contract*: at every input where the operations of the original term are defined, the result has the value of the
//! term. It may be defined elsewhere too, and nothing is claimed there.
//!
//! Tables only grow and are shared by all forms of one [`Algebra`], so that equal normal forms have equal numbers
//! ([`FormId`]).

mod arithmetic;
pub(crate) mod atom;
mod atom_table;
mod cancel;
mod circle;
mod condition;
mod content;
mod defined;
mod expand;
mod exponential;
mod facts;
mod form;
mod fraction;
mod function;
mod maximum;
pub(crate) mod monomial;
mod monomial_product;
mod polynomial;
mod power;
mod rescaling;
mod root;
mod select;
mod sign;
mod sign_set;
mod square;

pub(crate) use atom::{Atom, AtomId};
pub(crate) use condition::{Condition, ConditionId};
pub(crate) use content::Pull;
pub(crate) use facts::Facts;
pub(crate) use form::{FormId, Obstacle, Outcome};
pub(crate) use function::round_to_even;
pub(crate) use monomial::{Exponent, Monomial, Summand};
pub(crate) use polynomial::{Polynomial, times};
pub(crate) use power::Power;
pub(crate) use sign_set::SignSet;

use crate::deadline::Deadline;
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::Hasher;
use term::Number;

/// Steps between two checks of the deadline: a few milliseconds.
const STEPS_BETWEEN_CHECKS: u64 = 1 << 16;

/// Entries of [`Algebra::recent_sums`], a power of two.
const RECENT_SUMS: usize = 1 << 11;

/// A normal form in the table.
#[derive(Debug)]
struct Form {
    terms: Box<[Summand]>,
    /// The form before it in the same bucket of the table.
    bucket: Option<FormId>,
    stamp: u32,
}

/// The tables of atoms, power products and normal forms.
#[derive(Debug)]
pub(crate) struct Algebra {
    inputs: u32,
    atoms: Vec<atom_table::Entry>,
    atom_ids: FxHashMap<Atom, AtomId>,
    powers: Vec<Box<[(AtomId, Power)]>>,
    power_ids: FxHashMap<Box<[(AtomId, Power)]>, u32>,
    forms: Vec<Form>,
    form_buckets: FxHashMap<u64, FormId>,
    conditions: Vec<Condition>,
    condition_ids: FxHashMap<Condition, ConditionId>,
    exponent_sums: FxHashMap<(FormId, FormId), FormId>,
    /// Recent sums of exponents, by a few bits of both numbers: the outputs of a row need the same ones, and the
    /// array fits into a processor cache.
    recent_sums: Box<[(FormId, FormId, FormId)]>,
    exponent_negations: FxHashMap<FormId, FormId>,
    /// The monomial that was inverted last, its inverse, and the coefficient that the inverse sheds.
    last_inverse: Option<(Monomial, (Monomial, Option<Number>))>,
    /// Recent primitives of sums.
    recent_primitives: Box<[Option<content::Primitive>]>,
    /// Definitions of blocks; empty in attempts that do not use them.
    definitions: defined::Definitions,
    /// Creation order of atoms and forms: the parts of a form or atom have smaller stamps.
    next_stamp: u32,
    /// Assumptions about signs while rewriting; empty outside the rungs that use facts.
    pub(crate) facts: Facts,
    /// Steps left; an operation that would exceed them fails with [`Obstacle::Budget`].
    pub(crate) steps: u64,
    /// The deadline.
    deadline: Deadline,
    /// Steps until it is checked again.
    until_check: u64,
    /// Set once it has passed.
    is_over: bool,
}

impl Algebra {
    /// Creates an algebra over `inputs` inputs.
    pub(crate) fn new(inputs: usize) -> Self {
        let mut algebra = Self {
            inputs: inputs as u32,
            atoms: Vec::new(),
            atom_ids: FxHashMap::default(),
            powers: Vec::new(),
            power_ids: FxHashMap::default(),
            forms: Vec::new(),
            form_buckets: FxHashMap::default(),
            conditions: Vec::new(),
            condition_ids: FxHashMap::default(),
            exponent_sums: FxHashMap::default(),
            recent_sums: vec![(FormId::ZERO, FormId::ZERO, FormId::ZERO); RECENT_SUMS].into(),
            exponent_negations: FxHashMap::default(),
            last_inverse: None,
            recent_primitives: vec![None; content::RECENT_PRIMITIVES].into(),
            definitions: defined::Definitions::default(),
            next_stamp: 0,
            facts: Facts::default(),
            steps: u64::MAX,
            deadline: Deadline::default(),
            until_check: u64::MAX,
            is_over: false,
        };
        algebra.intern_sorted(Vec::new());
        algebra
    }

    /// Returns the summands of a form, sorted by monomial.
    pub(crate) fn form(&self, form: FormId) -> &[Summand] {
        &self.forms[form.0 as usize].terms
    }

    pub(crate) fn form_stamp(&self, form: FormId) -> u32 {
        self.forms[form.0 as usize].stamp
    }

    /// Returns the form as a polynomial to compute with.
    pub(crate) fn polynomial(&self, form: FormId) -> Polynomial {
        Polynomial::from_sorted(self.form(form).to_vec())
    }

    /// Interns a normal form; returns its number.
    pub(crate) fn intern(&mut self, polynomial: Polynomial) -> Outcome<FormId> {
        let terms = self.expanded(polynomial)?;
        Ok(self.intern_sorted(terms))
    }

    /// Interns a form; `terms` must be sorted, combined and free of zeros.
    pub(crate) fn intern_sorted(&mut self, terms: Vec<Summand>) -> FormId {
        let hash = hash_of(&terms);
        let first = self.form_buckets.get(&hash).copied();
        let mut candidate = first;
        while let Some(id) = candidate {
            let form = &self.forms[id.0 as usize];
            if *form.terms == *terms {
                return id;
            }
            candidate = form.bucket;
        }
        let id = FormId(self.forms.len() as u32);
        let stamp = self.stamp();
        self.forms.push(Form { terms: terms.into(), bucket: first, stamp });
        self.form_buckets.insert(hash, id);
        id
    }

    /// Sets a deadline, checked now and then.
    pub(crate) fn set_deadline(&mut self, deadline: Deadline) {
        self.deadline = deadline;
        self.until_check = if deadline.is_set() { STEPS_BETWEEN_CHECKS } else { u64::MAX };
    }

    /// Takes steps from the budget. Fails if not enough are left, or once the deadline has passed.
    pub(crate) fn spend(&mut self, steps: usize) -> Outcome<()> {
        self.steps = self.steps.checked_sub(steps as u64).ok_or(Obstacle::Budget)?;
        match self.until_check.checked_sub(steps as u64) {
            Some(left) => {
                self.until_check = left;
                Ok(())
            }
            None => self.check_deadline(),
        }
    }

    #[cold]
    fn check_deadline(&mut self) -> Outcome<()> {
        self.until_check = if self.deadline.is_set() { STEPS_BETWEEN_CHECKS } else { u64::MAX };
        self.is_over |= self.deadline.has_passed();
        if self.is_over {
            // From now on every step fails.
            self.until_check = 0;
            return Err(Obstacle::Time);
        }
        Ok(())
    }

    fn stamp(&mut self) -> u32 {
        self.next_stamp += 1;
        self.next_stamp
    }
}

/// Hashes monomials and leading bits of coefficients; equality is checked on the whole.
fn hash_of(terms: &[Summand]) -> u64 {
    let mut hasher = FxHasher::default();
    for (monomial, coefficient) in terms {
        let (high, low) = monomial.bits();
        hasher.write_u64(high);
        hasher.write_u64(low);
        hasher.write_u64(coefficient.fingerprint());
    }
    hasher.finish()
}
