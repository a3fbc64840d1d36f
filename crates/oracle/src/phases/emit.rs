//! Emits programs with mbarriers as PTX kernels.
//!
//! The first thread initialises the mbarriers and the cells, and a barrier of all threads orders that before
//! everything. Then each thread runs code of its own; lanes without a part exit. A read stores its value in
//! its 16 bytes of the buffer `results`; copies take their bytes from the buffer `cells`.

use super::step::{copied, initial, shared, stored};
use super::{CELLS, MBARRIERS, PhaseArrival, PhaseOp, PhaseProgram};
use crate::emit::Kernel;
use std::fmt::Write;

const HEADER: &str = "\
.version 8.0
.target sm_90
.address_size 64

.visible .entry program(.param .u64 cells, .param .u64 results)
{
\t.reg .pred %p, %q, %ask<32>, %skip<32>, %done<32>;
\t.reg .b32 %number, %value, %token;
\t.reg .b64 %cells, %results, %state;
\t.shared .align 8 .b8 bars[32];
\t.shared .align 16 .b8 memory[48];
\tld.param.u64 %cells, [cells];
\tld.param.u64 %results, [results];
\tmov.u32 %number, %tid.x;
\tmov.u32 %token, 0;
\tsetp.ne.u32 %p, %number, 0;
\t@%p bra ready;
";

/// Emits the kernel for a program.
#[must_use]
pub fn emit_phases(program: &PhaseProgram) -> Kernel {
    let mut text = HEADER.to_owned();
    for mbarrier in 0..MBARRIERS {
        let count = program.counts[mbarrier];
        let _ = writeln!(text, "\tmbarrier.init.shared.b64 [bars+{}], {count};", mbarrier * 8);
    }
    for cell in 0..CELLS {
        for word in 0..4 {
            let at = cell * 16 + word * 4;
            let _ = writeln!(text, "\tst.shared.u32 [memory+{at}], {};", initial(cell));
        }
    }
    // Make the cells visible to the async proxy, as if they had always been there.
    text.push_str("\tfence.proxy.async;\nready:\n\tbar.sync 0;\n");
    for thread in 0..program.threads.len() {
        let (warp, lane) = program.place(thread);
        let _ = writeln!(text, "\tsetp.eq.u32 %p, %number, {};", warp * 32 + lane);
        let _ = writeln!(text, "\t@%p bra thread_{thread};");
    }
    text.push_str("\texit;\n");
    for (thread, steps) in program.threads.iter().enumerate() {
        let _ = writeln!(text, "thread_{thread}:");
        for (position, op) in steps.iter().enumerate() {
            let number = program.first(thread) + position;
            step(&mut text, program, number, *op);
        }
        text.push_str("\texit;\n");
    }
    text.push_str("}\n");
    let cells = (0..CELLS as u8).flat_map(|cell| copied(cell).to_le_bytes().repeat(4));
    Kernel {
        ptx: text,
        threads: program.warps() as u32 * 32,
        buffers: vec![cells.collect(), vec![0; program.len() * 16]],
    }
}

fn step(text: &mut String, program: &PhaseProgram, number: usize, op: PhaseOp) {
    let at = |mbarrier: u8| format!("[bars+{}]", u32::from(mbarrier) * 8);
    let bytes = |units: u8| u32::from(units) * 16;
    let _ = match op {
        PhaseOp::Arrive(arrival) => writeln!(text, "\t{};", arrive(arrival, &at(arrival.mbarrier))),
        PhaseOp::Expect(mbarrier, units) => writeln!(
            text,
            "\tmbarrier.expect_tx.relaxed.cta.shared::cta.b64 {}, {};",
            at(mbarrier),
            bytes(units)
        ),
        PhaseOp::Deliver(mbarrier, units) => writeln!(
            text,
            "\tmbarrier.complete_tx.relaxed.cta.shared::cta.b64 {}, {};",
            at(mbarrier),
            bytes(units)
        ),
        PhaseOp::Wait(mbarrier, parity, relaxed) => {
            let how = if relaxed { ".relaxed.cta" } else { "" };
            let parity = u32::from(parity);
            let at = at(mbarrier);
            writeln!(
                text,
                "wait_{number}:\n\tmbarrier.try_wait.parity{how}.shared::cta.b64 %q, {at}, {parity};\n\
                 \t@!%q bra wait_{number};"
            )
        }
        PhaseOp::Peek(mbarrier, parity) => writeln!(
            text,
            "\tmbarrier.try_wait.parity.shared::cta.b64 %ask{number}, {}, {};\n\
             \tselp.b32 %token, 1, 0, %ask{number};",
            at(mbarrier),
            u32::from(parity)
        ),
        PhaseOp::WaitUnless(mbarrier, parity) => writeln!(
            text,
            "\tsetp.ne.s32 %skip{number}, %token, 0;\n\t@%skip{number} bra skip_{number};\n\
             wait_{number}:\n\
             \tmbarrier.try_wait.parity.shared::cta.b64 %done{number}, {}, {};\n\
             \t@!%done{number} bra wait_{number};\nskip_{number}:",
            at(mbarrier),
            u32::from(parity)
        ),
        PhaseOp::Copy(cell) => {
            let offset = u32::from(cell) * 16;
            writeln!(text, "\tcp.async.ca.shared.global [memory+{offset}], [%cells+{offset}], 4;")
        }
        PhaseOp::CopyArrive(mbarrier, increments) => {
            let how = if increments { "" } else { ".noinc" };
            writeln!(text, "\tcp.async.mbarrier.arrive{how}.shared.b64 {};", at(mbarrier))
        }
        PhaseOp::Write(cell) => {
            let offset = u32::from(cell) * 16;
            writeln!(text, "\tst.shared.u32 [memory+{offset}], {};", stored(number))
        }
        PhaseOp::Same(cell, which) => {
            let offset = u32::from(cell) * 16;
            writeln!(text, "\tst.shared.u32 [memory+{offset}], {};", shared(cell, which))
        }
        PhaseOp::Update(cell) => {
            writeln!(text, "\tred.shared.add.u32 [memory+{}], 1;", u32::from(cell) * 16)
        }
        PhaseOp::Read(cell) => writeln!(
            text,
            "\tld.shared.u32 %value, [memory+{}];\n\tst.global.u32 [%results+{}], %value;",
            u32::from(cell) * 16,
            number * 16
        ),
        PhaseOp::Load(cell, mbarrier) => {
            let (offset, at) = (u32::from(cell) * 16, at(mbarrier));
            writeln!(
                text,
                "\tcp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes \
                 [memory+{offset}], [%cells+{offset}], 16, {at};"
            )
        }
        PhaseOp::Store(cell) => {
            let (from, to) = (u32::from(cell) * 16, number * 16);
            writeln!(
                text,
                "\tcp.async.bulk.global.shared::cta.bulk_group [%results+{to}], [memory+{from}], 16;\n\
                 \tcp.async.bulk.commit_group;"
            )
        }
        PhaseOp::StoreWait(read) => {
            let read = if read { ".read" } else { "" };
            writeln!(text, "\tcp.async.bulk.wait_group{read} 0;")
        }
        PhaseOp::ProxyFence => writeln!(text, "\tfence.proxy.async;"),
        PhaseOp::Fence => writeln!(text, "\tfence.acq_rel.cta;"),
        PhaseOp::Block => writeln!(text, "\tbarrier.sync 1, {};", program.warps() * 32),
        PhaseOp::Warp(orders) => {
            let thread = (0..program.threads.len()).rfind(|&one| program.first(one) <= number);
            let shares = program.share_warp && thread.is_some_and(|thread| thread <= 1);
            let mask = if shares { 3 } else { 1 };
            match orders {
                true => writeln!(text, "\tbar.warp.sync {mask};"),
                false => writeln!(text, "\tvote.sync.any.pred %q, 1, {mask};"),
            }
        }
    };
}

fn arrive(arrival: PhaseArrival, at: &str) -> String {
    let PhaseArrival { count, expects, drops, no_complete, relaxed, .. } = arrival;
    let name = if drops { "arrive_drop" } else { "arrive" };
    let how = match (expects, no_complete) {
        (Some(_), _) => ".expect_tx",
        (None, true) => ".noComplete",
        (None, false) => "",
    };
    let order = if relaxed && how != ".noComplete" { ".relaxed.cta" } else { "" };
    let operand = match expects {
        Some(units) => u32::from(units) * 16,
        None => u32::from(count),
    };
    format!("mbarrier.{name}{how}{order}.shared::cta.b64 %state, {at}, {operand}")
}
