//! Static facts about a program: its events, and their conflicts.
//!
//! An event is a step of a thread, or the transfer of an asynchronous copy. Events are numbered: steps first,
//! thread by thread, then the copies.
//!
//! Two events *conflict* if they touch a common byte and do not both only read it. Two additions to a cell do not
//! conflict: they are atomic and commute, and no thread uses their results. Two stores of equal values to the same
//! bytes are classified separately: no schedule distinguishes them from one store. Only stores of [`Value::Common`]
//! count as equal. Copies do not: the manual leaves two copies to one destination undefined.

use crate::program::{Access, Op, Program, Space, Value};

/// A set of events, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Events(pub(crate) u32);

impl Events {
    pub(crate) const NONE: Self = Self(0);

    pub(crate) const fn one(event: usize) -> Self {
        Self(1 << event)
    }

    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(crate) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) const fn within(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.0 |= other.0;
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = usize> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let first = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
            rest &= rest - 1;
            Some(first)
        })
    }
}

/// The largest number of events of a program.
pub(crate) const MAX_EVENTS: usize = 32;

/// A thread in the form needed by the interpreter.
#[derive(Clone, Debug)]
pub(crate) struct ThreadTable {
    pub(crate) warp: usize,
    pub(crate) lane: u8,
    /// Its first event.
    pub(crate) first: usize,
    pub(crate) ops: Vec<Op>,
}

/// An asynchronous copy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CopyTable {
    /// The step that starts it.
    pub(crate) issue: usize,
    /// The thread that starts it.
    pub(crate) thread: usize,
    /// The event of the transfer.
    pub(crate) event: usize,
    pub(crate) to: u8,
    pub(crate) from: u8,
}

/// The events of a program.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) threads: Vec<ThreadTable>,
    pub(crate) copies: Vec<CopyTable>,
    /// For each event, the events that conflict with it.
    pub(crate) conflicts: [Events; MAX_EVENTS],
    /// For each event, the events that store the same value to the same bytes.
    pub(crate) equal_stores: [Events; MAX_EVENTS],
    /// For each wait, the copies it waits for.
    pub(crate) covers: [Events; MAX_EVENTS],
    /// For each step, its instruction.
    pub(crate) sites: [u8; MAX_EVENTS],
}

impl Table {
    pub(crate) fn new(program: &Program) -> Self {
        let mut first = 0;
        let mut threads = Vec::new();
        for thread in &program.threads {
            let ops: Vec<Op> = thread.steps.iter().map(|step| step.op).collect();
            let count = ops.len();
            threads.push(ThreadTable { warp: thread.warp.into(), lane: thread.lane, first, ops });
            first += count;
        }
        let copies = copies(&threads, first);
        let mut table = Self {
            covers: covers(&threads, &copies),
            sites: sites(program, &threads),
            threads,
            copies,
            conflicts: [Events::NONE; MAX_EVENTS],
            equal_stores: [Events::NONE; MAX_EVENTS],
        };
        table.relate();
        table
    }

    /// The number of events.
    pub(crate) fn len(&self) -> usize {
        self.steps() + self.copies.len()
    }

    /// The number of events that are steps.
    pub(crate) fn steps(&self) -> usize {
        self.threads.last().map_or(0, |thread| thread.first + thread.ops.len())
    }

    /// The thread of an event.
    pub(crate) fn thread_of(&self, event: usize) -> usize {
        match self.copies.iter().find(|copy| copy.event == event) {
            Some(copy) => copy.thread,
            None => self.threads.partition_point(|thread| thread.first <= event) - 1,
        }
    }

    /// Fills `conflicts` and `equal_stores`.
    fn relate(&mut self) {
        let accesses: Vec<Vec<EventAccess>> =
            (0..self.len()).map(|event| self.accesses(event)).collect();
        for a in 0..accesses.len() {
            for b in 0..accesses.len() {
                let pairs =
                    || accesses[a].iter().flat_map(|x| accesses[b].iter().map(move |y| (x, y)));
                if a == b || !pairs().any(|(x, y)| x.conflicts_with(y)) {
                    continue;
                }
                let equal = pairs().all(|(x, y)| !x.conflicts_with(y) || x.stores_the_same(y));
                let related = if equal { &mut self.equal_stores } else { &mut self.conflicts };
                related[a].add(Events::one(b));
            }
        }
    }

    /// Returns `true` if one of two events is an unused read of the other's write, of the same size: a
    /// harmless race. (The manual does not cover accesses of different sizes.)
    pub(crate) fn is_harmless(&self, a: usize, b: usize) -> bool {
        let is_unused_read = |event: usize| {
            let thread = &self.threads[self.thread_of(event)];
            let op = event.checked_sub(thread.first).and_then(|step| thread.ops.get(step));
            let is_copy = self.copies.iter().any(|copy| copy.event == event);
            !is_copy && matches!(op, Some(Op::UnusedRead(_)))
        };
        let same =
            |read: usize, other: usize| match (&self.accesses(read)[..], &self.accesses(other)[..])
            {
                ([read], [other]) => {
                    read.access == other.access && other.kind != EventAccessKind::Read
                }
                _ => false,
            };
        (is_unused_read(a) && same(a, b)) || (is_unused_read(b) && same(b, a))
    }

