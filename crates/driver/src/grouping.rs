//! Findings that are one to a reader: compilers unroll loops and load and store for one expression, so
//! that one mistake shows at several instructions of one source line.

use crate::findings::{origin, source_line, target};
use exec::{Fault, Finding, Sink};
use ir::Program;
use std::mem::{Discriminant, discriminant};

/// Findings of one kind, about one array, from one source line.
#[derive(Debug)]
pub(crate) struct Group<'f> {
    /// The one met first.
    pub(crate) first: &'f Finding,
    /// How often it happened at all of them.
    pub(crate) count: u64,
    /// How many instructions there are.
    pub(crate) instructions: usize,
}

/// What findings have in common that are one to a reader.
#[derive(PartialEq)]
struct Key<'f> {
    fault: Discriminant<Fault>,
    array: Option<&'f str>,
    sink: Option<Sink>,
    line: String,
    origin: String,
    is_note: bool,
}

/// Groups findings; groups are in the order of their first finding. Without source lines every
/// instruction stands for itself.
pub(crate) fn grouped<'f>(findings: &'f [Finding], program: &Program) -> Vec<Group<'f>> {
    let mut groups: Vec<(Option<Key<'f>>, Group<'f>)> = Vec::new();
    for finding in findings {
        let key = finding.place.location.is_some().then(|| key(finding, program));
        let known = groups.iter_mut().find(|(other, _)| key.is_some() && *other == key);
        match known {
            Some((_, group)) => {
                group.count += finding.count;
                group.instructions += 1;
            }
            None => {
                let group = Group { first: finding, count: finding.count, instructions: 1 };
                groups.push((key, group));
            }
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

fn key<'f>(finding: &'f Finding, program: &Program) -> Key<'f> {
    let fault = &finding.fault;
    let sink = match fault {
        Fault::Undefined { reaches, .. } => Some(*reaches),
        _ => None,
    };
    Key {
        fault: discriminant(fault),
        array: target(fault).map(|target| target.name.as_str()),
        sink,
        line: source_line(finding.place, program),
        origin: match fault {
            Fault::Race(race) => source_line(race.sides[0].place, program),
            _ => origin(fault).map_or_else(String::new, |(place, _)| source_line(place, program)),
        },
        is_note: fault.is_note(),
    }
}
