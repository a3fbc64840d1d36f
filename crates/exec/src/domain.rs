//! What *unknown* values are: a domain keeps them, the engine moves them around.
//!
//! Without a domain ([`crate::run`]) an unknown value is unknown and nothing else: its bits mean
//! nothing, and everything computed from it is unknown. With one ([`crate::run_in`]) every unknown
//! lane of a register and every opaque unit of memory holds a **handle**, and the engine asks the
//! domain what the operations of the kernel make of the values behind the handles: intervals,
//! terms, whatever the domain keeps.
//!
//! # Values are reals
//!
//! To a domain a float is a mathematical real. Rounding, `.ftz` and approximate functions are no
//! part of an operation, and conversions between formats are the identity; the engine never asks
//! about them. `.sat`, `.relu` and, to small formats, `.satfinite` are operations of their own ([`Unary::Saturate`],
//! [`Unary::Rectify`], [`Unary::Finite`]). So that this holds for constants too, the engine asks about arithmetic on
//! known floats as well: `1.0 / 3.0` is a third. Copies, negation, magnitude, minimum and maximum of
//! known numbers stay bits.
//!
//! An operation may be undefined (a division by zero) or beyond the domain. Both give a value like
//! any other, which the domain must remember to be so; [`Domain::explain`] says why when the value
//! comes to decide something.
//!
//! # Who does what
//!
//! The engine keeps track of *where* values are: which bytes of a register or of memory are which
//! bytes of which value in which format, so that vector accesses, packs of halves, byte
//! permutations and shifts by whole bytes lose nothing (see `value`). What it cannot follow becomes
//! *opaque* with the place and the reason, and is never shown to the domain. The domain knows
//! nothing of registers, memory or bits.
//!
//! Booleans that are not known are handles too. Only [`Domain::compare`], [`Domain::connect`] and
//! [`Domain::not`] make them, and only those, [`Domain::select`] and [`Domain::explain`] are given
//! them.
//!
//! # Cost
//!
//! Calls are for the 32 lanes of a warp at once: one dynamic call for each instruction. Results go
//! to `out` at the lanes of `lanes`; other lanes of operands and results have no meaning and must
//! not be read as values.

mod integers;

use crate::concrete::Conversion;
use crate::finding::Place;
pub use crate::handle::{LIMIT, Value};
use crate::lanes::{Mask, WARP};
pub use integers::{Bounds, DataPlace, PlaceDifference};
use ir::{ArgumentRange, FloatMode, Format, RealFunction, Relation, Rounding, Scalar, Width};

/// Which numbers the floats of a run are, where a decision rests on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// Reals: the domain alone decides.
    Real,
    /// Reals, but a branch, an address or an integer counts only if every legal result of the
    /// machine's arithmetic decides alike ([`crate::Unfixed`]).
    Confirmed,
    /// Legal results of the machine's arithmetic; the domain decides nothing.
    Legal,
}

/// Handles of the 32 lanes of a warp.
pub type Values = [Value; WARP];

/// Booleans of the 32 lanes of a warp: known, or handles.
#[derive(Clone, Debug)]
pub struct Truths {
    /// Lanes in which it is known.
    pub known: Mask,
    /// Among those, the lanes in which it is true.
    pub truth: Mask,
    /// Handles, where it is not known.
    pub values: Values,
}

impl Truths {
    /// Nothing is known, and nobody has said anything.
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

/// One real in, one out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Unary {
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
    /// The integer that `Rounding` chooses.
    Round(Rounding),
    /// Clamped to [0, 1].
    Saturate,
    /// The larger of it and 0.
    Rectify,
    /// Clamped to the numbers of a format of [`LARGEST`].
    Finite(Format),
}

/// The formats that `.satfinite` clamps to, with their largest number. What overflows a wider one
/// overflows single precision as well, and nothing is said about that.
pub const LARGEST: [(Format, f64); 3] =
    [(Format::F16, 65504.0), (Format::E4m3, 448.0), (Format::E5m2, 57344.0)];

/// Two reals in, one out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Min,
    Max,
    /// The sign of the first on the magnitude of the second; zero counts as positive
    /// ([`Domain::reads_sign`]).
    CopySign,
}

