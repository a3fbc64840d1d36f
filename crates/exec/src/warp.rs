//! A warp: 32 threads with their registers, and the groups in which they currently run.
//!
//! Threads are independent (manual §3.2). Lanes at the same position with the same call stack run as one
//! *group*. A branch may split a group in two, and groups that reach the same position merge. The choice of
//! the next group affects only speed: the one furthest behind in the program text goes first, because that
//! leads to reconvergence.

use crate::arrival::{Arrival, ClusterArrival};
use crate::lanes::Mask;
use crate::machine::Machine;
use crate::memory::{Allocation, state};
use crate::position::Position;
use crate::registers::Registers;
use base::Index;
use ir::{BlockId, FuncId, Space, VarId};
use sync::MbarrierState;

/// Lanes that run together.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) lanes: Mask,
    pub(crate) at: Position,
    /// The call stack: the positions of the calls, outermost first.
    pub(crate) calls: Vec<Position>,
    /// The state of the group.
    pub(crate) state: State,
}

/// The state of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// It can run.
    Ready,
    /// It is at a collective instruction with this mask, and waits for its other lanes.
    AtCollective(Mask),
    /// It waits at a `bar.warp.sync` with this mask.
    WarpBarrier(Mask),
    /// It is at a CTA barrier.
    Barrier {
        /// Its arrival.
        arrival: Arrival,
        /// Set if its warp is registered at the barrier.
        registered: bool,
    },
    /// It waits for a phase of an mbarrier.
    Mbarrier(MbarrierState),
    /// It is at the cluster barrier.
    Cluster {
        /// Its arrival.
        arrival: ClusterArrival,
        /// Set if its warp is registered, and waits for the others.
        registered: bool,
    },
    /// It is at a `wgmma.wait_group` with this operand: all but so many of the last groups of products must
    /// complete. Other warps of its warp group have not reached these products yet.
    WarpGroup(u64),
}

/// 32 threads.
#[derive(Debug)]
pub(crate) struct Warp {
    /// Its number in the cluster.
    pub(crate) number: usize,
    /// The rank of its block in the cluster.
    pub(crate) rank: usize,
    /// Its number in the block.
    pub(crate) in_block: usize,
    /// Existing threads: the last warp of a block may be partial.
    pub(crate) exists: Mask,
    pub(crate) exited: Mask,
    /// The exits of lanes, with their positions.
    pub(crate) exits: Vec<(Mask, Position)>,
    pub(crate) groups: Vec<Group>,
    /// Set if its next wait for products must not wait for the other warps of its warp group: nothing else can
    /// run, so they cannot come.
    pub(crate) passes_wait: bool,
    /// The lanes that had not exited when the groups waiting at collectives were last retried.
    pub(crate) retried: Mask,
    /// The register file of each function called in this block.
    register_files: Vec<Option<Registers>>,
    /// Local variables used in this block, each with room for 32 threads.
    local: Vec<Option<Allocation>>,
    /// Cleared registers and memory of earlier blocks.
    spare_register_files: Vec<Option<Registers>>,
    spare_local: Vec<Option<Allocation>>,
    /// Bytes of registers and local memory that this block began to use since its budget was last charged. A
    /// spare may have been cleared already, but the cost of a block must not depend on earlier blocks.
    pub(crate) cleared: usize,
}

impl Warp {
    /// Makes a warp without groups; [`restart`](Self::restart) must follow.
    pub(crate) fn new(machine: &Machine<'_>, number: usize, exists: Mask) -> Self {
        let warps = machine.launch.warps();
        Self {
            number,
            rank: number / warps,
            in_block: number % warps,
            exists,
            exited: Mask::NONE,
            exits: Vec::new(),
            groups: Vec::new(),
            passes_wait: false,
            retried: exists,
            register_files: machine.layouts.iter().map(|_| None).collect(),
            local: machine.local.iter().map(|_| None).collect(),
            spare_register_files: machine.layouts.iter().map(|_| None).collect(),
            spare_local: machine.local.iter().map(|_| None).collect(),
            cleared: 0,
        }
    }

    /// Starts a block: registers and local memory are undefined.
    pub(crate) fn restart(&mut self, machine: &Machine<'_>) {
        // Few blocks may use a large array, and a new allocation is faster than clearing it for all of them.
        const LARGE: usize = 1 << 20;
        for (slot, spare) in self.register_files.iter_mut().zip(&mut self.spare_register_files) {
            if let Some(mut registers) = slot.take() {
                registers.unset_all();
                *spare = Some(registers);
            }
        }
        for (slot, spare) in self.local.iter_mut().zip(&mut self.spare_local) {
            if let Some(mut memory) = slot.take().filter(|memory| memory.bytes.len() < LARGE) {
                memory.states.set_all_undefined();
                *spare = Some(memory);
            }
        }
        self.cleared = 0;
        self.exited = Mask::NONE;
        self.exits.clear();
        self.passes_wait = false;
        self.retried = self.exists;
        self.groups.clear();
        self.groups.push(Group {
            lanes: self.exists,
            at: Position::start(machine.launch.kernel, BlockId::from_position(0)),
            calls: Vec::new(),
            state: State::Ready,
        });
    }

    /// The lanes that have not exited.
    pub(crate) fn alive(&self) -> Mask {
        self.exists.without(self.exited)
    }

