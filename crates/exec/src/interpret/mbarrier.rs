//! Operations on mbarriers (manual §9.7.13.15): operands and addresses here, semantics in [`sync`].
//!
//! An initialisation or invalidation is a write of eight bytes; every other operation is an update that commutes
//! with the others. So each use must be ordered after the initialisation and before the invalidation. The bytes
//! themselves are undefined.
//!
//! An arrival returns a state, which the manual leaves opaque. A kernel may copy it and pass it to a wait. It is tagged
//! as an address that points nowhere, so any other use of its bits makes the block `unknown`.

mod faults;

use super::access::{allocation, locate, resolve};
use super::tracked::track;
use crate::address::{Area, Pointer};
use crate::context::{Context, Flow};
use crate::finding::{AccessKind, Gap, Sink};
use crate::lanes::{Lanes, Mask, WARP};
use crate::memory::state;
use crate::tags::{Source, Tags};
use crate::tracker::AccessAttributes;
pub(crate) use faults::check_plain_access;
use faults::{explain_stop, report_findings};
use ir::{
    Mbarrier, MbarrierArrive, MbarrierOp, MbarrierPhase, MbarrierTest, Operand, Ordering, Scope,
    Width,
};
use sync::{
    AgentId, ArrivalTerms, MBARRIER_UPDATES, MbarrierAnswer, MbarrierEvent, MbarrierId,
    MbarrierScope, MbarrierState, MemoryEffect, NamedPhase, SameValue, WaitTerms, Waiting,
};

/// Bytes of an mbarrier, and its alignment.
const BYTES: u32 = 8;

/// The upper bits of a state; no address here has them.
const STATE: u64 = 0x5b5b << 48;

/// Lanes with the same operation on the same mbarrier.
struct LaneGroup {
    lanes: Mask,
    pointer: Pointer,
    id: MbarrierId,
    /// Values of the operands.
    operands: [u64; 2],
}

/// Executes an operation on mbarriers.
pub(super) fn execute(context: &mut Context<'_, '_>, mbarrier: &Mbarrier) -> Result<Flow, Gap> {
    let all = context.lanes;
    let groups = groups(context, mbarrier)?;
    if let Some(test) = mbarrier.test() {
        // One by one: each may block.
        if let Some(first) = groups.first()
            && first.lanes != all
            && groups.len() > 1
        {
            return Ok(Flow::Divide(first.lanes));
        }
        return match groups.into_iter().next() {
            Some(group) => test_or_wait(context, mbarrier, test, &group),
            None => Err(context.gap("behaviour after a wrong mbarrier address is undefined")),
        };
    }
    for group in groups {
        execute_nonblocking(context, mbarrier, &group)?;
    }
    Ok(Flow::Next)
}

/// Groups the lanes by operation and mbarrier.
fn groups(context: &mut Context<'_, '_>, mbarrier: &Mbarrier) -> Result<Vec<LaneGroup>, Gap> {
    let values = operands(context, mbarrier)?;
    let kind = match mbarrier.op {
        MbarrierOp::Init(_) | MbarrierOp::Inval => AccessKind::Write,
        _ => AccessKind::Atomic,
    };
    let addresses = resolve(context, mbarrier.address, mbarrier.space, kind, BYTES)?;
    let mut found: Vec<LaneGroup> = Vec::new();
    for lane in addresses.lanes.iter() {
        let Some(pointer) = addresses.pointers[lane] else { continue };
        if !matches!(pointer.area, Area::Shared(_)) {
            return Err(context.gap("an mbarrier is not in shared memory"));
        }
        if locate(context, pointer, lane, (BYTES, BYTES), kind).is_none() {
            continue;
        }
        check_remote(context, mbarrier, pointer)?;
        let operands_of = |lane: usize| [values[0][lane], values[1][lane]];
        let (operands, all) = (operands_of(lane), addresses.lanes);
        let is_same = |one: &&mut LaneGroup| (one.pointer, one.operands) == (pointer, operands);
        if let Some(known) = found.iter_mut().find(is_same) {
            known.lanes = known.lanes.or(Mask::one(lane));
            continue;
        }
        let Some(id) = context.tracker.mbarrier(pointer.area, pointer.offset) else {
            return Err(context.gap("there are too many mbarriers"));
        };
        // Most often all lanes do the same. In a cluster the accessing lanes are recorded for each block.
        let alike = |other: usize| {
            (addresses.pointers[other], operands_of(other)) == (Some(pointer), operands)
        };
        let alone = context.machine.blocks == 1 && !context.tracker.follows_grids();
        let first = Some(lane) == all.lowest();
        if alone && first && all.iter().all(alike) {
            return Ok(vec![LaneGroup { lanes: all, pointer, id, operands }]);
        }
        found.push(LaneGroup { lanes: Mask::one(lane), pointer, id, operands });
    }
    Ok(found)
}

