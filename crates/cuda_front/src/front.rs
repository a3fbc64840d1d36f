//! From a text to kernels: the CUDA C++ reader, then lowering.
//!
//! Launch preconditions may be given separately from the text; they become clauses of every kernel that declares the
//! names they use. A whole contract may be given, too; its clauses are those of one kernel.

use crate::read;
use crate::{ExternalClauses, Parsed, Place};
use base::{Diagnostic, Span};
use cuda::preprocess::{self, Preprocessed};
use cuda::syntax::ast::{Clause, Declaration, DeclarationKind, Unit};
use cuda::token::TokenKind;
use cuda::tree::Program;
use cuda::{sema, syntax};
use kir::depth;

type Result<T> = std::result::Result<T, Box<Diagnostic>>;

/// Reads and lowers the kernels of a text, with expressions up to this depth.
pub(crate) fn kernels(text: &Preprocessed, depth: usize) -> Result<Vec<Parsed>> {
    Ok(lower(&analyse(&syntax::parse(text)?, depth)?))
}

/// Like [`kernels`], with launch preconditions (`preconditions`), in which `names` are replaced. The flag is `false`
/// for a kernel that lacks a name they use; it gets none of them.
pub(crate) fn kernels_with(
    text: &Preprocessed,
    preconditions: &[String],
    names: &[(String, String)],
    depth: usize,
) -> Result<Vec<(Parsed, bool)>> {
    let plain = kernels(text, depth)?;
    if preconditions.is_empty() {
        return Ok(plain.into_iter().map(|one| (one, true)).collect());
    }
    let demanding = lower(&analyse(&with_preconditions(text, preconditions, names)?, depth)?);
    let both = plain.into_iter().zip(demanding);
    Ok(both
        .map(|(plain, with)| if with.1.is_ok() { (with, true) } else { (plain, false) })
        .collect())
}

/// Parses a text and adds preconditions to its kernels, as clauses.
fn with_preconditions(
    read: &Preprocessed,
    preconditions: &[String],
    names: &[(String, String)],
) -> Result<Unit> {
    let mut unit = syntax::parse(read)?;
    let clauses = |span: Span| clauses(preconditions, names, span);
    add_to_kernels(&mut unit.declarations, &clauses)?;
    Ok(unit)
}

/// Adds clauses to every kernel; `clauses` makes them for a place.
fn add_to_kernels(
    declarations: &mut [Declaration],
    clauses: &dyn Fn(Span) -> Result<Vec<Clause>>,
) -> Result<()> {
    for declaration in declarations {
        match &mut declaration.kind {
            DeclarationKind::Function(function) if function.specifiers.is_global => {
                let name = function.name.parts.last().map(|part| part.name.span);
                function.clauses.extend(clauses(name.unwrap_or(declaration.span))?);
            }
            DeclarationKind::Namespace { declarations, .. } => {
                add_to_kernels(declarations, clauses)?
            }
            _ => {}
        }
    }
    Ok(())
}

/// Reads preconditions as clauses, at a place in the text.
fn clauses(
    preconditions: &[String],
    names: &[(String, String)],
    span: Span,
) -> Result<Vec<Clause>> {
    let text: String = preconditions.iter().map(|one| format!("//@ requires {one};\n")).collect();
    let mut tokens = preprocess::annotation_tokens(&text, |_| span)?;
    for token in &mut tokens {
        if let TokenKind::Word(word) = &mut token.kind
            && let Some((_, new)) = names.iter().find(|(old, _)| **old == **word)
        {
            *word = new.as_str().into();
        }
    }
    syntax::clauses(&tokens)
}

/// The kernels of a text, one of which has additional clauses.
pub(crate) fn kernels_with_clauses(
    text: &Preprocessed,
    kernel: &str,
    contract: &[ExternalClauses],
    depth: usize,
) -> Result<Vec<Parsed>> {
    let mut unit = syntax::parse(text)?;
    let mut clauses = Vec::new();
    for ExternalClauses { text, place } in contract {
        let placed = |span: Span| match place {
            Place::From(start) => Span::new(start + span.start, start + span.end),
            Place::Of(span) => *span,
        };
        clauses.extend(syntax::clauses(&preprocess::annotation_tokens(text, placed)?)?);
    }
    add_to_kernel(&mut unit.declarations, kernel, &clauses);
    Ok(lower(&analyse(&unit, depth)?))
}

/// Adds clauses to the kernels of a name.
fn add_to_kernel(declarations: &mut [Declaration], kernel: &str, clauses: &[Clause]) {
    for declaration in declarations {
        match &mut declaration.kind {
            DeclarationKind::Function(function)
                if function.specifiers.is_global
                    && function.body.is_some()
                    && function
                        .name
                        .parts
                        .last()
                        .is_some_and(|part| *part.name.text == *kernel) =>
            {
                function.clauses.extend(clauses.iter().cloned());
            }
            DeclarationKind::Namespace { declarations, .. } => {
                add_to_kernel(declarations, kernel, clauses);
            }
            _ => {}
        }
    }
}

fn analyse(unit: &Unit, depth: usize) -> Result<Program> {
    sema::analyse(unit, &sema::Options { longest_chain: depth })
}

/// Lowers the kernels of a program one by one.
pub(crate) fn lower(program: &Program) -> Vec<Parsed> {
    let kernels = program.kernels.iter();
    let lowered = kernels.map(|entry| {
        let kernel = match &entry.function {
            Ok(function) => depth::refuse_deep(read::kernel(program, *function)),
            Err(refusal) => Err(refusal.clone()),
        };
        (entry.name.clone(), kernel)
    });
    lowered.collect()
}
