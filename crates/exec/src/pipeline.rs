//! History of a block's mbarriers, for diagrams: counts, contributors and waits of each phase.
//!
//! The log describes this run, in which copies complete when they are issued. By the rules P1 to P3
//! ([`sync`]) the phases are those of every other schedule. The log is bounded: for each mbarrier the first
//! and the last phases are kept, and between them those with a finding up to a limit. The rest is counted.

use crate::finding::{Place, Target};
use sync::{MbarrierAnswer, MbarrierEvent, MbarrierState, Site, Waiting};

/// Phases kept of each mbarrier: at its beginning, at its end, and in between with a finding.
const FIRST_PHASES: usize = 6;
const LAST_PHASES: usize = 4;
const FAULTY_PHASES: usize = 4;

/// The largest number of mbarriers in the log.
const MAX_MBARRIERS: usize = 256;

/// An mbarrier of the first block, from `init` on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MbarrierUse {
    /// The mbarrier.
    pub target: Target,
    /// Its phases, ascending.
    pub phases: Vec<PhaseUse<Place>>,
    /// The number of omitted phases.
    pub left_out: u64,
}

/// A phase of an mbarrier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhaseUse<At> {
    /// The number of the phase; `None` for the one before the first, for which waits return at once.
    pub phase: Option<u64>,
    /// The arrivals it expects.
    pub expected: u32,
    /// The arrivals that came.
    pub arrived: u64,
    /// Announced and delivered bytes.
    pub bytes: [u64; 2],
    /// The rank of the phase among those of the block by end, from 1; `None` if it did not end.
    pub ended: Option<u32>,
    /// Set if the phase has a fault.
    pub faulty: bool,
    /// Contributions and waits in order; those of one warp at one instruction are combined.
    pub events: Vec<PhaseEvent<At>>,
}

/// A contribution to a phase, or a wait for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhaseEvent<At> {
    /// The kind of event.
    pub kind: PhaseEventKind,
    /// The warp.
    pub warp: usize,
    /// The number of actions, one for each lane.
    pub lanes: u32,
    /// The instruction.
    pub at: At,
    /// Announced or delivered bytes.
    pub bytes: u64,
    /// The time on its warp's clock.
    pub time: u32,
    /// Its position among all events of the block.
    pub sequence: u32,
}

/// The kind of a contribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PhaseEventKind {
    /// Threads arrive, with bytes they announce in the same step.
    Arrival,
    /// `expect_tx`.
    Announcement,
    /// A bulk copy delivers bytes.
    BulkCopy,
    /// `complete_tx`.
    Delivery,
    /// Copies of threads arrive (`cp.async.mbarrier.arrive`).
    CopyArrival,
    /// A wait for the phase.
    Wait,
}

/// The mbarriers of a block, each from an `init` on.
#[derive(Debug, Default)]
pub(crate) struct PhaseLog {
    lives: Vec<Life>,
    /// The number of completed phases.
    ended: u32,
    /// The number of events so far.
    sequence: u32,
}

/// An mbarrier from an `init` on.
#[derive(Debug)]
struct Life {
    id: sync::MbarrierId,
    phases: Vec<PhaseUse<Site>>,
    left_out: u64,
}

/// The state of an mbarrier before an operation: its phase, and the expected arrivals. `None` if it is not
/// live.
pub(crate) type Before = Option<(u64, u32)>;

