//! Marks on results of functions that are known for some arguments only ([`ArgumentRange`]).
//!
//! A compiler that knows something about an argument omits cases of a function. The code that remains is the
//! function inside a range and something else outside. So before a proof counts, sides with such functions
//! run once more with these results *marked*. A mark is an uninterpreted function, so no rewriting passes
//! through it, and every dependence of an output on such a result is visible in the output's term. The
//! choices on the way to a mark ([`Node::Select`]) give the conditions under which the result counts: `x > 1
//! ? tanhf(x) : …` needs the range under `x > 1` alone.
//!
//! Each range must then follow from these conditions and the declared properties of the inputs; the decision
//! procedure decides that. It errs on the safe side: a true range that is not proved leaves the answer open.

use decide::{Budget, Decision, Problem, decide};
use ir::{ArgumentRange, RealFunction};
use rustc_hash::FxHashMap;
use term::{Function, Node, NodeId, Number, Relation, Term, Terms, evaluation_order};

/// The largest number of ranges checked; beyond that the answer is open.
const MAX_RANGES: usize = 1 << 16;

/// The marks of a run.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    /// The marked results, by the node of their mark.
    marked: FxHashMap<NodeId, MarkedCall>,
    /// The named functions used as marks.
    names: Vec<Function>,
}

/// A function known only in a range, with its arguments.
#[derive(Clone, Copy, Debug)]
struct MarkedCall {
    function: RealFunction,
    range: ArgumentRange,
    arguments: [Term; 2],
}

/// A required range that was not proved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnprovedRange {
    /// The function.
    pub function: RealFunction,
    /// The range of its arguments.
    pub range: ArgumentRange,
    /// The side, 0 for the reference.
    pub side: usize,
    /// The required condition.
    pub condition: String,
    /// An assumption about inputs that would suffice, if the arguments are inputs.
    pub assume: Option<String>,
}

impl UnprovedRange {
    fn new(
        side: usize,
        MarkedCall { function, range, .. }: MarkedCall,
        terms: &Terms,
        arguments: [Term; 2],
    ) -> Self {
        const SHOWN: usize = 80;
        let condition =
            print_range(range, &arguments.map(|argument| terms.print_limited(argument, SHOWN)));
        let name = |argument: Term| match terms.node(argument) {
            Node::Input(input) => terms.inputs().place(input).map(|(name, _)| name.to_owned()),
            _ => None,
        };
        let names = arguments.map(name);
        let assume = match names {
            [Some(a), Some(b)] => Some(print_range(range, &[a, b])),
            _ => None,
        };
        Self { function, range, side, condition, assume }
    }
}

/// Writes a range in the syntax of `--assume`.
fn print_range(range: ArgumentRange, [a, b]: &[String; 2]) -> String {
    match range {
        ArgumentRange::NotZero => format!("{a} != 0"),
        ArgumentRange::NotNegative => format!("{a} >= 0"),
        ArgumentRange::Normal => format!("{a} >= 1.1754944e-38"),
        ArgumentRange::Small => format!("-{SMALL} < {a} < {SMALL}", SMALL = ArgumentRange::SMALL),
        ArgumentRange::SmallQuotient => {
            format!("abs({a}) <= {}*abs({b})", ArgumentRange::LARGEST_QUOTIENT)
        }
    }
}

impl Marks {
    /// Wraps a result in the uninterpreted function that marks this function and range.
    pub(crate) fn mark(
        &mut self,
        terms: &mut Terms,
        (function, range): (RealFunction, ArgumentRange),
        arguments: [Term; 2],
        result: Term,
    ) -> Term {
        let name = format!("{function:?} in {range:?}");
        let Some(mark) = terms.function(&name) else { return terms.undefined() };
        if !self.names.contains(&mark) {
            self.names.push(mark);
        }
        let marked = terms.apply(mark, result);
        if let Some(node) = terms.node_of(marked) {
            self.marked.insert(node, MarkedCall { function, range, arguments });
        }
        marked
    }
}

/// A condition, and `true` if it holds.
type GuardLiteral = (NodeId, bool);

