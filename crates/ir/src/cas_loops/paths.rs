//! Symbolic execution of the paths through a loop of compare-and-swap in several blocks.
//!
//! A path begins in front of the loop or at its first block, and ends at its first block or behind the loop. Registers
//! hold [`Node`]s: values from before the region, constants, numbers read from the bytes that the loop swaps, and
//! results of operations on them. A path remembers the comparisons that its branches decided.
//!
//! Errs towards "no such loop": [`walk`] returns `None` for anything that it does not follow.

use super::is_weak_load;
use crate::liveness::registers;
use crate::{
    Access, Address, AddressBase, Atomic, BlockId, FloatRelation, Format, Function, Instr,
    IntBinary, IntUnary, Load, Op, Operand, Ordering, Reg, Relation, Space, Symbol, Terminator,
    Width,
};
use std::collections::BTreeMap;

/// The number of a node.
pub(super) type Value = usize;

/// An instruction's block and position.
pub(super) type Place = (BlockId, usize);

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Node {
    /// The value of a register in front of the region.
    Before(Reg),
    Constant(u64),
    /// A number read from the bytes that the loop swaps, by a load or by a swap.
    Read(u32),
    /// A register written by an instruction, with the operands of the instruction.
    Result(Place, Reg, Vec<(OperandKey, Value)>),
}

/// An operand that can be sorted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum OperandKey {
    Register(Reg),
    Constant(u64),
}

impl From<Operand> for OperandKey {
    fn from(operand: Operand) -> Self {
        match operand {
            Operand::Register(register) => Self::Register(register),
            Operand::Constant(bits) => Self::Constant(bits),
        }
    }
}

/// The number that the loop's first block finds in the registers that carry the guess.
pub(super) const GUESS: u32 = u32::MAX;

/// An order or equality of two values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Comparison {
    pub relation: Relation,
    /// Integers: `true` if signed. Floats: their format, and `true` if it holds for NaN.
    pub of: Compared,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Compared {
    Integers { signed: bool, width: Width },
    Floats { format: Format, or_unordered: bool, flush: bool },
}

impl Comparison {
    /// The comparison of an instruction, with its operands.
    pub(super) fn of(op: &Op) -> Option<(Self, [Operand; 2])> {
        match *op {
            Op::IntCompare { relation, signed, width, a, b, .. } => {
                Some((Self { relation, of: Compared::Integers { signed, width } }, [a, b]))
            }
            Op::FloatCompare {
                relation: FloatRelation::Order { relation, or_unordered },
                format,
                flush,
                a,
                b,
                ..
            } => {
                let of = Compared::Floats { format, or_unordered, flush };
                Some((Self { relation, of }, [a, b]))
            }
            _ => None,
        }
    }

    /// Holds if this one does not.
    pub(super) fn negated(self) -> Self {
        let of = match self.of {
            Compared::Floats { format, or_unordered, flush } => {
                Compared::Floats { format, or_unordered: !or_unordered, flush }
            }
            integers @ Compared::Integers { .. } => integers,
        };
        Self { relation: self.relation.negated(), of }
    }

    pub(super) fn swapped(self) -> Self {
        Self { relation: self.relation.swapped(), ..self }
    }

    /// Returns `true` if the other holds wherever this one does.
    pub(super) fn implies(self, other: Self) -> bool {
        let relation = self.relation == other.relation
            || matches!(
                (self.relation, other.relation),
                (Relation::Lt, Relation::Le) | (Relation::Gt, Relation::Ge)
            );
        let of = match (self.of, other.of) {
            (Compared::Integers { .. }, Compared::Integers { .. }) => self.of == other.of,
            (
                Compared::Floats { format: a, or_unordered: x, flush: f },
                Compared::Floats { format: b, or_unordered: y, flush: g },
            ) => a == b && f == g && (y || !x),
            _ => false,
        };
        relation && of
    }
}

/// A comparison of two values that holds on a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Fact {
    pub comparison: Comparison,
    pub sides: [Value; 2],
}

impl Fact {
    /// The comparison of `a` with `b`, if the fact is about these two.
    pub(super) fn between(self, a: Value, b: Value) -> Option<Comparison> {
        match self.sides {
            sides if sides == [a, b] => Some(self.comparison),
            sides if sides == [b, a] => Some(self.comparison.swapped()),
            _ => None,
        }
    }

