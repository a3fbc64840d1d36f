//! Runs a launch and checks it: races between barriers and between blocks, threads that miss a barrier, accesses
//! outside of arrays, reads of uninitialised shared memory.
//!
//! Blocks run one after the other, and threads of a block one after the other from barrier to barrier. That is one of
//! many schedules; if there is no race, all schedules give the same result.

use super::meaning::{self, Source};
use super::program::{Op, Program};
use super::sample::Launch;
use crate::expr::{ArrayId, Int, Local};
use crate::nest::{Dim, Kernel, Space};

/// A mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// Two unordered threads access one element, and one of them stores another value.
    Race,
    /// An access outside of an array.
    Bounds,
    /// Threads of a block meet at different barriers, or some at none.
    Barrier,
    /// The result depends on uninitialised shared memory.
    Uninitialised,
    /// A division by 0.
    Division,
    /// A value that differs from the base kernel's.
    Value,
    /// The launch needs too many steps.
    Steps,
}

impl Fault {
    /// Returns the name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Race => "race",
            Self::Bounds => "bounds",
            Self::Barrier => "barrier",
            Self::Uninitialised => "uninitialised",
            Self::Division => "division",
            Self::Value => "value",
            Self::Steps => "steps",
        }
    }

    /// Returns `true` if `prove` must find it without knowing the result.
    #[must_use]
    pub fn is_unsafe(self) -> bool {
        matches!(self, Self::Race | Self::Bounds | Self::Barrier | Self::Division)
    }
}

/// Final state of a launch.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The contents of arrays.
    pub memory: Vec<Vec<i128>>,
    /// The mistake that ended it.
    pub fault: Option<Fault>,
    /// Shared memory was read before it was written.
    pub uninitialised: bool,
}

/// An access that may take part in a race.
#[derive(Clone, Copy)]
struct RacingAccess {
    block: usize,
    thread: usize,
    interval: usize,
    /// The stored value; `None` for a load.
    stored: Option<i128>,
}

struct Thread {
    /// The position of its next operation in the program.
    next_op: usize,
    vars: Vec<i64>,
    locals: Vec<i128>,
    number: usize,
}

/// The state of a running launch.
struct Machine<'a> {
    kernel: &'a Kernel,
    memory: Vec<Vec<i128>>,
    /// By array and element; empty for arrays in global memory, which are initialised.
    written: Vec<Vec<bool>>,
    accesses: Vec<Vec<Vec<RacingAccess>>>,
    block: usize,
    /// The barrier interval: the number of barriers that were passed so far.
    interval: usize,
    uninitialised: bool,
    steps: usize,
}

/// Longer launches end with [`Fault::Steps`].
const MAX_STEPS: usize = 150_000;

/// Runs a launch.
#[must_use]
pub fn run(program: &Program, kernel: &Kernel, launch: &Launch, memory: Vec<Vec<i128>>) -> Outcome {
    let accesses = memory.iter().map(|array| vec![Vec::new(); array.len()]).collect();
    let written = memory.iter().map(|_| Vec::new()).collect();
    let mut machine = Machine {
        kernel,
        memory,
        written,
        accesses,
        block: 0,
        interval: 0,
        uninitialised: false,
        steps: 0,
    };
    let fault = machine.grid(program, launch).err();
    Outcome { memory: machine.memory, fault, uninitialised: machine.uninitialised }
}

