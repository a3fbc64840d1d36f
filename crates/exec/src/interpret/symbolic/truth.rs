//! Operations on predicates with unknown lanes: negation, connectives, and comparisons of integers.
//!
//! A lane's truth is a Boolean of the domain, or opaque. A comparison that neither bounds nor the domain decide stays
//! unknown; it is never guessed.

use super::integer;
use super::operand::{bytes, raw};
use crate::concrete;
use crate::context::Context;
use crate::domain::{Connective, Truths, Value, Values};
use crate::finding::Gap;
use crate::handle::Handle;
use crate::interpret::arithmetic;
use crate::lanes::{Lanes, Mask, WARP};
use crate::registers::Registers;
use crate::tags::{Source, Tags};
use crate::value::unit::{Unit, Units};
use crate::value::{Valued, reason};
use ir::{IntBinary, Op, Operand, Reg, Relation, Width};

/// A predicate with words for its unknown lanes.
#[derive(Clone)]
pub(super) struct Predicate {
    pub(super) truth: Mask,
    pub(super) tags: Tags,
    pub(super) words: Values,
}

impl Predicate {
    pub(super) fn read(context: &Context<'_, '_>, operand: Operand) -> Self {
        Self::of(&context.registers, operand)
    }

    /// Like [`read`](Self::read), for other registers than the context's.
    pub(super) fn of(registers: &Registers, operand: Operand) -> Self {
        let (truth, tags) = (registers.predicate(operand), registers.operand_tags(operand));
        Self { truth, tags, words: registers.predicate_words(operand) }
    }

    /// The lanes in which the predicate is unknown and has a word.
    pub(super) fn unknown(&self) -> Mask {
        self.tags.unknown
    }

    /// The lanes in which the predicate is unknown and the domain tracks it.
    pub(super) fn followed(&self) -> Mask {
        let followed = |&lane: &usize| Handle(self.words[lane]).is_value();
        Mask(self.unknown().iter().filter(followed).fold(0, |mask, lane| mask | 1 << lane))
    }
}

/// Writes the domain's answers in `lanes`.
pub(super) fn write(
    context: &mut Context<'_, '_>,
    dst: Reg,
    truths: &Truths,
    tags: Tags,
    lanes: Mask,
) {
    let lanes = lanes.and(context.lanes);
    let origin = tags.origin.or(Some(Source::Data));
    let unknown = lanes.without(truths.known).without(tags.poison);
    let schedule_dependent = tags.schedule_dependent.and(unknown);
    let tags = Tags {
        unknown,
        schedule_dependent,
        poison: tags.poison.and(lanes),
        origin,
        ..Tags::NUMBER
    };
    context.registers.write_truths(dst, &truths.values, unknown);
    context.registers.write_predicate(dst, truths.truth, tags, lanes);
}

pub(super) fn not(context: &mut Context<'_, '_>, dst: Reg, a: Operand) -> bool {
    let a = Predicate::read(context, a);
    if a.tags.is_number() {
        return false;
    }
    let mut out = Truths { known: Mask(!a.unknown().0), truth: Mask(!a.truth.0), values: a.words };
    negate(context, &a, a.unknown(), &mut out.values);
    write(context, dst, &out, a.tags, context.lanes);
    true
}

/// Negates in `lanes`; untracked lanes stay so.
fn negate(context: &mut Context<'_, '_>, a: &Predicate, lanes: Mask, out: &mut Values) {
    let followed = lanes.and(a.followed());
    if let Some(valued) = &mut context.valued
        && !followed.is_empty()
    {
        valued.domain.not(&a.words, followed, out);
    }
    lanes.without(followed).iter().for_each(|lane| out[lane] = a.words[lane]);
}