/// Returns the first range that outputs of a marked run need and that does not follow from the choices on the way to
/// it together with `assumptions`. The latter are conditions in the run's store.
pub(crate) fn find_unproved_range(
    side: usize,
    (terms, marks): (&mut Terms, &Marks),
    outputs: &[Term],
    assumptions: &[Term],
    budget: &Budget,
) -> Option<UnprovedRange> {
    let needed = guards(terms, outputs, marks);
    let mut plain = Unmarked { marks, known: FxHashMap::default() };
    for (count, (node, guards)) in needed.into_iter().enumerate() {
        let marked = marks.marked[&node];
        let arguments = marked.arguments.map(|argument| plain.term(terms, argument));
        let mut conditions = assumptions.to_vec();
        for (condition, holds) in guards {
            let condition = plain.term(terms, condition.into());
            conditions.push(if holds { condition } else { terms.not(condition) });
        }
        conditions.extend(domain_condition(terms, marked.function, arguments[0]));
        let wanted = range_condition(terms, marked.range, arguments);
        if count >= MAX_RANGES || !follows(terms, wanted, &conditions, budget) {
            return Some(UnprovedRange::new(side, marked, terms, arguments));
        }
    }
    None
}

/// Returns the condition under which a function is defined, if it is not defined everywhere. Outside, a
/// dependent output is undefined too, and nothing is claimed.
fn domain_condition(terms: &mut Terms, function: RealFunction, a: Term) -> Option<Term> {
    let least = match function {
        RealFunction::Log | RealFunction::Log2 | RealFunction::Log10 => terms.zero(),
        RealFunction::Log1p => terms.integer(-1),
        _ => return None,
    };
    Some(terms.compare(Relation::Less, least, a))
}

/// Builds the condition that arguments are in a range.
fn range_condition(terms: &mut Terms, range: ArgumentRange, [a, b]: [Term; 2]) -> Term {
    let zero = terms.zero();
    match range {
        ArgumentRange::NotZero => {
            let equal = terms.compare(Relation::Equal, a, zero);
            terms.not(equal)
        }
        ArgumentRange::NotNegative => terms.compare(Relation::LessEqual, zero, a),
        ArgumentRange::Normal => {
            let least = Number::dyadic(1, ArgumentRange::LEAST_NORMAL_EXPONENT);
            let least = terms.constant(least);
            terms.compare(Relation::LessEqual, least, a)
        }
        ArgumentRange::Small => {
            let (bound, magnitude) = (terms.integer(ArgumentRange::SMALL), terms.absolute(a));
            terms.compare(Relation::Less, magnitude, bound)
        }
        ArgumentRange::SmallQuotient => {
            let largest = terms.integer(ArgumentRange::LARGEST_QUOTIENT);
            let (a, b) = (terms.absolute(a), terms.absolute(b));
            let bound = terms.multiply(largest, b);
            terms.compare(Relation::LessEqual, a, bound)
        }
    }
}

/// Returns `true` if a condition is defined and holds wherever the others do. Contradictory conditions prove
/// nothing.
fn follows(terms: &mut Terms, wanted: Term, conditions: &[Term], budget: &Budget) -> bool {
    match terms.node(wanted) {
        Node::Truth(holds) => return holds,
        Node::Undefined => return false,
        _ => {}
    }
    let (one, zero) = (terms.one(), terms.zero());
    let chosen = terms.select(wanted, one, zero);
    let problem = Problem { reference: terms, optimised: terms, assumptions: conditions };
    let decisions = decide(&problem, &[(one, chosen)], budget);
    matches!(decisions.first(), Some(Decision::Equal { .. }))
}

/// Returns the marks below some outputs in node order, each with the conditions under which outputs depend on
/// it.
fn guards(terms: &mut Terms, outputs: &[Term], marks: &Marks) -> Vec<(NodeId, Vec<GuardLiteral>)> {
    let roots: Vec<NodeId> = outputs.iter().map(|output| terms.seal(*output)).collect();
    let order = evaluation_order(terms, roots.iter().map(|root| (*root).into()), |_| true);
    let mut guards: FxHashMap<NodeId, Vec<GuardLiteral>> = FxHashMap::default();
    roots.iter().for_each(|root| _ = guards.insert(*root, Vec::new()));
    let mut needed = Vec::new();
    // Parents come before children, so all uses of a node are known at its turn.
    for &node in order.nodes.iter().rev() {
        let node_guards = guards.remove(&node).unwrap_or_default();
        match terms.at(node) {
            Node::Select(condition, a, b) => {
                intersect_guards(&mut guards, condition, node_guards.clone());
                intersect_guards(&mut guards, a, add_guard(terms, &node_guards, (condition, true)));
                intersect_guards(
                    &mut guards,
                    b,
                    add_guard(terms, &node_guards, (condition, false)),
                );
            }
            Node::Sum(sum) => {
                for factors in terms.products(sum).flatten() {
                    intersect_guards(&mut guards, factors.left(), node_guards.clone());
                    intersect_guards(&mut guards, factors.right(), node_guards.clone());
                }
            }
            other => other
                .children()
                .for_each(|child| intersect_guards(&mut guards, child, node_guards.clone())),
        }
        if marks.marked.contains_key(&node) {
            needed.push((node, node_guards));
        }
    }
    needed.reverse();
    needed
}

