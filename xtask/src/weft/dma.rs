//! Generates CudaDMA's saxpy and sgemv: warps that fill buffers in shared memory, and warps that compute on them (WEFT,
//! Figure 9).
//!
//! A transfer has two named barriers. At *empty* the computing threads arrive and the loading ones wait; at *full* it
//! is the reverse. With single buffering there is one buffer for each array and one team of loading warps for it.
//! Double buffering has a second team with a buffer of its own; with manual buffering one team fills two buffers in
//! turn.

use super::TILES;
use super::text::{Code, Counts, Frame, Kernel};

/// How transfers overlap with computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Buffering {
    Single,
    Double,
    Manual,
}

impl Buffering {
    fn buffers(self) -> u32 {
        if self == Self::Single { 1 } else { 2 }
    }
}

/// An array that passes through shared memory.
#[derive(Clone, Copy, Debug)]
struct Array {
    /// Words of a transfer.
    words: u32,
    /// Threads of a team. They write four words at a time; threads beyond the words only synchronise.
    loaders: u32,
}

/// The computation on the arrays of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    /// `out[i] = a x[i] + y[i]`.
    Saxpy,
    /// A row of a matrix times a vector, which passes through shared memory; the matrix does not.
    Vector,
    /// The same, with vector and matrix in shared memory.
    Both,
}

/// A kernel to be written.
#[derive(Clone, Copy, Debug)]
struct Plan<'p> {
    name: &'p str,
    work: Work,
    buffering: Buffering,
    computing: u32,
    arrays: &'p [Array],
    transfers: u32,
}

/// Returns the kernel of a row of the paper. These have no bug, and no variants: a `change` gives `None`.
pub(super) fn row(name: &str, change: Option<bool>) -> Option<Kernel> {
    use Buffering::{Double, Manual, Single};
    if change.is_some() {
        return None;
    }
    Some(match name {
        "saxpy-single" => saxpy(Single, 2048),
        "saxpy-double" => saxpy(Double, 2048),
        "sgemv-vecsingle" => vector(Single, 128, 128),
        "sgemv-vecdouble" => vector(Double, 128, 256),
        "sgemv-vecmanual" => vector(Manual, 512, 128),
        "sgemv-bothsingle" => both(Single, 128, 128),
        "sgemv-bothdouble" => both(Double, 128, 256),
        "sgemv-bothmanual" => both(Manual, 256, 128),
        _ => return None,
    })
}

pub(super) fn saxpy(buffering: Buffering, transfers: u32) -> Kernel {
    let array = Array { words: 256, loaders: 32 };
    Plan {
        name: "saxpy",
        work: Work::Saxpy,
        buffering,
        computing: 256,
        arrays: &[array; 2],
        transfers,
    }
    .kernel()
}

/// A vector through shared memory, `words` at a time.
pub(super) fn vector(buffering: Buffering, words: u32, transfers: u32) -> Kernel {
    let arrays = &[Array { words, loaders: 32 }];
    let work = Work::Vector;
    Plan { name: "sgemv_vec", work, buffering, computing: 128, arrays, transfers }.kernel()
}

/// A vector and the matrix through shared memory, 32 columns at a time.
pub(super) fn both(buffering: Buffering, loaders: u32, transfers: u32) -> Kernel {
    let arrays = &[Array { words: 32, loaders: 32 }, Array { words: 32 * 128, loaders }];
    let work = Work::Both;
    Plan { name: "sgemv_both", work, buffering, computing: 128, arrays, transfers }.kernel()
}

