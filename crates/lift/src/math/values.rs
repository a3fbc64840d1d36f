//! Register values as a graph: reaching definitions, with selects at joins.
//!
//! At a join, a register with different definitions becomes a select on the conditions of the branches that led
//! there, if there is no loop between. Otherwise it is opaque. So code with branches and code with `selp` give the
//! same graph.
//!
//! Inside a loop a node is the value of the current iteration. Values carried to the next iteration pass through the
//! loop header, where they are opaque.

use super::graph::{Code, Edge, Graph, NodeId};
use crate::flow::Flow;
use base::IndexVec;
use ir::{BlockId, Function, Instr, Op, Operand, Reg, Terminator};
use rustc_hash::{FxHashMap, FxHashSet};

/// Limit on the blocks between a branch and its join, for selects to be built.
const MAX_BLOCKS_BETWEEN: usize = 64;

/// A place where a register holds a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Site {
    pub(crate) block: BlockId,
    /// After this instruction; `None` at the start of the block.
    pub(crate) after: Option<usize>,
    pub(crate) register: Reg,
    /// The register holds the negated node.
    pub(crate) negated: bool,
}

/// The values of a function.
pub(crate) struct Values<'f> {
    pub(super) function: &'f Function,
    pub(crate) flow: &'f Flow,
    pub(crate) graph: Graph,
    /// Value of a register after its last write in a block.
    at_end: FxHashMap<(BlockId, Reg), Edge>,
    /// Value of a register at the start of a block.
    at_start: FxHashMap<(BlockId, Reg), Edge>,
    /// Conditions of branches: those under which `then` is taken.
    pub(crate) conditions: IndexVec<BlockId, Option<Edge>>,
    /// Registers at joins and the selects they hold.
    pub(crate) merges: Vec<(BlockId, Reg, Edge)>,
    /// Results of instructions, without guards: block, position, register, value.
    pub(crate) results: Vec<(BlockId, usize, Reg, Edge)>,
    /// Places where each node is available.
    sites: FxHashMap<NodeId, Vec<Site>>,
    /// The blocks between a block and its dominator, once computed.
    between: FxHashMap<BlockId, Vec<BlockId>>,
    /// The registers that each block writes.
    writes: FxHashSet<(BlockId, Reg)>,
    /// Blocks in loops.
    loops: FxHashSet<BlockId>,
}

impl<'f> Values<'f> {
    pub(crate) fn new(function: &'f Function, flow: &'f Flow) -> Self {
        let mut writes = FxHashSet::default();
        for (block, data) in function.blocks.enumerate() {
            for instruction in &data.instructions {
                for_each_write(&instruction.op, &mut |register| {
                    writes.insert((block, register));
                });
            }
        }
        let mut values = Self {
            function,
            flow,
            graph: Graph::default(),
            at_end: FxHashMap::default(),
            at_start: FxHashMap::default(),
            conditions: function.blocks.iter().map(|_| None).collect(),
            merges: Vec::new(),
            results: Vec::new(),
            sites: FxHashMap::default(),
            between: FxHashMap::default(),
            writes,
            loops: FxHashSet::default(),
        };
        let in_loop = |&block: &BlockId| flow.between(block).contains(&block);
        values.loops = flow.order.iter().copied().filter(in_loop).collect();
        for &block in &flow.order {
            values.process_block(block);
        }
        values
    }

    /// Places where a node is available.
    pub(crate) fn sites(&self, node: NodeId) -> &[Site] {
        self.sites.get(&node).map_or(&[], Vec::as_slice)
    }

    fn process_block(&mut self, block: BlockId) {
        let data = &self.function.blocks[block];
        for (position, instruction) in data.instructions.iter().enumerate() {
            self.process_instruction(block, position, instruction);
        }
        if let Terminator::Branch { guard, .. } = &data.terminator {
            let condition = self.register(block, guard.register);
            self.conditions[block] = Some(condition.flipped(guard.negated));
        }
    }

    fn process_instruction(&mut self, block: BlockId, position: usize, instruction: &Instr) {
        if let Op::Store(store) = &instruction.op {
            for source in &store.srcs {
                if let Operand::Register(register) = source {
                    self.register(block, *register);
                }
            }
        }
        let results = self.results_of(block, &instruction.op);
        let guard = instruction
            .guard
            .map(|guard| self.register(block, guard.register).flipped(guard.negated));
        for (register, value) in results {
            self.results.push((block, position, register, value));
            let value = match guard {
                None => value,
                Some(guard) => {
                    let old = self.register(block, register);
                    self.select(guard, value, old)
                }
            };
            self.at_end.insert((block, register), value);
            self.note(value, Site { block, after: Some(position), register, negated: false });
        }
    }

    fn note(&mut self, value: Edge, site: Site) {
        let site = Site { negated: value.is_negated(), ..site };
        self.sites.entry(value.node()).or_default().push(site);
    }

    fn select(&mut self, condition: Edge, a: Edge, b: Edge) -> Edge {
        match self.graph.op(Code::Select, &[condition, a, b]) {
            Some(edge) => edge,
            None => self.graph.opaque(),
        }
    }

