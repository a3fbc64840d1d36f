//! The core program: the meaning of a PTX module, before it is launched.
//!
//! Many PTX forms, few core operations. The front end ends here and every engine starts here; an
//! engine never sees an opcode or a modifier.
//!
//! # Meaning
//!
//! A [`Program`] has module-level [`Variable`]s and [`Function`]s. A function is a control-flow
//! graph of [`Block`]s over **mutable registers**, not SSA: predicated writes are ordinary, and
//! the engines keep registers as arrays over lanes anyway.
//!
//! A **register** is a bag of bits of a fixed [`Width`]. Each operation, never the register, determines if they are
//! an integer or a float: compilers keep floats in `.b32` registers.
//!
//! An **operation at width `w`** reads the low `w` bits of its register operands, which may be
//! wider, and writes a register of exactly the width it produces. Extension is always explicit
//! ([`Op::Resize`]), except in [`Op::Load`], which extends what it loads to its destination.
//! Constants are bit patterns; bits above the width they are read at are zero.
//!
//! An **instruction** whose guard is false in a lane has no effect in that lane. Reading a register
//! that was never written is not an error here; engines decide what it means.
//!
//! **Control** passes from a block to its terminator's targets, lane by lane. Lanes of a warp that take different
//! paths may run in any order and are independent (sm_70 and later, for every `.target` of the module).
//! [`cfg::reconvergence`] says where they can run together again; this is a matter of speed and not of meaning.
//!
//! **Nothing is dropped.** An instruction that the front end cannot express becomes [`Op::Unsupported`]: a run that
//! reaches it knows nothing from there on.
//!
//! # Invariants
//!
//! [`validate`] checks them; engines rely on them and do not check again.

mod cas_loops;
pub mod cfg;
mod float;
mod integer;
mod liveness;
mod matrix;
mod memory;
mod op;
mod peeks;
mod print;
mod program;
mod special;
mod sync;
mod tensor_map;
mod validate;
mod visit;
mod waits;
mod width;

pub use cas_loops::find_updates;
pub use float::{
    Accuracy, ArgumentRange, FloatBinary, FloatMode, FloatProperty, FloatRelation, FloatUnary,
    Format, RealFunction, Rounding, Scalar,
};
pub use integer::{BitRange, IntBinary, IntTernary, IntUnary, Relation};
pub use liveness::{RegisterSet, live, registers};
pub use matrix::{
    Element, Fragment, Layout, LoadMatrix, Mma, MmaKind, MoveMatrix, Shape, Sparsity, StoreMatrix,
    WmmaLoad, WmmaMma, WmmaStore,
};
pub use matrix::{MatrixDescriptor, Wgmma, WgmmaFactor, WgmmaSync};
pub use memory::{
    Address, AddressBase, AsyncCopy, Atomic, AtomicOp, BulkCompletion, BulkCopy, Load, MapOp,
    Ordering, RemoteStore, Scope, Skips, Space, Store, TensorCopy, TensorCopyKind,
};
pub use op::{Access, Argument, Op};
pub use print::Printed;
pub use program::{
    Block, BlockId, FileId, FuncId, Function, Guard, Instr, Launch, LocId, Param, Program, Reg,
    Register, Relocation, SourceLocation, Symbol, Terminator, VarId, Variable,
};
pub use special::{Dimension, SpecialRegister};
pub use sync::{
    BarrierKind, MatchMode, Mbarrier, MbarrierArrive, MbarrierOp, MbarrierPhase, MbarrierTest,
    ReduxOp, RegisterPool, ShuffleMode, SyncOp, VoteMode,
};
pub use tensor_map::{
    BoxShape, MAX_DIMENSIONS, MapBits, MapDecodeError, MapEdit, MapField, MapLimit, Piece, Start,
    Swizzle, TENSOR_MAP_BYTES, TensorElement, TensorMap, WalkError,
};
pub use validate::{assert_valid, assert_valid_in, validate};
pub use waits::{find_waits, retry_instructions};
pub use width::Width;

/// Something an operation reads: a register or a constant bit pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// A register.
    Register(Reg),
    /// A bit pattern; bits above the width it is read at are zero.
    Constant(u64),
}

impl From<Reg> for Operand {
    fn from(register: Reg) -> Self {
        Self::Register(register)
    }
}
