//! Groups races that a reader counts as one: compilers unroll loops and copy code, so that one pair of source lines
//! shows at many pairs of instructions.

use crate::source_lines::outermost_line;
use exec::{AccessKind, Race, Undecided};
use ir::Program;

/// The features that the races of a group share.
#[derive(PartialEq)]
pub(crate) struct RaceKey<'f> {
    array: &'f str,
    sides: [(String, u8, bool); 2],
    between_blocks: bool,
    harmless: [bool; 2],
    non_coherent: bool,
    unseen: [bool; 2],
}

/// The first race of each group.
pub(crate) fn distinct<'f>(open: &'f [Undecided], program: &Program) -> Vec<&'f Undecided> {
    let mut found: Vec<(Option<RaceKey<'f>>, &Undecided)> = Vec::new();
    for one in open {
        let key = key(&one.race, program);
        if key.is_none() || found.iter().all(|(known, _)| *known != key) {
            found.push((key, one));
        }
    }
    found.into_iter().map(|(_, one)| one).collect()
}

/// The group of a race; `None` without source lines.
pub(crate) fn key<'f>(race: &'f Race, program: &Program) -> Option<RaceKey<'f>> {
    let [earlier, later] = &race.sides;
    let side = |side: &exec::RaceSide| {
        let (file, line) = outermost_line(side.place, program)?;
        let kind = match side.kind {
            AccessKind::Read => 0,
            AccessKind::Write => 1,
            AccessKind::Atomic => 2,
        };
        Some((format!("{file}:{line}"), kind, side.in_flight))
    };
    let mut sides = [side(earlier)?, side(later)?];
    sides.sort();
    Some(RaceKey {
        array: &race.target.name,
        sides,
        between_blocks: earlier.thread.block != later.thread.block,
        harmless: [race.same_value, race.unused],
        non_coherent: race.non_coherent,
        unseen: [race.unseen, race.unseen_map],
    })
}
