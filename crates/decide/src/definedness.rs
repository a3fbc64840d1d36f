//! Definedness: the conditions of operations on their arguments, collected from the term itself before anything is
//! rewritten.
//!
//! A condition below a branch of a select applies only where the branch is taken: it has a guard. A node reached both
//! with and without a guard is listed without. No condition is omitted: if the walk exceeds its budget there is no
//! list, and the answer is `Unknown`.

use crate::algebra::{Obstacle, Outcome, SignSet};
use rustc_hash::FxHashSet;
use term::{Function, Node, NodeId, NodeTable, Term, Terms};

/// The requirement of an operation on its argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Requirement {
    /// `≠ 0`
    NotZero,
    /// `≥ 0`
    NotNegative,
    /// `> 0`
    Positive,
    /// In the domain of an unknown function.
    InDomain(Function),
    /// Not needed: the argument is defined nowhere. With a guard, it is the guard that must fail.
    Never,
}

impl Requirement {
    pub(crate) fn signs(self) -> Option<SignSet> {
        match self {
            Self::NotZero => Some(SignSet::NOT_ZERO),
            Self::NotNegative => Some(SignSet::NOT_NEGATIVE),
            Self::Positive => Some(SignSet::POSITIVE),
            Self::InDomain(_) | Self::Never => None,
        }
    }
}

/// A condition for a term to be defined.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Definedness {
    /// The requirement.
    pub requirement: Requirement,
    /// The term that must satisfy it.
    pub argument: NodeId,
    /// The guard: all these conditions hold (`true`) or fail (`false`). Empty: everywhere.
    pub guard: Vec<(NodeId, bool)>,
}

impl Definedness {
    /// Prints the condition in the text form of terms.
    #[must_use]
    pub fn print(&self, terms: &Terms) -> String {
        let argument = terms.print_limited(self.argument.into(), 60);
        let mut text = match self.requirement {
            Requirement::NotZero => format!("{argument} != 0"),
            Requirement::NotNegative => format!("{argument} >= 0"),
            Requirement::Positive => format!("{argument} > 0"),
            Requirement::InDomain(function) => {
                format!("{argument} in domain of {}", terms.function_name(function))
            }
            Requirement::Never => "nothing undefined is used".to_owned(),
        };
        for (position, (condition, holds)) in self.guard.iter().enumerate() {
            text.push_str(if position == 0 { " where " } else { " and " });
            text.push_str(if *holds { "" } else { "not " });
            text.push_str(&format!("({})", terms.print_limited((*condition).into(), 30)));
        }
        text
    }
}

/// Limit on the steps of a walk.
const MAX_VISITS: usize = 2_000_000;

/// Collects the conditions under which terms of a store are defined, one term after the other.
pub(crate) struct Collector<'t> {
    terms: &'t Terms,
    /// By node: the number of the term it was last reached from without a guard.
    seen: NodeTable<u32>,
    /// By node: the number of the term for which `≠ 0` was last required of it without a guard.
    required: NodeTable<u32>,
    number: u32,
}

/// A guard: an entry of the table of guards, or none.
type Guard = u32;
const NO_GUARD: Guard = u32::MAX;

impl<'t> Collector<'t> {
    pub(crate) fn new(terms: &'t Terms) -> Self {
        Self { terms, seen: NodeTable::new(0), required: NodeTable::new(0), number: 0 }
    }

    /// Collects the conditions under which a term is defined.
    pub(crate) fn conditions(&mut self, root: Term) -> Outcome<Vec<Definedness>> {
        let terms = self.terms;
        if !terms.is_partial(root) {
            return Ok(Vec::new());
        }
        self.number += 1;
        let mut walk = Walk {
            collector: self,
            guards: Vec::new(),
            guarded: FxHashSet::default(),
            visits: 0,
            found: Vec::new(),
            waiting: Vec::new(),
            later: Vec::new(),
        };
        match terms.node_of(root) {
            Some(node) => walk.waiting.push((node, NO_GUARD)),
            None => walk.visit_operands(terms.node(root), NO_GUARD),
        }
        loop {
            // Everything without a guard first, so that later visits can be skipped.
            if walk.waiting.is_empty() {
                match walk.later.pop() {
                    Some(next) => walk.waiting.push(next),
                    None => break,
                }
            }
            while let Some((node, guard)) = walk.waiting.pop() {
                if walk.visits > MAX_VISITS {
                    return Err(Obstacle::Budget);
                }
                walk.visit(node, guard);
            }
        }
        let mut found = walk.found;
        found.sort();
        found.dedup();
        Ok(found)
    }
}

