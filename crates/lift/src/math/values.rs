//! What every register holds, as values of a graph: reaching definitions with choices where ways meet.
//!
//! Where two ways meet, a register that they define differently is a choice by the conditions of the
//! branches that led there (as `select` would make it), if there is no loop between; otherwise it is a
//! value nobody looks into. So code with branches and code with `selp` give the same graph.
//!
//! Inside a loop a node is the value of the current iteration: whatever an iteration leaves to the next
//! goes through the loop's first block, where it is opaque.
//!
//! Long: what operations make of values is one table of cases.

use super::graph::{Code, Edge, Graph, NodeId};
use crate::flow::Flow;
use base::IndexVec;
use ir::{
    BlockId, FloatBinary, FloatMode, FloatProperty, FloatRelation, FloatUnary, Function, Instr,
    IntBinary, IntUnary, Op, Operand, Reg, Relation, Scalar, Terminator, Width,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// Blocks between a branch and the place where its ways meet, for a choice to be made of them.
const WIDEST: usize = 64;

/// A place where a register holds a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Site {
    pub(crate) block: BlockId,
    /// Behind this instruction; `None` at the beginning of the block.
    pub(crate) after: Option<usize>,
    pub(crate) register: Reg,
    /// The register holds the negated node.
    pub(crate) negated: bool,
}

/// The values of a function.
pub(crate) struct Values<'f> {
    function: &'f Function,
    pub(crate) flow: &'f Flow,
    pub(crate) graph: Graph,
    /// What the last write of a block leaves in a register.
    at_end: FxHashMap<(BlockId, Reg), Edge>,
    at_start: FxHashMap<(BlockId, Reg), Edge>,
    /// Conditions of branches: those under which `then` is taken.
    pub(crate) conditions: IndexVec<BlockId, Option<Edge>>,
    /// Where ways meet, registers and the choices they hold.
    pub(crate) merges: Vec<(BlockId, Reg, Edge)>,
    /// Results of instructions, guards left out: block, position, register, value.
    pub(crate) results: Vec<(BlockId, usize, Reg, Edge)>,
    /// Where nodes can be had.
    sites: FxHashMap<NodeId, Vec<Site>>,
    between: FxHashMap<BlockId, Vec<BlockId>>,
    writes: FxHashSet<(BlockId, Reg)>,
    loops: FxHashSet<BlockId>,
}

