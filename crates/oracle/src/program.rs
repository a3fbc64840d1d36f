//! The language of tiny programs.
//!
//! A program is a block of one to four warps. Only two lanes of a warp are active. The other thirty exit at once,
//! yet the warp counts as 32 threads at a barrier. A thread is a straight list of steps, and exits after the last
//! one; an unlisted thread has no steps. There are four cells of four bytes in shared memory and four in global
//! memory.
//!
//! Threads of a warp run independently. A step is *joint* if both lanes execute the same instruction: the k-th
//! joint steps of the two lanes are one instruction, and every other step is an instruction of its own. Operands of
//! one instruction may differ between its lanes (addresses, values, masks), unless PTX requires them to agree
//! (barriers).
//!
//! No step depends on a value read, so the set of steps and their possible orders do not depend on values.
//! Every write stores a unique value, so a read identifies the writer. The exception is [`Value::Common`], for
//! writes of equal values.

use crate::text::{self, NotAProgram};
use std::fmt;
use thiserror::Error;

/// The number of active lanes of a warp.
pub const LANES: usize = 2;
/// The largest number of warps of a block.
pub const MAX_WARPS: usize = 4;
/// The largest number of active threads.
pub const MAX_THREADS: usize = 4;
/// Bytes of the cells of one memory.
pub const MEMORY_BYTES: usize = 16;
/// Barriers that programs use; the hardware has sixteen.
pub const BARRIERS: usize = 4;
/// The largest number of asynchronous copies of a program.
pub const MAX_COPIES: usize = 4;
/// The largest number of steps of a program; with the copies they fit into 32 bits.
pub const MAX_STEPS: usize = 28;

/// A block of threads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Program {
    /// Warps of the block, including those without active threads.
    pub warps: u8,
    /// The active threads, in ascending order of warp and lane.
    pub threads: Vec<Thread>,
}

/// A thread with its steps.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Thread {
    /// Its warp.
    pub warp: u8,
    /// Its lane.
    pub lane: u8,
    /// Its steps before it exits.
    pub steps: Vec<Step>,
}

impl Thread {
    /// The thread's number in the block of the emitted kernel.
    #[must_use]
    pub fn number(&self) -> u32 {
        u32::from(self.warp) * 32 + u32::from(self.lane)
    }
}

/// An operation and its place in the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// The operation.
    pub op: Op,
    /// Set if both lanes of the warp execute this instruction.
    pub joint: bool,
}

/// An operation of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// A weak load.
    Read(Access),
    /// A weak load with an unused value.
    UnusedRead(Access),
    /// A weak store.
    Write(Access, Value),
    /// An atomic addition without a result, to a whole cell.
    Add(Space, u8),
    /// A CTA barrier.
    Barrier(Barrier),
    /// `bar.warp.sync` with these lanes.
    WarpSync(LaneMask),
    /// `shfl.sync` with these lanes; the value comes from the lane `from`.
    Shuffle {
        /// The participating lanes.
        mask: LaneMask,
        /// The source lane.
        from: u8,
    },
    /// `vote.sync.ballot` with these lanes.
    Vote {
        /// The participating lanes.
        mask: LaneMask,
        /// The thread's own vote.
        predicate: bool,
    },
    /// `cp.async` of a cell from global to shared memory.
    Copy {
        /// The shared cell.
        to: u8,
        /// The global cell.
        from: u8,
    },
    /// `cp.async.commit_group`.
    Commit,
    /// `cp.async.wait_group`: waits until at most this many groups, the latest ones, are incomplete.
    WaitGroup(u8),
    /// `cp.async.wait_all`.
    WaitAll,
}

/// A set of lanes, one bit each.
pub type LaneMask = u8;

/// A piece of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// The memory.
    pub space: Space,
    /// The first byte.
    pub offset: u8,
    /// Bytes: 1, 2, 4 or 8; divides the offset.
    pub width: u8,
}

/// A memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "named as in the manual")]
pub enum Space {
    Shared,
    Global,
}

/// The value of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// A value unique to the step.
    Own,
    /// A value common to all such stores. Only in shared memory, so that copies from global memory never write it.
    Common,
}

