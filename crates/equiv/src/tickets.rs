//! Runs launches whose blocks take tickets from a counter. If each block takes one ([`exec::check_last`]), there
//! is one run for each block that may be the last. If blocks take several, as numbers of tiles
//! ([`exec::check_in_order`]), there is one run for each order in which blocks may take them. All runs are in one
//! domain.
//!
//! If every element of every buffer has the same value in all runs, the schedule's choice of tickets is not
//! observable. If a run is incomplete, the outcome has a gap with that reason. If two runs differ or may differ, it
//! depends on the caller ([`OnDifference`]). To compare kernels, the launch must have one result, so that is a gap as
//! well. To check one kernel, it is a doubt about determinism: each choice was run, so no property of accesses,
//! barriers or values depends on the comparison.
//!
//! Values on terms are real numbers, and choices by comparisons of floats are not compared. So if blocks take several
//! tickets, [`check_bit_for_bit`] compares the runs by value numbering first ([`exec::Enclosed::for_several_runs`]).
//! Equal numbers are equal bits, and a choice of equal values by equal values is equal.

use crate::symbolic::Symbolic;
use exec::domain::{Domain, Value};
use exec::{
    Access, Buffer, Checks, Doubt, Doubtful, Element, Enclosed, Gap, Launch, Limits, Outcome,
    Place, Results, StopReason, TicketResult,
};
use ir::{Op, Ordering, Program, Scalar, SyncOp};
use std::collections::BTreeSet;

/// The reason for a gap where blocks that take tickets write module variables.
const VARIABLES_REASON: &str =
    "blocks take tickets here, and write module variables, which are not compared";

/// The largest number of blocks of which each is tried as the last one.
const MAX_BLOCKS: u64 = 64;

/// The largest number of sequences of takers, where blocks take several tickets.
const MAX_ORDERS: usize = 256;

/// The consequence of results that differ, or may differ, between runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnDifference {
    /// A gap: the launch has no single result.
    Gap,
    /// A doubt about determinism.
    Doubt,
}

/// A domain whose values of several runs can be compared.
pub(crate) trait ComparesRuns: Domain {
    /// Returns `true` if a value contains a ticket.
    fn contains_ticket(&mut self, value: Value) -> bool;

    /// Returns `true` if values that count as equal have the same bits on every machine.
    fn compares_bits(&self) -> bool;
}

impl ComparesRuns for Symbolic {
    fn contains_ticket(&mut self, value: Value) -> bool {
        self.has_ticket(value)
    }

    fn compares_bits(&self) -> bool {
        false
    }
}

impl ComparesRuns for Enclosed {
    fn contains_ticket(&mut self, _: Value) -> bool {
        // Tickets of runs in a given order are numbers.
        false
    }

    fn compares_bits(&self) -> bool {
        true
    }
}

/// The outcome of a check whose runs are compared bit for bit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BitForBit {
    /// The outcome.
    pub outcome: Outcome,
    /// Set if the assembler must fuse all copies of an instruction alike.
    pub relies_on_alike_fusion: bool,
    /// Set if a matrix instruction must give the same result whenever it is executed on the same operands.
    pub relies_on_repeatable_products: bool,
}

/// Checks a launch whose blocks take several tickets, once for each order, and compares the results bit for bit. `None`
/// if a run is incomplete, or results may differ; then runs on terms may know more.
#[must_use]
pub fn check_bit_for_bit(
    program: &Program,
    launch: &Launch,
    settings: (Limits, Checks),
) -> Option<BitForBit> {
    let is_whole_grid = launch.selected.is_empty() && launch.cluster.is_none();
    if !is_whole_grid || launch.blocks() == 0 || !exec::may_take_tickets(program) {
        return None;
    }
    let mut domain = Enclosed::for_several_runs();
    let on_difference = OnDifference::Doubt;
    let (outcome, _) = in_all_orders(program, launch, settings, &mut domain, on_difference)?;
    let is_open = |doubt: &Doubt| {
        matches!(doubt.about, Doubtful::AtomicResult | Doubtful::Ticket(_) | Doubtful::EqualAsReals)
    };
    // This domain leaves undefined values and conditional races open that terms may settle.
    let settles = outcome.gap.is_none()
        && !outcome.conditional
        && !outcome.maybe_undefined
        && outcome.undecided.is_empty();
    (settles && !outcome.doubts.iter().any(is_open)).then(|| BitForBit {
        outcome,
        relies_on_alike_fusion: domain.relies_on_alike_fusion(),
        relies_on_repeatable_products: domain.relies_on_repeatable_products(),
    })
}