    /// The registers of `function`.
    pub(crate) fn registers(&mut self, machine: &Machine<'_>, function: FuncId) -> &mut Registers {
        if self.register_files[function.position()].is_none() {
            let registers = self.first_registers(machine, function);
            self.put_registers(function, registers);
        }
        self.register_files[function.position()].get_or_insert_default()
    }

    /// The registers of a function not yet called in this block.
    #[cold]
    fn first_registers(&mut self, machine: &Machine<'_>, function: FuncId) -> Registers {
        let spare = self.spare_register_files[function.position()].take();
        let registers =
            spare.unwrap_or_else(|| Registers::new(&machine.layouts[function], self.exists));
        self.cleared += registers.tag_bytes();
        registers
    }

    /// Takes the registers of `function` out temporarily.
    pub(crate) fn take_registers(&mut self, machine: &Machine<'_>, function: FuncId) -> Registers {
        let taken = self.register_files[function.position()].take();
        taken.unwrap_or_else(|| self.first_registers(machine, function))
    }

    /// Puts back the registers taken by [`take_registers`](Self::take_registers).
    pub(crate) fn put_registers(&mut self, function: FuncId, registers: Registers) {
        self.register_files[function.position()] = Some(registers);
    }

    /// Starts a call: registers and local variables of the callee become undefined. Returns the cost: one for
    /// each register, and one for each byte of the variables.
    pub(crate) fn enter(&mut self, machine: &Machine<'_>, function: FuncId, lanes: Mask) -> usize {
        let mut cleared = machine.program.functions[function].registers.len();
        self.registers(machine, function).unset(lanes);
        for (slot, &id) in self.local.iter_mut().zip(&machine.local) {
            let variable = &machine.program.variables[id];
            if variable.owner == Some(function)
                && variable.space == Space::Local
                && let Some(memory) = slot
            {
                let size = memory.bytes.len() / crate::lanes::WARP;
                for lane in lanes.iter() {
                    memory.states.fill(lane * size..(lane + 1) * size, state::UNDEFINED);
                    cleared += size;
                }
            }
        }
        cleared
    }

    /// Allocates a local variable for 32 threads, undefined.
    pub(crate) fn unused_local(&self, machine: &Machine<'_>, number: usize) -> Allocation {
        let id: VarId = machine.local[number];
        let variable = &machine.program.variables[id];
        let size = variable.size.and_then(|size| usize::try_from(size).ok()).unwrap_or(0);
        let room = size.saturating_mul(crate::lanes::WARP);
        let mut memory = Allocation::new(&variable.name, variable.space, room, state::UNDEFINED);
        memory.align = variable.align;
        memory
    }

    /// The memory of the local variable with this number: 32 copies, one for each lane in turn.
    pub(crate) fn local(&mut self, machine: &Machine<'_>, number: usize) -> &mut Allocation {
        if self.local[number].is_none() && self.spare_local[number].is_none() {
            self.spare_local[number] = Some(self.unused_local(machine, number));
        }
        let (spare, cleared) = (&mut self.spare_local[number], &mut self.cleared);
        self.local[number].get_or_insert_with(|| {
            let memory = spare.take().unwrap_or_else(|| unreachable!("made above"));
            *cleared += memory.bytes.len();
            memory
        })
    }

    /// The memory of all local variables by number; `None` for those not used yet.
    pub(crate) fn local_memory(&self) -> &[Option<Allocation>] {
        &self.local
    }

    /// Replaces the memory of all local variables.
    pub(crate) fn put_local_memory(&mut self, local: Vec<Option<Allocation>>) {
        self.local = local;
    }

    /// The next group to run: the ready one furthest behind in the program text.
    pub(crate) fn next_group(&self) -> Option<usize> {
        let ready = self.groups.iter().enumerate().filter(|(_, group)| group.state == State::Ready);
        let furthest_behind = ready.min_by_key(|(_, group)| {
            let at = group.at;
            // The deepest call first: its lanes return to those that wait in the caller.
            (usize::MAX - group.calls.len(), at.function.position(), at.block.position(), at.index)
        });
        furthest_behind.map(|(position, _)| position)
    }

    /// Merges `position` with every other ready group at the same position.
    pub(crate) fn merge(&mut self, position: usize) -> usize {
        let mut position = position;
        let mut other = 0;
        while other < self.groups.len() {
            let (ours, theirs) = (&self.groups[position], &self.groups[other]);
            let same = other != position
                && ours.at == theirs.at
                && ours.state == theirs.state
                && ours.calls == theirs.calls;
            if same {
                let lanes = self.groups[other].lanes;
                self.groups[position].lanes = self.groups[position].lanes.or(lanes);
                self.groups.swap_remove(other);
                if position == self.groups.len() {
                    position = other;
                }
            } else {
                other += 1;
            }
        }
        position
    }

    /// Splits `lanes` off a group and returns the index of the new group.
    pub(crate) fn split(&mut self, position: usize, lanes: Mask) -> usize {
        let mut part = self.groups[position].clone();
        part.lanes = lanes;
        self.groups[position].lanes = self.groups[position].lanes.without(lanes);
        self.groups.push(part);
        self.groups.len() - 1
    }

    /// Ends `lanes` of a group; a group without lanes is removed.
    pub(crate) fn exit(&mut self, position: usize, lanes: Mask) {
        self.exited = self.exited.or(lanes);
        self.exits.push((lanes, self.groups[position].at));
        let group = &mut self.groups[position];
        group.lanes = group.lanes.without(lanes);
        if group.lanes.is_empty() {
            self.groups.swap_remove(position);
        }
    }
}
