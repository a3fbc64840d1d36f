//! Operands: literals, names, parentheses, named casts, `T(…)`, lambdas (\[expr.prim\], \[expr.post\]).

use super::ast::{CastKind, Expr, ExprKind, TypeSyntax};
use super::builtin;
use super::parser::Parser;
use super::scopes::Meaning;
use crate::Result;
use crate::token::TokenKind;
use base::Span;

impl Parser<'_> {
    pub(super) fn operand(&mut self) -> Result<Expr> {
        let start = self.span();
        let kind = match self.kind() {
            TokenKind::Int { value, decimal, unsigned, long } => {
                ExprKind::Int { value: *value, decimal: *decimal, unsigned: *unsigned, long: *long }
            }
            TokenKind::Float { value, single } => {
                ExprKind::Float { value: *value, single: *single }
            }
            TokenKind::Character(value) => ExprKind::Character(*value),
            TokenKind::Text(text) => ExprKind::Text(text.clone()),
            TokenKind::Punct("(") => return self.parenthesised_expression(start),
            TokenKind::Punct("[") => return self.lambda(start),
            TokenKind::Punct("::") => return self.name_operand(start),
            TokenKind::Punct("{") => {
                return Err(self.unsupported(start, "statements in expressions are not supported"));
            }
            TokenKind::Word(word) => return self.word_operand(word, start),
            TokenKind::Punct("...") => {
                return Err(self.unsupported(start, "fold expressions are not supported"));
            }
            TokenKind::Pragma(_) => {
                return Err(self.unsupported(start, "a pragma here is not supported"));
            }
            _ => return Err(self.error("expected an expression")),
        };
        self.advance();
        Ok(Expr { kind, span: start })
    }

    fn parenthesised_expression(&mut self, start: Span) -> Result<Expr> {
        self.advance();
        if self.is("...") {
            return Err(self.unsupported(start, "fold expressions are not supported"));
        }
        if self.is("{") {
            return Err(self.unsupported(start, "statements in expressions are not supported"));
        }
        let inner = self.bracketed(Self::expression)?;
        if matches!(self.kind_at(1), TokenKind::Punct("...")) || self.is("...") {
            return Err(self.unsupported(start, "fold expressions are not supported"));
        }
        self.expect(")")?;
        // The parentheses end a chain of comparisons.
        Ok(Expr { span: self.since(start), ..inner })
    }

    /// `[…](…) { … }`: skipped.
    fn lambda(&mut self, start: Span) -> Result<Expr> {
        self.skip_brackets();
        if self.is("(") {
            self.skip_brackets();
        }
        while !self.is("{") {
            let may_stand = self.word().is_some()
                || ["->", "::", "<", ">", "*", "&", ","].iter().any(|punct| self.is(punct));
            if !may_stand {
                return Err(self.error("expected the body of the lambda"));
            }
            self.advance();
        }
        self.skip_brackets();
        Ok(Expr { kind: ExprKind::Lambda, span: self.since(start) })
    }

    fn word_operand(&mut self, word: &str, start: Span) -> Result<Expr> {
        let kind = match word {
            "true" | "false" => ExprKind::Bool(word == "true"),
            "nullptr" => ExprKind::Null,
            "this" => ExprKind::This,
            "static_cast" => return self.named_cast(CastKind::Static, start),
            "reinterpret_cast" => return self.named_cast(CastKind::Reinterpret, start),
            "const_cast" => return self.named_cast(CastKind::Const, start),
            "dynamic_cast" | "__extension__" | "offsetof" | "__builtin_offsetof" | "va_arg"
            | "__builtin_va_arg" | "requires" => {
                return Err(self.unsupported(start, format!("`{word}` is not supported")));
            }
            "asm" | "__asm__" | "__asm" => {
                return Err(self.unsupported(start, "`asm` is not supported here"));
            }
            _ if word.starts_with('\\') => return self.spec_word(word, start),
            _ if self.is_type_start() => return self.construct(start),
            _ if builtin::is_keyword(word) && word != "operator" => {
                return Err(self.error(format!("expected an expression, not `{word}`")));
            }
            _ => return self.name_operand(start),
        };
        self.advance();
        Ok(Expr { kind, span: start })
    }

    /// `static_cast<T>(e)`.
    fn named_cast(&mut self, kind: CastKind, start: Span) -> Result<Expr> {
        self.advance();
        self.expect("<")?;
        let outer = std::mem::replace(&mut self.is_in_angles, true);
        let ty = self.type_id();
        self.is_in_angles = outer;
        let ty = ty?;
        self.expect_greater()?;
        self.expect("(")?;
        let inner = self.bracketed(Self::expression)?;
        self.expect(")")?;
        let kind = ExprKind::Cast(kind, ty, Box::new(inner));
        Ok(Expr { kind, span: self.since(start) })
    }

    /// `T(a, b)` or `T{a, b}`.
    fn construct(&mut self, start: Span) -> Result<Expr> {
        let mark = self.mark();
        let ty = self.type_specifiers()?;
        if self.is("(") {
            let arguments = self.call_arguments()?;
            let kind = ExprKind::Construct { ty, arguments, is_list: false };
            return Ok(Expr { kind, span: self.since(start) });
        }
        if self.is("{") {
            return self.construct_list(ty, start);
        }
        // A name of an open namespace that was mistaken for a type.
        self.reset(&mark);
        if self.meaning_here().0.meaning == Meaning::Unknown {
            return self.name_operand(start);
        }
        Err(self.unsupported(start, "a type as an operand is not supported"))
    }

    fn construct_list(&mut self, ty: TypeSyntax, start: Span) -> Result<Expr> {
        let ExprKind::Braces(arguments) = self.braces()?.kind else {
            return Err(self.error("expected `{`"));
        };
        let kind = ExprKind::Construct { ty, arguments, is_list: true };
        Ok(Expr { kind, span: self.since(start) })
    }

    fn name_operand(&mut self, start: Span) -> Result<Expr> {
        let (name, entry) = self.qualified_name()?;
        // `std::plus<int>{}` with an unknown type.
        if entry.meaning == Meaning::Unknown && self.is("{") {
            return Err(self.unknown_type(&name, start));
        }
        Ok(Expr { kind: ExprKind::Name(name), span: self.since(start) })
    }
}
