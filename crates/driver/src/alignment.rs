//! Reports the dependence of an answer on the alignment of arrays: assumptions about their places, and open
//! questions.
//!
//! PTX promises the alignment that an array declares. An access to a shared array may need more. The answer then
//! relies on arrays being packed (the header of `exec/src/packing.rs` has the argument), or on the places that an H200
//! gives them; this is assumed and listed. Any other case is open, and the reason names a declaration that settles it.

use crate::demangle::demangle;
use crate::execute::FinishedRun;
use exec::{AlignmentAssumption, Placement};
use std::collections::BTreeMap;

/// The number of arrays that are listed; the others are counted.
const SHOWN: usize = 3;

/// Accesses to one array, by its name and the alignment they need.
type Arrays<'p> = BTreeMap<(&'p str, u32), Vec<&'p Placement>>;

/// The assumptions about places of shared arrays.
pub(crate) fn assumed(finished: &FinishedRun<'_>) -> impl Iterator<Item = String> {
    let packed = described(finished, AlignmentAssumption::InEveryPacking).map(|(largest, each)| {
        format!(
            "shared arrays are contiguous from a multiple of {largest} bytes on, in any order, with gaps \
            only for alignment ({each})"
        )
    });
    let placed = described(finished, AlignmentAssumption::AsPlaced).map(|(largest, each)| {
        format!(
            "static shared variables are laid out in declaration order from a multiple of {largest} bytes \
            on, the kernel's own first ({each})"
        )
    });
    let dynamic =
        described(finished, AlignmentAssumption::AtDynamicStart).map(|(largest, each)| {
            format!("dynamic shared memory begins at a multiple of {largest} bytes ({each})")
        });
    packed.into_iter().chain(placed).chain(dynamic)
}

/// The arrays that are aligned under an assumption: the largest alignment needed, and a description of each.
fn described(finished: &FinishedRun<'_>, assumption: AlignmentAssumption) -> Option<(u32, String)> {
    let packed = arrays(finished, assumption);
    let largest = packed.keys().map(|(_, needed)| *needed).max()?;
    let each = packed.iter().map(|((name, needed), all)| {
        let (name, line) = (short_name(name), finished.kernel().line(all[0].place));
        let declared = all[0].declared;
        format!(
            "`{name}`, which declares {declared}, is accessed {needed} bytes at a time at {line}"
        )
    });
    Some((largest, first_few(each.collect())))
}

/// The reasons why alignment is open.
pub(crate) fn open(finished: &FinishedRun<'_>) -> Vec<String> {
    let open = arrays(finished, AlignmentAssumption::Open);
    let mut reasons: Vec<String> =
        open.into_values().map(|accesses| reason(finished, &accesses)).collect();
    if reasons.len() > SHOWN {
        let rest = reasons.len() - SHOWN;
        reasons.truncate(SHOWN);
        reasons.push(format!("and {rest} more arrays"));
    }
    reasons
}

fn reason(finished: &FinishedRun<'_>, accesses: &[&Placement]) -> String {
    let Placement { place, name, space, declared, needed, .. } = accesses[0];
    let (line, shown) = (finished.kernel().line(*place), short_name(name));
    let more = match accesses.len() {
        1 => String::new(),
        count => format!(" and {} more places", count - 1),
    };
    let (program, kernel) = (finished.program(), finished.built.launch.kernel);
    let other = (*space == ir::Space::Shared)
        .then(|| exec::misaligning_array(program, kernel, name, *needed))
        .flatten();
    let why = other.map_or_else(String::new, |other| {
        let (name, size) = (short_name(&other.name), other.size.unwrap_or(0));
        format!(", and `{name}` of {size} bytes may lie before it")
    });
    format!(
        "`{shown}` is accessed {needed} bytes at a time at {line}{more} and declares an alignment of \
         {declared}{why}; `__align__({needed})` on its declaration would settle it"
    )
}

/// The accesses that are aligned under an assumption, by array.
fn arrays<'f>(finished: &'f FinishedRun<'_>, assumption: AlignmentAssumption) -> Arrays<'f> {
    let mut arrays = Arrays::new();
    let placements = finished.result.alignments.iter();
    for placement in placements.filter(|placement| placement.assumption == assumption) {
        arrays.entry((&placement.name, placement.needed)).or_default().push(placement);
    }
    arrays
}

/// The name of an array in the source, without the function around it.
fn short_name(name: &str) -> String {
    let readable = demangle(name).unwrap_or_else(|| name.to_owned());
    match readable.rsplit_once("::") {
        Some((_, own)) if !own.contains(['(', ')', '<', '>']) => own.to_owned(),
        _ => readable,
    }
}

/// Lists the first of several descriptions, and counts the others.
fn first_few(mut all: Vec<String>) -> String {
    if all.len() > SHOWN {
        let rest = all.len() - SHOWN;
        all.truncate(SHOWN);
        all.push(format!("and {rest} more"));
    }
    all.join("; ")
}
