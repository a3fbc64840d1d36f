//! Assumptions about the inputs, as terms, and the selection of those relevant to given outputs.
//!
//! Omitting a condition is safe for a proof: it then holds under weaker assumptions. For a difference it is
//! safe under two conditions. First, the omitted conditions share no inputs with the outputs, and their
//! inputs can be chosen independently; so conditions that share inputs are kept or omitted together. Second,
//! there is a point of the inputs' types at which all conditions hold. Without such a point nothing is
//! claimed.

use crate::mismatch::Mismatch;
use crate::side::{Assumption, Side};
use crate::table::Table;
use crate::witness::Numbers;
use decide::{
    Budget, Contradiction, Point, Value, contradiction, evaluate, inputs_of, lookups, satisfy,
};
use ir::Scalar;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::sync::Arc;
use term::{Function, Input, Node, NodeId, Number, Term, Terms, evaluation_order};

/// With more groups of conditions than this, outputs are decided in small batches.
const LARGE_GROUP_COUNT: usize = 64;

/// Points tried for each group of conditions.
const POINTS_PER_GROUP: u64 = 512;

/// With more groups than this, points are not searched for each group separately.
const MAX_SEARCHED_GROUPS: usize = 4096;

/// Returns a reason why no input of the sides satisfies the assumptions, if that can be proved. Also returns `None`
/// if the sides or assumptions do not fit together: [`compare`](crate::compare()) reports that as a mismatch.
#[must_use]
pub fn impossible(sides: [&Side<'_>; 2], assumptions: &[Assumption]) -> Option<String> {
    let table = Table::new(sides).ok()?;
    let mut terms = Terms::new(Arc::clone(&table.inputs));
    let conditions = table.all_conditions(assumptions, &mut terms).ok()?;
    if let Some(contradiction_text) = structure_contradiction(assumptions, &table) {
        return Some(contradiction_text);
    }
    let texts: Vec<String> =
        assumptions.iter().map(|assumption| assumption.condition.to_string()).collect();
    let all = texts.join("`, `");
    contradiction(&terms, &conditions).map(|found| match found {
        Contradiction::Input(input) => {
            let name = terms.inputs().place(input).map_or("", |place| place.0);
            let mut inputs = sides.iter().flat_map(|side| side.own_inputs());
            let kind = inputs.find(|input| input.name == name).map(|one| type_name(one.scalar));
            let kind = kind.unwrap_or_default();
            format!("no value of `{name}` ({kind}) satisfies `{all}`")
        }
        Contradiction::Conditions => format!("no input satisfies `{all}`"),
    })
}

/// Returns an assumption that contradicts the elements fixed by a tensor's structure.
fn structure_contradiction(assumptions: &[Assumption], table: &Table) -> Option<String> {
    assumptions.iter().find_map(|assumption| {
        let name = assumption.condition.names().into_iter().find(|name| table.has_structure(name))?;
        let mut terms = Terms::new(Arc::clone(&table.inputs));
        let conditions = table.conditions(assumption, &mut terms).ok()?;
        let fails = |condition: &Term| terms.node(*condition) == Node::Truth(false);
        let condition = &assumption.condition;
        conditions.iter().any(fails).then(|| {
            format!("`{condition}` does not hold for all elements of `{name}`, because its structure makes some zero or equal")
        })
    })
}

/// Returns the name of a type, like `u8` or `f16`.
fn type_name(scalar: Scalar) -> String {
    match scalar {
        Scalar::Float(format) => format!("{format:?}").to_lowercase(),
        Scalar::Integer { width, signed } => {
            format!("{}{}", if signed { 's' } else { 'u' }, width.bits())
        }
    }
}

/// Conditions on the inputs, present in the stores of all domains of a table.
#[derive(Debug, Default)]
pub(crate) struct Assumed {
    /// Groups of conditions; different groups share no inputs.
    groups: Vec<Vec<Term>>,
    /// The group of each input.
    group_of: FxHashMap<Input, usize>,
    /// A point at which all conditions hold.
    pub(crate) point: Point,
}

impl Assumed {
    /// Collects the conditions of a table, which are in the stores of all its domains.
    ///
    /// # Errors
    /// If no input is found that satisfies all conditions.
    pub(crate) fn new(table: &Table, terms: &Terms) -> Result<Self, Mismatch> {
        let mut assumed = Self::default();
        for condition in table.conditions.iter().copied() {
            assumed.add(condition, &inputs_of(terms, condition));
        }
        let Some(point) = assumed.search(terms) else {
            return Err(Mismatch::NoInput);
        };
        Ok(Self { point, ..assumed })
    }

    /// Searches for a point at which all conditions hold: for all of them at once, or else for each group. Points
    /// of the groups fit together, because the groups share no inputs.
    fn search(&self, terms: &Terms) -> Option<Point> {
        let all: Vec<Term> = self.groups.iter().flatten().copied().collect();
        if let Some(point) = satisfy(terms, &all, &Budget::default()) {
            return Some(point);
        }
        if self.groups.len() > MAX_SEARCHED_GROUPS {
            return None;
        }
        let budget = Budget { points: POINTS_PER_GROUP, ..Budget::default() };
        let mut point = Point::new();
        for group in &self.groups {
            point.extend(satisfy(terms, group, &budget)?);
        }
        Some(point)
    }

    /// Adds a condition on some inputs, and merges all groups that share one of these inputs.
    fn add(&mut self, condition: Term, inputs: &[Input]) {
        let sharing: BTreeSet<usize> =
            inputs.iter().filter_map(|input| self.group_of.get(input).copied()).collect();
        let into = sharing.first().copied().unwrap_or(self.groups.len());
        if into == self.groups.len() {
            self.groups.push(Vec::new());
        }
        for &other in sharing.iter().skip(1) {
            let moved = std::mem::take(&mut self.groups[other]);
            self.groups[into].extend(moved);
            self.group_of.values_mut().filter(|group| **group == other).for_each(|g| *g = into);
        }
        self.groups[into].push(condition);
        self.group_of.extend(inputs.iter().map(|input| (*input, into)));
    }

    /// Returns `true` if outputs should be decided in small batches because there are many conditions.
    pub(crate) fn is_large(&self) -> bool {
        self.groups.len() > LARGE_GROUP_COUNT
    }

    /// Finds the groups of conditions that the numbers `known` violate. Returns the part of `self.point` for the
    /// inputs of these groups.
    pub(crate) fn unsatisfied(&self, terms: &Terms, known: &FxHashMap<usize, f64>) -> Point {
        let at = |input: Input| {
            let number = known.get(&input.position()).copied().unwrap_or_default();
            Number::from_f64(number).unwrap_or(Number::ZERO)
        };
        let fails = |conditions: &Vec<Term>| {
            let values = evaluate(terms, conditions, &at);
            values.into_iter().any(|value| value != Value::Truth(true))
        };
        let failing: Vec<bool> = self.groups.iter().map(fails).collect();
        let is_failing = |input: &Input| self.group_of.get(input).is_some_and(|at| failing[*at]);
        self.point.iter().filter(|(input, _)| is_failing(input)).cloned().collect()
    }

    /// Returns the conditions about the inputs of a term.
    pub(crate) fn about_term(&self, terms: &Terms, term: Term) -> Vec<Term> {
        if self.groups.is_empty() {
            return Vec::new();
        }
        let inputs = inputs_of(terms, term);
        let mut groups: BTreeSet<usize> =
            inputs.iter().filter_map(|input| self.group_of.get(input).copied()).collect();
        for (first, _) in lookups(terms, term) {
            groups.extend(self.groups_of_tensor(terms, first));
        }
        groups.into_iter().flat_map(|group| self.groups[group].iter().copied()).collect()
    }

    /// Returns the groups of conditions on elements of a tensor from `first` on.
    fn groups_of_tensor(&self, terms: &Terms, first: Input) -> BTreeSet<usize> {
        let positions = first.position()..first.position() + terms.inputs().rest(first);
        let of_elements =
            self.group_of.iter().filter(|(input, _)| positions.contains(&input.position()));
        of_elements.map(|(_, group)| *group).collect()
    }

    /// Returns all conditions.
    pub(crate) fn all(&self) -> Vec<Term> {
        self.groups.iter().flatten().copied().collect()
    }

    /// Returns `true` if all conditions hold at a point.
    pub(crate) fn all_hold(&self, terms: &Terms, numbers: &Numbers) -> bool {
        let at =
            |input: Input| Number::from_f64(numbers.at(input.position())).unwrap_or(Number::ZERO);
        let values = evaluate(terms, &self.all(), &at);
        values.into_iter().all(|value| value == Value::Truth(true))
    }

    /// Returns the conditions about the inputs of some pairs.
    pub(crate) fn about(&self, stores: [&Terms; 2], pairs: &[(Term, Term)]) -> Vec<Term> {
        if self.groups.is_empty() {
            return Vec::new();
        }
        let mut groups: BTreeSet<usize> = BTreeSet::new();
        let roots = [pairs.iter().map(|pair| pair.0).collect::<Vec<_>>(), {
            pairs.iter().map(|pair| pair.1).collect()
        }];
        for (terms, roots) in stores.into_iter().zip(roots) {
            let order = evaluation_order(terms, roots, |_| true);
            let mut read: BTreeSet<Input> = BTreeSet::new();
            let mut note = |node: NodeId| match terms.at(node) {
                Node::Input(input) => groups.extend(self.group_of.get(&input)),
                Node::Apply(Function::Element(first), _) => {
                    read.insert(first);
                }
                _ => {}
            };
            order.nodes.iter().for_each(|node| note(*node));
            // A lookup by number may read any element, so conditions on each of them are relevant.
            for first in read {
                groups.extend(self.groups_of_tensor(terms, first));
            }
        }
        groups.into_iter().flat_map(|group| self.groups[group].iter().copied()).collect()
    }
}