/// Checks that only arrivals and transactions, without a state, access mbarriers of other blocks (§9.7.13.15.8).
fn check_remote(
    context: &Context<'_, '_>,
    mbarrier: &Mbarrier,
    pointer: Pointer,
) -> Result<(), Gap> {
    if context.other_block(pointer.area).is_none() {
        return Ok(());
    }
    match &mbarrier.op {
        MbarrierOp::Arrive(MbarrierArrive { state: None, no_complete: false, .. })
        | MbarrierOp::ExpectTx(_)
        | MbarrierOp::CompleteTx(_) => Ok(()),
        _ => Err(context.gap("this operation does not reach an mbarrier of another block")),
    }
}

/// The scope of an operation, if written.
fn scope(ordering: Ordering, written: bool) -> MbarrierScope {
    match (written, ordering.scope()) {
        (false, _) => MbarrierScope::Assumed,
        (true, Some(Scope::Cta)) => MbarrierScope::Block,
        (true, _) => MbarrierScope::Cluster,
    }
}

/// Reads the operands of an operation in all lanes; a value that is not a number ends the run.
fn operands(context: &mut Context<'_, '_>, mbarrier: &Mbarrier) -> Result<[Lanes; 2], Gap> {
    let mut number = |operand: Option<Operand>| -> Result<Lanes, Gap> {
        let Some(operand) = operand else { return Ok([0; WARP]) };
        let (values, tags) = context.read(operand, Width::B32);
        context.lanes = context.require_numbers(tags, Sink::Synchronisation)?;
        Ok(values)
    };
    match &mbarrier.op {
        MbarrierOp::Init(count) => Ok([number(Some(*count))?, [0; WARP]]),
        MbarrierOp::ExpectTx(bytes) | MbarrierOp::CompleteTx(bytes) => {
            Ok([number(Some(*bytes))?, [0; WARP]])
        }
        MbarrierOp::Arrive(MbarrierArrive { count, expect, .. }) => {
            Ok([number(Some(*count))?, number(*expect)?])
        }
        MbarrierOp::Test(test) | MbarrierOp::Peek(test) | MbarrierOp::Wait(test) => {
            match test.phase {
                MbarrierPhase::Parity(parity) => Ok([number(Some(parity))?, [0; WARP]]),
                MbarrierPhase::State(operand) => Ok([states(context, operand)?, [0; WARP]]),
            }
        }
        MbarrierOp::Inval | MbarrierOp::CopyArrive { .. } => Ok([[0; WARP]; 2]),
    }
}

/// Reads states, which must come from arrivals.
fn states(context: &mut Context<'_, '_>, operand: Operand) -> Result<Lanes, Gap> {
    let (values, tags) = context.read(operand, Width::B64);
    let numbers = Tags { pointer: Mask::NONE, ..tags };
    context.lanes = context.require_numbers(numbers, Sink::Synchronisation)?;
    let is_state = |lane: usize| tags.pointer.has(lane) && values[lane] >> 48 == STATE >> 48;
    if !context.lanes.iter().all(is_state) {
        return Err(context.gap("a wait uses a phase token that no arrival returned"));
    }
    Ok(values)
}

/// Packs a state into 64 bits: barrier, life of the barrier, phase.
fn encode(state: MbarrierState) -> Option<u64> {
    let MbarrierState { id, life, phase } = state;
    let (life, phase) = (u64::from(life), u32::try_from(phase).ok()?);
    let fits = id < 1 << 10 && life < 1 << 6 && phase < 1 << 31;
    fits.then(|| STATE | u64::from(id) << 38 | life << 32 | u64::from(phase))
}

fn decode(bits: u64) -> MbarrierState {
    let id = (bits >> 38 & 0x3ff) as MbarrierId;
    MbarrierState { id, life: (bits >> 32 & 0x3f) as u32, phase: bits & 0xffff_ffff }
}

/// Reports an operation to [`sync`]; an error ends the run.
fn apply(
    context: &mut Context<'_, '_>,
    group: &LaneGroup,
    event: MbarrierEvent,
) -> Result<MbarrierAnswer, Gap> {
    let who = sync::Lanes { warp: context.warp.number, lanes: group.lanes, site: context.site };
    let outcome = context.tracker.apply_to_mbarrier(group.id, who, event);
    let Some(outcome) = outcome else { return Err(context.gap("mbarriers are not followed here")) };
    let answer = outcome.map_err(|stop| explain_stop(context, group, stop));
    report_findings(context);
    answer
}

