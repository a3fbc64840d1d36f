//! Emits programs as PTX kernels.
//!
//! Thread `32·warp + lane` of one block is the program's thread; lanes from the third on exit at once. Each warp
//! has code of its own. In it, stretches of code for single lanes alternate with joint steps, where lanes
//! reconverge. If lanes of a joint step have different operands, a `selp` selects them.
//!
//! The result of a step goes to its eight bytes of the buffer `results`; global memory is the buffer `cells`.
//! Shared memory is visible only through reads. If any thread reads it, the first thread initialises it. A barrier
//! of the whole block, with a number that programs do not use, orders the initialisation before everything else.

use crate::explore::Outcome;
use crate::program::{
    Access, Barrier, BarrierKind, LANES, MEMORY_BYTES, Op, Program, Space, Thread,
};
use crate::values::{initial_byte, offered, stored_value, summand};
use std::fmt::Write;

/// A kernel and its launch: one block, with the addresses of the buffers as parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// The module. Its only kernel is called `program`.
    pub ptx: String,
    /// Threads of the block, in x.
    pub threads: u32,
    /// Contents of the buffers `cells` and `results`, both read and written.
    pub buffers: Vec<Vec<u8>>,
}

/// Emits the kernel for a program.
#[must_use]
pub fn emit(program: &Program) -> Kernel {
    let mut writer = Writer { program, text: String::new(), labels: 0 };
    writer.module();
    let cells = (0..MEMORY_BYTES).map(|byte| initial_byte(Space::Global, byte)).collect();
    Kernel {
        ptx: writer.text,
        threads: u32::from(program.warps) * 32,
        buffers: vec![cells, vec![0; program.len() * 8]],
    }
}

/// The contents of the emitted kernel's buffers after a run with this outcome.
#[must_use]
pub(crate) fn expected_buffers(outcome: &Outcome) -> Vec<Vec<u8>> {
    let results = outcome.results.iter().flat_map(|result| result.to_le_bytes()).collect();
    vec![outcome.global.to_vec(), results]
}

/// A step of a lane: its event and operation.
type LaneStep = (usize, Op);

struct Writer<'p> {
    program: &'p Program,
    text: String,
    labels: usize,
}

const HEADER: &str = "\
.version 8.0
.target sm_80
.address_size 64

