//! Templates for `powf` with a constant exponent or base.
//!
//! Compilers fold the steps of the expansion that depend on the constant alone. So for each constant of the program
//! that may be an argument, a template is made from the table's by computing those steps in the same way. A template
//! too many costs time; a constant that is not tried leaves the expansion unrecognised.

use super::graph::{Code, Edge, Graph, Node, NodeId};
use super::template::{Part, Step, Template};
use ir::{FloatUnary, Format, IntBinary, Rounding, Scalar, Width};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// Returns the operations that occur in expansions of `powf`.
fn codes() -> Vec<Code> {
    let (single, nearest) = (Format::F32, Rounding::NearestEven);
    let integer = Scalar::Integer { width: Width::B32, signed: true };
    let float = Scalar::Float(single);
    let convert = |from, to, rounding| Code::Convert { from, to, rounding, saturate: false };
    let round = |rounding| Code::Float1(FloatUnary::RoundToIntegral, single, rounding);
    let mut codes = vec![
        Code::Add(single, nearest),
        Code::Mul(single, nearest),
        Code::Fma(single, nearest),
        Code::Float1(FloatUnary::Abs, single, nearest),
        Code::Float1(FloatUnary::Reciprocal, single, nearest),
        round(nearest),
        round(Rounding::Zero),
        round(Rounding::Down),
        Code::Less(single),
        Code::Equal(single),
        Code::Select,
        convert(integer, float, nearest),
        convert(float, integer, Rounding::Zero),
        Code::Int2(IntBinary::And, Width::B1),
    ];
    let integers = [IntBinary::Add, IntBinary::Sub, IntBinary::And, IntBinary::Xor, IntBinary::Shl];
    codes.extend(integers.map(|op| Code::Int2(op, Width::B32)));
    codes
}

/// A template with its operation names decoded.
struct DecodedTemplate<'t> {
    template: &'t Template,
    codes: Vec<Option<Code>>,
    names: FxHashMap<Code, &'static str>,
}

impl<'t> DecodedTemplate<'t> {
    fn new(template: &'t Template) -> Self {
        let all = codes().into_iter().map(|code| (code.to_string(), code));
        let all: FxHashMap<String, Code> = all.collect();
        let mut names: FxHashMap<Code, &'static str> = FxHashMap::default();
        let mut codes = Vec::new();
        for step in &template.steps {
            let code = match step {
                Step::Op(name, _) => all.get(*name).copied().inspect(|&code| {
                    names.insert(code, name);
                }),
                _ => None,
            };
            codes.push(code);
        }
        Self { template, codes, names }
    }

    /// Returns the template with one argument fixed to a constant of 32 bits, its constant steps folded.
    fn with_constant(&self, position: usize, bits: u32) -> Option<Template> {
        let template = self.template;
        let mut graph = Graph::default();
        let mut values: Vec<Edge> = Vec::with_capacity(template.steps.len());
        for (step, code) in template.steps.iter().zip(&self.codes) {
            let value = match step {
                Step::Hole(hole) if *hole == position => graph.bits(bits.into()),
                Step::Hole(_) => graph.opaque(),
                Step::Bits(bits) => graph.bits(*bits),
                Step::Fast(..) => return None,
                Step::Op(_, parts) => {
                    let operand = |part: &Part| values[part.step].flipped(part.negated);
                    let operands: Vec<Edge> = parts.iter().map(operand).collect();
                    graph.op((*code)?, &operands)?
                }
            };
            values.push(value);
        }
        let root = values[template.root.step].flipped(template.root.negated);
        let (names, known) = (&self.names, FxHashMap::default());
        let mut writer = Writer { graph: &graph, names, steps: vec![Step::Hole(0)], known };
        let root = writer.part(root)?;
        let constant = Some((position, bits.into()));
        Some(Template { constant, steps: writer.steps, root, ..template.clone() })
    }
}

