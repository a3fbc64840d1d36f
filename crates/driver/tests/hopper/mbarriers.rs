//! Sequences of mbarrier operations by one thread.

use super::{lower, number, recordings};
use exec::{Fault, Launch, Limits, Outcome};
use serde_json::Value;
use std::fmt::Write;

/// A kernel of one thread that performs some operations and then, perhaps, waits for a parity.
fn kernel(ops: &[Value], parity: Option<usize>) -> String {
    let mut text = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry sequence()\n{\n\
                    \t.reg .pred %p<3>; .reg .b64 %rd<3>;\n\t.shared .align 8 .b8 bar[8];\n"
        .to_owned();
    for op in ops {
        let amount = number(&op[1]);
        let line = match op[0].as_str().unwrap() {
            "init" => "mbarrier.init.shared.b64 [bar]",
            "arrive" => "mbarrier.arrive.shared.b64 %rd2, [bar]",
            "expect" => "mbarrier.expect_tx.relaxed.cta.shared.b64 [bar]",
            "complete" => "mbarrier.complete_tx.relaxed.cta.shared.b64 [bar]",
            "arrive_expect" => "mbarrier.arrive.expect_tx.shared.b64 %rd2, [bar]",
            "drop" => "mbarrier.arrive_drop.shared.b64 %rd2, [bar]",
            other => panic!("no operation is called {other}"),
        };
        let _ = writeln!(text, "\t{line}, {amount};");
    }
    if let Some(parity) = parity {
        let ask = "mbarrier.try_wait.parity.shared.b64";
        let _ = writeln!(text, "WAIT:\n\t{ask} %p1, [bar], {parity};\n\t@!%p1 bra WAIT;");
    }
    text + "\tret;\n}\n"
}

fn check(text: &str) -> Outcome {
    let program = lower(text);
    let launch = Launch {
        kernel: base::Index::from_position(0),
        grid: [1; 3],
        block: [1; 3],
        cluster: None,
        dynamic_shared: 0,
        buffers: Vec::new(),
        arguments: Vec::new(),
        symbols: Vec::new(),
        selected: Vec::new(),
    };
    exec::check(&program, &launch, Limits::default())
}

#[test]
fn waits_block_where_the_hardware_says_that_a_phase_is_not_over() {
    let [mut over, mut open] = [0, 0];
    for recording in recordings("mbarriers") {
        let Some(answers) = recording["answers"].as_array() else { continue };
        let ops = recording["ops"].as_array().unwrap();
        for (position, answer) in answers.iter().enumerate() {
            let (done, parity) = (&ops[..=position / 2], position % 2);
            let text = kernel(done, Some(parity));
            let outcome = check(&text);
            let blocks = |fault: &Fault| matches!(fault, Fault::Deadlock { .. });
            let blocked = outcome.findings.iter().any(|finding| blocks(&finding.fault));
            assert_eq!(blocked, number(answer) == 0, "{:?}\n{text}", outcome.findings);
            *(if blocked { &mut open } else { &mut over }) += 1;
        }
    }
    assert!(over > 500 && open > 500, "{over} {open}");
}

/// A retry that divides by a number that may be 0 is executed, so that the division is found.
#[test]
fn divisions_before_another_test_are_not_skipped() {
    let retry = |division: &str| {
        format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{{\n\
             .reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<3>; .shared .align 8 .b8 bar[8];\n\
             mbarrier.init.shared.b64 [bar], 1; mbarrier.arrive.shared.b64 %rd2, [bar], 1;\n\
             mov.u32 %r1, 1;\n\
             L: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;\n@%p1 bra D;\n\
             sub.u32 %r1, %r1, 1;\n{division}\nbra L;\nD: ret;\n}}\n"
        )
    };
    let waits = |division: &str| {
        let text = retry(division);
        let function = &lower(&text).functions[base::Index::from_position(0)];
        let is_wait = |instr: &ir::Instr| match &instr.op {
            ir::Op::Sync(ir::SyncOp::Mbarrier(own)) => matches!(own.op, ir::MbarrierOp::Wait(_)),
            _ => false,
        };
        function.instructions().any(is_wait)
    };
    for harmless in ["", "div.u32 %r2, %r1, 7;", "mul.lo.u32 %r2, %r1, %r1;"] {
        assert!(waits(harmless), "{harmless}");
    }
    for division in ["div.u32 %r2, 100, %r1;", "rem.s32 %r2, 100, %r1;", "div.u32 %r2, %r1, 0;"] {
        assert!(!waits(division), "{division}");
    }
}

#[test]
fn traps_are_misuse() {
    let mut traps = 0;
    for recording in recordings("mbarriers") {
        let text = kernel(recording["ops"].as_array().unwrap(), None);
        let outcome = check(&text);
        let misuses =
            |fault: &Fault| matches!(fault, Fault::Mbarrier(fault) if !fault.kind.is_note());
        let faults = outcome.findings.iter().map(|finding| &finding.fault);
        // Unbalanced bytes are an error of ours, but no trap.
        let left = |fault: &&Fault| matches!(fault, Fault::Mbarrier(fault) if matches!(fault.kind, exec::MbarrierFaultKind::Unbalanced { .. }));
        let misused = faults.filter(|fault| !left(fault)).any(misuses);
        assert_eq!(misused, recording.get("fault").is_some(), "{:?}\n{text}", outcome.findings);
        traps += usize::from(misused);
    }
    assert!(traps > 3, "{traps}");
}

/// A wait may recompute its operands in the loop, if they stay the same; a loop with changing operands is no wait.
#[test]
fn waits_may_compute_their_operands_again() {
    let waits = |before: &str, chain: &str| {
        let text = format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry sequence()\n{{\n\t.reg .pred %p<3>; .reg .b64 %rd<3>; .reg .b32 %r<90>;\n\t.shared .align 8 .b8 bar[8];\n\
             \tmbarrier.init.shared.b64 [bar], 1; mbarrier.arrive.shared.b64 %rd2, [bar]; {before}\nWAIT:\n\t{chain}\n\tmbarrier.try_wait.parity.shared.b64 %p1, [%r2], %r1;\n\t@!%p1 bra WAIT;\n\tret;\n}}\n"
        );
        let outcome = check(&text);
        outcome.gap.is_none() && outcome.findings.is_empty()
    };
    assert!(waits("", "mov.u32 %r2, bar; mov.u32 %r1, 0;"));
    assert!(waits(
        "mov.u32 %r3, bar;",
        "add.u32 %r2, %r3, 0; sub.u32 %r1, %r2, %r2; and.b32 %r1, %r1, 1;"
    ));
    assert!(!waits("mov.u32 %r1, 1;", "mov.u32 %r2, bar; xor.b32 %r1, %r1, 1;"));
    // Sums of sums: each is visited once.
    let chain: String =
        (5..80).map(|at| format!("add.u32 %r{at}, %r{}, %r{}; ", at - 1, at - 2)).collect();
    let start = "mov.u32 %r2, bar; mov.u32 %r3, 0; mov.u32 %r4, 2;";
    assert!(waits("", &format!("{start} {chain} and.b32 %r1, %r79, 1;")));
}
