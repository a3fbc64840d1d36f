//! The language of tiny programs.
//!
//! A program is a block of one to four warps. A warp has two lanes that matter; its other thirty
//! exit at once, so they take part in nothing, yet the warp counts 32 threads at a barrier. A
//! thread is a straight list of steps and exits behind the last one; a thread that is not listed
//! has no steps. There are four cells of four bytes in shared memory and four in global memory.
//!
//! Threads of a warp run independently. A step is *joint* if it stands in the code that both lanes
//! run through: the k-th joint steps of the two lanes are one instruction, all other steps are
//! instructions of their own. Operands of one instruction may differ between its lanes (addresses,
//! values, masks), except where PTX wants them to agree (barriers).
//!
//! No step depends on a value that was read, so which steps happen, and in which orders they can,
//! does not depend on values. Every write stores a value of its own, so that what is read tells who
//! wrote it; [`Value::Common`] is the exception, made to study writes of equal values.

use crate::text::{self, NotAProgram};
use std::fmt;
use thiserror::Error;

/// Lanes of a warp that do anything.
pub const LANES: usize = 2;
/// Most warps of a block.
pub const MAX_WARPS: usize = 4;
/// Most threads that do anything.
pub const MAX_THREADS: usize = 4;
/// Bytes of the cells of one memory.
pub const MEMORY_BYTES: usize = 16;
/// Barriers that programs use; the hardware has sixteen.
pub const BARRIERS: usize = 4;
/// Most asynchronous copies of a program.
pub const MAX_COPIES: usize = 4;
/// Most steps of a program; with the copies they fit into 32 bits.
pub const MAX_STEPS: usize = 28;

/// A block of threads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Program {
    /// Warps of the block, also those in which nobody does anything.
    pub warps: u8,
    /// The threads that do something, in ascending order of warp and lane.
    pub threads: Vec<Thread>,
}

/// A thread and what it does before it exits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Thread {
    /// Its warp.
    pub warp: u8,
    /// Its lane.
    pub lane: u8,
    /// What it does.
    pub steps: Vec<Step>,
}

impl Thread {
    /// Its number in the block of the emitted kernel.
    #[must_use]
    pub fn number(&self) -> u32 {
        u32::from(self.warp) * 32 + u32::from(self.lane)
    }
}

/// An operation and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// What is done.
    pub op: Op,
    /// Whether both lanes of the warp run through this instruction.
    pub joint: bool,
}

/// What a thread can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// A weak load.
    Read(Access),
    /// A weak load whose value nobody uses.
    Look(Access),
    /// A weak store.
    Write(Access, Value),
    /// An atomic addition without a result, to a whole cell.
    Add(Space, u8),
    /// A barrier of the block.
    Barrier(Barrier),
    /// `bar.warp.sync` with these lanes.
    WarpSync(LaneMask),
    /// `shfl.sync` with these lanes; the value comes from the lane `from`.
    Shuffle {
        /// Who takes part.
        mask: LaneMask,
        /// Whose value is taken.
        from: u8,
    },
    /// `vote.sync.ballot` with these lanes.
    Vote {
        /// Who takes part.
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
    /// `cp.async.commit_group`
    Commit,
    /// `cp.async.wait_group`: all groups but the last so many are complete.
    WaitGroup(u8),
    /// `cp.async.wait_all`
    WaitAll,
}

/// A set of lanes, one bit each.
pub type LaneMask = u8;

/// A piece of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// Which memory.
    pub space: Space,
    /// First byte.
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

/// What a store stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// A value that no other step stores.
    Own,
    /// The value that all such stores have in common; in shared memory only, so that copies are
    /// never equal to anything but copies of the same cell.
    Common,
}

/// `bar` or `barrier`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Barrier {
    /// What is done there.
    pub kind: BarrierKind,
    /// Which barrier.
    pub id: u8,
    /// How many threads take part; all of the block if absent.
    pub count: Option<u16>,
    /// `bar`, or `barrier` with `.aligned`.
    pub aligned: bool,
}

/// What a thread does at a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BarrierKind {
    /// Counts and waits.
    Sync,
    /// Counts.
    Arrive,
    /// Counts, waits, and learns how many came with a true predicate.
    Popc(bool),
}

impl Op {
    /// Whether two lanes can execute these with one instruction.
    #[must_use]
    pub fn can_be_one_instruction(self, other: Self) -> bool {
        match (self, other) {
            (Self::Read(a), Self::Read(b))
            | (Self::Look(a), Self::Look(b))
            | (Self::Write(a, _), Self::Write(b, _)) => a.space == b.space && a.width == b.width,
            (Self::Add(a, _), Self::Add(b, _)) => a == b,
            (Self::Barrier(a), Self::Barrier(b)) => a.without_vote() == b.without_vote(),
            (Self::WaitGroup(a), Self::WaitGroup(b)) => a == b,
            (a, b) => std::mem::discriminant(&a) == std::mem::discriminant(&b),
        }
    }

    /// Lanes that must come together here, for collectives of a warp.
    #[must_use]
    pub fn lanes(self) -> Option<LaneMask> {
        match self {
            Self::WarpSync(mask) | Self::Shuffle { mask, .. } | Self::Vote { mask, .. } => {
                Some(mask)
            }
            _ => None,
        }
    }

    /// Whether the thread learns something that it writes down.
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
    /// Whether it is a reduction.
    #[must_use]
    pub fn reduces(self) -> bool {
        matches!(self.kind, BarrierKind::Popc(_))
    }

    /// Whether the thread waits there.
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
    /// Number of steps.
    #[must_use]
    pub fn len(&self) -> usize {
        self.threads.iter().map(|thread| thread.steps.len()).sum()
    }

    /// Whether nobody does anything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All operations.
    pub fn ops(&self) -> impl Iterator<Item = Op> {
        self.threads.iter().flat_map(|thread| thread.steps.iter().map(|step| step.op))
    }

    /// Takes joint steps apart, from the first pair on that cannot be one instruction.
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

    /// Whether the program is within the language.
    ///
    /// # Errors
    /// Says what is not.
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

/// What is not within the language.
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
        Op::Read(access) | Op::Look(access) => validate_access(access),
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
