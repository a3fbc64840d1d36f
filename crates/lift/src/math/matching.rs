//! Matches a value of a program against an expansion of a table, and finds its arguments.
//!
//! A match may differ from the table in the order of commuting operands, in the contraction of a product and a sum into
//! an fma, and in the place of signs. Every step of the table is matched with one node of the graph by a relation
//! `step = ±node`, which follows from the relations of their operands.

use super::graph::{Code, Commutes, Edge, Graph, Node, NodeId, is_odd};
use super::template::{Part, Step, Template};
use ir::{FloatBinary, FloatUnary, Format, Rounding, Scalar, Width};
use std::cell::OnceCell;

/// The signs `s` with `step = s · node`: bit 0 for plus, bit 1 for minus; no bit if they differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Signs(u8);

impl Signs {
    const NONE: Self = Self(0);
    const PLUS: Self = Self(1);
    const MINUS: Self = Self(2);
    const EITHER: Self = Self(3);

    fn flipped(self, negate: bool) -> Self {
        if negate { Self((self.0 & 1) << 1 | self.0 >> 1) } else { self }
    }

    fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns the signs of a product.
    fn times(self, other: Self) -> Self {
        let mut out = 0;
        if self.0 & 1 != 0 {
            out |= other.0;
        }
        if self.0 & 2 != 0 {
            out |= other.flipped(true).0;
        }
        Self(out)
    }

    fn has_plus(self) -> bool {
        self.0 & 1 != 0
    }

    fn is_none(self) -> bool {
        self.0 == 0
    }
}

/// A match of an expansion.
#[derive(Clone, Debug)]
pub(crate) struct Match {
    /// The arguments.
    pub(crate) arguments: Vec<Edge>,
    /// The value is the negated function.
    pub(crate) negated: bool,
    /// The conditions of the template's `fast` steps, which the function is known under.
    pub(crate) conditions: Vec<Edge>,
    /// For each `fast` step, its condition, and the matched select with the sign that makes it equal to the step.
    pub(crate) fast: Vec<(Edge, Edge)>,
    /// The matching selects of infinity, as positions in the list given to [`find`]. Each must yield its finite side.
    pub(crate) finite: Vec<usize>,
}

/// The state of a match.
struct Matcher<'m> {
    graph: &'m Graph,
    template: &'m Template,
    names: &'m [Option<String>],
    /// The node and signs matched with each step.
    found: Vec<Option<(NodeId, Signs)>>,
    /// Matched steps, in order, for backtracking.
    trail: Vec<usize>,
    /// Signs that arguments are taken with.
    signs: [bool; 2],
    /// The formats of the template's steps, once they are needed.
    formats: &'m OnceCell<Vec<Option<Format>>>,
}

/// Names of operations, by node; computed once for a graph.
pub(crate) fn names(graph: &Graph) -> Vec<Option<String>> {
    let name = |id: u32| match graph.node(NodeId(id)) {
        Node::Op(code, _) => Some(code.to_string()),
        _ => None,
    };
    (0..graph.len() as u32).map(name).collect()
}

/// Matches a value with an expansion.
///
/// `infinite` has the condition of the infinite side for each of the program's selects of infinity.
pub(crate) fn find(
    graph: &Graph,
    names: &[Option<String>],
    template: &Template,
    value: Edge,
    infinite: &[Edge],
) -> Option<Match> {
    // An argument may occur negated, its sign folded into constants.
    let signs = [[false, false], [true, false], [false, true], [true, true]];
    let formats = OnceCell::new();
    let tried = if template.holes() == 1 { 2 } else { 4 };
    signs.into_iter().take(tried).find_map(|signs| {
        let (found, formats) = (vec![None; template.steps.len()], &formats);
        let mut matcher =
            Matcher { graph, template, names, found, trail: Vec::new(), signs, formats };
        let result = matcher.part(template.root, value);
        matcher.outcome(result, infinite)
    })
}