/// The walk through one term.
struct Walk<'c, 't> {
    collector: &'c mut Collector<'t>,
    /// Each guard: a condition, `true` if it holds, and the guard around it.
    guards: Vec<(NodeId, bool, Guard)>,
    /// Nodes reached with a guard.
    guarded: FxHashSet<(NodeId, Guard)>,
    visits: usize,
    found: Vec<Definedness>,
    /// Nodes to visit next.
    waiting: Vec<(NodeId, Guard)>,
    /// Branches of selects, to be visited once nothing is waiting.
    later: Vec<(NodeId, Guard)>,
}

impl Walk<'_, '_> {
    /// Adds the condition of a node and queues its operands, unless the node was visited without a guard or with this
    /// one.
    fn visit(&mut self, node: NodeId, guard: Guard) {
        let Collector { terms, seen, number, .. } = &mut *self.collector;
        let seen = &mut seen[node];
        if !terms.is_partial(node.into()) || *seen == *number {
            return;
        }
        if guard == NO_GUARD {
            *seen = *number;
        } else if !self.guarded.insert((node, guard)) {
            return;
        }
        self.visits += 1;
        let operation = terms.at(node);
        if let Some((requirement, argument)) = self.requirement(node, operation) {
            self.require(requirement, argument, guard);
        }
        self.visit_operands(operation, guard);
    }

    /// Adds a condition.
    fn require(&mut self, requirement: Requirement, argument: NodeId, guard: Guard) {
        // Rows divide by the same divisor again and again.
        if guard == NO_GUARD && requirement == Requirement::NotZero {
            let required = &mut self.collector.required[argument];
            if std::mem::replace(required, self.collector.number) == self.collector.number {
                return;
            }
        }
        let guard = self.guard_list(guard);
        self.found.push(Definedness { requirement, argument, guard });
    }

    fn visit_operands(&mut self, operation: Node, guard: Guard) {
        let Collector { terms, seen, number, .. } = &*self.collector;
        match operation {
            Node::Select(condition, a, b) => {
                self.waiting.push((condition, guard));
                for (branch, holds) in [(a, true), (b, false)] {
                    if terms.is_partial(branch.into()) {
                        self.guards.push((condition, holds, guard));
                        self.later.push((branch, self.guards.len() as Guard - 1));
                    }
                }
            }
            Node::Sum(sum) => {
                for factors in terms.products(sum).flatten() {
                    for factor in [factors.left(), factors.right()] {
                        if terms.is_partial(factor.into()) && seen[factor] != *number {
                            self.waiting.push((factor, guard));
                        }
                    }
                }
            }
            other => self.waiting.extend(other.children().map(|child| (child, guard))),
        }
    }

    /// Returns the requirement of an operation on one of its operands. A value that is defined nowhere has one on
    /// itself: no rule that drops an operand may lose it.
    fn requirement(&self, node: NodeId, operation: Node) -> Option<(Requirement, NodeId)> {
        match operation {
            Node::Undefined => Some((Requirement::Never, node)),
            Node::Quotient(_, divisor) => Some((Requirement::NotZero, divisor)),
            Node::Log(argument) => Some((Requirement::Positive, argument)),
            Node::Power(base, exponent) => {
                let exponent = self.collector.terms.number(exponent);
                match (exponent.to_i64(), exponent.is_negative()) {
                    (Some(_), false) => None,
                    (Some(_), true) => Some((Requirement::NotZero, base)),
                    (None, false) => Some((Requirement::NotNegative, base)),
                    (None, true) => Some((Requirement::Positive, base)),
                }
            }
            Node::Apply(function @ Function::Named(_), argument) => {
                Some((Requirement::InDomain(function), argument))
            }
            _ => None,
        }
    }

    /// Lists the conditions of a guard, the innermost first.
    fn guard_list(&self, mut guard: Guard) -> Vec<(NodeId, bool)> {
        let mut list = Vec::new();
        while guard != NO_GUARD {
            let (condition, holds, outer) = self.guards[guard as usize];
            list.push((condition, holds));
            guard = outer;
        }
        list
    }
}
