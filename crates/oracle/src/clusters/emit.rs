//! Emits programs of two blocks as PTX kernels.
//!
//! The first thread of each block initialises its mbarriers and cells, and all threads synchronise as [`Start`]
//! says. Then each thread runs code of its own; lanes that are no thread of the program exit. A read stores its
//! value in its 16 bytes of the buffer `results`; copies take their bytes from the buffer `cells`.

use super::step::{COPIED, common_value, initial_value, stored_value};
use super::{
    BLOCK_THREADS, BLOCKS, CELLS, ClusterOp, ClusterProgram, MBARRIERS, Scope, Start, THREADS,
    block_of,
};
use crate::emit::Kernel;
use std::fmt::Write;

const HEADER: &str = "\
.version 8.3
.target sm_90
.address_size 64

.visible .entry program(.param .u64 cells, .param .u64 results) .reqnctapercluster 2
{
\t.reg .pred %p, %q, %first;
\t.reg .b16 %mask;
\t.reg .b32 %number, %rank, %value, %lane, %at, %bar;
\t.reg .b64 %cells, %results;
\t.shared .align 8 .b8 bars[16];
\t.shared .align 16 .b8 memory[48];
\tld.param.u64 %cells, [cells];
\tld.param.u64 %results, [results];
\tmov.u32 %number, %tid.x;
\tmov.u32 %rank, %cluster_ctarank;
\tsetp.ne.u32 %first, %number, 0;
\tsetp.ne.u32 %q, %rank, 0;
\t@%first bra ready;
";

/// Emits the kernel for a program.
#[must_use]
pub fn emit_clusters(program: &ClusterProgram) -> Kernel {
    let mut text = HEADER.to_owned();
    let line = |text: &mut String, line: String| text.push_str(&format!("\t{line}\n"));
    for (block, guard) in (0..BLOCKS).zip(["@!%q ", "@%q "]) {
        for mbarrier in 0..MBARRIERS {
            let (at, count) = (mbarrier * 8, program.counts[block][mbarrier]);
            line(&mut text, format!("{guard}mbarrier.init.shared.b64 [bars+{at}], {count};"));
        }
        for word in 0..CELLS * 4 {
            let value = initial_value(block, word / 4);
            line(&mut text, format!("{guard}st.shared.u32 [memory+{}], {value};", word * 4));
        }
    }
    // Make the cells visible to the async proxy, as if they had always been there.
    line(&mut text, "fence.proxy.async;".to_owned());
    if program.start == Start::FencedInits {
        line(&mut text, "fence.mbarrier_init.release.cluster;".to_owned());
    }
    text.push_str("ready:\n");
    line(
        &mut text,
        match program.start {
            Start::Released => "barrier.cluster.arrive;\n\tbarrier.cluster.wait;".to_owned(),
            Start::FencedInits | Start::Relaxed => {
                "barrier.cluster.arrive.relaxed;\n\tbarrier.cluster.wait;".to_owned()
            }
            Start::Apart => "bar.sync 0;".to_owned(),
        },
    );
    for thread in 0..THREADS {
        let number = block_of(thread) * 256 + thread % BLOCK_THREADS * 32;
        line(
            &mut text,
            format!("mad.lo.u32 %value, %rank, 256, %number;\n\tsetp.eq.u32 %p, %value, {number};"),
        );
        line(&mut text, format!("@%p bra thread_{thread};"));
    }
    line(&mut text, "exit;".to_owned());
    for (thread, steps) in program.threads.iter().enumerate() {
        let _ = writeln!(text, "thread_{thread}:");
        for (position, op) in steps.iter().enumerate() {
            step(&mut text, program.first(thread) + position, *op);
        }
        line(&mut text, "exit;".to_owned());
    }
    text.push_str("}\n");
    let buffers = vec![COPIED.to_le_bytes().repeat(4), vec![0; program.len().max(1) * 16]];
    Kernel { ptx: text, threads: BLOCK_THREADS as u32 * 32, buffers }
}

/// Puts the address of a cell of a block into `%at`, and that of an mbarrier there into `%bar`.
fn locate(text: &mut String, block: u8, cell: u8, mbarrier: u8) {
    let (cell, mbarrier) = (u32::from(cell) * 16, u32::from(mbarrier) * 8);
    let _ = write!(
        text,
        "\tmov.u32 %at, memory;\n\tmapa.shared::cluster.u32 %at, %at, {block};\n\tadd.u32 %at, %at, {cell};\n\
         \tmov.u32 %bar, bars;\n\tmapa.shared::cluster.u32 %bar, %bar, {block};\n\tadd.u32 %bar, %bar, {mbarrier};\n"
    );
}

/// Returns the modifiers for the memory order and the scope.
fn order(name: &str, relaxed: bool, scope: Scope) -> String {
    let name = if relaxed { "relaxed" } else { name };
    match scope {
        Scope::Block => format!(".{name}.cta"),
        Scope::Cluster => format!(".{name}.cluster"),
        // The relaxed form requires a scope.
        Scope::Unwritten if relaxed => format!(".{name}.cluster"),
        Scope::Unwritten => String::new(),
    }
}

/// Emits a step of a thread.
fn step(text: &mut String, number: usize, op: ClusterOp) {
    match op {
        ClusterOp::Write(block, cell)
        | ClusterOp::WriteCommon(block, cell, _)
        | ClusterOp::Add(block, cell, _)
        | ClusterOp::Read(block, cell) => locate(text, block, cell, 0),
        ClusterOp::Arrive { block, mbarrier, .. } => locate(text, block, 0, mbarrier),
        ClusterOp::Async(block, cell, mbarrier) | ClusterOp::AsyncAdd(block, cell, mbarrier) => {
            locate(text, block, cell, mbarrier);
        }
        _ => {}
    }
    let _ = match op {
        ClusterOp::Write(..) => {
            writeln!(text, "\tst.shared::cluster.u32 [%at], {};", stored_value(number))
        }
        ClusterOp::WriteCommon(_, _, which) => {
            writeln!(text, "\tst.shared::cluster.u32 [%at], {};", common_value(which))
        }
        ClusterOp::Add(_, _, wide) => {
            let scope = if wide { "cluster" } else { "cta" };
            writeln!(text, "\tred.relaxed.{scope}.shared::cluster.add.u32 [%at], 1;")
        }
        ClusterOp::AsyncAdd(..) => writeln!(
            text,
            "\tred.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 \
             [%at], 1, [%bar];"
        ),
        ClusterOp::Read(..) => writeln!(
            text,
            "\tld.shared::cluster.u32 %value, [%at];\n\tst.global.u32 [%results+{}], %value;",
            number * 16
        ),
        ClusterOp::Arrive { expects, relaxed, scope, .. } => {
            let order = order("release", relaxed, scope);
            match expects {
                Some(units) => writeln!(
                    text,
                    "\tmbarrier.arrive.expect_tx{order}.shared::cluster.b64 _, [%bar], {};",
                    u32::from(units) * 4
                ),
                None => writeln!(text, "\tmbarrier.arrive{order}.shared::cluster.b64 _, [%bar];"),
            }
        }
        ClusterOp::Wait { mbarrier, parity, relaxed, scope } => writeln!(
            text,
            "wait_{number}:\n\tmbarrier.try_wait.parity{}.shared::cta.b64 %p, [bars+{}], {};\n\t@!%p bra wait_{number};",
            order("acquire", relaxed, scope),
            u32::from(mbarrier) * 8,
            u32::from(parity)
        ),
        ClusterOp::ClusterArrive(relaxed) => {
            let relaxed = if relaxed { ".relaxed" } else { "" };
            writeln!(text, "\tbarrier.cluster.arrive{relaxed};")
        }
        ClusterOp::ClusterWait => writeln!(text, "\tbarrier.cluster.wait;"),
        ClusterOp::Fence(wide) => {
            writeln!(text, "\tfence.acq_rel.{};", if wide { "cluster" } else { "cta" })
        }
        ClusterOp::Block => writeln!(text, "\tbarrier.sync 1, {};", BLOCK_THREADS * 32),
        ClusterOp::Async(..) => writeln!(
            text,
            "\tst.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%at], {}, [%bar];",
            stored_value(number)
        ),
        ClusterOp::Multicast(mask, mbarrier) => writeln!(
            text,
            "\tmov.u32 %at, memory;\n\tmov.u32 %bar, bars;\n\tmov.u16 %mask, {mask};\n\
             \tcp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%at+{}], \
             [%cells], 16, [%bar+{}], %mask;",
            (CELLS - 1) * 16,
            u32::from(mbarrier) * 8
        ),
    };
}