/// Delivers the bytes of a lane's bulk copy at an mbarrier.
pub(super) fn deliver(
    context: &mut Context<'_, '_>,
    pointer: Pointer,
    lane: usize,
    (copy, bytes): (AgentId, u32),
) -> Result<(), Gap> {
    if !matches!(pointer.area, Area::Shared(_)) {
        return Err(context.gap("an mbarrier is not in shared memory"));
    }
    if locate(context, pointer, lane, (BYTES, BYTES), AccessKind::Atomic).is_none() {
        return Err(context.gap("behaviour after a wrong mbarrier address is undefined"));
    }
    let Some(id) = context.tracker.mbarrier(pointer.area, pointer.offset) else {
        return Err(context.gap("there are too many mbarriers"));
    };
    let attributes = AccessAttributes {
        copy: Some(copy),
        group: MBARRIER_UPDATES,
        ..AccessAttributes::plain(MemoryEffect::Update, context.site, BYTES)
    };
    track(context, pointer, lane, BYTES, attributes, SameValue::Different);
    let group = LaneGroup { lanes: Mask::one(lane), pointer, id, operands: [0; 2] };
    apply(context, &group, MbarrierEvent::BulkDeliver { copy, bytes })?;
    Ok(())
}

/// Executes operations that do not wait.
fn execute_nonblocking(
    context: &mut Context<'_, '_>,
    mbarrier: &Mbarrier,
    group: &LaneGroup,
) -> Result<(), Gap> {
    let [first, second] = group.operands.map(|value| value as u32);
    match &mbarrier.op {
        MbarrierOp::Init(_) | MbarrierOp::Inval => {
            for lane in group.lanes.iter() {
                let one = LaneGroup { lanes: Mask::one(lane), ..*group };
                let init = matches!(mbarrier.op, MbarrierOp::Init(_));
                let number = context.warp.number;
                let agent = init.then(|| context.tracker.start_init(number, lane)).flatten();
                // Lanes that initialise it alike in one instruction count as equal writes.
                if init && Some(lane) != group.lanes.lowest() {
                    access_by(context, &one, (MemoryEffect::Write, SameValue::Equal), agent);
                    continue;
                }
                access_by(context, &one, (MemoryEffect::Write, SameValue::Different), agent);
                let event = match mbarrier.op {
                    MbarrierOp::Init(_) => MbarrierEvent::Init(first),
                    _ => MbarrierEvent::Inval,
                };
                apply(context, &one, event)?;
                make_undefined(context, group.pointer, lane);
            }
        }
        MbarrierOp::Arrive(arrive) => {
            access(context, group, MemoryEffect::Update);
            let terms = ArrivalTerms {
                count: first,
                expects: arrive.expect.map(|_| second),
                drops: arrive.drop,
                no_complete: arrive.no_complete,
                releases: matches!(arrive.ordering, Ordering::Release(_)),
                scope: scope(arrive.ordering, arrive.written),
            };
            let answer = apply(context, group, MbarrierEvent::Arrive(terms))?;
            record_sync(context, group.lanes);
            if let (Some(dst), MbarrierAnswer::Arrived(states)) = (arrive.state, answer) {
                write_states(context, dst, &states)?;
            }
        }
        MbarrierOp::ExpectTx(_) => {
            access(context, group, MemoryEffect::Update);
            apply(context, group, MbarrierEvent::Expect(first))?;
        }
        MbarrierOp::CompleteTx(_) => {
            access(context, group, MemoryEffect::Update);
            apply(context, group, MbarrierEvent::Deliver(first))?;
        }
        MbarrierOp::CopyArrive { increments } => {
            // The count goes up now, and the arrival comes later.
            if *increments {
                access(context, group, MemoryEffect::Update);
            }
            let copy = Some(context.tracker.start_arrival());
            access_by(context, group, (MemoryEffect::Update, SameValue::Different), copy);
            apply(context, group, MbarrierEvent::CopiesArrive { increments: *increments })?;
        }
        MbarrierOp::Test(_) | MbarrierOp::Peek(_) | MbarrierOp::Wait(_) => {}
    }
    Ok(())
}

