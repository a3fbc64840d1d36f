//! Operators of expressions, and built-in vectors.

/// Built-in vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    /// `threadIdx`.
    ThreadIdx,
    /// `blockIdx`.
    BlockIdx,
    /// `blockDim`.
    BlockDim,
    /// `gridDim`.
    GridDim,
}

/// Operators on one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    /// `-`.
    Neg,
    /// `~`.
    Complement,
    /// `!`, on `bool`.
    Not,
}

/// Operators on two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "they are what they are called")]
pub enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Shl,
    Shr,
    BitAnd,
    BitOr,
    BitXor,
}

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "they are what they are called")]
pub enum Compare {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}
