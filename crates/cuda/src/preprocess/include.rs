//! `#include` (\[cpp.include\]): search for files, headers known by name, `#pragma once`.
//!
//! Files come from the caller; nothing is read here. A quoted name is searched beside the including file, then in the
//! folders of `-I`; one in angle brackets only in those folders. Then come headers known by name.

use super::expand::TextKind;
use super::headers;
use super::lex::lex;
use super::macros::Origin;
use super::pp_token::{Kind, PpToken};
use super::state::{Frame, State};
use crate::{Result, error, limit, unsupported};
use base::Span;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Files that include each other deeper than this are refused.
const MAX_DEPTH: usize = 64;
/// More inclusions than this are refused.
const MAX_FILES: usize = 20_000;

/// The file or header for a name in `#include`.
enum IncludeTarget {
    File(PathBuf, String),
    Known(&'static [(&'static str, &'static str)]),
}

/// A name after `#include`.
struct HeaderName {
    name: String,
    is_quoted: bool,
}

impl State<'_> {
    /// Executes `#include`; the file's text comes next.
    pub(super) fn include(&mut self, line: Vec<PpToken>, span: Span) -> Result<()> {
        let line = match header_name(&line) {
            Some(_) => line,
            None => self.expand(line, TextKind::DirectiveOrArgument)?,
        };
        let Some((name, rest)) = header_name(&line) else {
            return Err(error(span, "`#include` needs a name in quotes or angle brackets"));
        };
        if let Some(token) = line.get(rest) {
            return Err(error(token.span, "expected the end of the line"));
        }
        match self.find_header(&name, span)? {
            Some(IncludeTarget::Known(macros)) => self.known_header(&name.name, macros, span),
            Some(IncludeTarget::File(path, text)) => self.open(&path, text, span),
            None => {
                let places = self.places(&name);
                let listed: Vec<String> =
                    places.iter().map(|place| format!("`{}`", place.display())).collect();
                let looked = match listed.is_empty() {
                    true => {
                        "it is not a known header, and there is no folder to look in".to_owned()
                    }
                    false => format!("looked for {}", listed.join(", ")),
                };
                let message = format!("the header `{}` is not found", name.name);
                let found = unsupported(span, message);
                Err(Box::new(found.note(looked).help("give its folder with -I")))
            }
        }
    }

    /// The places to search for a name, in order.
    fn places(&self, name: &HeaderName) -> Vec<PathBuf> {
        let beside = self.frames.last().and_then(|frame| {
            let path = &self.sources.files().get(frame.file)?.path;
            Some(path.parent().unwrap_or(Path::new("")).to_path_buf())
        });
        let including_folder = beside.filter(|_| name.is_quoted);
        let folders = including_folder.iter().chain(&self.options.includes);
        folders.map(|folder| folder.join(&name.name)).collect()
    }

    /// Looks for a header in the given folders, then among the known headers.
    fn find_header(&mut self, name: &HeaderName, span: Span) -> Result<Option<IncludeTarget>> {
        for place in self.places(name) {
            match (self.options.reader)(&place) {
                None => {}
                Some(Ok(text)) => return Ok(Some(IncludeTarget::File(place, text))),
                Some(Err(why)) => {
                    let message = format!("the header `{}` cannot be read: {why}", name.name);
                    return Err(unsupported(span, message));
                }
            }
        }
        Ok(headers::header(&name.name).map(IncludeTarget::Known))
    }

    /// Defines the macros of a header whose contents are built in.
    fn known_header(
        &mut self,
        name: &str,
        macros: &'static [(&'static str, &'static str)],
        span: Span,
    ) -> Result<()> {
        if matches!(name, "assert.h" | "cassert") {
            self.define_assert()?;
        }
        // Headers have guards: a second inclusion defines nothing.
        let is_new = macros.first().is_some_and(|(first, _)| self.known.insert(first));
        for (name, body) in macros.iter().filter(|_| is_new) {
            let old = self.macros.get(*name).cloned();
            self.predefine(name, body)?;
            let redefined = old.filter(|old| old.origin != Origin::Compiler);
            if redefined
                .is_some_and(|old| !self.macros.get(*name).is_some_and(|new| new.is_same(&old)))
            {
                let message = format!("`{name}` is defined before the header that defines it");
                return Err(unsupported(span, message));
            }
        }
        Ok(())
    }

    /// `assert` expands to nothing if `NDEBUG` is defined; otherwise `sema` handles it.
    pub(super) fn define_assert(&mut self) -> Result<()> {
        if self.is_defined("NDEBUG") {
            self.predefine("assert(e)", "((void)0)")
        } else {
            self.macros.remove("assert");
            Ok(())
        }
    }

    /// Opens a file: its tokens are read next.
    fn open(&mut self, path: &Path, text: String, span: Span) -> Result<()> {
        if self.once.contains(path) {
            return Ok(());
        }
        self.opened += 1;
        if self.frames.len() > MAX_DEPTH || self.opened > MAX_FILES {
            return Err(limit(span, "files include each other too deeply"));
        }
        let known = self.lexed.get(path).cloned();
        let (file, tokens) = match known {
            Some(known) => known,
            None => {
                let Some(file) = self.sources.add(path, text) else {
                    return Err(limit(span, "the files are too long"));
                };
                let tokens = self.lex_file(file)?;
                self.lexed.insert(path.to_path_buf(), (file, Rc::clone(&tokens)));
                (file, tokens)
            }
        };
        self.declare_symbolic(&tokens, span)?;
        self.frames.push(Frame::new(file, tokens));
        Ok(())
    }

    /// Executes `#pragma once` in the current file.
    pub(super) fn mark_once(&mut self) {
        let Some(frame) = self.frames.last() else { return };
        if let Some(file) = self.sources.files().get(frame.file) {
            self.once.insert(file.path.clone());
        }
    }

    /// `__has_include(…)`, beginning at its parenthesis.
    pub(super) fn has_include(&mut self, at: &PpToken, input: &mut Vec<PpToken>) -> Result<bool> {
        let wrong = || error(at.span, "`__has_include` takes a name in quotes or angle brackets");
        if !input.pop().is_some_and(|open| open.is("(")) {
            return Err(wrong());
        }
        let mut rest: Vec<PpToken> = input.clone();
        rest.reverse();
        let (name, length) = header_name(&rest).ok_or_else(wrong)?;
        input.truncate(input.len().saturating_sub(length));
        if !input.pop().is_some_and(|close| close.is(")")) {
            return Err(wrong());
        }
        Ok(self.find_header(&name, at.span)?.is_some())
    }

    /// The tokens of a file.
    pub(super) fn lex_file(&self, file: usize) -> Result<Rc<[PpToken]>> {
        let Some(source) = self.sources.files().get(file) else { return Ok(Rc::from([])) };
        Ok(lex(&source.text, source.place(0))?.into())
    }
}

/// The header name at the start of a line, and the number of its tokens.
fn header_name(line: &[PpToken]) -> Option<(HeaderName, usize)> {
    let first = line.first()?;
    if first.kind == Kind::Text {
        let name = first.text.strip_prefix('"')?.strip_suffix('"')?.to_owned();
        return Some((HeaderName { name, is_quoted: true }, 1));
    }
    if !first.is("<") {
        return None;
    }
    let close = line.iter().position(|token| token.is(">"))?;
    let mut name = String::new();
    for (at, token) in line.get(1..close)?.iter().enumerate() {
        if at > 0 && token.is_spaced {
            name.push(' ');
        }
        name.push_str(&token.text);
    }
    Some((HeaderName { name, is_quoted: false }, close + 1))
}
