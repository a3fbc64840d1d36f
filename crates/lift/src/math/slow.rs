//! Recognises the library's slow paths: sines and `fmodf` of large arguments.
//!
//! Sines of arguments from 105615 on are reduced by the method of Payne and Hanek: a product with the bits of 2/π in
//! local memory, of which the exponent chooses three words. `fmodf` subtracts multiples in a loop. No graph of values
//! shows that. So the blocks between the branch and its join are printed as text, with registers numbered by first
//! appearance, and compared with `tables/slow.txt`: every instruction, constant, table and branch must be the same.
//! Inputs must be the argument (or `|x|`), a constant, or the address of local memory or of a table. Outputs must be
//! those that the function's expansion uses; nothing else may be read later. Nothing but such blocks may read local
//! memory. Constants and addresses may be computed anywhere ([`canonical()`]): loops have them in front. Entries are
//! trusted like those of the other tables: `tests/functions.rs` runs each.

mod canonical;
mod names;

use super::graph::{Code, Edge, Node};
use super::values::{Values, for_each_write};
use crate::branches::Liveness;
use crate::cleanup::is_pure;
use crate::flow::Flow;
use canonical::canonical;
use ir::{
    Access, BlockId, FloatUnary, Function, Instr, IntBinary, Op, Operand, Printed, Program, Reg,
    Space, Symbol, Terminator, VarId,
};
use names::Names;
use std::collections::BTreeSet;
use std::sync::LazyLock;

const TABLE: &str = include_str!("tables/slow.txt");

/// Limit on the blocks of a region.
const MAX_BLOCKS: usize = 24;

/// The blocks on one side of a branch, up to its join.
#[derive(Clone, Debug)]
pub(crate) struct Region {
    /// The block with the branch.
    pub(crate) branch: BlockId,
    blocks: Vec<BlockId>,
    /// The join.
    pub(crate) join: BlockId,
    /// The argument.
    pub(crate) argument: Edge,
    /// The second argument, of `fmodf`.
    pub(crate) other: Option<Edge>,
    /// Registers read from the join on, in the order of the table.
    pub(crate) results: Vec<Reg>,
}

/// Finds the regions of a function that are the library's own; none if its local memory has another use.
pub(crate) fn find(program: &Program, function: &Function, values: &Values<'_>) -> Vec<Region> {
    let mut regions = Vec::new();
    let writer = RegionPrinter::new(program, function, values);
    for (text, mut region) in writer.candidates() {
        if let Some(order) = known_order(&text) {
            let all = order.iter().map(|at| region.results.get(*at).copied());
            region.results = all.collect::<Option<_>>().unwrap_or_default();
            regions.push(region);
        }
    }
    let blocks: BTreeSet<BlockId> =
        regions.iter().flat_map(|one| one.blocks.iter().copied()).collect();
    if uses_local_memory(function, &blocks) { Vec::new() } else { regions }
}

/// Prints all regions that may be slow paths, for adding one to the table.
pub(crate) fn texts(program: &Program, function: &Function, values: &Values<'_>) -> Vec<String> {
    let writer = RegionPrinter::new(program, function, values);
    writer.candidates().into_iter().map(|(text, _)| text).collect()
}

/// Entries of the table: the order of results, and the text.
static KNOWN: LazyLock<Vec<(Vec<usize>, String)>> = LazyLock::new(|| {
    let entry = |entry: &str| {
        let mut lines = entry.lines().filter(|line| !line.starts_with('#'));
        let order = lines.next()?.strip_prefix("order ")?.split(' ');
        let order = order.map(str::parse).collect::<Result<_, _>>().ok()?;
        Some((order, canonical(&lines.collect::<Vec<_>>().join("\n"))))
    };
    TABLE.split("\n\n").filter_map(entry).collect()
});

/// Returns the order of results if a text is an entry of the table.
fn known_order(text: &str) -> Option<Vec<usize>> {
    let text = canonical(text);
    KNOWN.iter().find(|(_, known)| *known == text).map(|(order, _)| order.clone())
}

