//! Integers under conditions, by trying all numbers of the inputs that they are made of.
//!
//! Compilers unroll loops: the number of iterations becomes `4·⌊n/4⌋` and `n mod 4`, and places depend on where a loop
//! was left. Ranges alone do not show then that `x[j]` is in bounds. If the inputs in a place and in its path condition
//! have few numbers together, all combinations are tried, and those that contradict the condition are left out. Parts of
//! the condition that depend on other inputs, or on floats, count as possible.
//!
//! The result is exact or too wide, never too narrow: numbers are those of machine integers, as in all places.

use super::Symbolic;
use crate::ranges::{Range, fraction};
use exec::domain::{Bounds, Value};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use term::{Function, Node, NodeId, Relation};

/// The largest number of combinations.
const MAX_COMBINATIONS: i128 = 1 << 12;

/// The largest number of nodes of a question.
const MAX_NODES: usize = 1 << 11;

/// The largest number of evaluated nodes of a question, and of a run.
const MAX_STEPS: i128 = 1 << 20;
const MAX_STEPS_OF_RUN: u64 = 1 << 26;

/// How to compute a node from earlier ones, by their numbers.
#[derive(Clone, Debug)]
enum Step {
    Number(i128),
    /// An input, by its number among the inputs of the question.
    Input(usize),
    /// A sum of products, each negated if the flag is set.
    Sum(Vec<(usize, usize, bool)>),
    Product(usize, usize),
    Negation(usize),
    Absolute(usize),
    Maximum(usize, usize),
    Minimum(usize, usize),
    /// `⌊a / m⌋`
    Floor(usize, i128),
    /// `a - 2^n · b`
    LowBits(usize, usize, u32),
    Select(usize, usize, usize),
    Compare(Relation, usize, usize),
    Not(usize),
    And(usize, usize),
    Or(usize, usize),
    Unknown,
}

/// The steps that compute some nodes.
#[derive(Default)]
struct Program {
    steps: Vec<Step>,
    of: FxHashMap<NodeId, usize>,
    inputs: Vec<(NodeId, Range)>,
}

impl Symbolic {
    /// Bounds an integer wherever a condition holds. `None` if it depends on too many numbers.
    pub(super) fn enumerated_bounds(&mut self, value: Value, condition: Value) -> Option<Bounds> {
        let [place, condition] = [value, condition].map(|one| self.term(one));
        let [place, condition] = [place, condition].map(|one| self.terms.seal(one));
        let known = self.known_if((condition, true), &BTreeMap::new(), 0)?;
        let mut program = Program::default();
        let place = self.compile(&mut program, place, &known)?;
        let needed = program.inputs.len();
        let condition = self.compile(&mut program, condition, &known)?;
        let mut bounds: Option<Range> = None;
        let mut is_known = true;
        self.try_all(&program, needed, &mut |values| {
            if values[condition] == Some(0) {
                return true;
            }
            let Some(number) = values[place] else {
                is_known = false;
                return false;
            };
            let (low, high) = bounds.unwrap_or((number, number));
            bounds = Some((low.min(number), high.max(number)));
            true
        })?;
        let (low, high) = bounds.filter(|_| is_known)?;
        Some(Bounds { low, high, are_attained: false, are_declared: true })
    }

    /// Returns `true` if a condition holds for no combination of numbers. `known` has ranges of some of them.
    pub(super) fn holds_nowhere(
        &mut self,
        condition: NodeId,
        known: &BTreeMap<NodeId, Range>,
    ) -> bool {
        let mut program = Program::default();
        let Some(condition) = self.compile(&mut program, condition, known) else { return false };
        let mut holds = false;
        let is_small = |(low, high): Range| high.saturating_sub(low) < MAX_COMBINATIONS;
        let sizes = program.inputs.iter().map(|(_, range)| *range);
        let combinations =
            sizes.filter(|range| is_small(*range)).fold(1i128, |all, (low, high)| {
                all.saturating_mul(high.saturating_sub(low).saturating_add(1).max(0))
            });
        if combinations > MAX_COMBINATIONS {
            // Some of the numbers alone seldom decide anything.
            return false;
        }
        let tried = self.try_all(&program, 0, &mut |values| {
            holds = values[condition] != Some(0);
            !holds
        });
        tried.is_some() && !holds
    }

