//! Initial contents of global arrays: drawn from the seed, subject to the contract.
//!
//! An element is drawn when it is first read. If a requirement relates elements to each other, all elements of its
//! arrays are drawn before the run, one after the other, each so that no requirement is known to fail. So a run only
//! shows behaviour on contents that the contract allows. If no such contents are found, there is no run. `existence.rs`
//! tests the elements that a run has not read.

use crate::contract::{Contract, mentioned_arrays};
use crate::draw::of_name;
use crate::evaluate::truth;
use crate::machine::{Halt, Machine};
use crate::outcome::Contents;
use crate::rounding::literal;
use crate::shadow::Cell;
use crate::value::{EvaluationError, Value};
use base::Index;
use base::mix64;
use kir::{ArrayId, Expr, ExprKind, Requirement, Space, Type, VarId, visit};
use std::collections::BTreeSet;

/// A run stops with this if too many elements are related.
pub(crate) const TOO_MANY_RELATED: &str = "contents that the contract relates cannot be generated";
/// A run stops with this if it finds no contents.
pub(crate) const NONE_ALLOWED: &str = "no contents were found that satisfy the contract";
/// Limit on attempts for one element.
const MAX_TRIES: u64 = 64;
/// Limit on attempts for all contents.
const MAX_STARTS: u64 = 4;
/// Limit on the elements of an array whose contents are related to each other.
const MAX_RELATED: i128 = 12;

/// Limit on the elements of an array whose contents are reported.
const MAX_KEPT: i128 = 1 << 18;