/// Returns the join of a branch whose sides do nothing of use: all they do is write registers that are not read from
/// the join on, and end. Blocks of recognised slow paths may also use their local memory, and have loops. Whatever else
/// is there is the program's own: stores, traps, barriers, other exits, loops that may not end. With `drops_code`,
/// unknown slow paths go, too: loops over private memory and tables.
pub(crate) fn useless_until(
    function: &Function,
    branch: BlockId,
    regions: &[Region],
    drops_code: bool,
) -> Option<BlockId> {
    let join = ir::cfg::reconvergence(function)[branch]?;
    let flow = Flow::new(function);
    let mut found: BTreeSet<BlockId> = BTreeSet::new();
    let mut work: Vec<BlockId> = function.blocks[branch].terminator.successors().collect();
    while let Some(block) = work.pop() {
        if block == branch {
            return None;
        }
        if block != join && found.insert(block) {
            work.extend(function.blocks[block].terminator.successors());
        }
    }
    let is_inside = |one: &&Region| one.branch == branch || found.contains(&one.branch);
    let slow_blocks: Vec<BlockId> =
        regions.iter().filter(is_inside).flat_map(|one| one.blocks.iter().copied()).collect();
    let drops_code = drops_code && !uses_local_memory(function, &found);
    let live = Liveness::of(function);
    let is_useless = |block: &BlockId| {
        let data = &function.blocks[*block];
        let ends = |next| next == join || flow.is_before(*block, next);
        let is_harmless = data.terminator.successors().all(ends)
            && data.instructions.iter().all(|one| is_pure(&one.op));
        let mut unread = true;
        for instruction in &data.instructions {
            for_each_write(&instruction.op, &mut |register| unread &= !live.at(join, register));
        }
        let is_slow =
            || data.instructions.iter().all(|one| is_pure(&one.op) || is_private(&one.op));
        unread && (is_harmless || slow_blocks.contains(block) || drops_code && is_slow())
    };
    found.iter().all(is_useless).then_some(join)
}

/// Returns `true` for accesses that only the thread itself notices.
fn is_private(op: &Op) -> bool {
    match op {
        Op::Load(load) => load.non_coherent || matches!(load.space, Space::Local | Space::Const),
        Op::Store(store) => store.space == Space::Local,
        _ => matches!(op, Op::AddressOf { .. } | Op::ConvertAddress { .. }),
    }
}

/// Collects the blocks from `first` up to the join, in the order of a walk that takes the first target first. `None`
/// if there is another way in than by the branch.
fn region_blocks(
    function: &Function,
    flow: &Flow,
    branch: BlockId,
    first: BlockId,
    join: BlockId,
) -> Option<Vec<BlockId>> {
    let mut found: Vec<BlockId> = Vec::new();
    let mut work = vec![first];
    while let Some(block) = work.pop() {
        if block == join || found.contains(&block) {
            continue;
        }
        if block == branch || found.len() == MAX_BLOCKS {
            return None;
        }
        found.push(block);
        let mut targets: Vec<BlockId> = function.blocks[block].terminator.successors().collect();
        targets.reverse();
        work.extend(targets);
    }
    let closed = found.iter().all(|block| {
        let mut before = flow.predecessors[*block].iter();
        before.all(|one| found.contains(one) || *block == first && *one == branch)
    });
    (closed && !found.is_empty()).then_some(found)
}

/// Returns `true` if anything outside of some blocks may read local memory.
fn uses_local_memory(function: &Function, but: &BTreeSet<BlockId>) -> bool {
    let is_shared = |op: &Op| matches!(op, Op::ConvertAddress { space: Space::Local, .. });
    let is_generic = function.instructions().any(|one| is_shared(&one.op));
    let is_local = |space: Space| space == Space::Local || space == Space::Generic && is_generic;
    let touches = |op: &Op| match op {
        Op::Load(load) => is_local(load.space),
        Op::Atomic(atomic) => is_local(atomic.space),
        Op::Call { .. } => true,
        _ => false,
    };
    let others = function.blocks.enumerate().filter(|(block, _)| !but.contains(block));
    others.into_iter().any(|(_, data)| data.instructions.iter().any(|one| touches(&one.op)))
}

