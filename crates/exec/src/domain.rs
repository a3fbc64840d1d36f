//! Domains: the representation of *unknown* values. A domain stores them; the engine moves them around.
//!
//! Without a domain ([`crate::run`]) unknown values carry no information: their bits are meaningless, and
//! everything computed from them is unknown. With one ([`crate::run_in`]) every unknown lane of a register
//! and every opaque unit of memory holds a **handle**. The engine asks the domain to apply the kernel's
//! operations to the values behind the handles: intervals, terms, or anything else.
//!
//! # Values are reals
//!
//! To a domain a float is a mathematical real. Rounding, `.ftz` and approximate functions are not part of an
//! operation, and conversions between formats are the identity; the engine never asks about them. `.sat`,
//! `.relu` and, to small formats, `.satfinite` are operations of their own ([`Unary::Saturate`],
//! [`Unary::Rectify`], [`Unary::Finite`]). The same must hold for constants, so the engine also asks about
//! arithmetic on known floats: `1.0 / 3.0` is a third. Copies, negation, magnitude, minimum and maximum of
//! known numbers stay bits.
//!
//! An operation may be undefined (a division by zero) or unsupported by the domain. Both give an ordinary
//! value that the domain must recognise later: [`Domain::explain`] gives the reason when the value decides
//! something.
//!
//! # Division of work
//!
//! The engine tracks *where* values are: which bytes of a register or of memory are which bytes of which
//! value in which format. So vector accesses, packs of halves, byte permutations and shifts by whole bytes
//! lose nothing (see `value`). Anything that it cannot track becomes *opaque* with the place and the reason,
//! and is never passed to the domain. The domain knows nothing about registers, memory or bits.
//!
//! Unknown booleans are handles too. Only [`Domain::compare`], [`Domain::connect`] and [`Domain::not`] create
//! them, and only those, [`Domain::select`] and [`Domain::explain`] receive them.
//!
//! # Cost
//!
//! Calls are for the 32 lanes of a warp at once: one dynamic call for each instruction. Results go to `out`
//! at the lanes of `lanes`; other lanes of operands and results are meaningless and must not be read as
//! values.

mod inputs;
mod integers;

use crate::concrete::Conversion;
use crate::finding::Place;
pub use crate::handle::{LIMIT, Value};
use crate::lanes::{Mask, WARP};
pub use inputs::{InputSource, Inputs};
pub use integers::{Bounds, DataPlace, PlaceDifference};
use ir::{ArgumentRange, FloatMode, Format, RealFunction, Relation, Rounding, Scalar, Width};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The interpretation of floats for decisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// Reals: the domain alone decides.
    Real,
    /// Reals, but a branch, an address or an integer counts only if every legal result of the machine's
    /// arithmetic decides the same way ([`crate::Unfixed`]).
    Confirmed,
    /// Legal results of the machine's arithmetic; the domain decides nothing.
    Legal,
}

/// Handles of the 32 lanes of a warp.
pub type Values = [Value; WARP];

/// Booleans of the 32 lanes of a warp: known, or handles.
#[derive(Clone, Debug)]
pub struct Truths {
    /// The lanes with a known boolean.
    pub known: Mask,
    /// The lanes among those with `true`.
    pub truth: Mask,
    /// Handles of the other lanes.
    pub values: Values,
}

impl Truths {
    /// Nothing is known or set.
    pub const NONE: Self = Self { known: Mask::NONE, truth: Mask::NONE, values: [0; WARP] };

    /// Sets a lane to a known truth.
    pub fn decide(&mut self, lane: usize, holds: bool) {
        let bit = Mask(1 << lane);
        self.known = self.known.or(bit);
        self.truth = if holds { self.truth.or(bit) } else { self.truth.without(bit) };
    }

    /// Sets a lane to a handle.
    pub fn defer(&mut self, lane: usize, value: Value) {
        self.known = self.known.without(Mask(1 << lane));
        self.values[lane] = value;
    }
}

/// A real function of one argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Unary {
    Negate,
    Abs,
    Sqrt,
    ReciprocalSqrt,
    Reciprocal,
    /// 2^x.
    Exp2,
    /// log₂ x.
    Log2,
    Sin,
    Cos,
    Tanh,
    /// Rounding to an integer.
    Round(Rounding),
    /// Clamping to [0, 1].
    Saturate,
    /// The larger of the argument and 0.
    Rectify,
    /// Clamping to the numbers of a format of [`LARGEST`].
    Finite(Format),
}

