//! The core operations.

use crate::{
    Address, ArgumentRange, AsyncCopy, Atomic, BulkCopy, FloatBinary, FloatMode, FloatProperty,
    FloatRelation, FloatUnary, Format, FuncId, IntBinary, IntTernary, IntUnary, Load, LoadMatrix,
    MapOp, Mma, MoveMatrix, Operand, RealFunction, Reg, Relation, RemoteStore, Rounding, Scalar,
    Space, SpecialRegister, Store, StoreMatrix, Symbol, SyncOp, TensorCopy, VarId, Wgmma, Width,
    WmmaLoad, WmmaMma, WmmaStore,
};

/// The operation of an instruction. Operands named `a`, `b`, `c` are read at the operation's width.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "operand names are explained on the operation they belong to")]
pub enum Op {
    /// `dst = src`
    Copy { dst: Reg, src: Operand },
    /// `dst = condition ? if_true : if_false`
    Select { dst: Reg, condition: Operand, if_true: Operand, if_false: Operand },
    /// Parts of equal width side by side, the first in the low bits.
    Concat { dst: Reg, parts: Vec<Operand> },
    /// The inverse of `Concat`; `None` is an unused part.
    Split { dsts: Vec<Option<Reg>>, src: Operand },
    /// The low `from` bits of `src`, extended or cut to the width of `dst`.
    Resize { dst: Reg, src: Operand, from: Width, signed: bool },
    /// A special register.
    ReadSpecial { dst: Reg, special: SpecialRegister },
    /// The address of a symbol in its own state space, plus an offset.
    AddressOf { dst: Reg, symbol: Symbol, offset: i64 },
    /// An address of `space` as a generic one, or the reverse (`cvta`).
    ConvertAddress { dst: Reg, src: Operand, space: Space, to_generic: bool },
    /// The address in block `rank` of the cluster that corresponds to an address of `space`, either the cluster's or
    /// generic (`mapa`).
    MapShared { dst: Reg, address: Operand, rank: Operand, space: Space },
    /// The rank of the block that an address of `space` belongs to (`getctarank`).
    SharedRank { dst: Reg, address: Operand, space: Space },
    /// A predicate: `true` if a generic address points into `space` (`isspacep`).
    IsSpace { dst: Reg, address: Operand, space: Space },

    /// Integer operation on one operand.
    IntUnary { op: IntUnary, width: Width, dst: Reg, a: Operand },
    /// Integer operation on two operands.
    IntBinary { op: IntBinary, width: Width, dst: Reg, a: Operand, b: Operand },
    /// Integer operation on three operands.
    IntTernary { op: IntTernary, width: Width, dst: Reg, a: Operand, b: Operand, c: Operand },
    /// `base` with `length` bits from `position` on replaced by the low bits of `insert` (`bfi`).
    InsertBits {
        width: Width,
        dst: Reg,
        insert: Operand,
        base: Operand,
        position: Operand,
        length: Operand,
    },
    /// `a + b + carry_in`, or with `subtract` `a − (b + carry_in)`; the carry (or borrow) out goes
    /// to a predicate. The condition code of PTX is an ordinary predicate register here.
    AddCarry {
        width: Width,
        subtract: bool,
        dst: Reg,
        carry_out: Option<Reg>,
        a: Operand,
        b: Operand,
        carry_in: Option<Operand>,
    },
    /// A predicate: `a` related to `b`.
    IntCompare { relation: Relation, signed: bool, width: Width, dst: Reg, a: Operand, b: Operand },

    /// Float operation on one operand; `lanes` numbers side by side in one register.
    FloatUnary { op: FloatUnary, format: Format, lanes: u8, mode: FloatMode, dst: Reg, a: Operand },
    /// Float operation on two operands.
    FloatBinary {
        op: FloatBinary,
        format: Format,
        lanes: u8,
        mode: FloatMode,
        dst: Reg,
        a: Operand,
        b: Operand,
    },
    /// `a·b + c`, rounded once.
    Fma { format: Format, lanes: u8, mode: FloatMode, dst: Reg, a: Operand, b: Operand, c: Operand },
    /// A function of reals, of one or two floats of a format; its result is unspecified for arguments out of `range`.
    Real {
        function: RealFunction,
        format: Format,
        range: Option<ArgumentRange>,
        dst: Reg,
        a: Operand,
        b: Option<Operand>,
    },
    /// A predicate: `a` related to `b`.
    FloatCompare {
        relation: FloatRelation,
        format: Format,
        flush: bool,
        dst: Reg,
        a: Operand,
        b: Operand,
    },
    /// A predicate: `true` if `a` has a property (`testp`).
    FloatTest { property: FloatProperty, format: Format, dst: Reg, a: Operand },
    /// Converts a number to another type (`cvt`); `from` or `to` is a float. Between floats of one format, only the
    /// modifiers have an effect.
    Convert {
        dst: Reg,
        src: Operand,
        from: Scalar,
        to: Scalar,
        /// For conversions to integers, the rounding of the fraction.
        rounding: Rounding,
        /// `.ftz`: subnormal inputs and results in single precision count as zero.
        flush: bool,
        /// `.sat`: to [0, 1] for floats, NaN to 0; to the range of the type for integers. Conversions from floats to
        /// integers always saturate.
        saturate: bool,
        /// `.satfinite`: overflow gives the largest finite number.
        finite: bool,
        /// `.relu`
        relu: bool,
    },

