//! Judges the writes of a launch at data-dependent places, after all blocks have run: reports pairs that may hit
//! the same bytes, and tensors that the launch accesses in another way, too.

use crate::domain::PlaceDifference;
use crate::doubt::Doubtful;
use crate::finding::{AccessKind, Fault, Finding, Gap, Place, StopReason};
use crate::machine::Machine;
use crate::memory::Allocation;
use crate::open_pair::Undecided;
use crate::race::{Race, RaceSide};
use crate::report::Report;
use crate::value::bytes::Bytes;
use crate::value::data_writes::{self, WriteKind, Writer};
use crate::value::unit::{Byte, Sort, known};
use crate::value::{Valued, integer};
use ir::Scope;
use std::collections::BTreeMap;
use sync::Site;

/// A write with its bytes.
type DataWrite = data_writes::DataWrite<Bytes>;

/// The reasons for undecided races of two stores.
const ORDER_OPEN: &str = "for some data they write the same bytes, and their order is not tracked";
const VALUES_OPEN: &str =
    "for some data they write the same bytes, and equality of the values is not decided";
const PLACES_OPEN: &str = "whether they write the same bytes depends on data, and was not decided";

/// The launch, for reports.
#[derive(Clone, Copy)]
pub(crate) struct LaunchContext<'l, 'p> {
    pub(crate) machine: &'l Machine<'p>,
    pub(crate) global: &'l [Allocation],
}

/// Judges all writes at data-dependent places. `accessed` returns an instruction that accessed a tensor in
/// another way.
pub(crate) fn judge(
    launch: LaunchContext<'_, '_>,
    report: &mut Report,
    mut valued: Valued<'_>,
    accessed: &dyn Fn(usize) -> Option<Site>,
) -> Option<Gap> {
    let mut scatters = std::mem::take(&mut valued.store.scatters);
    let mut gap = None;
    for (&number, scatter) in &mut scatters {
        gap = gap_for_mixed_accesses(launch, number, scatter, accessed(number));
        if gap.is_some() {
            break;
        }
        let first_kind = scatter.writes.first().map(|write| write.kind);
        let mut judge =
            Judge { launch, report, valued: valued.reborrow(), number, has_error: false };
        match first_kind {
            Some(WriteKind::Store) => scatter.in_any_order = judge.stores(&scatter.writes),
            Some(kind) if kind.rounds() => judge.sums(&scatter.writes),
            _ => {}
        }
        if scatter.in_any_order {
            // Sort the writes into an order that every run on the same inputs has. Then equal contents become nested
            // choices in the same order, and equal terms.
            scatter.writes.sort_by(|a, b| a.place.rank.cmp(&b.place.rank));
        }
    }
    valued.store.scatters = scatters;
    gap
}

/// The gap for accesses of different kinds that may overlap.
fn gap_for_mixed_accesses(
    launch: LaunchContext<'_, '_>,
    number: usize,
    scatter: &data_writes::Scatter<Bytes>,
    accessed: Option<Site>,
) -> Option<Gap> {
    let machine = launch.machine;
    let first = scatter.writes.first()?;
    let name = launch.global.get(number).map_or("", |memory| memory.name.as_str());
    let stop = |write: &DataWrite, reason: String| {
        let Writer { site, unit, who, .. } = write.by;
        let thread = machine.launch.thread(unit, who.warp.into(), who.lane.into());
        let (place, thread) = (machine.site_place(site), Some(thread));
        Some(Gap { place, thread, reason, stop: StopReason::NotFollowed })
    };
    if let Some(site) = accessed {
        let line = machine.op(site).map_or("another instruction", |op| match op {
            ir::Op::Load(_) => "a load",
            ir::Op::Store(_) => "a store",
            ir::Op::Atomic(_) => "an atomic update",
            _ => "another instruction",
        });
        return stop(
            first,
            format!(
                "`{name}` is written here at a data-dependent place, and {line} accesses it in another way: \
                whether both access the same element is not tracked"
            ),
        );
    }
    if let Some(other) = scatter.writes.iter().find(|write| write.kind != first.kind) {
        return stop(
            other,
            format!("`{name}` is written in different ways at data-dependent places"),
        );
    }
    let narrow = matches!(first.kind, WriteKind::Update(_, _, Scope::Cta | Scope::Cluster));
    if narrow && machine.launch.blocks() > 1 {
        return stop(
            first,
            format!(
                "`{name}` is updated at data-dependent places, in a scope that excludes other blocks"
            ),
        );
    }
    None
}

/// The overlap of two writes that may hit the same bytes.
enum Overlap {
    /// They overlap for these inputs, at this byte.
    Found(String, i128),
    Open,
}

impl Overlap {
    fn of(inputs: Option<(String, i128)>) -> Self {
        inputs.map_or(Self::Open, |(inputs, place)| Self::Found(inputs, place))
    }
}

struct Judge<'j, 'p, 'v> {
    launch: LaunchContext<'j, 'p>,
    report: &'j mut Report,
    valued: Valued<'v>,
    /// The number of the tensor's buffer.
    number: usize,
    /// Set after the report of an error: a single one is enough.
    has_error: bool,
}

