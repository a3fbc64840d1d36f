//! The kernels of `corpus/math`, one function each, and how to run them.

#![allow(dead_code, reason = "each test uses some of it")]

use exec::{Access, Argument, Buffer, Contents, Launch, Limits};
use ir::{Format, Op, Operand, Program, RealFunction};
use std::collections::BTreeSet;

/// Compiler, architecture and flag.
pub(crate) const BUILDS: [&str; 8] = [
    "nvcc134.sm_80",
    "nvcc134.sm_100",
    "nvrtc129.sm_80",
    "nvrtc129.sm_100",
    "nvcc134.sm_80.fast",
    "nvcc134.sm_100.fast",
    "nvrtc129.sm_80.fast",
    "nvrtc129.sm_100.fast",
];

/// A kernel as a module of its own.
pub(crate) struct Kernel {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) program: Program,
    /// Singles in its text.
    pub(crate) constants: Vec<u32>,
    /// Upper halves of doubles, and numbers that may be some.
    pub(crate) uppers: Vec<u32>,
}

pub(crate) fn lower(text: &str) -> Program {
    let parsed = ptx::syntax::parse(text);
    assert!(parsed.errors.is_empty(), "{:?}\n{text}", parsed.errors);
    ptx::lower(&parsed.module).program
}

/// All kernels of a build.
pub(crate) fn kernels(build: &str) -> Vec<Kernel> {
    module("functions", build)
}

/// Kernels of functions with an argument above 1, where the other side of the comparison is not used.
pub(crate) fn kernels_with_known_range(build: &str) -> Vec<Kernel> {
    let mut kernels = module("known", build);
    kernels.retain(|kernel| kernel.name.starts_with("behind_") && kernel.name != "behind_other");
    kernels
}

/// Kernels that call functions in loops.
pub(crate) fn looped(build: &str) -> Vec<Kernel> {
    module("loops", build)
}

fn module(module: &str, build: &str) -> Vec<Kernel> {
    let name = format!("{module}.{build}.ptx");
    let path = testing::corpus::root().join("corpus/math").join(name);
    let text = std::fs::read_to_string(path).unwrap();
    let (head, rest) = text.split_once(".visible .entry").unwrap();
    let bodies = rest.split(".visible .entry");
    let kernel = |body: &str| {
        // Text between two kernels belongs to all: tables of the library.
        let text = format!("{head}.visible .entry{body}");
        let name = body.trim_start().split('(').next().unwrap().to_owned();
        let words = body.split(|c: char| !c.is_ascii_alphanumeric());
        let constants = words.clone().filter_map(|word| word.strip_prefix("0f"));
        let constants = constants.filter_map(|digits| u32::from_str_radix(digits, 16).ok());
        let upper = |word: &str| match word.strip_prefix("0d") {
            Some(digits) => digits.get(..8).and_then(|half| u32::from_str_radix(half, 16).ok()),
            None => word.parse().ok().filter(|number| *number > 1 << 20),
        };
        let uppers = words.filter_map(upper).collect();
        Kernel { name, program: lower(&text), constants: constants.collect(), uppers, text }
    };
    bodies.map(kernel).collect()
}

impl Kernel {
    /// The name of the function it calls.
    pub(crate) fn function(&self) -> &str {
        self.name.split_once('_').map_or(self.name.as_str(), |(_, name)| name)
    }

    /// Returns `true` if it reads halves. It computes on them as singles.
    pub(crate) fn is_of_halves(&self) -> bool {
        self.function().starts_with('h') && !self.function().starts_with("hypot")
    }

    /// Mutants with one changed constant, and that constant.
    pub(crate) fn mutants(&self) -> Vec<(Program, String)> {
        self.with_changed(another)
    }

    /// Mutants with bit 31 of a double flipped, and that double.
    pub(crate) fn with_flipped_middles(&self) -> Vec<(Program, String)> {
        self.with_changed(|word| {
            let bits = u64::from_str_radix(word.strip_prefix("0d")?, 16).ok()?;
            Some(format!("0d{:016X}", bits ^ 1 << 31))
        })
    }

