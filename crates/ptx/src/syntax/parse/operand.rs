//! Instructions and their operands (manual chapter 6).

use super::super::ast::{Expr, Guard, Instruction, Name, Operand};
use super::super::token::{Punct, TokenKind};
use super::{Parse, Parser};
use base::Span;

/// Precedence of `+` and `-`, the only operators that may follow a name in an operand.
const ADDITIVE: u8 = 9;

impl<'a> Parser<'a> {
    /// Parses the rest of an instruction, after its guard and opcode.
    pub(super) fn instruction(
        &mut self,
        guard: Option<Guard<'a>>,
        opcode: Name<'a>,
        start: Span,
    ) -> Parse<Instruction<'a>> {
        let mut modifiers = Vec::new();
        while let Some(modifier) = self.dotted() {
            modifiers.push(modifier);
        }
        let operands = if self.is(Punct::Semicolon) {
            Vec::new()
        } else {
            self.comma_separated(Self::operand)?
        };
        self.expect(Punct::Semicolon, "`,` or `;` after an operand")?;
        Ok(Instruction { guard, opcode, modifiers, operands, at: self.since(start) })
    }

    /// `@p` or `@!p`
    pub(super) fn guard(&mut self) -> Parse<Option<Guard<'a>>> {
        if !self.accept(Punct::At) {
            return Ok(None);
        }
        let negated = self.accept(Punct::Bang);
        let predicate = self.name("a predicate register after `@`")?;
        Ok(Some(Guard { negated, predicate }))
    }

    fn operand(&mut self) -> Parse<Operand<'a>> {
        let first = self.operand_without_pair()?;
        let may_pair = match &first {
            Operand::Expr(expr) => expr.as_name().is_some(),
            Operand::Vector(_) | Operand::Sink(_) => true,
            _ => false,
        };
        if may_pair && self.accept(Punct::Pipe) {
            let second = self.operand_without_pair()?;
            return Ok(Operand::Pair(Box::new((first, second))));
        }
        Ok(first)
    }

    fn operand_without_pair(&mut self) -> Parse<Operand<'a>> {
        match self.token.kind {
            TokenKind::Name => self.named_operand(),
            TokenKind::Punct(Punct::LeftBrace) => {
                Ok(Operand::Vector(self.operands_between(Punct::RightBrace, "`,` or `}`")?))
            }
            TokenKind::Punct(Punct::LeftBracket) => {
                let parts = self.operands_between(Punct::RightBracket, "`,` or `]`")?;
                let address = Operand::Address(parts);
                Ok(match self.dotted() {
                    Some(qualifier) => Operand::Qualified(Box::new(address), qualifier),
                    None => address,
                })
            }
            TokenKind::Punct(Punct::LeftParen) => self.list_or_expression(),
            TokenKind::Number | TokenKind::Dotted => Ok(Operand::Expr(self.expr()?)),
            TokenKind::Punct(Punct::Minus | Punct::Plus | Punct::Bang | Punct::Tilde) => {
                Ok(Operand::Expr(self.expr()?))
            }
            _ => self.fail("an operand"),
        }
    }

    fn named_operand(&mut self) -> Parse<Operand<'a>> {
        let name = self.name("an operand")?;
        if let Some(component) = self.dotted() {
            return Ok(Operand::Component(name, component));
        }
        if name.text == "_" {
            return Ok(Operand::Sink(name.at));
        }
        // The one name that is a constant, so any operator may follow.
        if name.text == "WARP_SZ" {
            return Ok(Operand::Expr(self.continue_binary(Expr::Name(name), 1)?));
        }
        match self.token.kind {
            TokenKind::Punct(Punct::LeftBracket) => self.element(name),
            TokenKind::Punct(Punct::LeftParen) if name.text == "generic" => self.generic(),
            TokenKind::Punct(Punct::Plus | Punct::Minus) => {
                Ok(Operand::Expr(self.continue_binary(Expr::Name(name), ADDITIVE)?))
            }
            _ => Ok(Operand::Expr(Expr::Name(name))),
        }
    }

    fn generic(&mut self) -> Parse<Operand<'a>> {
        self.bump();
        let inner = self.expr()?;
        self.expect(Punct::RightParen, "`)`")?;
        let generic = Expr::Generic(Box::new(inner));
        Ok(Operand::Expr(self.continue_binary(generic, ADDITIVE)?))
    }

    fn element(&mut self, array: Name<'a>) -> Parse<Operand<'a>> {
        self.bump();
        let index = self.nested(Self::operand_without_pair)?;
        self.expect(Punct::RightBracket, "`]`")?;
        Ok(Operand::Element(array, Box::new(index)))
    }

    /// Parses the operands between the current bracket and `close`; may be empty.
    fn operands_between(&mut self, close: Punct, wanted: &str) -> Parse<Vec<Operand<'a>>> {
        self.bump();
        if self.accept(close) {
            return Ok(Vec::new());
        }
        let operands = self.nested(|parser| parser.comma_separated(Self::operand))?;
        self.expect(close, wanted)?;
        Ok(operands)
    }

    /// `(a, b)` of a call, or an expression that starts with a parenthesis such as `(1+2)*3`.
    fn list_or_expression(&mut self) -> Parse<Operand<'a>> {
        let open = self.token.span;
        if self.starts_cast(open) {
            return Ok(Operand::Expr(self.expr()?));
        }
        let mut operands = self.operands_between(Punct::RightParen, "`,` or `)`")?;
        let more = matches!(
            self.token.kind,
            TokenKind::Punct(punct) if !matches!(punct, Punct::Comma | Punct::Semicolon
                | Punct::RightParen | Punct::RightBrace | Punct::RightBracket)
        );
        if more && operands.len() == 1 && matches!(operands[0], Operand::Expr(_)) {
            let Some(Operand::Expr(inner)) = operands.pop() else {
                return self.fail("an expression");
            };
            let left = Expr::Parenthesized(Box::new(inner));
            return Ok(Operand::Expr(self.continue_binary(left, 1)?));
        }
        Ok(Operand::List(operands))
    }

    /// Returns `true` if the type of a cast follows `(`. This is the only place that looks two tokens ahead.
    fn starts_cast(&self, open: Span) -> bool {
        let rest = self.text[open.end as usize..].trim_start();
        rest.starts_with(".s64") || rest.starts_with(".u64")
    }
}
