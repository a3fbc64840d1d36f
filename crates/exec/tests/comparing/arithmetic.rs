//! The statements of random kernels that compute in registers.

use super::statements::Body;

const RELATIONS: [&str; 6] = ["eq", "ne", "lt", "le", "gt", "ge"];

impl Body<'_> {
    pub(super) fn integer(&mut self) {
        let guard = self.guard();
        let (to, a, b, c) = (self.register("r", 8), self.word(), self.word(), self.word());
        let kind = self.random.pick(&["u32", "s32"]);
        let line = match self.random.below(16) {
            0 => format!("mad.lo.s32 {to}, {a}, {b}, {c};"),
            1 => format!("mul.hi.{kind} {to}, {a}, {b};"),
            2 => format!("{}.{kind} {to}, {a}, {b};", self.random.pick(&["min", "max"])),
            3 => format!("shr.{kind} {to}, {a}, {b};"),
            4 => format!("shl.b32 {to}, {a}, {b};"),
            5 => format!("{}.{kind} {to}, {a}, {b};", self.random.pick(&["div", "rem"])),
            6 => format!("selp.b32 {to}, {a}, {b}, {};", self.register("p", 4)),
            7 => format!("selp.b32 {to}, {a}, {b}, {};", self.control()),
            8 => format!("{}.b32 {to}, {a}, {b};", self.random.pick(&["and", "or", "xor"])),
            9 => format!("mov.b32 {to}, {a};"),
            10 => format!("add.cc.u32 {to}, {a}, {b}; addc.u32 %r7, {c}, 0;"),
            11 => format!("{}.s32 {to}, {a};", self.random.pick(&["neg", "abs"])),
            12 => {
                let (to, a, b) = (self.register("l", 5), self.long(), self.long());
                format!(
                    "{} {to}, {a}, {b};",
                    self.random.pick(&["add.s64", "sub.s64", "mul.lo.s64"])
                )
            }
            13 => {
                let (to, a, b) = (self.register("l", 5), self.long(), self.word());
                format!("{} {to}, {a}, {b};", self.random.pick(&["shl.b64", "shr.u64", "shr.s64"]))
            }
            14 => format!("mul.wide.{kind} {}, {a}, {b};", self.register("l", 5)),
            _ => format!("{}.{kind} {to}, {a}, {b};", self.random.pick(&["add", "sub"])),
        };
        let single = line.matches(';').count() == 1;
        self.push(if single { format!("{guard}{line}") } else { line });
    }

    /// Registers of 16 bits.
    pub(super) fn narrow(&mut self) {
        let guard = self.guard();
        let [to, a, b] = [0; 3].map(|_| self.register("h", 6));
        let op = ["add.s16", "sub.u16", "mul.lo.s16", "min.s16", "max.u16", "and.b16", "xor.b16"];
        let line = match self.random.below(5) {
            0 => format!("shl.b16 {to}, {a}, {};", self.word()),
            1 => format!("mul.wide.s16 {}, {a}, {b};", self.register("r", 8)),
            2 => format!(
                "setp.{}.u16 {}, {a}, {b};",
                self.random.pick(&RELATIONS),
                self.register("p", 4)
            ),
            3 => format!("mov.b16 {to}, {a};"),
            _ => format!("{} {to}, {a}, {b};", self.random.pick(&op)),
        };
        self.push(format!("{guard}{line}"));
    }

    pub(super) fn index_arithmetic(&mut self) {
        let guard = if self.random.once_in(3) { self.guard() } else { String::new() };
        let to = self.register("i", 6);
        let (a, b) = (self.index(), self.index());
        let ops = ["add.s32", "sub.s32", "mul.lo.s32", "and.b32", "xor.b32", "min.u32", "shr.u32"];
        let line = match self.random.below(6) {
            0 => format!("ld.global.u32 {to}, [gmem+{}];", 4 * self.random.below(8)),
            1 => format!("ld.const.u32 {to}, [cmem+{}];", 4 * self.random.below(8)),
            2 => format!("selp.b32 {to}, {a}, {b}, {};", self.control()),
            _ => format!("{} {to}, {a}, {b};", self.random.pick(&ops)),
        };
        self.push(format!("{guard}{line}"));
    }

    pub(super) fn predicate(&mut self) {
        let guard = if self.random.once_in(3) { self.guard() } else { String::new() };
        let relation = self.random.pick(&RELATIONS);
        let line = match self.random.below(9) {
            0 => format!(
                "setp.{relation}.s32 {}, {}, {};",
                self.register("p", 4),
                self.word(),
                self.word()
            ),
            1 => format!(
                "setp.{relation}.f32 {}, {}, {};",
                self.register("p", 4),
                self.float(),
                self.float()
            ),
            2 => format!(
                "setp.{relation}.u64 {}, {}, {};",
                self.register("p", 4),
                self.long(),
                self.long()
            ),
            3 => {
                let (to, a, b) = (self.register("p", 4), self.register("p", 4), self.control());
                format!("{}.pred {to}, {a}, {b};", self.random.pick(&["and", "or", "xor"]))
            }
            4 => format!("not.pred {}, {};", self.register("p", 4), self.register("p", 4)),
            5 => format!("mov.pred {}, {};", self.register("p", 4), self.control()),
            6 => {
                let (to, a, b) =
                    (self.register("q", 4), self.register("q", 4), self.register("q", 4));
                format!("{}.pred {to}, {a}, {b};", self.random.pick(&["and", "or", "xor"]))
            }
            _ => {
                let signed = self.random.pick(&["s32", "u32"]);
                format!(
                    "setp.{relation}.{signed} {}, {}, {};",
                    self.register("q", 4),
                    self.index(),
                    self.index()
                )
            }
        };
        self.push(format!("{guard}{line}"));
    }

    pub(super) fn single(&mut self) {
        let guard = self.guard();
        let (to, a, b, c) = (self.register("f", 8), self.float(), self.float(), self.float());
        let flush = self.random.pick(&["", "", ".ftz"]);
        let clamp = self.random.pick(&["", "", "", "", ".sat"]);
        let rounding = self.random.pick(&[".rn", ".rn", ".rz", ".rm"]);
        let line = match self.random.below(10) {
            0..3 => format!("fma{rounding}{flush}{clamp}.f32 {to}, {a}, {b}, {c};"),
            3..6 => {
                let op = self.random.pick(&["add", "sub", "mul"]);
                format!("{op}{rounding}{flush}{clamp}.f32 {to}, {a}, {b};")
            }
            6 => format!("{}{flush}.f32 {to}, {a}, {b};", self.random.pick(&["min", "max"])),
            7 => format!("{}.f32 {to}, {a};", self.random.pick(&["neg", "abs"])),
            8 => {
                let op = ["ex2.approx", "lg2.approx", "rcp.rn", "sqrt.rn", "rsqrt.approx"];
                format!("{}.f32 {to}, {a};", self.random.pick(&op))
            }
            _ => {
                let condition = self.random.pick(&["%p0", "%p1", "%q0", "%q1"]);
                format!("selp.f32 {to}, {a}, {b}, {condition};")
            }
        };
        self.push(format!("{guard}{line}"));
    }

    pub(super) fn doubles(&mut self) {
        let guard = self.guard();
        let [to, a, b] = [0; 3].map(|_| self.register("d", 4));
        let line = match self.random.below(3) {
            0 => format!("fma.rn.f64 {to}, {a}, {b}, {a};"),
            1 => format!("{}.f64 {to}, {a}, {b};", self.random.pick(&["add", "mul", "max"])),
            _ => format!("cvt.f64.f32 {to}, {};", self.register("f", 8)),
        };
        self.push(format!("{guard}{line}"));
    }

    /// Halves, alone and in pairs.
    pub(super) fn halves(&mut self) {
        let guard = self.guard();
        let [to, a, b] = [0; 3].map(|_| self.register("h", 6));
        let [wide, x, y] = [0; 3].map(|_| self.register("r", 8));
        let pair = self.random.pick(&["f16x2", "bf16x2"]);
        let line = match self.random.below(9) {
            0 => format!("mov.b32 {{{to}, {a}}}, {x};"),
            1 => format!("mov.b32 {wide}, {{{a}, {b}}};"),
            2 => format!(
                "cvt.f32.{} {}, {a};",
                self.random.pick(&["f16", "bf16"]),
                self.register("f", 8)
            ),
            3 => format!("cvt.rn.f16.f32 {to}, {};", self.register("f", 8)),
            4 => format!(
                "cvt.rn.{pair}.f32 {wide}, {}, {};",
                self.register("f", 8),
                self.register("f", 8)
            ),
            5 => format!("fma.rn.{pair} {wide}, {x}, {y}, {x};"),
            6 => format!("add.f16 {to}, {a}, {b};"),
            7 => format!("{}.{pair} {wide}, {x}, {y};", self.random.pick(&["max", "min"])),
            _ => format!("neg.{pair} {wide}, {x};"),
        };
        self.push(format!("{guard}{line}"));
    }

    pub(super) fn convert(&mut self) {
        let guard = self.guard();
        let line = match self.random.below(9) {
            0 => format!("cvt.rn.f32.s32 {}, {};", self.register("f", 8), self.register("r", 8)),
            1 => format!("cvt.rzi.s32.f32 {}, {};", self.register("r", 8), self.register("f", 8)),
            2 => format!("cvt.u64.u32 {}, {};", self.register("l", 5), self.register("r", 8)),
            3 => format!("cvt.s64.s32 {}, {};", self.register("l", 5), self.register("r", 8)),
            4 => format!("cvt.u32.u64 {}, {};", self.register("r", 8), self.register("l", 5)),
            5 => format!("cvt.u16.u32 {}, {};", self.register("h", 6), self.register("r", 8)),
            6 => format!("cvt.s32.s16 {}, {};", self.register("r", 8), self.register("h", 6)),
            7 => format!("cvt.rmi.f32.f32 {}, {};", self.register("f", 8), self.register("f", 8)),
            _ => format!("mov.b32 {}, {};", self.register("r", 8), self.register("f", 8)),
        };
        self.push(format!("{guard}{line}"));
    }

    pub(super) fn bits(&mut self) {
        let guard = self.guard();
        let (to, a, b, c) = (self.register("r", 8), self.word(), self.word(), self.word());
        let line = match self.random.below(10) {
            0 => format!("bfe.{}.32 {to}, {a}, {b}, {c};", self.random.pick(&["u", "s"]))
                .replace(".32", "32"),
            1 => format!("bfi.b32 {to}, {a}, {b}, 8, 16;"),
            2 => format!("lop3.b32 {to}, {a}, {b}, {c}, {};", self.random.below(256)),
            3 => format!(
                "prmt.b32 {to}, {a}, {b}, {};",
                self.random.pick(&["0x5410", "0x7632", "0x3210"])
            ),
            4 => format!("shf.l.wrap.b32 {to}, {a}, {b}, {};", self.random.pick(&["8", "16", "5"])),
            5 => format!("popc.b32 {to}, {a};"),
            6 => format!("mov.b64 {}, {{{to}, %r1}};", self.register("l", 5)),
            7 => format!("mov.b64 {{{to}, %r1}}, {};", self.register("l", 5)),
            8 => format!("shl.b32 {to}, {a}, {};", self.random.pick(&["8", "16", "23"])),
            _ => format!("not.b32 {to}, {a};"),
        };
        self.push(format!("{guard}{line}"));
    }
}