    /// The memory accesses of an event.
    fn accesses(&self, event: usize) -> Vec<EventAccess> {
        if let Some(copy) = self.copies.iter().find(|copy| copy.event == event) {
            let cell = |space, cell| Access { space, offset: cell * 4, width: 4 };
            let source =
                EventAccess { access: cell(Space::Global, copy.from), kind: EventAccessKind::Read };
            let kind = EventAccessKind::Store(Stored::Cell(copy.from));
            return vec![source, EventAccess { access: cell(Space::Shared, copy.to), kind }];
        }
        let thread = &self.threads[self.thread_of(event)];
        match thread.ops[event - thread.first] {
            Op::Read(access) | Op::UnusedRead(access) => {
                vec![EventAccess { access, kind: EventAccessKind::Read }]
            }
            Op::Write(access, Value::Own) => {
                vec![EventAccess { access, kind: EventAccessKind::Store(Stored::Event(event)) }]
            }
            Op::Write(access, Value::Common) => {
                vec![EventAccess { access, kind: EventAccessKind::Store(Stored::Common) }]
            }
            Op::Add(space, cell) => {
                vec![EventAccess {
                    access: Access { space, offset: cell * 4, width: 4 },
                    kind: EventAccessKind::Add,
                }]
            }
            _ => Vec::new(),
        }
    }
}

/// An access of an event.
struct EventAccess {
    access: Access,
    kind: EventAccessKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum EventAccessKind {
    Read,
    Store(Stored),
    Add,
}

/// A stored value, as far as it is distinguishable from others.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stored {
    Event(usize),
    Common,
    Cell(u8),
}

impl EventAccess {
    /// Returns `true` if the order of the two may matter.
    fn conflicts_with(&self, other: &Self) -> bool {
        let (a, b) = (self.access, other.access);
        let overlap =
            a.space == b.space && a.offset < b.offset + b.width && b.offset < a.offset + a.width;
        let harmless = matches!(
            (self.kind, other.kind),
            (EventAccessKind::Read, EventAccessKind::Read)
                | (EventAccessKind::Add, EventAccessKind::Add)
        );
        overlap && !harmless
    }

    fn stores_the_same(&self, other: &Self) -> bool {
        // The manual leaves copies to one destination undefined, even if they copy equal values.
        let plain = matches!(self.kind, EventAccessKind::Store(stored) if !matches!(stored, Stored::Cell(_)));
        plain && self.kind == other.kind && self.access == other.access
    }
}

fn copies(threads: &[ThreadTable], mut event: usize) -> Vec<CopyTable> {
    let mut copies = Vec::new();
    for (number, thread) in threads.iter().enumerate() {
        for (position, op) in thread.ops.iter().enumerate() {
            if let Op::Copy { to, from } = *op {
                let issue = thread.first + position;
                copies.push(CopyTable { issue, thread: number, event, to, from });
                event += 1;
            }
        }
    }
    copies
}

/// Computes the copies that each wait covers: those of its thread's committed groups, all but the last few,
/// and for `wait_all` uncommitted ones too. Groups may be empty. The program text determines the groups.
fn covers(threads: &[ThreadTable], copies: &[CopyTable]) -> [Events; MAX_EVENTS] {
    let mut covers = [Events::NONE; MAX_EVENTS];
    for thread in threads {
        let mut groups: Vec<Events> = Vec::new();
        let mut open = Events::NONE;
        for (position, op) in thread.ops.iter().enumerate() {
            let event = thread.first + position;
            let complete = match *op {
                Op::Copy { .. } => {
                    let copy = copies.iter().find(|copy| copy.issue == event);
                    copy.iter().for_each(|copy| open.add(Events::one(copy.event)));
                    continue;
                }
                Op::Commit => {
                    groups.push(std::mem::take(&mut open));
                    continue;
                }
                Op::WaitGroup(pending) => groups.len().saturating_sub(pending.into()),
                Op::WaitAll => {
                    covers[event].add(open);
                    groups.len()
                }
                _ => continue,
            };
            groups[..complete].iter().for_each(|&group| covers[event].add(group));
        }
    }
    covers
}

/// Numbers the instructions. The second lane's joint steps get the numbers of the first lane's; every other step is
/// its own instruction.
fn sites(program: &Program, threads: &[ThreadTable]) -> [u8; MAX_EVENTS] {
    let mut sites = std::array::from_fn(|event| event as u8);
    for second in 1..threads.len() {
        if threads[second].warp != threads[second - 1].warp {
            continue;
        }
        let pairs = program.joint(second - 1).into_iter().zip(program.joint(second));
        for (a, b) in pairs {
            sites[threads[second].first + b] = (threads[second - 1].first + a) as u8;
        }
    }
    sites
}
