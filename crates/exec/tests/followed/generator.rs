//! Random kernels of one thread: bits and integers in registers of all widths, loaded from `x` and stored to
//! `y`.

use super::Run;
use ir::{Scalar, Width};
use testing::Random;

/// Bytes of `x`.
const BYTES: usize = 64;

/// The final stores: registers, offsets, and widths.
const OUTPUTS: [(&str, usize, Width); 12] = [
    ("%r0", 0, Width::B32),
    ("%r1", 4, Width::B32),
    ("%r2", 8, Width::B32),
    ("%r3", 12, Width::B32),
    ("%r4", 16, Width::B32),
    ("%r5", 20, Width::B32),
    ("%l0", 24, Width::B64),
    ("%l1", 32, Width::B64),
    ("%h0", 40, Width::B16),
    ("%h1", 42, Width::B16),
    ("%h2", 44, Width::B16),
    ("%f0", 48, Width::B32),
];

/// A kernel, line by line, and the contents of `x`.
#[derive(Clone)]
pub(crate) struct Case {
    lines: Vec<String>,
    scalar: Scalar,
    bytes: Vec<u8>,
}

impl Case {
    /// Generates the kernel of a seed.
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let width = [Width::B8, Width::B16, Width::B32, Width::B64][random.below(4)];
        let scalar = Scalar::Integer { width, signed: random.below(2) == 0 };
        // Include small numbers, with zeros or ones above.
        let mut bytes: Vec<u8> = (0..BYTES).map(|_| random.bits() as u8).collect();
        let size = width.bytes() as usize;
        for element in bytes.chunks_mut(size) {
            let kept = random.below(size) + 1;
            let top = [0, 0xff][random.below(2)];
            element[kept..].fill(top);
        }
        let mut lines: Vec<String> =
            OUTPUTS.iter().map(|(register, ..)| load(&mut random, register)).collect();
        for _ in 0..=random.below(7) {
            lines.push(statement(&mut random));
        }
        Self { lines, scalar, bytes }
    }

    /// The run to make.
    pub(crate) fn run(&self) -> Run {
        let output = |(register, at, width): &(&str, usize, Width)| {
            let is_float = register.starts_with("%f");
            (format!("{register} at {at}"), *at, *width, is_float)
        };
        Run {
            text: self.text(),
            threads: 1,
            scalar: self.scalar,
            bytes: self.bytes.clone(),
            outputs: OUTPUTS.iter().map(output).collect(),
        }
    }

    /// Removes everything from a kernel that a difference does not need.
    pub(crate) fn shrink(mut self, is_wrong: impl Fn(&Run) -> bool) -> Self {
        let mut at = OUTPUTS.len();
        while at < self.lines.len() {
            let mut smaller = self.clone();
            smaller.lines.remove(at);
            match is_wrong(&smaller.run()) {
                true => self = smaller,
                false => at += 1,
            }
        }
        self
    }

    fn text(&self) -> String {
        let store = |(register, at, width): &(&str, usize, Width)| {
            format!("st.global.b{} [%rd2+{at}], {register};", width.bits())
        };
        let stores: Vec<String> = OUTPUTS.iter().map(store).collect();
        format!(
            ".version 8.6\n.target sm_90\n.address_size 64\n.entry k(.param .u64 x, .param .u64 y) {{
            .reg .b32 %r<6>; .reg .b64 %l<2>; .reg .b16 %h<3>; .reg .f32 %f<1>; .reg .pred %p;
            .reg .b64 %rd<3>; ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];
{}\n{}\nret; }}\n",
            self.lines.join("\n"),
            stores.join("\n")
        )
    }
}

fn load(random: &mut Random, register: &str) -> String {
    let narrow = register.starts_with("%h");
    let kind = match (register, random.below(6)) {
        ("%f0", _) => "b32",
        ("%l0" | "%l1", 0..4) => "b64",
        (_, 0) => "u8",
        (_, 1) => "s8",
        (_, 2..6) if narrow => "b16",
        (_, 2) => "u16",
        (_, 3) => "s16",
        _ => "b32",
    };
    let size = kind[1..].parse::<usize>().unwrap_or(8) / 8;
    format!("ld.global.{kind} {register}, [%rd1+{}];", size * random.below(BYTES / size))
}

/// Draws a shift amount: often a whole number of bytes or nibbles, now and then too large, or an ordinary one
/// only in its lowest byte.
fn amount(random: &mut Random) -> usize {
    match random.below(8) {
        0..3 => 4 * random.below(9),
        3..5 => 8 * random.below(5),
        5 => random.below(33),
        6 => random.below(300),
        _ => 256 + 4 * random.below(9),
    }
}

fn mask(random: &mut Random) -> String {
    let masks = ["0x0f0f0f0f", "0x000f000f", "0xf0f0f0f0", "0xff", "0xffff", "15", "1", "-1", "0"];
    match random.below(4) {
        0 => format!("{:#010x}", random.bits() as u32),
        1 => format!("{:#010x}", 1_u32 << random.below(32)),
        _ => random.pick(&masks).to_owned(),
    }
}

/// Draws a 32-bit register, or a number.
fn word(random: &mut Random) -> String {
    if random.below(3) == 0 { mask(random) } else { register(random) }
}

