//! Generates reverse time migration by CudaDMA: a warp loads planes with their halo, four warps apply a
//! star-shaped stencil (WEFT, Figure 9 and Listing 3).
//!
//! All have the benign race of the paper: at the start, threads write the same coefficient to the same place. With
//! two phases the paper's kernels request the next plane before they have read the last of the old one; `mended`
//! requests it afterwards.

use super::TILES;
use super::text::{Code, Counts, Frame, Kernel};

const COMPUTING: u32 = 128;
const THREADS: u32 = 160;
const RADIUS: u32 = 6;
/// A plane in shared memory: rows and columns with the halo, and the position of the 4 by 32 computed elements. The
/// halo of a row is 8 columns, not 6, so that accesses of four words are aligned.
const ROWS: u32 = 16;
const COLUMNS: u32 = 48;
const START: [u32; 2] = [6, 8];
/// Accesses of four words that fill a plane without its corners.
const PIECES: u32 = 4 * COLUMNS / 4 + (ROWS - 4) * 32 / 4;
const COEFFICIENTS: u32 = 8;
/// The barrier of the computing threads alone.
const OWN: u32 = 15;

/// A kernel to be written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    pub(super) two_phases: bool,
    /// The next plane is requested too early.
    pub(super) early: bool,
    pub(super) buffers: u32,
    pub(super) planes: u32,
}

/// Returns the kernel of a row of the paper. Only two phases have a bug, so only they have a `mended` variant.
pub(super) fn row(name: &str, mended: Option<bool>) -> Option<Kernel> {
    let (phases, buffering) = name.strip_prefix("rtm-")?.split_once('-')?;
    let two_phases = match phases {
        "1phase" if mended.is_none() => false,
        "2phase" if mended != Some(false) => true,
        _ => return None,
    };
    let (buffers, planes) = match buffering {
        "single" => (1, 107),
        "manual" => (2, 106),
        "quad" => (4, 104),
        _ => return None,
    };
    let early = two_phases && mended.is_none();
    Some(Plan { two_phases, early, buffers, planes }.kernel())
}

impl Plan {
    pub(super) fn kernel(&self) -> Kernel {
        let (computing, loading) = (self.compute(), self.load());
        let mut text = format!("\tsetp.ge.u32 %p0, %thread, {COMPUTING};\n\t@%p0 bra LOAD;\n");
        text.push_str(computing.text());
        text.push_str(loading.text());
        // In the last round of a plane, 16 of the 32 lanes have no piece left.
        let loaded = loading.commands * 32 - 16 * u64::from(self.planes);
        let words = self.coefficients() / 4 + COEFFICIENTS;
        let used = self.buffers * PIECES * 4 + COEFFICIENTS;
        let counts = Counts {
            generations: u64::from(2 * self.planes + self.buffers) + 1,
            commands: computing.commands * u64::from(COMPUTING) + loaded,
            words: used.into(),
        };
        let name = if self.two_phases { "rtm_2phase" } else { "rtm_1phase" };
        let plane = ROWS * COLUMNS;
        let parameters = &[
            format!("x=f32[{TILES},{plane}]"),
            format!("c=f32[{COEFFICIENTS}]"),
            format!("out=f32[{TILES},{COMPUTING}]:out"),
        ];
        Frame { name, parameters, threads: THREADS, words }.module(&text, counts)
    }

    /// The position of the coefficients, in bytes.
    fn coefficients(&self) -> u32 {
        4 * self.buffers * ROWS * COLUMNS
    }

    fn empty(&self, buffer: u32) -> u32 {
        1 + buffer
    }

    fn full(&self, buffer: u32) -> u32 {
        1 + self.buffers + buffer
    }

    fn compute(&self) -> Code {
        let mut code = Code::default();
        self.start(&mut code);
        for buffer in 0..self.buffers {
            code.arrive(self.empty(buffer), THREADS);
        }
        // Thread t computes element (t / 32, t % 32).
        let [row, column] = START;
        code.line("shr.u32 %r0, %thread, 5;");
        code.line(&format!(
            "mad.lo.u32 %r0, %r0, {}, {};",
            4 * COLUMNS,
            4 * (row * COLUMNS + column)
        ));
        code.line("shl.b32 %r1, %lane, 2;");
        code.line("add.u32 %r0, %r0, %r1;");
        code.line("add.u32 %r0, %r0, %base;");
        code.line("mov.u32 %step, 0;");
        code.label("COMPUTE");
        let before = code.commands;
        for buffer in 0..self.buffers {
            self.plane(&mut code, buffer);
        }
        code.commands = before + (code.commands - before) * u64::from(self.planes / self.buffers);
        code.line(&format!("add.u32 %step, %step, {};", self.buffers));
        code.line(&format!("setp.lt.u32 %p1, %step, {};", self.planes));
        code.line("@%p1 bra COMPUTE;");
        code.line("ret;");
        code
    }

    /// Loads coefficients into shared memory, each by many threads, and from there into registers.
    fn start(&self, code: &mut Code) {
        code.line(&format!("and.b32 %r1, %thread, {};", COEFFICIENTS - 1));
        code.line("mul.wide.u32 %d0, %r1, 4;");
        code.line("add.u64 %d0, %x1, %d0;");
        code.line("ld.global.f32 %f0, [%d0];");
        code.line("shl.b32 %r1, %r1, 2;");
        code.line("add.u32 %r1, %r1, %base;");
        let at = self.coefficients();
        code.command(&format!("st.shared.f32 [%r1+{at}], %f0;"));
        code.sync(OWN, COMPUTING);
        for number in 1..=RADIUS {
            let from = at + 4 * number;
            code.command(&format!("ld.shared.f32 %f{}, [%base+{from}];", 16 + number));
        }
    }

