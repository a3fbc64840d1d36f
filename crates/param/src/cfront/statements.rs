//! Statements (ISO C++17 [stmt]).

use super::ast::{Stmt, StmtKind};
use super::parser::Parser;
use super::token::{Kind, Result};

impl Parser {
    /// `{ … }`.
    pub(super) fn block(&mut self) -> Result<Vec<Stmt>> {
        self.nested(|parser| {
            parser.expect("{")?;
            let mut statements = Vec::new();
            while !parser.take("}") {
                if *parser.kind() == Kind::End {
                    return Err(parser.error("expected `}`"));
                }
                parser.statement(&mut statements)?;
            }
            Ok(statements)
        })
    }

    /// One statement as a list, so that `if (c) x;` and `if (c) { x; }` are alike.
    fn body(&mut self) -> Result<Vec<Stmt>> {
        if self.is("{") {
            return self.block();
        }
        let mut statements = Vec::new();
        self.nested(|parser| parser.statement(&mut statements))?;
        Ok(statements)
    }

    fn statement(&mut self, out: &mut Vec<Stmt>) -> Result<()> {
        let start = self.span();
        let kind = match self.kind().clone() {
            Kind::AnnotationStart => StmtKind::Annotation(self.clauses_if_any()?),
            Kind::Punct(";") => {
                self.at += 1;
                return Ok(());
            }
            Kind::Punct("{") => StmtKind::Block(self.block()?),
            Kind::Word(word) => self.worded(&word)?,
            _ => self.expression_statement()?,
        };
        out.push(Stmt { kind, span: self.since(start) });
        Ok(())
    }

    fn worded(&mut self, word: &str) -> Result<StmtKind> {
        let start = self.span();
        match word {
            "if" => self.conditional(),
            "for" => self.for_loop(),
            "while" => {
                self.at += 1;
                self.expect("(")?;
                let condition = self.expression()?;
                self.expect(")")?;
                Ok(StmtKind::While(condition, self.body()?))
            }
            "do" => {
                self.at += 1;
                let body = self.body()?;
                if !self.take_word("while") {
                    return Err(self.error("expected `while`"));
                }
                self.expect("(")?;
                let condition = self.expression()?;
                self.expect(")")?;
                self.expect(";")?;
                Ok(StmtKind::DoWhile(body, condition))
            }
            "return" => {
                self.at += 1;
                let value = if self.is(";") { None } else { Some(self.expression()?) };
                self.expect(";")?;
                Ok(StmtKind::Return(value))
            }
            "break" | "continue" => {
                self.at += 1;
                self.expect(";")?;
                Ok(if word == "break" { StmtKind::Break } else { StmtKind::Continue })
            }
            "goto" | "switch" | "asm" | "__asm__" | "try" | "struct" | "union" | "class"
            | "enum" | "typedef" | "using" => {
                let message = format!("`{word}` is not supported here");
                Err(self.unsupported(start, &message))
            }
            _ if !self.is_declaration() && matches!(self.kind_at(1), Kind::Word(_)) => {
                let message = format!("the type `{word}` is not supported");
                Err(self.unsupported(start, &message))
            }
            _ => match self.local_declaration()? {
                Some(declaration) => Ok(StmtKind::Declaration(declaration)),
                None => self.expression_statement(),
            },
        }
    }

    fn expression_statement(&mut self) -> Result<StmtKind> {
        let expression = self.expression()?;
        self.expect(";")?;
        Ok(StmtKind::Expr(expression))
    }

    fn conditional(&mut self) -> Result<StmtKind> {
        self.at += 1;
        self.take_word("constexpr");
        self.expect("(")?;
        let condition = self.expression()?;
        self.expect(")")?;
        let then = self.body()?;
        let otherwise = if self.take_word("else") { self.body()? } else { Vec::new() };
        Ok(StmtKind::If(condition, then, otherwise))
    }

    fn for_loop(&mut self) -> Result<StmtKind> {
        self.at += 1;
        self.expect("(")?;
        let mut init = Vec::new();
        if !self.take(";") {
            self.statement(&mut init)?;
        }
        let condition = if self.is(";") { None } else { Some(self.expression()?) };
        self.expect(";")?;
        let step = if self.is(")") { None } else { Some(self.expression()?) };
        self.expect(")")?;
        let body = self.body()?;
        Ok(StmtKind::For { init, condition, step, body })
    }
}
