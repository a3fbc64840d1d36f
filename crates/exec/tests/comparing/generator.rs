//! Random kernels: straight, looping and diverging code over all kinds of registers and memory.
//!
//! Registers have roles, so that most kernels complete: `%i` and `%q` are known integers and predicates, `%a`
//! and `%s` addresses; `%r`, `%l`, `%h`, `%f`, `%d`, `%p` are data. Now and then a register of another role
//! takes their place.

use exec::{Access, Argument, Buffer, Contents, Launch};
use ir::{Format, Scalar, Width};
use testing::Random;

/// A kernel, line by line, and its launch.
#[derive(Clone)]
pub(crate) struct Case {
    pub(crate) lines: Vec<String>,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) buffers: Vec<Buffer>,
    pub(crate) arguments: Vec<Argument>,
}

const HEAD: &str = ".version 8.7\n.target sm_90a\n.address_size 64\n\
    .global .align 16 .b8 gmem[256];\n.global .align 4 .b8 loose[128];\n\
    .const .align 16 .b32 cmem[8] = {1, 2, 3, 4, 5, 6, 7, 8};\n\
    .func (.param .b32 result) callee(.param .b64 x, .param .b32 y)\n{\n\
    .reg .b32 %r<4>; .reg .b64 %l<2>;\n\
    ld.param.b64 %l1, [x]; ld.param.b32 %r1, [y]; ld.global.b32 %r2, [%l1];\n\
    add.s32 %r3, %r1, %r2; st.param.b32 [result], %r3;\nret;\n}\n\
    .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u32 n, .param .f32 s)\n{\n\
    .reg .b32 %i<6>; .reg .b32 %c<4>; .reg .pred %q<5>; .reg .b64 %a<6>; .reg .b32 %s<3>;\n\
    .reg .b32 %r<8>; .reg .b64 %l<5>; .reg .b16 %h<6>; .reg .f32 %f<8>; .reg .f64 %d<4>;\n\
    .reg .pred %p<5>; .reg .b128 %w<3>; .reg .b32 %x<5>;\n\
    .shared .align 16 .b8 smem[512]; .local .align 16 .b8 stack[64];\n";

impl Case {
    /// The module's text.
    pub(crate) fn text(&self) -> String {
        format!("{HEAD}{}\nDone: ret;\n}}\n", self.lines.join("\n"))
    }

    /// The launch of the module's kernel.
    pub(crate) fn launch(&self, program: &ir::Program) -> Launch {
        let kernel = program.functions.enumerate().find(|(_, function)| function.is_kernel);
        let (kernel, _) = kernel.unwrap_or_else(|| panic!("no kernel"));
        Launch {
            kernel,
            grid: self.grid,
            block: self.block,
            cluster: None,
            dynamic_shared: 0,
            buffers: self.buffers.clone(),
            arguments: self.arguments.clone(),
            symbols: Vec::new(),
            selected: Vec::new(),
        }
    }

    /// Generates the kernel of a seed.
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut lines = Vec::new();
        let mut body =
            super::statements::Body { random: &mut random, lines: &mut lines, labels: 0, depth: 0 };
        body.prelude();
        let count = 4 + body.random.below(24);
        body.block(count);
        let block = match random.below(10) {
            0..3 => [1, 1, 1],
            3 => [2, 1, 1],
            4 => [5, 3, 1],
            5 | 6 => [32, 1, 1],
            7 => [33, 1, 1],
            8 => [8, 2, 3],
            _ => [1 + random.below(40) as u32, 1, 1],
        };
        let grid = [1 + random.below(3) as u32 / 2, 1, 1 + random.below(2) as u32];
        let buffers = (0..3).map(|number| buffer(&mut random, number)).collect();
        let mut arguments: Vec<Argument> = (0..3).map(Argument::Pointer).collect();
        arguments.push(match random.below(4) {
            0 => Argument::Opaque(Some(Scalar::Integer { width: Width::B32, signed: true })),
            _ => Argument::Bytes((random.below(40) as u32).to_le_bytes().to_vec()),
        });
        arguments.push(match random.below(3) {
            0 => Argument::Bytes(1.5_f32.to_le_bytes().to_vec()),
            _ => Argument::Opaque(Some(Scalar::Float(Format::F32))),
        });
        Self { lines, grid, block, buffers, arguments }
    }
}

/// Draws a buffer. Most are readable and writable.
fn buffer(random: &mut Random, number: usize) -> Buffer {
    let size = [64, 128, 132, 253][random.below(4)];
    let contents = match (random.below(12), number) {
        (0, _) => Contents::Unbounded,
        (1, _) | (2 | 3, 2) => Contents::Undefined(size),
        (2..8, _) => Contents::Opaque(size),
        _ => {
            let small = random.once_in(2);
            let byte = |at: u64| match small {
                true => {
                    if at.is_multiple_of(4) {
                        (at / 4) as u8
                    } else {
                        0
                    }
                }
                false => (at.wrapping_mul(0x9e37_79b9) >> 7) as u8,
            };
            Contents::Known((0..size).map(byte).collect())
        }
    };
    let access = match random.below(8) {
        0 => Access::In,
        1 => Access::Out,
        _ => Access::InOut,
    };
    let element = match random.below(6) {
        0 => None,
        1 => Some(Scalar::Float(Format::F16)),
        2 => Some(Scalar::Integer { width: Width::B32, signed: true }),
        3 => Some(Scalar::Float(Format::Bf16)),
        _ => Some(Scalar::Float(Format::F32)),
    };
    let element_bytes = element.map_or(4, |element| element.width().bytes());
    Buffer { name: format!("buffer{number}"), element_bytes, element, contents, access }
}
