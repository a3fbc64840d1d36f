//! Prints the contract of a kernel: macros, sizes of arrays, allowed launches, the computed result.

use super::expr::{Language, Printer};
use crate::expr::{Access, Cond, Val};
use crate::nest::{Axis, Kernel, Space, VarKind};
use std::fmt::Write;

/// The result of a kernel: for all points of a box that satisfy the guard, `target` holds `value`.
#[derive(Clone, Copy, Debug)]
pub struct Claim<'a> {
    /// The box.
    pub axes: &'a [Axis],
    /// The condition on its points.
    pub guard: &'a Cond,
    /// The element.
    pub target: &'a Access,
    /// Its value.
    pub value: &'a Val,
}

pub(super) fn header(kernel: &Kernel, claim: Option<&Claim<'_>>) -> String {
    let printer = Printer::new(kernel, Language::Contract);
    let mut text = String::new();
    for var in kernel.vars.of_kind(VarKind::Macro) {
        let name = kernel.vars.name(var);
        let _ = writeln!(text, "//@ symbolic {name};\n#define {name} 4");
    }
    let _ = writeln!(text, "//@ extent {};", extents(kernel, &printer));
    for line in lines_of_conditions(&kernel.requires) {
        let conds: Vec<String> = line.iter().map(|cond| printer.conjunct(cond)).collect();
        let _ = writeln!(text, "//@ requires {};", conds.join(" && "));
    }
    if let Some(claim) = claim {
        let _ = writeln!(text, "//@ ensures {};", ensures(kernel, &printer, claim));
    }
    text
}

fn extents(kernel: &Kernel, printer: &Printer<'_>) -> String {
    let mut parts = Vec::new();
    for array in &kernel.arrays {
        if array.space != Space::Static {
            let extent = crate::expr::Int::product(&array.shape);
            parts.push(format!("{}[{}]", array.name, printer.int(&extent)));
        }
    }
    parts.join(", ")
}

/// Splits conditions into lines of up to four.
fn lines_of_conditions(conds: &[Cond]) -> impl Iterator<Item = &[Cond]> {
    conds.chunks(4)
}

fn ensures(kernel: &Kernel, printer: &Printer<'_>, claim: &Claim<'_>) -> String {
    let names: Vec<&str> = claim.axes.iter().map(|axis| kernel.vars.name(axis.var)).collect();
    let mut conds: Vec<String> = claim
        .axes
        .iter()
        .map(|axis| format!("0 <= {} < {}", kernel.vars.name(axis.var), printer.int(&axis.extent)))
        .collect();
    if !claim.guard.is_true() {
        conds.push(printer.conjunct(claim.guard));
    }
    let (target, value) = (printer.access(claim.target), printer.val(claim.value));
    let value = if matches!(claim.value, Val::Select(..)) { format!("({value})") } else { value };
    format!("\\forall int {}; {} ==> {target} == {value}", names.join(", "), conds.join(" && "))
}
