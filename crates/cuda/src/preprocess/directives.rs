//! Preprocessor lines (\[cpp.pre\]): conditionals, definitions, `#error`, `#line`.
//!
//! Compilers only warn if a macro is redefined differently, or has the name of a CUDA keyword. Here both are errors,
//! because the resulting behaviour is seldom intended.

use super::condition::evaluate;
use super::expand::TextKind;
use super::headers::{KEYWORDS, implicit};
use super::macros::{Origin, define};
use super::pp_token::{Kind, PpToken};
use super::state::{Conditional, State};
use crate::{Result, error, unsupported};
use base::Span;
use std::rc::Rc;

/// Conditionals deeper than this are refused.
const MAX_DEPTH: usize = 1000;

impl State<'_> {
    /// Returns `true` while text is skipped.
    pub(super) fn is_skipping(&self) -> bool {
        self.conditionals().last().is_some_and(|last| !last.is_taken)
    }

    fn conditionals(&self) -> &[Conditional] {
        self.frames.last().map_or(&[], |frame| &frame.conditionals)
    }

    /// Executes a preprocessor line; `hash` is its `#`, `line` the rest.
    pub(super) fn directive(&mut self, hash: &PpToken, line: &[PpToken]) -> Result<()> {
        let Some(first) = line.first() else { return Ok(()) };
        let span = hash.span.to(first.span);
        let rest = line.get(1..).unwrap_or_default();
        let name = if first.kind == Kind::Word { &*first.text } else { "" };
        let is_conditional = matches!(name, "if" | "ifdef" | "ifndef" | "elif" | "else" | "endif");
        if self.is_skipping() && !is_conditional {
            return Ok(());
        }
        let annotation = line.iter().find(|token| token.kind == Kind::AnnotationStart);
        if let Some(annotation) = annotation.filter(|_| !self.is_skipping()) {
            return Err(error(
                annotation.span,
                "an annotation cannot stand in a preprocessor line",
            ));
        }
        match name {
            "if" | "ifdef" | "ifndef" => self.open_conditional(name, rest, span),
            "elif" | "else" => self.next_part(name, rest, span),
            "endif" => match self.frames.last_mut().and_then(|frame| frame.conditionals.pop()) {
                Some(_) => Ok(()),
                None => Err(error(span, "`#endif` without `#if`")),
            },
            "define" => self.define(rest, span),
            "undef" => self.undefine(rest, span),
            "include" => self.include(rest.to_vec(), span),
            "pragma" => super::pragma::pragma(self, rest, span),
            "error" => Err(error(span, format!("`#error` was reached:{}", line_text(rest)))),
            "warning" | "ident" | "sccs" => Ok(()),
            "line" => self.set_line(rest.to_vec(), span),
            _ if first.kind == Kind::Number => self.set_line(line.to_vec(), span),
            "include_next" | "import" | "embed" | "elifdef" | "elifndef" | "assert" => {
                Err(unsupported(span, format!("`#{name}` is not supported")))
            }
            _ => Err(error(span, format!("`#{}` is not a directive", first.text))),
        }
    }

    fn open_conditional(&mut self, name: &str, rest: &[PpToken], span: Span) -> Result<()> {
        let is_read = !self.is_skipping();
        let is_taken = is_read && self.condition(name, rest, span)?;
        let Some(frame) = self.frames.last_mut() else { return Ok(()) };
        if frame.conditionals.len() > MAX_DEPTH {
            return Err(crate::limit(span, "conditionals are nested too deeply"));
        }
        let is_done = is_taken || !is_read;
        frame.conditionals.push(Conditional { is_taken, is_done, has_else: false, span });
        Ok(())
    }

    fn next_part(&mut self, name: &str, rest: &[PpToken], span: Span) -> Result<()> {
        let Some(open) = self.frames.last_mut().and_then(|frame| frame.conditionals.pop()) else {
            return Err(error(span, format!("`#{name}` without `#if`")));
        };
        if open.has_else {
            return Err(error(span, format!("`#{name}` after `#else`")));
        }
        // The condition of a part that cannot be taken is not evaluated.
        let is_taken = !open.is_done && (name == "else" || self.condition("if", rest, span)?);
        let is_done = open.is_done || is_taken;
        let has_else = name == "else";
        if let Some(frame) = self.frames.last_mut() {
            let span = open.span;
            frame.conditionals.push(Conditional { is_taken, is_done, has_else, span });
        }
        Ok(())
    }

    fn condition(&mut self, name: &str, rest: &[PpToken], span: Span) -> Result<bool> {
        if name != "if" {
            let Some(word) = rest.first().filter(|token| token.kind == Kind::Word) else {
                return Err(error(span, format!("`#{name}` needs a name")));
            };
            return Ok(self.is_defined(&word.text) == (name == "ifdef"));
        }
        let tokens = self.expand(rest.to_vec(), TextKind::Condition)?;
        let symbolic = &self.symbolic;
        evaluate(&tokens, span, &|name| {
            if symbolic.contains(name) {
                return format!("`{name}` is symbolic: its value cannot decide the text");
            }
            format!("`{name}` in `#if` is not defined; give it with -D {name}=…")
        })
    }

    /// Returns `true` if a name is a macro.
    pub(super) fn is_defined(&mut self, name: &str) -> bool {
        self.note_environment_use(name);
        let is_macro = self.macros.contains_key(name);
        if let Some((known, _)) = implicit(name).filter(|_| !is_macro)
            && !self.environment_names.contains(&known)
        {
            self.environment_names.push(known);
        }
        is_macro
            || KEYWORDS.contains(&name)
            || matches!(name, "__LINE__" | "__FILE__" | "__DATE__" | "__TIME__" | "__COUNTER__")
            || name == "__has_include"
    }

    fn define(&mut self, line: &[PpToken], span: Span) -> Result<()> {
        let (name, found) = define(line, span, Origin::File)?;
        self.add_macro(name, found)
    }

    fn undefine(&mut self, line: &[PpToken], span: Span) -> Result<()> {
        let Some(word) = line.first().filter(|token| token.kind == Kind::Word) else {
            return Err(error(span, "`#undef` needs a name"));
        };
        let name = &word.text;
        if self.symbolic.contains(name) {
            return Err(unsupported(word.span, format!("`{name}` is symbolic in the whole file")));
        }
        let is_compilers =
            self.macros.get(name).is_some_and(|found| found.origin == Origin::Compiler);
        let is_predefined = name.starts_with("__") && (self.is_defined(name) && is_compilers);
        if KEYWORDS.contains(&&**name) || is_predefined {
            return Err(unsupported(word.span, format!("`#undef {name}` is not supported")));
        }
        self.macros.remove(name);
        self.undefined.insert(Rc::clone(name));
        Ok(())
    }

    fn set_line(&mut self, line: Vec<PpToken>, span: Span) -> Result<()> {
        let line = self.expand(line, TextKind::DirectiveOrArgument)?;
        let number = line.first().filter(|token| token.kind == Kind::Number);
        let number = number.and_then(|token| token.text.replace('\'', "").parse::<i64>().ok());
        let Some(number) = number else {
            return Err(error(span, "`#line` needs a number"));
        };
        let line_number = i64::from(self.sources.line(span));
        let name = line.get(1).filter(|token| token.kind == Kind::Text);
        let name = name.map(|token| token.text.trim_matches('"').to_owned());
        if let Some(frame) = self.frames.last_mut() {
            frame.line_shift = number - line_number - 1;
            frame.name = name.or(frame.name.take());
        }
        Ok(())
    }
}

/// A line as it is written, for a message.
fn line_text(line: &[PpToken]) -> String {
    line.iter().fold(String::new(), |text, token| text + " " + &token.text)
}