/// Two booleans in, one out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Connective {
    And,
    Or,
    Xor,
}

/// An instruction on floats, as a machine executes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// What its floats are.
    pub format: Format,
    /// Its modifiers.
    pub mode: FloatMode,
    /// Where it is.
    pub place: Place,
}

/// Values that are there before the first instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inputs {
    /// Where they are.
    pub source: InputSource,
    /// What each is.
    pub scalar: Scalar,
    /// How many there are, side by side.
    pub count: u64,
}

/// Where inputs are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InputSource {
    /// In the buffer of this number.
    Buffer(usize),
    /// In the argument of this number, at a byte offset (of a structure).
    Argument(usize, u64),
}

/// A kind of values, and what operations make of them.
pub trait Domain {
    /// Handles of inputs: that of the first; the others follow it one by one. `None` if the domain
    /// has nothing to say about them; they are opaque then. Asked once for each opaque buffer and
    /// argument, in the order of the launch.
    ///
    /// An integer is the number that its type makes of its bits.
    fn inputs(&mut self, inputs: &Inputs) -> Option<Value>;

    /// The value that a float of this format has. A NaN is an undefined value. The engine asks at
    /// most once for each bit pattern.
    fn constant(&mut self, format: Format, bits: u64) -> Value;

    /// An integer as a real.
    fn integer(&mut self, number: i128) -> Value;

    /// What the machine does in the operations that are asked about next. Reals do not depend on it.
    fn instruction(&mut self, instruction: Instruction) {
        let _ = instruction;
    }

    /// A number in another format. As a real it is the same, but for the clamp of `.satfinite`.
    fn convert(&mut self, conversion: &Conversion, a: &Values, lanes: Mask, out: &mut Values) {
        match conversion.to {
            Scalar::Float(to) if conversion.finite && LARGEST.iter().any(|one| one.0 == to) => {
                self.unary(Unary::Finite(to), a, lanes, out);
            }
            _ => lanes.iter().for_each(|lane| out[lane] = a[lane]),
        }
    }

    /// A sum of atomic additions with one more, whose order the schedule chooses.
    fn unordered_sum(&mut self, sum: Value, more: Value) -> Value {
        let mut out = [0; WARP];
        self.binary(Binary::Add, [&[sum; WARP], &[more; WARP]], Mask(1), &mut out);
        out[0]
    }

    /// `a·b + c`, and the direction in which hardware rounds it. The direction changes no real number;
    /// it tells the few places where a kernel rounds on purpose, by adding a large constant.
    fn fma(&mut self, operands: [&Values; 3], rounding: Rounding, lanes: Mask, out: &mut Values);

    /// `c + a₀·b₀ + a₁·b₁ + …`: what a matrix instruction makes of a row and a column.
    fn dot(&mut self, a: &[Value], b: &[Value], c: Value) -> Value {
        let mut sum = [c; WARP];
        for (&x, &y) in a.iter().zip(b) {
            let before = sum;
            let operands = [&[x; WARP], &[y; WARP], &before];
            self.fma(operands, Rounding::NearestEven, Mask(1), &mut sum);
        }
        sum[0]
    }

    /// Two operands.
    fn binary(&mut self, op: Binary, operands: [&Values; 2], lanes: Mask, out: &mut Values);

    /// One operand.
    fn unary(&mut self, op: Unary, a: &Values, lanes: Mask, out: &mut Values);

    /// Whether a value depends on inputs. What does not is a number that the engine knows, or one it does not enclose.
    fn is_data(&self, value: Value) -> bool {
        let _ = value;
        true
    }

    /// An instruction at a place takes the sign of a value, which on hardware may be a negative zero.
    fn reads_sign(&mut self, value: Value, place: Place) {
        let _ = (value, place);
    }

    /// An instruction at a place tests whether a value is a NaN and goes on as if it were none. On hardware a value whose
    /// operations are not defined is one.
    fn tests_number(&mut self, value: Value, place: Place) {
        let _ = (value, place);
    }

