//! Macros: their definitions, `#`, `##` and the replacement of parameters (ISO C++17 \[cpp.replace\]).
//!
//! `args...` and `, ## __VA_ARGS__` come from gcc, `__VA_OPT__` from C++20. A `##` that does not make one token is
//! refused, though some compilers accept it.

use super::lex::lex;
use super::pp_token::{HideSet, Kind, PpToken};
use crate::{Result, error, limit, unsupported};
use base::Span;
use std::rc::Rc;

/// The origin of a macro.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// `#define` in a file.
    File,
    /// `-D`.
    CommandLine,
    /// The compiler, or a header known by name.
    Compiler,
}

/// A macro.
#[derive(Clone, Debug)]
pub(super) struct Macro {
    /// Its number, for hide sets.
    pub(super) number: u32,
    /// Parameters, including the one for the remaining arguments; `None` for an object-like macro.
    pub(super) parameters: Option<Vec<Rc<str>>>,
    /// The last parameter takes all further arguments.
    pub(super) is_variadic: bool,
    pub(super) body: Vec<PpToken>,
    pub(super) origin: Origin,
    pub(super) span: Span,
}

impl Macro {
    /// Returns `true` if another definition is the same (\[cpp.replace\]/2).
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let same = |(at, (one, two)): (usize, (&PpToken, &PpToken))| {
            one.text == two.text && (at == 0 || one.is_spaced == two.is_spaced)
        };
        self.parameters == other.parameters
            && self.is_variadic == other.is_variadic
            && self.body.len() == other.body.len()
            && self.body.iter().zip(&other.body).enumerate().all(same)
    }
}

/// An argument of a macro.
pub(super) struct Argument {
    /// As written.
    pub(super) raw: Vec<PpToken>,
    /// With its macros replaced.
    pub(super) expanded: Vec<PpToken>,
}

/// Reads the line after `#define`.
pub(super) fn define(line: &[PpToken], span: Span, origin: Origin) -> Result<(Rc<str>, Macro)> {
    let Some(name) = line.first().filter(|token| token.kind == Kind::Word) else {
        return Err(error(span, "`#define` needs a name"));
    };
    let reserved = ["defined", "__VA_ARGS__", "__VA_OPT__", "__has_include"];
    if reserved.contains(&&*name.text) || super::pp_token::alternative(&name.text).is_some() {
        return Err(error(name.span, format!("`{}` cannot be a macro", name.text)));
    }
    let mut found = Macro {
        number: 0,
        parameters: None,
        is_variadic: false,
        body: Vec::new(),
        origin,
        span: name.span,
    };
    let mut rest = line.get(1..).unwrap_or_default();
    if rest.first().is_some_and(|token| token.is("(") && !token.is_spaced) {
        let close = rest.iter().position(|token| token.is(")"));
        let Some(close) = close else {
            return Err(error(span, "the parameters of this macro are not closed"));
        };
        let (names, is_variadic) = parameters(rest.get(1..close).unwrap_or_default())?;
        (found.parameters, found.is_variadic) = (Some(names), is_variadic);
        rest = rest.get(close + 1..).unwrap_or_default();
    } else if rest.first().is_some_and(|token| !token.is_spaced) && origin == Origin::File {
        return Err(error(name.span, "a blank is missing after the macro's name"));
    }
    found.body = rest.to_vec();
    check_body(&found)?;
    Ok((Rc::clone(&name.text), found))
}

fn parameters(tokens: &[PpToken]) -> Result<(Vec<Rc<str>>, bool)> {
    let mut names: Vec<Rc<str>> = Vec::new();
    let mut is_variadic = false;
    let parts = if tokens.is_empty() { 0 } else { usize::MAX };
    for part in tokens.split(|token| token.is(",")).take(parts) {
        let span = tokens.first().map_or(Span::default(), |token| token.span);
        if is_variadic {
            return Err(error(span, "`...` must be the last parameter of a macro"));
        }
        let name: Rc<str> = match part {
            [name] if name.kind == Kind::Word => Rc::clone(&name.text),
            [dots] if dots.is("...") => {
                is_variadic = true;
                Rc::from("__VA_ARGS__")
            }
            [name, dots] if name.kind == Kind::Word && dots.is("...") => {
                is_variadic = true;
                Rc::clone(&name.text)
            }
            _ => return Err(error(span, "these are not parameters of a macro")),
        };
        if names.contains(&name) {
            return Err(error(span, format!("the parameter `{name}` occurs twice")));
        }
        names.push(name);
    }
    Ok((names, is_variadic))
}