/// Executes a connective on predicates. A known operand may decide the result; otherwise the domain connects the two.
pub(super) fn binary(
    context: &mut Context<'_, '_>,
    op: IntBinary,
    dst: Reg,
    [a, b]: [Operand; 2],
) -> bool {
    let (a, b) = (Predicate::read(context, a), Predicate::read(context, b));
    if a.tags.is_number() && b.tags.is_number() {
        return false;
    }
    let connective = match op {
        IntBinary::And => Connective::And,
        IntBinary::Or => Connective::Or,
        IntBinary::Xor => Connective::Xor,
        _ => return false,
    };
    let known = |p: &Predicate| Mask(!(p.tags.unknown.0 | p.tags.poison.0 | p.tags.pointer.0));
    let (ka, kb) = (known(&a), known(&b));
    let (ta, tb) = (a.truth, b.truth);
    // One known operand decides the result, or leaves the other one.
    let settled = match connective {
        Connective::And => ka.without(ta).or(kb.without(tb)),
        Connective::Or => ka.and(ta).or(kb.and(tb)),
        Connective::Xor => Mask::NONE,
    };
    let truth = match connective {
        Connective::And => ta.and(tb).and(ka).and(kb),
        Connective::Or => settled,
        Connective::Xor => Mask(ta.0 ^ tb.0),
    };
    let known = settled.or(ka.and(kb));
    let mut out = Truths { known, truth: truth.and(known), values: [0; WARP] };
    let open = Mask(!out.known.0);
    for (known, value, other) in [(ka, ta, &b), (kb, tb, &a)] {
        let lanes = open.and(known);
        lanes.iter().for_each(|lane| out.values[lane] = other.words[lane]);
        if connective == Connective::Xor {
            negate(context, other, lanes.and(value), &mut out.values);
        }
    }
    let both = open.without(ka).without(kb);
    let followed = both.and(a.followed()).and(b.followed());
    let opaque = |lane: usize| if a.followed().has(lane) { b.words[lane] } else { a.words[lane] };
    both.without(followed).iter().for_each(|lane| out.values[lane] = opaque(lane));
    if let Some(valued) = &mut context.valued
        && !followed.is_empty()
    {
        valued.domain.connect(connective, [&a.words, &b.words], followed, &mut out);
    }
    let mut tags = a.tags.combine(b.tags);
    tags.poison = tags.poison.without(settled);
    // An undefined operand matters only if the other one, which is unknown, does not decide the result.
    let maybe = a.tags.poison.and(b.unknown()).or(b.tags.poison.and(a.unknown()));
    let maybe = if connective == Connective::Xor { Mask::NONE } else { maybe.and(context.lanes) };
    if let (Some(valued), false) = (&mut context.valued, maybe.is_empty()) {
        let word = valued.store.units.opaque(Some(context.place), reason::MAYBE_UNDEFINED);
        maybe.iter().for_each(|lane| out.values[lane] = word);
        context.report.maybe_undefined |= !valued.domain.chooses_undefined();
        tags.poison = tags.poison.without(maybe);
        tags.schedule_dependent = tags.schedule_dependent.or(maybe);
    }
    write(context, dst, &out, tags, context.lanes);
    true
}

/// Compares integers: first those that are a choice between two numbers (`selp` and then `setp`), then those of the
/// domain.
pub(super) fn int_compare(context: &mut Context<'_, '_>, op: &Op, dst: Reg) -> Result<bool, Gap> {
    let Op::IntCompare { relation, signed, width, a, b, .. } = op else { return Ok(false) };
    let (a, b) = (raw(context, *a), raw(context, *b));
    if a.1.unknown.or(b.1.unknown).and(context.lanes).is_empty() {
        return Ok(false);
    }
    arithmetic::execute(context, op)?;
    let mut out = Truths::NONE;
    let mut set = Mask::NONE;
    let mask = width.mask();
    let concrete =
        |x: u64, y: u64| concrete::int_compare(*relation, *signed, *width, x & mask, y & mask);
    for lane in context.registers.tags(dst).unknown.and(context.lanes).iter() {
        let Some(valued) = &mut context.valued else { break };
        let units = &valued.store.units;
        // The bits of a pointer are not those of its address.
        let is_number = [&a, &b].map(|operand| operand.1.is_number_in(Mask::one(lane)));
        let is_unknown = [&a, &b].map(|operand| operand.1.unknown.has(lane));
        let (choice, holds): (u32, [bool; 2]) = match (is_unknown, is_number) {
            ([true, _], [_, true]) => match bits_of_choice(units, a.0[lane], *width) {
                Some((condition, values)) => {
                    (condition, values.map(|value| concrete(value, b.0[lane])))
                }
                None => continue,
            },
            ([_, true], [true, _]) => match bits_of_choice(units, b.0[lane], *width) {
                Some((condition, values)) => {
                    (condition, values.map(|value| concrete(a.0[lane], value)))
                }
                None => continue,
            },
            _ => continue,
        };
        set = set.or(Mask(1 << lane));
        match holds {
            [true, false] => out.defer(lane, choice),
            [false, true] => {
                let mut opposite = [0; WARP];
                valued.domain.not(&[choice; WARP], Mask(1 << lane), &mut opposite);
                out.defer(lane, opposite[lane]);
            }
            [same, _] => out.decide(lane, same),
        }
    }
    let schedule_dependent = a.1.undetermined().or(b.1.undetermined()).and(set);
    let tags = if schedule_dependent.is_empty() { Tags::NUMBER } else { a.1.combine(b.1) };
    write(context, dst, &out, tags, set);
    compare_integers(context, (*relation, *signed, *width), dst, [&a, &b]);
    Ok(true)
}

