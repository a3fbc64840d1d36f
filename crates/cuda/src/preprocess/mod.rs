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
mod options;
mod pp_token;
mod pragma;
mod splice;
mod state;
mod symbolic;
#[cfg(test)]
mod tests;

pub use options::{Options, Reader, no_files};

use crate::source::SourceMap;
use crate::token::{Token, TokenKind};
use crate::{Result, error, limit};
use base::Span;
use expand::Place;
use pp_token::PpToken;
use state::{Frame, State};
use std::rc::Rc;

/// More tokens than this are not read.
const MAX_TOKENS: usize = 8_000_000;

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
    let mut state = State::new(options);
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
}