.visible .entry program(.param .u64 cells, .param .u64 results)
{
\t.reg .pred %lane1, %vote, %there;
\t.reg .b32 %number, %lane, %warp, %at, %value, %other, %mask;
\t.reg .b64 %cells, %results, %address, %from, %wide, %slot;
\t.shared .align 16 .b8 memory[16];
\tld.param.u64 %cells, [cells];
\tld.param.u64 %results, [results];
\tmov.u32 %number, %tid.x;
";

const DISPATCH: &str = "\
\tand.b32 %lane, %number, 31;
\tshr.u32 %warp, %number, 5;
\tsetp.ge.u32 %there, %lane, 2;
\t@%there exit;
\tsetp.eq.u32 %lane1, %lane, 1;
";

impl Writer<'_> {
    fn module(&mut self) {
        self.text.push_str(HEADER);
        if self.program.ops().any(reads_shared) {
            self.initialise();
        }
        self.text.push_str(DISPATCH);
        for warp in 1..self.program.warps {
            self.line(&format!("setp.eq.u32 %there, %warp, {warp}"));
            self.line(&format!("@%there bra warp_{warp}"));
        }
        for warp in 0..self.program.warps {
            self.label(&format!("warp_{warp}"));
            self.warp(warp);
        }
        self.text.push_str("}\n");
    }

    fn initialise(&mut self) {
        self.line("setp.ne.u32 %there, %number, 0");
        self.line("@%there bra initialised");
        for cell in 0..MEMORY_BYTES / 4 {
            let byte = |byte| initial_byte(Space::Shared, cell * 4 + byte);
            let value = u32::from_le_bytes(std::array::from_fn(byte));
            self.line(&format!("st.shared.u32 [memory+{}], {value}", cell * 4));
        }
        self.label("initialised");
        self.line("bar.sync 15");
    }

    /// Emits the stretches of each lane of a warp, and the joint steps between them.
    fn warp(&mut self, warp: u8) {
        let lanes: [Vec<Stretch>; LANES] =
            std::array::from_fn(|lane| stretches(self.program, warp, lane as u8));
        for number in 0..lanes.iter().map(Vec::len).max().unwrap_or(0) {
            let [first, second] = [0, 1].map(|lane: usize| lanes[lane].get(number));
            let (rejoin, second_lane) = (self.new_label(), self.new_label());
            self.line(&format!("@%lane1 bra {second_lane}"));
            self.stretch(first, &rejoin);
            self.label(&second_lane);
            self.stretch(second, &rejoin);
            self.label(&rejoin);
            let parts: Vec<LaneStep> =
                [first, second].into_iter().flatten().filter_map(|stretch| stretch.joint).collect();
            match parts.is_empty() {
                true => self.line("exit"),
                false => self.step(&parts),
            }
        }
    }

    fn stretch(&mut self, stretch: Option<&Stretch>, rejoin: &str) {
        let Some(stretch) = stretch else { return self.line("exit") };
        stretch.alone.iter().for_each(|&part| self.step(&[part]));
        match stretch.joint {
            Some(_) => self.line(&format!("bra {rejoin}")),
            None => self.line("exit"),
        }
    }

    /// Emits an instruction, for one lane or for both.
    fn step(&mut self, parts: &[LaneStep]) {
        let Some(&(_, op)) = parts.first() else { return };
        match op {
            Op::Read(access) => self.read(parts, access),
            Op::UnusedRead(access) => self.unused_read(parts, access),
            Op::Write(access, _) => self.write(parts, access),
            Op::Add(space, _) => self.add(parts, space),
            Op::Barrier(barrier) => self.barrier(parts, barrier),
            Op::WarpSync(_) => {
                self.operand("%mask", parts, |_, op| op.lanes().unwrap_or_default().into());
                self.line("bar.warp.sync %mask");
            }
            Op::Shuffle { .. } => self.shuffle(parts),
            Op::Vote { .. } => self.vote(parts),
            Op::Copy { .. } => self.copy(parts),
            Op::Commit => self.line("cp.async.commit_group"),
            Op::WaitGroup(pending) => self.line(&format!("cp.async.wait_group {pending}")),
            Op::WaitAll => self.line("cp.async.wait_all"),
        }
    }

    fn read(&mut self, parts: &[LaneStep], Access { space, width, .. }: Access) {
        let address = self.address(parts, space);
        self.line(&format!("ld.{}.u{} %wide, [{address}]", name(space), width * 8));
        self.result(parts);
    }

    /// Reads, and discards the value by a selection that always gives zero.
    fn unused_read(&mut self, parts: &[LaneStep], Access { space, width, .. }: Access) {
        let address = self.address(parts, space);
        self.line(&format!("ld.{}.u{} %wide, [{address}]", name(space), width * 8));
        self.line("setp.ne.u32 %vote, %number, %number");
        self.line("selp.b64 %wide, %wide, 0, %vote");
        self.result(parts);
    }

    fn write(&mut self, parts: &[LaneStep], Access { space, width, .. }: Access) {
        let address = self.address(parts, space);
        self.wide_operand("%wide", parts, |event, op| match op {
            Op::Write(_, value) => stored_value(event, value),
            _ => 0,
        });
        self.line(&format!("st.{}.u{} [{address}], %wide", name(space), width * 8));
    }

    fn add(&mut self, parts: &[LaneStep], space: Space) {
        let address = self.address(parts, space);
        self.operand("%value", parts, |event, _| summand(event));
        self.line(&format!("red.{}.add.u32 [{address}], %value", name(space)));
    }

    fn barrier(&mut self, parts: &[LaneStep], barrier: Barrier) {
        let opcode = if barrier.aligned { "bar" } else { "barrier" };
        let count = barrier.count.map(|count| format!(", {count}")).unwrap_or_default();
        let id = barrier.id;
        match barrier.kind {
            BarrierKind::Sync => self.line(&format!("{opcode}.sync {id}{count}")),
            BarrierKind::Arrive => self.line(&format!("{opcode}.arrive {id}{count}")),
            BarrierKind::Popc(_) => {
                self.predicate(parts);
                self.line(&format!("{opcode}.red.popc.u32 %value, {id}{count}, %vote"));
                self.line("cvt.u64.u32 %wide, %value");
                self.result(parts);
            }
        }
    }

    fn shuffle(&mut self, parts: &[LaneStep]) {
        self.operand("%mask", parts, |_, op| op.lanes().unwrap_or_default().into());
        self.operand("%value", parts, |event, _| offered(event));
        self.operand("%other", parts, |_, op| match op {
            Op::Shuffle { from, .. } => from.into(),
            _ => 0,
        });
        self.line("shfl.sync.idx.b32 %value, %value, %other, 31, %mask");
        self.line("cvt.u64.u32 %wide, %value");
        self.result(parts);
    }

    fn vote(&mut self, parts: &[LaneStep]) {
        self.operand("%mask", parts, |_, op| op.lanes().unwrap_or_default().into());
        self.predicate(parts);
        self.line("vote.sync.ballot.b32 %value, %vote, %mask");
        self.line("cvt.u64.u32 %wide, %value");
        self.result(parts);
    }

    fn copy(&mut self, parts: &[LaneStep]) {
        let to = self.address(parts, Space::Shared);
        self.wide_operand("%from", parts, |_, op| match op {
            Op::Copy { from, .. } => u64::from(from) * 4,
            _ => 0,
        });
        self.line("add.u64 %from, %cells, %from");
        self.line(&format!("cp.async.ca.shared.global [{to}], [%from], 4"));
    }

    fn predicate(&mut self, parts: &[LaneStep]) {
        self.operand("%value", parts, |_, op| match op {
            Op::Vote { predicate, .. } => predicate.into(),
            Op::Barrier(barrier) => (barrier.kind == BarrierKind::Popc(true)).into(),
            _ => 0,
        });
        self.line("setp.ne.u32 %vote, %value, 0");
    }

    /// Computes the address of an access, and returns its register.
    fn address(&mut self, parts: &[LaneStep], space: Space) -> &'static str {
        match space {
            Space::Shared => {
                self.operand("%other", parts, |_, op| offset(op));
                self.line("mov.u32 %at, memory");
                self.line("add.u32 %at, %at, %other");
                "%at"
            }
            Space::Global => {
                self.wide_operand("%address", parts, |_, op| offset(op).into());
                self.line("add.u64 %address, %cells, %address");
                "%address"
            }
        }
    }

    /// Stores the result of a step.
    fn result(&mut self, parts: &[LaneStep]) {
        self.wide_operand("%slot", parts, |event, _| event as u64 * 8);
        self.line("add.u64 %slot, %results, %slot");
        self.line("st.global.u64 [%slot], %wide");
    }

    fn operand(&mut self, register: &str, parts: &[LaneStep], value: impl Fn(usize, Op) -> u32) {
        self.choose("32", register, parts, |event, op| value(event, op).into());
    }

    fn wide_operand(
        &mut self,
        register: &str,
        parts: &[LaneStep],
        value: impl Fn(usize, Op) -> u64,
    ) {
        self.choose("64", register, parts, value);
    }

    /// Loads a register with each lane's own operand.
    fn choose(
        &mut self,
        width: &str,
        register: &str,
        parts: &[LaneStep],
        value: impl Fn(usize, Op) -> u64,
    ) {
        let values: Vec<u64> = parts.iter().map(|&(event, op)| value(event, op)).collect();
        match values[..] {
            [first, second] if first != second => {
                self.line(&format!("selp.b{width} {register}, {second}, {first}, %lane1"));
            }
            [value, ..] => self.line(&format!("mov.b{width} {register}, {value}")),
            [] => {}
        }
    }

    fn line(&mut self, instruction: &str) {
        let _ = writeln!(self.text, "\t{instruction};");
    }

    fn label(&mut self, label: &str) {
        let _ = writeln!(self.text, "{label}:");
    }

    fn new_label(&mut self) -> String {
        self.labels += 1;
        format!("place_{}", self.labels)
    }
}