/// Writes whose places differ only in their constants, in the order of these.
type Group<'w> = Vec<&'w DataWrite>;

impl Judge<'_, '_, '_> {
    /// Judges stores. Returns `true` if their order makes no difference.
    fn stores(&mut self, writes: &[DataWrite]) -> bool {
        let mut in_any_order = true;
        self.each_overlap(writes, &mut |judge, [a, b], overlap| {
            let same = judge.is_same_content(a, b);
            in_any_order &= same == Some(true);
            if a.by.is_same_thread(&b.by) {
                return false;
            }
            judge.report_pair([a, b], overlap, same);
            judge.has_error
        });
        in_any_order
    }

    /// Records a doubt if two additions of floats by different threads may overlap: their order affects the last
    /// bits.
    fn sums(&mut self, writes: &[DataWrite]) {
        self.each_overlap(writes, &mut |judge, [a, b], _| {
            if a.by.is_same_thread(&b.by) {
                return false;
            }
            let side = judge.side(b);
            judge.report.doubt(Doubtful::FloatOrder, side.place, side.thread);
            true
        });
    }

    /// Calls `call` for each pair of writes that may hit the same bytes, until it returns `true`.
    fn each_overlap(
        &mut self,
        writes: &[DataWrite],
        call: &mut dyn FnMut(&mut Self, [&DataWrite; 2], Overlap) -> bool,
    ) {
        let mut groups: BTreeMap<&[(u32, i128)], Group<'_>> = BTreeMap::new();
        for write in writes {
            groups.entry(&write.place.multiples).or_default().push(write);
        }
        let mut groups: Vec<Group<'_>> = groups.into_values().collect();
        for group in &mut groups {
            group.sort_by_key(|write| write.place.constant);
        }
        for (at, group) in groups.iter().enumerate() {
            let mut start = 0;
            for (later, write) in group.iter().enumerate() {
                let end = |one: &DataWrite| one.place.constant + i128::from(one.size);
                while end(group[start]) <= write.place.constant {
                    start += 1;
                }
                for earlier in &group[start..later] {
                    if end(earlier) <= write.place.constant {
                        continue;
                    }
                    let inputs = self.valued.domain.inputs_for(&earlier.place, &write.place, 0);
                    if call(self, [earlier, write], Overlap::of(inputs)) {
                        return;
                    }
                }
            }
            for other in &groups[at + 1..] {
                if self.each_overlap_between(group, other, call) {
                    return;
                }
            }
        }
    }

    /// Like [`each_overlap`](Self::each_overlap), for two groups with different multiples.
    fn each_overlap_between(
        &mut self,
        a: &Group<'_>,
        b: &Group<'_>,
        call: &mut dyn FnMut(&mut Self, [&DataWrite; 2], Overlap) -> bool,
    ) -> bool {
        let (Some(&first), Some(&second)) = (a.first(), b.first()) else { return false };
        let Some(difference) = self.valued.domain.difference(&first.place, &second.place) else {
            let mut pairs = a.iter().flat_map(|one| b.iter().map(move |other| [*one, *other]));
            return pairs.any(|pair| call(self, pair, Overlap::Open));
        };
        if never_overlap(difference, a, b) {
            return false;
        }
        for one in a {
            for other in b {
                let Some(factor) = factor_of_overlap(difference, one, other) else { continue };
                let inputs = self.valued.domain.inputs_for(&one.place, &other.place, factor);
                let overlap = Overlap::of(inputs.filter(|_| difference.is_attained));
                if call(self, [one, other], overlap) {
                    return true;
                }
            }
        }
        false
    }

    /// Compares the bits of two writes: `Some(true)` if they are equal for all inputs, `Some(false)` if they differ for
    /// some values of their inputs even when the inputs that decide the places are fixed, `None` if unknown. Floats
    /// that are equal as real numbers need not have the same bits.
    fn is_same_content(&mut self, a: &DataWrite, b: &DataWrite) -> Option<bool> {
        if a.size != b.size {
            return Some(false);
        }
        let [x, y] = [a, b].map(|write| &write.content[..write.size as usize]);
        if let (Some(x), Some(y)) = (known(x), known(y)) {
            return Some(x == y);
        }
        let sort = [x, y].into_iter().find_map(|bytes| match bytes.first() {
            Some(Byte::Of { sort, index: 0, .. }) => Some(*sort),
            _ => None,
        })?;
        let valued = &mut self.valued;
        let [x, y] = [x, y].map(|bytes| match sort.format() {
            Some(format) => valued.real(bytes, format, None).ok(),
            None if Sort::is_integer(sort) => integer::integer_or_number(valued, bytes, true),
            None => None,
        });
        let (x, y) = (x?, y?);
        if valued.domain.differ_anywhere(x, y) {
            return Some(false);
        }
        (sort.format().is_none() && valued.domain.same(x, y) == Some(true)).then_some(true)
    }

    fn report_pair(&mut self, [a, b]: [&DataWrite; 2], overlap: Overlap, same: Option<bool>) {
        let unordered = a.by.is_unordered(&b.by);
        let (when, reason) = match overlap {
            Overlap::Found(when, at) if !unordered => (Some((when, at)), Some(ORDER_OPEN)),
            Overlap::Found(when, at) if same.is_none() => (Some((when, at)), Some(VALUES_OPEN)),
            Overlap::Found(when, at) => (Some((when, at)), None),
            Overlap::Open => (None, Some(PLACES_OPEN)),
        };
        let race = self.race([a, b], when, same == Some(true));
        match reason {
            Some(_) if same == Some(true) => {}
            Some(reason) => {
                let places = race.sides.each_ref().map(|side| side.place);
                let is_known = |open: &Undecided| {
                    open.race.sides.each_ref().map(|side| side.place) == places
                        && open.reason == reason
                };
                if !self.report.undecided.iter().any(is_known) {
                    self.report.undecided.push(Undecided { race, reason, values: None });
                }
            }
            None => {
                // A race of equal values is a note: go on, because a later pair may be an error.
                self.has_error = !race.same_value;
                self.add(race);
            }
        }
    }

    fn race(
        &self,
        [a, b]: [&DataWrite; 2],
        when: Option<(String, i128)>,
        same_value: bool,
    ) -> Race {
        let (when, at) = when.map_or((None, a.place.constant), |(when, at)| (Some(when), at));
        let offset = i64::try_from(at).unwrap_or(0);
        Race {
            sides: [self.side(a), self.side(b)],
            target: match self.launch.global.get(self.number) {
                Some(memory) => memory.target(offset),
                None => Allocation::new("memory", ir::Space::Global, 0, 0).target(offset),
            },
            element_bytes: None,
            same_value,
            conditional: false,
            unused: false,
            non_coherent: false,
            unseen: false,
            unseen_map: false,
            strong: false,
            outside_scope: false,
            in_different_units: a.by.unit != b.by.unit,
            when: when.filter(|when| !when.is_empty()),
        }
    }

    /// Adds a race; repeated ones of the same instructions are only counted.
    fn add(&mut self, race: Race) {
        let places = |race: &Race| race.sides.each_ref().map(|side| side.place);
        let is_known = |finding: &&mut Finding| match &finding.fault {
            Fault::Race(known) => {
                (known.same_value, places(known)) == (race.same_value, places(&race))
            }
            _ => false,
        };
        if let Some(known) = self.report.findings.iter_mut().find(is_known) {
            known.count += 1;
            return;
        }
        let (place, thread) = (race.sides[1].place, race.sides[1].thread);
        let fault = Fault::Race(Box::new(race));
        self.report.add(Finding { fault, place, thread, count: 1 });
    }

    fn side(&self, write: &DataWrite) -> RaceSide {
        let Writer { site, unit, who, .. } = write.by;
        let machine = self.launch.machine;
        let place: Place = machine.site_place(site);
        RaceSide {
            thread: machine.launch.thread(unit, who.warp.into(), who.lane.into()),
            place,
            kind: match write.kind {
                WriteKind::Store => AccessKind::Write,
                WriteKind::Update(..) => AccessKind::Atomic,
            },
            passed: None,
            in_flight: false,
            bulk: false,
            product: None,
            transfer: None,
            ended: false,
        }
    }
}