    fn contradicts(&self, other: &Self) -> bool {
        let same = other.between(self.sides[0], self.sides[1]);
        same.is_some_and(|other| other == self.comparison.negated())
    }
}

/// The swap that a path executes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Swap {
    pub compared: Value,
    pub new: Value,
    /// The number that the swap found.
    pub old: Value,
    /// The facts known before it.
    pub facts: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum End {
    /// The first block of the loop.
    Loop,
    /// Behind the loop.
    Exit,
}

#[derive(Clone, Debug)]
pub(super) struct Path {
    pub registers: BTreeMap<Reg, Value>,
    pub facts: Vec<Fact>,
    pub swap: Option<Swap>,
    pub end: End,
}

/// An instruction that some path executes.
pub(super) struct Visit {
    /// Its number, in the order of the first visits.
    pub order: usize,
    /// Set if it depends on the swapped number.
    pub depends: bool,
}

/// The blocks to execute, and the swap in them.
pub(super) struct Region<'f> {
    pub function: &'f Function,
    /// The blocks of the loop, and those in front of it that belong to the update.
    pub inside: Vec<BlockId>,
    /// The first block of the loop.
    pub header: BlockId,
    pub swap_at: Place,
    pub swap: &'f Atomic,
    /// The address of the swap ([`canonical`]).
    pub address: Address,
}

/// The address, by the variable's name if its register only ever has the address of a variable.
pub(super) fn canonical(function: &Function, address: Address) -> Address {
    let AddressBase::Register(mut base) = address.base else { return address };
    for _ in 0..MAX_COPIES {
        let mut writers =
            function.instructions().filter(|instruction| registers(instruction).0.contains(&base));
        let (only, None) = (writers.next().map(|one| &one.op), writers.next()) else {
            return address;
        };
        match only {
            Some(Op::Copy { src: Operand::Register(src), .. }) => base = *src,
            Some(Op::AddressOf { symbol: Symbol::Variable(variable), offset, .. }) => {
                let offset = address.offset.wrapping_add(*offset);
                return Address { base: AddressBase::Variable(*variable), offset };
            }
            _ => return address,
        }
    }
    address
}

/// Most copies between the address of a variable and its use.
const MAX_COPIES: usize = 4;

/// All paths and their nodes.
pub(super) struct Walk<'f> {
    pub region: Region<'f>,
    nodes: Vec<Node>,
    ids: BTreeMap<Node, Value>,
    reads: u32,
    /// Registers that are copies of others at the start.
    pub initial: BTreeMap<Reg, Value>,
    pub visited: BTreeMap<Place, Visit>,
    pub paths: Vec<Path>,
}

const MAX_PATHS: usize = 64;
const MAX_LENGTH: usize = 400;

impl<'f> Walk<'f> {
    pub(super) fn new(region: Region<'f>) -> Self {
        Self {
            region,
            nodes: Vec::new(),
            ids: BTreeMap::new(),
            reads: 0,
            initial: BTreeMap::new(),
            visited: BTreeMap::new(),
            paths: Vec::new(),
        }
    }

    pub(super) fn node(&self, value: Value) -> &Node {
        &self.nodes[value]
    }

    pub(super) fn add(&mut self, node: Node) -> Value {
        if let Some(&id) = self.ids.get(&node) {
            return id;
        }
        self.nodes.push(node.clone());
        self.ids.insert(node, self.nodes.len() - 1);
        self.nodes.len() - 1
    }

    /// Finds the registers that are copies of others at a place, by the copies in front of it in its block.
    pub(super) fn find_copies(&mut self, (block, at): Place) {
        let mut copies: BTreeMap<Reg, Value> = BTreeMap::new();
        for instruction in &self.region.function.blocks[block].instructions[..at] {
            let copied = match &instruction.op {
                Op::Copy { src, .. } if instruction.guard.is_none() => Some(*src),
                _ => None,
            };
            let copied = copied.map(|src| match src {
                Operand::Register(src) => {
                    copies.get(&src).copied().unwrap_or_else(|| self.add(Node::Before(src)))
                }
                Operand::Constant(bits) => self.add(Node::Constant(bits)),
            });
            for written in registers(instruction).0 {
                // Forget copies of the overwritten number.
                let overwritten = self.add(Node::Before(written));
                copies.retain(|register, value| *register != written && *value != overwritten);
                if let Some(value) = copied.filter(|value| *value != overwritten) {
                    copies.insert(written, value);
                }
            }
        }
        self.initial = copies;
    }

