//! From a text to kernels: the CUDA C++ reader and the lowering behind it.
//!
//! Demands that are given apart from the text become clauses of every kernel that has the names they speak of.

use crate::Parsed;
use crate::{depth, read};
use base::{Diagnostic, Span};
use cuda::preprocess::{self, Preprocessed};
use cuda::syntax::ast::{Clause, Declaration, DeclarationKind, Unit};
use cuda::token::TokenKind;
use cuda::tree::Program;
use cuda::{sema, syntax};

type Result<T> = std::result::Result<T, Box<Diagnostic>>;

/// The kernels of a text.
pub(crate) fn kernels(text: &Preprocessed, depth: usize) -> Result<Vec<Parsed>> {
    Ok(lowered(&analysed(&syntax::parse(text)?, depth)?))
}

/// The same with demands, in which names are replaced; beside each kernel, whether it has the names that they speak of.
pub(crate) fn kernels_with(
    text: &Preprocessed,
    demands: &[String],
    names: &[(String, String)],
    depth: usize,
) -> Result<Vec<(Parsed, bool)>> {
    let plain = kernels(text, depth)?;
    if demands.is_empty() {
        return Ok(plain.into_iter().map(|one| (one, true)).collect());
    }
    let demanding = lowered(&analysed(&demanding(text, demands, names)?, depth)?);
    let both = plain.into_iter().zip(demanding);
    Ok(both
        .map(|(plain, with)| if with.1.is_ok() { (with, true) } else { (plain, false) })
        .collect())
}

/// The syntax tree with demands as clauses of its kernels.
fn demanding(read: &Preprocessed, demands: &[String], names: &[(String, String)]) -> Result<Unit> {
    let mut unit = syntax::parse(read)?;
    let clauses = |span: Span| clauses(demands, names, span);
    each(&mut unit.declarations, &clauses)?;
    Ok(unit)
}

fn each(
    declarations: &mut [Declaration],
    clauses: &dyn Fn(Span) -> Result<Vec<Clause>>,
) -> Result<()> {
    for declaration in declarations {
        match &mut declaration.kind {
            DeclarationKind::Function(function) if function.specifiers.is_global => {
                let name = function.name.parts.last().map(|part| part.name.span);
                function.clauses.extend(clauses(name.unwrap_or(declaration.span))?);
            }
            DeclarationKind::Namespace { declarations, .. } => each(declarations, clauses)?,
            _ => {}
        }
    }
    Ok(())
}

/// Demands as clauses that stand at a place.
fn clauses(demands: &[String], names: &[(String, String)], span: Span) -> Result<Vec<Clause>> {
    let text: String = demands.iter().map(|one| format!("//@ requires {one};\n")).collect();
    let mut tokens = preprocess::annotation(&text, span)?;
    for token in &mut tokens {
        if let TokenKind::Word(word) = &mut token.kind
            && let Some((_, new)) = names.iter().find(|(old, _)| **old == **word)
        {
            *word = new.as_str().into();
        }
    }
    syntax::clauses(&tokens)
}

fn analysed(unit: &Unit, depth: usize) -> Result<Program> {
    sema::analyse(unit, &sema::Options { longest_chain: depth })
}

/// Lowers the kernels of a program, each by itself.
pub(crate) fn lowered(program: &Program) -> Vec<Parsed> {
    let kernels = program.kernels.iter();
    let lowered = kernels.map(|entry| {
        let kernel = match &entry.function {
            Ok(function) => depth::limited(read::kernel(program, *function)),
            Err(refusal) => Err(refusal.clone()),
        };
        (entry.name.clone(), kernel)
    });
    lowered.collect()
}
