//! Products of warp groups (PTX manual §9.7.15): four warps multiply together, asynchronously, with factors in shared
//! memory that descriptors name. Where elements lie there and in registers is the engines' business.

use crate::{Access, Element, MmaKind, Operand, Reg, Shape, Sparsity};

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
    /// A.
    pub a: WgmmaFactor,
    /// B.
    pub b: MatrixDescriptor,
    /// The metadata of a sparse A.
    pub sparsity: Option<Sparsity>,
    /// `scale-d`, a predicate: the products are added to D; otherwise they replace it.
    pub accumulates: Operand,
    /// `imm-scale-a` and `imm-scale-b`: elements of A, or of B, are negated.
    pub negates: [bool; 2],
}

impl Wgmma {
    /// Calls `visit` for everything the product touches; D is read as well as written.
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

/// Where A is.
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

/// What a warp does about its products.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WgmmaSync {
    /// `wgmma.fence`: earlier accesses to registers come before those of products behind it.
    Fence,
    /// `wgmma.commit_group`
    Commit,
    /// `wgmma.wait_group N`: all but the last N groups are complete.
    Wait(u64),
}