/// The address of a byte of a variable.
#[derive(Clone, Copy)]
struct Address {
    variable: VarId,
    offset: i64,
    /// Set for a generic address.
    generic: bool,
}

/// Prints regions in the notation of the table.
struct RegionPrinter<'w, 'v> {
    program: &'w Program,
    function: &'w Function,
    values: &'w Values<'v>,
    live: Liveness,
    join: base::IndexVec<BlockId, Option<BlockId>>,
}

impl<'w, 'v> RegionPrinter<'w, 'v> {
    fn new(program: &'w Program, function: &'w Function, values: &'w Values<'v>) -> Self {
        let live = Liveness::of(function);
        let join = ir::cfg::reconvergence(function);
        Self { program, function, values, live, join }
    }

    /// Prints both sides of every branch that could be a slow path.
    fn candidates(&self) -> Vec<(String, Region)> {
        let mut all = Vec::new();
        for &branch in &self.values.flow.order {
            let Terminator::Branch { then, otherwise, .. } =
                &self.function.blocks[branch].terminator
            else {
                continue;
            };
            let Some(join) = self.join[branch] else { continue };
            for first in [*then, *otherwise] {
                let (function, flow) = (self.function, self.values.flow);
                let Some(blocks) = region_blocks(function, flow, branch, first, join) else {
                    continue;
                };
                if self.is_possible(&blocks) {
                    all.extend(self.print_region(branch, blocks, join));
                }
            }
        }
        all
    }

    /// Returns `true` if the blocks contain a constant of the slow paths: π/2·2^−64, or 2^−23 after a loop.
    fn is_possible(&self, blocks: &[BlockId]) -> bool {
        const CONSTANTS: [u64; 2] = [0x3bf9_21fb_5444_2d19, 0x3400_0000];
        let mut found = false;
        for instruction in blocks.iter().flat_map(|one| &self.function.blocks[*one].instructions) {
            instruction.op.visit(&mut |access| {
                if let Access::Read(Operand::Constant(bits)) = access {
                    found |= CONSTANTS.contains(&bits);
                }
            });
        }
        found
    }

    /// Prints a region if its inputs and outputs are understood.
    fn print_region(
        &self,
        branch: BlockId,
        blocks: Vec<BlockId>,
        join: BlockId,
    ) -> Option<(String, Region)> {
        let mut names = Names::default();
        let mut lines = Vec::new();
        for (at, &block) in blocks.iter().enumerate() {
            let data = &self.function.blocks[block];
            lines.push(format!("b{at}:"));
            for instruction in &data.instructions {
                names.note_guard(instruction.guard.map(|guard| guard.register));
                instruction.op.visit(&mut |access| names.note(access));
            }
            if let Terminator::Branch { guard, .. } = &data.terminator {
                names.note_register(guard.register);
            }
            let named = names.renamed(self.function);
            let printed = Printed { program: self.program, function: &named };
            for instruction in &data.instructions {
                let text = names.variables(self.program, printed.instruction(instruction));
                // Contraction makes no difference to the result of a slow path.
                lines.push(format!("  {}", text.replace(".contract", "")));
            }
            let target = |block: BlockId| match blocks.iter().position(|one| *one == block) {
                Some(at) => format!("b{at}"),
                None => "meet".to_owned(),
            };
            lines.push(match &data.terminator {
                Terminator::Jump(to) => format!("  jump {}", target(*to)),
                Terminator::Branch { guard, then, otherwise, .. } => {
                    let not = if guard.negated { "!" } else { "" };
                    let register = names.name(guard.register)?;
                    let (then, otherwise) = (target(*then), target(*otherwise));
                    format!("  branch {not}{register} {then} else {otherwise}")
                }
                _ => return None,
            });
        }
        let results = self.results(&blocks, join, &names);
        let inputs = self.inputs(*blocks.first()?, &names);
        for address in inputs.iter().filter_map(|one| self.address(branch, *one)) {
            if self.program.variables[address.variable].space != Space::Local {
                names.note_variable(address.variable);
            }
        }
        if !self.uses_one_variable(branch, &inputs) {
            return None;
        }
        let [argument, other] = self.arguments(branch, &inputs)?;
        let mut text = String::new();
        for &register in &inputs {
            let role = self.role(branch, register, [argument, other], &names)?;
            text.push_str(&format!("in {} = {role}\n", names.name(register)?));
        }
        for variable in &names.variables {
            text.push_str(&format!("{}\n", self.variable(*variable, &names)?));
        }
        text.push_str(&lines.join("\n"));
        for register in &results {
            text.push_str(&format!("\nout {}", names.name(*register)?));
        }
        let argument = argument?;
        Some((text, Region { branch, blocks, join, argument, other, results }))
    }

