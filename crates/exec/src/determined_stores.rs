//! Stores whose address determines their value, found in the kernel's text.
//!
//! Threads often copy the same element of an input to the same place: `s[i % 8] = x[i % 8]`, eight times in a warp. That
//! is harmless, because they write the same. A run without a domain does not know the values, and a run on numbered
//! values costs as much as the check itself. Here the equality follows from the text alone, for two executions of one
//! instruction by threads of one block, at any time:
//!
//! - Within its basic block, the address is computed from one number, the *key*, by steps that are injective: a fixed
//!   number is added, or the key is multiplied by a constant and the product does not wrap around. So equal addresses
//!   come from equal keys.
//! - The value is computed from the same key: it is loaded from an address computed from it, in a buffer that the launch
//!   only reads. So equal keys give equal values.
//!
//! *Fixed* numbers are the same in all threads of a block at all times: constants, parameters, addresses of variables,
//! positions and sizes of the block. A register is fixed if its only definition in the kernel is, stands in the entry
//! block, and follows those of its operands there: then each thread executes it before any use in another block. Between
//! two barriers or in different iterations other registers may differ, so they are keys or nothing.
//!
//! Errs towards "not determined": an unknown step ends the derivation. Blocks of a cluster may store to each other's
//! memory, and their fixed numbers differ, so nothing is determined there.

use crate::address::{Area, Pointer};
use crate::lanes::WARP;
use crate::launch::{Access as Permission, Launch};
use crate::machine::Machine;
use crate::memory::Word;
use base::Index;
use ir::{
    Access, AddressBase, Block, Dimension, Function, Instr, IntBinary, Load, Op, Operand, Reg,
    Space, SpecialRegister, Store, Width,
};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use sync::Site;

/// The most values that are visited for a store. Addresses of real kernels have a dozen.
const MAX_VISITED: usize = 128;

/// The longest chain of operations that is followed.
const DEEPEST: usize = 16;

/// The longest chain of definitions of registers from before a block.
const MAX_DEFINITIONS: usize = 6;

/// The number of a value of a basic block.
type Number = usize;

/// A value in a basic block.
struct Value<'p> {
    width: Width,
    source: Source<'p>,
}

/// The origin of a value.
#[derive(Clone)]
enum Source<'p> {
    Constant(u64),
    /// The same in all threads of a block, at all times. `read_only` is set for the address of a buffer that no thread
    /// of the launch writes.
    Fixed {
        read_only: bool,
    },
    /// Differs between threads.
    Special(SpecialRegister),
    /// An operation on registers without other inputs.
    Operation(&'p Op, SmallVec<[Number; 2]>),
    /// A part of a load at an address in a register.
    Loaded(Number),
    Other,
}

/// The number that an address determines.
#[derive(Clone, Copy)]
enum Key {
    /// None: the address is the same in all threads.
    Fixed,
    Of(Number),
}

/// Returns the stores of the kernel whose address determines their value.
pub(crate) fn find(machine: &Machine<'_>) -> FxHashSet<Site> {
    let kernel = machine.kernel();
    let is_candidate = |one: &Instr| candidate(&one.op).is_some();
    if machine.blocks > 1 || !kernel.instructions().any(is_candidate) {
        return FxHashSet::default();
    }
    let definitions = single_definitions(kernel);
    // Nothing is defined before the entry block.
    let none = Definitions::default();
    let mut found = FxHashSet::default();
    for (id, block) in kernel.blocks.enumerate() {
        if block.instructions.iter().any(is_candidate) {
            let first = machine.codes[machine.launch.kernel].first[id];
            let before = if id.position() == 0 { &none } else { &definitions };
            let mut values = Values::new(machine, before);
            for index in values.determined(block) {
                found.insert(first + index as Site);
            }
        }
    }
    found
}

impl Machine<'_> {
    /// Returns `true` if the address of a store determines its value. Other blocks have other fixed numbers, and only
    /// threads of one block share its memory.
    #[inline]
    pub(crate) fn is_determined(&self, site: Site, area: Area) -> bool {
        matches!(area, Area::Shared(_)) && self.determined_stores.contains(&site)
    }
}

/// Returns the address register and the source of a store of one register that may go to shared memory.
fn candidate(op: &Op) -> Option<(Reg, Reg)> {
    let Op::Store(Store { srcs, space: Space::Shared | Space::Generic, address, .. }) = op else {
        return None;
    };
    match (address.base, &srcs[..]) {
        (AddressBase::Register(base), [Operand::Register(source)]) => Some((base, *source)),
        _ => None,
    }
}

/// The only definitions of registers, with their positions in the entry block.
type Definitions<'p> = FxHashMap<Reg, (usize, &'p Op)>;