/// Runs a launch whose blocks may take tickets. `None` if none does; then it is an ordinary run.
pub(crate) fn run(
    program: &Program,
    launch: &Launch,
    settings: (Limits, Checks),
    domain: &mut Symbolic,
    on_difference: OnDifference,
) -> Option<(Outcome, Results)> {
    let blocks = launch.blocks();
    if !exec::may_take_tickets(program) || blocks == 0 {
        return None;
    }
    let last = blocks - 1;
    let (outcome, results) = exec::check_last(program, launch, settings, domain, last);
    let place = outcome.ticket?.place;
    if outcome.gap.is_some() {
        // Perhaps blocks take several tickets each: try all orders of taking them.
        let tiles = in_all_orders(program, launch, settings, domain, on_difference);
        return Some(tiles.unwrap_or((outcome, results)));
    }
    if is_final(&outcome) {
        return Some((outcome, results));
    }
    let mut runs = Runs::new(launch, place, (outcome, results), on_difference);
    if blocks > MAX_BLOCKS {
        let reason = format!(
            "blocks take tickets here: each block is tried as the last one; the launch has {blocks} blocks, the limit is {MAX_BLOCKS}"
        );
        return Some(runs.with_gap(reason));
    }
    for last in 0..blocks - 1 {
        let (other, other_results) = exec::check_last(program, launch, settings, domain, last);
        if is_final(&other) {
            return Some((other, other_results));
        }
        let choice = "which block takes the last ticket";
        if let Some(reason) = runs.add(domain, (other, other_results), choice) {
            return Some(runs.with_gap(reason));
        }
    }
    Some(runs.finish())
}

/// Runs a launch whose blocks take several tickets, once for each sequence of takers. `None` if that does not
/// lead to an answer. A new sequence begins like that of an earlier run, up to some ticket; this ticket goes to a
/// block that took a later one in the earlier run. So no sequence is tried twice.
fn in_all_orders<D: ComparesRuns>(
    program: &Program,
    launch: &Launch,
    settings: (Limits, Checks),
    domain: &mut D,
    on_difference: OnDifference,
) -> Option<(Outcome, Results)> {
    let mut open: Vec<Vec<u64>> = vec![Vec::new()];
    let mut runs: Option<Runs<'_>> = None;
    let mut orders = 0;
    while let Some(takers_so_far) = open.pop() {
        let (outcome, results) =
            exec::check_in_order(program, launch, settings, domain, &takers_so_far);
        let place = outcome.ticket?.place;
        if outcome.gap.is_some() && runs.is_none() {
            return None;
        }
        if has_error(&outcome) && may_order_blocks(program) {
            // Perhaps a false alarm: these runs ignore the order that fences and atomic operations give to blocks.
            return None;
        }
        if is_final(&outcome) {
            return Some((outcome, results));
        }
        let takers = results.takers().to_vec();
        for (at, taker) in takers.iter().enumerate().skip(takers_so_far.len()) {
            let later: BTreeSet<u64> = takers[at + 1..].iter().copied().collect();
            for other in later.into_iter().filter(|other| other != taker) {
                open.push(takers[..at].iter().copied().chain([other]).collect());
            }
        }
        orders += 1;
        let reason = match &mut runs {
            None => {
                runs = Some(Runs::new(launch, place, (outcome, results), on_difference));
                None
            }
            Some(runs) => runs.add(domain, (outcome, results), "which blocks take which tickets"),
        };
        let too_many = (orders + open.len() > MAX_ORDERS).then(|| {
            format!(
                "blocks take tickets here, each several: more than {MAX_ORDERS} orders of them are possible; fewer blocks or tiles have fewer"
            )
        });
        if let Some(reason) = reason.or(too_many) {
            return runs.map(|runs| runs.with_gap(reason));
        }
    }
    runs.map(|runs| match orders == 1 || domain.compares_bits() {
        true => runs.finish_exactly(),
        false => runs.finish(),
    })
}

/// Returns `true` if fences or atomic operations may order accesses of different blocks.
fn may_order_blocks(program: &Program) -> bool {
    use Ordering::{Acquire, AcquireRelease, Release};
    let orders = |one: &Ordering| matches!(one, Acquire(_) | Release(_) | AcquireRelease(_));
    let mut all = program.functions.iter().flat_map(|function| function.instructions());
    all.any(|one| match &one.op {
        Op::Sync(SyncOp::Fence { .. }) => true,
        Op::Atomic(atomic) => orders(&atomic.ordering),
        Op::Load(load) => orders(&load.ordering),
        Op::Store(store) => orders(&store.ordering),
        _ => false,
    })
}

fn has_error(outcome: &Outcome) -> bool {
    outcome.findings.iter().any(|finding| !finding.fault.is_note())
}

/// Returns `true` if a run was not completed, or found an error: then no further run is needed.
fn is_final(outcome: &Outcome) -> bool {
    outcome.gap.is_some() || has_error(outcome)
}

/// Returns `true` if a run wrote module variables, whose contents are not compared.
fn leaves_variables(outcome: &Outcome) -> bool {
    outcome.ticket.is_some_and(|ticket| ticket.leaves_variables)
}

/// The first run, with whose results those of all other runs are compared.
struct Runs<'l> {
    launch: &'l Launch,
    /// The place of the first ticket.
    place: Place,
    outcome: Outcome,
    results: Results,
    on_difference: OnDifference,
    /// The first element that may differ, and the reason, if that is a doubt.
    differs: Option<(TicketResult, String)>,
}

impl<'l> Runs<'l> {
    fn new(
        launch: &'l Launch,
        place: Place,
        (outcome, results): (Outcome, Results),
        on_difference: OnDifference,
    ) -> Self {
        Self { launch, place, outcome, results, on_difference, differs: None }
    }