impl PhaseLog {
    /// Adds an operation. `before` and `after` are the states around it; it was a misuse if there is no
    /// answer.
    pub(crate) fn add(
        &mut self,
        (id, who, time): (sync::MbarrierId, sync::Lanes, u32),
        event: &MbarrierEvent,
        answer: Option<&MbarrierAnswer>,
        (before, after): (Before, Before),
    ) {
        if let (MbarrierEvent::Init(_), Some(_)) = (event, answer)
            && self.lives.len() < MAX_MBARRIERS
        {
            self.lives.push(Life { id, phases: Vec::new(), left_out: 0 });
        }
        let Some(life) = self.lives.iter_mut().rfind(|life| life.id == id) else { return };
        let Some((phase, expected)) = before else { return };
        let states: Vec<(u32, Option<u64>)> = match answer {
            Some(MbarrierAnswer::Arrived(states)) => {
                states.iter().map(|(lanes, state)| (lanes.count(), Some(state.phase))).collect()
            }
            Some(MbarrierAnswer::Waiting(Waiting::Over(state) | Waiting::Blocked(state))) => {
                vec![(who.lanes.count(), named(state))]
            }
            _ => vec![(who.lanes.count(), Some(phase))],
        };
        let Some((kind, arrivals, bytes)) = effect(event) else { return };
        for (lanes, phase) in states {
            let each = u64::from(lanes);
            let Some(used) = life.phase(phase, expected) else { continue };
            used.arrived += u64::from(arrivals) * each;
            used.bytes[0] += bytes[0] * each;
            used.bytes[1] += bytes[1] * each;
            used.faulty |= answer.is_none();
            let (warp, at, bytes) = (who.warp, who.site, (bytes[0] + bytes[1]) * each);
            self.sequence += 1;
            let sequence = self.sequence;
            used.add(PhaseEvent { kind, warp, lanes, at, bytes, time, sequence });
        }
        let Some((now, _)) = after else { return };
        for used in life.phases.iter_mut().filter(|one| one.ended.is_none()) {
            if used.phase.is_some_and(|phase| phase < now) {
                self.ended += 1;
                used.ended = Some(self.ended);
            }
        }
    }

    /// Marks a phase as faulty.
    pub(crate) fn mark_faulty(&mut self, id: sync::MbarrierId, phase: Option<u64>) {
        let life = self.lives.iter_mut().rfind(|life| life.id == id);
        let found = life.and_then(|life| life.phases.iter_mut().find(|one| one.phase == phase));
        found.into_iter().for_each(|used| used.faulty = true);
    }

    /// Takes the mbarriers with names for their places, in the order of their `init`.
    pub(crate) fn take(
        &mut self,
        target: impl Fn(sync::MbarrierId) -> Option<Target>,
        place: impl Fn(Site) -> Place,
    ) -> Vec<MbarrierUse> {
        let lives = std::mem::take(&mut self.lives).into_iter();
        let all = lives.filter_map(|Life { id, phases, left_out }| {
            let phases = phases.into_iter().map(|phase| phase.at_places(&place)).collect();
            Some(MbarrierUse { target: target(id)?, phases, left_out })
        });
        all.collect()
    }
}

/// The phase that a wait names; `None` for the one before the first.
fn named(state: &MbarrierState) -> Option<u64> {
    (state.phase != u64::MAX).then_some(state.phase)
}

/// The kind of an operation, its arrivals, and its announced and delivered bytes, for each lane.
fn effect(event: &MbarrierEvent) -> Option<(PhaseEventKind, u32, [u64; 2])> {
    Some(match *event {
        MbarrierEvent::Arrive(terms) => {
            let bytes = u64::from(terms.expects.unwrap_or(0));
            (PhaseEventKind::Arrival, terms.count, [bytes, 0])
        }
        MbarrierEvent::Expect(bytes) => (PhaseEventKind::Announcement, 0, [bytes.into(), 0]),
        MbarrierEvent::Deliver(bytes) => (PhaseEventKind::Delivery, 0, [0, bytes.into()]),
        MbarrierEvent::BulkDeliver { bytes, .. } => {
            (PhaseEventKind::BulkCopy, 0, [0, bytes.into()])
        }
        MbarrierEvent::CopiesArrive { increments } => {
            (PhaseEventKind::CopyArrival, u32::from(!increments), [0, 0])
        }
        MbarrierEvent::Wait(..) => (PhaseEventKind::Wait, 0, [0, 0]),
        MbarrierEvent::Init(_) | MbarrierEvent::Inval | MbarrierEvent::Test(_) => return None,
    })
}

impl Life {
    /// Returns the phase of this number, creating a new one if necessary; `None` if it is omitted.
    fn phase(&mut self, phase: Option<u64>, expected: u32) -> Option<&mut PhaseUse<Site>> {
        if let Some(known) = self.phases.iter().rposition(|one| one.phase == phase) {
            return self.phases.get_mut(known);
        }
        if phase.is_some() && phase < self.phases.last().and_then(|last| last.phase) {
            return None;
        }
        let (bytes, events) = ([0; 2], Vec::new());
        let new =
            PhaseUse { phase, expected, arrived: 0, bytes, ended: None, faulty: false, events };
        if phase.is_none() {
            self.phases.insert(0, new);
            return self.phases.first_mut();
        }
        self.phases.push(new);
        self.shorten();
        self.phases.last_mut()
    }