    /// The number of reads so far.
    pub(super) fn reads(&self) -> u32 {
        self.reads
    }

    fn read(&mut self) -> Value {
        self.reads += 1;
        self.add(Node::Read(self.reads))
    }

    /// The value of an operand.
    fn operand(&mut self, registers: &BTreeMap<Reg, Value>, operand: Operand) -> Value {
        match operand {
            Operand::Constant(bits) => self.add(Node::Constant(bits)),
            Operand::Register(register) => match registers.get(&register) {
                Some(&value) => value,
                None => self.add(Node::Before(register)),
            },
        }
    }

    /// Returns `true` if a value depends on memory that the loop swaps.
    pub(super) fn depends(&self, value: Value) -> bool {
        match &self.nodes[value] {
            Node::Read(_) => true,
            Node::Result(_, _, operands) => operands.iter().any(|(_, value)| self.depends(*value)),
            Node::Before(_) | Node::Constant(_) => false,
        }
    }

    /// The value that an instruction's operand had.
    pub(super) fn operand_of(
        &self,
        operands: &[(OperandKey, Value)],
        of: Operand,
    ) -> Option<Value> {
        operands.iter().find(|(key, _)| *key == of.into()).map(|(_, value)| *value)
    }

    /// Follows all paths from here; `None` if some instruction is not understood, or there are too many.
    pub(super) fn walk(&mut self, (block, from): Place, path: Path) -> Option<()> {
        let mut work = vec![(block, from, path, 0)];
        while let Some((block, from, mut path, length)) = work.pop() {
            if length > MAX_LENGTH || self.paths.len() + work.len() > MAX_PATHS {
                return None;
            }
            let data = &self.region.function.blocks[block];
            for (position, instruction) in data.instructions.iter().enumerate().skip(from) {
                self.step((block, position), instruction, &mut path)?;
            }
            let length = length + data.instructions.len() + 1 - from;
            match &data.terminator {
                Terminator::Jump(next) => work.extend(self.enter(*next, path, length)),
                Terminator::Branch { guard, then, otherwise, .. } => {
                    let condition = self.operand(&path.registers, guard.register.into());
                    for (next, outcome) in [(*otherwise, guard.negated), (*then, !guard.negated)] {
                        let mut taken = path.clone();
                        if self.learn(condition, outcome, &mut taken.facts) {
                            work.extend(self.enter(next, taken, length));
                        }
                    }
                }
                _ => return None,
            }
        }
        Some(())
    }

    /// Continues a path at a block, or ends it.
    fn enter(
        &mut self,
        next: BlockId,
        mut path: Path,
        length: usize,
    ) -> Option<(BlockId, usize, Path, usize)> {
        if next != self.region.header && self.region.inside.contains(&next) {
            return Some((next, 0, path, length));
        }
        path.end = if next == self.region.header { End::Loop } else { End::Exit };
        self.paths.push(path);
        None
    }

    /// Adds what a decided predicate tells; `false` if the path cannot be taken.
    fn learn(&self, condition: Value, outcome: bool, facts: &mut Vec<Fact>) -> bool {
        let Node::Result(place, _, operands) = &self.nodes[condition] else { return true };
        let op = &self.region.function.blocks[place.0].instructions[place.1].op;
        if let Some((comparison, sides)) = Comparison::of(op) {
            let comparison = if outcome { comparison } else { comparison.negated() };
            let [Some(a), Some(b)] = sides.map(|side| self.operand_of(operands, side)) else {
                return true;
            };
            let fact = Fact { comparison, sides: [a, b] };
            facts.push(fact);
            return !facts.iter().any(|other| other.contradicts(&fact));
        }
        let both = |op: IntBinary| {
            (op, outcome) == (IntBinary::And, true) || (op, outcome) == (IntBinary::Or, false)
        };
        match op {
            Op::IntBinary { op, a, b, .. } if both(*op) => [*a, *b].iter().all(|&side| {
                self.operand_of(operands, side).is_none_or(|side| self.learn(side, outcome, facts))
            }),
            Op::IntUnary { op: IntUnary::Not, width: Width::B1, a, .. } => {
                self.operand_of(operands, *a).is_none_or(|a| self.learn(a, !outcome, facts))
            }
            _ => true,
        }
    }

