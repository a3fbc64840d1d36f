//! Expressions of annotations alone: `\forall`, `\exists`, `\sum`, `\fold`, `\num_of`, and functions such as `\old`.

use super::ast::{Expr, ExprKind, Fold, Name, TypeKind, TypeSyntax};
use super::declarators::single;
use super::parser::Parser;
use super::scopes::Meaning;
use crate::Result;
use crate::token::TokenKind;
use base::Span;

/// Words of annotations that bind a variable.
const QUANTIFIERS: &[&str] = &["\\forall", "\\exists", "\\sum", "\\fold", "\\num_of"];

/// Functions of annotations.
const FUNCTIONS: &[&str] = &[
    "\\old",
    "\\at",
    "\\result",
    "\\other",
    "\\max",
    "\\min",
    "\\abs",
    "\\is_pow2",
    "\\pow2",
    "\\lowbit",
];

impl Parser<'_> {
    /// A word with a backslash.
    pub(super) fn spec_word(&mut self, word: &str, start: Span) -> Result<Expr> {
        self.advance();
        let kind = match word {
            "\\forall" | "\\exists" => self.scoped(|parser| parser.quantified(word, start))?,
            "\\sum" | "\\fold" | "\\num_of" => self.scoped(|parser| parser.folded(word))?,
            _ if FUNCTIONS.contains(&word) => {
                ExprKind::Name(single(Name { text: word.into(), span: start }))
            }
            _ => return Err(self.unknown_word(word, start, QUANTIFIERS.iter().chain(FUNCTIONS))),
        };
        Ok(Expr { kind, span: self.since(start) })
    }

    /// The rest of `\forall int i, j; body`. The body ends with the clause. An unsigned variable is a non-negative
    /// integer; this becomes part of the body.
    fn quantified(&mut self, word: &str, start: Span) -> Result<ExprKind> {
        let (mut names, mut natural) = (Vec::new(), Vec::new());
        loop {
            let ty = self.type_specifiers()?;
            let is_unsigned = self.is_unsigned(&ty)?;
            loop {
                let name = self.name()?;
                self.scopes.declare(&name.text, Meaning::Value);
                if is_unsigned {
                    natural.push(name.clone());
                }
                names.push(name);
                if !self.take(",") || self.is_type_start() {
                    break;
                }
            }
            if self.take(";") {
                break;
            }
            if !self.is_type_start() {
                return Err(self.error("expected `;` after the variables of a quantifier"));
            }
        }
        let mut body = self.assignment()?;
        let operator = if word == "\\forall" { "==>" } else { "&&" };
        let make = |kind| Box::new(Expr { kind, span: start });
        for name in natural {
            let (zero, own) = (make(integer(0)), make(ExprKind::Name(single(name))));
            let above = make(ExprKind::Binary("<=", zero, own));
            let span = body.span;
            body = Expr { span, kind: ExprKind::Binary(operator, above, Box::new(body)) };
        }
        Ok(ExprKind::Quantified(word.into(), names, Box::new(body)))
    }

    /// Returns `true` if a quantifier's integer type is unsigned.
    fn is_unsigned(&self, ty: &TypeSyntax) -> Result<bool> {
        // A narrow type would bound the variable; this is not supported.
        let wrong =
            || crate::error(ty.span, "a quantifier's variables are integers of 32 bits or more");
        match &ty.kind {
            TypeKind::Words(words) => {
                let is_other = |word: &str| {
                    matches!(word, "void" | "bool" | "float" | "double" | "char" | "short")
                };
                if words.iter().any(|word| is_other(word)) {
                    return Err(wrong());
                }
                Ok(words.iter().any(|word| &**word == "unsigned"))
            }
            TypeKind::Named(name) => {
                let text = name.parts.last().map(|part| &*part.name.text).unwrap_or_default();
                match text {
                    "int32_t" | "int64_t" | "ptrdiff_t" | "ssize_t" | "intptr_t" => Ok(false),
                    "size_t" | "uint" | "ulong" | "uint32_t" | "uint64_t" | "uintptr_t" => Ok(true),
                    _ => Err(wrong()),
                }
            }
            _ => Err(wrong()),
        }
    }

    /// The rest of `\sum(k, lo, hi, e)`, `\fold(op, k, lo, hi, e)` or `\num_of(k, lo, hi, P)`.
    fn folded(&mut self, word: &str) -> Result<ExprKind> {
        self.expect("(")?;
        let mut op: Box<str> = "+".into();
        if word == "\\fold" {
            op = match self.kind() {
                TokenKind::Punct(sign @ ("+" | "*" | "|" | "&" | "^")) => (*sign).into(),
                TokenKind::Word(name) => name.trim_start_matches('\\').into(),
                _ => {
                    let message = "expected `+`, `*`, `max`, `min`, `|`, `&`, `^` or a monoid";
                    return Err(self.error(message));
                }
            };
            self.advance();
            self.expect(",")?;
        }
        let variable = self.name()?;
        self.expect(",")?;
        let low = self.bracketed(Self::assignment)?;
        self.expect(",")?;
        let high = self.bracketed(Self::assignment)?;
        self.expect(",")?;
        self.scopes.declare(&variable.text, Meaning::Value);
        let mut body = self.bracketed(Self::assignment)?;
        self.expect(")")?;
        if word == "\\num_of" {
            // The number of values with a property is the sum of ones over them.
            let span = body.span;
            let number = |value: u128| Box::new(Expr { kind: integer(value), span });
            body = Expr { kind: ExprKind::Ternary(Box::new(body), number(1), number(0)), span };
        }
        Ok(ExprKind::Fold(Box::new(Fold { op, variable, low, high, body })))
    }
}

fn integer(value: u128) -> ExprKind {
    ExprKind::Int { value, decimal: true, unsigned: false, long: 0 }
}