    /// Returns the current value of a register in the block being processed.
    pub(super) fn register(&mut self, block: BlockId, register: Reg) -> Edge {
        match self.at_end.get(&(block, register)) {
            Some(&edge) => edge,
            None => self.value_at_start(block, register),
        }
    }

    /// Returns the value of a register at the end of a block.
    fn value_at_end(&mut self, block: BlockId, register: Reg) -> Edge {
        match self.writes.contains(&(block, register)) {
            // A block of a loop that was not processed yet.
            true => match self.at_end.get(&(block, register)) {
                Some(&edge) => edge,
                None => self.graph.opaque(),
            },
            false => self.value_at_start(block, register),
        }
    }

    /// Returns the value of a register at the start of a block.
    fn value_at_start(&mut self, block: BlockId, register: Reg) -> Edge {
        // Walk up to the last dominator that writes it or has a known value.
        let mut chain = Vec::new();
        let mut at = block;
        let edge = loop {
            if let Some(&edge) = self.at_start.get(&(at, register)) {
                break edge;
            }
            chain.push(at);
            let Some(dominator) = self.flow.dominator[at] else {
                let edge = self.graph.opaque();
                self.note(edge, Site { block: at, after: None, register, negated: false });
                break edge;
            };
            if self.is_written_between(at, register) {
                break self.merge(at, dominator, register);
            }
            if self.writes.contains(&(dominator, register)) {
                break self.value_at_end(dominator, register);
            }
            at = dominator;
        };
        chain.into_iter().for_each(|block| {
            self.at_start.insert((block, register), edge);
        });
        edge
    }

    fn is_written_between(&mut self, block: BlockId, register: Reg) -> bool {
        let flow = self.flow;
        let between = self.between.entry(block).or_insert_with(|| flow.between(block));
        between.iter().any(|&one| self.writes.contains(&(one, register)))
    }

    /// Builds the value of a register that is written on paths into this join.
    fn merge(&mut self, block: BlockId, dominator: BlockId, register: Reg) -> Edge {
        let between = &self.between[&block];
        let edge = match between.contains(&block) || between.len() > MAX_BLOCKS_BETWEEN {
            true => self.graph.opaque(),
            false => {
                let mut known = FxHashMap::default();
                let edge = self.value_after(dominator, block, register, &mut known);
                self.merges.push((block, register, edge));
                edge
            }
        };
        self.note(edge, Site { block, after: None, register, negated: false });
        edge
    }

    /// Builds the value of `register` at `to` on paths that leave `from`.
    fn value_after(
        &mut self,
        from: BlockId,
        to: BlockId,
        register: Reg,
        known: &mut FxHashMap<BlockId, Edge>,
    ) -> Edge {
        let function = self.function;
        match &function.blocks[from].terminator {
            Terminator::Jump(target) => self.value_along(from, *target, to, register, known),
            Terminator::Branch { then, otherwise, .. } => {
                let a = self.value_along(from, *then, to, register, known);
                let b = self.value_along(from, *otherwise, to, register, known);
                match self.conditions[from] {
                    Some(condition) => self.select(condition, a, b),
                    None => self.graph.opaque(),
                }
            }
            _ => self.graph.opaque(),
        }
    }

    /// Builds the value of `register` at `to` on paths that go from `from` to `next`.
    fn value_along(
        &mut self,
        from: BlockId,
        next: BlockId,
        to: BlockId,
        register: Reg,
        known: &mut FxHashMap<BlockId, Edge>,
    ) -> Edge {
        if next == to {
            return self.value_at_end(from, register);
        }
        if let Some(&edge) = known.get(&next) {
            return edge;
        }
        let inside = self.between[&to].contains(&next) && !self.loops_inside(next, to);
        let edge = match inside {
            true => self.value_after(next, to, register, known),
            false => self.graph.opaque(),
        };
        known.insert(next, edge);
        edge
    }

    /// Returns `true` if a block is in a loop that does not contain `to`.
    fn loops_inside(&self, block: BlockId, to: BlockId) -> bool {
        self.loops.contains(&block) && {
            // Search for a path back to the block that avoids `to`.
            let mut seen = FxHashSet::default();
            let mut work: Vec<BlockId> =
                self.function.blocks[block].terminator.successors().collect();
            let mut found = false;
            while let Some(next) = work.pop() {
                found |= next == block;
                if next != to && next != block && seen.insert(next) {
                    work.extend(self.function.blocks[next].terminator.successors());
                }
            }
            found
        }
    }

    /// Returns the value of an operand at the end of a block; only for registers that were looked up before.
    pub(crate) fn stored(&self, block: BlockId, operand: Operand) -> Option<Edge> {
        let Operand::Register(register) = operand else { return None };
        let end = self.at_end.get(&(block, register));
        end.or_else(|| self.at_start.get(&(block, register))).copied()
    }
}

/// Calls `note` for every register an operation writes.
pub(crate) fn for_each_write(op: &Op, note: &mut dyn FnMut(Reg)) {
    op.visit(&mut |access| {
        if let ir::Access::Write(register) = access {
            note(register);
        }
    });
}