/// Returns the templates of `powf` with an argument that may be one of the program's constants.
pub(crate) fn with_constant_arguments(
    template: &Template,
    constants: &FxHashSet<u64>,
    graph: &Graph,
) -> Vec<Template> {
    let mut singles: Vec<u32> =
        constants.iter().filter_map(|&bits| u32::try_from(bits).ok()).collect();
    singles.retain(|&bits| f32::from_bits(bits).is_finite());
    singles.sort_unstable();
    let decoded = DecodedTemplate::new(template);
    let mut all = Vec::new();
    if has_most_constants(template, 0, constants) {
        all.extend(singles.iter().filter_map(|&bits| decoded.with_constant(1, bits)));
    }
    if has_most_constants(template, 1, constants) {
        let bases = singles.into_iter().chain(candidate_bases(graph));
        let bases: BTreeSet<u32> =
            bases.filter(|&bits| f32::from_bits(bits).is_normal() && bits >> 31 == 0).collect();
        all.extend(bases.into_iter().filter_map(|bits| decoded.with_constant(0, bits)));
    }
    all
}

/// Returns `true` if a program with these constants may contain `powf` with a constant argument.
pub(crate) fn may_contain(template: &Template, constants: &FxHashSet<u64>) -> bool {
    (0..2).any(|argument| has_most_constants(template, argument, constants))
}

/// Finds bases whose logarithm is multiplied by the exponent. A compiler that knows the exponent is not NaN keeps the
/// logarithm as two constants, the second one below the last place of the first.
fn candidate_bases(graph: &Graph) -> Vec<u32> {
    let mut large: FxHashMap<NodeId, Vec<f64>> = FxHashMap::default();
    let mut small: Vec<(NodeId, f64)> = Vec::new();
    for node in graph.nodes() {
        let Node::Op(code, operands) = node else { continue };
        let (Code::Mul(Format::F32, _) | Code::Fma(Format::F32, _)) = code else { continue };
        let &[a, b, ..] = operands.as_slice() else { continue };
        for (constant, other) in [(a, b), (b, a)] {
            let Node::Bits(bits) = graph.node(constant.node()) else { continue };
            let Ok(bits) = u32::try_from(bits) else { continue };
            let number = f64::from(f32::from_bits(bits));
            match code {
                Code::Mul(..) => large.entry(other.node()).or_default().push(number),
                _ => small.push((other.node(), number)),
            }
        }
    }
    let mut bases = Vec::new();
    for (node, second) in small {
        for &first in large.get(&node).into_iter().flatten() {
            if second.abs() <= first.abs() * 2f64.powi(-22) {
                // The signs are in other nodes.
                let logarithms = [first + second, first - second, second - first, -first - second];
                bases.extend(logarithms.map(|logarithm| (logarithm.exp2() as f32).to_bits()));
            }
        }
    }
    bases
}

/// Returns `true` if the program has more than three quarters of the template's constants in steps that
/// depend on this argument. The others may be folded away if the other argument is known.
fn has_most_constants(template: &Template, argument: usize, constants: &FxHashSet<u64>) -> bool {
    let mut depends = vec![false; template.steps.len()];
    let (mut all, mut missing) = (0, 0);
    for (at, step) in template.steps.iter().enumerate() {
        match step {
            Step::Hole(hole) => depends[at] = *hole == argument,
            Step::Op(_, parts) => {
                depends[at] = parts.iter().any(|part| depends[part.step]);
                for part in parts.iter().filter(|_| depends[at]) {
                    if let Step::Bits(bits) = template.steps[part.step] {
                        all += 1;
                        missing += usize::from(!super::is_present(constants, bits));
                    }
                }
            }
            Step::Bits(_) | Step::Fast(..) => {}
        }
    }
    missing * 4 < all
}

/// Writes a graph as the steps of a template.
struct Writer<'w> {
    graph: &'w Graph,
    names: &'w FxHashMap<Code, &'static str>,
    steps: Vec<Step>,
    known: FxHashMap<NodeId, usize>,
}

impl Writer<'_> {
    fn part(&mut self, edge: Edge) -> Option<Part> {
        let (node, negated) = (edge.node(), edge.is_negated());
        if let Some(&step) = self.known.get(&node) {
            return Some(Part { step, negated });
        }
        let step = match self.graph.node(node) {
            Node::Opaque(_) => return Some(Part { step: 0, negated }),
            Node::Bits(bits) => Step::Bits(bits),
            Node::Op(code, operands) => {
                let parts = operands.as_slice().iter().map(|&operand| self.part(operand));
                let parts = parts.collect::<Option<Vec<Part>>>()?;
                Step::Op(self.names.get(&code)?, parts)
            }
        };
        self.steps.push(step);
        self.known.insert(node, self.steps.len() - 1);
        Some(Part { step: self.steps.len() - 1, negated })
    }
}