    /// Changes the constants that are not `None`, one in each program.
    fn with_changed(&self, another: impl Fn(&str) -> Option<String>) -> Vec<(Program, String)> {
        let start = self.text.find(".visible .entry").unwrap();
        let mut found = Vec::new();
        let bytes = self.text.as_bytes();
        let mut at = start;
        while at < bytes.len() {
            let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'%' || byte == b'_';
            if !is_word(bytes[at]) {
                at += 1;
                continue;
            }
            let length = bytes[at..].iter().take_while(|&&byte| is_word(byte)).count();
            let word = &self.text[at..at + length];
            if let Some(other) = another(word) {
                let text = format!("{}{other}{}", &self.text[..at], &self.text[at + length..]);
                found.push((lower(&text), word.to_owned()));
            }
            at += length;
        }
        found
    }
}

/// Returns a neighbour of a constant, or `None` for one that many codes share.
fn another(word: &str) -> Option<String> {
    if let Some(digits) = word.strip_prefix("0f") {
        let bits = u32::from_str_radix(digits, 16).ok()?;
        // Zeros, ones and infinities occur outside expansions, too.
        let plain = [0, 1 << 31, 0x3f80_0000, 0x7f80_0000, 0xff80_0000].contains(&bits);
        return (!plain).then(|| format!("0f{:08X}", bits ^ 1));
    }
    if let Some(digits) = word.strip_prefix("0d") {
        let bits = u64::from_str_radix(digits, 16).ok()?;
        let plain = [0, 0x3ff0_0000_0000_0000, 0x7ff0_0000_0000_0000, 0xfff0_0000_0000_0000];
        return (!plain.contains(&bits)).then(|| format!("0d{:016X}", bits ^ 1));
    }
    let number: i64 = word.parse().ok().filter(|number: &i64| *number > 1 << 16)?;
    Some(format!("{}", number ^ 1))
}

/// A function that lifting finds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Claim {
    pub(crate) function: RealFunction,
    pub(crate) format: Format,
    /// The arguments for which it is the function, if not for all.
    pub(crate) range: Option<ir::ArgumentRange>,
    /// The second argument, if it is a constant.
    pub(crate) second: Option<f64>,
}

/// The functions that lifting finds in a program.
pub(crate) fn claims(program: &Program) -> Vec<Claim> {
    let lifted = lift::lift(program).program;
    let problems = ir::validate(&lifted);
    assert!(problems.is_empty(), "{problems:?}");
    let functions = lifted.functions.iter().flat_map(|function| function.instructions());
    let functions = functions.filter_map(|instruction| match &instruction.op {
        Op::Real { function, format, range, b, .. } => {
            let second = match b {
                Some(Operand::Constant(bits)) => Some(exec::concrete::to_double(*format, *bits)),
                _ => None,
            };
            Some(Claim { function: *function, format: *format, range: *range, second })
        }
        _ => None,
    });
    functions.collect()
}

fn register_of(operand: Operand) -> Option<ir::Reg> {
    match operand {
        Operand::Register(register) => Some(register),
        Operand::Constant(_) => None,
    }
}

/// Returns the kernel parameters that each argument of a two-argument function comes from.
pub(crate) fn origins(program: &Program) -> Vec<(RealFunction, [BTreeSet<usize>; 2])> {
    let lifted = lift::lift(program).program;
    let function = lifted.functions.iter().find(|function| function.is_kernel).unwrap();
    let of = |operand: Operand| {
        let mut found = BTreeSet::new();
        let mut work: Vec<ir::Reg> = register_of(operand).into_iter().collect();
        let mut seen = BTreeSet::new();
        while let Some(register) = work.pop() {
            if !seen.insert(register) {
                continue;
            }
            for instruction in function.instructions() {
                let mut writes = false;
                instruction.op.visit(&mut |access| {
                    writes |= matches!(access, ir::Access::Write(to) if to == register);
                });
                instruction.op.visit(&mut |access| match access {
                    _ if !writes => {}
                    ir::Access::Read(Operand::Register(from)) => work.push(from),
                    ir::Access::Address(address) => match address.base {
                        ir::AddressBase::Register(from) => work.push(from),
                        ir::AddressBase::Variable(from) => {
                            let own = |param: &ir::Param| matches!(param, ir::Param::Variable(one) if *one == from);
                            found.extend(function.params.iter().position(own));
                        }
                        ir::AddressBase::Absolute => {}
                    },
                    _ => {}
                });
            }
        }
        found
    };
    let functions = function.instructions().filter_map(|instruction| match instruction.op {
        Op::Real { function, a, b: Some(b), .. } => Some((function, [of(a), of(b)])),
        _ => None,
    });
    functions.collect()
}

