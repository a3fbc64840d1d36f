//! Merges a lane's contents with and without an action under an undecided condition, as choices.
//!
//! Contents that agree stay. Values of the domain become a choice of the domain. If one side is undefined and the
//! domain tracks such choices ([`chooses_undefined`](crate::domain::Domain::chooses_undefined)), it is left to the
//! domain. Otherwise the result is *schedule-dependent* ([`crate::tags`]), like the schedule's choices: it ends the
//! run where it decides something, and is a doubt where others see it. Memory keeps the condition under which it is
//! defined: the unit there is a choice with an undefined side in schedule-dependent bytes, and once these
//! conditions cover all cases it is defined.
//!
//! Errs towards *unknown*: parts of such a unit, and two untracked values, are not distinguished.

mod loads;

pub(crate) use loads::settle_load;

use super::address;
use super::operand::raw;
use super::select::{self, choice};
use super::truth::{self, Predicate};
use crate::address::Area;
use crate::context::Context;
use crate::domain::{Connective, Truths, Value};
use crate::finding::{Fault, Sink};
use crate::handle::Handle;
use crate::interpret::access::{allocation, is_unwritten, read_element, word_of, write_element};
use crate::lanes::{Lanes, Mask, WARP};
use crate::memory::{Allocation, Word, state};
use crate::path::{Path, Truth};
use crate::registers::Registers;
use crate::tags::{Source, Tags};
use crate::value::bytes::Bytes;
use crate::value::unit::{Byte, Unit};
use crate::value::{Store, Valued, reason};
use ir::{Operand, Reg, Width};

/// The contents of a register.
pub(super) enum Contents {
    Predicate(Predicate),
    Bits(Lanes, Tags),
}

impl Contents {
    pub(super) fn read(context: &mut Context<'_, '_>, register: Reg) -> Self {
        match context.layout.width(register) {
            Width::B1 => Self::Predicate(Predicate::read(context, register.into())),
            _ => {
                let (values, tags) = raw(context, register.into());
                Self::Bits(values, tags)
            }
        }
    }

    /// Like [`read`](Self::read), for other registers of the same function.
    fn from_registers(context: &Context<'_, '_>, registers: &Registers, register: Reg) -> Self {
        let operand = Operand::Register(register);
        match context.layout.width(register) {
            Width::B1 => Self::Predicate(Predicate::of(registers, operand)),
            _ => {
                let mut buffer = [0; WARP];
                let values = *registers.word(context.layout, operand, Width::B64, &mut buffer);
                Self::Bits(values, registers.operand_tags(operand))
            }
        }
    }

    fn tags(&self) -> Tags {
        match self {
            Self::Predicate(predicate) => predicate.tags,
            Self::Bits(_, tags) => *tags,
        }
    }

    /// The bits or words of a lane.
    fn bits(&self, lane: usize) -> u64 {
        match self {
            Self::Bits(values, _) => values[lane],
            Self::Predicate(predicate) if predicate.tags.unknown.has(lane) => {
                predicate.words[lane].into()
            }
            Self::Predicate(predicate) => predicate.truth.has(lane).into(),
        }
    }

    /// The lanes in which two registers differ, as far as that is visible.
    fn differing(&self, other: &Self, lanes: Mask) -> Mask {
        let differs = |lane: &usize| {
            let words = [self, other].map(|one| word_of(one.tags(), *lane));
            let nothing = words[0] == Word::Poison && words[1] == Word::Poison;
            !nothing && (words[0] != words[1] || self.bits(*lane) != other.bits(*lane))
        };
        Mask(lanes.iter().filter(differs).fold(0, |mask, lane| mask | 1 << lane))
    }
}

/// Makes a register a choice between its contents with and without the action.
pub(super) fn merge(
    context: &mut Context<'_, '_>,
    path: &Path,
    register: Reg,
    [with, without]: [Contents; 2],
) {
    let lanes = with.differing(&without, path.lanes);
    let outer = std::mem::replace(&mut context.lanes, path.lanes);
    match (&with, &without) {
        (Contents::Predicate(new), Contents::Predicate(old)) => {
            merge_truth(context, path, register, [new, old], lanes);
        }
        (Contents::Bits(a, s), Contents::Bits(b, t)) => {
            merge_bits(context, path, register, [&(*a, *s), &(*b, *t)], lanes);
        }
        _ => {}
    }
    context.lanes = outer;
}