/// The formats that `.satfinite` clamps to, with their largest number. A value that overflows a wider format
/// overflows single precision as well, which is not reported.
pub const LARGEST: [(Format, f64); 3] =
    [(Format::F16, 65504.0), (Format::E4m3, 448.0), (Format::E5m2, 57344.0)];

/// A real function of two arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Min,
    Max,
    /// The magnitude of the second with the sign of the first; zero counts as positive
    /// ([`Domain::reads_sign`]).
    CopySign,
}

/// A boolean operation with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Connective {
    And,
    Or,
    Xor,
}

/// A floating-point instruction as a machine executes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// The format of its floats.
    pub format: Format,
    /// Its modifiers.
    pub mode: FloatMode,
    /// Its place.
    pub place: Place,
}

/// A kind of values, with the operations on them.
pub trait Domain {
    /// Returns the handle of the first input; the others follow consecutively. `None` if the domain has no
    /// values for them; they are opaque then. Called once for each opaque buffer and argument, in the order
    /// of the launch.
    ///
    /// An integer is its bits as interpreted by its type.
    fn inputs(&mut self, inputs: &Inputs) -> Option<Value>;

    /// Returns the value of a float of this format. A NaN is an undefined value. The engine asks at most once
    /// for each bit pattern.
    fn constant(&mut self, format: Format, bits: u64) -> Value;

    /// Returns the value of an integer, which is a real to the domain.
    fn integer(&mut self, number: i128) -> Value;

    /// Announces the machine instruction behind the next operations. Reals do not depend on it.
    fn instruction(&mut self, instruction: Instruction) {
        let _ = instruction;
    }

    /// Announces that the next operations belong to no float instruction: they come from integers or bits.
    fn no_instruction(&mut self) {}

    /// Announces the matrix instruction behind the next sums of products ([`dot`](Self::dot)).
    fn matrix_instruction(&mut self, place: Place) {
        let _ = place;
    }

    /// A flag that the domain sets once its values take more memory than it may use. The run ends soon afterwards.
    fn memory_flag(&self) -> Option<Arc<AtomicBool>> {
        None
    }

    /// Converts a number to another format. As a real it stays the same, except for the clamp of
    /// `.satfinite`.
    fn convert(&mut self, conversion: &Conversion, a: &Values, lanes: Mask, out: &mut Values) {
        match conversion.to {
            Scalar::Float(to) if conversion.finite && LARGEST.iter().any(|one| one.0 == to) => {
                self.unary(Unary::Finite(to), a, lanes, out);
            }
            _ => lanes.iter().for_each(|lane| out[lane] = a[lane]),
        }
    }

    /// Adds a summand to a sum of atomic additions in schedule-dependent order.
    fn unordered_sum(&mut self, sum: Value, more: Value) -> Value {
        let mut out = [0; WARP];
        self.binary(Binary::Add, [&[sum; WARP], &[more; WARP]], Mask(1), &mut out);
        out[0]
    }

    /// Computes `a·b + c`, given the direction in which hardware rounds it. The direction does not change the
    /// real number. It identifies the few places where a kernel rounds on purpose, by adding a large
    /// constant.
    fn fma(&mut self, operands: [&Values; 3], rounding: Rounding, lanes: Mask, out: &mut Values);

    /// Like [`fma`](Self::fma), of one lane.
    fn fma_of_one(&mut self, operands: [Value; 3], rounding: Rounding) -> Value {
        let [a, b, c] = operands.map(|operand| [operand; WARP]);
        let mut out = [0; WARP];
        self.fma([&a, &b, &c], rounding, Mask(1), &mut out);
        out[0]
    }

    /// Computes `c + a₀·b₀ + a₁·b₁ + …`, one element of a matrix instruction's result.
    fn dot(&mut self, a: &[Value], b: &[Value], c: Value) -> Value {
        let mut sum = [c; WARP];
        for (&x, &y) in a.iter().zip(b) {
            let before = sum;
            let operands = [&[x; WARP], &[y; WARP], &before];
            self.fma(operands, Rounding::NearestEven, Mask(1), &mut sum);
        }
        sum[0]
    }

    /// Applies an operation with two operands.
    fn binary(&mut self, op: Binary, operands: [&Values; 2], lanes: Mask, out: &mut Values);

    /// Applies an operation with one operand.
    fn unary(&mut self, op: Unary, a: &Values, lanes: Mask, out: &mut Values);

    /// Returns `true` if a value depends on inputs. Any other value is a number that the engine knows, or has no
    /// enclosure.
    fn is_data(&self, value: Value) -> bool {
        let _ = value;
        true
    }

