//! A function under construction: registers, blocks and their names.
//!
//! Catalogue entries use this through [`crate::isa::Insn`]; the traversal of statements is in [`super::function`].

use super::debug::Locations;
use super::scope::{Entity, Globals, RegisterDecl, Registers, Scopes};
use base::{Diagnostic, Index, IndexVec, Span};
use ir::{
    Block, BlockId, FuncId, Guard, Instr, LocId, Op, Program, Reg, Register, Terminator, Width,
};

/// State shared by all functions of a module while it is lowered.
pub(crate) struct Context<'a> {
    pub(crate) program: Program,
    pub(crate) globals: Globals<'a>,
    pub(crate) locations: Locations<'a>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// The function being built.
pub(crate) struct Builder<'c, 'a> {
    pub(crate) context: &'c mut Context<'a>,
    pub(crate) scopes: Scopes<'a>,
    pub(crate) function: FuncId,
    pub(crate) is_kernel: bool,
    /// The source location of the next instruction.
    pub(crate) location: Option<LocId>,
    registers: IndexVec<Reg, Register>,
    /// For each register, `true` if it is a temporary of one instruction. The carry flag is not: it passes between
    /// instructions.
    is_temporary: IndexVec<Reg, bool>,
    /// Blocks by number; `None` until the block is finished.
    blocks: IndexVec<BlockId, Option<Block>>,
    /// Blocks in the order of the text.
    order: Vec<BlockId>,
    /// The current block; `None` right after a jump.
    open: Option<OpenBlock>,
    /// The carry flag, if an instruction has used it.
    condition_code: Option<Reg>,
}

struct OpenBlock {
    id: BlockId,
    instructions: Vec<Instr>,
}

/// A position in the current block, to roll back to or to insert at.
#[derive(Clone, Copy)]
pub(crate) struct Mark {
    block: Option<BlockId>,
    length: usize,
}

impl<'c, 'a> Builder<'c, 'a> {
    pub(crate) fn new(context: &'c mut Context<'a>, function: FuncId, is_kernel: bool) -> Self {
        Self {
            context,
            scopes: Scopes::new(),
            function,
            is_kernel,
            location: None,
            registers: IndexVec::new(),
            is_temporary: IndexVec::new(),
            blocks: IndexVec::new(),
            order: Vec::new(),
            open: None,
            condition_code: None,
        }
    }

    // Registers.

    /// Resolves a name of the function; a register gets its number at its first use.
    pub(crate) fn resolve(&mut self, name: &'a str) -> Option<&Entity> {
        let Self { scopes, registers, is_temporary, .. } = self;
        scopes.resolve(name, |decl| number_registers(name, decl, registers, is_temporary))
    }

    /// Returns the registers of a name, if it denotes registers.
    pub(crate) fn register(&mut self, name: &'a str) -> Option<Registers> {
        match self.resolve(name)? {
            Entity::Registers(registers) => Some(*registers),
            _ => None,
        }
    }

    /// Creates a register that is not in the PTX, for intermediate results of one instruction.
    pub(crate) fn temporary(&mut self, width: Width) -> Reg {
        let name = format!("$t{}", self.registers.len());
        self.is_temporary.push(true);
        self.registers.push(Register { name, width })
    }

    /// Returns the carry flag (`CC.CF`), an ordinary predicate register in the core program.
    pub(crate) fn condition_code(&mut self) -> Reg {
        if let Some(register) = self.condition_code {
            return register;
        }
        self.is_temporary.push(false);
        let register = self.registers.push(Register { name: "$cc".to_owned(), width: Width::B1 });
        self.condition_code = Some(register);
        register
    }

    pub(crate) fn width(&self, register: Reg) -> Width {
        self.registers[register].width
    }

    pub(crate) fn is_temporary(&self, register: Reg) -> bool {
        self.is_temporary[register]
    }

    // Blocks.

    /// Creates a block to be placed later: the target of a label, or the code after a branch.
    pub(crate) fn new_block(&mut self) -> BlockId {
        self.blocks.push(None)
    }

