//! Programs, functions, blocks and variables.

use crate::{Op, Operand, RegisterPool, Space, SyncOp, Width};
use base::{IndexVec, Span};
use std::collections::BTreeSet;

base::define_index! {
    /// A register of a function.
    pub struct Reg;
    /// A basic block of a function.
    pub struct BlockId;
    /// A function of a program.
    pub struct FuncId;
    /// A variable of a program.
    pub struct VarId;
    /// A place in the source the PTX was compiled from.
    pub struct LocId;
    /// A file the PTX was compiled from.
    pub struct FileId;
}

/// A whole module.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Functions, kernels among them, in the order of the source.
    pub functions: IndexVec<FuncId, Function>,
    /// Variables of the module and of all functions.
    pub variables: IndexVec<VarId, Variable>,
    /// Names of the files that locations refer to.
    pub files: IndexVec<FileId, String>,
    /// Source locations that instructions refer to.
    pub locations: IndexVec<LocId, SourceLocation>,
}

/// A line of the source the PTX was compiled from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLocation {
    /// The file, if a `.file` directive names it.
    pub file: Option<FileId>,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1; 0 if unknown.
    pub column: u32,
    /// If the instruction comes from an inlined function: its name, if known, and the call.
    pub inlined_at: Option<(Option<String>, LocId)>,
}

/// A kernel or device function.
#[derive(Clone, Debug)]
pub struct Function {
    /// The name as in the PTX, mangled if it was.
    pub name: String,
    /// Set for a kernel, which can be launched.
    pub is_kernel: bool,
    /// Parameters in order.
    pub params: Vec<Param>,
    /// Its return values; at most one in current PTX.
    pub returns: Vec<Param>,
    /// Directives about its launch.
    pub launch: Launch,
    /// Registers.
    pub registers: IndexVec<Reg, Register>,
    /// Blocks; execution starts at the first. Empty if the function is defined elsewhere.
    pub blocks: IndexVec<BlockId, Block>,
    /// Its heading, from the linkage to the name.
    pub span: Span,
}

impl Function {
    /// Returns `true` if the module has the function's body.
    #[must_use]
    pub fn is_defined(&self) -> bool {
        !self.blocks.is_empty()
    }

    /// All instructions of all blocks.
    pub fn instructions(&self) -> impl Iterator<Item = &Instr> {
        self.blocks.iter().flat_map(|block| &block.instructions)
    }
}

/// The place where a parameter is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Param {
    /// In memory of the parameter space.
    Variable(VarId),
    /// In a register of this width (functions only).
    Register(Reg, Width),
}

/// Directives about the launch of a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Launch {
    /// `.reqntid`: the block must have these sizes.
    pub required_block: Option<[u32; 3]>,
    /// `.maxntid`: the block has at most the product of these.
    pub max_block: Option<[u32; 3]>,
    /// `.minnctapersm`
    pub min_blocks_per_sm: Option<u32>,
    /// `.maxnreg`
    pub max_registers: Option<u32>,
    /// `.reqnctapercluster`
    pub required_cluster: Option<[u32; 3]>,
    /// `.maxclusterrank`
    pub max_cluster_rank: Option<u32>,
    /// `.explicitcluster`
    pub explicit_cluster: bool,
    /// `.blocksareclusters`
    pub blocks_are_clusters: bool,
}

/// A register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Register {
    /// The name in the PTX, or one made up by the front end; names may repeat in nested scopes.
    pub name: String,
    /// The number of its bits.
    pub width: Width,
}

