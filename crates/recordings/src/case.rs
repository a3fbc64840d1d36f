//! Cases: one instruction (or a short chain) with its operands and its runs.

use crate::hash::{HASH_START, hash};
use crate::kind::InputKind;
use crate::layout::Layout;
use crate::{sample, warp};
use std::fmt;
use testing::Random;

/// The type of a register's declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Register {
    /// `.pred`.
    Predicate,
    /// `.b16`.
    B16,
    /// `.b32`.
    B32,
    /// `.b64`.
    B64,
}

impl Register {
    /// The narrowest register with at least `bits` bits.
    pub(crate) fn of(bits: u32) -> Self {
        match bits {
            0..=1 => Self::Predicate,
            2..=16 => Self::B16,
            17..=32 => Self::B32,
            _ => Self::B64,
        }
    }

    /// Bits of the register.
    #[must_use]
    pub fn bits(self) -> u32 {
        match self {
            Self::Predicate => 1,
            Self::B16 => 16,
            Self::B32 => 32,
            Self::B64 => 64,
        }
    }

    /// Bytes of a value in files and buffers.
    #[must_use]
    pub fn bytes(self) -> usize {
        match self {
            Self::Predicate => 1,
            Self::B16 => 2,
            Self::B32 => 4,
            Self::B64 => 8,
        }
    }

    /// The type in its declaration, without the dot.
    #[must_use]
    pub fn type_name(self) -> &'static str {
        match self {
            Self::Predicate => "pred",
            Self::B16 => "b16",
            Self::B32 => "b32",
            Self::B64 => "b64",
        }
    }
}

/// A register that the instruction reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Its name, with the percent sign.
    pub name: String,
    /// Its declaration.
    pub register: Register,
    /// Its meaning.
    pub kind: InputKind,
}

/// A register with a recorded value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Its name, with the percent sign.
    pub name: String,
    /// Its declaration.
    pub register: Register,
}

/// Memory that a case works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// `.global`.
    Global,
    /// `.shared`.
    Shared,
}

/// A private piece of memory for each thread, with its address in `%cell`. Inputs named `%before0`,
/// `%before1`, … are stored there side by side before the instruction, and outputs named `%after0`,
/// `%after1`, … are loaded from there after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The memory.
    pub space: Space,
}

/// One instruction, or a chain of them, to be run on many inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The family, which is also the name of the data file.
    pub family: &'static str,
    /// The instructions, separated by spaces, each with its semicolon.
    pub text: String,
    /// Registers read, in the order of their values in a vector.
    pub inputs: Vec<Input>,
    /// Registers recorded, in the order of their values in a vector.
    pub outputs: Vec<Output>,
    /// Memory, if the instruction needs some.
    pub cell: Option<Cell>,
    /// The number of vectors, a multiple of 32. Thread `i` runs vector `i`, in one block; every 32 vectors
    /// are a warp.
    pub vectors: usize,
}

/// The text and the declarations, which together identify a case.
impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [", self.text)?;
        for input in &self.inputs {
            write!(f, "{}:{} ", input.name, input.register.type_name())?;
        }
        write!(f, "->")?;
        for output in &self.outputs {
            write!(f, " {}:{}", output.name, output.register.type_name())?;
        }
        write!(f, "]")
    }
}

impl Case {
    /// Returns `true` if the manual leaves the last bits of the result open.
    #[must_use]
    pub fn is_approximate(&self) -> bool {
        self.text.contains(".approx") || self.text.contains(".full")
    }

    /// Returns `true` if lanes of a warp interact.
    #[must_use]
    pub fn is_collective(&self) -> bool {
        matches!(self.family, "warp" | "matrix" | "fragments")
    }

    /// The number of vectors with results that the manual fixes to the last bit. They come first.
    #[must_use]
    pub fn exact_vectors(&self) -> usize {
        let floats =
            |input: &Input| matches!(input.kind, InputKind::Pack(layout) if layout != Layout::F64);
        let rounds = self.text.contains("mma.") && self.inputs.iter().any(floats);
        if rounds { self.vectors / 2 } else { self.vectors }
    }

