//! Random kernels that branch on loaded data: nested sides, loops and exits from them, early exits, calls,
//! accesses of all kinds, and now and then a fault on only some paths.

use std::fmt::Write;
use testing::Random;

/// Threads of the block: one warp and a part of another.
pub(crate) const THREADS: usize = 40;
/// The number of elements of `a`, `y` and `z` that belong to each thread.
pub(crate) const PER_THREAD: usize = 4;

/// A kernel under construction.
pub(crate) struct Generator<'r> {
    random: &'r mut Random,
    text: String,
    labels: usize,
    /// Set if it may contain faults.
    may_fault: bool,
    /// The nesting of loops and sides at this place.
    depth: usize,
    /// The remaining statements.
    fuel: usize,
}

/// Registers initialised at the start, and all registers.
const SET: u32 = 5;
const ALL: u32 = 7;

impl<'r> Generator<'r> {
    pub(crate) fn kernel(random: &'r mut Random, may_fault: bool) -> String {
        let fuel = 8 + random.below(24_usize);
        let mut one = Self { random, text: String::new(), labels: 0, may_fault, depth: 0, fuel };
        one.block(4);
        if one.random.chance(50) {
            one.text.push_str("bar.sync 0;\n");
            let from = one.register();
            one.line(&format!("ld.shared.u32 {from}, [%r21];"));
            one.block(3);
        }
        if one.random.chance(30) {
            let guard = one.condition();
            one.line(&format!("@{guard} ret;"));
            one.block(3);
        }
        for own in 0..PER_THREAD {
            let from = format!("%r{}", own as u32 % SET);
            one.line(&format!("st.global.u32 [%rd6+{}], {from};", 4 * own));
        }
        let shared =
            if one.may_fault && one.random.chance(30) { "" } else { "st.shared.u32 [%r20], %r0;" };
        format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n
            .func (.reg .b32 %o) f(.reg .b32 %i) {{ .reg .pred %q; .reg .b32 %t;
              setp.lt.s32 %q, %i, 1; @%q bra L; mul.lo.s32 %t, %i, 3; mov.u32 %o, %t; ret;
              L: sub.s32 %o, 7, %i; ret; }}
            .visible .entry k(.param .u64 a, .param .u64 y, .param .u64 z, .param .u64 c) {{
            .reg .b32 %r<32>; .reg .b64 %rd<12>; .reg .pred %p<6>;
            .shared .align 4 .b8 s[{shared_bytes}]; .local .align 4 .b8 l[16];
            ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [y]; ld.param.u64 %rd3, [z]; ld.param.u64 %rd7, [c];
            mov.u32 %r30, %tid.x; mul.lo.u32 %r31, %r30, {stride}; cvt.u64.u32 %rd4, %r31;
            add.s64 %rd5, %rd1, %rd4; add.s64 %rd6, %rd2, %rd4; add.s64 %rd8, %rd3, %rd4;
            shl.b32 %r19, %r30, 2; mov.u32 %r20, s; add.u32 %r20, %r20, %r19;
            xor.b32 %r18, %r30, 1; shl.b32 %r18, %r18, 2; mov.u32 %r21, s; add.u32 %r21, %r21, %r18;
            ld.global.u32 %r0, [%rd5]; ld.global.u32 %r1, [%rd5+4]; ld.global.u32 %r2, [%rd5+8];
            mov.u32 %r3, %r30; mov.u32 %r4, 2; st.local.u32 [l], %r1; st.local.u32 [l+4], %r4;
            {shared}
            {body}
            ret; }}",
            stride = 4 * PER_THREAD,
            shared_bytes = 4 * THREADS,
            body = one.text,
        )
    }

    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("B{}", self.labels)
    }

    /// Picks a register to read or write. Those not initialised at the start are undefined on some paths.
    fn register(&mut self) -> String {
        let count = if self.may_fault && self.random.chance(15) { ALL } else { SET };
        format!("%r{}", self.random.below(count))
    }

    fn operand(&mut self) -> String {
        match self.random.chance(60) {
            true => self.register(),
            false => (i64::from(self.random.below(7_u32)) - 2).to_string(),
        }
    }

    /// Picks a predicate, mostly a data-dependent one.
    fn condition(&mut self) -> String {
        let guard = format!("%p{}", self.random.below(4_u32));
        let (a, b) = (self.register(), self.operand());
        let relation = self.random.pick(&["lt", "le", "gt", "ge", "eq", "ne"]);
        let sort = self.random.pick(&["s32", "s32", "u32"]);
        self.line(&format!("setp.{relation}.{sort} {guard}, {a}, {b};"));
        if self.random.chance(20) {
            let other = format!("%p{}", self.random.below(4_u32));
            let (a, b) = (self.register(), self.operand());
            self.line(&format!("setp.gt.s32 %p5, {a}, {b};"));
            let op = self.random.pick(&["and", "or", "xor"]);
            self.line(&format!("{op}.pred {other}, {guard}, %p5;"));
            return other;
        }
        guard
    }

    fn block(&mut self, most: usize) {
        for _ in 0..=self.random.below(most) {
            if self.fuel == 0 {
                return;
            }
            self.fuel -= 1;
            self.statement();
        }
    }

    fn statement(&mut self) {
        match self.random.below(20_u32) {
            0..=4 => {
                let instruction = self.arithmetic();
                self.line(&instruction);
            }
            5 | 6 => {
                let guard = self.condition();
                let not = self.random.pick(&["", "!"]);
                let instruction = match self.random.below(4_u32) {
                    0 => self.store(),
                    1 => self.load(),
                    _ => self.arithmetic(),
                };
                self.line(&format!("@{not}{guard} {instruction}"));
            }
            7 | 8 => {
                let instruction = self.store();
                self.line(&instruction);
            }
            9 | 10 => {
                let instruction = self.load();
                self.line(&instruction);
            }
            11..=14 if self.depth < 4 => self.sides(),
            15 if self.depth < 3 => self.repeat(),
            16 if self.depth < 4 => self.short_circuit(),
            17 => {
                let (to, from) = (self.register(), self.register());
                self.line(&format!("call.uni ({to}), f, ({from});"));
            }
            18 => {
                let from = self.register();
                let at = 4 * self.random.below(2_u32);
                self.line(&format!("red.global.add.u32 [%rd7+{at}], {from};"));
            }
            19 if self.may_fault => self.mistake(),
            _ => {
                let instruction = self.arithmetic();
                self.line(&instruction);
            }
        }
    }

    fn arithmetic(&mut self) -> String {
        let (to, a, b) = (self.register(), self.register(), self.operand());
        let op =
            self.random.pick(&["add.s32", "sub.s32", "mul.lo.s32", "min.s32", "max.s32", "mov"]);
        match op {
            "mov" => format!("mov.u32 {to}, {b};"),
            op => format!("{op} {to}, {a}, {b};"),
        }
    }

    fn store(&mut self) -> String {
        let from = self.register();
        let at = 4 * self.random.below(PER_THREAD);
        match self.random.below(5_u32) {
            0 => format!("st.global.u32 [%rd6+{at}], {from};"),
            1 => format!("st.shared.u32 [%r20], {from};"),
            2 => format!("st.local.u32 [l+{}], {from};", at % 8),
            3 => format!("st.global.u8 [%rd8+{at}], {from};"),
            _ => format!("st.global.u32 [%rd8+{at}], {from};"),
        }
    }

    fn load(&mut self) -> String {
        let to = self.register();
        let at = 4 * self.random.below(PER_THREAD);
        match self.random.below(5_u32) {
            0 => format!("ld.shared.u32 {to}, [%r20];"),
            1 => format!("ld.local.u32 {to}, [l+{}];", at % 8),
            2 => format!("ld.global.u32 {to}, [%rd8+{at}];"),
            _ => format!("ld.global.u32 {to}, [%rd5+{at}];"),
        }
    }

    /// Adds a statement that is a fault if executed.
    fn mistake(&mut self) {
        let to = self.register();
        let text = match self.random.below(5_u32) {
            0 => format!("ld.global.u32 {to}, [%rd5+4000];"),
            1 => format!("ld.local.u32 {to}, [l+12];"),
            2 => format!("st.shared.u32 [%r21], {to};"),
            3 => format!("div.s32 {to}, {to}, 0;"),
            _ => format!("st.global.u32 [%rd6+4000], {to};"),
        };
        self.line(&text);
    }

    fn sides(&mut self) {
        let (guard, [other, end]) = (self.condition(), [self.label(), self.label()]);
        let not = self.random.pick(&["", "!"]);
        self.line(&format!("@{not}{guard} bra {other};"));
        self.depth += 1;
        self.block(3);
        match self.random.chance(60) {
            true => {
                self.line(&format!("bra {end};"));
                self.line(&format!("{other}:"));
                self.block(3);
                self.line(&format!("{end}:"));
            }
            false => self.line(&format!("{other}:")),
        }
        self.depth -= 1;
    }

    /// Adds two branches with one target.
    fn short_circuit(&mut self) {
        let skip = self.label();
        for _ in 0..2 {
            let guard = self.condition();
            self.line(&format!("@{guard} bra {skip};"));
            if self.random.chance(30) {
                let instruction = self.arithmetic();
                self.line(&instruction);
            }
        }
        self.depth += 1;
        self.block(3);
        self.depth -= 1;
        self.line(&format!("{skip}:"));
    }

    /// Adds a loop of a known number of iterations, which may be left early.
    fn repeat(&mut self) {
        let [head, end] = [self.label(), self.label()];
        let counter = format!("%r{}", 10 + self.depth);
        let rounds = 1 + self.random.below(3_u32);
        self.line(&format!("mov.u32 {counter}, 0;\n{head}:"));
        self.depth += 1;
        self.block(2);
        if self.random.chance(40) {
            let guard = self.condition();
            self.line(&format!("@{guard} bra {end};"));
            self.block(2);
        }
        self.depth -= 1;
        let _ = write!(
            self.text,
            "add.u32 {counter}, {counter}, 1;\nsetp.lt.u32 %p4, {counter}, {rounds};\n@%p4 bra {head};\n{end}:\n"
        );
    }
}
