//! A case as the engines see it.

use crate::case::Case;
use crate::kernel;
use ir::{FuncId, Program, Reg};

/// The core program of a case, and where its operands are.
#[derive(Debug)]
pub struct Lowered {
    /// The program, whose only kernel executes the instruction and returns.
    pub program: Program,
    /// That kernel.
    pub function: FuncId,
    /// The registers of [`Case::inputs`]; `None` for what is in the cell beforehand.
    pub inputs: Vec<Option<Reg>>,
    /// The registers of [`Case::outputs`]; `None` for what is in the cell afterwards.
    pub outputs: Vec<Option<Reg>>,
    /// The register with the address of the cell, if there is one.
    pub cell: Option<Reg>,
}

/// Lowers the instruction of a case.
///
/// # Errors
///
/// If the front end refuses it; the text says why.
pub fn lower(case: &Case) -> Result<Lowered, String> {
    let program = program(&kernel::bare_module(case))?;
    let kernel = program.functions.enumerate().find(|(_, function)| function.is_kernel);
    let (function, kernel) = kernel.ok_or("there is no kernel")?;
    let find = |name: &str| {
        let found = kernel.registers.enumerate().find(|(_, register)| register.name == name);
        found.map(|(id, _)| id).ok_or_else(|| format!("the register {name} is lost"))
    };
    // What is stored to and loaded from the cell is no register of the instruction.
    let operand = |name: &str| match name.starts_with("%before") || name.starts_with("%after") {
        true => Ok(None),
        false => find(name).map(Some),
    };
    let inputs = case.inputs.iter().map(|input| operand(&input.name)).collect::<Result<_, _>>()?;
    let outputs =
        case.outputs.iter().map(|output| operand(&output.name)).collect::<Result<_, _>>()?;
    let cell = case.cell.map(|_| find("%cell")).transpose()?;
    Ok(Lowered { program, function, inputs, outputs, cell })
}

/// The program of a PTX text.
///
/// # Errors
///
/// If the front end has anything to say about it.
pub fn program(text: &str) -> Result<Program, String> {
    let parsed = ptx::syntax::parse(text);
    if let Some(error) = parsed.errors.first() {
        return Err(error.message.to_string());
    }
    let lowered = ptx::lower(&parsed.module);
    match lowered.diagnostics.first() {
        Some(diagnostic) => Err(diagnostic.message.to_string()),
        None => Ok(lowered.program),
    }
}