fn check_body(found: &Macro) -> Result<()> {
    let body = &found.body;
    let ends = [body.first(), body.last()];
    if let Some(token) = ends.into_iter().flatten().find(|token| token.is("##")) {
        return Err(error(token.span, "`##` must stand between two tokens"));
    }
    let Some(parameters) = &found.parameters else { return Ok(()) };
    for (at, token) in body.iter().enumerate() {
        if !token.is("#") {
            continue;
        }
        let next = body.get(at + 1);
        if next.is_some_and(|next| next.is_word("__VA_OPT__")) {
            return Err(unsupported(token.span, "`#__VA_OPT__` is not supported"));
        }
        if !next.is_some_and(|next| next.kind == Kind::Word && parameters.contains(&next.text)) {
            return Err(error(token.span, "`#` must stand before a parameter of the macro"));
        }
    }
    Ok(())
}

/// The body with parameters, `#` and `##` replaced.
pub(super) fn substitute(found: &Macro, arguments: &[Argument]) -> Result<Vec<PpToken>> {
    let names = found.parameters.as_deref().unwrap_or_default();
    let mut out = Substitution { found, names, arguments, out: Vec::new() };
    out.run(&found.body)?;
    out.out.retain(|token| token.kind != Kind::Nothing);
    Ok(out.out)
}

struct Substitution<'s> {
    found: &'s Macro,
    names: &'s [Rc<str>],
    arguments: &'s [Argument],
    out: Vec<PpToken>,
}

impl<'s> Substitution<'s> {
    fn argument(&self, token: &PpToken) -> Option<(usize, &'s Argument)> {
        if token.kind != Kind::Word {
            return None;
        }
        let position = self.names.iter().position(|name| *name == token.text)?;
        Some((position, self.arguments.get(position)?))
    }

    fn run(&mut self, body: &[PpToken]) -> Result<()> {
        let mut at = 0;
        while let Some(token) = body.get(at) {
            let next = body.get(at + 1);
            let before_paste = next.is_some_and(|next| next.is("##"));
            at += 1;
            if token.is("##") {
                if let Some(right) = next {
                    at += self.paste(token, right, body.get(at..).unwrap_or_default())?;
                }
            } else if token.is("#") && self.found.parameters.is_some() {
                if let Some((_, argument)) = next.and_then(|next| self.argument(next)) {
                    self.out.push(stringize(&argument.raw, token)?);
                    at += 1;
                }
            } else if token.is_word("__VA_OPT__") && self.found.is_variadic {
                at += self.optional(token, body.get(at..).unwrap_or_default())?;
            } else if let Some((_, argument)) = self.argument(token) {
                let tokens = if before_paste { &argument.raw } else { &argument.expanded };
                self.append(tokens, token);
            } else {
                self.out.push(token.clone());
            }
        }
        Ok(())
    }

    /// Appends an argument in place of its parameter.
    fn append(&mut self, tokens: &[PpToken], parameter: &PpToken) {
        if tokens.is_empty() {
            self.out.push(PpToken { kind: Kind::Nothing, ..parameter.clone() });
        }
        for (at, token) in tokens.iter().enumerate() {
            let is_spaced = if at == 0 { parameter.is_spaced } else { token.is_spaced };
            self.out.push(PpToken { is_spaced, ..token.clone() });
        }
    }

    /// Joins the last token with the replacement of `right`; returns how many tokens of the rest, which begins with
    /// `right`, are consumed.
    fn paste(&mut self, operator: &PpToken, right: &PpToken, rest: &[PpToken]) -> Result<usize> {
        if right.is("#") && self.found.parameters.is_some() {
            let next = rest.get(1).and_then(|next| self.argument(next));
            let text = next.map(|(_, argument)| stringize(&argument.raw, right)).transpose()?;
            self.paste_tokens(operator, text.as_slice())?;
            return Ok(2);
        }
        if right.is_word("__VA_OPT__") && self.found.is_variadic {
            return Err(unsupported(right.span, "`##` before `__VA_OPT__` is not supported"));
        }
        let Some((position, argument)) = self.argument(right) else {
            self.paste_tokens(operator, std::slice::from_ref(right))?;
            return Ok(1);
        };
        let is_rest = self.found.is_variadic && position + 1 == self.names.len();
        if is_rest && self.out.last().is_some_and(|last| last.is(",")) {
            // gcc's `, ## __VA_ARGS__`: without further arguments the comma is removed. Others are not joined to it,
            // and are rescanned as written.
            if argument.raw.is_empty() {
                self.out.pop();
            } else {
                self.append(&argument.raw, right);
            }
            return Ok(1);
        }
        self.paste_tokens(operator, &argument.raw)?;
        Ok(1)
    }

