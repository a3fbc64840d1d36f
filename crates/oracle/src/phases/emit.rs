//! Emits programs with mbarriers as PTX kernels.
//!
//! The first thread initialises the mbarriers and the cells, and a barrier of all threads orders that before
//! everything. Then each thread runs code of its own; lanes that are no thread of the program exit. A read stores
//! its value in its 16 bytes of the buffer `results`; copies take their bytes from the buffer `cells`.

use super::step::{common_value, copied_value, initial_value, stored_value};
use super::{CELLS, MBARRIERS, PhaseArrival, PhaseOp, PhaseProgram};
use crate::emit::Kernel;
use std::fmt::Write;

const HEADER: &str = "\
.version 8.0
.target sm_90
.address_size 64

.visible .entry program(.param .u64 cells, .param .u64 results)
{
\t.reg .pred %p, %q, %peeked<32>, %skip<32>, %done<32>;
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
            let _ = writeln!(text, "\tst.shared.u32 [memory+{at}], {};", initial_value(cell));
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
    let cells = (0..CELLS as u8).flat_map(|cell| copied_value(cell).to_le_bytes().repeat(4));
    Kernel {
        ptx: text,
        threads: program.warps() as u32 * 32,
        buffers: vec![cells.collect(), vec![0; program.len() * 16]],
    }
}

/// Emits a step of a thread.
fn step(text: &mut String, program: &PhaseProgram, number: usize, op: PhaseOp) {
    let code = match op {
        PhaseOp::Arrive(arrival) => arrive(arrival),
        PhaseOp::Expect(mbarrier, units) => change_bytes("expect_tx", mbarrier, units),
        PhaseOp::Deliver(mbarrier, units) => change_bytes("complete_tx", mbarrier, units),
        PhaseOp::Wait(mbarrier, parity, relaxed) => wait(number, mbarrier, parity, relaxed),
        PhaseOp::Peek(mbarrier, parity) => peek(number, mbarrier, parity),
        PhaseOp::WaitUnless(mbarrier, parity) => wait_unless(number, mbarrier, parity),
        PhaseOp::CopyArrive(mbarrier, increments) => {
            let modifier = if increments { "" } else { ".noinc" };
            format!("\tcp.async.mbarrier.arrive{modifier}.shared.b64 {};", place(mbarrier))
        }
        PhaseOp::Copy(cell)
        | PhaseOp::Write(cell)
        | PhaseOp::WriteCommon(cell, _)
        | PhaseOp::Update(cell)
        | PhaseOp::Read(cell)
        | PhaseOp::Load(cell, _)
        | PhaseOp::Store(cell) => access(number, op, u32::from(cell) * 16),
        PhaseOp::StoreWait(read) => {
            let read = if read { ".read" } else { "" };
            format!("\tcp.async.bulk.wait_group{read} 0;")
        }
        PhaseOp::ProxyFence => "\tfence.proxy.async;".to_owned(),
        PhaseOp::Fence => "\tfence.acq_rel.cta;".to_owned(),
        PhaseOp::Block => format!("\tbarrier.sync 1, {};", program.warps() * 32),
        PhaseOp::Warp(orders) => meet_in_warp(program, number, orders),
    };
    let _ = writeln!(text, "{code}");
}

/// The address operand of an mbarrier.
fn place(mbarrier: u8) -> String {
    format!("[bars+{}]", u32::from(mbarrier) * 8)
}

fn change_bytes(name: &str, mbarrier: u8, units: u8) -> String {
    let (at, bytes) = (place(mbarrier), u32::from(units) * 16);
    format!("\tmbarrier.{name}.relaxed.cta.shared::cta.b64 {at}, {bytes};")
}

fn wait(number: usize, mbarrier: u8, parity: bool, relaxed: bool) -> String {
    let modifier = if relaxed { ".relaxed.cta" } else { "" };
    let (at, parity) = (place(mbarrier), u32::from(parity));
    format!(
        "wait_{number}:\n\tmbarrier.try_wait.parity{modifier}.shared::cta.b64 %q, {at}, {parity};\n\
         \t@!%q bra wait_{number};"
    )
}

fn peek(number: usize, mbarrier: u8, parity: bool) -> String {
    let (at, parity) = (place(mbarrier), u32::from(parity));
    format!(
        "\tmbarrier.try_wait.parity.shared::cta.b64 %peeked{number}, {at}, {parity};\n\
         \tselp.b32 %token, 1, 0, %peeked{number};"
    )
}

fn wait_unless(number: usize, mbarrier: u8, parity: bool) -> String {
    let (at, parity) = (place(mbarrier), u32::from(parity));
    format!(
        "\tsetp.ne.s32 %skip{number}, %token, 0;\n\t@%skip{number} bra skip_{number};\n\
         wait_{number}:\n\
         \tmbarrier.try_wait.parity.shared::cta.b64 %done{number}, {at}, {parity};\n\
         \t@!%done{number} bra wait_{number};\nskip_{number}:"
    )
}

/// An access or a copy of the cell at an offset.
fn access(number: usize, op: PhaseOp, offset: u32) -> String {
    let result = number * 16;
    match op {
        PhaseOp::Copy(_) => {
            format!("\tcp.async.ca.shared.global [memory+{offset}], [%cells+{offset}], 4;")
        }
        PhaseOp::Load(_, mbarrier) => format!(
            "\tcp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes \
             [memory+{offset}], [%cells+{offset}], 16, {};",
            place(mbarrier)
        ),
        PhaseOp::Store(_) => format!(
            "\tcp.async.bulk.global.shared::cta.bulk_group [%results+{result}], [memory+{offset}], 16;\n\
             \tcp.async.bulk.commit_group;"
        ),
        PhaseOp::WriteCommon(cell, which) => {
            format!("\tst.shared.u32 [memory+{offset}], {};", common_value(cell, which))
        }
        PhaseOp::Update(_) => format!("\tred.shared.add.u32 [memory+{offset}], 1;"),
        PhaseOp::Read(_) => format!(
            "\tld.shared.u32 %value, [memory+{offset}];\n\tst.global.u32 [%results+{result}], %value;"
        ),
        _ => format!("\tst.shared.u32 [memory+{offset}], {};", stored_value(number)),
    }
}

fn meet_in_warp(program: &PhaseProgram, number: usize, orders: bool) -> String {
    let thread = (0..program.threads.len()).rfind(|&thread| program.first(thread) <= number);
    let shares = program.share_warp && thread.is_some_and(|thread| thread <= 1);
    let mask = if shares { 3 } else { 1 };
    match orders {
        true => format!("\tbar.warp.sync {mask};"),
        false => format!("\tvote.sync.any.pred %q, 1, {mask};"),
    }
}

fn arrive(arrival: PhaseArrival) -> String {
    let PhaseArrival { count, expects, drops, no_complete, relaxed, .. } = arrival;
    let name = if drops { "arrive_drop" } else { "arrive" };
    let modifier = match (expects, no_complete) {
        (Some(_), _) => ".expect_tx",
        (None, true) => ".noComplete",
        (None, false) => "",
    };
    let order = if relaxed && modifier != ".noComplete" { ".relaxed.cta" } else { "" };
    let operand = match expects {
        Some(units) => u32::from(units) * 16,
        None => u32::from(count),
    };
    let at = place(arrival.mbarrier);
    format!("\tmbarrier.{name}{modifier}{order}.shared::cta.b64 %state, {at}, {operand};")
}