    /// Adds a run. Returns the reason why its final memory may differ from that of the first, if there is one.
    fn add(
        &mut self,
        domain: &mut impl ComparesRuns,
        (other, mut other_results): (Outcome, Results),
        choice: &str,
    ) -> Option<String> {
        let counter = |outcome: &Outcome| outcome.ticket.and_then(|ticket| ticket.left);
        if leaves_variables(&other) {
            return Some(VARIABLES_REASON.to_owned());
        }
        if counter(&self.outcome) != counter(&other) || self.outcome.written != other.written {
            return Some(format!(
                "the final contents of the counter, or the written elements, depend on {choice}"
            ));
        }
        self.outcome.absorb(other);
        if self.differs.is_some() {
            return None;
        }
        let found = difference(self.launch, domain, [&mut self.results, &mut other_results])?;
        let Difference { buffer, element, why } = found;
        let name = &self.launch.buffers[buffer].name;
        let reason = format!(
            "the final contents of `{name}` may depend on {choice}: element {element} {why}"
        );
        match self.on_difference {
            OnDifference::Gap => Some(reason),
            OnDifference::Doubt => {
                self.differs = Some((TicketResult { buffer, element }, reason));
                None
            }
        }
    }

    /// Returns the first run, with a gap at the first ticket.
    fn with_gap(mut self, reason: String) -> (Outcome, Results) {
        self.outcome.gap = gap(self.place, reason);
        (self.outcome, self.results)
    }

    /// Returns the answer. If all runs agree, nothing depends on the tickets but, perhaps, last bits of floats, because
    /// results are compared as real numbers.
    fn finish(self) -> (Outcome, Results) {
        let is_float = |buffer: &Buffer| matches!(buffer.element, Some(Scalar::Float(_)) | None);
        let mut buffers = self.launch.buffers.iter();
        let floats = buffers.any(|one| one.access != Access::In && is_float(one));
        self.answer(floats)
    }

    /// Like [`finish`](Self::finish), if equal results have equal bits.
    fn finish_exactly(self) -> (Outcome, Results) {
        self.answer(false)
    }

    fn answer(mut self, may_round: bool) -> (Outcome, Results) {
        if leaves_variables(&self.outcome) {
            return self.with_gap(VARIABLES_REASON.to_owned());
        }
        let is_ticket =
            |doubt: &Doubt| doubt.place == self.place && doubt.about == Doubtful::AtomicResult;
        if let Some((result, reason)) = self.differs.take() {
            let mut doubts = self.outcome.doubts.iter_mut();
            let Some(doubt) = doubts.find(|doubt| is_ticket(doubt)) else {
                return self.with_gap(reason);
            };
            doubt.about = Doubtful::Ticket(result);
            return (self.outcome, self.results);
        }
        let doubts = &mut self.outcome.doubts;
        if may_round {
            let tickets = doubts.iter_mut().filter(|doubt| is_ticket(doubt));
            tickets.for_each(|doubt| doubt.about = Doubtful::EqualAsReals);
        } else {
            doubts.retain(|doubt| !is_ticket(doubt));
        }
        (self.outcome, self.results)
    }
}

fn gap(place: Place, reason: String) -> Option<Gap> {
    Some(Gap { place, thread: None, reason, stop: StopReason::NotFollowed })
}

/// An element that two runs leave differently, or possibly so.
struct Difference {
    /// The number of the buffer.
    buffer: usize,
    /// The number of the element in it.
    element: usize,
    /// Continues "element 3".
    why: String,
}

/// Returns the first element that two runs leave differently, or possibly so.
fn difference(
    launch: &Launch,
    domain: &mut impl ComparesRuns,
    results: [&mut Results; 2],
) -> Option<Difference> {
    let [one, other] = results;
    for (number, buffer) in launch.buffers.iter().enumerate() {
        if buffer.access == Access::In {
            continue;
        }
        let byte = Scalar::Integer { width: ir::Width::B8, signed: false };
        let scalar = buffer.element.unwrap_or(byte);
        let size = scalar.width().bytes() as usize;
        for start in (0..buffer.contents.size() as usize).step_by(size) {
            let pair = [&mut *one, &mut *other]
                .map(|results| results.element(domain, number, start, scalar));
            if let Some(why) = mismatch(domain, pair) {
                return Some(Difference { buffer: number, element: start / size, why });
            }
        }
    }
    None
}

/// Explains why the results of two runs for an element may differ, if they may.
fn mismatch(domain: &mut impl ComparesRuns, pair: [Element; 2]) -> Option<String> {
    let why = match pair {
        [Element::Value(a), Element::Value(b)] => match domain.same(a, b) {
            Some(true) if domain.contains_ticket(a) => "contains a ticket",
            Some(true) => return None,
            Some(false) => "has different values",
            None => "is not shown to have one value",
        },
        [Element::Lost(lost), _] | [_, Element::Lost(lost)] => {
            return Some(format!("is a value {}", lost.reason));
        }
        [a, b] if a == b => return None,
        _ => "has different values",
    };
    Some(why.to_owned())
}