/// Returns the only definition of each register that has one, in the entry block and without a guard. Every thread
/// executes it before all other blocks.
fn single_definitions(kernel: &Function) -> Definitions<'_> {
    let mut definitions: FxHashMap<Reg, Option<(usize, &Op)>> = FxHashMap::default();
    for (id, block) in kernel.blocks.enumerate() {
        for (position, instruction) in block.instructions.iter().enumerate() {
            let is_early = id.position() == 0 && instruction.guard.is_none();
            let definition = is_early.then_some((position, &instruction.op));
            instruction.op.visit(&mut |access| {
                if let Access::Write(register) = access {
                    let known = definitions.contains_key(&register);
                    definitions.insert(register, definition.filter(|_| !known));
                }
            });
        }
    }
    definitions.into_iter().filter_map(|(register, one)| Some((register, one?))).collect()
}

/// The values of a basic block.
struct Values<'m, 'p> {
    machine: &'m Machine<'p>,
    definitions: &'m Definitions<'p>,
    all: Vec<Value<'p>>,
    registers: FxHashMap<Reg, Number>,
}

impl<'m, 'p> Values<'m, 'p> {
    fn new(machine: &'m Machine<'p>, definitions: &'m Definitions<'p>) -> Self {
        Self { machine, definitions, all: Vec::new(), registers: FxHashMap::default() }
    }

    /// Returns the positions of the determined stores of a block.
    fn determined(&mut self, block: &'p Block) -> Vec<usize> {
        let mut found = Vec::new();
        for (index, instruction) in block.instructions.iter().enumerate() {
            if let Some((address, source)) = candidate(&instruction.op) {
                let (address, source) = (self.of_register(address), self.of_register(source));
                let key = self.key(address);
                found.extend(self.depends_only_on(key, source, &mut 0).then_some(index));
            }
            self.execute(instruction);
        }
        found
    }

    fn add(&mut self, width: Width, source: Source<'p>) -> Number {
        self.all.push(Value { width, source });
        self.all.len() - 1
    }

    fn width(&self, register: Reg) -> Width {
        self.machine.layouts[self.machine.launch.kernel].width(register)
    }

    /// The value of a register. At its first use in the block that is one from before the block.
    fn of_register(&mut self, register: Reg) -> Number {
        if let Some(&known) = self.registers.get(&register) {
            return known;
        }
        let source = self.before_block(register, usize::MAX, 0);
        let number = self.add(self.width(register), source);
        self.registers.insert(register, number);
        number
    }

    fn of_operand(&mut self, operand: Operand, width: Width) -> Number {
        match operand {
            Operand::Register(register) => self.of_register(register),
            Operand::Constant(bits) => self.add(width, Source::Constant(bits & width.mask())),
        }
    }