    /// A function that no instruction computes; one of one argument is given it twice. Where arguments are
    /// out of its range, if it has one, the result may be anything.
    fn function(
        &mut self,
        function: (RealFunction, Option<ArgumentRange>),
        operands: [&Values; 2],
        lanes: Mask,
        out: &mut Values,
    );

    /// Whether `a` stands in a relation to `b`. Lanes may be decided or not, each for itself.
    fn compare(
        &mut self,
        relation: Relation,
        operands: [&Values; 2],
        lanes: Mask,
        out: &mut Truths,
    );

    /// Notes that booleans compare floats. A machine rounds those: what holds of them need not hold of the integers they were made of.
    fn note_rounded(&mut self, truths: &Truths, lanes: Mask) {
        let _ = (truths, lanes);
    }

    /// Two booleans that are both not known.
    fn connect(&mut self, op: Connective, operands: [&Values; 2], lanes: Mask, out: &mut Truths);

    /// The opposite of a boolean.
    fn not(&mut self, a: &Values, lanes: Mask, out: &mut Values);

    /// A boolean that is known, as a handle: it chooses between values and decides nothing else. 0 if
    /// the domain has none; it is lost then.
    fn truth(&mut self, holds: bool) -> Value {
        let _ = holds;
        0
    }

    /// The first operand where the condition holds, the second elsewhere. The one that is not
    /// chosen need not be defined.
    fn select(&mut self, condition: &Values, operands: [&Values; 2], lanes: Mask, out: &mut Values);

    /// Whether two reals, or two integers, are the same whatever the inputs are; `None` if that is not
    /// known.
    fn same(&mut self, a: Value, b: Value) -> Option<bool> {
        (a == b).then_some(true)
    }

    /// Tells whether two values are different for some inputs of which nothing is said: whatever the other inputs are, these can be chosen.
    fn differ_anywhere(&mut self, a: Value, b: Value) -> bool {
        let _ = (a, b);
        false
    }

    /// Tells whether two reals are almost certainly different for some inputs. Nothing is claimed of it.
    fn seem_different(&mut self, a: Value, b: Value) -> bool {
        let _ = (a, b);
        false
    }

    /// A value that stands for every one of several: that of them which they all are, or one of which it is only
    /// known that it is among them. `None` if the domain has none. There is at least one.
    fn any_of(&mut self, values: &[Value]) -> Option<Value> {
        let (&first, others) = values.split_first()?;
        others.iter().all(|&other| self.same(first, other) == Some(true)).then_some(first)
    }

    /// Which numbers decisions rest on.
    fn numbers(&self) -> Numbers {
        Numbers::Real
    }

    /// Whether an instruction is executed under a condition that is not decided, and what it writes
    /// becomes a choice. If not, the run ends there.
    fn follows_conditions(&self) -> bool {
        false
    }

    /// A boolean of which nothing is known, like no other: the condition of a branch on something that the domain does not
    /// follow. `None` if it has none; the run ends there.
    fn unknown_condition(&mut self) -> Option<Value> {
        None
    }

    /// Tells whether floats are compared as values of the domain. If not, nothing is known of how they compare but what their
    /// enclosures tell.
    fn compares_floats(&self) -> bool {
        true
    }

    /// Tells whether a choice may have a side that nobody computed, of which the domain keeps track. If not, what may be undefined
    /// is noted by the engine.
    fn chooses_undefined(&self) -> bool {
        true
    }

    /// The integer that a real is rounded to, if that is settled.
    fn round(&mut self, value: Value, rounding: Rounding) -> Option<i128>;

    /// The number that the lowest bits of an integer are, with or without a sign: the integer itself, if it
    /// is known to be in range. `None` if that is not known.
    ///
    /// Integers are computed with as reals are, by sums, differences, products, magnitudes and extrema;
    /// the results are exact, and hardware keeps their lowest bits.
    fn in_range(&mut self, value: Value, width: Width, signed: bool) -> Option<Value> {
        let _ = (value, width, signed);
        None
    }

    /// Numbers that an integer lies between for all inputs there are; `None` if nothing is known of it.
    fn bounds(&mut self, value: Value) -> Option<Bounds> {
        let _ = value;
        None
    }