impl<'f> Values<'f> {
    pub(crate) fn new(function: &'f Function, flow: &'f Flow) -> Self {
        let mut writes = FxHashSet::default();
        for (block, data) in function.blocks.enumerate() {
            for instruction in &data.instructions {
                written(&instruction.op, &mut |register| {
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
            values.block(block);
        }
        values
    }

    /// Places where a node can be had.
    pub(crate) fn sites(&self, node: NodeId) -> &[Site] {
        self.sites.get(&node).map_or(&[], Vec::as_slice)
    }

    fn block(&mut self, block: BlockId) {
        let data = &self.function.blocks[block];
        for (position, instruction) in data.instructions.iter().enumerate() {
            self.instruction(block, position, instruction);
        }
        if let Terminator::Branch { guard, .. } = &data.terminator {
            let condition = self.register(block, guard.register);
            self.conditions[block] = Some(condition.flipped(guard.negated));
        }
    }

    fn instruction(&mut self, block: BlockId, position: usize, instruction: &Instr) {
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
                    self.choice(guard, value, old)
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

    fn choice(&mut self, condition: Edge, a: Edge, b: Edge) -> Edge {
        match self.graph.op(Code::Select, &[condition, a, b]) {
            Some(edge) => edge,
            None => self.graph.opaque(),
        }
    }

    /// What a register holds now, in a block that is being gone through.
    fn register(&mut self, block: BlockId, register: Reg) -> Edge {
        match self.at_end.get(&(block, register)) {
            Some(&edge) => edge,
            None => self.start(block, register),
        }
    }

    /// What a register holds at the end of a block.
    fn end(&mut self, block: BlockId, register: Reg) -> Edge {
        match self.writes.contains(&(block, register)) {
            // A block of a loop that was not gone through yet.
            true => match self.at_end.get(&(block, register)) {
                Some(&edge) => edge,
                None => self.graph.opaque(),
            },
            false => self.start(block, register),
        }
    }

    /// What a register holds at the beginning of a block.
    fn start(&mut self, block: BlockId, register: Reg) -> Edge {
        // Up to the last block above that writes it or where it is known already.
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
                break self.merged(at, dominator, register);
            }
            if self.writes.contains(&(dominator, register)) {
                break self.end(dominator, register);
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

    /// A register where ways meet that write it.
    fn merged(&mut self, block: BlockId, dominator: BlockId, register: Reg) -> Edge {
        let between = &self.between[&block];
        let edge = match between.contains(&block) || between.len() > WIDEST {
            true => self.graph.opaque(),
            false => {
                let mut known = FxHashMap::default();
                let edge = self.leaving(dominator, block, register, &mut known);
                self.merges.push((block, register, edge));
                edge
            }
        };
        self.note(edge, Site { block, after: None, register, negated: false });
        edge
    }

    /// What `register` holds at `to`, for ways that leave `from`.
    fn leaving(
        &mut self,
        from: BlockId,
        to: BlockId,
        register: Reg,
        known: &mut FxHashMap<BlockId, Edge>,
    ) -> Edge {
        let function = self.function;
        match &function.blocks[from].terminator {
            Terminator::Jump(target) => self.along(from, *target, to, register, known),
            Terminator::Branch { then, otherwise, .. } => {
                let a = self.along(from, *then, to, register, known);
                let b = self.along(from, *otherwise, to, register, known);
                match self.conditions[from] {
                    Some(condition) => self.choice(condition, a, b),
                    None => self.graph.opaque(),
                }
            }
            _ => self.graph.opaque(),
        }
    }

    fn along(
        &mut self,
        from: BlockId,
        next: BlockId,
        to: BlockId,
        register: Reg,
        known: &mut FxHashMap<BlockId, Edge>,
    ) -> Edge {
        if next == to {
            return self.end(from, register);
        }
        if let Some(&edge) = known.get(&next) {
            return edge;
        }
        let inside = self.between[&to].contains(&next) && !self.loops_inside(next, to);
        let edge = match inside {
            true => self.leaving(next, to, register, known),
            false => self.graph.opaque(),
        };
        known.insert(next, edge);
        edge
    }

    /// Whether a block is in a loop that its way to `to` does not share.
    fn loops_inside(&self, block: BlockId, to: BlockId) -> bool {
        self.loops.contains(&block) && {
            // Back to itself without going through `to`.
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

    /// What a block leaves in an operand at its end; for registers that were looked at.
    pub(crate) fn stored(&self, block: BlockId, operand: Operand) -> Option<Edge> {
        let Operand::Register(register) = operand else { return None };
        let end = self.at_end.get(&(block, register));
        end.or_else(|| self.at_start.get(&(block, register))).copied()
    }

    fn operand(&mut self, block: BlockId, operand: Operand, width: Width) -> Edge {
        match operand {
            Operand::Constant(bits) => self.graph.bits(bits & width.mask()),
            Operand::Register(register) => {
                let edge = self.register(block, register);
                if self.function.registers[register].width == width {
                    return edge;
                }
                let code = Code::Resize { from: width, signed: false, to: width };
                match self.graph.op(code, &[edge]) {
                    Some(edge) => edge,
                    None => self.graph.opaque(),
                }
            }
        }
    }

    /// The registers an operation writes and their values, guards left out.
    fn results_of(&mut self, block: BlockId, op: &Op) -> Vec<(Reg, Edge)> {
        if let Op::Split { dsts, src } = op {
            return self.parts(block, dsts, *src);
        }
        if let Some((register, value)) = self.value(block, op) {
            return vec![(register, value)];
        }
        let mut results = Vec::new();
        written(op, &mut |register| results.push((register, self.graph.opaque())));
        results
    }

    fn parts(&mut self, block: BlockId, dsts: &[Option<Reg>], src: Operand) -> Vec<(Reg, Edge)> {
        let width = match src {
            Operand::Register(register) => self.function.registers[register].width,
            Operand::Constant(_) => Width::B64,
        };
        let whole = self.operand(block, src, width);
        let count = u8::try_from(dsts.len()).unwrap_or(u8::MAX);
        let mut results = Vec::new();
        for (index, dst) in dsts.iter().enumerate() {
            let Some(dst) = *dst else { continue };
            let part = self.part(whole, index as u8, count);
            results.push((dst, part));
        }
        results
    }

    fn part(&mut self, whole: Edge, index: u8, count: u8) -> Edge {
        use super::graph::Node;
        if let Node::Op(Code::Concat(parts), operands) = self.graph.node(whole.node())
            && parts == count
            && !whole.is_negated()
            && let Some(&part) = operands.as_slice().get(usize::from(index))
        {
            return part;
        }
        match self.graph.op(Code::Part(index, count), &[whole]) {
            Some(edge) => edge,
            None => self.graph.opaque(),
        }
    }

    /// The result of an operation that is looked into.
    fn value(&mut self, block: BlockId, op: &Op) -> Option<(Reg, Edge)> {
        let width_of = |register: Reg| self.function.registers[register].width;
        let (dst, code, operands): (Reg, Code, Vec<(Operand, Width)>) = match op {
            Op::Copy { dst, src } => {
                let width = width_of(*dst);
                return Some((*dst, self.operand(block, *src, width)));
            }
            Op::Select { dst, condition, if_true, if_false } => {
                let width = width_of(*dst);
                let operands = vec![(*condition, Width::B1), (*if_true, width), (*if_false, width)];
                (*dst, Code::Select, operands)
            }
            Op::Concat { dst, parts } => {
                let count = u8::try_from(parts.len()).ok()?;
                let width = Width::from_bits(width_of(*dst).bits() / u32::from(count.max(1)))?;
                let operands = parts.iter().map(|&part| (part, width)).collect();
                (*dst, Code::Concat(count), operands)
            }
            Op::Resize { dst, src, from, signed } => {
                let code = Code::Resize { from: *from, signed: *signed, to: width_of(*dst) };
                (*dst, code, vec![(*src, *from)])
            }
            Op::IntUnary { op: IntUnary::Not, width: Width::B1, dst, a } => {
                return Some((*dst, self.operand(block, *a, Width::B1).flipped(true)));
            }
            Op::IntUnary { op, width, dst, a } => {
                (*dst, Code::Int1(*op, *width), vec![(*a, *width)])
            }
            Op::IntBinary { op, width, dst, a, b } => {
                return self.int_binary(block, *op, *width, *dst, [*a, *b]);
            }
            Op::IntTernary { op, width, dst, a, b, c } => {
                let operands = [a, b, c].map(|&operand| (operand, *width));
                (*dst, Code::Int3(*op, *width), operands.to_vec())
            }
            Op::InsertBits { width, dst, insert, base, position, length } => {
                let operands = vec![
                    (*insert, *width),
                    (*base, *width),
                    (*position, Width::B32),
                    (*length, Width::B32),
                ];
                (*dst, Code::Insert(*width), operands)
            }
            Op::IntCompare { relation, signed, width, dst, a, b } => {
                let operands = [*a, *b].map(|operand| self.operand(block, operand, *width));
                let value = self.int_compare(*relation, *signed, *width, operands)?;
                return Some((*dst, value));
            }
            Op::FloatCompare { relation, format, dst, a, b, .. } => {
                let relation = match relation {
                    FloatRelation::Order { relation, .. } => relation,
                    // There is no NaN.
                    FloatRelation::BothNumbers => return Some((*dst, self.graph.bits(1))),
                    FloatRelation::EitherNan => return Some((*dst, self.graph.bits(0))),
                };
                let width = format.width();
                let [a, b] = [*a, *b].map(|operand| self.operand(block, operand, width));
                let (less, equal) = (Code::Less(*format), Code::Equal(*format));
                let value = self.compare(*relation, [less, equal], [a, b])?;
                return Some((*dst, value));
            }
            Op::FloatTest { property, dst, .. } => {
                let holds = match property {
                    FloatProperty::Finite | FloatProperty::Number => 1,
                    FloatProperty::Infinite | FloatProperty::NotANumber => 0,
                    FloatProperty::Normal | FloatProperty::Subnormal => return None,
                };
                return Some((*dst, self.graph.bits(holds)));
            }
            Op::FloatUnary { .. } | Op::FloatBinary { .. } | Op::Fma { .. } => {
                return self.float(block, op);
            }
            Op::Convert { dst, src, from, to, rounding, saturate, relu: false, .. } => {
                let code = Code::Convert {
                    from: *from,
                    to: *to,
                    rounding: *rounding,
                    // From floats to integers it always does.
                    saturate: *saturate && matches!(to, Scalar::Float(_)),
                };
                (*dst, code, vec![(*src, from.width())])
            }
            _ => return None,
        };
        let operands: Vec<Edge> = operands
            .into_iter()
            .map(|(operand, width)| self.operand(block, operand, width))
            .collect();
        Some((dst, self.graph.op(code, &operands)?))
    }

    fn int_binary(
        &mut self,
        block: BlockId,
        op: IntBinary,
        width: Width,
        dst: Reg,
        [a, b]: [Operand; 2],
    ) -> Option<(Reg, Edge)> {
        let shifts = matches!(op, IntBinary::Shl | IntBinary::Shr { .. });
        let b_width = if shifts { Width::B32 } else { width };
        let (a, b) = (self.operand(block, a, width), self.operand(block, b, b_width));
        let value = match (op, width) {
            (IntBinary::Or, Width::B1) => {
                let neither = [a.flipped(true), b.flipped(true)];
                self.graph.op(Code::Int2(IntBinary::And, width), &neither)?.flipped(true)
            }
            (IntBinary::Sub, Width::B32) => {
                // `a - constant` is a sum.
                match self.constant(b) {
                    Some(bits) => {
                        let opposite = self.graph.bits((bits as u32).wrapping_neg().into());
                        self.graph.op(Code::Int2(IntBinary::Add, width), &[a, opposite])?
                    }
                    None => self.graph.op(Code::Int2(op, width), &[a, b])?,
                }
            }
            _ => self.graph.op(Code::Int2(op, width), &[a, b])?,
        };
        Some((dst, value))
    }

    fn constant(&self, edge: Edge) -> Option<u64> {
        match self.graph.node(edge.node()) {
            super::graph::Node::Bits(bits) if !edge.is_negated() => Some(bits),
            _ => None,
        }
    }

    /// `<` and `=` alone, negated or the other way round.
    fn compare(
        &mut self,
        relation: Relation,
        [less, equal]: [Code; 2],
        [a, b]: [Edge; 2],
    ) -> Option<Edge> {
        let (code, operands, negate) = match relation {
            Relation::Eq => (equal, [a, b], false),
            Relation::Ne => (equal, [a, b], true),
            Relation::Lt => (less, [a, b], false),
            Relation::Ge => (less, [a, b], true),
            Relation::Gt => (less, [b, a], false),
            Relation::Le => (less, [b, a], true),
        };
        Some(self.graph.op(code, &operands)?.flipped(negate))
    }

    /// As [`Self::compare`], and a constant on the right where there is one.
    fn int_compare(
        &mut self,
        relation: Relation,
        signed: bool,
        width: Width,
        [a, b]: [Edge; 2],
    ) -> Option<Edge> {
        let codes = [Code::IntLess { signed, width }, Code::IntEqual(width)];
        let next = self.constant(b).and_then(|bits| {
            let last = if signed { width.mask() >> 1 } else { width.mask() };
            (bits != last).then(|| bits.wrapping_add(1) & width.mask())
        });
        match (relation, next) {
            (Relation::Gt, Some(next)) => {
                let next = self.graph.bits(next);
                Some(self.graph.op(codes[0], &[a, next])?.flipped(true))
            }
            (Relation::Le, Some(next)) => {
                let next = self.graph.bits(next);
                self.graph.op(codes[0], &[a, next])
            }
            _ => self.compare(relation, codes, [a, b]),
        }
    }

    fn float(&mut self, block: BlockId, op: &Op) -> Option<(Reg, Edge)> {
        let (format, lanes, mode, dst, operands) = match op {
            Op::FloatUnary { format, lanes, mode, dst, a, .. } => {
                (*format, *lanes, *mode, *dst, vec![*a])
            }
            Op::FloatBinary { format, lanes, mode, dst, a, b, .. } => {
                (*format, *lanes, *mode, *dst, vec![*a, *b])
            }
            Op::Fma { format, lanes, mode, dst, a, b, c } => {
                (*format, *lanes, *mode, *dst, vec![*a, *b, *c])
            }
            _ => return None,
        };
        let width = Width::from_bits(format.width().bits() * u32::from(lanes))?;
        let whole: Vec<Edge> =
            operands.into_iter().map(|operand| self.operand(block, operand, width)).collect();
        if lanes == 1 {
            return Some((dst, self.scalar(op, format, mode, &whole)?));
        }
        // Numbers side by side: each for itself.
        let mut results = Vec::new();
        for index in 0..lanes {
            let parts: Vec<Edge> =
                whole.iter().map(|&whole| self.lane(whole, index, lanes, format)).collect();
            results.push(self.scalar(op, format, mode, &parts)?);
        }
        Some((dst, self.graph.op(Code::Concat(lanes), &results)?))
    }

    fn lane(&mut self, whole: Edge, index: u8, lanes: u8, format: ir::Format) -> Edge {
        match self.constant(whole) {
            Some(bits) => {
                let shift = u32::from(index) * format.width().bits();
                self.graph.bits(bits >> shift & format.width().mask())
            }
            None => self.part(whole, index, lanes),
        }
    }

    fn scalar(
        &mut self,
        op: &Op,
        format: ir::Format,
        mode: FloatMode,
        operands: &[Edge],
    ) -> Option<Edge> {
        if mode.relu {
            return None;
        }
        let rounding = mode.rounding;
        let value = match (op, operands) {
            (Op::FloatUnary { op: FloatUnary::Negate, .. }, [a]) => a.flipped(true),
            (Op::FloatUnary { op, .. }, _) => {
                self.graph.op(Code::Float1(*op, format, rounding), operands)?
            }
            (Op::FloatBinary { op: FloatBinary::Add, .. }, _) => {
                self.graph.op(Code::Add(format, rounding), operands)?
            }
            (Op::FloatBinary { op: FloatBinary::Sub, .. }, [a, b]) => {
                self.graph.op(Code::Add(format, rounding), &[*a, b.flipped(true)])?
            }
            (Op::FloatBinary { op: FloatBinary::Mul, .. }, _) => {
                self.graph.op(Code::Mul(format, rounding), operands)?
            }
            (
                Op::FloatBinary {
                    op:
                        FloatBinary::Min { xor_sign_abs: true, .. }
                        | FloatBinary::Max { xor_sign_abs: true, .. },
                    ..
                },
                _,
            ) => return None,
            (Op::FloatBinary { op, .. }, _) => {
                self.graph.op(Code::Float2(*op, format), operands)?
            }
            (Op::Fma { .. }, _) => self.graph.op(Code::Fma(format, rounding), operands)?,
            _ => return None,
        };
        if !mode.saturate {
            return Some(value);
        }
        let scalar = Scalar::Float(format);
        let code = Code::Convert { from: scalar, to: scalar, rounding, saturate: true };
        self.graph.op(code, &[value])
    }
}

/// Calls `note` for every register an operation writes.
pub(crate) fn written(op: &Op, note: &mut dyn FnMut(Reg)) {
    op.visit(&mut |access| {
        if let ir::Access::Write(register) = access {
            note(register);
        }
    });
}
