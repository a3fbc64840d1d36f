//! Pipelines as PTX, and the kernel that adds the same tiles without one.
//!
//! Warp 0 produces. A tile has an element for each thread of the consumers; tile `i` of `x` goes to stage `i % stages`.

use super::generate::{Feed, Mistake, Pipeline, Release};
use std::fmt::Write;

const HEADER: &str = "\
.version 8.0
.target sm_90
.address_size 64

.visible .entry pipeline(.param .u64 x, .param .u64 out)
{
\t.reg .pred %p<8>, %ask<16>, %skip<16>;
\t.reg .b32 %r<32>;
\t.reg .f32 %f<8>;
\t.reg .b64 %rd<8>;
";

struct Text<'p> {
    pipeline: &'p Pipeline,
    text: String,
    labels: u32,
}

/// The kernel of a pipeline.
pub(crate) fn kernel(pipeline: &Pipeline) -> String {
    let mut text = Text { pipeline, text: HEADER.to_owned(), labels: 0 };
    text.start();
    text.produce();
    text.consume();
    text.text
}

/// Flags for its launch.
pub(crate) fn flags(pipeline: &Pipeline) -> String {
    let Pipeline { trips, consumers, .. } = *pipeline;
    let threads = consumers * 32;
    format!(
        "--grid 1 --block {} --arg x=f32[{trips},{threads}] --arg out=f32[{threads}]:out",
        threads + 32
    )
}

/// The kernel that adds the tiles of a pipeline in sequence, and the flags for its launch.
pub(crate) fn reference(pipeline: &Pipeline) -> (String, String) {
    let Pipeline { trips, consumers, .. } = *pipeline;
    let threads = consumers * 32;
    let text = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.entry sum(.param .u64 x, .param .u64 out) {{
	.reg .pred %p; .reg .b32 %r<3>; .reg .f32 %f<3>; .reg .b64 %rd<4>;
	ld.param.u64 %rd1, [x];
	ld.param.u64 %rd2, [out];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd3, %r1, 4;
	add.s64 %rd1, %rd1, %rd3;
	add.s64 %rd2, %rd2, %rd3;
	mov.f32 %f1, 0f00000000;
	mov.u32 %r2, 0;
ROUND:
	ld.global.f32 %f2, [%rd1];
	add.f32 %f1, %f1, %f2;
	add.s64 %rd1, %rd1, {};
	add.u32 %r2, %r2, 1;
	setp.lt.u32 %p, %r2, {trips};
	@%p bra ROUND;
	st.global.f32 [%rd2], %f1;
	ret;
}}\n",
        threads * 4
    );
    let flags = format!(
        "--grid 1 --block {threads} --arg x=f32[{trips},{threads}] --arg out=f32[{threads}]:out"
    );
    (text, flags)
}

