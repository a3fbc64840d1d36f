//! Writes the PTX around a case: thread `i` loads vector `i`, executes the instruction and stores the outputs.

use crate::case::{Case, Register, Space};
use std::fmt::Write;

/// The oldest version of PTX that has all instructions, so that older drivers accept it.
pub const VERSION: &str = "8.7";
/// The oldest target that has all instructions.
pub const TARGET: &str = "sm_90";
/// Bytes of memory for each thread of a case that has a cell.
pub const CELL_BYTES: usize = 16;

/// The start of a module.
#[must_use]
pub fn header() -> String {
    format!(".version {VERSION}\n.target {TARGET}\n.address_size 64\n")
}

/// A module with nothing but the instruction of the case, in a kernel `example` that declares its registers.
/// A cell is in `.global` or `.shared` memory, with its address in the register `%cell`.
#[must_use]
pub fn bare_module(case: &Case) -> String {
    let mut text = header();
    text += ".entry example() {\n";
    declare(&mut text, case);
    line(&mut text, &case.text);
    text += "ret;\n}\n";
    text
}

/// A module with only the kernel of [`kernel`].
#[must_use]
pub fn module(case: &Case, name: &str) -> String {
    header() + &kernel(case, name)
}

/// The recorded kernel, `name(inputs, outputs)`. Both buffers hold one array for each register
/// ([`Case::input_bytes`], [`Case::split_outputs`]). A case with a cell in global memory finds it after the
/// outputs, [`CELL_BYTES`] for each thread.
#[must_use]
pub fn kernel(case: &Case, name: &str) -> String {
    let parameters = ".param .u64 inputs, .param .u64 outputs";
    let mut text = format!(".entry {name}({parameters}) .reqntid {}, 1, 1 {{\n", case.vectors);
    declare(&mut text, case);
    text += ".reg .b32 %index; .reg .b64 %from, %to, %place; .reg .b16 %truth;\n";
    let shared = case.cell.is_some_and(|cell| cell.space == Space::Shared);
    if shared {
        let bytes = CELL_BYTES * case.vectors;
        line(&mut text, &format!(".shared .align 16 .b8 cells[{bytes}];"));
    }
    text += "mov.u32 %index, %tid.x;\n";
    text += "ld.param.u64 %from, [inputs];\nld.param.u64 %to, [outputs];\n";
    text += "cvta.to.global.u64 %from, %from;\ncvta.to.global.u64 %to, %to;\n";
    let inputs = case.inputs.iter().map(|input| (input.name.as_str(), input.register));
    each(&mut text, case.vectors, inputs, "%from", load);
    if case.cell.is_some() {
        locate_cell(&mut text, case, shared);
        access_cell(&mut text, case, "before");
    }
    line(&mut text, &case.text);
    if case.cell.is_some() {
        access_cell(&mut text, case, "after");
    }
    let outputs = case.outputs.iter().map(|output| (output.name.as_str(), output.register));
    each(&mut text, case.vectors, outputs, "%to", store);
    text += "ret;\n}\n";
    text
}

fn line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

fn declare(text: &mut String, case: &Case) {
    let inputs = case.inputs.iter().map(|input| (&input.name, input.register));
    let outputs = case.outputs.iter().map(|output| (&output.name, output.register));
    for (name, register) in inputs.chain(outputs) {
        line(text, &format!(".reg .{} {name};", register.type_name()));
    }
    if let Some(cell) = case.cell {
        let width = if cell.space == Space::Shared { "b32" } else { "b64" };
        line(text, &format!(".reg .{width} %cell;"));
    }
}

/// Accesses the arrays of a buffer, one for each register. `%place` is `%index` elements after the start of the buffer;
/// the offset of an array is added as a constant. So successive registers of one width share `%place`.
fn each<'a>(
    text: &mut String,
    vectors: usize,
    registers: impl Iterator<Item = (&'a str, Register)>,
    base: &str,
    access: fn(&mut String, &str, Register, &str),
) {
    let mut offset = 0;
    let mut placed = 0;
    for (name, register) in registers {
        let bytes = register.bytes();
        if placed != bytes {
            line(text, &format!("mad.wide.u32 %place, %index, {bytes}, {base};"));
            placed = bytes;
        }
        access(text, name, register, &format!("[%place+{offset}]"));
        offset += bytes * vectors;
    }
}

fn load(text: &mut String, name: &str, register: Register, place: &str) {
    let result = match register {
        Register::Predicate => {
            write!(text, "ld.global.u8 %truth, {place};\nsetp.ne.b16 {name}, %truth, 0;\n")
        }
        _ => writeln!(text, "ld.global.{} {name}, {place};", register.type_name()),
    };
    debug_assert!(result.is_ok(), "writing to a string cannot fail");
}

fn store(text: &mut String, name: &str, register: Register, place: &str) {
    let result = match register {
        Register::Predicate => {
            write!(text, "selp.b16 %truth, 1, 0, {name};\nst.global.u8 {place}, %truth;\n")
        }
        _ => writeln!(text, "st.global.{} {place}, {name};", register.type_name()),
    };
    debug_assert!(result.is_ok(), "writing to a string cannot fail");
}

fn locate_cell(text: &mut String, case: &Case, shared: bool) {
    if shared {
        text.push_str("mov.b32 %cell, cells;\n");
        line(text, &format!("mad.lo.u32 %cell, %index, {CELL_BYTES}, %cell;"));
    } else {
        // Output arrays have a multiple of 32 elements, so the memory after them is aligned.
        line(text, &format!("mad.wide.u32 %cell, %index, {CELL_BYTES}, %to;"));
        line(text, &format!("add.u64 %cell, %cell, {};", case.output_length()));
    }
}

/// Fills the cell from the inputs `%before…`, or reads the outputs `%after…` from it.
fn access_cell(text: &mut String, case: &Case, role: &str) {
    let space = match case.cell.map(|cell| cell.space) {
        Some(Space::Shared) => "shared",
        _ => "global",
    };
    let mut offset = 0;
    let is_part = |name: &str| name.strip_prefix('%').is_some_and(|name| name.starts_with(role));
    let inputs = case.inputs.iter().map(|input| (&input.name, input.register));
    let outputs = case.outputs.iter().map(|output| (&output.name, output.register));
    for (name, register) in inputs.chain(outputs).filter(|(name, _)| is_part(name)) {
        let ty = register.type_name();
        match role {
            "before" => line(text, &format!("st.{space}.{ty} [%cell+{offset}], {name};")),
            _ => line(text, &format!("ld.{space}.{ty} {name}, [%cell+{offset}];")),
        }
        offset += register.bytes();
    }
}