    /// Returns the registers that the region writes and later code reads.
    fn results(&self, blocks: &[BlockId], join: BlockId, names: &Names) -> Vec<Reg> {
        let mut all: Vec<Reg> = Vec::new();
        for instruction in blocks.iter().flat_map(|one| &self.function.blocks[*one].instructions) {
            for_each_write(&instruction.op, &mut |register| {
                if self.live.at(join, register) && !all.contains(&register) {
                    all.push(register);
                }
            });
        }
        all.sort_unstable_by_key(|register| names.numbers.get(register).copied());
        all
    }

    /// Returns the registers read before they are written.
    fn inputs(&self, first: BlockId, names: &Names) -> Vec<Reg> {
        let mut all: Vec<Reg> =
            names.numbers.keys().copied().filter(|one| self.live.at(first, *one)).collect();
        all.sort_unstable_by_key(|register| names.numbers.get(register).copied());
        all
    }

    /// Returns `true` if all local addresses belong to one variable that is large enough.
    fn uses_one_variable(&self, branch: BlockId, inputs: &[Reg]) -> bool {
        const BYTES: u64 = 28;
        let addresses = inputs.iter().filter_map(|one| self.address(branch, *one));
        let addressed: BTreeSet<VarId> = addresses.map(|address| address.variable).collect();
        let is_local = |variable: &VarId| self.program.variables[*variable].space == Space::Local;
        let addressed: BTreeSet<VarId> = addressed.into_iter().filter(is_local).collect();
        let size = |variable: &VarId| self.program.variables[*variable].size.unwrap_or(0);
        addressed.len() < 2 && addressed.iter().all(|variable| size(variable) >= BYTES)
    }

    /// Returns the one or two inputs that are neither constants nor addresses, without their magnitude operation.
    fn arguments(&self, branch: BlockId, inputs: &[Reg]) -> Option<[Option<Edge>; 2]> {
        let mut found: [Option<Edge>; 2] = [None; 2];
        for &register in inputs {
            if self.address(branch, register).is_some() {
                continue;
            }
            let value = self.values.stored(branch, register.into())?;
            let value = self.magnitude_of(value).unwrap_or(value);
            if matches!(self.values.graph.node(value.node()), Node::Bits(_)) {
                continue;
            }
            // A scaled magnitude is printed as an expression; any other product is an argument.
            if self.is_scaled_magnitude(value) || found.contains(&Some(value)) {
                continue;
            }
            let free = found.iter_mut().find(|one| one.is_none())?;
            *free = Some(value);
        }
        Some(found)
    }

    /// Returns `true` for the value `2^23·|y|`, with which `fmodf` compares.
    fn is_scaled_magnitude(&self, value: Edge) -> bool {
        const SCALE: u64 = 0x4b00_0000;
        let Node::Op(Code::Mul(..), factors) = self.values.graph.node(value.node()) else {
            return false;
        };
        let factors = factors.as_slice();
        factors.iter().any(|one| self.values.graph.node(one.node()) == Node::Bits(SCALE))
            && factors.iter().any(|one| self.magnitude_of(*one).is_some())
    }

    /// Returns the `x` of `|x|`.
    fn magnitude_of(&self, value: Edge) -> Option<Edge> {
        match self.values.graph.node(value.node()) {
            Node::Op(Code::Float1(FloatUnary::Abs, ..), operands) if !value.is_negated() => {
                operands.as_slice().first().copied()
            }
            _ => None,
        }
    }

