//! Warp-level matrix operations (PTX manual §9.7.14). The operands of each operation are here; engines define the
//! layouts of fragments.

use crate::{Access, Address, Operand, Reg, Rounding, Space};

/// Type of an element of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in the manual")]
pub enum Element {
    F64,
    F32,
    Tf32,
    F16,
    Bf16,
    E4m3,
    E5m2,
    S32,
    S8,
    U8,
    S4,
    U4,
    B1,
}

impl Element {
    /// The number of bits of one element.
    #[must_use]
    pub const fn bits(self) -> u32 {
        match self {
            Self::F64 => 64,
            Self::F32 | Self::Tf32 | Self::S32 => 32,
            Self::F16 | Self::Bf16 => 16,
            Self::E4m3 | Self::E5m2 | Self::S8 | Self::U8 => 8,
            Self::S4 | Self::U4 => 4,
            Self::B1 => 1,
        }
    }
}

/// `m16n8k16`: D is m×n, A is m×k, B is k×n.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the three sizes")]
pub struct Shape {
    pub m: u16,
    pub n: u16,
    pub k: u16,
}

/// The layout of a matrix in memory or in a fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in the manual")]
pub enum Layout {
    Row,
    Col,
}

/// How products are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MmaKind {
    /// Sum of products.
    MultiplyAdd {
        /// `.satfinite`: integer results are clamped.
        saturate: bool,
        /// The rounding of sums of doubles; the manual leaves it open for other floats.
        rounding: Rounding,
    },
    /// Population count of the exclusive or of bits.
    XorPopc,
    /// Population count of the conjunction of bits.
    AndPopc,
}

/// The metadata of a sparse A.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sparsity {
    /// Selects the elements of each group that are kept.
    pub metadata: Operand,
    /// Selects the threads that provide the metadata.
    pub selector: u8,
    /// `.sp::ordered_metadata`
    pub ordered: bool,
}

/// `mma.sync`
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "D = A·B + C")]
pub struct Mma {
    pub shape: Shape,
    pub kind: MmaKind,
    pub a_layout: Layout,
    pub b_layout: Layout,
    pub d_element: Element,
    pub a_element: Element,
    pub b_element: Element,
    pub c_element: Element,
    pub sparsity: Option<Sparsity>,
    pub d: Vec<Reg>,
    pub a: Vec<Operand>,
    pub b: Vec<Operand>,
    pub c: Vec<Operand>,
}

/// `ldmatrix`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadMatrix {
    /// One register for each matrix.
    pub dsts: Vec<Reg>,
    /// Load the transpose.
    pub transpose: bool,
    /// State space of the addresses.
    pub space: Space,
    /// The address of this lane's row.
    pub address: Address,
}

/// `stmatrix`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreMatrix {
    /// One register for each matrix.
    pub srcs: Vec<Operand>,
    /// Store the transpose.
    pub transpose: bool,
    /// State space of the addresses.
    pub space: Space,
    /// The address of this lane's row.
    pub address: Address,
}

/// `movmatrix`: the transpose of an 8×8 matrix of 16-bit elements across the registers of a warp.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "destination and source")]
pub struct MoveMatrix {
    pub dst: Reg,
    pub src: Operand,
}

/// The matrix that a fragment belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "D = A·B + C")]
pub enum Fragment {
    A,
    B,
    C,
}

/// `wmma.load`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WmmaLoad {
    /// The matrix of the fragment.
    pub fragment: Fragment,
    /// Sizes of the whole operation.
    pub shape: Shape,
    /// The layout of the matrix in memory.
    pub layout: Layout,
    /// The type of its elements.
    pub element: Element,
    /// State space.
    pub space: Space,
    /// The first element.
    pub address: Address,
    /// Elements from one row (or column) to the next; packed if absent.
    pub stride: Option<Operand>,
    /// This lane's part.
    pub dsts: Vec<Reg>,
}

/// `wmma.store`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WmmaStore {
    /// Sizes of the whole operation.
    pub shape: Shape,
    /// The layout of the matrix in memory.
    pub layout: Layout,
    /// The type of its elements.
    pub element: Element,
    /// State space.
    pub space: Space,
    /// The first element.
    pub address: Address,
    /// Elements from one row (or column) to the next; packed if absent.
    pub stride: Option<Operand>,
    /// This lane's part.
    pub srcs: Vec<Operand>,
}

/// `wmma.mma`
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "D = A·B + C")]
pub struct WmmaMma {
    pub shape: Shape,
    pub kind: MmaKind,
    pub a_layout: Layout,
    pub b_layout: Layout,
    pub d_element: Element,
    pub a_element: Element,
    pub b_element: Element,
    pub c_element: Element,
    pub d: Vec<Reg>,
    pub a: Vec<Operand>,
    pub b: Vec<Operand>,
    pub c: Vec<Operand>,
}

/// `wgmma.mma_async`: D = ±A·±B, plus D.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wgmma {
    /// Sizes; M is always 64, a quarter for each warp.
    pub shape: Shape,
    /// How products are combined.
    pub kind: MmaKind,
    /// The type of D.
    pub d_element: Element,
    /// The type of A.
    pub a_element: Element,
    /// The type of B.
    pub b_element: Element,
    /// This lane's part of D.
    pub d: Vec<Reg>,
    /// The factor A.
    pub a: WgmmaFactor,
    /// The factor B.
    pub b: MatrixDescriptor,
    /// The metadata of a sparse A.
    pub sparsity: Option<Sparsity>,
    /// `scale-d`, a predicate: the products are added to D; otherwise they replace it.
    pub accumulates: Operand,
    /// `imm-scale-a` and `imm-scale-b`: elements of A, or of B, are negated.
    pub negates: [bool; 2],
}

impl Wgmma {
    /// Calls `visit` for everything the product accesses; D is read as well as written.
    pub(crate) fn visit(&self, visit: &mut dyn FnMut(Access)) {
        use Access::{Read, Write};
        self.d.iter().for_each(|&reg| visit(Write(reg)));
        self.d.iter().for_each(|&reg| visit(Read(reg.into())));
        match &self.a {
            WgmmaFactor::Fragment(registers) => registers.iter().for_each(|&o| visit(Read(o))),
            WgmmaFactor::Shared(descriptor) => visit(Read(descriptor.bits)),
        }
        visit(Read(self.b.bits));
        self.sparsity.iter().for_each(|sparsity| visit(Read(sparsity.metadata)));
        visit(Read(self.accumulates));
    }
}

/// The place of A.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WgmmaFactor {
    /// In registers: this lane's part.
    Fragment(Vec<Operand>),
    /// In shared memory.
    Shared(MatrixDescriptor),
}

/// A matrix in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatrixDescriptor {
    /// The descriptor, 64 bits.
    pub bits: Operand,
    /// `imm-trans`: neighbours in memory are neighbours along M or N, and not along K.
    pub transposed: bool,
}

/// Synchronisation of a warp with its products.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WgmmaSync {
    /// `wgmma.fence`: earlier accesses to registers come before those of later products.
    Fence,
    /// `wgmma.commit_group`
    Commit,
    /// `wgmma.wait_group N`: all but the last N groups are complete.
    Wait(u64),
}