/// The kernel after lifting, as text.
pub(crate) fn lifted_text(program: &Program) -> String {
    let program = lift::lift(program).program;
    let kernels = program.functions.iter().filter(|function| function.is_kernel);
    kernels.map(|function| ir::Printed { program: &program, function }.to_string()).collect()
}

/// Value of a half.
pub(crate) fn half_value(bits: u16) -> f64 {
    exec::concrete::to_double(Format::F16, bits.into())
}

/// Rounds a number to a half.
fn half_of(number: f32) -> u16 {
    use exec::concrete::{Conversion, convert};
    let (from, to) = (ir::Scalar::Float(Format::F32), ir::Scalar::Float(Format::F16));
    convert(Conversion::nearest(from, to), number.to_bits().into()) as u16
}

/// Runs a kernel of one or two inputs on numbers.
pub(crate) fn run(kernel: &Kernel, claim: Claim, x: &[f32], y: &[f32]) -> Vec<f64> {
    run_program(kernel, &kernel.program, claim, x, y)
}

/// Runs this kernel, or a changed program in its place.
pub(crate) fn run_program(
    kernel: &Kernel,
    program: &Program,
    claim: Claim,
    x: &[f32],
    y: &[f32],
) -> Vec<f64> {
    // The format in memory; intermediate values may have another.
    let format = if kernel.is_of_halves() { Format::F16 } else { claim.format };
    const THREADS: u32 = 256;
    let (id, function) = program.functions.enumerate().find(|(_, f)| f.is_kernel).unwrap();
    let blocks = x.len().div_ceil(THREADS as usize);
    let count = blocks * THREADS as usize;
    let size = format.width().bytes() as usize;
    let bytes = |numbers: &[f32]| {
        let padded = numbers.iter().copied().chain(std::iter::repeat(1.0)).take(count);
        let bytes = padded.flat_map(|number| match format {
            Format::F64 => f64::from(number).to_le_bytes().to_vec(),
            Format::F16 => half_of(number).to_le_bytes().to_vec(),
            _ => number.to_le_bytes().to_vec(),
        });
        bytes.collect::<Vec<u8>>()
    };
    let inputs = function.params.len() - 1;
    let mut buffers = Vec::new();
    for (name, numbers) in [("x", x), ("y", y)].into_iter().take(inputs) {
        let contents = Contents::Known(bytes(numbers));
        let access = Access::InOut;
        buffers.push(Buffer {
            name: name.into(),
            element_bytes: 4,
            element: None,
            contents,
            access,
        });
    }
    let contents = Contents::Undefined((count * size) as u64);
    let access = Access::Out;
    buffers.push(Buffer { name: "out".into(), element_bytes: 4, element: None, contents, access });
    let launch = Launch {
        kernel: id,
        grid: [blocks as u32, 1, 1],
        block: [THREADS, 1, 1],
        cluster: None,
        dynamic_shared: 0,
        arguments: (0..buffers.len()).map(Argument::Pointer).collect(),
        buffers,
        symbols: Vec::new(),
        selected: Vec::new(),
    };
    let outcome = exec::run(program, &launch, Limits::default());
    assert!(outcome.gap.is_none() && outcome.findings.is_empty(), "{}: {outcome:?}", kernel.name);
    // `sincosf` writes the sine before the cosine.
    let first = kernel.function() == "sincosf" && claim.function == RealFunction::Sin;
    let written = &outcome.buffers[inputs - usize::from(first)];
    let numbers = written.chunks(size).take(x.len()).map(|bytes| match format {
        Format::F64 => f64::from_le_bytes(bytes.try_into().unwrap()),
        Format::F16 => half_value(u16::from_le_bytes(bytes.try_into().unwrap())),
        _ => f64::from(f32::from_le_bytes(bytes.try_into().unwrap())),
    });
    numbers.collect()
}
