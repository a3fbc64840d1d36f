//! Macros, conditionals and other preprocessor lines (ISO C++17 [cpp]), on tokens.
//!
//! Deviations: `#include <…>` is skipped because the words kernels use are known to the parser, and
//! `#include "…"` is refused because what it holds is not. `##` and `#` in macros are refused. Tokens of an
//! expansion carry the place where the macro is used.

use crate::cfront::token::{Kind, Result, Token};
use base::{Code, Diagnostic, Span};
use std::collections::BTreeMap;

/// Expansions of one use nested deeper than this are taken for a loop.
const MAX_DEPTH: usize = 64;
/// No file expands to more tokens than this.
const MAX_TOKENS: usize = 2_000_000;

struct Macro {
    parameters: Option<Vec<String>>,
    body: Vec<Token>,
}

/// Expands macros and obeys conditionals. Names in `symbolic` stand for themselves, whatever
/// `#define` says.
pub(crate) fn expand(tokens: Vec<Token>, symbolic: &[String]) -> Result<Vec<Token>> {
    let mut state =
        State { macros: BTreeMap::new(), symbolic, out: Vec::new(), conditions: vec![] };
    let mut pending: Vec<Token> = Vec::new();
    for token in tokens {
        match token.kind {
            Kind::Directive(ref inside) => {
                state.flush(&mut pending)?;
                state.directive(inside, token.span)?;
            }
            _ if state.is_skipping() && token.kind != Kind::End => {}
            _ => pending.push(token),
        }
    }
    state.flush(&mut pending)?;
    if let Some(&(_, _, span)) = state.conditions.last() {
        return Err(error(span, "this conditional has no `#endif`"));
    }
    Ok(state.out)
}

/// The names that `symbolic` clauses declare.
pub(crate) fn symbolic_names(tokens: &[Token]) -> Vec<String> {
    let mut names = Vec::new();
    let mut inside = false;
    let mut listing = false;
    for token in tokens {
        match &token.kind {
            Kind::AnnotationStart => inside = true,
            Kind::AnnotationEnd => (inside, listing) = (false, false),
            Kind::Word(word) if inside && word == "symbolic" => listing = true,
            Kind::Word(word) if listing => names.push(word.clone()),
            Kind::Punct(",") => {}
            _ => listing = false,
        }
    }
    names
}

struct State<'s> {
    macros: BTreeMap<String, Macro>,
    symbolic: &'s [String],
    out: Vec<Token>,
    /// For each open `#if`: whether its text is taken, whether a branch was taken already, where.
    conditions: Vec<(bool, bool, Span)>,
}

fn error(span: Span, message: impl Into<Box<str>>) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(Code::Syntax, span, message))
}

fn unsupported(span: Span, message: impl Into<Box<str>>) -> Box<Diagnostic> {
    Box::new(Diagnostic::unsupported(Code::UnsupportedConstruct, span, message))
}