impl Plan<'_> {
    fn teams(&self) -> u32 {
        if self.buffering == Buffering::Double { 2 } else { 1 }
    }

    fn threads(&self) -> u32 {
        self.computing + self.teams() * self.arrays.iter().map(|array| array.loaders).sum::<u32>()
    }

    /// The numbers of the barriers *empty* and *full*.
    fn barriers(&self, array: usize, buffer: u32) -> [u32; 2] {
        let first = 1 + 2 * (array as u32 * self.buffering.buffers() + buffer);
        [first, first + 1]
    }

    /// The start of a buffer, in bytes.
    fn offset(&self, array: usize, buffer: u32) -> u32 {
        let before: u32 = self.arrays[..array].iter().map(|array| array.words).sum();
        4 * (before * self.buffering.buffers() + buffer * self.arrays[array].words)
    }

    fn kernel(&self) -> Kernel {
        let mut whole = Code::default();
        let computing = self.compute();
        let mut commands = computing.commands * u64::from(self.computing);
        whole.line(&format!("setp.ge.u32 %p0, %thread, {};", self.computing));
        whole.line("@%p0 bra LOAD;");
        let mut text = whole.text().to_owned() + computing.text() + "LOAD:\n";
        let mut first = self.computing;
        for (number, array) in self.arrays.iter().enumerate() {
            for team in 0..self.teams() {
                let label = format!("TEAM_{number}_{team}");
                let loading = self.load(number, team, first, &label);
                commands += loading.commands * u64::from(array.loaders);
                // Loaders without words to write only synchronise.
                let idle = array.loaders.saturating_sub(array.words / 4);
                let writes = self.rounds(array) * u64::from(self.transfers_of_team());
                commands -= u64::from(idle) * writes;
                text.push_str(loading.text());
                first += array.loaders;
            }
        }
        text.push_str("\tret;\n");
        let all: u32 = self.arrays.iter().map(|array| array.words).sum();
        let words = all * self.buffering.buffers();
        let buffers = u64::from(self.buffering.buffers()) * self.arrays.len() as u64;
        let each = 2 * u64::from(self.transfers) * self.arrays.len() as u64;
        let counts = Counts { generations: each + buffers, commands, words: words.into() };
        let (threads, name) = (self.threads(), self.name);
        Frame { name, parameters: &self.parameters(), threads, words }.module(&text, counts)
    }

    fn parameters(&self) -> Vec<String> {
        let tensor = |name: &str, words: u32| format!("{name}=f32[{TILES},{words}]");
        let (first, computing) = (self.arrays[0].words, self.computing);
        let second = match self.work {
            Work::Saxpy => tensor("y", first),
            Work::Vector | Work::Both => tensor("a", first * computing),
        };
        let out = match self.work {
            Work::Saxpy => format!("out=f32[{TILES},{computing}]:out"),
            Work::Vector | Work::Both => format!("out=f32[{computing}]:out"),
        };
        vec![tensor("x", first), second, out]
    }

    /// The number of writes of a loading thread in a transfer.
    fn rounds(&self, array: &Array) -> u64 {
        u64::from(array.words.div_ceil(4 * array.loaders))
    }

    fn transfers_of_team(&self) -> u32 {
        self.transfers / self.teams()
    }

    /// The computing threads: mark all buffers as empty; then repeatedly wait, compute, and mark as empty again.
    fn compute(&self) -> Code {
        let mut code = Code::default();
        let buffers = self.buffering.buffers();
        let participants = |array: &Array| self.computing + array.loaders;
        for buffer in 0..buffers {
            for (number, array) in self.arrays.iter().enumerate() {
                code.arrive(self.barriers(number, buffer)[0], participants(array));
            }
        }
        code.line("mov.f32 %f0, 0f00000000;");
        code.line("mov.u32 %step, 0;");
        let before = code.commands;
        code.label("COMPUTE");
        for buffer in 0..buffers {
            for (number, array) in self.arrays.iter().enumerate() {
                code.sync(self.barriers(number, buffer)[1], participants(array));
            }
            code.line(&format!("add.u32 %tile, %step, {buffer};"));
            code.line(&format!("and.b32 %tile, %tile, {};", TILES - 1));
            match self.work {
                Work::Saxpy => self.axpy(&mut code, buffer),
                Work::Vector => self.row_of_global(&mut code, buffer),
                Work::Both => self.row_of_shared(&mut code, buffer),
            }
            for (number, array) in self.arrays.iter().enumerate() {
                code.arrive(self.barriers(number, buffer)[0], participants(array));
            }
        }
        let body = code.commands - before;
        code.commands = before + body * u64::from(self.transfers / buffers);
        code.line(&format!("add.u32 %step, %step, {buffers};"));
        code.line(&format!("setp.lt.u32 %p1, %step, {};", self.transfers));
        code.line("@%p1 bra COMPUTE;");
        if self.work != Work::Saxpy {
            code.line("mul.wide.u32 %d0, %thread, 4;");
            code.line("add.u64 %d0, %x2, %d0;");
            code.line("st.global.f32 [%d0], %f0;");
        }
        code.line("ret;");
        code
    }

    fn axpy(&self, code: &mut Code, buffer: u32) {
        code.line("shl.b32 %r0, %thread, 2;");
        code.line("add.u32 %r0, %base, %r0;");
        for array in 0..2 {
            let offset = self.offset(array, buffer);
            code.command(&format!("ld.shared.f32 %f{}, [%r0+{offset}];", array + 1));
        }
        code.line("fma.rn.f32 %f3, %f1, 0f40000000, %f2;");
        code.line(&format!("mad.lo.u32 %r1, %tile, {}, %thread;", self.computing));
        code.line("mul.wide.u32 %d0, %r1, 4;");
        code.line("add.u64 %d0, %x2, %d0;");
        code.line("st.global.f32 [%d0], %f3;");
    }

    /// Columns of the matrix are contiguous in memory.
    fn row_of_global(&self, code: &mut Code, buffer: u32) {
        let (words, offset) = (self.arrays[0].words, self.offset(0, buffer));
        let label = format!("COLUMNS_{buffer}");
        code.line(&format!("mad.lo.u32 %r1, %tile, {}, %thread;", words * self.computing));
        code.line("mul.wide.u32 %d0, %r1, 4;");
        code.line("add.u64 %d0, %x1, %d0;");
        code.line(&format!("add.u32 %r0, %base, {offset};"));
        code.line(&format!("add.u32 %r2, %r0, {};", 4 * words));
        code.label(&label);
        let before = code.commands;
        for column in 0..16 {
            code.command(&format!("ld.shared.f32 %f1, [%r0+{}];", 4 * column));
            code.line(&format!("ld.global.f32 %f2, [%d0+{}];", 4 * column * self.computing));
            code.line("fma.rn.f32 %f0, %f1, %f2, %f0;");
        }
        code.commands = before + 16 * u64::from(words / 16);
        code.line("add.u32 %r0, %r0, 64;");
        code.line(&format!("add.u64 %d0, %d0, {};", 64 * self.computing));
        code.line("setp.lt.u32 %p2, %r0, %r2;");
        code.line(&format!("@%p2 bra {label};"));
    }

    fn row_of_shared(&self, code: &mut Code, buffer: u32) {
        let (vector, matrix) = (self.offset(0, buffer), self.offset(1, buffer));
        code.line("shl.b32 %r0, %thread, 2;");
        code.line("add.u32 %r0, %base, %r0;");
        for column in 0..self.arrays[0].words {
            code.command(&format!("ld.shared.f32 %f1, [%base+{}];", vector + 4 * column));
            let at = matrix + 4 * column * self.computing;
            code.command(&format!("ld.shared.f32 %f2, [%r0+{at}];"));
            code.line("fma.rn.f32 %f0, %f1, %f2, %f0;");
        }
    }

    /// A team of loading threads, beginning with `first`: waits until a buffer is empty, fills it, and marks it as
    /// full.
    fn load(&self, number: usize, team: u32, first: u32, label: &str) -> Code {
        let array = self.arrays[number];
        let participants = self.computing + array.loaders;
        let buffers: Vec<u32> = match self.buffering {
            Buffering::Double => vec![team],
            _ => (0..self.buffering.buffers()).collect(),
        };
        let mut code = Code::default();
        code.line(&format!("setp.ge.u32 %p0, %thread, {};", first + array.loaders));
        code.line(&format!("@%p0 bra AFTER_{label};"));
        code.line(&format!("sub.u32 %r0, %thread, {first};"));
        code.line("shl.b32 %r0, %r0, 4;");
        code.line(&format!("setp.lt.u32 %p2, %r0, {};", 4 * array.words));
        code.line(&format!("mov.u32 %step, {team};"));
        code.label(label);
        for &buffer in &buffers {
            code.sync(self.barriers(number, buffer)[0], participants);
            // A manual team fills its buffers in one round of the loop.
            let ahead = if self.buffering == Buffering::Manual { buffer } else { 0 };
            code.line(&format!("add.u32 %tile, %step, {ahead};"));
            code.line(&format!("and.b32 %tile, %tile, {};", TILES - 1));
            code.line(&format!("mad.lo.u32 %r1, %tile, {}, %r0;", 4 * array.words));
            code.line("cvt.u64.u32 %d0, %r1;");
            code.line(&format!("add.u64 %d0, %x{number}, %d0;"));
            code.line("add.u32 %r2, %base, %r0;");
            for round in 0..self.rounds(&array) as u32 {
                let (at, to) = (16 * array.loaders * round, self.offset(number, buffer));
                code.line(&format!("@%p2 ld.global.v4.f32 {{%f0,%f1,%f2,%f3}}, [%d0+{at}];"));
                let target = format!("[%r2+{}]", to + at);
                code.command(&format!("@%p2 st.shared.v4.f32 {target}, {{%f0,%f1,%f2,%f3}};"));
            }
            code.arrive(self.barriers(number, buffer)[1], participants);
        }
        let strides = self.buffering.buffers();
        code.commands *= u64::from(self.transfers / strides);
        code.line(&format!("add.u32 %step, %step, {strides};"));
        code.line(&format!("setp.lt.u32 %p1, %step, {};", self.transfers));
        code.line(&format!("@%p1 bra {label};"));
        // The computing threads marked each buffer as empty once more than needed.
        for &buffer in &buffers {
            code.sync(self.barriers(number, buffer)[0], participants);
        }
        code.line("ret;");
        code.label(&format!("AFTER_{label}"));
        code
    }
}