/// Returns `true` if no two writes of the groups overlap, by their extreme constants alone.
fn never_overlap(difference: PlaceDifference, a: &Group<'_>, b: &Group<'_>) -> bool {
    let PlaceDifference { step, low, high, is_never_zero, .. } = difference;
    let ends = |group: &Group<'_>| {
        let least = group.first().map_or(0, |write| write.place.constant);
        let end = group.iter().map(|write| write.place.constant + i128::from(write.size)).max();
        (least, end.unwrap_or(least))
    };
    let ((a_low, a_end), (b_low, b_end)) = (ends(a), ends(b));
    // The writes overlap only if step·factor is above b_low - a_end and below b_end - a_low.
    let (above, below) = (b_low - a_end, b_end - a_low);
    if step * high <= above || step * low >= below {
        return true;
    }
    is_never_zero && -step <= above && below <= step
}

/// Returns a factor for which two writes overlap, 0 if possible; `None` if they never do.
fn factor_of_overlap(difference: PlaceDifference, a: &DataWrite, b: &DataWrite) -> Option<i128> {
    let PlaceDifference { step, low, high, is_never_zero, .. } = difference;
    // a + step·factor is above b - size of a, and below b + size of b.
    let distance = b.place.constant - a.place.constant;
    let first = (distance - i128::from(a.size)).div_euclid(step) + 1;
    let last = (distance + i128::from(b.size) - 1).div_euclid(step);
    let (first, last) = (first.max(low), last.min(high));
    let all = [0.clamp(first, last.max(first)), first, last];
    all.into_iter()
        .find(|factor| (first..=last).contains(factor) && !(is_never_zero && *factor == 0))
}