    /// Makes `block` the current block; the block before falls through to it. If `block` was placed already (its
    /// label is written twice, which is reported), a new block takes its place.
    pub(crate) fn place(&mut self, block: BlockId, span: Span) {
        let here = self.open.as_ref().is_some_and(|open| open.id == block);
        let block = if here || self.blocks[block].is_some() { self.new_block() } else { block };
        if self.open.is_some() {
            self.terminate(Terminator::Jump(block), span);
        }
        self.order.push(block);
        self.open = Some(OpenBlock { id: block, instructions: Vec::new() });
    }

    /// Ends the current block.
    pub(crate) fn terminate(&mut self, terminator: Terminator, span: Span) {
        let open = self.open_block();
        let (id, instructions) = (open.id, std::mem::take(&mut open.instructions));
        let location = self.location;
        self.blocks[id] = Some(Block { instructions, terminator, span, location });
        self.open = None;
    }

    pub(crate) fn emit(&mut self, guard: Option<Guard>, op: Op, span: Span) {
        let location = self.location;
        self.open_block().instructions.push(Instr { guard, op, span, location });
    }

    /// Returns the current block. Code after a jump that has no label is unreachable, but it is lowered, too, into a
    /// new block.
    fn open_block(&mut self) -> &mut OpenBlock {
        if self.open.is_none() {
            let id = self.new_block();
            self.order.push(id);
            self.open = Some(OpenBlock { id, instructions: Vec::new() });
        }
        self.open.get_or_insert_with(|| unreachable!("a block was opened just now"))
    }

    /// Returns the current position, such as the start of an instruction.
    pub(crate) fn mark(&self) -> Mark {
        Mark {
            block: self.open.as_ref().map(|open| open.id),
            length: self.open.as_ref().map_or(0, |open| open.instructions.len()),
        }
    }

    /// Returns the operations emitted since `mark`, unless the block has ended in between.
    pub(crate) fn since(&mut self, mark: Mark) -> &mut [Instr] {
        match &mut self.open {
            Some(open) if mark.block.is_none_or(|block| block == open.id) => {
                &mut open.instructions[mark.length..]
            }
            _ => &mut [],
        }
    }

    /// Removes operations emitted since `mark`.
    pub(crate) fn roll_back(&mut self, mark: Mark) {
        if let Some(open) = &mut self.open
            && mark.block.is_none_or(|block| block == open.id)
        {
            open.instructions.truncate(mark.length);
        }
    }

    /// Inserts an operation before everything emitted since `mark`.
    pub(crate) fn insert_at(&mut self, mark: Mark, op: Op, span: Span) {
        let location = self.location;
        if let Some(open) = &mut self.open {
            open.instructions.insert(mark.length, Instr { guard: None, op, span, location });
        }
    }

    /// Ends the function: stores its registers and blocks in the program, blocks numbered in the order of the text.
    pub(crate) fn finish(mut self, end: Span) {
        if self.open.is_some() || self.order.is_empty() {
            self.terminate(Terminator::Return, end);
        }
        let mut renumbered = vec![BlockId::from_position(0); self.blocks.len()];
        for (position, id) in self.order.iter().enumerate() {
            renumbered[id.position()] = BlockId::from_position(position);
        }
        let mut blocks = IndexVec::new();
        for id in self.order {
            if let Some(mut block) = self.blocks[id].take() {
                renumber(&mut block.terminator, &renumbered);
                blocks.push(block);
            }
        }
        let function = &mut self.context.program.functions[self.function];
        function.blocks = blocks;
        function.registers = self.registers;
    }
}

fn number_registers(
    name: &str,
    decl: RegisterDecl,
    registers: &mut IndexVec<Reg, Register>,
    is_temporary: &mut IndexVec<Reg, bool>,
) -> Reg {
    let first = registers.next_index();
    let width = decl.ty.width();
    for component in 0..decl.components {
        let name = match decl.components {
            1 => name.to_owned(),
            _ => format!("{name}.{component}"),
        };
        registers.push(Register { name, width });
        is_temporary.push(false);
    }
    first
}

fn renumber(terminator: &mut Terminator, to: &[BlockId]) {
    let change = |block: &mut BlockId| *block = to[block.position()];
    match terminator {
        Terminator::Jump(target) => change(target),
        Terminator::Branch { then, otherwise, .. } => {
            change(then);
            change(otherwise);
        }
        Terminator::Table { targets, .. } => targets.iter_mut().for_each(change),
        Terminator::Return | Terminator::Exit | Terminator::Trap => {}
    }
}