    /// Reports that an instruction takes the sign of a value, which on hardware may be a negative zero.
    fn reads_sign(&mut self, value: Value, place: Place) {
        let _ = (value, place);
    }

    /// Reports that an instruction tests a value for NaN, and that the run continues as if it were a number. On
    /// hardware the result of an undefined operation is a NaN.
    fn tests_number(&mut self, value: Value, place: Place) {
        let _ = (value, place);
    }

    /// Applies a function that no instruction computes; a function of one argument gets it twice. For
    /// arguments outside its range, if it has one, the result is arbitrary.
    fn function(
        &mut self,
        function: (RealFunction, Option<ArgumentRange>),
        operands: [&Values; 2],
        lanes: Mask,
        out: &mut Values,
    );

    /// Compares `a` with `b`. Each lane may be decided or not.
    fn compare(
        &mut self,
        relation: Relation,
        operands: [&Values; 2],
        lanes: Mask,
        out: &mut Truths,
    );

    /// Compares floats. Hardware rounds floats, so the result need not hold for integers that they were converted
    /// from.
    fn compare_floats(
        &mut self,
        relation: Relation,
        operands: [&Values; 2],
        lanes: Mask,
        out: &mut Truths,
    ) {
        self.compare(relation, operands, lanes, out);
    }

    /// Connects two unknown booleans.
    fn connect(&mut self, op: Connective, operands: [&Values; 2], lanes: Mask, out: &mut Truths);

    /// Negates a boolean.
    fn not(&mut self, a: &Values, lanes: Mask, out: &mut Values);

    /// Returns a handle for a known boolean that only selects between values. 0 if the domain has none; it is
    /// lost then.
    fn truth(&mut self, holds: bool) -> Value {
        let _ = holds;
        0
    }

    /// Selects the first operand where the condition holds, and the second elsewhere. The operand that is not
    /// selected may be undefined.
    fn select(&mut self, condition: &Values, operands: [&Values; 2], lanes: Mask, out: &mut Values);

    /// Returns `Some(true)` if two reals, or two integers, are equal for all inputs, `Some(false)` if they are not,
    /// and `None` if unknown.
    fn same(&mut self, a: Value, b: Value) -> Option<bool> {
        (a == b).then_some(true)
    }

    /// Returns `true` if two values differ for some values of the inputs without declared properties, for all values of
    /// the other inputs.
    fn differ_anywhere(&mut self, a: Value, b: Value) -> bool {
        let _ = (a, b);
        false
    }

    /// Returns `true` if two reals almost certainly differ for some inputs. A heuristic.
    fn seem_different(&mut self, a: Value, b: Value) -> bool {
        let _ = (a, b);
        false
    }

    /// Returns a value that stands for any of several: the common value if all are equal, or else one known only to
    /// be among them. `None` if the domain has none. `values` is not empty.
    fn any_of(&mut self, values: &[Value]) -> Option<Value> {
        let (&first, others) = values.split_first()?;
        others.iter().all(|&other| self.same(first, other) == Some(true)).then_some(first)
    }

    /// The interpretation of floats for decisions.
    fn numbers(&self) -> Numbers {
        Numbers::Real
    }

    /// Returns `true` if instructions with an undecided path condition are executed and their results become
    /// choices. Otherwise the run ends there.
    fn follows_conditions(&self) -> bool {
        false
    }

    /// Creates a fresh unconstrained boolean: the condition of a branch on something that the domain does not
    /// track. `None` if the domain has none; the run ends there.
    fn unknown_condition(&mut self) -> Option<Value> {
        None
    }

    /// Returns `true` if floats are compared as values of the domain. Otherwise only their enclosures decide
    /// comparisons.
    fn compares_floats(&self) -> bool {
        true
    }

    /// Returns `true` if the domain tracks choices with an undefined side. Otherwise the engine records
    /// possibly undefined values.
    fn chooses_undefined(&self) -> bool {
        true
    }

    /// Returns the integer that a real is rounded to, if decided.
    fn round(&mut self, value: Value, rounding: Rounding) -> Option<i128>;

    /// Returns the number in the lowest bits of an integer, signed or unsigned: the integer itself if it is
    /// known to be in range. `None` if unknown.
    ///
    /// Arithmetic on integers is exact, as on reals (sums, differences, products, magnitudes and extrema),
    /// while hardware keeps the lowest bits.
    fn in_range(&mut self, value: Value, width: Width, signed: bool) -> Option<Value> {
        let _ = (value, width, signed);
        None
    }