    /// Executes an instruction.
    fn step(&mut self, place: Place, instruction: &Instr, path: &mut Path) -> Option<()> {
        if instruction.guard.is_some() {
            return None;
        }
        let order = self.visited.len();
        let depends = self
            .operands(&instruction.op, &path.registers)
            .iter()
            .any(|(_, value)| self.depends(*value));
        let reads = !instruction.op.is_of_registers() && place == self.region.swap_at
            || matches!(&instruction.op, Op::Load(load) if self.is_read(load, &path.registers));
        self.visited.entry(place).or_insert(Visit { order, depends: false }).depends |=
            depends || reads;
        match &instruction.op {
            Op::Copy { dst, src } => {
                let value = self.operand(&path.registers, *src);
                path.registers.insert(*dst, value);
            }
            Op::Atomic(swap) if place == self.region.swap_at => {
                self.same_address(swap.address, &path.registers).then_some(())?;
                let compared = self.operand(&path.registers, *swap.a.first()?);
                let new = self.operand(&path.registers, swap.b?);
                let old = self.read();
                let facts = path.facts.len();
                path.swap.is_none().then_some(())?;
                path.swap = Some(Swap { compared, new, old, facts });
                path.registers.insert((*swap.dsts.first()?)?, old);
            }
            Op::Load(load) if self.is_read(load, &path.registers) => {
                let read = self.read();
                path.registers.insert((*load.dsts.first()?)?, read);
            }
            op if op.is_of_registers() || is_weak_load(op) => {
                let changes = matches!(op, Op::Opaque { .. } | Op::ReadSpecial { .. });
                (!changes && !op.may_divide_by_zero()).then_some(())?;
                let operands = self.operands(op, &path.registers);
                let loads = is_weak_load(op);
                // A load behind the swap sees writes of other threads.
                (!loads || path.swap.is_none()).then_some(())?;
                (!loads || !operands.iter().any(|(_, value)| self.depends(*value))).then_some(())?;
                for written in registers(instruction).0 {
                    let value = self.add(Node::Result(place, written, operands.clone()));
                    path.registers.insert(written, value);
                }
            }
            _ => return None,
        }
        Some(())
    }

    fn operands(&mut self, op: &Op, registers: &BTreeMap<Reg, Value>) -> Vec<(OperandKey, Value)> {
        let mut read = Vec::new();
        op.visit(&mut |access| match access {
            Access::Read(operand) => read.push(operand),
            Access::Address(Address { base: AddressBase::Register(register), .. }) => {
                read.push(Operand::Register(register));
            }
            _ => {}
        });
        read.into_iter().map(|one| (one.into(), self.operand(registers, one))).collect()
    }

    /// Returns `true` for a load of the bytes that the loop swaps.
    fn is_read(&self, load: &Load, registers: &BTreeMap<Reg, Value>) -> bool {
        let swap = self.region.swap;
        let ordering =
            matches!(load.ordering, Ordering::Weak | Ordering::Volatile | Ordering::Relaxed(_));
        let one = matches!(load.dsts.as_slice(), [Some(_)]);
        let same: (Space, Width) = (load.space, load.width);
        ordering
            && one
            && !load.non_coherent
            && same == (swap.space, swap.scalar.width())
            && self.same_address(load.address, registers)
    }

    /// Returns `true` if an address is the swap's, whose register the region does not write.
    fn same_address(&self, address: Address, registers: &BTreeMap<Reg, Value>) -> bool {
        let address = canonical(self.region.function, address);
        let fixed = match address.base {
            AddressBase::Register(register) => {
                registers.get(&register) == self.initial.get(&register)
            }
            _ => true,
        };
        fixed && address == self.region.address
    }
}