/// Executes waits and tests.
fn test_or_wait(
    context: &mut Context<'_, '_>,
    mbarrier: &Mbarrier,
    test: &MbarrierTest,
    group: &LaneGroup,
) -> Result<Flow, Gap> {
    let named = match test.phase {
        MbarrierPhase::Parity(_) => {
            let parity = group.operands[0];
            if parity > 1 {
                context.report.assumed_parities.insert(context.site);
            }
            NamedPhase::Parity(parity & 1 == 1)
        }
        MbarrierPhase::State(_) => NamedPhase::State(decode(group.operands[0])),
    };
    let acquires = matches!(test.ordering, Ordering::Acquire(_));
    let terms = WaitTerms { acquires, scope: scope(test.ordering, test.written) };
    access(context, group, MemoryEffect::Update);
    context.lanes = group.lanes;
    if let MbarrierOp::Wait(_) = mbarrier.op {
        let answer = apply(context, group, MbarrierEvent::Wait(named, terms))?;
        context.write_predicate(test.dst, Mask::ALL, Tags::NUMBER);
        let MbarrierAnswer::Waiting(waiting) = answer else { return Ok(Flow::Next) };
        let (Waiting::Blocked(state) | Waiting::Over(state)) = waiting;
        answer_peeks(context, test, group.lanes, state)?;
        if let Waiting::Blocked(state) = waiting {
            return Ok(Flow::Mbarrier(state));
        }
        record_sync(context, group.lanes);
        return Ok(Flow::Next);
    }
    let answer = apply(context, group, MbarrierEvent::Test(named))?;
    if let (MbarrierOp::Peek(_), Some(peek_group), MbarrierAnswer::Tested(state, unordered)) =
        (&mbarrier.op, test.group, answer)
    {
        if unordered.is_some() {
            return Err(context.gap(
                "nothing orders this test after the previous phase: it may refer to an \
                earlier phase",
            ));
        }
        // The run takes the answer `false`, which is always possible; then the wait that follows acquires.
        if !context.tracker.peek((context.warp.number, group.lanes), peek_group, state) {
            return Err(context.gap("a phase is tested again before the first result is used"));
        }
        context.write_predicate(test.dst, Mask::NONE, Tags::NUMBER);
        return Ok(Flow::Next);
    }
    let answer = Source::Schedule("the completion of an mbarrier phase");
    context.write_predicate(test.dst, Mask::NONE, Tags::unknown(group.lanes, answer));
    Ok(Flow::Next)
}

/// Checks that a wait is for the phase of an earlier test (a *peek*): if that had answered `true`, the kernel would
/// have skipped the wait.
fn answer_peeks(
    context: &mut Context<'_, '_>,
    test: &MbarrierTest,
    lanes: Mask,
    state: MbarrierState,
) -> Result<(), Gap> {
    let Some(peek_group) = test.group else { return Ok(()) };
    match context.tracker.answer_peeks((context.warp.number, lanes), peek_group, state) {
        true => Ok(()),
        false => Err(context
            .gap("an earlier test may skip this wait, but it tests another phase of the mbarrier")),
    }
}

/// Reports accesses of lanes to the bytes of an mbarrier.
fn access(context: &mut Context<'_, '_>, group: &LaneGroup, kind: MemoryEffect) {
    access_by(context, group, (kind, SameValue::Different), None);
}

/// Reports accesses of lanes, or of a copy that they started, to the bytes of an mbarrier.
fn access_by(
    context: &mut Context<'_, '_>,
    group: &LaneGroup,
    (kind, value): (MemoryEffect, SameValue),
    copy: Option<AgentId>,
) {
    let attributes = AccessAttributes {
        copy,
        group: MBARRIER_UPDATES,
        ..AccessAttributes::plain(kind, context.site, BYTES)
    };
    // Updates of an mbarrier commute, so lanes are reported together.
    if kind == MemoryEffect::Update && copy.is_none() {
        let (who, at) = ((context.warp.number, group.lanes), group.pointer);
        return context.tracker.access(who, (at.area, at.offset, BYTES), attributes, value);
    }
    for lane in group.lanes.iter() {
        track(context, group.pointer, lane, BYTES, attributes, value);
    }
}

/// Makes the bytes of a present or former barrier undefined.
fn make_undefined(context: &mut Context<'_, '_>, pointer: Pointer, lane: usize) {
    let start = usize::try_from(pointer.offset).unwrap_or(usize::MAX);
    if let Some((memory, ..)) = allocation(context, pointer.area, lane)
        && memory.inside(pointer.offset, BYTES).is_some()
    {
        memory.states.fill(start..start + BYTES as usize, state::UNDEFINED);
    }
}

fn write_states(
    context: &mut Context<'_, '_>,
    dst: ir::Reg,
    states: &[(Mask, MbarrierState)],
) -> Result<(), Gap> {
    let (mut values, mut written) = ([0; WARP], Mask::NONE);
    for &(lanes, state) in states {
        let Some(bits) = encode(state) else {
            return Err(context.gap("an mbarrier has more phases than its state can distinguish"));
        };
        lanes.iter().for_each(|lane| values[lane] = bits);
        written = written.or(lanes);
    }
    let all = std::mem::replace(&mut context.lanes, written);
    context.write(dst, &values, Tags::pointer(written));
    context.lanes = all;
    Ok(())
}

/// Records a synchronisation for race reports.
fn record_sync(context: &mut Context<'_, '_>, lanes: Mask) {
    if !lanes.is_empty() {
        context.tracker.note_event(context.warp.number, lanes, context.site);
    }
}
