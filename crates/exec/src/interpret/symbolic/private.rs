//! Local memory of lanes after a branch: bytes that differ become choices, like registers ([`super::merge`]).

use super::select::choice;
use crate::address::Area;
use crate::context::Context;
use crate::interpret::access::write_element;
use crate::lanes::WARP;
use crate::memory::{Allocation, Word};
use crate::path::Path;
use crate::value::bytes::{Bytes, ZERO};
use crate::value::unit::Byte;
use crate::value::{Valued, reason};

/// Bytes compared at once: most of a large variable is the same on both paths.
const CHUNK: usize = 256;

/// Makes a local variable a choice between its contents on one path and the present ones.
pub(crate) fn merge_local(
    context: &mut Context<'_, '_>,
    path: &Path,
    number: usize,
    with: &Allocation,
) {
    let size = with.bytes.len() / WARP;
    for lane in path.lanes.iter() {
        for start in (lane * size..(lane + 1) * size).step_by(CHUNK) {
            let (mut at, end) = (start, (start + CHUNK).min((lane + 1) * size));
            let memory = context.warp.local(context.machine, number);
            // If the memory of a lane is not a multiple of four bytes, neighbours share its units.
            let same = memory.bytes[at..end] == with.bytes[at..end]
                && memory.states[at..end] == with.states[at..end]
                && size.is_multiple_of(4);
            while !same && at < end {
                at += merge_piece(context, (path, lane), number, with, (at, end));
            }
        }
    }
}

/// Like [`merge_local`], for a few bytes; returns their number.
fn merge_piece(
    context: &mut Context<'_, '_>,
    (path, lane): (&Path, usize),
    number: usize,
    with: &Allocation,
    (at, end): (usize, usize),
) -> usize {
    let available = (8 - at % 8).min(end - at);
    let Some(valued) = &mut context.valued else { return available };
    let memory = context.warp.local(context.machine, number);
    let [new, old] = [with, &*memory].map(|one| bytes(valued, one, (at, available)));
    let is_wide =
        |bytes: &Bytes| matches!(bytes[0], Byte::Of { sort, index: 0, .. } if sort.bytes() == 8);
    let size = match available == 8 && (is_wide(&new) || is_wide(&old)) {
        true => 8,
        false => (4 - at % 4).min(end - at),
    };
    let words = [with, &*memory].map(|one| one.word(at, size));
    if new[..size] == old[..size] && words[0] == words[1] {
        return size;
    }
    let unclear = |word: Word| matches!(word, Word::ScheduleDependent | Word::Pointer);
    let undefined = !valued.domain.chooses_undefined() && words.contains(&Word::Poison);
    let target = (Area::Local(number), lane);
    if undefined || words.into_iter().any(unclear) {
        context.report.maybe_undefined |= undefined;
        let word = valued.store.units.opaque(Some(context.place), reason::MAYBE_UNDEFINED);
        let opaque = u64::from(word) | u64::from(word) << 32;
        write_element(context, target, at, size, (opaque, Word::ScheduleDependent));
        return size;
    }
    let [mut a, mut b]: [Bytes; 2] = path.ordered(new, old);
    [&mut a, &mut b].into_iter().for_each(|bytes| bytes[size..].fill(Byte::Known(0)));
    let chosen = choice(valued, path.words[lane], (&a, &b), size);
    write_element(context, target, at, size, (chosen, Word::Unknown));
    size
}

fn bytes(valued: &mut Valued<'_>, memory: &Allocation, (at, count): (usize, usize)) -> Bytes {
    let mut found = ZERO;
    (0..count).for_each(|index| found[index] = valued.store.byte(memory, at + index));
    found
}