fn merge_bits(
    context: &mut Context<'_, '_>,
    path: &Path,
    register: Reg,
    [new, old]: [&(Lanes, Tags); 2],
    lanes: Mask,
) {
    let unclear = |word: Word| matches!(word, Word::ScheduleDependent | Word::Pointer);
    let follows = chooses_undefined(context);
    let (mut schedule_dependent, mut undefined, mut lanes) = (Mask::NONE, false, lanes);
    for lane in lanes.iter() {
        let [a, b] = [new, old].map(|one| word_of(one.1, lane));
        if unclear(a) && unclear(b) && address::merge(context, path, register, [new, old], lane) {
            lanes = lanes.without(Mask::one(lane));
            continue;
        }
        let lacks = !follows && (a == Word::Poison || b == Word::Poison);
        context.report.has_choices |= follows && (a == Word::Poison) != (b == Word::Poison);
        undefined |= lacks;
        if lacks || unclear(a) || unclear(b) {
            schedule_dependent = schedule_dependent.or(Mask::one(lane));
        }
    }
    context.report.maybe_undefined |= undefined;
    let clear = lanes.without(schedule_dependent);
    let tags = Tags { unknown: clear, origin: Some(Source::Data), ..Tags::NUMBER };
    let layout = context.layout;
    context.registers.write(layout, register, &[0; WARP], tags, clear);
    let [a, b] = path.ordered(new, old);
    let predicate = Predicate { truth: Mask::NONE, tags: path_tags(path), words: path.words };
    select::choose(context, register, &predicate, [a, b], clear);
    if !schedule_dependent.is_empty() {
        let word = untracked_words(context, schedule_dependent_reason(undefined));
        let tags = Tags::unknown(schedule_dependent, Source::Stored);
        context.registers.write(layout, register, &[word; WARP], tags, schedule_dependent);
    }
}

/// The tags of a predicate that is a condition in all lanes of a path.
fn path_tags(path: &Path) -> Tags {
    Tags::unknown(path.lanes, Source::Data)
}

pub(super) fn schedule_dependent_reason(undefined: bool) -> &'static str {
    if undefined { reason::MAYBE_UNDEFINED } else { reason::SCHEDULE }
}

/// Both words of an untracked value.
pub(super) fn untracked_words(context: &mut Context<'_, '_>, reason: &'static str) -> u64 {
    let place = Some(context.place);
    let word = context.valued.as_mut().map_or(0, |valued| valued.store.units.opaque(place, reason));
    u64::from(word) | u64::from(word) << 32
}

