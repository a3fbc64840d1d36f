//! Semantic analysis: from the syntax tree to the typed tree (ISO C++17 \[basic.lookup\], \[conv\], \[expr\], \[over\],
//! \[temp\]).
//!
//! Declarations are entered in the order of the file. Bodies are read later from a queue, one for each function that
//! a kernel reaches, and each sees only the declarations before it. An instance of a template is its syntax read
//! again in a scope that binds the parameters. An error in a function is kept with it and concerns the kernels that
//! reach it.
//!
//! It errs towards refusal: a construct without a rule here is unsupported.

mod analyser;
mod body;
mod builtins;
mod call;
mod cast;
mod class;
mod clauses;
mod constant;
mod convert;
mod copies;
mod declarations;
mod declare;
mod deduce;
mod enums;
mod evaluate;
mod evaluate_numbers;
mod expr;
mod function_pointer;
mod gpuverify;
mod gpuverify_functions;
mod init;
mod instance;
mod kernels;
mod layout;
mod lookup;
mod names;
mod operand;
mod operators;
mod ordering;
mod overload;
mod pending;
mod resolve_type;
mod scope;
mod sequence;
mod spec;
mod spec_call;
mod stmt;
mod switch;
#[cfg(test)]
mod template_tests;
mod template_text;
#[cfg(test)]
mod tests;
mod types;
mod user_operators;
mod variables;
#[cfg(test)]
mod word_tests;

use crate::Result;
use crate::syntax::ast;
use crate::tree::{Program, Record, Type};
use analyser::Analyser;
use base::Span;
use scope::Entity;
use types::QType;

/// Options for reading a file.
#[derive(Clone, Debug)]
pub struct Options {
    /// The longest chain of operators of one level, as in a long sum. Code that walks such a tree needs a stack for
    /// it.
    pub longest_chain: usize,
}

impl Default for Options {
    /// Options for the default stack size of threads.
    fn default() -> Self {
        Self { longest_chain: 400 }
    }
}

/// Analyses a file.
///
/// # Errors
///
/// Errors that concern the whole file; those of single kernels are in their entries.
pub fn analyse(unit: &ast::Unit, options: &Options) -> Result<Program> {
    let prelude = prelude()?;
    let mut analyser = Analyser::new(options.longest_chain);
    analyser.declare_all(&prelude.declarations)?;
    analyser.prelude_declared();
    analyser.declare_all(&unit.declarations)?;
    analyser.read_kernels()?;
    Ok(analyser.finish())
}

/// Declarations of headers that are visible in every text. Their spans are empty: they are not in the user's text.
fn prelude() -> Result<ast::Unit> {
    let options = crate::preprocess::Options::default();
    let mut text = crate::preprocess::preprocess(&options, include_str!("prelude.cuh"))?;
    for token in &mut text.tokens {
        token.span = Span::default();
    }
    crate::syntax::parse(&text)
}

impl Analyser<'_> {
    /// Declarations that the prelude cannot express in C++: the namespace of header names, and the sizes of generator
    /// states (`curand_kernel.h`).
    fn prelude_declared(&mut self) {
        let found = self.names_in(self.global, "__cuda");
        let Some(Entity::Namespace(headers)) = found.first() else { return };
        let headers = *headers;
        self.headers = Some(headers);
        let sizes = [
            ("curandStateXORWOW", 48, 8),
            ("curandStateMRG32k3a", 72, 8),
            ("curandStatePhilox4_32_10", 64, 16),
        ];
        for (name, size, align) in sizes {
            for entity in self.names_in(headers, name) {
                let Entity::Type(QType { ty: Type::Record(record), .. }) = entity else {
                    continue;
                };
                if let Some(known) = self.program.records.get(record).cloned() {
                    self.program.records[record] = Record { size, align, ..known };
                }
            }
        }
    }
}