impl Machine<'_> {
    fn grid(&mut self, program: &Program, launch: &Launch) -> Result<(), Fault> {
        let blocks = Dim::ALL.map(|dim| launch.vars[dim.blocks().0]);
        for z in 0..blocks[2] {
            for y in 0..blocks[1] {
                for x in 0..blocks[0] {
                    self.block += 1;
                    self.block(program, launch, [x, y, z])?;
                }
            }
        }
        Ok(())
    }

    fn block(
        &mut self,
        program: &Program,
        launch: &Launch,
        block_index: [i64; 3],
    ) -> Result<(), Fault> {
        self.fresh_shared(launch)?;
        let mut threads = self.threads(launch, block_index);
        loop {
            for thread in &mut threads {
                self.advance(program, thread)?;
            }
            self.interval += 1;
            self.forget_shared_accesses();
            let has_ended = |thread: &Thread| matches!(program.ops[thread.next_op], Op::End);
            if threads.iter().all(has_ended) {
                return Ok(());
            }
            let here = threads[0].next_op;
            if threads.iter().any(|thread| thread.next_op != here) {
                return Err(Fault::Barrier);
            }
            for thread in &mut threads {
                thread.next_op += 1;
            }
        }
    }

    /// Gives the block its own shared memory.
    fn fresh_shared(&mut self, launch: &Launch) -> Result<(), Fault> {
        for (index, array) in self.kernel.arrays.iter().enumerate() {
            if array.is_shared() {
                let count = launch.number(&Int::product(&array.shape)).ok_or(Fault::Division)?;
                let count = usize::try_from(count).unwrap_or(0);
                // Not a sum of small numbers, so that results that depend on it differ.
                self.memory[index] = (0..count).map(|cell| 777_777 + cell as i128).collect();
                self.written[index] = vec![false; count];
                self.accesses[index] = vec![Vec::new(); count];
            }
        }
        Ok(())
    }

    fn forget_shared_accesses(&mut self) {
        for (index, array) in self.kernel.arrays.iter().enumerate() {
            if array.is_shared() {
                self.accesses[index].iter_mut().for_each(Vec::clear);
            }
        }
    }

    fn threads(&self, launch: &Launch, block_index: [i64; 3]) -> Vec<Thread> {
        let sizes = Dim::ALL.map(|dim| launch.vars[dim.threads().0]);
        let mut threads = Vec::new();
        for z in 0..sizes[2] {
            for y in 0..sizes[1] {
                for x in 0..sizes[0] {
                    let mut vars = launch.vars.clone();
                    vars.resize(self.kernel.vars.count(), 0);
                    for (dim, (thread, block)) in
                        Dim::ALL.iter().zip([x, y, z].iter().zip(&block_index))
                    {
                        vars[dim.thread().0] = *thread;
                        vars[dim.block().0] = *block;
                    }
                    let locals = vec![0; self.kernel.locals.len()];
                    threads.push(Thread { next_op: 0, vars, locals, number: threads.len() });
                }
            }
        }
        threads
    }

    /// Runs a thread to its next barrier or its end.
    fn advance(&mut self, program: &Program, thread: &mut Thread) -> Result<(), Fault> {
        loop {
            self.steps += 1;
            if self.steps > MAX_STEPS {
                return Err(Fault::Steps);
            }
            match &program.ops[thread.next_op] {
                Op::Int(var, int) => {
                    thread.vars[var.0] = meaning::int(int, &thread.vars).ok_or(Fault::Division)?;
                }
                Op::Float(local, val) => {
                    thread.locals[local.0] = self.value(val, thread)?;
                }
                Op::Store(access, val) => {
                    let value = self.value(val, thread)?;
                    let index = self.index(access.array, &access.coords, &thread.vars)?;
                    self.record_access(access.array, index, thread.number, Some(value))?;
                    self.memory[access.array.0][index] = value;
                    if let Some(written) = self.written[access.array.0].get_mut(index) {
                        *written = true;
                    }
                }
                Op::Unless(cond, target) => {
                    if !meaning::cond(cond, &thread.vars).ok_or(Fault::Division)? {
                        thread.next_op = *target;
                        continue;
                    }
                }
                Op::Jump(target) => {
                    thread.next_op = *target;
                    continue;
                }
                Op::Barrier | Op::End => return Ok(()),
            }
            thread.next_op += 1;
        }
    }

    fn value(&mut self, val: &crate::expr::Val, thread: &Thread) -> Result<i128, Fault> {
        let mut loads = Loads { machine: self, thread: thread.number, locals: &thread.locals };
        meaning::value(val, &thread.vars, &mut loads)
    }

    fn index(&self, array: ArrayId, coords: &[Int], vars: &[i64]) -> Result<usize, Fault> {
        let description = &self.kernel.arrays[array.0];
        let index = meaning::linear(description, coords, vars).ok_or(Fault::Division)?;
        let index = usize::try_from(index).map_err(|_| Fault::Bounds)?;
        // An index beyond a row of a static array is out of bounds, even if another row begins there.
        if description.space == Space::Static {
            for (coord, extent) in coords.iter().zip(&description.shape) {
                let coord = meaning::int(coord, vars).ok_or(Fault::Division)?;
                let extent = meaning::int(extent, vars).ok_or(Fault::Division)?;
                if coord < 0 || coord >= extent {
                    return Err(Fault::Bounds);
                }
            }
        }
        if index < self.memory[array.0].len() { Ok(index) } else { Err(Fault::Bounds) }
    }

    /// Records an access, and finds those that it races with.
    fn record_access(
        &mut self,
        array: ArrayId,
        index: usize,
        thread: usize,
        stored: Option<i128>,
    ) -> Result<(), Fault> {
        if self.kernel.arrays[array.0].space == Space::Input {
            return Ok(());
        }
        let new = RacingAccess { block: self.block, thread, interval: self.interval, stored };
        let cell = &mut self.accesses[array.0][index];
        if cell.iter().any(|old| races(old, &new)) {
            return Err(Fault::Race);
        }
        cell.push(new);
        Ok(())
    }
}

/// Returns `true` if two accesses are unordered and one of them changes the value that the other reads or stores.
fn races(old: &RacingAccess, new: &RacingAccess) -> bool {
    let ordered =
        old.block == new.block && (old.thread == new.thread || old.interval != new.interval);
    if ordered {
        return false;
    }
    match (old.stored, new.stored) {
        (None, None) => false,
        (Some(one), Some(other)) => one != other,
        _ => true,
    }
}

/// Loads by one thread.
struct Loads<'a, 'b> {
    machine: &'a mut Machine<'b>,
    thread: usize,
    locals: &'a [i128],
}

impl Source for Loads<'_, '_> {
    fn load(&mut self, array: ArrayId, coords: &[Int], vars: &[i64]) -> Result<i128, Fault> {
        let index = self.machine.index(array, coords, vars)?;
        self.machine.record_access(array, index, self.thread, None)?;
        if self.machine.written[array.0].get(index) == Some(&false) {
            self.machine.uninitialised = true;
        }
        Ok(self.machine.memory[array.0][index])
    }

    fn local(&self, local: Local) -> i128 {
        self.locals[local.0]
    }
}