/// Adds another use of a node under these conditions, keeping the conditions common to all uses.
fn intersect_guards(
    guards: &mut FxHashMap<NodeId, Vec<GuardLiteral>>,
    node: NodeId,
    new_guards: Vec<GuardLiteral>,
) {
    match guards.get_mut(&node) {
        Some(known) => known.retain(|literal| new_guards.contains(literal)),
        None => _ = guards.insert(node, new_guards),
    }
}

/// Returns the guards with one more, split into the conditions that it is made of.
fn add_guard(terms: &Terms, guards: &[GuardLiteral], literal: GuardLiteral) -> Vec<GuardLiteral> {
    let mut all = guards.to_vec();
    let mut work = vec![literal];
    while let Some((node, holds)) = work.pop() {
        match (terms.at(node), holds) {
            (Node::Not(a), _) => work.push((a, !holds)),
            (Node::And(a, b), true) | (Node::Or(a, b), false) => {
                work.extend([(a, holds), (b, holds)]);
            }
            _ if !all.contains(&(node, holds)) => all.push((node, holds)),
            _ => {}
        }
    }
    all
}

/// Rewrites terms without marks. A mark equals its argument where the range holds, which is proved for every
/// mark that outputs depend on.
struct Unmarked<'m> {
    marks: &'m Marks,
    known: FxHashMap<NodeId, Term>,
}

impl Unmarked<'_> {
    fn term(&mut self, terms: &mut Terms, root: Term) -> Term {
        let order = evaluation_order(terms, [root], |node| !self.known.contains_key(&node));
        for node in order.nodes {
            let term = self.rebuild(terms, terms.at(node), node.into());
            self.known.insert(node, term);
        }
        match terms.node_of(root) {
            Some(node) => self.known[&node],
            None => self.rebuild(terms, terms.node(root), root),
        }
    }

    /// Rebuilds a node from its rewritten operands; returns the node itself if they are unchanged.
    fn rebuild(&self, terms: &mut Terms, node: Node, original: Term) -> Term {
        let at = |node: NodeId| self.known.get(&node).copied().unwrap_or(node.into());
        let is_same = |node: NodeId| at(node) == node.into();
        if let Node::Apply(function, a) = node
            && self.marks.names.contains(&function)
        {
            return at(a);
        }
        if let Node::Sum(sum) = node {
            let factors: Vec<_> = terms.products(sum).flatten().copied().collect();
            if factors.iter().all(|factor| is_same(factor.left()) && is_same(factor.right())) {
                return original;
            }
            let mut total = terms.zero();
            for one in factors {
                let left = at(one.left());
                let left = if one.is_negative() { terms.negate(left) } else { left };
                total = terms.fused_multiply_add(left, at(one.right()), total);
            }
            return total;
        }
        if node.children().all(is_same) {
            return original;
        }
        match node {
            Node::Product(a, b) => terms.multiply(at(a), at(b)),
            Node::Negation(a) => terms.negate(at(a)),
            Node::Quotient(a, b) => terms.divide(at(a), at(b)),
            Node::Power(a, exponent) => {
                let exponent = terms.number(exponent).clone();
                terms.power(at(a), &exponent)
            }
            Node::Exp(a) => terms.exp(at(a)),
            Node::Log(a) => terms.log(at(a)),
            Node::Maximum(a, b) => terms.maximum(at(a), at(b)),
            Node::Minimum(a, b) => terms.minimum(at(a), at(b)),
            Node::Absolute(a) => terms.absolute(at(a)),
            Node::Select(condition, a, b) => terms.select(at(condition), at(a), at(b)),
            Node::Apply(function, a) => terms.apply(function, at(a)),
            Node::Compare(relation, a, b) => terms.compare(relation, at(a), at(b)),
            Node::Not(a) => terms.not(at(a)),
            Node::And(a, b) => terms.and(at(a), at(b)),
            Node::Or(a, b) => terms.or(at(a), at(b)),
            Node::Input(_)
            | Node::Constant(_)
            | Node::Pi
            | Node::Infinity { .. }
            | Node::Undefined
            | Node::Sum(_)
            | Node::Truth(_) => original,
        }
    }
}
