//! Expressions (ISO C++17 \[expr\]): operators by precedence, casts, postfix operators. In annotations comparisons
//! chain, and `==>` and `<==>` are operators.
//!
//! Chains of operators that group to the left are read in a loop, so that a sum of thousands of terms needs no stack.

use super::ast::{CastKind, Expr, ExprKind, NamePart};
use super::parser::Parser;
use crate::token::TokenKind;
use crate::{Result, limit};
use base::Span;

const ASSIGNMENTS: &[&str] = &["=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "|=", "^="];

/// The longest chain of operators; longer ones would exhaust the stack of code that walks the tree.
const MAX_CHAIN: usize = 10_000;

/// The precedence of comparisons.
const COMPARISON: u8 = 9;

/// Binary operators and their precedence.
fn precedence(operator: &str, is_annotation: bool) -> Option<u8> {
    Some(match operator {
        "<==>" if is_annotation => 1,
        "==>" if is_annotation => 2,
        "||" => 3,
        "&&" => 4,
        "|" => 5,
        "^" => 6,
        "&" => 7,
        "==" | "!=" => 8,
        "<" | ">" | "<=" | ">=" => COMPARISON,
        "<<" | ">>" => 10,
        "+" | "-" => 11,
        "*" | "/" | "%" => 12,
        _ => return None,
    })
}

impl Parser<'_> {
    /// An expression with commas.
    pub(super) fn expression(&mut self) -> Result<Expr> {
        let start = self.span();
        let mut left = self.assignment()?;
        let mut count = 0;
        while self.take(",") {
            self.count_chain(&mut count)?;
            let right = self.assignment()?;
            let kind = ExprKind::Comma(Box::new(left), Box::new(right));
            left = Expr { kind, span: self.since(start) };
        }
        Ok(left)
    }

    fn count_chain(&self, count: &mut usize) -> Result<()> {
        *count += 1;
        if *count > MAX_CHAIN {
            return Err(limit(self.span(), "this expression is too long"));
        }
        Ok(())
    }

    /// An expression without commas.
    pub(super) fn assignment(&mut self) -> Result<Expr> {
        self.nested(|parser| {
            let start = parser.span();
            if parser.is_word("throw") {
                return Err(parser.unsupported(start, "`throw` is not supported"));
            }
            let left = parser.ternary()?;
            let TokenKind::Punct(punct) = parser.kind() else { return Ok(left) };
            if !ASSIGNMENTS.contains(punct) || parser.is_annotation {
                return Ok(left);
            }
            parser.advance();
            let right = parser.initial_expression()?;
            let kind = ExprKind::Assign(punct, Box::new(left), Box::new(right));
            Ok(Expr { kind, span: parser.since(start) })
        })
    }

    fn ternary(&mut self) -> Result<Expr> {
        let start = self.span();
        let condition = self.binary_expression()?;
        if !self.take("?") {
            return Ok(condition);
        }
        let then = self.bracketed(Self::expression)?;
        self.expect(":")?;
        let otherwise = self.assignment()?;
        let kind = ExprKind::Ternary(Box::new(condition), Box::new(then), Box::new(otherwise));
        Ok(Expr { kind, span: self.since(start) })
    }

    /// An expression without `?:`, assignments and commas.
    pub(super) fn binary_expression(&mut self) -> Result<Expr> {
        self.binary(0)
    }

    fn binary(&mut self, least: u8) -> Result<Expr> {
        let start = self.span();
        let mut left = self.unary()?;
        // The right side of the previous comparison, for `0 <= i < n`.
        let mut chained: Option<Expr> = None;
        let mut count = 0;
        while let Some((operator, level)) = self.operator(least) {
            self.advance();
            self.count_chain(&mut count)?;
            // `==>` groups to the right.
            let inner = if operator == "==>" { level - 1 } else { level };
            let right = self.nested(|parser| parser.binary(inner))?;
            let span = self.since(start);
            let is_chain = self.is_annotation && level == COMPARISON;
            let next = is_chain.then(|| right.clone());
            left = match chained.take().filter(|_| is_chain) {
                Some(middle) => {
                    let second = binary(operator, middle, right, span);
                    binary("&&", left, second, span)
                }
                None => binary(operator, left, right, span),
            };
            chained = next;
        }
        Ok(left)
    }

    /// The next binary operator, if it binds more tightly than `least`.
    fn operator(&self, least: u8) -> Option<(&'static str, u8)> {
        let TokenKind::Punct(operator) = self.kind() else { return None };
        if self.is_in_angles && matches!(*operator, ">" | ">>") {
            return None;
        }
        let level = precedence(operator, self.is_annotation)?;
        (level > least).then_some((*operator, level))
    }

    fn unary(&mut self) -> Result<Expr> {
        self.nested(|parser| {
            let start = parser.span();
            if let TokenKind::Punct(operator) = parser.kind() {
                match *operator {
                    "++" | "--" => {
                        parser.advance();
                        let add = *operator == "++";
                        let operand = Box::new(parser.unary()?);
                        let kind = ExprKind::Step { add, is_prefix: true, operand };
                        return Ok(Expr { kind, span: parser.since(start) });
                    }
                    "-" | "+" | "!" | "~" | "*" | "&" => {
                        parser.advance();
                        let kind = ExprKind::Unary(operator, Box::new(parser.unary()?));
                        return Ok(Expr { kind, span: parser.since(start) });
                    }
                    "(" => {
                        if let Some(cast) = parser.cast(start)? {
                            return Ok(cast);
                        }
                    }
                    _ => {}
                }
            }
            match parser.word() {
                Some("sizeof" | "alignof" | "__alignof__" | "_Alignof") => parser.size_of(start),
                Some("new" | "delete" | "co_await" | "noexcept" | "typeid") => {
                    let word = parser.word().unwrap_or_default();
                    Err(parser.unsupported(start, format!("`{word}` is not supported")))
                }
                _ => parser.postfix(),
            }
        })
    }

    /// `(T)e`, if the parenthesis contains a type.
    fn cast(&mut self, start: Span) -> Result<Option<Expr>> {
        let ty = self.attempt(|parser| {
            parser.advance();
            if !parser.is_type_start() {
                return Ok(None);
            }
            let ty = parser.bracketed(Self::type_id)?;
            Ok(parser.take(")").then_some(ty))
        });
        let Some(ty) = ty else { return Ok(None) };
        if self.is("{") {
            return Err(self.unsupported(start, "compound literals are not supported"));
        }
        let operand = self.unary()?;
        let kind = ExprKind::Cast(CastKind::C, ty, Box::new(operand));
        Ok(Some(Expr { kind, span: self.since(start) }))
    }

    fn size_of(&mut self, start: Span) -> Result<Expr> {
        let is_size = self.is_word("sizeof");
        self.advance();
        if self.is("...") {
            return Err(self.unsupported(start, "`sizeof...` is not supported"));
        }
        let ty = self.attempt(|parser| {
            parser.expect("(")?;
            if !parser.is_type_start() {
                return Ok(None);
            }
            let ty = parser.bracketed(Self::type_id)?;
            Ok(parser.take(")").then_some(ty))
        });
        let word = if is_size { "sizeof" } else { "alignof" };
        let kind = match ty {
            Some(ty) => ExprKind::SizeOfType(word, ty),
            None if is_size => ExprKind::SizeOf(Box::new(self.unary()?)),
            None => {
                return Err(self.unsupported(start, "`alignof` of an expression is not supported"));
            }
        };
        Ok(Expr { kind, span: self.since(start) })
    }

    fn postfix(&mut self) -> Result<Expr> {
        let start = self.span();
        let is_in_parentheses = self.is("(");
        let mut expr = self.operand()?;
        let mut count = 0;
        loop {
            self.count_chain(&mut count)?;
            let TokenKind::Punct(punct) = self.kind() else { return Ok(expr) };
            let kind = match *punct {
                "[" => {
                    self.advance();
                    let index = self.bracketed(|parser| match parser.is("{") {
                        true => parser.braces(),
                        false => parser.expression(),
                    })?;
                    self.expect("]")?;
                    ExprKind::Index(Box::new(expr), Box::new(index))
                }
                // Argument-dependent lookup does not apply to it ([basic.lookup.argdep]/1).
                "(" if is_in_parentheses && matches!(expr.kind, ExprKind::Name(_)) => {
                    let message = "calls of a name in parentheses are not supported";
                    return Err(self.unsupported(start, message));
                }
                "(" => ExprKind::Call(Box::new(expr), self.call_arguments()?),
                "." | "->" => {
                    self.advance();
                    let member = self.member_name()?;
                    ExprKind::Member { object: Box::new(expr), member, arrow: *punct == "->" }
                }
                "++" | "--" => {
                    self.advance();
                    let operand = Box::new(expr);
                    ExprKind::Step { add: *punct == "++", is_prefix: false, operand }
                }
                ".*" | "->*" => {
                    return Err(
                        self.unsupported(self.span(), "pointers to members are not supported")
                    );
                }
                "<<" if self.is_launch() => {
                    return Err(
                        self.unsupported(self.span(), "launches of kernels are not supported here")
                    );
                }
                _ => return Ok(expr),
            };
            expr = Expr { kind, span: self.since(start) };
        }
    }

    /// Returns `true` if `<<` and `<` here are the `<<<` of a launch.
    fn is_launch(&self) -> bool {
        let after = self.tokens.get(self.at + 1).map(|token| token.span);
        self.is_at(1, "<") && after.is_some_and(|after| after.start == self.span().end)
    }

    fn member_name(&mut self) -> Result<NamePart> {
        let span = self.span();
        let has_template_word = self.take_word("template");
        if self.is("~") || self.is_word("operator") {
            return Err(
                self.unsupported(span, "operators and destructors are not called by name here")
            );
        }
        let name = self.name()?;
        if self.is("::") {
            return Err(self.unsupported(span, "qualified members are not supported"));
        }
        let is_template =
            self.is("<") && (has_template_word || self.scopes.is_member_template(&name.text));
        let arguments = if is_template { Some(self.template_arguments()?) } else { None };
        Ok(NamePart { name, arguments })
    }

    /// `(a, b)`.
    pub(super) fn call_arguments(&mut self) -> Result<Vec<Expr>> {
        self.expect("(")?;
        self.bracketed(|parser| parser.expressions_until(")"))
    }

    /// `{1, 2}`.
    pub(super) fn braces(&mut self) -> Result<Expr> {
        let start = self.span();
        self.expect("{")?;
        if self.is(".") && self.word_at(1).is_some() {
            return Err(self.unsupported(start, "designated initialisers are not supported"));
        }
        let parts = self.bracketed(|parser| parser.expressions_until("}"))?;
        Ok(Expr { kind: ExprKind::Braces(parts), span: self.since(start) })
    }

    /// Expressions with commas between them, up to a bracket.
    fn expressions_until(&mut self, close: &str) -> Result<Vec<Expr>> {
        let mut all = Vec::new();
        while !self.take(close) {
            let start = self.span();
            let mut one = self.initial_expression()?;
            if self.take("...") {
                one = Expr { kind: ExprKind::Pack(Box::new(one)), span: self.since(start) };
            }
            all.push(one);
            if !self.take(",") && !self.is(close) {
                return Err(self.error(format!("expected `,` or `{close}`")));
            }
            if close == ")" && self.is(")") && self.is_comma_before() {
                return Err(self.error("expected an expression"));
            }
        }
        Ok(all)
    }

    fn is_comma_before(&self) -> bool {
        let before = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
        before.is_some_and(|token| token.kind == TokenKind::Punct(","))
    }
}

fn binary(operator: &'static str, left: Expr, right: Expr, span: Span) -> Expr {
    Expr { kind: ExprKind::Binary(operator, Box::new(left), Box::new(right)), span }
}
