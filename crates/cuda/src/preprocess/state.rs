//! The state of preprocessing: open files, defined macros, tokens so far.
//!
//! A redefined macro must stay the same.

use super::headers;
use super::lex::lex;
use super::macros::{self, Macro, Origin};
use super::options::Options;
use super::pp_token::PpToken;
use crate::source::SourceMap;
use crate::token::Token;
use crate::{Result, error, unsupported};
use base::Span;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::rc::Rc;

/// An open `#if`.
pub(super) struct Conditional {
    /// The current part is read.
    pub(super) is_taken: bool,
    /// A part has been read already, or none will be.
    pub(super) is_done: bool,
    /// `#else` has occurred.
    pub(super) has_else: bool,
    pub(super) span: Span,
}

/// A file that is being read.
pub(super) struct Frame {
    pub(super) file: usize,
    pub(super) tokens: Rc<[PpToken]>,
    pub(super) at: usize,
    pub(super) conditionals: Vec<Conditional>,
    /// The shift of line numbers by `#line`.
    pub(super) line_shift: i64,
    /// The file name set by `#line`.
    pub(super) name: Option<String>,
}

impl Frame {
    pub(super) fn new(file: usize, tokens: Rc<[PpToken]>) -> Self {
        Self { file, tokens, at: 0, conditionals: Vec::new(), line_shift: 0, name: None }
    }
}

/// The state while a text is read.
pub(super) struct State<'o> {
    pub(super) options: &'o Options<'o>,
    pub(super) sources: SourceMap,
    pub(super) frames: Vec<Frame>,
    pub(super) macros: FxHashMap<Rc<str>, Rc<Macro>>,
    /// Names removed by `#undef`.
    pub(super) undefined: FxHashSet<Rc<str>>,
    /// Names declared by `symbolic` clauses.
    pub(super) symbolic: BTreeSet<Rc<str>>,
    /// The current token is part of an annotation.
    pub(super) is_in_annotation: bool,
    /// Macros that have been replaced somewhere.
    pub(super) replaced: FxHashSet<Rc<str>>,
    /// Files with `#pragma once`.
    pub(super) once: FxHashSet<PathBuf>,
    pub(super) lexed: FxHashMap<PathBuf, (usize, Rc<[PpToken]>)>,
    /// Known headers that have been included, by their first macro.
    pub(super) known: FxHashSet<&'static str>,
    pub(super) environment_names: Vec<&'static str>,
    pub(super) out: Vec<Token>,
    /// Number of tokens produced by macros, to limit explosion.
    pub(super) produced: usize,
    /// Number of opened files.
    pub(super) opened: usize,
    /// Number of definitions so far; each has its own number.
    pub(super) defined: u32,
    pub(super) counter: u64,
    pub(super) depth: usize,
    /// Inside a macro call that spans lines; `__LINE__` is uncertain there.
    pub(super) is_on_many_lines: bool,
}

impl<'o> State<'o> {
    pub(super) fn new(options: &'o Options<'o>) -> Self {
        Self {
            options,
            sources: SourceMap::default(),
            frames: Vec::new(),
            macros: FxHashMap::default(),
            undefined: FxHashSet::default(),
            symbolic: BTreeSet::new(),
            is_in_annotation: false,
            replaced: FxHashSet::default(),
            once: FxHashSet::default(),
            lexed: FxHashMap::default(),
            known: FxHashSet::default(),
            environment_names: Vec::new(),
            out: Vec::new(),
            produced: 0,
            opened: 0,
            defined: 0,
            counter: 0,
            depth: 0,
            is_on_many_lines: false,
        }
    }

    /// Defines the macros that exist before the text: those of the compiler, then those of `-D`.
    pub(super) fn predefine_all(&mut self) -> Result<()> {
        for (name, body) in headers::PREDEFINED {
            self.predefine(name, body)?;
        }
        let arch = self.options.arch.to_string();
        self.predefine("__CUDA_ARCH__", &arch)?;
        self.predefine("__CUDA_ARCH_LIST__", &arch)?;
        for (name, body) in &self.options.defines {
            let line = lex(&format!("{name} {}", body.as_deref().unwrap_or("1")), 0)?;
            let line: Vec<PpToken> =
                line.into_iter().map(|one| PpToken { span: Span::default(), ..one }).collect();
            let (name, found) = macros::define(&line, Span::default(), Origin::CommandLine)?;
            self.add_macro(name, found)?;
        }
        self.environment_names.clear();
        if self.macros.contains_key("NDEBUG") { self.define_assert() } else { Ok(()) }
    }

    /// Defines a macro of the compiler or of a known header.
    pub(super) fn predefine(&mut self, name: &str, body: &str) -> Result<()> {
        let line = lex(&format!("{name} {body}"), 0)?;
        let (name, mut found) = macros::define(&line, Span::default(), Origin::Compiler)?;
        found.number = self.next_number();
        self.macros.insert(name, Rc::new(found));
        Ok(())
    }

    fn next_number(&mut self) -> u32 {
        self.defined = self.defined.saturating_add(1);
        self.defined
    }

    pub(super) fn add_macro(&mut self, name: Rc<str>, mut found: Macro) -> Result<()> {
        if headers::KEYWORDS.contains(&&*name) {
            let message = format!("`{name}` has a meaning of its own and cannot be defined here");
            return Err(unsupported(found.span, message));
        }
        if let Some(old) = self.macros.get(&name) {
            if old.is_same(&found) {
                return Ok(());
            }
            if old.origin == Origin::Compiler {
                let message = format!("`{name}` is defined by the compiler or a header already");
                return Err(unsupported(found.span, message));
            }
            let message = format!("`{name}` is defined again, and differently");
            let mut again = error(found.span, message);
            again.code = base::Code::Name;
            let again = match old.origin {
                Origin::File => again.also(old.span, "defined here before"),
                _ => again.help(format!("guard it with `#ifndef {name}`, or leave out -D {name}")),
            };
            return Err(Box::new(again));
        }
        found.number = self.next_number();
        self.macros.insert(name, Rc::new(found));
        Ok(())
    }

    /// Records the use of a name whose value depends on more than the text, for the report.
    pub(super) fn note_environment_use(&mut self, name: &str) {
        let Some(known) = headers::NOTED.iter().find(|known| **known == name) else { return };
        let from_file = self.macros.get(name).is_some_and(|found| found.origin == Origin::File);
        if !from_file && !self.environment_names.contains(known) {
            self.environment_names.push(known);
        }
    }

    /// The value of `__LINE__` at a place.
    pub(super) fn line_of(&self, span: Span) -> i64 {
        let shift = self.frames.last().map_or(0, |frame| frame.line_shift);
        i64::from(self.sources.line(span)) + shift
    }

    /// The value of `__FILE__` at a place.
    pub(super) fn file_name(&self, span: Span) -> String {
        let given = self.frames.last().and_then(|frame| frame.name.clone());
        let path = || self.sources.locate(span).map(|(file, _)| file.path.display().to_string());
        given.or_else(path).unwrap_or_default()
    }
}
