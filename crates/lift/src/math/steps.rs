//! Prints a value as the steps of a table, so that new expansions need not be typed.

use super::graph::{Code, Edge, Graph, Node, NodeId};
use rustc_hash::FxHashMap;

/// Writes the steps of a value. The first `arguments` opaque values are its arguments, in the order in which they were
/// created. A select is written as `fast` if just one of its sides depends on other opaque values.
pub(crate) fn steps(graph: &Graph, value: Edge, arguments: usize) -> String {
    let mut writer = Writer { graph, arguments, inputs: Vec::new(), names: FxHashMap::default() };
    let mut text = String::new();
    writer.collect_inputs(value.node());
    let last = writer.write(value, &mut text);
    format!("{text}  # {last}\n")
}

struct Writer<'g> {
    graph: &'g Graph,
    arguments: usize,
    inputs: Vec<NodeId>,
    names: FxHashMap<NodeId, String>,
}

impl Writer<'_> {
    /// Collects the arguments: the first opaque values.
    fn collect_inputs(&mut self, node: NodeId) {
        let mut seen = vec![node];
        let mut at = 0;
        while let Some(&node) = seen.get(at) {
            at += 1;
            if let Node::Op(_, operands) = self.graph.node(node) {
                for operand in operands.as_slice() {
                    if !seen.contains(&operand.node()) {
                        seen.push(operand.node());
                    }
                }
            }
        }
        let mut opaque: Vec<NodeId> = seen
            .into_iter()
            .filter(|&node| matches!(self.graph.node(node), Node::Opaque(_)))
            .collect();
        opaque.sort_unstable();
        opaque.truncate(self.arguments);
        self.inputs = opaque;
    }

    /// Returns `true` if a value depends on an opaque value that is not an argument.
    fn is_open(&self, node: NodeId) -> bool {
        match self.graph.node(node) {
            Node::Opaque(_) => !self.inputs.contains(&node),
            Node::Bits(_) => false,
            // One of the two sides is enough.
            Node::Op(Code::Select, operands) => {
                let open = |at: usize| {
                    operands.as_slice().get(at).is_some_and(|one| self.is_open(one.node()))
                };
                open(0) || open(1) && open(2)
            }
            Node::Op(_, operands) => {
                operands.as_slice().iter().any(|operand| self.is_open(operand.node()))
            }
        }
    }

    /// Writes the steps of a value and returns its name.
    fn write(&mut self, value: Edge, text: &mut String) -> String {
        let sign = if value.is_negated() { "-" } else { "" };
        let node = value.node();
        if let Some(name) = self.names.get(&node) {
            return format!("{sign}{name}");
        }
        let (code, operands) = match self.graph.node(node) {
            Node::Bits(bits) => return format!("{sign}{bits:#x}"),
            Node::Opaque(_) => {
                let position = self.inputs.iter().position(|&input| input == node);
                let name = position.and_then(|at| ["x", "y"].get(at)).copied().unwrap_or("?");
                return format!("{sign}{name}");
            }
            Node::Op(code, operands) => (code.to_string(), operands.as_slice().to_vec()),
        };
        let step = match operands.as_slice() {
            [condition, a, b]
                if code == "select" && self.is_open(a.node()) != self.is_open(b.node()) =>
            {
                let a_open = self.is_open(a.node());
                let condition = self.write(condition.flipped(a_open), text);
                let value = self.write(if a_open { *b } else { *a }, text);
                format!("fast {condition} {value}")
            }
            _ => {
                let operands: Vec<String> =
                    operands.iter().map(|&operand| self.write(operand, text)).collect();
                format!("{code} {}", operands.join(" "))
            }
        };
        let name = format!("%{}", self.names.len() + 1);
        text.push_str(&format!("  {name} = {step}\n"));
        self.names.insert(node, name.clone());
        format!("{sign}{name}")
    }
}
