//! The cases, one file for each family, written as patterns.

mod compare;
mod convert;
mod data;
mod float;
mod fragments;
mod half;
mod integer;
mod list;
mod logic;
mod matrix;
mod memory;
mod warp;

use crate::case::Case;
use list::{CaseList, bits};

/// All possible cases, accepted by an assembler or not.
pub(crate) fn candidates() -> Vec<Case> {
    let mut list = CaseList { family: "", cases: Vec::new() };
    let families: &[(&'static str, Fill)] = &[
        ("integer", integer::fill),
        ("extended", integer::fill_extended),
        ("logic", logic::fill),
        ("float", float::fill),
        ("functions", float::fill_functions),
        ("half", half::fill),
        ("setp", compare::fill_setp),
        ("set", compare::fill_set),
        ("select", compare::fill_select),
        ("convert", convert::fill),
        ("convert_pair", convert::fill_pairs),
        ("data", data::fill),
        ("warp", warp::fill),
        ("matrix", matrix::fill),
        ("fragments", fragments::fill),
        ("atomic", memory::fill_atomics),
        ("memory", memory::fill),
    ];
    for &(family, fill) in families {
        list.family = family;
        fill(&mut list);
    }
    list.cases
}

/// A function that adds the cases of a family.
type Fill = fn(&mut CaseList);