    /// The opcode of the first instruction, without modifiers.
    #[must_use]
    pub fn opcode(&self) -> &str {
        self.text.split(['.', ' ', ';']).next().unwrap_or_default()
    }

    /// The name of the random stream. Cases with the same stream have the same inputs. Modifiers do not
    /// count, so that their effect is visible, and so that recordings compress.
    pub(crate) fn stream(&self) -> String {
        let mut stream = self.opcode().to_owned();
        for input in &self.inputs {
            stream += &format!(" {:?} {:?}", input.kind, input.register);
        }
        stream
    }

    /// The inputs: for each vector the values of the input registers. Deterministic.
    #[must_use]
    pub fn vectors(&self) -> Vec<Vec<u64>> {
        let mut random = Random::new(hash(HASH_START, self.stream().as_bytes()));
        let kinds: Vec<InputKind> = self.inputs.iter().map(|input| input.kind).collect();
        let mut vectors: Vec<Vec<u64>> = if kinds.iter().any(|kind| kind.is_of_matrix()) {
            let free = |index: usize| index >= self.vectors / 2;
            let mut draw = |index| {
                kinds.iter().map(|&kind| sample::matrix(&mut random, kind, free(index))).collect()
            };
            (0..self.vectors).map(&mut draw).collect()
        } else if kinds.iter().any(|kind| kind.is_of_warp()) {
            let rounds = self.vectors / warp::LANES;
            (0..rounds).flat_map(|_| warp::warp_vectors(&mut random, &kinds)).collect()
        } else {
            let draw = |index| sample::vector(&mut random, &kinds, index, self.vectors);
            (0..self.vectors).map(draw).collect()
        };
        for vector in &mut vectors {
            for (value, input) in vector.iter_mut().zip(&self.inputs) {
                *value |= random_high_bits(&mut random, input);
            }
        }
        vectors
    }

    /// The inputs as the kernel reads them: one array for each register, little-endian.
    #[must_use]
    pub fn input_bytes(&self) -> Vec<u8> {
        let vectors = self.vectors();
        let mut bytes = Vec::new();
        for (position, input) in self.inputs.iter().enumerate() {
            for value in vectors.iter().filter_map(|vector| vector.get(position)) {
                bytes.extend_from_slice(&value.to_le_bytes()[..input.register.bytes()]);
            }
        }
        bytes
    }

    /// The number of bytes of the recorded outputs: one array for each register, little-endian.
    #[must_use]
    pub fn output_length(&self) -> usize {
        self.outputs.iter().map(|output| output.register.bytes() * self.vectors).sum()
    }

    /// Splits outputs: for each vector the values of the output registers. `None` if the length is wrong.
    #[must_use]
    pub fn split_outputs(&self, bytes: &[u8]) -> Option<Vec<Vec<u64>>> {
        if bytes.len() != self.output_length() {
            return None;
        }
        let mut vectors = vec![Vec::with_capacity(self.outputs.len()); self.vectors];
        let mut rest = bytes;
        for output in &self.outputs {
            let width = output.register.bytes();
            let (array, after) = rest.split_at_checked(width * self.vectors)?;
            for (vector, value) in vectors.iter_mut().zip(array.chunks_exact(width)) {
                vector.push(value.iter().rev().fold(0, |all, &byte| all << 8 | u64::from(byte)));
            }
            rest = after;
        }
        Some(vectors)
    }

    /// Identifies the case together with its inputs: a recording under another fingerprint is stale.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        hash(hash(HASH_START, self.to_string().as_bytes()), &self.input_bytes())
    }
}

/// Random bits for the part of a register that the instruction must ignore.
fn random_high_bits(random: &mut Random, input: &Input) -> u64 {
    let (bits, all) = (input.kind.bits(), input.register.bits());
    if bits >= all { 0 } else { (random.bits() << bits) & (u64::MAX >> (64 - all)) }
}