    /// Reads memory.
    Load(Load),
    /// Writes memory.
    Store(Store),
    /// Reads and writes memory in one step.
    Atomic(Atomic),
    /// Starts an asynchronous copy.
    AsyncCopy(AsyncCopy),
    /// Starts a bulk copy.
    BulkCopy(Box<BulkCopy>),
    /// Starts a copy of a box of a tensor.
    TensorCopy(Box<TensorCopy>),
    /// Changes a tensor map in memory.
    TensorMap(Box<MapOp>),
    /// Starts a store or an update in shared memory of another block.
    RemoteStore(Box<RemoteStore>),
    /// Makes the contents undefined (`discard`).
    Discard { space: Space, address: Address, bytes: u64 },

    /// Waits for or communicates with other threads.
    Sync(SyncOp),

    /// Matrix multiply-accumulate of a warp.
    Mma(Box<Mma>),
    /// Loads 8×8 matrices.
    LoadMatrix(Box<LoadMatrix>),
    /// Stores 8×8 matrices.
    StoreMatrix(Box<StoreMatrix>),
    /// Transposes an 8×8 matrix in registers.
    MoveMatrix(MoveMatrix),
    /// Loads a fragment whose layout in registers the manual does not specify.
    WmmaLoad(Box<WmmaLoad>),
    /// Stores a fragment of unspecified layout.
    WmmaStore(Box<WmmaStore>),
    /// Multiplies fragments of unspecified layout.
    WmmaMma(Box<WmmaMma>),
    /// Starts a product of a warp group.
    Wgmma(Box<Wgmma>),

    /// Calls a function.
    Call { callee: FuncId, arguments: Vec<Argument>, returns: Vec<Argument> },
    /// A value that the manual does not fix: a cache policy, or a count that depends on the schedule. `what` names
    /// it.
    Opaque { dst: Reg, what: &'static str },
    /// No effect on values or memory: `prefetch`, `nanosleep` and similar.
    Hint { what: &'static str },
    /// An operation that the front end cannot express; the text names it.
    Unsupported { what: String },
}

/// The passing of an argument or a result of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// Through a `.param` variable of the caller.
    Variable(VarId),
    /// By value; for a result, always a register.
    Operand(Operand),
}

/// An access of an operation: to a register, an address, a symbol or an argument variable, in the order of the text
/// form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// A register is written.
    Write(Reg),
    /// An unused destination.
    Sink,
    /// An operand is read.
    Read(Operand),
    /// An address is formed; its register is read.
    Address(Address),
    /// A symbol is mentioned.
    Symbol(Symbol, i64),
    /// An argument variable is read or written by a call.
    Argument(VarId),
}

impl Op {
    /// Returns `true` if an operation of registers is an error for some operands: an integer division by anything but
    /// a constant other than 0.
    #[must_use]
    pub fn may_divide_by_zero(&self) -> bool {
        let Self::IntBinary { op: IntBinary::Div { .. } | IntBinary::Rem { .. }, width, b, .. } =
            self
        else {
            return false;
        };
        !matches!(b, Operand::Constant(bits) if bits & width.mask() != 0)
    }

    /// Returns `true` if it only computes registers of its own lane from registers of its own lane, without memory,
    /// other threads or calls. The match has no wildcard, so that a new operation must be considered here.
    #[must_use]
    pub fn is_of_registers(&self) -> bool {
        match self {
            Self::Copy { .. }
            | Self::Select { .. }
            | Self::Concat { .. }
            | Self::Split { .. }
            | Self::Resize { .. }
            | Self::ReadSpecial { .. }
            | Self::Opaque { .. }
            | Self::AddressOf { .. }
            | Self::ConvertAddress { .. }
            | Self::MapShared { .. }
            | Self::SharedRank { .. }
            | Self::IsSpace { .. }
            | Self::IntUnary { .. }
            | Self::IntBinary { .. }
            | Self::IntTernary { .. }
            | Self::InsertBits { .. }
            | Self::AddCarry { .. }
            | Self::IntCompare { .. }
            | Self::FloatUnary { .. }
            | Self::FloatBinary { .. }
            | Self::Fma { .. }
            | Self::Real { .. }
            | Self::FloatCompare { .. }
            | Self::FloatTest { .. }
            | Self::Convert { .. } => true,
            Self::Load(_)
            | Self::Store(_)
            | Self::Atomic(_)
            | Self::AsyncCopy(_)
            | Self::BulkCopy(_)
            | Self::TensorCopy(_)
            | Self::TensorMap(_)
            | Self::RemoteStore(_)
            | Self::Discard { .. }
            | Self::Sync(_)
            | Self::Mma(_)
            | Self::LoadMatrix(_)
            | Self::StoreMatrix(_)
            | Self::MoveMatrix(_)
            | Self::WmmaLoad(_)
            | Self::WmmaStore(_)
            | Self::WmmaMma(_)
            | Self::Wgmma(_)
            | Self::Call { .. }
            | Self::Hint { .. }
            | Self::Unsupported { .. } => false,
        }
    }
}