/// A variable or an in-memory parameter.
#[derive(Clone, Debug)]
pub struct Variable {
    /// The name in the PTX; may repeat in different functions and scopes.
    pub name: String,
    /// Its state space; never [`Space::Generic`].
    pub space: Space,
    /// The function it belongs to; `None` for the module's.
    pub owner: Option<FuncId>,
    /// The type of one element, as written (`f32`, `b8`).
    pub element: String,
    /// Elements in each dimension, `None` if the size is given at launch or elsewhere; empty for a scalar.
    pub dimensions: Vec<Option<u64>>,
    /// Bytes; `None` if some dimension is unknown.
    pub size: Option<u64>,
    /// Alignment in bytes, a power of two.
    pub align: u64,
    /// Set for a variable of another module, and for dynamic shared memory.
    pub external: bool,
    /// `.ptr .align N` of a parameter: alignment and state space of the memory that its pointer points to.
    pub pointee: Option<(Option<Space>, u64)>,
    /// Contents at the start, for global and constant variables with an initialiser; shorter than `size` if the rest
    /// is zero.
    pub initial: Vec<u8>,
    /// Addresses inside the initial contents, which are unknown before the launch.
    pub relocations: Vec<Relocation>,
    /// Its declaration.
    pub span: Span,
}

/// An address inside the initial contents of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// Offset in bytes at which the address is stored.
    pub at: u64,
    /// The number of stored bytes of the address.
    pub bytes: u8,
    /// The bytes stored are `address >> shift`.
    pub shift: u8,
    /// The symbol with the address.
    pub symbol: Symbol,
    /// Added to the address.
    pub addend: i64,
    /// The address is a generic one.
    pub generic: bool,
}

/// Something with an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symbol {
    /// A variable.
    Variable(VarId),
    /// A function.
    Function(FuncId),
}

/// Straight-line code.
#[derive(Clone, Debug)]
pub struct Block {
    /// The instructions, in order.
    pub instructions: Vec<Instr>,
    /// The transfer of control at the end.
    pub terminator: Terminator,
    /// The instruction that ends the block, or the place where it falls through.
    pub span: Span,
    /// Source location of the terminator.
    pub location: Option<LocId>,
}

/// An operation with its guard and origin.
#[derive(Clone, Debug)]
pub struct Instr {
    /// Lanes in which the guard fails skip the instruction.
    pub guard: Option<Guard>,
    /// The operation.
    pub op: Op,
    /// The PTX instruction it comes from.
    pub span: Span,
    /// The source line of that PTX instruction.
    pub location: Option<LocId>,
}

/// A predicate register that must be true, or false if negated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    /// The predicate.
    pub register: Reg,
    /// The predicate must be false.
    pub negated: bool,
}

/// The end of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Terminator {
    /// Always to one block.
    Jump(BlockId),
    /// By a predicate.
    Branch {
        /// If it holds, control goes to `then`.
        guard: Guard,
        /// The target if the guard holds.
        then: BlockId,
        /// The target if it does not.
        otherwise: BlockId,
        /// `.uni`: the author promises that the lanes agree.
        uniform: bool,
    },
    /// By an index into a table (`brx.idx`); an index past its end is undefined.
    Table {
        /// 32-bit index.
        index: Operand,
        /// Targets.
        targets: Vec<BlockId>,
        /// `.uni`: the author promises that the lanes agree.
        uniform: bool,
    },
    /// Returns to the caller; from a kernel, ends the thread.
    Return,
    /// The end of the thread.
    Exit,
    /// The end of the launch with an error.
    Trap,
}

impl Program {
    /// A function and everything it calls.
    #[must_use]
    pub fn called(&self, function: FuncId) -> BTreeSet<FuncId> {
        let (mut found, mut work) = (BTreeSet::from([function]), vec![function]);
        while let Some(next) = work.pop() {
            for instruction in self.functions[next].instructions() {
                if let Op::Call { callee, .. } = &instruction.op
                    && found.insert(*callee)
                {
                    work.push(*callee);
                }
            }
        }
        found
    }

    /// Instructions of a function and of everything it calls.
    pub fn instructions_of(&self, function: FuncId) -> impl Iterator<Item = (FuncId, &Instr)> {
        let functions = self.called(function).into_iter();
        functions.flat_map(|id| {
            self.functions[id].instructions().map(move |instruction| (id, instruction))
        })
    }

    /// The `setmaxnreg` instructions of a kernel: they move registers between its warp groups.
    pub fn register_changes(&self, kernel: FuncId) -> impl Iterator<Item = RegisterPool> {
        self.instructions_of(kernel).filter_map(|(_, one)| match one.op {
            Op::Sync(SyncOp::RegisterPool(change)) => Some(change),
            _ => None,
        })
    }
}
