//! Powers with a constant exponent: compilers fold what depends on the exponent alone, so the expansion
//! is that of the table with those steps computed.

use super::graph::{Code, Edge, Graph, Node, NodeId};
use super::template::{Part, Step, Template};
use ir::{FloatUnary, Format, IntBinary, Rounding, Scalar, Width};
use rustc_hash::FxHashMap;

/// The steps that expansions of `powf` have.
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

/// The expansion for one exponent, a single.
pub(crate) fn with_exponent(template: &Template, exponent: u32) -> Option<Template> {
    let codes = codes();
    let mut names: FxHashMap<Code, &'static str> = FxHashMap::default();
    let mut graph = Graph::default();
    let mut values: Vec<Edge> = Vec::with_capacity(template.steps.len());
    for step in &template.steps {
        let value = match step {
            Step::Hole(0) => graph.opaque(),
            Step::Hole(_) => graph.bits(exponent.into()),
            Step::Bits(bits) => graph.bits(*bits),
            Step::Fast(..) => return None,
            Step::Op(name, parts) => {
                let code = *codes.iter().find(|code| code.to_string() == *name)?;
                names.insert(code, name);
                let operand = |part: &Part| values[part.step].flipped(part.negated);
                let operands: Vec<Edge> = parts.iter().map(operand).collect();
                graph.op(code, &operands)?
            }
        };
        values.push(value);
    }
    let root = values[template.root.step].flipped(template.root.negated);
    let mut writer =
        Writer { graph: &graph, names: &names, steps: Vec::new(), known: FxHashMap::default() };
    writer.steps.push(Step::Hole(0));
    let root = writer.part(root)?;
    let (function, format) = (template.function, template.format);
    Some(Template { function, format, steps: writer.steps, root, second: Some(exponent.into()) })
}

/// From a graph back to steps.
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
