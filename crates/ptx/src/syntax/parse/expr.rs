//! Constant expressions (manual §4.5.4) by precedence climbing.

use super::super::ast::{At, BinaryOp, Expr, Name, UnaryOp};
use super::super::token::{Punct, TokenKind};
use super::{MAX_DEPTH, Parse, Parser};
use base::Span;

impl<'a> Parser<'a> {
    /// Parses an expression with any operator.
    pub(super) fn expr(&mut self) -> Parse<Expr<'a>> {
        self.nested(|parser| {
            let condition = parser.binary(1)?;
            if !parser.accept(Punct::Question) {
                return Ok(condition);
            }
            let then = parser.expr()?;
            parser.expect(Punct::Colon, "`:` of `?:`")?;
            let otherwise = parser.expr()?;
            Ok(Expr::Conditional(Box::new((condition, then, otherwise))))
        })
    }

    /// Operators that bind at least as tightly as `lowest`.
    fn binary(&mut self, lowest: u8) -> Parse<Expr<'a>> {
        let left = self.unary()?;
        self.continue_binary(left, lowest)
    }

    /// Continues after an operand that was already read.
    pub(super) fn continue_binary(&mut self, mut left: Expr<'a>, lowest: u8) -> Parse<Expr<'a>> {
        // A chain of operators nests to the left, so its length is its depth.
        for _ in 0..MAX_DEPTH {
            let Some((op, precedence)) = self.peek_binary().filter(|found| found.1 >= lowest)
            else {
                return Ok(left);
            };
            self.take_binary();
            let right = self.binary(precedence + 1)?;
            left = Expr::Binary(op, Box::new((left, right)));
        }
        self.too_deep()
    }

    /// `%` before a letter or digit was read as a name; after an operand it is the remainder.
    fn take_binary(&mut self) {
        if self.token.kind == TokenKind::Name {
            let after = self.token.span.start + 1;
            self.lexer.restart_at(after);
            self.previous_end = after;
            self.token = self.lexer.next_token();
        } else {
            self.bump();
        }
    }

    fn peek_binary(&self) -> Option<(BinaryOp, u8)> {
        use BinaryOp::*;
        Some(match self.token.kind {
            TokenKind::Name if self.slice(self.token.span).starts_with('%') => (Rem, 10),
            TokenKind::Punct(punct) => match punct {
                Punct::Star => (Mul, 10),
                Punct::Slash => (Div, 10),
                Punct::Percent => (Rem, 10),
                Punct::Plus => (Add, 9),
                Punct::Minus => (Sub, 9),
                Punct::LessLess => (Shl, 8),
                Punct::GreaterGreater => (Shr, 8),
                Punct::Less => (Lt, 7),
                Punct::Greater => (Gt, 7),
                Punct::LessEqual => (Le, 7),
                Punct::GreaterEqual => (Ge, 7),
                Punct::EqualEqual => (Eq, 6),
                Punct::BangEqual => (Ne, 6),
                Punct::Ampersand => (BitAnd, 5),
                Punct::Caret => (BitXor, 4),
                Punct::Pipe => (BitOr, 3),
                Punct::AmpersandAmpersand => (And, 2),
                Punct::PipePipe => (Or, 1),
                _ => return None,
            },
            _ => return None,
        })
    }

    /// Parses a sign or complement with its operand, without binary operators.
    pub(super) fn unary(&mut self) -> Parse<Expr<'a>> {
        let op = match self.token.kind {
            TokenKind::Punct(Punct::Plus) => UnaryOp::Plus,
            TokenKind::Punct(Punct::Minus) => UnaryOp::Minus,
            TokenKind::Punct(Punct::Bang) => UnaryOp::Not,
            TokenKind::Punct(Punct::Tilde) => UnaryOp::Complement,
            _ => return self.primary(),
        };
        self.bump();
        let inner = self.nested(Self::unary)?;
        Ok(Expr::Unary(op, Box::new(inner)))
    }

    fn primary(&mut self) -> Parse<Expr<'a>> {
        match self.token.kind {
            TokenKind::Number => self.number_or_mask(),
            TokenKind::Dotted if self.dot_starts_number() => {
                let token = self.lexer.number_from_dot(self.token.span.start);
                self.previous_end = token.span.end;
                self.token = self.lexer.next_token();
                Ok(Expr::Number(self.number_value(token.span)?))
            }
            TokenKind::Name => self.name_or_generic(),
            TokenKind::Punct(Punct::LeftParen) => self.parenthesized(),
            _ => self.fail("an expression"),
        }
    }

    fn dot_starts_number(&self) -> bool {
        self.peek_dotted().is_some_and(|text| text.starts_with(|c: char| c.is_ascii_digit()))
    }

    fn number_or_mask(&mut self) -> Parse<Expr<'a>> {
        let number = self.number("a number")?;
        if self.accept(Punct::LeftParen) {
            let inner = self.expr()?;
            self.expect(Punct::RightParen, "`)`")?;
            return Ok(Expr::Mask(number, Box::new(inner)));
        }
        Ok(Expr::Number(number))
    }

    fn name_or_generic(&mut self) -> Parse<Expr<'a>> {
        let name = self.name("a name")?;
        if name.text == "generic" && self.accept(Punct::LeftParen) {
            let inner = self.expr()?;
            self.expect(Punct::RightParen, "`)`")?;
            return Ok(Expr::Generic(Box::new(inner)));
        }
        Ok(Expr::Name(name))
    }

    fn parenthesized(&mut self) -> Parse<Expr<'a>> {
        self.bump();
        if let Some("s64" | "u64") = self.peek_dotted()
            && let Some(ty) = self.dotted()
        {
            self.expect(Punct::RightParen, "`)` after the type of a cast")?;
            let inner = self.nested(Self::unary)?;
            return Ok(Expr::Cast(ty, Box::new(inner)));
        }
        let inner = self.expr()?;
        self.expect(Punct::RightParen, "`)`")?;
        Ok(Expr::Parenthesized(Box::new(inner)))
    }

    /// Parses an expression of a debug section; section names keep their dot there: `.debug_info+4`.
    pub(super) fn section_expr(&mut self) -> Parse<Expr<'a>> {
        if self.token.kind == TokenKind::Dotted && !self.dot_starts_number() {
            let span: Span = self.bump().span;
            let name = Expr::Name(Name { text: self.slice(span), at: At(span) });
            return self.continue_binary(name, 9);
        }
        self.expr()
    }
}