/// Matches the product of two values with an expansion whose last step is a product.
pub(crate) fn find_product(
    graph: &Graph,
    names: &[Option<String>],
    template: &Template,
    factors: [Edge; 2],
    infinite: &[Edge],
) -> Option<Match> {
    let Step::Op(_, parts) = &template.steps[template.root.step] else { return None };
    let formats = OnceCell::new();
    [[false, false], [true, false]].into_iter().find_map(|signs| {
        let (found, formats) = (vec![None; template.steps.len()], &formats);
        let mut matcher =
            Matcher { graph, template, names, found, trail: Vec::new(), signs, formats };
        let result = matcher.either_order(parts, &factors, |s| s[0].times(s[1]));
        let result = result.flipped(template.root.negated);
        matcher.outcome(result, infinite)
    })
}

impl Matcher<'_> {
    /// Builds the match if the root matched with `signs`. A template with [`Template::infinite`] must also match one of
    /// the conditions in `infinite`.
    fn outcome(&mut self, signs: Signs, infinite: &[Edge]) -> Option<Match> {
        if signs.is_none() {
            return None;
        }
        let mut finite = Vec::new();
        if let Some(condition) = self.template.infinite {
            let mut same = |at: &usize| self.part(condition, infinite[*at]) == Signs::PLUS;
            finite = (0..infinite.len()).filter(|at| same(at)).collect();
            if finite.is_empty() {
                return None;
            }
        }
        let negated = !signs.has_plus();
        let argument = |hole: usize| {
            let (node, _) = self.found[hole]?;
            Some(Edge::new(node, self.signs[hole]))
        };
        let count = self.template.holes();
        let arguments = (0..count).map(argument).collect::<Option<Vec<Edge>>>()?;
        let conditions = self.template.steps.iter().filter_map(|step| match step {
            Step::Fast(condition, _) => {
                let (node, signs) = self.found[condition.step]?;
                Some(Edge::new(node, condition.negated == signs.has_plus()))
            }
            _ => None,
        });
        let conditions = conditions.collect();
        let fast = self.template.steps.iter().enumerate().filter_map(|(at, step)| match step {
            Step::Fast(condition, _) => {
                let (node, signs) = self.found[condition.step]?;
                let condition = Edge::new(node, condition.negated == signs.has_plus());
                let (node, signs) = self.found[at]?;
                Some((condition, Edge::new(node, !signs.has_plus())))
            }
            _ => None,
        });
        let fast = fast.collect();
        Some(Match { arguments, negated, conditions, fast, finite })
    }

    /// Returns the signs with which a part of the template equals the value.
    fn part(&mut self, part: Part, value: Edge) -> Signs {
        self.step(part.step, value.node()).flipped(part.negated != value.is_negated())
    }

    /// Returns the signs with which a step of the template equals a node.
    fn step(&mut self, step: usize, node: NodeId) -> Signs {
        if let Some((known, signs)) = self.found[step] {
            return if known == node { signs } else { Signs::NONE };
        }
        let mark = self.trail.len();
        let signs = self.compare(step, node);
        match signs.is_none() {
            true => self.undo(mark),
            false => {
                self.found[step] = Some((node, signs));
                self.trail.push(step);
            }
        }
        signs
    }

    /// Forgets the steps matched since `mark`.
    fn undo(&mut self, mark: usize) {
        while self.trail.len() > mark {
            if let Some(step) = self.trail.pop() {
                self.found[step] = None;
            }
        }
    }

    /// Matches a step that was not matched before.
    fn compare(&mut self, step: usize, node: NodeId) -> Signs {
        let template = self.template;
        match (&template.steps[step], self.graph.node(node)) {
            (Step::Hole(hole), _) => {
                if self.signs[*hole] {
                    Signs::MINUS
                } else {
                    Signs::PLUS
                }
            }
            (Step::Bits(0), Node::Bits(0)) => Signs::EITHER,
            (Step::Bits(a), Node::Bits(b)) if *a == b => Signs::PLUS,
            (Step::Bits(a), Node::Bits(b)) if self.is_sign_bit(step, a ^ b) => Signs::MINUS,
            (Step::Fast(condition, value), Node::Op(Code::Select, operands)) => {
                let &[choice, a, b] = operands.as_slice() else { return Signs::NONE };
                let signs = self.part(*condition, choice);
                match signs {
                    Signs::PLUS => self.part(*value, a),
                    Signs::MINUS => self.part(*value, b),
                    _ => Signs::NONE,
                }
            }
            (Step::Op("equal", parts), Node::Op(Code::IntEqual(Width::B32), operands)) => {
                self.equal_integers(parts, operands.as_slice())
            }
            (Step::Op(name, parts), Node::Op(code, operands)) => {
                let operands = operands.as_slice();
                let same = self.names[node.0 as usize].as_deref() == Some(name);
                match same && parts.len() == operands.len() {
                    true => self.operation(code, parts, operands),
                    false => self.contracted(name, parts, code, operands),
                }
            }
            _ => Signs::NONE,
        }
    }

    /// Returns `true` if these bits are the sign bit of the format in which the template uses a constant.
    fn is_sign_bit(&self, step: usize, bits: u64) -> bool {
        let formats = self.formats.get_or_init(|| self.template.formats());
        let is_sign = |format: Format| bits == 1 << (format.width().bits() - 1);
        bits.is_power_of_two() && formats[step].is_some_and(is_sign)
    }

    /// Matches all parts with all operands in order; returns their signs.
    fn in_order(&mut self, parts: &[Part], operands: &[Edge]) -> Option<Vec<Signs>> {
        let mut all = Vec::with_capacity(parts.len());
        for (part, operand) in parts.iter().zip(operands) {
            let signs = self.part(*part, *operand);
            if signs.is_none() {
                return None;
            }
            all.push(signs);
        }
        Some(all)
    }

    /// Tries an order of operands; undoes its matches if it fails.
    fn attempt(
        &mut self,
        parts: &[Part],
        operands: &[Edge],
        combine: impl Fn(&[Signs]) -> Signs,
    ) -> Signs {
        let mark = self.trail.len();
        let signs = self.in_order(parts, operands).map_or(Signs::NONE, |signs| combine(&signs));
        if signs.is_none() {
            self.undo(mark);
        }
        signs
    }

    /// Tries the first two operands either way round.
    fn either_order(
        &mut self,
        parts: &[Part],
        operands: &[Edge],
        combine: impl Fn(&[Signs]) -> Signs + Copy,
    ) -> Signs {
        let signs = self.attempt(parts, operands, combine);
        if !signs.is_none() {
            return signs;
        }
        let mut swapped = operands.to_vec();
        swapped.swap(0, 1);
        self.attempt(parts, &swapped, combine)
    }

    /// Matches the operands of an operation with a template's, and returns the signs with which they match.
    fn operation(&mut self, code: Code, parts: &[Part], operands: &[Edge]) -> Signs {
        let plain = |signs: &[Signs]| match signs.iter().all(|signs| signs.has_plus()) {
            true => Signs::PLUS,
            false => Signs::NONE,
        };
        match code {
            Code::Add(..) => self.either_order(parts, operands, |s| s[0].and(s[1])),
            Code::Mul(..) => self.either_order(parts, operands, |s| s[0].times(s[1])),
            Code::Fma(..) => self.either_order(parts, operands, |s| s[0].times(s[1]).and(s[2])),
            Code::Float1(FloatUnary::Abs, ..) => self.attempt(parts, operands, |_| Signs::PLUS),
            Code::Float1(op, _, rounding) if is_odd(op, rounding) => {
                self.attempt(parts, operands, |s| s[0])
            }
            Code::Float2(FloatBinary::CopySign, _) => self.attempt(parts, operands, |s| s[0]),
            Code::Float2(FloatBinary::Div, _) => {
                self.attempt(parts, operands, |s| s[0].times(s[1]))
            }
            Code::Float2(FloatBinary::Min { .. } | FloatBinary::Max { .. }, _) => {
                self.either_order(parts, operands, plain)
            }
            Code::Select => self.select(parts, operands),
            Code::Less(_) => {
                let signs = self.attempt(parts, operands, plain);
                if !signs.is_none() {
                    return signs;
                }
                // −a < −b is b < a.
                let swapped = [operands[1], operands[0]];
                self.attempt(parts, &swapped, |s| match s[0].and(s[1]).and(Signs::MINUS) {
                    Signs::MINUS => Signs::PLUS,
                    _ => Signs::NONE,
                })
            }
            Code::Equal(_) => {
                self.either_order(parts, operands, |s| match s[0].and(s[1]).is_none() {
                    true => Signs::NONE,
                    false => Signs::PLUS,
                })
            }
            Code::IntEqual(_) => self.either_order(parts, operands, plain),
            Code::Int2(op, _) if op.commutes() => self.either_order(parts, operands, plain),
            _ => self.attempt(parts, operands, plain),
        }
    }

    /// Matches a zero test of an integer with one of the float converted from it: both are zero together.
    fn equal_integers(&mut self, parts: &[Part], operands: &[Edge]) -> Signs {
        let zero = |edge: Edge| self.graph.node(edge.node()) == Node::Bits(0);
        let integer = match *operands {
            [a, b] if zero(b) => a,
            [a, b] if zero(a) => b,
            _ => return Signs::NONE,
        };
        let is_zero = |part: &&Part| matches!(self.template.steps[part.step], Step::Bits(0));
        let (Some(_), Some(&part)) =
            (parts.iter().find(is_zero), parts.iter().find(|part| !is_zero(part)))
        else {
            return Signs::NONE;
        };
        [true, false]
            .into_iter()
            .find_map(|signed| {
                let from = Scalar::Integer { width: Width::B32, signed };
                let to = Scalar::Float(Format::F32);
                let (rounding, saturate) = (Rounding::NearestEven, false);
                let code = Code::Convert { from, to, rounding, saturate };
                let float = self.graph.find_op(code, &[integer])?;
                (!self.part(part, float).is_none()).then_some(Signs::PLUS)
            })
            .unwrap_or(Signs::NONE)
    }

    /// Matches a select, with its arms swapped if the condition is negated.
    fn select(&mut self, parts: &[Part], operands: &[Edge]) -> Signs {
        let (&[condition, a, b], &[choice, x, y]) = (parts, operands) else { return Signs::NONE };
        let mark = self.trail.len();
        let arms = match self.part(condition, choice) {
            Signs::PLUS => [x, y],
            Signs::MINUS => [y, x],
            _ => return Signs::NONE,
        };
        let signs = self.attempt(&[a, b], &arms, |s| s[0].and(s[1]));
        if signs.is_none() {
            self.undo(mark);
        }
        signs
    }

    /// Matches a product and a sum on one side with an fma on the other.
    fn contracted(&mut self, name: &str, parts: &[Part], code: Code, operands: &[Edge]) -> Signs {
        let (Code::Fma(format, Rounding::NearestEven) | Code::Add(format, Rounding::NearestEven)) =
            code
        else {
            return Signs::NONE;
        };
        let nearest = Rounding::NearestEven;
        let is = |wanted: Code| name == wanted.to_string();
        let sum = |s: &[Signs]| s[0].times(s[1]).and(s[2]);
        match (code, parts, operands) {
            (Code::Add(..), &[a, b, c], &[p, q]) if is(Code::Fma(format, nearest)) => {
                for (product, other) in [(p, q), (q, p)] {
                    let Node::Op(Code::Mul(_, Rounding::NearestEven), factors) =
                        self.graph.node(product.node())
                    else {
                        continue;
                    };
                    let &[x, y] = factors.as_slice() else { continue };
                    let operands = [x.flipped(product.is_negated()), y, other];
                    let signs = self.either_order(&[a, b, c], &operands, sum);
                    if !signs.is_none() {
                        return signs;
                    }
                }
                Signs::NONE
            }
            (Code::Fma(..), &[p, q], &[x, y, z]) if is(Code::Add(format, nearest)) => {
                let template = self.template;
                for (product, other) in [(p, q), (q, p)] {
                    let Step::Op(name, factors) = &template.steps[product.step] else { continue };
                    let &[a, b] = factors.as_slice() else { continue };
                    if *name != Code::Mul(format, nearest).to_string() {
                        continue;
                    }
                    let a = Part { negated: a.negated != product.negated, ..a };
                    let signs = self.either_order(&[a, b, other], &[x, y, z], sum);
                    if !signs.is_none() {
                        return signs;
                    }
                }
                Signs::NONE
            }
            _ => Signs::NONE,
        }
    }
}
