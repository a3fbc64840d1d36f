//! Operations on floating-point numbers (PTX manual §9.7.3–9.7.6).

use crate::Width;

/// A floating-point format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "named as in the manual")]
pub enum Format {
    F64,
    F32,
    /// 19 significant bits in a 32-bit container.
    Tf32,
    F16,
    Bf16,
    E4m3,
    E5m2,
}

impl Format {
    /// The register or element a number of this format fills.
    #[must_use]
    pub const fn width(self) -> Width {
        match self {
            Self::F64 => Width::B64,
            Self::F32 | Self::Tf32 => Width::B32,
            Self::F16 | Self::Bf16 => Width::B16,
            Self::E4m3 | Self::E5m2 => Width::B8,
        }
    }
}

/// The type of a number, for operations on both integers and floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scalar {
    /// An integer.
    Integer {
        /// Its width.
        width: Width,
        /// Set if it is in two's complement.
        signed: bool,
    },
    /// A float.
    Float(Format),
}

impl Scalar {
    /// The register a number of this kind fills.
    #[must_use]
    pub const fn width(self) -> Width {
        match self {
            Self::Integer { width, .. } => width,
            Self::Float(format) => format.width(),
        }
    }
}

/// The rounding of a result that is not representable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// To nearest, ties to even.
    NearestEven,
    /// To nearest, ties away from zero (conversions to tf32).
    NearestAway,
    /// Towards zero.
    Zero,
    /// Towards minus infinity.
    Down,
    /// Towards plus infinity.
    Up,
}

/// The accuracy of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Accuracy {
    /// Correctly rounded in the mode.
    Exact,
    /// `.approx`: the manual bounds the error but does not fix the bits.
    Approximate,
    /// `div.full`: approximate with a wider range.
    Full,
}

/// Modifiers shared by the arithmetic operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FloatMode {
    /// Rounding of the result.
    pub rounding: Rounding,
    /// `.ftz`: subnormal inputs and results count as zero.
    pub flush: bool,
    /// `.sat`: clamp to [0, 1], NaN to 0.
    pub saturate: bool,
    /// `.relu`: clamp to [0, ∞), NaN to canonical NaN.
    pub relu: bool,
    /// The accuracy of the result.
    pub accuracy: Accuracy,
    /// Set if an `add`, `sub` or `mul` states no rounding (manual §9.7.3.3–5). The assembler may then fuse a product
    /// with the sum that it is added to, so that the sum has one of two results.
    pub contract: bool,
}

impl FloatMode {
    /// Correctly rounded to nearest even, with nothing else.
    pub const NEAREST: Self = Self {
        rounding: Rounding::NearestEven,
        flush: false,
        saturate: false,
        relu: false,
        accuracy: Accuracy::Exact,
        contract: false,
    };
}

/// An operation with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum FloatUnary {
    Negate,
    Abs,
    Sqrt,
    ReciprocalSqrt,
    Reciprocal,
    /// 2^x
    Exp2,
    /// log₂ x
    Log2,
    Sin,
    Cos,
    Tanh,
    /// Rounds to an integral number in the mode.
    RoundToIntegral,
}

/// A function of real numbers that no instruction computes. Lifting puts it in place of code that a compiler inlined.
/// Only runs on reals know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum RealFunction {
    Exp,
    Exp2,
    Exp10,
    /// e^x − 1
    Expm1,
    Log,
    Log2,
    Log10,
    /// log(1 + x)
    Log1p,
    Tanh,
    Sinh,
    Cosh,
    Erf,
    /// 1 − erf x
    Erfc,
    Sin,
    Cos,
    Tan,
    Cbrt,
    /// x^y
    Pow,
    /// √(x² + y²)
    Hypot,
    /// x − y·trunc(x/y)
    Fmod,
    /// To the nearest integer, halves away from zero.
    RoundAway,
    Asin,
    Acos,
    Atan,
    /// The angle of the point with the first argument as its height and the second as its width; for a height of 0 it
    /// is 0 or π.
    Atan2,
    Asinh,
    Acosh,
    Atanh,
    /// (1 + erf(x/√2)) / 2
    NormCdf,
    /// The number with error function x.
    ErfInv,
    /// log |Γ(x)|
    Lgamma,
    /// π·x: no kernel has it; formulas use it for π.
    TimesPi,
    /// A function of libdevice of which only the name is known, and the number of its arguments.
    Named(&'static str, u8),
}

impl RealFunction {
    /// The number of arguments.
    #[must_use]
    pub const fn arguments(self) -> usize {
        match self {
            Self::Pow | Self::Hypot | Self::Fmod | Self::Atan2 => 2,
            Self::Named(_, arguments) => arguments as usize,
            _ => 1,
        }
    }
}

/// A range of arguments outside of which an [`Op::Real`](crate::Op::Real) need not be its function: the program has
/// no code for other arguments, or that code was not examined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ArgumentRange {
    /// `a ≠ 0`
    NotZero,
    /// `a ≥ 0`
    NotNegative,
    /// `a ≥ 2^−126`: positive and not subnormal in single precision.
    Normal,
    /// `|a| < 105615`: reduced by subtracting multiples of π/2. Code for other arguments was dropped.
    Small,
    /// `|a| ≤ 2^23 · |b|`: one division gives the remainder. Code for other arguments was dropped.
    SmallQuotient,
}

impl ArgumentRange {
    /// Angles below this are [`Small`](Self::Small).
    pub const SMALL: i64 = 105_615;
    /// The exponent of the least normal single.
    pub const LEAST_NORMAL_EXPONENT: i32 = -126;
    /// The largest quotient that is [`SmallQuotient`](Self::SmallQuotient).
    pub const LARGEST_QUOTIENT: i64 = 1 << 23;

    /// Returns `true` if code for other arguments was dropped. Its accesses to memory are not checked.
    #[must_use]
    pub const fn drops_code(self) -> bool {
        matches!(self, Self::Small | Self::SmallQuotient)
    }
}

/// Two numbers in, one out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum FloatBinary {
    Add,
    Sub,
    Mul,
    Div,
    /// The smaller; `propagate_nan` returns NaN if either is, otherwise the other operand.
    Min {
        propagate_nan: bool,
        /// Compares the magnitudes, and takes the exclusive or of the signs.
        xor_sign_abs: bool,
    },
    /// The larger; as `Min`.
    Max {
        propagate_nan: bool,
        xor_sign_abs: bool,
    },
    /// The sign of `a` on the magnitude of `b`.
    CopySign,
}

/// A comparison of two numbers. Ordered relations are false if either is NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FloatRelation {
    /// An order relation; `or_unordered` makes it true if either is NaN.
    Order {
        /// The relation between numbers.
        relation: crate::Relation,
        /// The answer when either is NaN.
        or_unordered: bool,
    },
    /// Neither is NaN.
    BothNumbers,
    /// Either is NaN.
    EitherNan,
}

/// The property that `testp` tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "named as in the manual")]
pub enum FloatProperty {
    Finite,
    Infinite,
    Number,
    NotANumber,
    Normal,
    Subnormal,
}