/// `bar` or `barrier`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Barrier {
    /// The action.
    pub kind: BarrierKind,
    /// The number of the barrier.
    pub id: u8,
    /// The number of participating threads; `None` for the whole block.
    pub count: Option<u16>,
    /// `bar`, or `barrier` with `.aligned`.
    pub aligned: bool,
}

/// A thread's action at a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BarrierKind {
    /// Counts and waits.
    Sync,
    /// Counts.
    Arrive,
    /// Counts, waits, and returns the number of threads with a true predicate.
    Popc(bool),
}

impl Op {
    /// Returns `true` if one instruction can execute this operation in one lane and `other` in the other.
    #[must_use]
    pub fn can_be_one_instruction(self, other: Self) -> bool {
        match (self, other) {
            (Self::Read(a), Self::Read(b))
            | (Self::UnusedRead(a), Self::UnusedRead(b))
            | (Self::Write(a, _), Self::Write(b, _)) => a.space == b.space && a.width == b.width,
            (Self::Add(a, _), Self::Add(b, _)) => a == b,
            (Self::Barrier(a), Self::Barrier(b)) => a.without_vote() == b.without_vote(),
            (Self::WaitGroup(a), Self::WaitGroup(b)) => a == b,
            (a, b) => std::mem::discriminant(&a) == std::mem::discriminant(&b),
        }
    }

    /// The lanes of a warp collective.
    #[must_use]
    pub fn lanes(self) -> Option<LaneMask> {
        match self {
            Self::WarpSync(mask) | Self::Shuffle { mask, .. } | Self::Vote { mask, .. } => {
                Some(mask)
            }
            _ => None,
        }
    }

    /// Returns `true` if the operation has a result that the thread stores.
    #[must_use]
    pub fn has_result(self) -> bool {
        match self {
            Self::Read(_) | Self::Shuffle { .. } | Self::Vote { .. } => true,
            Self::Barrier(barrier) => barrier.reduces(),
            _ => false,
        }
    }
}

impl Barrier {
    /// Returns `true` for a reduction.
    #[must_use]
    pub fn reduces(self) -> bool {
        matches!(self.kind, BarrierKind::Popc(_))
    }

    /// Returns `true` if the thread waits.
    #[must_use]
    pub fn waits(self) -> bool {
        self.kind != BarrierKind::Arrive
    }

    fn without_vote(self) -> Self {
        match self.kind {
            BarrierKind::Popc(_) => Self { kind: BarrierKind::Popc(true), ..self },
            BarrierKind::Sync | BarrierKind::Arrive => self,
        }
    }
}

impl Program {
    /// The number of steps.
    #[must_use]
    pub fn len(&self) -> usize {
        self.threads.iter().map(|thread| thread.steps.len()).sum()
    }

    /// Returns `true` if no thread has a step.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All operations.
    pub fn ops(&self) -> impl Iterator<Item = Op> {
        self.threads.iter().flat_map(|thread| thread.steps.iter().map(|step| step.op))
    }

    /// Turns joint steps into separate ones, from the first pair on that cannot be one instruction.
    pub fn separate_unequal(&mut self) {
        for second in 1..self.threads.len() {
            let [a, b] = [second - 1, second];
            if self.threads[a].warp != self.threads[b].warp {
                continue;
            }
            let [joint_a, joint_b] = [a, b].map(|thread| self.joint(thread));
            let unequal = joint_a.iter().zip(&joint_b).position(|(&i, &j)| {
                let [a, b] = [self.threads[a].steps[i].op, self.threads[b].steps[j].op];
                !a.can_be_one_instruction(b)
            });
            let Some(first) = unequal else { continue };
            joint_a[first..].iter().for_each(|&i| self.threads[a].steps[i].joint = false);
            joint_b[first..].iter().for_each(|&j| self.threads[b].steps[j].joint = false);
        }
    }

    /// Positions of the joint steps of a thread.
    pub(crate) fn joint(&self, thread: usize) -> Vec<usize> {
        let steps = self.threads[thread].steps.iter().enumerate();
        steps.filter(|(_, step)| step.joint).map(|(position, _)| position).collect()
    }