impl State<'_> {
    fn is_skipping(&self) -> bool {
        self.conditions.iter().any(|(taken, ..)| !taken)
    }

    fn flush(&mut self, pending: &mut Vec<Token>) -> Result<()> {
        let tokens = std::mem::take(pending);
        let expanded = self.expanded(&tokens, &mut Vec::new())?;
        self.out.extend(expanded);
        if self.out.len() > MAX_TOKENS {
            let span = self.out.last().map_or(Span::default(), |token| token.span);
            return Err(error(span, "macros expand to too much text"));
        }
        Ok(())
    }

    fn directive(&mut self, inside: &[Token], span: Span) -> Result<()> {
        let Some(Token { kind: Kind::Word(name), .. }) = inside.first() else {
            return if inside.is_empty() { Ok(()) } else { Err(error(span, "no such directive")) };
        };
        let rest = &inside[1..];
        match name.as_str() {
            "if" | "ifdef" | "ifndef" => {
                let outer = !self.is_skipping();
                let taken = outer && self.condition(name, rest, span)?;
                self.conditions.push((taken, taken || !outer, span));
            }
            "elif" | "else" => {
                let Some((_, done, opened)) = self.conditions.pop() else {
                    return Err(error(span, format!("`#{name}` without `#if`")));
                };
                let outer = !self.is_skipping();
                let wanted =
                    outer && !done && (name == "else" || self.condition("if", rest, span)?);
                self.conditions.push((wanted, done || wanted, opened));
            }
            "endif" => {
                if self.conditions.pop().is_none() {
                    return Err(error(span, "`#endif` without `#if`"));
                }
            }
            _ if self.is_skipping() => {}
            "define" => self.define(rest, span)?,
            "undef" => {
                if let Some(Token { kind: Kind::Word(name), .. }) = rest.first() {
                    self.macros.remove(name);
                }
            }
            "include" => {
                if matches!(rest.first(), Some(Token { kind: Kind::Text(_), .. })) {
                    return Err(unsupported(span, "files of your own are not included yet"));
                }
            }
            "pragma" | "line" => {}
            "error" => return Err(error(span, "`#error` is reached")),
            _ => return Err(error(span, format!("`#{name}` is no directive"))),
        }
        Ok(())
    }

    fn define(&mut self, rest: &[Token], span: Span) -> Result<()> {
        let Some(Token { kind: Kind::Word(name), .. }) = rest.first() else {
            return Err(error(span, "`#define` needs a name"));
        };
        let is_function =
            rest.get(1).is_some_and(|token| token.kind == Kind::Punct("(") && !token.spaced);
        let (parameters, body) = if is_function {
            let close = rest.iter().position(|token| token.kind == Kind::Punct(")"));
            let Some(close) = close else {
                return Err(error(span, "the parameters of this macro are not closed"));
            };
            let mut names = Vec::new();
            for token in &rest[2..close] {
                match &token.kind {
                    Kind::Word(word) => names.push(word.clone()),
                    Kind::Punct(",") => {}
                    _ => return Err(unsupported(token.span, "macros with such parameters")),
                }
            }
            (Some(names), &rest[close + 1..])
        } else {
            (None, &rest[1..])
        };
        let glued = |token: &&Token| matches!(token.kind, Kind::Punct("##" | "#"));
        if let Some(token) = body.iter().find(glued) {
            return Err(unsupported(token.span, "`#` and `##` in macros are not supported"));
        }
        self.macros.insert(name.clone(), Macro { parameters, body: body.to_vec() });
        Ok(())
    }

    fn condition(&self, name: &str, rest: &[Token], span: Span) -> Result<bool> {
        if name != "if" {
            let Some(Token { kind: Kind::Word(word), .. }) = rest.first() else {
                return Err(error(span, format!("`#{name}` needs a name")));
            };
            return Ok(self.is_defined(word) == (name == "ifdef"));
        }
        // `defined X` first, then macros, then whatever name is left is 0 ([cpp.cond]).
        let mut resolved = Vec::new();
        let mut at = 0;
        while let Some(token) = rest.get(at) {
            at += 1;
            if token.kind != Kind::Word("defined".to_owned()) {
                resolved.push(token.clone());
                continue;
            }
            let parenthesis = rest.get(at).is_some_and(|next| next.kind == Kind::Punct("("));
            let name = rest.get(at + usize::from(parenthesis));
            let Some(Token { kind: Kind::Word(word), .. }) = name else {
                return Err(error(token.span, "`defined` needs a name"));
            };
            at += 1 + 2 * usize::from(parenthesis);
            let value = u128::from(self.is_defined(word));
            let kind = Kind::Int { value, unsigned: false, long: false };
            resolved.push(Token { kind, ..token.clone() });
        }
        let expanded = self.expanded(&resolved, &mut Vec::new())?;
        let value = super::constant::evaluate(&expanded)
            .ok_or_else(|| unsupported(span, "the value of this condition is not understood"))?;
        Ok(value != 0)
    }

    fn is_defined(&self, word: &str) -> bool {
        // What nvcc defines while it compiles for a device.
        self.macros.contains_key(word) || matches!(word, "__CUDACC__" | "__cplusplus")
    }

    fn expanded(&self, tokens: &[Token], active: &mut Vec<String>) -> Result<Vec<Token>> {
        let mut out = Vec::new();
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            at += 1;
            let Kind::Word(word) = &token.kind else {
                out.push(token.clone());
                continue;
            };
            let known = self.macros.get(word).filter(|_| !self.symbolic.contains(word));
            let Some(found) = known.filter(|_| !active.contains(word)) else {
                out.push(token.clone());
                continue;
            };
            if active.len() > MAX_DEPTH {
                return Err(error(token.span, "macros are nested too deeply"));
            }
            let mut body = match &found.parameters {
                None => found.body.clone(),
                Some(parameters) => {
                    if tokens.get(at).is_none_or(|next| next.kind != Kind::Punct("(")) {
                        out.push(token.clone());
                        continue;
                    }
                    let (arguments, next) = arguments(tokens, at, token.span)?;
                    at = next;
                    let empty = parameters.is_empty() && arguments.iter().all(Vec::is_empty);
                    if !empty && arguments.len() != parameters.len() {
                        return Err(error(token.span, format!("`{word}` takes other arguments")));
                    }
                    let mut expanded = Vec::new();
                    for argument in &arguments {
                        expanded.push(self.expanded(argument, active)?);
                    }
                    substitute(&found.body, parameters, &expanded)
                }
            };
            for inner in &mut body {
                inner.span = token.span;
            }
            active.push(word.clone());
            out.extend(self.expanded(&body, active)?);
            active.pop();
            if out.len() > MAX_TOKENS {
                return Err(error(token.span, "macros expand to too much text"));
            }
        }
        Ok(out)
    }
}

fn substitute(body: &[Token], parameters: &[String], arguments: &[Vec<Token>]) -> Vec<Token> {
    let mut out = Vec::new();
    for token in body {
        let position = match &token.kind {
            Kind::Word(word) => parameters.iter().position(|parameter| parameter == word),
            _ => None,
        };
        match position.and_then(|position| arguments.get(position)) {
            Some(argument) => out.extend(argument.iter().cloned()),
            None => out.push(token.clone()),
        }
    }
    out
}

/// Arguments of a macro whose `(` is at `open`, and the position after its `)`.
fn arguments(tokens: &[Token], open: usize, span: Span) -> Result<(Vec<Vec<Token>>, usize)> {
    let mut arguments = vec![Vec::new()];
    let mut depth = 0;
    for (position, token) in tokens.iter().enumerate().skip(open) {
        match token.kind {
            Kind::Punct("(" | "[" | "{") => depth += 1,
            Kind::Punct(")" | "]" | "}") => depth -= 1,
            _ => {}
        }
        let outermost = depth == 1 && token.kind == Kind::Punct(",");
        if depth == 0 {
            return Ok((arguments, position + 1));
        } else if outermost {
            arguments.push(Vec::new());
        } else if position > open
            && let Some(last) = arguments.last_mut()
        {
            last.push(token.clone());
        }
    }
    Err(error(span, "the arguments of this macro are not closed"))
}