/// Compares integers of the domain.
fn compare_integers(
    context: &mut Context<'_, '_>,
    (relation, signed, width): (Relation, bool, Width),
    dst: Reg,
    operands: [&(Lanes, Tags); 2],
) {
    let size = width.bytes() as usize;
    let opaque = Predicate::read(context, dst.into());
    let open = opaque.unknown().without(opaque.followed()).and(context.lanes);
    let mut values = [[0; WARP]; 2];
    let mut both = Mask::NONE;
    let mut ranged = Truths::NONE;
    for lane in open.iter() {
        let found = operands.map(|operand| bytes(context, operand, lane));
        let Some(valued) = &mut context.valued else { return };
        let numbers = found.map(|bytes| integer::number(valued, &bytes[..size], signed));
        if let [Some(a), Some(b)] = numbers {
            if let Some(holds) = settle_by_bounds(valued, relation, [a, b]) {
                ranged.decide(lane, holds);
                continue;
            }
            (values[0][lane], values[1][lane]) = (a, b);
            both = both.or(Mask(1 << lane));
        }
    }
    write(context, dst, &ranged, Tags::NUMBER, ranged.known);
    if let Some(valued) = &mut context.valued
        && !both.is_empty()
    {
        let mut out = Truths::NONE;
        valued.domain.compare(relation, values.each_ref(), both, &mut out);
        write(context, dst, &out, Tags::NUMBER, both);
    }
}

/// Decides a comparison of integers by their bounds.
fn settle_by_bounds(
    valued: &mut Valued<'_>,
    relation: Relation,
    [a, b]: [Value; 2],
) -> Option<bool> {
    let (a, b) = (valued.domain.bounds(a)?, valued.domain.bounds(b)?);
    a.settle(relation, b)
}

/// Returns the condition and the two numbers, if the words of an operand are a choice between numbers.
pub(super) fn bits_of_choice(units: &Units, words: u64, width: Width) -> Option<(u32, [u64; 2])> {
    let half = |word: u32| match units.get(word)? {
        Unit::Bits(bits) => Some((None, [u64::from(*bits); 2])),
        &Unit::Choice { condition, if_true, if_false } => {
            let number = |word: u32| match units.get(word)? {
                Unit::Bits(bits) => Some(u64::from(*bits)),
                _ => None,
            };
            Some((Some(condition), [number(if_true)?, number(if_false)?]))
        }
        _ => None,
    };
    let low = half(words as u32)?;
    let high = match width {
        Width::B64 => half((words >> 32) as u32)?,
        _ => (None, [0; 2]),
    };
    let condition = low.0.or(high.0)?;
    let same = [low.0, high.0].into_iter().flatten().all(|other| other == condition);
    let joined = |at: usize| low.1[at] | high.1[at] << 32;
    same.then(|| (condition, [joined(0), joined(1)]))
}