    fn plane(&self, code: &mut Code, buffer: u32) {
        let at = |by: i64| format!("[%r0+{}]", i64::from(4 * buffer * ROWS * COLUMNS) + by);
        let pair = |code: &mut Code, number: u32, by: u32| {
            code.command(&format!("ld.shared.f32 %f1, {};", at(-i64::from(by))));
            code.command(&format!("ld.shared.f32 %f2, {};", at(i64::from(by))));
            code.line("add.f32 %f1, %f1, %f2;");
            code.line(&format!("fma.rn.f32 %f0, %f1, %f{}, %f0;", 16 + number));
        };
        code.sync(self.full(buffer), THREADS);
        code.line("mov.f32 %f0, 0f00000000;");
        (1..=RADIUS).for_each(|number| pair(code, number, 4 * number));
        if self.early {
            code.arrive(self.empty(buffer), THREADS);
        }
        if self.two_phases {
            code.command(&format!("ld.shared.f32 %f3, {};", at(0)));
            code.line("add.f32 %f0, %f0, %f3;");
        }
        (1..=RADIUS).for_each(|number| pair(code, number, 4 * COLUMNS * number));
        if !self.early {
            code.arrive(self.empty(buffer), THREADS);
        }
        code.line(&format!("add.u32 %tile, %step, {buffer};"));
        code.line(&format!("and.b32 %tile, %tile, {};", TILES - 1));
        code.line(&format!("mad.lo.u32 %r1, %tile, {COMPUTING}, %thread;"));
        code.line("mul.wide.u32 %d0, %r1, 4;");
        code.line("add.u64 %d0, %x2, %d0;");
        code.line("st.global.f32 [%d0], %f0;");
    }

    fn load(&self) -> Code {
        let mut code = Code::default();
        code.label("LOAD");
        let rounds = PIECES.div_ceil(32);
        for round in 0..rounds {
            piece(&mut code, round);
        }
        let last = PIECES - 32 * (rounds - 1);
        code.line(&format!("setp.lt.u32 %p2, %lane, {last};"));
        code.line("mov.u32 %step, 0;");
        code.label("PLANES");
        for buffer in 0..self.buffers {
            code.sync(self.empty(buffer), THREADS);
            code.line(&format!("add.u32 %tile, %step, {buffer};"));
            code.line(&format!("and.b32 %tile, %tile, {};", TILES - 1));
            code.line(&format!("mul.lo.u32 %tile, %tile, {};", 4 * ROWS * COLUMNS));
            for round in 0..rounds {
                let guard = if round + 1 == rounds { "@%p2 " } else { "" };
                code.line(&format!("add.u32 %r1, %tile, %r{};", 8 + round));
                code.line("cvt.u64.u32 %d0, %r1;");
                code.line("add.u64 %d0, %x0, %d0;");
                code.line(&format!("{guard}ld.global.v4.f32 {{%f0,%f1,%f2,%f3}}, [%d0];"));
                code.line(&format!("add.u32 %r1, %base, %r{};", 8 + round));
                let to = 4 * buffer * ROWS * COLUMNS;
                code.command(&format!("{guard}st.shared.v4.f32 [%r1+{to}], {{%f0,%f1,%f2,%f3}};"));
            }
            code.arrive(self.full(buffer), THREADS);
        }
        code.commands *= u64::from(self.planes / self.buffers);
        code.line(&format!("add.u32 %step, %step, {};", self.buffers));
        code.line(&format!("setp.lt.u32 %p1, %step, {};", self.planes));
        code.line("@%p1 bra PLANES;");
        // The computing threads requested each buffer once more than needed.
        for buffer in 0..self.buffers {
            code.sync(self.empty(buffer), THREADS);
        }
        code.line("ret;");
        code
    }
}

/// Computes the byte of a plane at which a lane writes in a round, into register `8 + round`. Pieces of the computed
/// rows with their sides come first, then pieces of the rows above and below.
fn piece(code: &mut Code, round: u32) {
    let (wide, narrow) = (COLUMNS / 4, 8);
    let [row, column] = START;
    let to = 8 + round;
    code.line(&format!("add.u32 %r0, %lane, {};", 32 * round));
    code.line(&format!("div.u32 %r1, %r0, {wide};"));
    code.line(&format!("add.u32 %r1, %r1, {row};"));
    code.line(&format!("rem.u32 %r2, %r0, {wide};"));
    code.line(&format!("sub.u32 %r3, %r0, {};", 4 * wide));
    code.line(&format!("div.u32 %r4, %r3, {narrow};"));
    code.line(&format!("setp.ge.u32 %p1, %r4, {row};"));
    code.line("add.u32 %r5, %r4, 4;");
    code.line("selp.b32 %r4, %r5, %r4, %p1;");
    code.line(&format!("rem.u32 %r5, %r3, {narrow};"));
    code.line(&format!("add.u32 %r5, %r5, {};", column / 4));
    code.line(&format!("setp.lt.u32 %p1, %r0, {};", 4 * wide));
    code.line("selp.b32 %r1, %r1, %r4, %p1;");
    code.line("selp.b32 %r2, %r2, %r5, %p1;");
    code.line(&format!("mad.lo.u32 %r1, %r1, {wide}, %r2;"));
    code.line(&format!("shl.b32 %r{to}, %r1, 4;"));
}