impl Text<'_> {
    fn line(&mut self, line: impl AsRef<str>) {
        let _ = writeln!(self.text, "\t{}", line.as_ref());
    }

    fn label(&mut self, label: &str) {
        let _ = writeln!(self.text, "{label}:");
    }

    /// Size of a stage in bytes.
    fn bytes(&self) -> u32 {
        self.pipeline.consumers * 128
    }

    /// Memory, and the mbarriers: `%r1` thread, `%r2` lane, `%r3` mbarriers, `%r4` stages.
    fn start(&mut self) {
        let Pipeline { stages, consumers, feed, release, .. } = *self.pipeline;
        let (bytes, has) = (self.bytes(), |mistake| self.pipeline.has(mistake));
        let full = if feed.is_bulk() { 1 } else { 32 } + u32::from(has(Mistake::FullCount));
        let releasing = if has(Mistake::HalfRelease) { consumers.div_ceil(2) } else { consumers };
        let each = if release == Release::OneLane { 1 } else { 32 };
        let empty = releasing * each + u32::from(has(Mistake::EmptyCount));
        let meets = !has(Mistake::NoInitBarrier);
        self.line(format!(".shared .align 8 .b8 bars[{}];", stages * 16));
        self.line(format!(".shared .align 128 .b8 buffer[{}];", stages * bytes));
        self.line(format!(".shared .align 16 .b8 result[{bytes}];"));
        for line in [
            "ld.param.u64 %rd1, [x];",
            "ld.param.u64 %rd2, [out];",
            "mov.u32 %r1, %tid.x;",
            "and.b32 %r2, %r1, 31;",
            "mov.u32 %r3, bars;",
            "mov.u32 %r4, buffer;",
            "setp.ne.u32 %p1, %r1, 0;",
            "@%p1 bra READY;",
        ] {
            self.line(line);
        }
        for stage in 0..stages {
            self.line(format!("mbarrier.init.shared.b64 [bars+{}], {full};", stage * 8));
            self.line(format!(
                "mbarrier.init.shared.b64 [bars+{}], {empty};",
                (stages + stage) * 8
            ));
        }
        self.label("READY");
        if meets {
            self.line("bar.sync 0;");
        }
        self.line("setp.ge.u32 %p1, %r1, 32;");
        self.line("@%p1 bra CONSUMER;");
    }

    /// Starts a loop over the tiles: `%r5` tile, `%r6` stage, `%r7` parity, `%r8` full, `%r9` empty, `%r10` stage in
    /// memory.
    fn head(&mut self, name: &str) {
        self.line("mov.u32 %r5, 0;");
        self.line("mov.u32 %r6, 0;");
        self.line("mov.u32 %r7, 0;");
        self.label(name);
        let Pipeline { stages, wraps, .. } = *self.pipeline;
        let bytes = self.bytes();
        if !wraps {
            self.line(format!("rem.u32 %r6, %r5, {stages};"));
            self.line(format!("div.u32 %r7, %r5, {stages};"));
            self.line("and.b32 %r7, %r7, 1;");
        }
        self.line("mad.lo.u32 %r8, %r6, 8, %r3;");
        self.line(format!("add.u32 %r9, %r8, {};", stages * 8));
        self.line(format!("mad.lo.u32 %r10, %r6, {bytes}, %r4;"));
    }

    /// Advances to the next tile.
    fn next(&mut self, name: &str) {
        let Pipeline { stages, trips, wraps, .. } = *self.pipeline;
        if wraps {
            self.line("add.u32 %r6, %r6, 1;");
            self.line(format!("setp.eq.u32 %p2, %r6, {stages};"));
            self.line("@%p2 mov.u32 %r6, 0;");
            self.line("@%p2 xor.b32 %r7, %r7, 1;");
        }
        self.line("add.u32 %r5, %r5, 1;");
        self.line(format!("setp.lt.u32 %p3, %r5, {trips};"));
        self.line(format!("@%p3 bra {name};"));
    }

    /// A loop that waits for a phase, in one of several forms.
    fn wait(&mut self, shape: u32, at: &str, parity: &str) {
        self.labels += 1;
        let (number, operands) = (self.labels, format!("[{at}], {parity}"));
        let ask = "mbarrier.try_wait.parity.shared::cta.b64";
        if shape == 5 {
            self.line(format!("{ask} %ask{number}, {operands};"));
            self.line(format!("selp.b32 %r30, 1, 0, %ask{number};"));
            self.line(format!("setp.ne.u32 %skip{number}, %r30, 0;"));
            self.line(format!("@%skip{number} bra DONE{number};"));
        }
        self.label(&format!("WAIT{number}"));
        match shape {
            0 | 5 => {
                self.line(format!("{ask} %p7, {operands};"));
                self.line(format!("@!%p7 bra.uni WAIT{number};"));
            }
            1 | 4 => {
                let limit = if shape == 4 { ", 1000" } else { "" };
                self.line(format!("{ask} %p7, {operands}{limit};"));
                self.line(format!("@%p7 bra DONE{number};"));
                self.line(format!("bra WAIT{number};"));
            }
            2 => {
                self.line(format!("{ask} %p7, {operands};"));
                self.line("selp.b32 %r31, 1, 0, %p7;");
                self.line("setp.eq.u32 %p6, %r31, 0;");
                self.line(format!("@%p6 bra WAIT{number};"));
            }
            _ => {
                self.line(format!("mbarrier.test_wait.parity.shared.b64 %p7, {operands};"));
                self.line(format!("@%p7 bra DONE{number};"));
                self.line("nanosleep.u32 20;");
                self.line(format!("bra WAIT{number};"));
            }
        }
        self.label(&format!("DONE{number}"));
    }

    fn produce(&mut self) {
        let Pipeline { feed, waits, .. } = *self.pipeline;
        if feed.is_bulk() {
            self.line("setp.ne.u32 %p1, %r2, 0;");
            self.line("@%p1 exit;");
        }
        self.head("FILL");
        if !self.pipeline.has(Mistake::NoEmptyWait) {
            let inverted = !self.pipeline.has(Mistake::EmptyParity);
            self.line(format!("xor.b32 %r11, %r7, {};", u32::from(inverted)));
            self.wait(waits[0], "%r9", "%r11");
        }
        // The address of the tile.
        let (bytes, shifted) = (self.bytes(), self.pipeline.has(Mistake::OtherTile));
        self.line(if shifted { "shr.u32 %r12, %r5, 1;" } else { "mov.u32 %r12, %r5;" });
        self.line(format!("mul.wide.u32 %rd3, %r12, {bytes};"));
        self.line("add.s64 %rd3, %rd1, %rd3;");
        match feed {
            Feed::Bulk | Feed::TwoBulk | Feed::SplitExpect => self.bulk(),
            Feed::Copies | Feed::Stores => self.lanes(),
        }
        self.next("FILL");
        if feed == Feed::Copies {
            self.line("cp.async.wait_all;");
        }
        self.line("exit;");
    }

    /// Bulk copies of a tile.
    fn bulk(&mut self) {
        let has = |mistake| self.pipeline.has(mistake);
        let (bytes, feed) = (self.bytes(), self.pipeline.feed);
        let announced = match () {
            () if has(Mistake::ExpectLess) => bytes - 16,
            () if has(Mistake::ExpectMore) => bytes + 16,
            () => bytes,
        };
        let arrive = |bytes: u32| match has(Mistake::NoExpect) {
            true => "mbarrier.arrive.shared::cta.b64 _, [%r8];".to_owned(),
            false => format!("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r8], {bytes};"),
        };
        let copy = |from: u32, bytes: u32| {
            format!(
                "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r10+{from}], [%rd3+{from}], {bytes}, [%r8];"
            )
        };
        let lines = match feed {
            Feed::SplitExpect => {
                let (first, rest) = (64, announced - 64);
                let expect =
                    format!("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r8], {first};");
                let expect = if has(Mistake::NoExpect) { String::new() } else { expect };
                vec![expect, copy(0, first), arrive(rest), copy(first, bytes - first)]
            }
            Feed::TwoBulk => vec![arrive(announced), copy(0, 64), copy(64, bytes - 64)],
            _ => vec![arrive(announced), copy(0, bytes)],
        };
        lines.into_iter().for_each(|line| self.line(line));
    }

    /// Every lane copies its elements of a tile.
    fn lanes(&mut self) {
        self.line("mul.wide.u32 %rd4, %r2, 4;");
        self.line("add.s64 %rd3, %rd3, %rd4;");
        self.line("mad.lo.u32 %r13, %r2, 4, %r10;");
        let is_copy = self.pipeline.feed == Feed::Copies;
        for warp in 0..self.pipeline.consumers {
            let at = warp * 128;
            if is_copy {
                self.line(format!("cp.async.ca.shared.global [%r13+{at}], [%rd3+{at}], 4;"));
            } else {
                self.line(format!("ld.global.f32 %f1, [%rd3+{at}];"));
                self.line(format!("st.shared.f32 [%r13+{at}], %f1;"));
            }
        }
        let relaxed = self.pipeline.has(Mistake::RelaxedFull);
        self.line(match (is_copy, relaxed) {
            (true, _) => "cp.async.mbarrier.arrive.noinc.shared.b64 [%r8];",
            (false, true) => "mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [%r8];",
            (false, false) => "mbarrier.arrive.shared::cta.b64 _, [%r8];",
        });
    }

    fn consume(&mut self) {
        let Pipeline { stages, waits, .. } = *self.pipeline;
        let (has, bytes) = (|mistake| self.pipeline.has(mistake), self.bytes());
        let (other_full, other_stage) = (has(Mistake::OtherFull), has(Mistake::OtherStage));
        let (kept, early) = (has(Mistake::FullParityKept), has(Mistake::EarlyRelease));
        self.label("CONSUMER");
        self.line("sub.u32 %r14, %r1, 32;");
        self.line("mov.f32 %f2, 0f00000000;");
        self.head("TAKE");
        self.line("add.u32 %r20, %r6, 1;");
        self.line(format!("rem.u32 %r20, %r20, {stages};"));
        if other_full {
            self.line("mad.lo.u32 %r8, %r20, 8, %r3;");
        }
        if other_stage {
            self.line(format!("mad.lo.u32 %r10, %r20, {bytes}, %r4;"));
        }
        self.wait(waits[1], "%r8", if kept { "0" } else { "%r7" });
        if early {
            self.release();
        }
        self.line("mad.lo.u32 %r15, %r14, 4, %r10;");
        self.line("ld.shared.f32 %f1, [%r15];");
        self.line("add.f32 %f2, %f2, %f1;");
        if !early {
            self.release();
        }
        self.next("TAKE");
        self.finish();
    }

    /// Hands the stage back.
    fn release(&mut self) {
        let Pipeline { consumers, release, fences, .. } = *self.pipeline;
        let has = |mistake| self.pipeline.has(mistake);
        let (half, relaxed) = (has(Mistake::HalfRelease), has(Mistake::RelaxedEmpty));
        let meets = release == Release::OneLane && !has(Mistake::NoWarpSync);
        self.labels += 1;
        let label = format!("KEPT{}", self.labels);
        if fences {
            self.line("fence.proxy.async.shared::cta;");
        }
        if meets {
            self.line("bar.warp.sync 0xffffffff;");
        }
        if release == Release::OneLane {
            self.line("setp.ne.u32 %p4, %r2, 0;");
            self.line(format!("@%p4 bra {label};"));
        }
        if half {
            self.line(format!("setp.ge.u32 %p4, %r14, {};", consumers.div_ceil(2) * 32));
            self.line(format!("@%p4 bra {label};"));
        }
        self.line(match relaxed {
            true => "mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [%r9];",
            false => "mbarrier.arrive.shared::cta.b64 _, [%r9];",
        });
        self.label(&label);
    }

    /// Stores the sums.
    fn finish(&mut self) {
        let (threads, bytes) = (self.pipeline.consumers * 32, self.bytes());
        self.line("mul.wide.u32 %rd4, %r14, 4;");
        if !self.pipeline.stores_in_bulk {
            self.line("add.s64 %rd2, %rd2, %rd4;");
            self.line("st.global.f32 [%rd2], %f2;");
            self.line("ret;\n}");
            return;
        }
        self.line("mov.u32 %r16, result;");
        self.line("mad.lo.u32 %r17, %r14, 4, %r16;");
        self.line("st.shared.f32 [%r17], %f2;");
        if !self.pipeline.has(Mistake::NoStoreFence) {
            self.line("fence.proxy.async.shared::cta;");
        }
        if !self.pipeline.has(Mistake::NoStoreBarrier) {
            self.line(format!("bar.sync 1, {threads};"));
        }
        self.line("setp.ne.u32 %p5, %r14, 0;");
        self.line("@%p5 exit;");
        self.line(format!("cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r16], {bytes};"));
        self.line("cp.async.bulk.commit_group;");
        self.line("cp.async.bulk.wait_group 0;");
        self.line("ret;\n}");
    }
}
