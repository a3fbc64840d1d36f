//! Syntax: recursive descent over tokens (ISO C++17 \[gram\], with CUDA's qualifiers).
//!
//! The parser tracks names of types, templates and namespaces by scope, because C++ cannot be parsed otherwise
//! (\[stmt.ambig\], \[temp.names\]). Host code is skipped by brackets; the names it declares are kept so that their
//! use is refused. Unsupported C++ in a device function is noted in that function, and the function is refused when
//! used.

pub mod ast;
mod attributes;
mod builtin;
mod clauses;
mod declarations;
mod declarators;
mod expressions;
mod functions;
mod items;
mod names;
mod operands;
mod parser;
mod pending;
mod records;
mod scopes;
mod specifiers;
mod specs;
mod statements;
mod templates;
#[cfg(test)]
mod tests;
mod types;

use crate::Result;
use crate::preprocess::Preprocessed;
use crate::token::Token;
use parser::Parser;

/// Parses a file.
///
/// # Errors
/// A syntax error outside of host code, or unsupported C++ at a place where nothing can be left out.
pub fn parse(text: &Preprocessed) -> Result<ast::Unit> {
    let mut parser = Parser::new(&text.tokens);
    let mut declarations = parser.declarations_until_end()?;
    move_contracts_to_kernels(&mut declarations);
    Ok(ast::Unit { declarations })
}

/// Moves the contract before a macro call to the kernel that the macro makes. The parser has given it to the first
/// function made by the macro. Everything that one macro call makes has the same place, and a macro that makes several
/// kernels is left alone.
fn move_contracts_to_kernels(declarations: &mut [ast::Declaration]) {
    use ast::DeclarationKind::{Function, Namespace};
    for at in 0..declarations.len() {
        let Some((first, rest)) =
            declarations.get_mut(at..).and_then(<[ast::Declaration]>::split_first_mut)
        else {
            continue;
        };
        let span = first.span;
        let helper = match &mut first.kind {
            Namespace { declarations, .. } => {
                move_contracts_to_kernels(declarations);
                continue;
            }
            Function(helper) if !helper.specifiers.is_global && !helper.clauses.is_empty() => {
                helper
            }
            _ => continue,
        };
        let made = rest.iter_mut().take_while(|one| one.span == span);
        let mut kernels = made.filter_map(|one| match &mut one.kind {
            Function(kernel) if kernel.specifiers.is_global && kernel.clauses.is_empty() => {
                Some(kernel)
            }
            _ => None,
        });
        if let (Some(kernel), None) = (kernels.next(), kernels.next()) {
            kernel.clauses = std::mem::take(&mut helper.clauses);
        }
    }
}

/// Parses stand-alone annotations, such as conditions of the command line.
///
/// # Errors
/// The tokens are not clauses.
pub fn clauses(tokens: &[Token]) -> Result<Vec<ast::Clause>> {
    let mut parser = Parser::new(tokens);
    let clauses = parser.clauses_if_any()?;
    if parser.is_end() {
        Ok(clauses)
    } else {
        Err(parser.error("expected the end of the condition"))
    }
}