    /// Omits a phase between the first and the last ones, if there are too many.
    fn shorten(&mut self) {
        // The phase before the first one is extra.
        let before = self.phases.first().is_some_and(|one| one.phase.is_none());
        let first = FIRST_PHASES + usize::from(before);
        if self.phases.len() <= first + LAST_PHASES {
            return;
        }
        let marked = |one: &PhaseUse<Site>| one.faulty;
        let between = first..self.phases.len() - LAST_PHASES;
        let kept = self.phases[between.clone()].iter().filter(|one| marked(one)).count();
        let plain =
            between.into_iter().rfind(|&at| !marked(&self.phases[at]) || kept > FAULTY_PHASES);
        if let Some(position) = plain {
            self.phases.remove(position);
            self.left_out += 1;
        }
    }
}

impl PhaseUse<Site> {
    fn add(&mut self, event: PhaseEvent<Site>) {
        let same = |one: &&mut PhaseEvent<Site>| {
            (one.kind, one.warp, one.at) == (event.kind, event.warp, event.at)
        };
        match self.events.iter_mut().find(same) {
            Some(known) => {
                known.lanes += event.lanes;
                known.bytes += event.bytes;
            }
            None => self.events.push(event),
        }
    }

    fn at_places(self, place: impl Fn(Site) -> Place) -> PhaseUse<Place> {
        let Self { phase, expected, arrived, bytes, ended, faulty, events } = self;
        let events = events.into_iter().map(|event| {
            let PhaseEvent { kind, warp, lanes, at, bytes, time, sequence } = event;
            PhaseEvent { kind, warp, lanes, at: place(at), bytes, time, sequence }
        });
        PhaseUse { phase, expected, arrived, bytes, ended, faulty, events: events.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sync::{ArrivalTerms, Lanes, Mask, MbarrierScope};

    const TERMS: ArrivalTerms = ArrivalTerms {
        count: 1,
        expects: None,
        drops: false,
        no_complete: false,
        releases: true,
        scope: MbarrierScope::Block,
    };

    fn log(phases: u64, faulty: &[u64]) -> Vec<MbarrierUse> {
        let mut log = PhaseLog::default();
        let who = Lanes { warp: 0, lanes: Mask::one(0), site: 7 };
        log.add((0, who, 0), &MbarrierEvent::Init(1), Some(&MbarrierAnswer::Done), (None, None));
        for phase in 0..phases {
            let state = MbarrierState { id: 0, life: 1, phase };
            let answer = MbarrierAnswer::Arrived(vec![(who.lanes, state)]);
            let around = (Some((phase, 1)), Some((phase + 1, 1)));
            log.add((0, who, phase as u32), &MbarrierEvent::Arrive(TERMS), Some(&answer), around);
            if faulty.contains(&phase) {
                log.mark_faulty(0, Some(phase));
            }
        }
        let target = || crate::memory::Allocation::new("bar", ir::Space::Shared, 8, 8).target(0);
        log.take(
            |_| Some(target()),
            |_| Place { span: base::Span { start: 0, end: 0 }, location: None },
        )
    }

    fn numbers(uses: &[MbarrierUse]) -> Vec<u64> {
        uses[0].phases.iter().filter_map(|one| one.phase).collect()
    }

    #[test]
    fn the_first_phases_and_the_last_are_kept_and_the_rest_is_counted() {
        assert_eq!(numbers(&log(10, &[])), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
        let uses = log(10_000, &[]);
        assert_eq!(numbers(&uses), [0, 1, 2, 3, 4, 5, 9996, 9997, 9998, 9999]);
        assert_eq!(uses[0].left_out, 9_990);
        assert_eq!(uses[0].phases[6].ended, Some(9_997));
    }

    #[test]
    fn a_phase_with_a_finding_stays_but_not_without_end() {
        assert!(numbers(&log(1_000, &[500])).contains(&500));
        let all: Vec<u64> = (0..1_000).collect();
        assert!(numbers(&log(1_000, &all)).len() <= FIRST_PHASES + FAULTY_PHASES + LAST_PHASES + 1);
    }
}
