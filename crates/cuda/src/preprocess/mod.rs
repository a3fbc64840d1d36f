//! Phases 1 to 4 of [lex.phases]: joins lines, drops comments, replaces macros, executes conditionals and includes.
//!
//! Text between two preprocessor lines is expanded as one piece. Errs towards refusal: undefined names in `#if`,
//! missing headers and constructs on which compilers differ are refused.

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
use expand::TextKind;
use pp_token::PpToken;
use state::{Frame, State};
use std::rc::Rc;

/// The most tokens that are read.
const MAX_TOKENS: usize = 8_000_000;

/// A text after preprocessing.
#[derive(Debug)]
pub struct Preprocessed {
    /// Its tokens; the last one is [`TokenKind::End`].
    pub tokens: Vec<Token>,
    /// All files that were read.
    pub sources: SourceMap,
    /// Names used by the text whose value depends on the architecture, the compiler or its flags, in the order of
    /// their first use.
    pub environment_names: Vec<&'static str>,
}

/// A failed preprocessing.
#[derive(Debug)]
pub struct PreprocessError {
    /// The first error or unsupported construct.
    pub why: Box<base::Diagnostic>,
    /// The files read so far: the error is in one of them.
    pub sources: SourceMap,
}

/// Preprocesses a text.
///
/// # Errors
/// The first error or unsupported construct.
pub fn preprocess(options: &Options<'_>, main: &str) -> Result<Preprocessed> {
    preprocess_files(options, main).map_err(|failed| failed.why)
}

/// Like [`preprocess`], and returns the files with an error, to show it in them.
///
/// # Errors
/// The first error or unsupported construct.
pub fn preprocess_files(
    options: &Options<'_>,
    main: &str,
) -> std::result::Result<Preprocessed, PreprocessError> {
    let mut state = State::new(options);
    let outcome = state.run(main);
    let State { out: tokens, sources, environment_names, .. } = state;
    if let Err(why) = outcome {
        return Err(PreprocessError { why, sources });
    }
    Ok(Preprocessed { tokens, sources, environment_names })
}

/// Reads annotations that are given separately from a file. `place` translates spans of the text to spans among all
/// texts.
///
/// # Errors
/// The text does not consist of tokens.
pub fn annotation_tokens(text: &str, place: impl Fn(Span) -> Span) -> Result<Vec<Token>> {
    let placed = |mut found: Box<base::Diagnostic>| {
        found.primary.span = place(found.primary.span);
        found
    };
    let mut read = preprocess(&Options::default(), text).map_err(placed)?;
    for token in &mut read.tokens {
        token.span = place(token.span);
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
            self.process_line()?;
        }
        let end = u32::try_from(main.len()).unwrap_or(u32::MAX);
        self.out.push(Token { kind: TokenKind::End, span: Span::new(end, end) });
        Ok(())
    }

    /// Executes one directive, or expands the text up to the next one.
    fn process_line(&mut self) -> Result<()> {
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
        let kind = if is_last { TextKind::LastText } else { TextKind::TextBeforeBreak };
        let expanded = self.expand(text, kind)?;
        let span = first.span;
        self.emit(expanded)?;
        if self.out.len() > MAX_TOKENS {
            return Err(limit(span, "the text is too long"));
        }
        Ok(())
    }

    /// Returns to the including file at the end of an included one.
    fn close_file(&mut self) -> Result<()> {
        let Some(frame) = self.frames.pop() else { return Ok(()) };
        match frame.conditionals.last() {
            Some(open) => Err(error(open.span, "this conditional has no `#endif`")),
            None => Ok(()),
        }
    }
}