    /// Describes the content of a register at the start of the region in terms of the arguments.
    fn role(
        &self,
        branch: BlockId,
        register: Reg,
        arguments: [Option<Edge>; 2],
        names: &Names,
    ) -> Option<String> {
        if let Some(Address { variable, offset, generic }) = self.address(branch, register) {
            let data = &self.program.variables[variable];
            let generic = if generic { "generic " } else { "" };
            return match (data.space, offset) {
                (Space::Local, _) => Some(format!("{generic}local+{offset}")),
                // As `address_of` is printed.
                (Space::Global | Space::Const, 0) if generic.is_empty() => names.variable(variable),
                _ => None,
            };
        }
        self.expression(self.values.stored(branch, register.into())?, arguments, 4)
    }

    /// Prints a value in terms of the arguments `x` and `y`.
    fn expression(&self, value: Edge, arguments: [Option<Edge>; 2], depth: u32) -> Option<String> {
        let names = ["x", "y"];
        for (argument, name) in arguments.iter().zip(names) {
            match argument {
                Some(argument) if *argument == value => return Some(name.to_owned()),
                Some(argument) if argument.node() == value.node() => {
                    return Some(format!("-{name}"));
                }
                _ => {}
            }
        }
        let sign = if value.is_negated() { "-" } else { "" };
        match self.values.graph.node(value.node()) {
            Node::Bits(bits) => Some(format!("{sign}{bits:#x}")),
            Node::Opaque(_) => None,
            Node::Op(code, operands) => {
                let depth = depth.checked_sub(1)?;
                let mut words = vec![format!("{sign}{code}")];
                for &operand in operands.as_slice() {
                    words.push(self.expression(operand, arguments, depth)?);
                }
                Some(format!("({})", words.join(" ")))
            }
        }
    }

    /// Returns the address that a register holds at the end of a block: variable and offset.
    fn address(&self, block: BlockId, register: Reg) -> Option<Address> {
        let value = self.values.stored(block, register.into());
        let sites = value.map_or(&[][..], |value| self.values.sites(value.node()));
        let made = sites.iter().find_map(|site| {
            let instruction = self.function.blocks[site.block].instructions.get(site.after?)?;
            self.address_of(instruction)
        });
        made.or_else(|| self.address_of(self.only_write(register)?))
    }

    /// Returns the only instruction that writes a register.
    fn only_write(&self, register: Reg) -> Option<&'w Instr> {
        let mut all = self.function.instructions().filter(|one| {
            let mut writes = false;
            for_each_write(&one.op, &mut |other| writes |= other == register);
            writes
        });
        all.next().filter(|_| all.next().is_none())
    }

    /// Returns the address that an instruction computes.
    fn address_of(&self, instruction: &Instr) -> Option<Address> {
        if instruction.guard.is_some() {
            return None;
        }
        let address_of = |from: &Reg| self.address_of(self.only_write(*from)?);
        match &instruction.op {
            Op::AddressOf { symbol: Symbol::Variable(variable), offset, .. } => {
                Some(Address { variable: *variable, offset: *offset, generic: false })
            }
            Op::ConvertAddress { src: Operand::Register(from), to_generic, .. } => {
                Some(Address { generic: *to_generic, ..address_of(from)? })
            }
            Op::Copy { src: Operand::Register(from), .. } => address_of(from),
            Op::IntBinary {
                op: IntBinary::Add,
                a: Operand::Register(from),
                b: Operand::Constant(by),
                ..
            } => {
                let address = address_of(from)?;
                let offset = address.offset.checked_add(i64::try_from(*by).ok()?)?;
                Some(Address { offset, ..address })
            }
            _ => None,
        }
    }

    /// Describes a variable that the region names: its contents, or that it is local.
    fn variable(&self, variable: VarId, names: &Names) -> Option<String> {
        let data = &self.program.variables[variable];
        let name = names.variable(variable)?;
        if data.space == Space::Local {
            return Some(format!("{name} is local"));
        }
        let bytes: Vec<String> = data.initial.iter().map(|byte| format!("{byte:02x}")).collect();
        let fixed = data.relocations.is_empty() && !data.external;
        fixed.then(|| format!("{name} in {:?} holds {}", data.space, bytes.concat()))
    }
}
