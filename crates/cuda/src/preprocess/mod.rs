//! Phases 1 to 4 of [lex.phases]: lines are joined, comments dropped, macros replaced, conditionals and includes obeyed.
//!
//! Text between two preprocessor lines is expanded as one piece. It errs towards refusal: a name in `#if` that nobody defines,
//! headers that are not found and what compilers differ on are refused.

mod condition;
mod constants;
mod convert;
mod directives;
mod expand;
mod headers;
mod include;
mod lex;
mod literals;
mod macros;
mod pragma;
mod splice;
mod symbolic;
#[cfg(test)]
mod tests;

use crate::source::SourceMap;
use crate::token::{Token, TokenKind};
use crate::{Result, error, limit, unsupported};
use base::Span;
use directives::Conditional;
use expand::Place;
use lex::{PpToken, lex};
use macros::{Macro, Origin};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// More tokens than this are not read.
const MAX_TOKENS: usize = 8_000_000;

/// Reads a file; `None` if there is none. An error is shown with the header's name, so it must not tell contents.
pub type Reader<'o> = dyn Fn(&Path) -> Option<io::Result<String>> + 'o;

/// How a text is read.
pub struct Options<'o> {
    /// The path of the main file: quoted headers are looked for beside it.
    pub path: PathBuf,
    /// `__CUDA_ARCH__`: 800 for `sm_80`.
    pub arch: u32,
    /// `-D NAME=VALUE`; the name may have parameters. Without a value, `1`.
    pub defines: Vec<(String, Option<String>)>,
    /// Folders of `-I`.
    pub includes: Vec<PathBuf>,
    /// Reads included files.
    pub reader: &'o Reader<'o>,
}

/// Reads no files.
pub fn no_files(_: &Path) -> Option<io::Result<String>> {
    None
}

impl Default for Options<'_> {
    /// For `sm_80`, without files to include.
    fn default() -> Self {
        Self {
            path: PathBuf::from("main.cu"),
            arch: 800,
            defines: Vec::new(),
            includes: Vec::new(),
            reader: &no_files,
        }
    }
}

/// A text after preprocessing.
#[derive(Debug)]
pub struct Preprocessed {
    /// Its tokens; the last one is [`TokenKind::End`].
    pub tokens: Vec<Token>,
    /// All files that were read.
    pub sources: SourceMap,
    /// Names that the text asks for and whose answer depends on the architecture, the compiler or its flags, in the order of
    /// their first use.
    pub used: Vec<&'static str>,
}

/// A file that is being read.
struct Frame {
    file: usize,
    tokens: Rc<[PpToken]>,
    at: usize,
    conditionals: Vec<Conditional>,
    /// What `#line` adds to line numbers.
    line_shift: i64,
    /// The name that `#line` gives.
    name: Option<String>,
}

impl Frame {
    fn new(file: usize, tokens: Rc<[PpToken]>) -> Self {
        Self { file, tokens, at: 0, conditionals: Vec::new(), line_shift: 0, name: None }
    }
}

struct State<'o> {
    options: &'o Options<'o>,
    sources: SourceMap,
    frames: Vec<Frame>,
    macros: FxHashMap<Rc<str>, Rc<Macro>>,
    /// Names that `#undef` took away.
    undefined: FxHashSet<Rc<str>>,
    /// Names that `symbolic` clauses declare.
    symbolic: BTreeSet<Rc<str>>,
    /// Whether the token at hand is one of an annotation.
    is_in_annotation: bool,
    /// Macros that were replaced somewhere.
    replaced: FxHashSet<Rc<str>>,
    /// Files that `#pragma once` closes.
    once: FxHashSet<PathBuf>,
    lexed: FxHashMap<PathBuf, (usize, Rc<[PpToken]>)>,
    /// Known headers that were included, by their first macro.
    known: FxHashSet<&'static str>,
    used: Vec<&'static str>,
    out: Vec<Token>,
    /// Tokens that macros made, against explosion.
    produced: usize,
    /// Files that were opened.
    opened: usize,
    /// Definitions so far; each has its own number.
    defined: u32,
    counter: u64,
    depth: usize,
    /// Within a macro call that spans lines, where `__LINE__` is not sure.
    is_on_many_lines: bool,
}

/// A text that is not preprocessed.
#[derive(Debug)]
pub struct Failed {
    /// The first thing that is wrong or not read.
    pub why: Box<base::Diagnostic>,
    /// The files that were read so far: its place is in one of them.
    pub sources: SourceMap,
}

/// Preprocesses a text.
///
/// # Errors
/// The first thing that is wrong or not read.
pub fn preprocess(options: &Options<'_>, main: &str) -> Result<Preprocessed> {
    preprocess_files(options, main).map_err(|failed| failed.why)
}

