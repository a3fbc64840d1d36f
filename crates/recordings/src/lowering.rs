//! Lowers cases to core programs, which the engines execute.

use crate::case::Case;
use crate::kernel;
use ir::{FuncId, Program, Reg};

/// The core program of a case, with its operands.
#[derive(Debug)]
pub struct Lowered {
    /// The program, whose only kernel executes the instruction and returns.
    pub program: Program,
    /// Its kernel.
    pub function: FuncId,
    /// The registers of [`Case::inputs`]; `None` for inputs stored in the cell.
    pub inputs: Vec<Option<Reg>>,
    /// The registers of [`Case::outputs`]; `None` for outputs loaded from the cell.
    pub outputs: Vec<Option<Reg>>,
    /// The register with the address of the cell, if any.
    pub cell: Option<Reg>,
}

/// Lowers the instruction of a case.
///
/// # Errors
///
/// If the front end rejects it, with the reason.
pub fn lower(case: &Case) -> Result<Lowered, String> {
    let program = program(&kernel::bare_module(case))?;
    let kernel = program.functions.enumerate().find(|(_, function)| function.is_kernel);
    let (function, kernel) = kernel.ok_or("there is no kernel")?;
    let find = |name: &str| {
        let found = kernel.registers.enumerate().find(|(_, register)| register.name == name);
        found.map(|(id, _)| id).ok_or_else(|| format!("the register {name} is lost"))
    };
    // Data in the cell has no register of the instruction.
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

/// Lowers a PTX text.
///
/// # Errors
///
/// If the front end reports any diagnostic.
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