fn register(random: &mut Random) -> String {
    format!("%r{}", random.below(6))
}

fn statement(random: &mut Random) -> String {
    match random.below(5) {
        0 | 1 => bitwise(random),
        2 => arithmetic(random),
        3 => fields(random),
        _ => across(random),
    }
}

/// Shifts and boolean functions.
fn bitwise(random: &mut Random) -> String {
    let (to, a, b, c) = (register(random), register(random), word(random), word(random));
    match random.below(9) {
        0 => format!("and.b32 {to}, {a}, {b};"),
        1 => format!("or.b32 {to}, {a}, {b};"),
        2 => format!("xor.b32 {to}, {a}, {b};"),
        3 => format!("not.b32 {to}, {a};"),
        4 => format!("lop3.b32 {to}, {a}, {b}, {c}, {:#x};", random.below(256)),
        5 => format!("shl.b32 {to}, {a}, {};", amount(random)),
        6 => format!("shr.u32 {to}, {a}, {};", amount(random)),
        7 => format!("shr.s32 {to}, {a}, {};", amount(random)),
        _ => {
            let op = random.pick(&["shl.b64", "shr.u64", "shr.s64"]);
            format!("{op} %l{}, %l{}, {};", random.below(2), random.below(2), amount(random))
        }
    }
}

/// Fields and bytes of words.
fn fields(random: &mut Random) -> String {
    let (to, a, b) = (register(random), register(random), register(random));
    let kind = random.pick(&["u32", "s32"]);
    match random.below(6) {
        0 | 1 => format!("bfe.{kind} {to}, {a}, {}, {};", amount(random), amount(random)),
        2 => format!("bfi.b32 {to}, {a}, {b}, {}, {};", amount(random), amount(random)),
        3 => format!("prmt.b32 {to}, {a}, {b}, {:#06x};", random.bits() as u16),
        4 => {
            let (side, range) = (random.pick(&["l", "r"]), random.pick(&["wrap", "clamp"]));
            format!("shf.{side}.{range}.b32 {to}, {a}, {b}, {};", amount(random))
        }
        _ => format!("popc.b32 {to}, {a};"),
    }
}

fn arithmetic(random: &mut Random) -> String {
    let (to, a, b, c) = (register(random), register(random), word(random), word(random));
    let kind = random.pick(&["u32", "s32"]);
    match random.below(10) {
        0 => format!("add.{kind} {to}, {a}, {b};"),
        1 => format!("sub.{kind} {to}, {a}, {b};"),
        2 => format!("mad.lo.{kind} {to}, {a}, {b}, {c};"),
        3 => format!("mul.wide.{kind} %l{}, {a}, {b};", random.below(2)),
        4 => format!("neg.s32 {to}, {a};"),
        5 => format!("abs.s32 {to}, {a};"),
        6 => format!("{}.{kind} {to}, {a}, {b};", random.pick(&["min", "max"])),
        7 => {
            let signs = [random.pick(&["u32", "s32"]), random.pick(&["u32", "s32"])];
            let op = random.pick(&["dp4a", "dp2a.lo", "dp2a.hi"]);
            format!("{op}.{}.{} {to}, {a}, {b}, {c};", signs[0], signs[1])
        }
        8 => {
            let relation = random.pick(&["eq", "ne", "lt", "le", "gt", "ge"]);
            format!("setp.{relation}.{kind} %p, {a}, {b}; selp.b32 {to}, {a}, {c}, %p;")
        }
        _ => {
            let op = random.pick(&["add.s64", "sub.s64", "mul.lo.s64", "and.b64", "xor.b64"]);
            format!("{op} %l{}, %l0, %l1;", random.below(2))
        }
    }
}

/// Registers of several widths, and floats.
fn across(random: &mut Random) -> String {
    let (to, a) = (register(random), register(random));
    let (half, long) = (format!("%h{}", random.below(3)), format!("%l{}", random.below(2)));
    let narrow = random.pick(&["u8", "s8", "u16", "s16"]);
    let kind = random.pick(&["u32", "s32"]);
    let wide = random.pick(&["u64", "s64"]);
    match random.below(10) {
        0 => format!("cvt.{narrow}.{kind} {half}, {a};"),
        1 => format!("cvt.{kind}.{narrow} {to}, {half};"),
        2 => format!("cvt.{wide}.{kind} {long}, {a};"),
        3 => format!("cvt.{kind}.{wide} {to}, {long};"),
        4 => format!("mov.b32 {to}, {{%h0, {half}}};"),
        5 => format!("mov.b32 {{%h1, {half}}}, {a};").replace("%h1, %h1", "%h1, %h2"),
        6 => format!("mov.b64 {long}, {{{a}, {to}}};"),
        7 => format!("cvt.rn.f32.{kind} %f0, {a};"),
        8 => {
            let bits = random.pick(&["0x4b000000", "0x4b800000", "0x43000000", "0x6400"]);
            format!("or.b32 {to}, {a}, {bits}; mov.b32 %f0, {to};")
        }
        _ => {
            let bits = random.pick(&["0x6400", "0x6500", "0x6c00"]);
            format!("or.b32 {to}, {a}, {bits}; cvt.u16.u32 {half}, {to}; cvt.f32.f16 %f0, {half};")
        }
    }
}