    /// The source of a register from before the block, by its only definition, if that comes before a position in the
    /// entry block.
    fn before_block(&self, register: Reg, end: usize, depth: usize) -> Source<'p> {
        match self.definitions.get(&register) {
            Some(&(position, op)) if position < end && depth < MAX_DEFINITIONS => match op {
                Op::Copy { src: Operand::Constant(bits), .. } => {
                    Source::Constant(bits & self.width(register).mask())
                }
                Op::Copy { src: Operand::Register(src), .. }
                | Op::ConvertAddress { src: Operand::Register(src), .. } => {
                    match self.before_block(*src, position, depth + 1) {
                        fixed @ Source::Fixed { .. } => fixed,
                        _ => Source::Other,
                    }
                }
                Op::Resize { src, .. } => self.combined(op, &[*src], position, depth),
                Op::IntBinary { a, b, .. } => self.combined(op, &[*a, *b], position, depth),
                op => self.without_operands(op, register),
            },
            _ => Source::Other,
        }
    }

    /// The source of an operation on registers from before the block: fixed if all its operands are.
    fn combined(&self, op: &Op, operands: &[Operand], end: usize, depth: usize) -> Source<'p> {
        let mut points = false;
        for operand in operands {
            let Operand::Register(register) = *operand else { continue };
            match self.before_block(register, end, depth + 1) {
                Source::Constant(_) => {}
                Source::Fixed { read_only } => points |= read_only,
                _ => return Source::Other,
            }
        }
        Source::Fixed { read_only: points && keeps_buffer(op) }
    }

    /// The source of a result of an operation that reads no registers.
    fn without_operands(&self, op: &Op, register: Reg) -> Source<'p> {
        use SpecialRegister::{Ctaid, Nctaid, Ntid};
        match op {
            Op::ReadSpecial { special: Ctaid(_) | Nctaid(_) | Ntid(_), .. }
            | Op::AddressOf { .. } => Source::Fixed { read_only: false },
            Op::ReadSpecial { special, .. } => Source::Special(*special),
            Op::Load(load) => match self.parameter(load, register) {
                Some(source) => source,
                None => Source::Other,
            },
            _ => Source::Other,
        }
    }

    /// The source of a kernel parameter, loaded to a register.
    fn parameter(&self, load: &Load, register: Reg) -> Option<Source<'p>> {
        let AddressBase::Variable(variable) = load.address.base else { return None };
        let &Area::Param(number) = self.machine.areas.get(&variable)? else { return None };
        let memory = self.machine.params.get(number)?;
        let position = load.dsts.iter().position(|dst| *dst == Some(register))?;
        let offset = load.address.offset + (position as i64) * i64::from(load.width.bytes());
        let read_only = load.width == Width::B64 && {
            let start = memory.inside(offset, Width::B64.bytes())?;
            match memory.load(start, 8) {
                (address, Word::Pointer) => is_read_only(self.machine.launch, address),
                _ => false,
            }
        };
        Some(Source::Fixed { read_only })
    }

    /// Records the results of an instruction.
    fn execute(&mut self, instruction: &'p Instr) {
        // Under a guard, some lanes keep what they had.
        let op = instruction.guard.is_none().then_some(&instruction.op);
        if let Some(&Op::Copy { dst, src: Operand::Register(src) }) = op
            && self.width(dst) == self.width(src)
        {
            let copied = self.of_register(src);
            self.registers.insert(dst, copied);
            return;
        }
        let operation = op.and_then(|op| self.operation(op));
        let address = match op {
            Some(Op::Load(Load { space: Space::Global | Space::Generic, address, .. })) => {
                match address.base {
                    AddressBase::Register(base) => Some(self.of_register(base)),
                    _ => None,
                }
            }
            _ => None,
        };
        let mut written: SmallVec<[Reg; 4]> = SmallVec::new();
        instruction.op.visit(&mut |access| {
            if let Access::Write(register) = access {
                written.push(register);
            }
        });
        for register in written {
            let source = match (op, address, &operation) {
                (_, Some(address), _) => Source::Loaded(address),
                (_, _, Some(operation)) => operation.clone(),
                (Some(op), ..) => self.without_operands(op, register),
                (None, ..) => Source::Other,
            };
            let number = self.add(self.width(register), source);
            self.registers.insert(register, number);
        }
    }

    /// The source of the result of an operation on registers alone.
    fn operation(&mut self, op: &'p Op) -> Option<Source<'p>> {
        let numbers = match op {
            Op::Copy { dst, src } | Op::ConvertAddress { dst, src, .. } => {
                let width = self.width(*dst);
                [self.of_operand(*src, width)].into_iter().collect()
            }
            Op::Resize { src, from, .. } => [self.of_operand(*src, *from)].into_iter().collect(),
            Op::IntBinary { op, width, a, b, .. } if *width != Width::B1 => {
                let shifts = matches!(op, IntBinary::Shl | IntBinary::Shr { .. });
                let of_b = if shifts { Width::B32 } else { *width };
                [self.of_operand(*a, *width), self.of_operand(*b, of_b)].into_iter().collect()
            }
            _ => return None,
        };
        Some(Source::Operation(op, numbers))
    }

    /// Returns the number that an address determines: at least itself.
    fn key(&self, address: Number) -> Key {
        let mut key = address;
        while let Some(before) = self.injective_step(key) {
            key = before;
        }
        if self.is_fixed(key, 0) { Key::Fixed } else { Key::Of(key) }
    }

    /// Returns the operand of an operation whose result determines that operand, because the other is fixed.
    fn injective_step(&self, number: Number) -> Option<Number> {
        let Value { width: to, source: Source::Operation(op, operands) } = &self.all[number] else {
            return None;
        };
        match (op, &operands[..]) {
            (Op::Resize { from, .. }, &[src]) => {
                (self.all[src].width == *from && *to >= *from).then_some(src)
            }
            (Op::IntBinary { op, width, .. }, &[a, b]) => {
                let (step, fixed) = match (self.is_fixed(a, 0), self.is_fixed(b, 0)) {
                    (false, true) => (a, b),
                    (true, false) => (b, a),
                    _ => return None,
                };
                let factor = self.constant(fixed);
                let fits = |factor: u64| {
                    let most = self.bound(step, 0).checked_mul(factor);
                    factor != 0 && most.is_some_and(|most| most <= width.mask())
                };
                let is_injective = match op {
                    IntBinary::Add | IntBinary::Sub | IntBinary::Xor => true,
                    IntBinary::Mul => factor.is_some_and(fits),
                    IntBinary::MulWide { .. } => {
                        *width <= Width::B32 && factor.is_some_and(|one| one & width.mask() != 0)
                    }
                    IntBinary::Shl => {
                        let amount = factor.filter(|&by| step == a && by < u64::from(width.bits()));
                        amount.is_some_and(|by| fits(1 << by))
                    }
                    _ => false,
                };
                (is_injective && self.all[step].width == *width).then_some(step)
            }
            _ => None,
        }
    }

    fn constant(&self, number: Number) -> Option<u64> {
        match self.all[number].source {
            Source::Constant(bits) => Some(bits),
            _ => None,
        }
    }

    /// Returns `true` if a value is the same in all threads of the block, at all times.
    fn is_fixed(&self, number: Number, depth: usize) -> bool {
        match &self.all[number].source {
            Source::Constant(_) | Source::Fixed { .. } => true,
            Source::Operation(_, operands) if depth < DEEPEST => {
                operands.iter().all(|&operand| self.is_fixed(operand, depth + 1))
            }
            _ => false,
        }
    }

    /// Returns the largest number that a value may be, read as unsigned.
    fn bound(&self, number: Number, depth: usize) -> u64 {
        let Value { width, source } = &self.all[number];
        let of = |operand: Number| self.bound(operand, depth + 1);
        // A sum or product that wraps around may be anything.
        let within = |width: Width, bound: Option<u64>| {
            bound.filter(|&bound| bound <= width.mask()).unwrap_or(u64::MAX)
        };
        let last = |sizes: [u32; 3], axis: Dimension| u64::from(sizes[axis as usize]).max(1) - 1;
        let bound = match source {
            Source::Constant(bits) => *bits,
            Source::Special(SpecialRegister::Tid(axis)) => last(self.machine.launch.block, *axis),
            Source::Special(SpecialRegister::Laneid) => WARP as u64 - 1,
            Source::Operation(op, operands) if depth < DEEPEST => match (op, &operands[..]) {
                (Op::Resize { from, signed: false, .. }, &[a]) => of(a).min(from.mask()),
                (Op::IntBinary { op, width, .. }, &[a, b]) => match (op, self.constant(b)) {
                    (IntBinary::Add, _) => within(*width, of(a).checked_add(of(b))),
                    (IntBinary::Mul, _) => within(*width, of(a).checked_mul(of(b))),
                    (IntBinary::Shl, Some(by)) if by < 32 => {
                        within(*width, of(a).checked_mul(1 << by))
                    }
                    (IntBinary::And, _) => of(a).min(of(b)),
                    (IntBinary::Shr { signed: false }, Some(by)) if by < 64 => of(a) >> by,
                    (IntBinary::Rem { signed: false }, Some(by)) if by > 0 => of(a).min(by - 1),
                    _ => u64::MAX,
                },
                _ => u64::MAX,
            },
            _ => u64::MAX,
        };
        bound.min(width.mask())
    }

    /// Returns `true` if a value is a function of the key and of fixed numbers.
    fn depends_only_on(&self, key: Key, number: Number, visited: &mut usize) -> bool {
        *visited += 1;
        if *visited > MAX_VISITED {
            return false;
        }
        if matches!(key, Key::Of(key) if key == number) {
            return true;
        }
        match &self.all[number].source {
            Source::Constant(_) | Source::Fixed { .. } => true,
            Source::Operation(_, operands) => {
                operands.iter().all(|&operand| self.depends_only_on(key, operand, visited))
            }
            Source::Loaded(address) => {
                self.points_to_input(*address, 0) && self.depends_only_on(key, *address, visited)
            }
            Source::Special(_) | Source::Other => false,
        }
    }

    /// Returns `true` if an address, if it is one, points into a buffer that no thread writes. Sums and differences of
    /// a pointer and numbers stay in its buffer, or an access is an error.
    fn points_to_input(&self, address: Number, depth: usize) -> bool {
        match &self.all[address].source {
            Source::Fixed { read_only } => *read_only,
            Source::Operation(op, operands) if depth < DEEPEST => {
                keeps_buffer(op) && operands.iter().any(|&one| self.points_to_input(one, depth + 1))
            }
            _ => false,
        }
    }
}

/// Returns `true` if the result of an operation on a pointer, if it is one, points into the same buffer.
fn keeps_buffer(op: &Op) -> bool {
    let adds = matches!(op, Op::IntBinary { op: IntBinary::Add | IntBinary::Sub, .. });
    adds || matches!(op, Op::ConvertAddress { .. })
}

/// Returns `true` if an address points into a buffer that no thread writes.
fn is_read_only(launch: &Launch, address: u64) -> bool {
    let pointer = Pointer::decode(address, Space::Global);
    match pointer.map(|pointer| pointer.area) {
        Some(Area::Global(number)) => {
            launch.buffers.get(number).is_some_and(|buffer| buffer.access == Permission::In)
        }
        _ => false,
    }
}