    /// Evaluates a program for all numbers of its inputs, as long as `visit` returns `true`. Inputs with too many numbers
    /// stay unknown, but for the first `needed` ones: with these, the answer is `None`.
    fn try_all(
        &mut self,
        program: &Program,
        needed: usize,
        visit: &mut dyn FnMut(&[Option<i128>]) -> bool,
    ) -> Option<()> {
        let size = |(low, high): Range| high.saturating_sub(low).saturating_add(1).max(0);
        let mut order: Vec<usize> = (0..program.inputs.len()).collect();
        order.sort_by_key(|&input| (input >= needed, size(program.inputs[input].1), input));
        let most = MAX_COMBINATIONS.min(MAX_STEPS / program.steps.len().max(1) as i128);
        let (mut chosen, mut combinations) = (Vec::new(), 1i128);
        for input in order {
            let more = combinations.saturating_mul(size(program.inputs[input].1));
            if more <= most {
                chosen.push(input);
                combinations = more;
            } else if input < needed {
                return None;
            }
        }
        let steps = combinations as u64 * program.steps.len() as u64;
        self.ranges.steps_tried = self.ranges.steps_tried.saturating_add(steps);
        if chosen.is_empty() || self.ranges.steps_tried > MAX_STEPS_OF_RUN {
            return None;
        }
        let ranges = |input: usize| program.inputs[input].1;
        let mut numbers: Vec<Option<i128>> = vec![None; program.inputs.len()];
        chosen.iter().for_each(|&input| numbers[input] = Some(ranges(input).0));
        let mut values = vec![None; program.steps.len()];
        for _ in 0..combinations {
            let is_allowed = chosen.iter().all(|&input| {
                let allowed = self.assumed_range_of(program.inputs[input].0);
                let number = numbers[input].unwrap_or_default();
                allowed.is_none_or(|one| one.without_gaps((number, number)) == (number, number))
            });
            if is_allowed {
                program.evaluate(&numbers, &mut values);
                if !visit(&values) {
                    return Some(());
                }
            }
            for &input in &chosen {
                let (low, high) = ranges(input);
                match numbers[input] {
                    Some(number) if number < high => {
                        numbers[input] = Some(number + 1);
                        break;
                    }
                    _ => numbers[input] = Some(low),
                }
            }
        }
        Some(())
    }

    /// Adds the steps that compute a node. `None` if there are too many.
    fn compile(
        &mut self,
        program: &mut Program,
        root: NodeId,
        known: &BTreeMap<NodeId, Range>,
    ) -> Option<usize> {
        let mut stack = vec![(root, false)];
        while let Some((node, are_ready)) = stack.pop() {
            if program.of.contains_key(&node) {
                continue;
            }
            let operands = self.operands(node);
            if !are_ready && !operands.is_empty() {
                stack.push((node, true));
                stack.extend(operands.into_iter().map(|operand| (operand, false)));
                continue;
            }
            let step = self.step(program, node, known);
            program.steps.push(step);
            program.of.insert(node, program.steps.len() - 1);
            if program.steps.len() > MAX_NODES {
                return None;
            }
        }
        program.of.get(&root).copied()
    }

    /// The nodes that a step of this node needs.
    fn operands(&mut self, node: NodeId) -> Vec<NodeId> {
        if let Some(&(x, above, _)) = self.bits.low.get(&node) {
            return vec![self.terms.seal(x), self.terms.seal(above)];
        }
        match self.terms.at(node) {
            Node::Sum(sum) => {
                let factors = self.terms.products(sum).flatten();
                factors.flat_map(|factor| [factor.left(), factor.right()]).collect()
            }
            Node::Apply(Function::Floor, scaled) => {
                fraction(&self.terms, scaled).map(|(x, _)| x).into_iter().collect()
            }
            Node::Apply(..) => Vec::new(),
            one => one.children().collect(),
        }
    }