/// Steps of a single lane, and the joint step after them. Without a joint step the lane exits.
struct Stretch {
    alone: Vec<LaneStep>,
    joint: Option<LaneStep>,
}

/// Splits a lane's steps at the joint ones.
fn stretches(program: &Program, warp: u8, lane: u8) -> Vec<Stretch> {
    let here = |thread: &Thread| (thread.warp, thread.lane) == (warp, lane);
    let before = program.threads.iter().take_while(|thread| !here(thread));
    let first: usize = before.map(|thread| thread.steps.len()).sum();
    let thread = program.threads.iter().find(|thread| here(thread));
    let steps = thread.map_or(&[][..], |thread| &thread.steps[..]);
    let mut stretches = Vec::new();
    let mut alone = Vec::new();
    for (position, step) in steps.iter().enumerate() {
        let part = (first + position, step.op);
        if step.joint {
            stretches.push(Stretch { alone: std::mem::take(&mut alone), joint: Some(part) });
        } else {
            alone.push(part);
        }
    }
    stretches.push(Stretch { alone, joint: None });
    stretches
}

fn reads_shared(op: Op) -> bool {
    match op {
        Op::Read(access) | Op::UnusedRead(access) => access.space == Space::Shared,
        Op::Add(space, _) => space == Space::Shared,
        _ => false,
    }
}

fn offset(op: Op) -> u32 {
    match op {
        Op::Read(access) | Op::UnusedRead(access) | Op::Write(access, _) => access.offset.into(),
        Op::Add(_, cell) | Op::Copy { to: cell, .. } => u32::from(cell) * 4,
        _ => 0,
    }
}

fn name(space: Space) -> &'static str {
    match space {
        Space::Shared => "shared",
        Space::Global => "global",
    }
}
