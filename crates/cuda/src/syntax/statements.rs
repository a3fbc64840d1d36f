//! Statements (ISO C++17 \[stmt\]).
//!
//! An annotation is not a statement for the compiler. If it precedes the only statement of a branch or loop, both
//! together are read as a block.

use super::ast::{Condition, Declarator, Expr, Stmt, StmtKind};
use super::builtin;
use super::declarators::Position;
use super::parser::Parser;
use super::scopes::Meaning;
use crate::Result;
use crate::token::TokenKind;
use base::Span;

impl Parser<'_> {
    /// `{ … }` in a scope of its own.
    fn block(&mut self) -> Result<Vec<Stmt>> {
        let mut statements = Vec::new();
        self.scoped(|parser| parser.block_into(&mut statements))?;
        Ok(statements)
    }

    /// `{ … }` in the current scope.
    pub(super) fn block_into(&mut self, out: &mut Vec<Stmt>) -> Result<()> {
        self.nested(|parser| {
            parser.expect("{")?;
            while !parser.take("}") {
                if parser.is_end() {
                    return Err(parser.error("expected `}`"));
                }
                parser.statement(out)?;
            }
            Ok(())
        })
    }

    /// The statement of a branch, loop or label.
    fn substatement(&mut self) -> Result<Box<Stmt>> {
        let start = self.span();
        let mut statements = Vec::new();
        self.scoped(|parser| {
            parser.nested(|parser| {
                while *parser.kind() == TokenKind::AnnotationStart {
                    parser.statement(&mut statements)?;
                }
                if parser.is("}") && !statements.is_empty() {
                    return Ok(());
                }
                parser.statement(&mut statements)
            })
        })?;
        let span = self.since(start);
        let only = if statements.len() == 1 { statements.pop() } else { None };
        Ok(Box::new(only.unwrap_or(Stmt { kind: StmtKind::Block(statements), span })))
    }

    fn statement(&mut self, out: &mut Vec<Stmt>) -> Result<()> {
        let start = self.span();
        self.skip_statement_attributes()?;
        let kind = match self.kind() {
            TokenKind::AnnotationStart => StmtKind::Clauses(self.clauses_if_any()?),
            TokenKind::Punct(";") => {
                self.advance();
                StmtKind::Expr(None)
            }
            TokenKind::Punct("{") => StmtKind::Block(self.block()?),
            TokenKind::Pragma(_) => {
                return Err(self.unsupported(start, "this pragma is not supported"));
            }
            TokenKind::Word(word) if self.is_declaration_statement(word) => {
                return self.declaration_statement(out, start);
            }
            TokenKind::Word(word) => self.statement_of_word(word, start)?,
            TokenKind::Punct("::") if self.is_named_type() => {
                return self.declaration_statement(out, start);
            }
            _ => self.expression_statement()?,
        };
        out.push(Stmt { kind, span: self.since(start) });
        Ok(())
    }

    /// `[\[likely\]]` and similar.
    fn skip_statement_attributes(&mut self) -> Result<()> {
        while self.is("[") && self.is_at(1, "[") {
            self.skip_brackets();
        }
        Ok(())
    }

    fn is_declaration_statement(&self, word: &str) -> bool {
        matches!(word, "using" | "static_assert" | "namespace") || self.is_declaration_start()
    }

    fn declaration_statement(&mut self, out: &mut Vec<Stmt>, start: Span) -> Result<()> {
        let made = match self.word() {
            Some("using") => vec![self.using()?],
            Some("static_assert") => vec![self.static_assert()?],
            Some("namespace") => {
                return Err(
                    self.unsupported(start, "names for namespaces in blocks are not supported")
                );
            }
            _ => match self.declaration_or_expression()? {
                Ok(made) => made,
                Err(expression) => {
                    let kind = StmtKind::Expr(Some(expression));
                    out.push(Stmt { kind, span: self.since(start) });
                    return Ok(());
                }
            },
        };
        for one in made {
            let span = one.span;
            out.push(Stmt { kind: StmtKind::Declaration(one), span });
        }
        Ok(())
    }

    /// A statement that begins like a type is a declaration if it can be one (\[stmt.ambig\]).
    fn declaration_or_expression(
        &mut self,
    ) -> Result<std::result::Result<Vec<super::ast::Declaration>, Expr>> {
        if !self.may_be_expression() {
            return self.local_declaration().map(Ok);
        }
        let mark = self.mark();
        let failed = match self.local_declaration() {
            Ok(made) => return Ok(Ok(made)),
            Err(failed) => failed,
        };
        let reached = self.at;
        self.reset(&mark);
        let expression = self.expression().and_then(|one| self.expect(";").map(|()| one));
        match expression {
            Ok(one) => Ok(Err(one)),
            Err(found) => Err(if self.at > reached { found } else { failed }),
        }
    }

    /// Returns `true` if a type is followed by `(` or `{`, as in the expression `T(x).f();`.
    fn may_be_expression(&self) -> bool {
        match self.word() {
            Some(word) if builtin::is_type_word(word) => self.is_at(1, "(") || self.is_at(1, "{"),
            Some("typename" | "decltype") => true,
            Some(word) if builtin::is_keyword(word) => false,
            _ => {
                let (entry, ahead) = self.meaning_here();
                entry.meaning == Meaning::Unknown
                    || self.is_at(ahead, "(")
                    || self.is_at(ahead, "{")
            }
        }
    }

    fn statement_of_word(&mut self, word: &str, start: Span) -> Result<StmtKind> {
        match word {
            "if" => self.scoped(Self::if_statement),
            "for" => self.scoped(Self::for_loop),
            "while" => self.scoped(|parser| {
                parser.advance();
                parser.expect("(")?;
                let condition = parser.bracketed(Self::condition)?;
                parser.expect(")")?;
                Ok(StmtKind::While(condition, parser.substatement()?))
            }),
            "do" => self.do_while(),
            "switch" => self.scoped(Self::switch),
            "case" => {
                self.advance();
                let value = self.case_value()?;
                if self.is("...") {
                    return Err(self.unsupported(start, "ranges of `case` are not supported"));
                }
                self.expect(":")?;
                Ok(StmtKind::Case(value, self.substatement()?))
            }
            "default" => {
                self.advance();
                self.expect(":")?;
                Ok(StmtKind::Default(self.substatement()?))
            }
            "return" => {
                self.advance();
                let value = match self.kind() {
                    TokenKind::Punct(";") => None,
                    TokenKind::Punct("{") => Some(self.braces()?),
                    _ => Some(self.expression()?),
                };
                self.expect(";")?;
                Ok(StmtKind::Return(value))
            }
            "break" | "continue" => {
                self.advance();
                self.expect(";")?;
                Ok(if word == "break" { StmtKind::Break } else { StmtKind::Continue })
            }
            "goto" | "asm" | "__asm__" | "__asm" | "try" => Ok(self.unread(word)),
            _ if self.is_at(1, ":") && !builtin::is_keyword(word) => {
                self.advance();
                self.advance();
                Ok(StmtKind::Unread("a label"))
            }
            _ if self.is_unknown_type() => {
                Err(self.unsupported(start, format!("the type `{word}` is not known")))
            }
            _ => self.expression_statement(),
        }
    }

    /// A statement that is refused when reached.
    fn unread(&mut self, word: &str) -> StmtKind {
        let what = match word {
            "goto" => "`goto`",
            "try" => "`try`",
            _ => "`asm`",
        };
        if word == "try" {
            self.advance();
            self.skip_brackets();
            while self.take_word("catch") {
                self.skip_brackets();
                self.skip_brackets();
            }
        } else {
            while !self.is(";") && !self.is_end() && !self.is("}") {
                if self.is("(") { self.skip_brackets() } else { self.advance() }
            }
            self.take(";");
        }
        StmtKind::Unread(what)
    }

    /// `Foo x` or `Foo* x = …` with an undeclared name.
    fn is_unknown_type(&self) -> bool {
        let is_name = |at| self.word_at(at).is_some_and(|word| !builtin::is_keyword(word));
        if !is_name(0) || self.meaning_here().0.meaning != Meaning::Undeclared {
            return false;
        }
        let (_, ahead) = self.meaning_here();
        is_name(ahead)
            || self.is_at(ahead, "<") && is_name(0) && self.is_angle_declaration(ahead)
            || matches!(self.kind_at(ahead), TokenKind::Punct("*" | "&"))
                && is_name(ahead + 1)
                && self.is_at(ahead + 2, "=")
    }

    /// `Foo<…> x`.
    fn is_angle_declaration(&self, ahead: usize) -> bool {
        let mut at = ahead;
        let mut depth = 0usize;
        loop {
            match self.kind_at(at) {
                TokenKind::Punct("<") => depth += 1,
                TokenKind::Punct(">") => depth = depth.saturating_sub(1),
                TokenKind::Punct(">>") => depth = depth.saturating_sub(2),
                TokenKind::Punct(";" | "{" | "}") | TokenKind::End => return false,
                _ => {}
            }
            at += 1;
            if depth == 0 {
                return self.word_at(at).is_some();
            }
        }
    }

    fn expression_statement(&mut self) -> Result<StmtKind> {
        let expression = self.expression()?;
        self.expect(";")?;
        Ok(StmtKind::Expr(Some(expression)))
    }

    fn case_value(&mut self) -> Result<Expr> {
        self.bracketed(Self::assignment)
    }

    fn if_statement(&mut self) -> Result<StmtKind> {
        self.advance();
        let is_constexpr = self.take_word("constexpr");
        self.expect("(")?;
        let (init, condition) = self.bracketed(Self::init_and_condition)?;
        self.expect(")")?;
        let then = self.substatement()?;
        let otherwise = if self.take_word("else") { Some(self.substatement()?) } else { None };
        Ok(StmtKind::If { init, is_constexpr, condition, then, otherwise })
    }

    fn switch(&mut self) -> Result<StmtKind> {
        self.advance();
        self.expect("(")?;
        let (init, condition) = self.bracketed(Self::init_and_condition)?;
        self.expect(")")?;
        Ok(StmtKind::Switch(init, condition, self.substatement()?))
    }

    /// `init; condition` or a condition alone.
    fn init_and_condition(&mut self) -> Result<(Option<Box<Stmt>>, Condition)> {
        let init = if self.has_semicolon() { self.init_statement()? } else { None };
        Ok((init, self.condition()?))
    }

    /// Returns `true` if there is a `;` before the closing parenthesis.
    fn has_semicolon(&self) -> bool {
        let mut depth = 0usize;
        for ahead in 0.. {
            match self.kind_at(ahead) {
                TokenKind::Punct("(" | "[" | "{") => depth += 1,
                TokenKind::Punct(")" | "]" | "}") if depth == 0 => return false,
                TokenKind::Punct(")" | "]" | "}") => depth -= 1,
                TokenKind::Punct(";") if depth == 0 => return true,
                TokenKind::End => return false,
                _ => {}
            }
        }
        false
    }

    /// A statement before the condition, with its `;`.
    fn init_statement(&mut self) -> Result<Option<Box<Stmt>>> {
        if self.take(";") {
            return Ok(None);
        }
        let start = self.span();
        let mut made = Vec::new();
        if self.is_declaration_start() {
            self.declaration_statement(&mut made, start)?;
        } else {
            let kind = self.expression_statement()?;
            made.push(Stmt { kind, span: self.since(start) });
        }
        if made.len() > 1 {
            return Err(self.unsupported(start, "types that are defined here are not supported"));
        }
        Ok(made.pop().map(Box::new))
    }

    /// An expression, or a declaration with an initialiser.
    fn condition(&mut self) -> Result<Condition> {
        if self.is_declaration_start() {
            let declared = self.attempt(|parser| {
                let declarator = parser.single_declarator()?;
                Ok(declarator.init.is_some().then_some(declarator))
            });
            if let Some(declarator) = declared {
                return Ok(Condition::Declaration(Box::new(declarator)));
            }
        }
        self.expression().map(Condition::Expr)
    }

    /// A declaration of one variable, without `;`.
    fn single_declarator(&mut self) -> Result<Declarator> {
        let leading = self.leading()?;
        let Some(base) = leading.ty else { return Err(self.no_type()) };
        let declared = self.declarator(base, Position::Local)?;
        self.finish_declarator(declared, false)
    }

    fn do_while(&mut self) -> Result<StmtKind> {
        self.advance();
        let body = self.substatement()?;
        if !self.take_word("while") {
            return Err(self.error("expected `while`"));
        }
        self.expect("(")?;
        let condition = self.bracketed(Self::expression)?;
        self.expect(")")?;
        self.expect(";")?;
        Ok(StmtKind::DoWhile(body, condition))
    }

    fn for_loop(&mut self) -> Result<StmtKind> {
        self.advance();
        self.expect("(")?;
        if let Some(variable) = self.range_variable() {
            let range = self.bracketed(Self::initial_expression)?;
            self.expect(")")?;
            let body = self.substatement()?;
            return Ok(StmtKind::RangeFor { variable: Box::new(variable), range, body });
        }
        let init = self.bracketed(Self::init_statement)?;
        let condition = match self.is(";") {
            true => None,
            false => Some(self.bracketed(Self::condition)?),
        };
        self.expect(";")?;
        let step = if self.is(")") { None } else { Some(self.bracketed(Self::expression)?) };
        self.expect(")")?;
        let body = self.substatement()?;
        Ok(StmtKind::For { init, condition, step, body })
    }

    /// `T x :`, if it is a range-based loop.
    fn range_variable(&mut self) -> Option<Declarator> {
        if self.has_semicolon() || !self.is_declaration_start() {
            return None;
        }
        self.attempt(|parser| {
            let leading = parser.leading()?;
            let Some(base) = leading.ty else { return Ok(None) };
            let declared = parser.declarator(base, Position::Local)?;
            let Some(name) = declared.name else { return Ok(None) };
            if !parser.take(":") {
                return Ok(None);
            }
            if let Some(part) = name.parts.first() {
                let text = part.name.text.clone();
                parser.scopes.declare(&text, Meaning::Value);
            }
            Ok(Some(Declarator { name, ty: declared.ty, init: None, bit_width: None }))
        })
    }
}