    /// The step that computes a node, whose operands have steps.
    fn step(
        &mut self,
        program: &mut Program,
        node: NodeId,
        known: &BTreeMap<NodeId, Range>,
    ) -> Step {
        let of = |node: NodeId| program.of[&node];
        if let Some(&(x, above, bits)) = self.bits.low.get(&node) {
            let [x, above] = [x, above].map(|one| self.terms.seal(one));
            return Step::LowBits(of(x), of(above), bits);
        }
        match self.terms.at(node) {
            Node::Input(_) | Node::Apply(Function::Element(_), _) => {
                let Some(range) = self.range(node.into()) else { return Step::Unknown };
                let (low, high) = known.get(&node).copied().unwrap_or(range);
                program.inputs.push((node, (low.max(range.0), high.min(range.1))));
                Step::Input(program.inputs.len() - 1)
            }
            Node::Constant(constant) => match self.terms.number(constant).to_i64() {
                Some(number) => Step::Number(number.into()),
                None => Step::Unknown,
            },
            Node::Sum(sum) => {
                let factors = self.terms.products(sum).flatten();
                let product = |factors: &term::Factors| {
                    (of(factors.left()), of(factors.right()), factors.is_negative())
                };
                Step::Sum(factors.map(product).collect())
            }
            Node::Product(a, b) => Step::Product(of(a), of(b)),
            Node::Negation(a) => Step::Negation(of(a)),
            Node::Absolute(a) => Step::Absolute(of(a)),
            Node::Maximum(a, b) => Step::Maximum(of(a), of(b)),
            Node::Minimum(a, b) => Step::Minimum(of(a), of(b)),
            Node::Select(condition, a, b) => Step::Select(of(condition), of(a), of(b)),
            Node::Apply(Function::Floor, scaled) => match fraction(&self.terms, scaled) {
                Some((x, by)) => Step::Floor(of(x), by),
                None => Step::Unknown,
            },
            Node::Truth(holds) => Step::Number(holds.into()),
            Node::Compare(relation, a, b) => Step::Compare(relation, of(a), of(b)),
            Node::Not(a) => Step::Not(of(a)),
            Node::And(a, b) => Step::And(of(a), of(b)),
            Node::Or(a, b) => Step::Or(of(a), of(b)),
            _ => Step::Unknown,
        }
    }
}

impl Program {
    /// Computes the value of each step; `None` where it is unknown or too large. Conditions are 0 or 1.
    fn evaluate(&self, numbers: &[Option<i128>], values: &mut [Option<i128>]) {
        for at in 0..self.steps.len() {
            values[at] = self.value(&self.steps[at], numbers, values);
        }
    }

    fn value(
        &self,
        step: &Step,
        numbers: &[Option<i128>],
        values: &[Option<i128>],
    ) -> Option<i128> {
        Some(match *step {
            Step::Number(number) => number,
            Step::Input(input) => numbers[input]?,
            Step::Sum(ref products) => {
                let mut sum = 0i128;
                for &(a, b, negative) in products {
                    let product = values[a]?.checked_mul(values[b]?)?;
                    sum =
                        sum.checked_add(if negative { product.checked_neg()? } else { product })?;
                }
                sum
            }
            Step::Product(a, b) => values[a]?.checked_mul(values[b]?)?,
            Step::Negation(a) => values[a]?.checked_neg()?,
            Step::Absolute(a) => values[a]?.checked_abs()?,
            Step::Maximum(a, b) => values[a]?.max(values[b]?),
            Step::Minimum(a, b) => values[a]?.min(values[b]?),
            Step::Floor(a, by) => values[a]?.div_euclid(by),
            Step::LowBits(x, above, bits) => {
                values[x]?.checked_sub(values[above]?.checked_mul(1 << bits)?)?
            }
            Step::Select(condition, a, b) => match values[condition] {
                Some(0) => values[b]?,
                Some(_) => values[a]?,
                None if values[a] == values[b] => values[a]?,
                None => return None,
            },
            Step::Compare(relation, a, b) => {
                let (a, b) = (values[a]?, values[b]?);
                let holds = match relation {
                    Relation::Less => a < b,
                    Relation::LessEqual => a <= b,
                    Relation::Equal => a == b,
                };
                holds.into()
            }
            Step::Not(a) => 1 - values[a]?,
            Step::And(a, b) => match (values[a], values[b]) {
                (Some(0), _) | (_, Some(0)) => 0,
                (a, b) => a?.min(b?),
            },
            Step::Or(a, b) => match (values[a], values[b]) {
                (Some(1), _) | (_, Some(1)) => 1,
                (a, b) => a?.max(b?),
            },
            Step::Unknown => return None,
        })
    }
}