pub(super) fn chooses_undefined(context: &Context<'_, '_>) -> bool {
    context.valued.as_ref().is_none_or(|valued: &Valued<'_>| valued.domain.chooses_undefined())
}

fn truth_of(predicate: &Predicate, lane: usize) -> Truth {
    let word = predicate.words[lane];
    match () {
        () if predicate.tags.poison.has(lane) => Truth::Lost,
        () if !predicate.tags.unknown.has(lane) => Truth::Known(predicate.truth.has(lane)),
        () if Handle(word).is_value() => Truth::Handle(word),
        () => Truth::Lost,
    }
}

fn merge_truth(
    context: &mut Context<'_, '_>,
    path: &Path,
    register: Reg,
    [new, old]: [&Predicate; 2],
    lanes: Mask,
) {
    let mut out = Truths::NONE;
    let undefined = new.tags.poison.or(old.tags.poison).and(lanes);
    let schedule_dependent = [new, old].map(|one| one.tags.undetermined());
    let schedule_dependent =
        schedule_dependent[0].or(schedule_dependent[1]).or(undefined).and(lanes);
    let open = !undefined.is_empty();
    context.report.maybe_undefined |= open && !chooses_undefined(context);
    context.report.has_choices |= open && chooses_undefined(context);
    for lane in lanes.iter() {
        let [a, b] = path.ordered(truth_of(new, lane), truth_of(old, lane));
        match chosen_truth(context, path.words[lane], [a, b]) {
            Truth::Known(holds) => out.decide(lane, holds),
            Truth::Handle(value) => out.defer(lane, value),
            Truth::Lost => {
                let place = Some(context.place);
                let Some(valued) = &mut context.valued else { return };
                out.defer(lane, valued.store.units.opaque(place, reason::CONDITION));
            }
        }
    }
    let tags = Tags { schedule_dependent, ..Tags::NUMBER };
    truth::write(context, register, &out, tags, lanes);
}

/// Selects `a` where the condition holds, `b` elsewhere.
fn chosen_truth(context: &mut Context<'_, '_>, condition: Value, [a, b]: [Truth; 2]) -> Truth {
    let holds = Truth::Handle(condition);
    if a == b && a != Truth::Lost {
        return a;
    }
    let opposite = negated(context, holds);
    let with = connected(context, Connective::And, holds, a);
    let without = connected(context, Connective::And, opposite, b);
    connected(context, Connective::Or, with, without)
}

/// Negates a truth.
pub(crate) fn negated(context: &mut Context<'_, '_>, a: Truth) -> Truth {
    match (a, &mut context.valued) {
        (Truth::Known(holds), _) => Truth::Known(!holds),
        (Truth::Handle(value), Some(valued)) => {
            let mut out = [0; WARP];
            valued.domain.not(&[value; WARP], Mask(1), &mut out);
            Truth::Handle(out[0])
        }
        _ => Truth::Lost,
    }
}

/// Connects two truths by *and* or *or*.
pub(crate) fn connected(
    context: &mut Context<'_, '_>,
    op: Connective,
    a: Truth,
    b: Truth,
) -> Truth {
    let settles = op == Connective::Or;
    match (a, b, &mut context.valued) {
        (Truth::Known(known), other, _) | (other, Truth::Known(known), _) => {
            if known == settles {
                Truth::Known(settles)
            } else {
                other
            }
        }
        (Truth::Handle(a), Truth::Handle(b), Some(valued)) => {
            let mut out = Truths::NONE;
            valued.domain.connect(op, [&[a; WARP], &[b; WARP]], Mask(1), &mut out);
            match out.known.has(0) {
                true => Truth::Known(out.truth.has(0)),
                false => Truth::Handle(out.values[0]),
            }
        }
        _ => Truth::Lost,
    }
}

/// Makes registers of a function choices between the contents `with` of one path and those of the context. `None` if
/// one of them is too wide.
pub(crate) fn merge_registers(
    context: &mut Context<'_, '_>,
    path: &Path,
    with: &Registers,
    registers: impl Iterator<Item = Reg>,
) -> Option<()> {
    for register in registers {
        let new = Contents::from_registers(context, with, register);
        let old = Contents::read(context, register);
        let wide = context.layout.width(register) > Width::B64;
        if new.differing(&old, path.lanes).is_empty() && !wide {
            forget_encoded(context, path, with, register);
            continue;
        }
        if wide {
            let layout = context.layout;
            let uppers = [with, &context.registers].map(|file| *file.upper(layout, register));
            let same = |lane: usize| uppers[0][lane] == uppers[1][lane];
            let differs = !new.differing(&old, path.lanes).is_empty();
            if differs || !path.lanes.iter().all(same) {
                return None;
            }
            continue;
        }
        merge(context, path, register, [new, old]);
    }
    Some(())
}

/// Forgets encoded addresses of a register that differ between the two.
fn forget_encoded(context: &mut Context<'_, '_>, path: &Path, with: &Registers, register: Reg) {
    if !with.may_be_encoded(register) && !context.registers.may_be_encoded(register) {
        return;
    }
    let differs = |lane: &usize| {
        with.encoded_in(register, *lane) != context.registers.encoded_in(register, *lane)
    };
    let lanes = Mask(path.lanes.iter().filter(differs).fold(0, |mask, lane| mask | 1 << lane));
    let tags = context.registers.tags(register);
    context.registers.tag(register, tags, lanes);
}

/// Writes a value to memory under the condition of a lane.
pub(crate) fn write_under(
    context: &mut Context<'_, '_>,
    path: &Path,
    (area, lane, at): (Area, usize, usize),
    size: usize,
    new: (u64, Word),
) {
    let mut old = ([0; WARP], [0; WARP]);
    let parts = [&mut old.0, &mut old.1];
    let word = read_element(context, area, lane, Some(Some(at)), size, parts);
    let old = (old.0[lane], word);
    let target = (area, lane);
    if new == old && matches!(word, Word::Number | Word::Pointer) {
        return write_element(context, target, at, size, new);
    }
    if new.1 == Word::Poison && is_unwritten(context, (area, lane, at), size) {
        return;
    }
    let can_choose = |word: Word| match word {
        Word::Number | Word::Unknown => true,
        Word::Poison => chooses_undefined(context),
        // A choice would forget that the schedule or the placement decides.
        Word::ScheduleDependent | Word::Pointer => false,
    };
    if !can_choose(new.1) || !can_choose(old.1) {
        return write_unclear(context, path, (area, lane, at), size, [new, old]);
    }
    let Some(valued) = &mut context.valued else { return };
    let [new, old] = [new, old].map(|(value, word)| valued.store.bytes(value, word));
    let [mut a, mut b]: [Bytes; 2] = path.ordered(new, old);
    [&mut a, &mut b].into_iter().for_each(|bytes| bytes[size..].fill(Byte::Known(0)));
    let chosen = choice(valued, path.words[lane], (&a, &b), size);
    write_element(context, target, at, size, (chosen, Word::Unknown));
}

/// Returns `true` if a conditional addition to values can add a choice.
pub(crate) fn can_add_choice(context: &Context<'_, '_>, values: [(u64, Word); 2]) -> bool {
    chooses_undefined(context) && values.iter().all(|(_, word)| is_clear(*word))
}

/// A value on a path, and zero elsewhere.
pub(crate) fn if_on_path(
    context: &mut Context<'_, '_>,
    path: &Path,
    lane: usize,
    (value, word): (u64, Word),
    size: usize,
) -> (u64, Word) {
    let Some(valued) = &mut context.valued else { return (value, word) };
    let mut value = valued.store.bytes(value, word);
    value[size..].fill(Byte::Known(0));
    let [a, b] = path.ordered(value, crate::value::bytes::ZERO);
    (choice(valued, path.words[lane], (&a, &b), size), Word::Unknown)
}

fn is_clear(word: Word) -> bool {
    matches!(word, Word::Number | Word::Unknown)
}

/// Like [`write_under`], for values that are undefined, possibly undefined, or not determined by the inputs.
fn write_unclear(
    context: &mut Context<'_, '_>,
    path: &Path,
    (area, lane, at): (Area, usize, usize),
    size: usize,
    [new, old]: [(u64, Word); 2],
) {
    let follows = chooses_undefined(context);
    if new.1 == Word::Poison && !follows && matches!(area, Area::Global(_)) {
        context.record_fault(
            Fault::Undefined { reaches: Sink::Output, origin: None },
            Mask::one(lane),
        );
    }
    let holds = match path.negated {
        true => negated(context, Truth::Handle(path.words[lane])),
        false => Truth::Handle(path.words[lane]),
    };
    let units = size.is_multiple_of(4) && at.is_multiple_of(4);
    let mut value = untracked_words(context, reason::MAYBE_UNDEFINED);
    let mut word = Word::ScheduleDependent;
    // To a domain that chooses undefined sides itself, the old contents are not determined by the inputs at all.
    if is_clear(new.1) && units && !follows {
        let parts = (at..at + size).step_by(4).map(|at| defined_if(context, area, lane, at));
        let parts: Vec<Option<Truth>> = parts.collect();
        let first = parts.first().copied().flatten();
        // Only accesses of other sizes write some of the parts.
        if let Some(before) = first.filter(|_| parts.iter().all(|part| *part == first)) {
            match connected(context, Connective::Or, before, holds) {
                Truth::Known(true) => {
                    value = untracked_words(context, reason::CONDITION);
                    word = Word::Unknown;
                }
                Truth::Handle(condition) => value = words_defined_if(context, condition),
                Truth::Known(false) | Truth::Lost => {}
            }
        }
    }
    let undefined = new.1 == Word::Poison || old.1 == Word::Poison;
    context.report.maybe_undefined |= undefined && word == Word::ScheduleDependent;
    write_element(context, (area, lane), at, size, (value, word));
}

/// Words of bytes that are defined under a condition.
fn words_defined_if(context: &mut Context<'_, '_>, condition: Value) -> u64 {
    let place = Some(context.place);
    let Some(valued) = &mut context.valued else { return 0 };
    let units = &mut valued.store.units;
    let if_true = units.opaque(place, reason::CONDITION);
    let if_false = units.unit([Byte::Undefined; 4]);
    let word = units.push(Unit::Choice { condition, if_true, if_false });
    u64::from(word) | u64::from(word) << 32
}

/// The condition under which four bytes of memory are defined; `None` if unknown.
fn defined_if(context: &mut Context<'_, '_>, area: Area, lane: usize, at: usize) -> Option<Truth> {
    let (memory, ..) = allocation(context, area, lane)?;
    let all = |wanted: u8| memory.states[at..at + 4].iter().all(|&state| state == wanted);
    if all(state::UNDEFINED) {
        return Some(Truth::Known(false));
    }
    if !all(state::SCHEDULE_DEPENDENT) {
        return None;
    }
    let word = memory.unit(at);
    let units = &context.valued.as_ref()?.store.units;
    match *units.get(word)? {
        Unit::Choice { condition, if_false, .. }
            if units.bytes(if_false) == [Byte::Undefined; 4] =>
        {
            Some(Truth::Handle(condition))
        }
        _ => None,
    }
}

/// Returns `true` if part of an allocation may not have been written, because it was written under conditions only.
pub(crate) fn may_be_unwritten(store: &Store, memory: &Allocation) -> bool {
    let open = |at: usize| {
        memory.states[at] == state::SCHEDULE_DEPENDENT
            && store.may_be_unwritten(memory.unit(at & !3), at & 3)
    };
    (0..memory.bytes.len()).any(open)
}
