//! Races that are one to a reader: compilers unroll loops and copy code, so that one pair of source
//! lines shows at many pairs of instructions.

use crate::source_lines::outermost_line;
use exec::{AccessKind, Fault, Finding, Race, Undecided};
use ir::Program;

/// Findings that are told as one.
#[derive(Debug)]
pub(crate) struct Group<'f> {
    /// The one met first.
    pub(crate) first: &'f Finding,
    /// All of them.
    pub(crate) all: Vec<&'f Finding>,
}

impl Group<'_> {
    /// How often it happened.
    pub(crate) fn count(&self) -> u64 {
        self.all.iter().map(|finding| finding.count).sum()
    }

    /// The races in it.
    pub(crate) fn races(&self) -> impl Iterator<Item = &Race> {
        self.all.iter().filter_map(|finding| match &finding.fault {
            Fault::Race(race) => Some(&**race),
            _ => None,
        })
    }
}

/// What races have in common that are one to a reader.
#[derive(PartialEq)]
struct Key<'f> {
    array: &'f str,
    sides: [(String, u8, bool); 2],
    between_blocks: bool,
    same_value: bool,
    non_coherent: bool,
}

/// Groups races by their source lines, whichever was executed first; everything else stands for
/// itself. Groups are in the order of their first finding.
pub(crate) fn grouped<'f>(findings: &'f [Finding], program: &Program) -> Vec<Group<'f>> {
    let mut groups: Vec<(Option<Key<'f>>, Group<'f>)> = Vec::new();
    for finding in findings {
        let key = match &finding.fault {
            Fault::Race(race) => key(race, program),
            _ => None,
        };
        let known = groups.iter_mut().find(|(other, _)| key.is_some() && *other == key);
        match known {
            Some((_, group)) => group.all.push(finding),
            None => groups.push((key, Group { first: finding, all: vec![finding] })),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// The first of the pairs that are one to a reader.
pub(crate) fn distinct<'f>(open: &'f [Undecided], program: &Program) -> Vec<&'f Undecided> {
    let mut found: Vec<(Option<Key<'f>>, &Undecided)> = Vec::new();
    for one in open {
        let key = key(&one.race, program);
        if key.is_none() || found.iter().all(|(known, _)| *known != key) {
            found.push((key, one));
        }
    }
    found.into_iter().map(|(_, one)| one).collect()
}

fn key<'f>(race: &'f Race, program: &Program) -> Option<Key<'f>> {
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
    Some(Key {
        array: &race.target.name,
        sides,
        between_blocks: earlier.thread.block != later.thread.block,
        same_value: race.same_value,
        non_coherent: race.non_coherent,
    })
}