    /// The same where a condition holds.
    fn bounds_under(&mut self, value: Value, condition: Value) -> Option<Bounds> {
        let _ = condition;
        self.bounds(value)
    }

    /// Whether an integer and a number more is a multiple of another, whatever the inputs are.
    fn is_multiple(&mut self, (value, more): (Value, i128), of: u32) -> bool {
        let _ = (value, more, of);
        false
    }

    /// The element at a place that is an integer: so many bytes, and a number more, behind the start of `count` inputs
    /// of which the first is given, each of `size` bytes. The place is in bounds. `None` if that is no multiple of
    /// the size, or is not followed.
    fn element(
        &mut self,
        (first, count): (Value, u64),
        (offset, more): (Value, i128),
        size: u32,
    ) -> Option<Value> {
        let _ = (first, count, offset, more, size);
        None
    }

    /// The input for which an integer is as large, or as small, as it can be, for people: `idx[3] is 99`.
    fn extreme(&mut self, value: Value, largest: bool) -> Option<String> {
        let _ = (value, largest);
        None
    }

    /// An integer and a number more, as a place. `None` if it is not followed.
    fn data_place(&mut self, place: (Value, i128)) -> Option<DataPlace> {
        let _ = place;
        None
    }

    /// Bounds the difference of two places, without their numbers. `None` if nothing is known of it.
    fn difference(&mut self, a: &DataPlace, b: &DataPlace) -> Option<PlaceDifference> {
        let _ = (a, b);
        None
    }

    /// Inputs for which that is a factor times the step, for people (`idx[0] is 3 and idx[1] is 3`), and the number that the first
    /// place is then. The factor is one that is met.
    fn inputs_for(&mut self, a: &DataPlace, b: &DataPlace, factor: i128) -> Option<(String, i128)> {
        let _ = (a, b, factor);
        None
    }

    /// An integer from 0 to a number: how many other blocks were before a block, which is not the last one. `None` if the domain has none.
    fn ticket(&mut self, block: u64, most: i128) -> Option<Value> {
        let _ = (block, most);
        None
    }

    /// Compares a place with a number: the answer is decided, or a boolean.
    fn is_place(&mut self, place: &DataPlace, number: i128) -> Truths {
        let _ = (place, number);
        Truths::NONE
    }

    /// The number that some bits of an integer are: `bits` of them from bit `first` on, of the number that its
    /// lowest `width` bits are without a sign. `None` if that is not followed.
    fn field(&mut self, value: Value, width: Width, first: u32, bits: u32) -> Option<Value> {
        let _ = (value, width, first, bits);
        None
    }

    /// Tells whether a condition holds for no inputs. What is not known to be so may be.
    fn is_never(&mut self, condition: Value) -> bool {
        let _ = condition;
        false
    }

    /// `⌊a / 2^by⌋` of an integer with its sign: a shift to the right. `None` if that is not followed.
    fn quotient(&mut self, value: Value, by: u32) -> Option<Value> {
        let _ = (value, by);
        None
    }

    /// `−1 − a`: every bit of an integer turned over.
    fn complement(&mut self, a: Value) -> Value {
        let (minus_one, mut out) = (self.integer(-1), [0; WARP]);
        self.binary(Binary::Sub, [&[minus_one; WARP], &[a; WARP]], Mask(1), &mut out);
        out[0]
    }

    /// The number with these bits, each 0 or 1, the lowest first; [`field`](Self::field) gives them back. `None` if that
    /// is not followed.
    fn number_of_bits(&mut self, bits: &[Value]) -> Option<Value> {
        let _ = bits;
        None
    }

    /// The single whose bits are those of a single moved up by 23: an integer in the lowest bits
    /// becomes an exponent, which is how `expf` makes powers of two. `None` if nothing is known of it.
    fn power_of_exponent(&mut self, value: Value) -> Option<Value> {
        let _ = value;
        None
    }

    /// Why a value or boolean is not known, not defined, or not decided: words that follow
    /// "control flow depends on".
    fn explain(&self, value: Value) -> String;
}