    /// Bounds an integer over all inputs; `None` if nothing is known.
    fn bounds(&mut self, value: Value) -> Option<Bounds> {
        let _ = value;
        None
    }

    /// Like [`bounds`](Self::bounds), under a condition.
    fn bounds_under(&mut self, value: Value, condition: Value) -> Option<Bounds> {
        let _ = condition;
        self.bounds(value)
    }

    /// Like [`bounds_under`](Self::bounds_under), by trying all numbers that inputs may have. This takes longer.
    fn enumerated_bounds_under(&mut self, value: Value, condition: Value) -> Option<Bounds> {
        let _ = (value, condition);
        None
    }

    /// Returns `true` if the sum of an integer and a constant is a multiple of `divisor` for all inputs.
    fn is_multiple(&mut self, (value, more): (Value, i128), divisor: u32) -> bool {
        let _ = (value, more, divisor);
        false
    }

    /// Returns the element at an integer place: `offset` bytes plus a constant after the start of `count`
    /// inputs of `size` bytes each, given the first one's handle. The place is in bounds. `None` if it is not
    /// a multiple of the size, or unsupported.
    fn element(
        &mut self,
        (first, count): (Value, u64),
        (offset, more): (Value, i128),
        size: u32,
    ) -> Option<Value> {
        let _ = (first, count, offset, more, size);
        None
    }

    /// Describes the input for which an integer takes its largest or smallest value, for a report: `idx[3] is
    /// 99`.
    fn extreme(&mut self, value: Value, largest: bool) -> Option<String> {
        let _ = (value, largest);
        None
    }

    /// Converts the sum of an integer and a constant to a place. `None` if unsupported.
    fn data_place(&mut self, place: (Value, i128)) -> Option<DataPlace> {
        let _ = place;
        None
    }

    /// Bounds the difference of two places, without their constants. `None` if nothing is known.
    fn difference(&mut self, a: &DataPlace, b: &DataPlace) -> Option<PlaceDifference> {
        let _ = (a, b);
        None
    }

    /// Describes, for a report, inputs for which the difference of two places is `factor` times its step (`idx[0]
    /// is 3 and idx[1] is 3`). The second result is the first place for these inputs. The factor must be attained.
    fn inputs_for(&mut self, a: &DataPlace, b: &DataPlace, factor: i128) -> Option<(String, i128)> {
        let _ = (a, b, factor);
        None
    }

    /// Returns the ticket of a block that is not the last one: an unknown integer from 0 to `most`, the number of
    /// blocks that took theirs before. `None` if the domain has no such integers.
    fn ticket(&mut self, block: u64, most: i128) -> Option<Value> {
        let _ = (block, most);
        None
    }

    /// Compares a place with a number: decided, or a boolean.
    fn is_place(&mut self, place: &DataPlace, number: i128) -> Truths {
        let _ = (place, number);
        Truths::NONE
    }

    /// Extracts a bit field: `bits` bits from bit `first` on, of the unsigned number in the lowest `width`
    /// bits. `None` if unsupported.
    fn field(&mut self, value: Value, width: Width, first: u32, bits: u32) -> Option<Value> {
        let _ = (value, width, first, bits);
        None
    }

    /// Returns `true` if a condition is known to hold for no inputs.
    fn is_never(&mut self, condition: Value) -> bool {
        let _ = condition;
        false
    }

    /// Computes `⌊a / 2^by⌋` of a signed integer: a shift to the right. `None` if unsupported.
    fn quotient(&mut self, value: Value, by: u32) -> Option<Value> {
        let _ = (value, by);
        None
    }

    /// Computes `−1 − a`: the bitwise complement of an integer.
    fn complement(&mut self, a: Value) -> Value {
        let (minus_one, mut out) = (self.integer(-1), [0; WARP]);
        self.binary(Binary::Sub, [&[minus_one; WARP], &[a; WARP]], Mask(1), &mut out);
        out[0]
    }

    /// Builds the number with these bits, each 0 or 1, lowest first; [`field`](Self::field) extracts them
    /// again. `None` if unsupported.
    fn number_of_bits(&mut self, bits: &[Value]) -> Option<Value> {
        let _ = bits;
        None
    }

    /// Shifts the bits of a single-precision float left by 23, and returns the float with these bits: an integer in
    /// the lowest bits becomes an exponent. `expf` makes powers of two this way. `None` if unknown.
    fn power_of_exponent(&mut self, value: Value) -> Option<Value> {
        let _ = value;
        None
    }

    /// Explains why a value or boolean is unknown, undefined or undecided. Continues "control flow depends
    /// on".
    fn explain(&self, value: Value) -> String;
}
