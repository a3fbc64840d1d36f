//! The statements of random kernels.

use testing::Random;

/// The lines of a kernel so far.
pub(crate) struct Body<'b> {
    pub(crate) random: &'b mut Random,
    pub(crate) lines: &'b mut Vec<String>,
    pub(crate) labels: usize,
    pub(crate) depth: usize,
}

const WORDS: [&str; 8] = ["0", "1", "3", "-1", "31", "255", "65536", "-2147483648"];
const FLOATS: [&str; 7] = [
    "0f00000000",
    "0f3F800000",
    "0fBFC00000",
    "0f7F800000",
    "0f00000001",
    "0f4B400000",
    "0f7FC00000",
];

impl Body<'_> {
    pub(super) fn push(&mut self, line: String) {
        self.lines.push(line);
    }

    /// Picks a register of a role; once in a while one of another.
    pub(super) fn index(&mut self) -> String {
        match self.random.below(40) {
            0 => self.word(),
            1..8 => self.random.pick(&WORDS).to_owned(),
            _ => format!("%i{}", self.random.below(6)),
        }
    }

    pub(super) fn control(&mut self) -> String {
        let wild = self.random.once_in(40);
        format!("%{}{}", if wild { "p" } else { "q" }, self.random.below(4))
    }

    pub(super) fn word(&mut self) -> String {
        match self.random.below(12) {
            0 => format!("%s{}", self.random.below(3)),
            1 => self.random.pick(&WORDS).to_owned(),
            2..5 => format!("%i{}", self.random.below(6)),
            _ => format!("%r{}", self.random.below(8)),
        }
    }

    pub(super) fn long(&mut self) -> String {
        match self.random.below(12) {
            0 => self.random.pick(&WORDS).to_owned(),
            1..4 => format!("%a{}", self.random.below(6)),
            _ => format!("%l{}", self.random.below(5)),
        }
    }

    pub(super) fn float(&mut self) -> String {
        match self.random.below(8) {
            0 => self.random.pick(&FLOATS).to_owned(),
            _ => format!("%f{}", self.random.below(8)),
        }
    }

    pub(super) fn register(&mut self, letter: &str, count: usize) -> String {
        format!("%{letter}{}", self.random.below(count))
    }

    /// A guard, if the statement gets one.
    pub(super) fn guard(&mut self) -> String {
        if !self.random.once_in(6) {
            return String::new();
        }
        let predicate = match self.random.once_in(5) {
            true => self.register("p", 4),
            false => self.control(),
        };
        format!("@{}{predicate} ", self.random.pick(&["", "!"]))
    }

    /// Initialises most registers.
    pub(crate) fn prelude(&mut self) {
        let always = [
            "ld.param.u64 %a0, [p0]; ld.param.u64 %a1, [p1]; ld.param.u64 %a2, [p2];",
            "mov.u32 %i0, %tid.x; mov.u32 %i1, %laneid; mov.u32 %s0, smem;",
            "ld.param.u32 %r0, [n]; ld.param.f32 %f0, [s];",
        ];
        self.lines.extend(always.map(str::to_owned));
        let often = [
            "mul.wide.u32 %a3, %i0, 4; add.s64 %a3, %a3, %a0;",
            "mul.wide.u32 %a4, %i1, 8; add.s64 %a4, %a4, %a1;",
            "mul.wide.u32 %a5, %i0, 16; add.s64 %a5, %a5, %a2;",
            "shl.b32 %s1, %i0, 2; add.s32 %s1, %s1, %s0;",
            "shl.b32 %s2, %i1, 4; add.s32 %s2, %s0, %s2;",
            "mov.u32 %i2, %ctaid.z; and.b32 %i3, %i0, 3; mov.u32 %i4, 7; mov.u32 %i5, %ntid.x;",
            "setp.lt.u32 %q0, %i1, 7; setp.eq.u32 %q1, %i3, 2; setp.ne.u32 %q2, %i0, 0;",
            "setp.lt.u32 %q3, %i4, 9;",
            "ld.global.u32 %r1, [%a0]; ld.global.u32 %r2, [%a1+8];",
            "ld.global.f32 %f1, [%a0]; ld.global.f32 %f2, [%a3]; ld.global.f32 %f3, [%a1];",
            "ld.global.v4.f32 {%f4, %f5, %f6, %f7}, [%a1];",
            "mov.u32 %r3, 12345; mov.u32 %r4, %i0; cvt.rn.f32.u32 %f4, %i0;",
            "mov.u64 %l0, 77; mul.wide.u32 %l1, %i0, 3; ld.global.u64 %l2, [%a0+8];",
            "ld.global.b16 %h0, [%a0]; ld.global.b16 %h1, [%a1+2]; mov.b16 %h2, 15360;",
            "cvt.f64.f32 %d0, %f1; mov.f64 %d1, 0d3FF8000000000000;",
            "setp.lt.s32 %p0, %r1, 5; setp.gt.f32 %p1, %f1, 0f00000000; setp.ne.u32 %p2, %r4, 1;",
            "st.shared.f32 [%s1], %f1; st.shared.u32 [%s0+256], %r3;",
            "st.local.u32 [stack], %r1; st.local.u32 [stack+4], %i0;",
            "cvta.shared.u64 %l3, smem; cvta.local.u64 %l4, stack; mov.b128 %w0, {%l0, %l1};",
        ];
        for line in often {
            if !self.random.once_in(8) {
                self.push(line.to_owned());
            }
        }
    }

    /// Adds this many statements.
    pub(crate) fn block(&mut self, count: usize) {
        for _ in 0..count {
            match self.random.below(35) {
                0..4 => self.integer(),
                4 => self.narrow(),
                5 => self.index_arithmetic(),
                6..8 => self.address(),
                8 => self.predicate(),
                9..14 => self.load(),
                14..18 => self.store(),
                18..21 => self.single(),
                21 => self.halves(),
                22 => self.convert(),
                23 => self.bits(),
                24 | 25 => self.collective(),
                26 => self.atomic(),
                27 => self.barrier(),
                28 => self.copy(),
                29 => self.doubles(),
                30 => self.rare(),
                31 => self.matrix(),
                _ => self.nested(),
            }
        }
    }

    /// Computes an address of some element.
    fn address(&mut self) {
        let scale = 1 << self.random.below(5);
        let index = self.index();
        let most = self.random.pick(&["7", "15", "31", "3"]);
        self.push(format!("and.b32 %i5, {index}, {most};"));
        let guard = self.guard();
        if self.random.once_in(3) {
            let to = 1 + self.random.below(2);
            self.push(format!("mad.lo.s32 %x0, %i5, {scale}, 0;"));
            return self.push(format!("{guard}add.s32 %s{to}, %s0, %x0;"));
        }
        let (to, base) = (3 + self.random.below(3), self.random.below(3));
        self.push(format!("mul.wide.u32 %l0, %i5, {scale};"));
        let base = if self.random.once_in(12) { "%l3".to_owned() } else { format!("%a{base}") };
        let line = match self.random.below(12) {
            0 => format!("sub.s64 %a{to}, {base}, %l0;"),
            1 => format!("selp.b64 %a{to}, {base}, %a{to}, {};", self.control()),
            2 => format!("mov.b64 %a{to}, {base};"),
            _ => format!("add.s64 %a{to}, %l0, {base};"),
        };
        self.push(format!("{guard}{line}"));
    }

    /// Picks a place in memory: space and address, for accesses of this many bytes.
    fn place(&mut self, bytes: usize) -> (&'static str, String) {
        let mut offset = (bytes * self.random.below(4)) as i64;
        match self.random.below(24) {
            0 => offset += 1,
            1 => offset += 2,
            2 => offset = -offset,
            3 => offset += 224,
            _ => {}
        }
        let (space, base) = match self.random.below(16) {
            0..4 => ("shared", self.register("s", 3)),
            4 => ("local", "stack".to_owned()),
            5 => ("", self.register("a", 6)),
            6 => ("", self.random.pick(&["%l3", "%l4"]).to_owned()),
            7 => ("global", self.random.pick(&["gmem", "loose"]).to_owned()),
            8 => ("shared", "smem".to_owned()),
            9 if self.random.once_in(4) => ("global", self.register("l", 5)),
            _ => ("global", self.register("a", 6)),
        };
        (space, format!("[{base}+{offset}]"))
    }

    /// Picks registers for an access: the type with its vector, and the list of registers.
    fn operands(&mut self, loads: bool) -> (String, String, usize) {
        let (kinds, letter, count, bytes): (&[&str], _, _, _) = match self.random.below(12) {
            0 => (&["u8", "s8", "b8"], "r", 8, 1),
            1 => (&["u16", "s16"], "r", 8, 2),
            2 => (&["b16", "u16"], "h", 6, 2),
            3 => (&["u64", "b64"], "l", 5, 8),
            4 => (&["f64"], "d", 4, 8),
            5..8 => (&["u32", "s32", "b32"], "r", 8, 4),
            8 if loads => (&["s32", "u32"], "l", 5, 4),
            _ => (&["f32"], "f", 8, 4),
        };
        let kind = self.random.pick(kinds);
        let lanes = match self.random.below(8) {
            0 => 2,
            1 if bytes <= 4 => 4,
            _ => 1,
        };
        let start = self.random.below(count);
        let list: Vec<String> =
            (0..lanes).map(|at| format!("%{letter}{}", (start + at) % count)).collect();
        let list = list.join(", ");
        match lanes {
            1 => (format!(".{kind}"), list, bytes),
            _ => (format!(".v{lanes}.{kind}"), format!("{{{list}}}"), bytes * lanes),
        }
    }

    fn load(&mut self) {
        let guard = self.guard();
        let (kind, registers, bytes) = self.operands(true);
        let (space, place) = self.place(bytes);
        let ordering = match (self.random.below(20), space, registers.starts_with('{')) {
            (0, "global" | "shared" | "", _) => ".volatile",
            (1, "global" | "shared" | "", false) => ".acquire.gpu",
            (2, "global" | "shared" | "", false) => ".relaxed.cta",
            _ => "",
        };
        let nc = if ordering.is_empty() && space == "global" && self.random.once_in(12) {
            ".nc"
        } else {
            ""
        };
        let space = if space.is_empty() { String::new() } else { format!(".{space}") };
        self.push(format!("{guard}ld{ordering}{space}{nc}{kind} {registers}, {place};"));
    }

    fn store(&mut self) {
        let guard = self.guard();
        let (kind, registers, bytes) = self.operands(false);
        let (space, place) = self.place(bytes);
        let ordering = match (self.random.below(20), space, registers.starts_with('{')) {
            (0, "global" | "shared" | "", _) => ".volatile",
            (1, "global" | "shared" | "", false) => ".release.gpu",
            (2, "global" | "shared" | "", false) => ".relaxed.cta",
            _ => "",
        };
        let kind = kind.replace(".s8", ".u8").replace(".s16", ".u16");
        let space = if space.is_empty() { String::new() } else { format!(".{space}") };
        self.push(format!("{guard}st{ordering}{space}{kind} {place}, {registers};"));
    }

    fn collective(&mut self) {
        let mask = self.random.pick(&["-1", "-1", "-1", "-1", "0xffff", "%i4"]);
        let (to, from) = (self.register("r", 8), self.register("r", 8));
        let line = match self.random.below(9) {
            0..3 => {
                let mode = self.random.pick(&["bfly", "down", "up", "idx"]);
                let clamp = if mode == "up" { "0" } else { "31" };
                let distance = self.random.pick(&["1", "4", "16", "0", "%i3"]);
                format!("shfl.sync.{mode}.b32 {to}|%p3, {from}, {distance}, {clamp}, {mask};")
            }
            3 => format!(
                "vote.sync.{}.pred %p2, {}, {mask};",
                self.random.pick(&["any", "all", "uni"]),
                self.control()
            ),
            4 => format!(
                "vote.sync.ballot.b32 {to}, {}, {mask};",
                self.random.pick(&["%p0", "%q0", "%q1"])
            ),
            5 => {
                format!(
                    "redux.sync.{}.s32 {to}, {from}, {mask};",
                    self.random.pick(&["add", "max"])
                )
            }
            6 => format!("match.any.sync.b32 {to}, {}, {mask};", self.random.pick(&["%i3", "%r4"])),
            7 => format!("elect.sync {to}|%q3, {mask};"),
            _ => format!("activemask.b32 {to};"),
        };
        let guard = if self.random.once_in(3) { self.guard() } else { String::new() };
        self.push(format!("{guard}{line}"));
    }

    fn atomic(&mut self) {
        let guard = self.guard();
        let (space, place) = match self.random.once_in(3) {
            true => ("shared", "[%s0+64]".to_owned()),
            false => self.place(4),
        };
        if matches!(space, "local") {
            return;
        }
        let space = if space.is_empty() { String::new() } else { format!(".{space}") };
        let (to, a) = (self.register("r", 8), self.word());
        let line = match self.random.below(6) {
            0 => format!("red{space}.add.u32 {place}, {a};"),
            1 => format!("red{space}.add.f32 {place}, {};", self.register("f", 8)),
            2 => format!("atom{space}.exch.b32 {to}, {place}, {a};"),
            3 => format!("atom{space}.cas.b32 {to}, {place}, {a}, {};", self.word()),
            4 => format!(
                "atom{space}.{}.u32 {to}, {place}, {a};",
                self.random.pick(&["max", "add", "inc"])
            ),
            _ => format!("red{space}.{}.b32 {place}, {a};", self.random.pick(&["or", "and"])),
        };
        self.push(format!("{guard}{line}"));
    }

    fn barrier(&mut self) {
        let line = match self.random.below(9) {
            0..4 => "bar.sync 0;",
            4 => "barrier.sync 1;",
            5 => "bar.warp.sync -1;",
            6 => "bar.red.popc.u32 %r5, 0, %q1;",
            7 => "membar.gl;",
            _ => "fence.acq_rel.cta;",
        };
        self.push(line.to_owned());
    }

    fn copy(&mut self) {
        let guard = self.guard();
        let bytes = [4, 8, 16][self.random.below(3)];
        let line = match self.random.below(5) {
            0 | 1 => format!(
                "cp.async.ca.shared.global [%s{}], [%a{}], {bytes};",
                self.random.below(3),
                self.random.below(6)
            ),
            2 => "cp.async.commit_group;".to_owned(),
            3 => format!("cp.async.wait_group {};", self.random.below(2)),
            _ => "cp.async.wait_all;".to_owned(),
        };
        self.push(format!("{guard}{line}"));
    }

    /// Fills shared memory with rows, and loads some of them as matrices.
    fn matrix(&mut self) {
        let row = match self.random.below(4) {
            0 => "f32 [%s2], {%f4, %f5, %f6, %f7}",
            1 => "b32 [%s2], {%r1, %r2, %r3, %r4}",
            _ => {
                let [low, high] = [0; 2].map(|_| self.random.below(3));
                self.push(format!(
                    "mov.b32 %x2, {{%h{low}, %h{high}}}; mov.b32 %x3, {{%h{high}, %h1}};"
                ));
                "b32 [%s2], {%x2, %x3, %x3, %x2}"
            }
        };
        if !self.random.once_in(4) {
            self.push(format!("st.shared.v4.{row};"));
        }
        let barrier = self.random.pick(&["", "", "bar.sync 0;", "bar.warp.sync -1;"]);
        self.push(barrier.to_owned());
        let (flip, most) = (self.random.below(32), self.random.pick(&["31", "31", "15", "7"]));
        self.push(format!("xor.b32 %x1, %i1, {flip}; and.b32 %x1, %x1, {most};"));
        self.push("shl.b32 %x1, %x1, 4; add.s32 %x1, %x1, %s0;".to_owned());
        let trans = self.random.pick(&["", ".trans"]);
        let (count, list) = match self.random.below(3) {
            0 => (1, "%r0"),
            1 => (2, "%r0, %r5"),
            _ => (4, "%r0, %r1, %r2, %r3"),
        };
        self.push(format!(
            "ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 {{{list}}}, [%x1];"
        ));
        if self.random.once_in(2) {
            self.push(
                "mov.b32 {%h3, %h4}, %r0; cvt.f32.f16 %f5, %h3; st.shared.b16 [%s1], %h4;"
                    .to_owned(),
            );
        }
    }

    fn rare(&mut self) {
        let line = match self.random.below(13) {
            0 => "mov.b128 %w1, %w0;".to_owned(),
            1 => "mov.b128 {%l1, %l2}, %w1;".to_owned(),
            2 => "mov.u32 %r6, %clock;".to_owned(),
            3 => "isspacep.shared %p3, %a3;".to_owned(),
            4 => format!("{{ .param .b64 x; .param .b32 y; .param .b32 z; st.param.b64 [x], {}; st.param.b32 [y], {}; call (z), callee, (x, y); ld.param.b32 %r2, [z]; }}", self.random.pick(&["%a0", "%a3"]), self.word()),
            5 => "@%q1 exit;".to_owned(),
            6 => "slct.b32.s32 %r1, %r2, %r3, %i3;".to_owned(),
            7 => {
                let trans = self.random.pick(&["", ".trans"]);
                match self.random.below(2) {
                    0 => format!("ldmatrix.sync.aligned.m8n8.x1{trans}.shared.b16 {{%r3}}, [%s2];"),
                    _ => format!(
                        "ldmatrix.sync.aligned.m8n8.x2{trans}.shared.b16 {{%r3, %r5}}, [%s{}];",
                        self.random.below(3)
                    ),
                }
            }
            8 => "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1}, {%r2}, {%f4, %f5, %f6, %f7};".to_owned(),
            9 => "testp.finite.f32 %p2, %f1;".to_owned(),
            11 => "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r3}, [%s2];".to_owned(),
            10 => "dp4a.s32.s32 %r1, %r2, %r3, %r4;".to_owned(),
            _ => "cvta.to.shared.u64 %l2, %l3;".to_owned(),
        };
        self.push(line);
    }

    /// Adds a branch or a loop around some statements.
    fn nested(&mut self) {
        if self.depth == 3 {
            return self.load();
        }
        let label = self.labels;
        self.labels += 1;
        self.depth += 1;
        let count = 1 + self.random.below(5);
        if self.random.once_in(2) {
            let counter = self.depth;
            let bound = match self.random.below(3) {
                0 => "%i3".to_owned(),
                _ => self.random.below(6).to_string(),
            };
            self.push(format!("mov.u32 %c{counter}, 0;"));
            self.push(format!("B{label}:"));
            self.block(count);
            self.push(format!("add.u32 %c{counter}, %c{counter}, 1;"));
            self.push(format!("setp.lt.u32 %q4, %c{counter}, {bound}; @%q4 bra B{label};"));
        } else {
            let (control, negated) = (self.control(), self.random.pick(&["", "!"]));
            self.push(format!("@{negated}{control} bra B{label};"));
            self.block(count);
            if self.random.once_in(2) {
                self.push(format!("bra E{label};"));
                self.push(format!("B{label}:"));
                self.block(count);
                self.push(format!("E{label}:"));
            } else {
                self.push(format!("B{label}:"));
            }
        }
        self.depth -= 1;
    }
}