    /// Checks that the program belongs to the language.
    ///
    /// # Errors
    /// The violated rule.
    pub fn validate(&self) -> Result<(), Invalid> {
        let places: Vec<_> = self.threads.iter().map(|t| (t.warp, t.lane)).collect();
        ensure(places.is_sorted_by(|a, b| a < b), Invalid::Order)?;
        ensure(self.threads.len() <= MAX_THREADS, Invalid::Threads)?;
        ensure((1..=MAX_WARPS as u8).contains(&self.warps), Invalid::Warps)?;
        let inside = |&(warp, lane): &(u8, u8)| warp < self.warps && (lane as usize) < LANES;
        ensure(places.iter().all(inside), Invalid::Outside)?;
        ensure(self.len() <= MAX_STEPS, Invalid::Steps)?;
        let copies = self.ops().filter(|op| matches!(op, Op::Copy { .. })).count();
        ensure(copies <= MAX_COPIES, Invalid::Copies)?;
        for thread in &self.threads {
            for step in &thread.steps {
                validate_op(step.op, thread.lane)?;
            }
        }
        let mut separated = self.clone();
        separated.separate_unequal();
        ensure(separated == *self, Invalid::Joint)
    }
}

/// A violated rule of the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the message says what each is")]
pub enum Invalid {
    #[error("threads are not in order")]
    Order,
    #[error("too many threads")]
    Threads,
    #[error("too many or too few warps")]
    Warps,
    #[error("a thread outside the block")]
    Outside,
    #[error("too many steps")]
    Steps,
    #[error("too many copies")]
    Copies,
    #[error("joint steps that cannot be one instruction")]
    Joint,
    #[error("no such cell")]
    Cell,
    #[error("common values are for shared memory")]
    Common,
    #[error("no such barrier")]
    Barrier,
    #[error("an arrival needs a count")]
    Count,
    #[error("a shuffle from outside its mask")]
    Shuffle,
    #[error("a mask of lanes that do nothing")]
    IdleLanes,
    #[error("a lane that is not in its own mask")]
    OwnMask,
    #[error("no such width")]
    Width,
    #[error("misaligned")]
    Misaligned,
    #[error("outside the cells")]
    OutsideCells,
}

fn validate_op(op: Op, lane: u8) -> Result<(), Invalid> {
    let cell = |cell: u8| ensure(usize::from(cell) < MEMORY_BYTES / 4, Invalid::Cell);
    match op {
        Op::Read(access) | Op::UnusedRead(access) => validate_access(access),
        Op::Write(access, value) => {
            let global = access.space == Space::Global;
            ensure(!(global && value == Value::Common), Invalid::Common)?;
            validate_access(access)
        }
        Op::Add(_, number) => cell(number),
        Op::Copy { to, from } => cell(to).and(cell(from)),
        Op::Barrier(barrier) => {
            ensure(usize::from(barrier.id) < BARRIERS, Invalid::Barrier)?;
            ensure(barrier.waits() || barrier.count.is_some(), Invalid::Count)
        }
        Op::WarpSync(mask) | Op::Vote { mask, .. } => validate_mask(mask, lane),
        Op::Shuffle { mask, from } => {
            ensure(from < LANES as u8 && mask >> from & 1 != 0, Invalid::Shuffle)?;
            validate_mask(mask, lane)
        }
        Op::Commit | Op::WaitGroup(_) | Op::WaitAll => Ok(()),
    }
}

fn validate_mask(mask: LaneMask, lane: u8) -> Result<(), Invalid> {
    ensure(mask < 1 << LANES, Invalid::IdleLanes)?;
    ensure(mask >> lane & 1 != 0, Invalid::OwnMask)
}

fn validate_access(Access { offset, width, .. }: Access) -> Result<(), Invalid> {
    ensure(matches!(width, 1 | 2 | 4 | 8), Invalid::Width)?;
    ensure(offset.is_multiple_of(width), Invalid::Misaligned)?;
    ensure(usize::from(offset + width) <= MEMORY_BYTES, Invalid::OutsideCells)
}

fn ensure(holds: bool, otherwise: Invalid) -> Result<(), Invalid> {
    if holds { Ok(()) } else { Err(otherwise) }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        text::print(self, f)
    }
}

impl std::str::FromStr for Program {
    type Err = NotAProgram;

    fn from_str(text: &str) -> Result<Self, NotAProgram> {
        let program = text::parse(text)?;
        program.validate()?;
        Ok(program)
    }
}