    /// Joins the last token with the first of `right`, and appends the others.
    fn paste_tokens(&mut self, operator: &PpToken, right: &[PpToken]) -> Result<()> {
        let Some((first, others)) = right.split_first() else { return Ok(()) };
        let Some(left) = self.out.pop() else { return Ok(()) };
        self.out.push(pasted(left, first, operator)?);
        self.out.extend(others.iter().cloned());
        Ok(())
    }

    /// `__VA_OPT__(…)`; its parenthesis begins `rest`.
    fn optional(&mut self, word: &PpToken, rest: &[PpToken]) -> Result<usize> {
        let mut depth = 0usize;
        let close = rest.iter().position(|token| {
            depth = if token.is("(") { depth + 1 } else { depth };
            depth = if token.is(")") { depth.saturating_sub(1) } else { depth };
            depth == 0
        });
        let Some(close) = close.filter(|close| *close > 0) else {
            return Err(error(word.span, "`__VA_OPT__` needs parentheses"));
        };
        let has_more = self.arguments.last().is_some_and(|last| !last.expanded.is_empty());
        if has_more {
            self.run(rest.get(1..close).unwrap_or_default())?;
        } else {
            self.out.push(PpToken { kind: Kind::Nothing, ..word.clone() });
        }
        Ok(close + 1)
    }
}

fn pasted(left: PpToken, right: &PpToken, operator: &PpToken) -> Result<PpToken> {
    if left.kind == Kind::Nothing {
        return Ok(PpToken { is_spaced: left.is_spaced, ..right.clone() });
    }
    if right.kind == Kind::Nothing {
        return Ok(left);
    }
    let text = format!("{}{}", left.text, right.text);
    check_length(&text, operator)?;
    let made = lex(&text, 0).ok().filter(|made| made.len() == 1).and_then(|mut made| made.pop());
    match made.filter(|made| !matches!(made.kind, Kind::Other)) {
        Some(made) => {
            let hide = intersection(&left.hide, &right.hide);
            Ok(PpToken {
                span: left.span,
                is_spaced: left.is_spaced,
                is_first: false,
                hide,
                ..made
            })
        }
        None => {
            let message = format!("`##` creates `{text}` here, which is not a single token");
            Err(unsupported(operator.span, message))
        }
    }
}

/// The longest token, in bytes, that `#` or `##` makes. Macros of macros can double the length in every step.
const MAX_LENGTH: usize = 1 << 20;

fn check_length(text: &str, operator: &PpToken) -> Result<()> {
    match text.len() > MAX_LENGTH {
        true => Err(limit(operator.span, "macros create a token that is too long")),
        false => Ok(()),
    }
}

/// `#x`: the argument as a string literal.
fn stringize(argument: &[PpToken], operator: &PpToken) -> Result<PpToken> {
    let mut text = String::from("\"");
    for (at, token) in argument.iter().enumerate() {
        if at > 0 && token.is_spaced {
            text.push(' ');
        }
        let is_quoted = matches!(token.kind, Kind::Text | Kind::Character);
        for c in token.text.chars() {
            if is_quoted && matches!(c, '"' | '\\') {
                text.push('\\');
            }
            text.push(c);
        }
    }
    text.push('"');
    let span = argument.first().map_or(operator.span, |token| token.span);
    check_length(&text, operator)?;
    let made = PpToken::new(Kind::Text, &text, span);
    Ok(PpToken { is_spaced: operator.is_spaced, ..made })
}

/// The union of both hide sets.
pub(super) fn union(one: &HideSet, other: &HideSet) -> HideSet {
    let (Some(left), Some(right)) = (one, other) else {
        return one.clone().or_else(|| other.clone());
    };
    if right.iter().all(|number| left.binary_search(number).is_ok()) {
        return Some(Rc::clone(left));
    }
    let mut all: Vec<u32> = left.iter().chain(right.iter()).copied().collect();
    all.sort_unstable();
    all.dedup();
    Some(all.into())
}

/// The intersection of both hide sets.
pub(super) fn intersection(one: &HideSet, other: &HideSet) -> HideSet {
    let (Some(left), Some(right)) = (one, other) else { return None };
    let both: Vec<u32> =
        left.iter().copied().filter(|number| right.binary_search(number).is_ok()).collect();
    if both.is_empty() { None } else { Some(both.into()) }
}