/// The same for whoever shows errors in their files.
///
/// # Errors
/// The first thing that is wrong or not read.
pub fn preprocess_files(
    options: &Options<'_>,
    main: &str,
) -> std::result::Result<Preprocessed, Failed> {
    let mut state = State {
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
        used: Vec::new(),
        out: Vec::new(),
        produced: 0,
        opened: 0,
        defined: 0,
        counter: 0,
        depth: 0,
        is_on_many_lines: false,
    };
    let done = state.run(main);
    let State { out: tokens, sources, used, .. } = state;
    if let Err(why) = done {
        return Err(Failed { why, sources });
    }
    Ok(Preprocessed { tokens, sources, used })
}

/// Reads annotations that are given apart from a file. All tokens take the place `span`.
///
/// # Errors
/// The text is not made of tokens.
pub fn annotation(text: &str, span: Span) -> Result<Vec<Token>> {
    let placed = |mut found: Box<base::Diagnostic>| {
        found.primary.span = span;
        found
    };
    let mut read = preprocess(&Options::default(), text).map_err(placed)?;
    for token in &mut read.tokens {
        token.span = span;
    }
    Ok(read.tokens)
}

impl State<'_> {
    fn run(&mut self, main: &str) -> Result<()> {
        let Some(file) = self.sources.add(&self.options.path, main.to_owned()) else {
            return Err(limit(Span::default(), "the file is too long"));
        };
        self.predefine_all()?;
        let tokens = self.lex_file(file)?;
        self.declare_symbolic(&tokens, Span::default())?;
        self.frames.push(Frame::new(file, tokens));
        while !self.frames.is_empty() {
            self.step()?;
        }
        let end = u32::try_from(main.len()).unwrap_or(u32::MAX);
        self.out.push(Token { kind: TokenKind::End, span: Span::new(end, end) });
        Ok(())
    }

    fn predefine_all(&mut self) -> Result<()> {
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
        self.used.clear();
        if self.macros.contains_key("NDEBUG") { self.define_assert() } else { Ok(()) }
    }

    /// Defines what the compiler or a known header defines.
    fn predefine(&mut self, name: &str, body: &str) -> Result<()> {
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

    fn add_macro(&mut self, name: Rc<str>, mut found: Macro) -> Result<()> {
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

    /// Notes that the text asks for a name whose answer depends on more than the text.
    fn note(&mut self, name: &str) {
        let Some(known) = headers::NOTED.iter().find(|known| **known == name) else { return };
        let own = self.macros.get(name).is_some_and(|found| found.origin == Origin::File);
        if !own && !self.used.contains(known) {
            self.used.push(known);
        }
    }

    /// Takes a preprocessor line or the text up to the next one.
    fn step(&mut self) -> Result<()> {
        let Some(frame) = self.frames.last_mut() else { return Ok(()) };
        let tokens = Rc::clone(&frame.tokens);
        let start = frame.at;
        let Some(first) = tokens.get(start) else { return self.close_file() };
        let is_line = |token: &PpToken| token.is_first && token.is("#");
        let rest = tokens.get(start + 1..).unwrap_or_default();
        if is_line(first) {
            let length = rest.iter().position(|token| token.is_first).unwrap_or(rest.len());
            frame.at = start + 1 + length;
            return self.directive(first, rest.get(..length).unwrap_or_default());
        }
        let length = rest.iter().position(is_line).unwrap_or(rest.len());
        frame.at = start + 1 + length;
        let is_last = frame.at >= tokens.len() && self.frames.len() == 1;
        if self.is_skipping() {
            return Ok(());
        }
        let text = tokens.get(start..start + 1 + length).unwrap_or_default().to_vec();
        let place = if is_last { Place::Text } else { Place::TextBeforeBreak };
        let expanded = self.expand(text, place)?;
        let span = first.span;
        self.emit(expanded)?;
        if self.out.len() > MAX_TOKENS {
            return Err(limit(span, "the text is too long"));
        }
        Ok(())
    }

    fn close_file(&mut self) -> Result<()> {
        let Some(frame) = self.frames.pop() else { return Ok(()) };
        match frame.conditionals.last() {
            Some(open) => Err(error(open.span, "this conditional has no `#endif`")),
            None => Ok(()),
        }
    }

    /// The line that `__LINE__` gives at a place.
    fn line_of(&self, span: Span) -> i64 {
        let shift = self.frames.last().map_or(0, |frame| frame.line_shift);
        i64::from(self.sources.line(span)) + shift
    }

    /// The name that `__FILE__` gives at a place.
    fn file_name(&self, span: Span) -> String {
        let given = self.frames.last().and_then(|frame| frame.name.clone());
        let own = || self.sources.locate(span).map(|(file, _)| file.path.display().to_string());
        given.or_else(own).unwrap_or_default()
    }
}
