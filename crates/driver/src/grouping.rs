//! Groups findings that a reader counts as one: compilers unroll loops and load and store for one expression, so one
//! mistake shows at several instructions of one source line.

use crate::findings::{origin, target};
use crate::naming::source_line;
use crate::race_groups::{self, RaceKey};
use exec::{Fault, Finding, Race, Sink};
use ir::Program;
use std::mem::{Discriminant, discriminant};

/// Findings that are reported as one.
#[derive(Debug)]
pub(crate) struct Group<'f> {
    /// The one found first.
    pub(crate) first: &'f Finding,
    /// All of them, one for each instruction or pair of instructions.
    pub(crate) all: Vec<&'f Finding>,
}

impl Group<'_> {
    /// The number of occurrences.
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

/// The features that the findings of a group share.
#[derive(PartialEq)]
enum Key<'f> {
    Race(RaceKey<'f>),
    Other(OtherKey<'f>),
}

/// Findings of one kind, about one array, from one source line.
#[derive(PartialEq)]
struct OtherKey<'f> {
    fault: Discriminant<Fault>,
    array: Option<&'f str>,
    sink: Option<Sink>,
    line: String,
    origin: String,
}

/// Groups findings, in the order of their first finding. Without source lines every instruction is a group of its
/// own.
pub(crate) fn grouped<'f>(findings: &'f [Finding], program: &Program) -> Vec<Group<'f>> {
    let mut groups: Vec<(Option<Key<'f>>, Group<'f>)> = Vec::new();
    for finding in findings {
        let key = key(finding, program);
        let known = groups.iter_mut().find(|(other, _)| key.is_some() && *other == key);
        match known {
            Some((_, group)) => group.all.push(finding),
            None => groups.push((key, Group { first: finding, all: vec![finding] })),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

fn key<'f>(finding: &'f Finding, program: &Program) -> Option<Key<'f>> {
    let fault = &finding.fault;
    let sink = match fault {
        Fault::Race(race) => return race_groups::key(race, program).map(Key::Race),
        // Each has its own explanation.
        Fault::Barrier(_) | Fault::Mbarrier(_) | Fault::Deadlock { .. } => return None,
        Fault::Undefined { reaches, .. } => Some(*reaches),
        _ => None,
    };
    finding.place.location?;
    Some(Key::Other(OtherKey {
        fault: discriminant(fault),
        array: target(fault).map(|target| target.name.as_str()),
        sink,
        line: source_line(finding.place, program),
        origin: origin(fault).map_or_else(String::new, |(place, _)| source_line(place, program)),
    }))
}