impl Machine<'_> {
    /// Draws the elements that requirements relate, before the run.
    pub(crate) fn draw_related_contents(&mut self) -> Result<(), Halt> {
        let related: BTreeSet<ArrayId> = self
            .kernel
            .requires
            .iter()
            .filter(|one| relates(one))
            .flat_map(mentioned_arrays)
            .collect();
        let written = related.iter().any(|array| self.written[array.position()]);
        if related.is_empty() {
            return Ok(());
        }
        let sizes = related.iter().map(|array| match self.sizes[array.position()][..] {
            [Some(size)] if (0..=MAX_RELATED).contains(&size) => Some((*array, size)),
            _ => None,
        });
        let sizes: Option<Vec<(ArrayId, i128)>> = sizes.collect();
        let Some(sizes) = sizes.filter(|_| !written) else {
            return Err(Halt::Stopped(TOO_MANY_RELATED));
        };
        for start in 0..MAX_STARTS {
            self.global.clear();
            let cells =
                sizes.iter().flat_map(|(array, size)| (0..*size).map(|at| (*array, [at, 0, 0])));
            if cells.into_iter().all(|cell| self.draw(&cell, start).is_some()) {
                return Ok(());
            }
        }
        Err(Halt::Stopped(NONE_ALLOWED))
    }

    /// The current contents of global arrays with one known size.
    pub(crate) fn contents(&mut self) -> Contents {
        let mut contents = Contents::new();
        for (array, declared) in self.kernel.arrays.enumerate() {
            let ([Some(size)], Space::Global) = (&self.sizes[array.position()][..], declared.space)
            else {
                continue;
            };
            if *size > MAX_KEPT {
                continue;
            }
            let cells = (0..*size).map(|at| (array, [at, 0, 0]));
            let values = cells.map(|cell| match self.global.get(&cell) {
                Some(value) => *value,
                None => self.initial_value(&cell).unwrap_or(Value::Undefined),
            });
            contents.insert(array, values.collect());
        }
        contents
    }

    /// The initial value of an element.
    pub(crate) fn initial_value(&mut self, cell: &Cell) -> Result<Value, Halt> {
        let found = self.draw(cell, 0);
        found.ok_or(Halt::Stopped(NONE_ALLOWED))
    }

    /// Returns the value of an element from its initialiser in the source. Other contents are only possible if the
    /// host writes them first.
    fn initialiser_value(&self, (array, index): &Cell) -> Option<Value> {
        let values = self.kernel.initials.get(array)?.as_ref()?;
        let sizes = &self.sizes[array.position()];
        let position = index.iter().zip(sizes).try_fold(0, |position: i128, (at, size)| {
            position.checked_mul((*size)?)?.checked_add(*at)
        });
        match &values.get(usize::try_from(position?).ok()?)?.kind {
            ExprKind::Int(value) => Some(Value::int(*value)),
            ExprKind::Float(value) => Some(Value::Float(literal(*value, self.kernel.precision))),
            _ => None,
        }
    }

    /// Now and then draws a number that a condition of the kernel names, or its neighbour, to reach code that
    /// depends on this number.
    pub(crate) fn named_number(&self, ty: Type, drawn: u64) -> Option<i128> {
        let place = usize::try_from(drawn >> 20).ok()? % self.numbers.len().max(1);
        let number = self.numbers.get(place).filter(|_| (drawn >> 8).is_multiple_of(5))?;
        let number = number + i128::from(drawn >> 50 & 3).min(2) - 1;
        (ty.range().is_some() && ty.holds(number)).then_some(number)
    }

    /// Draws the initial value of an element; `None` if no value was found that satisfies the requirements on it.
    /// `start` is the number of the attempt for all contents.
    fn draw(&mut self, cell: &Cell, start: u64) -> Option<Value> {
        let (array, index) = cell;
        let kernel = self.kernel;
        // The seed depends on the name, so that two kernels get the same contents for arrays of the same name.
        let first = of_name(&kernel.arrays[*array].name);
        let place =
            index.iter().fold(first, |hash, at| mix64(hash ^ at.rem_euclid(1 << 62) as u64));
        let requirements: Vec<&Requirement> = match self.constrained[array.position()] {
            true => {
                kernel.requires.iter().filter(|one| mentioned_arrays(one).contains(array)).collect()
            }
            false => Vec::new(),
        };
        if kernel.initials.contains_key(array) {
            let value = self.initialiser_value(cell)?;
            self.global.insert(*cell, value);
            return requirements
                .iter()
                .all(|requirement| self.fulfils(requirement, index[0]))
                .then_some(value);
        }
        for attempt in 0..MAX_TRIES {
            let drawn = mix64(self.launch.seed ^ place ^ attempt << 40 ^ start << 50);
            let wide = self.wide && requirements.is_empty();
            let ty = kernel.arrays[*array].element;
            let free = self.free_value(*array, ty, drawn).filter(|_| requirements.is_empty());
            // On every fourth launch, if there are no requirements.
            let takes_named = self.launch.seed % 4 == 3 && requirements.is_empty() && attempt == 0;
            let named = self.named_number(ty, drawn).filter(|_| takes_named).map(Value::int);
            let value = free.or(named).unwrap_or_else(|| match ty {
                Type::Int { bits, .. } if wide => {
                    Value::int(i128::from(drawn >> (65 - bits.min(64))))
                }
                Type::Float => Value::float((drawn % 17) as f64 / 4.0 - 2.0),
                Type::Bool => Value::int(i128::from(drawn % 2)),
                // On some launches, any number of a narrow type. It rarely overflows, because narrow types are
                // promoted before arithmetic.
                Type::Int { bits: 8 | 16, .. }
                    if attempt == 0
                        && self.launch.seed % 4 == 1
                        && (drawn >> 32).is_multiple_of(3) =>
                {
                    let (least, most) = ty.range().unwrap_or((0, 0));
                    Value::int(least + i128::from(drawn >> 40) % (most - least + 1))
                }
                // At every other start the smallest value that requirements allow, which leaves room for values
                // that must be larger.
                Type::Int { .. } if start % 2 == 1 => Value::int(i128::from(attempt)),
                Type::Int { signed: true, .. } if attempt == 0 => {
                    Value::int(i128::from(drawn % 11) - 2)
                }
                _ => Value::int(i128::from(drawn % (3 + attempt))),
            });
            self.global.insert(*cell, value);
            if requirements.iter().all(|requirement| self.fulfils(requirement, index[0])) {
                self.drew_constrained |= !requirements.is_empty();
                return Some(value);
            }
        }
        self.global.remove(cell);
        None
    }

    /// Returns `true` if no instance of a requirement at this element is known to fail.
    fn fulfils(&self, requirement: &Requirement, at: i128) -> bool {
        let values: Vec<i128> = match relates(requirement) {
            false => vec![at],
            true => {
                let sizes = mentioned_arrays(requirement).into_iter();
                let sizes = sizes.filter_map(|array| self.sizes[array.position()].first().copied());
                (0..sizes.flatten().max().unwrap_or(0).min(MAX_RELATED)).collect()
            }
        };
        let mut all: Vec<Vec<(VarId, i128)>> = vec![Vec::new()];
        for var in &requirement.forall {
            let longer = |one: &Vec<(VarId, i128)>| {
                values
                    .iter()
                    .map(|value| one.iter().copied().chain([(*var, *value)]).collect())
                    .collect::<Vec<_>>()
            };
            all = all.iter().flat_map(longer).collect();
        }
        // Instances without this element were checked when their elements were drawn.
        let mentions_element = |bound: &&Vec<(VarId, i128)>| {
            requirement.forall.len() < 2
                || has_other_index(requirement)
                || bound.iter().any(|(_, value)| *value == at)
        };
        all.iter().filter(mentions_element).all(|bound| {
            let env = Contract { launch: self.launch, bound, elements: Some(&self.global) };
            match relates(requirement) {
                false => truth(&requirement.condition, &env) == Ok(true),
                // Elements that are not drawn yet are checked when they are.
                true => !matches!(
                    truth(&requirement.condition, &env),
                    Ok(false) | Err(EvaluationError::Rounded)
                ),
            }
        })
    }
}

/// Returns `true` if a requirement relates elements to each other: it has several variables or arrays, or an index
/// that is not its variable.
pub(crate) fn relates(requirement: &Requirement) -> bool {
    requirement.forall.len() > 1
        || mentioned_arrays(requirement).len() > 1
        || has_other_index(requirement)
}

/// Returns `true` if a requirement has an index that is not simply one of its variables.
fn has_other_index(requirement: &Requirement) -> bool {
    let mut found = false;
    visit(&requirement.condition, &mut |inner| {
        if let ExprKind::Element(_, _, index) = &inner.kind {
            found |= !index.iter().all(|one| is_variable(one, &requirement.forall));
        }
    });
    found
}

fn is_variable(index: &Expr, forall: &[VarId]) -> bool {
    match &index.kind {
        ExprKind::Convert(inner) => is_variable(inner, forall),
        ExprKind::Var(var) => forall.contains(var),
        _ => false,
    }
}
