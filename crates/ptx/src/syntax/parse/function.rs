//! Functions and the statements in them (manual §11.2–11.4).

use super::super::ast::{
    Block, CallPrototype, Function, FunctionDirective, FunctionKind, Linkage, Name, Statement,
    Target, Variable,
};
use super::super::token::{Punct, TokenKind};
use super::{Parse, Parser, Unreadable};
use base::Span;

impl<'a> Parser<'a> {
    pub(super) fn function(
        &mut self,
        linkage: Option<Linkage>,
        start: Span,
    ) -> Parse<Function<'a>> {
        let kind = match self.dotted().map(|word| word.text) {
            Some("entry") => FunctionKind::Entry,
            _ => FunctionKind::Func,
        };
        let mut attributes = Vec::new();
        if self.peek_dotted() == Some("attribute") {
            self.bump();
            attributes = self.attributes()?;
        }
        let returns = self.optional_parameters()?;
        let name = self.name("the name of a function")?;
        let at = self.since(start);
        let params = self.optional_parameters()?;
        let directives = self.function_directives()?;
        let body = if self.accept(Punct::Semicolon) { None } else { Some(self.body()?) };
        Ok(Function { linkage, kind, attributes, returns, name, params, directives, body, at })
    }

    fn optional_parameters(&mut self) -> Parse<Vec<Variable<'a>>> {
        if self.is(Punct::LeftParen) { self.parameters() } else { Ok(Vec::new()) }
    }

    /// Parses all dotted words between the parameters and the body; lowering knows their meaning.
    fn function_directives(&mut self) -> Parse<Vec<FunctionDirective<'a>>> {
        let mut directives = Vec::new();
        while let Some(name) = self.dotted() {
            let (mut arguments, mut strings) = (Vec::new(), Vec::new());
            match self.token.kind {
                TokenKind::String => {
                    strings = self.comma_separated(|parser| parser.string("a string"))?;
                    self.expect(Punct::Semicolon, "`;` after a pragma")?;
                }
                TokenKind::Number | TokenKind::Name | TokenKind::Punct(Punct::LeftParen) => {
                    arguments = self.comma_separated(Self::expr)?;
                }
                _ => {}
            }
            directives.push(FunctionDirective { name, arguments, strings });
        }
        Ok(directives)
    }

    fn body(&mut self) -> Parse<Block<'a>> {
        if !self.is(Punct::LeftBrace) {
            return self.fail("`{` or `;` after the head of a function");
        }
        self.block()
    }

    /// `{ … }`. Errors inside are recorded and the next statement is tried, so that one file can show several.
    fn block(&mut self) -> Parse<Block<'a>> {
        let open = self.bump().span;
        self.nested(|parser| {
            let mut statements = Vec::new();
            while !parser.accept(Punct::RightBrace) {
                if parser.at_end() {
                    return parser.fail("`}` at the end of a function or block");
                }
                match parser.statement() {
                    Ok(statement) => statements.push(statement),
                    Err(Unreadable) if parser.recover_statement() => break,
                    Err(Unreadable) => {}
                }
            }
            Ok(Block { statements, at: parser.since(open) })
        })
    }

    fn statement(&mut self) -> Parse<Statement<'a>> {
        let start = self.token.span;
        match self.token.kind {
            TokenKind::Name => {
                let name = self.name("a statement")?;
                if self.accept(Punct::Colon) {
                    return self.after_label(name);
                }
                Ok(Statement::Instruction(self.instruction(None, name, start)?))
            }
            TokenKind::Punct(Punct::At) => {
                let guard = self.guard()?;
                let opcode = self.name("an instruction after its guard")?;
                Ok(Statement::Instruction(self.instruction(guard, opcode, start)?))
            }
            TokenKind::Punct(Punct::LeftBrace) => Ok(Statement::Block(self.block()?)),
            TokenKind::Dotted => self.directive_statement(),
            _ => self.fail("an instruction, a label, a directive or `}`"),
        }
    }

    fn directive_statement(&mut self) -> Parse<Statement<'a>> {
        match self.peek_dotted() {
            Some("loc") => Ok(Statement::Loc(self.loc()?)),
            Some("pragma") => Ok(Statement::Pragma(self.pragma()?)),
            _ if self.peek_space().is_some() => Ok(Statement::Variable(self.variable(None)?)),
            _ => self.fail("a directive that may stand in a function"),
        }
    }

    /// Parses the statement after `label:`. Three directives take the label as their own name.
    fn after_label(&mut self, label: Name<'a>) -> Parse<Statement<'a>> {
        match self.peek_dotted() {
            Some("branchtargets") => {
                self.bump();
                let targets = self.comma_separated(|parser| {
                    let name = parser.name("a label")?;
                    Ok(Target { name, range: parser.range()? })
                })?;
                self.expect(Punct::Semicolon, "`,` or `;`")?;
                Ok(Statement::BranchTargets(label, targets))
            }
            Some("calltargets") => {
                self.bump();
                let functions = self.comma_separated(|parser| parser.name("a function"))?;
                self.expect(Punct::Semicolon, "`,` or `;`")?;
                Ok(Statement::CallTargets(label, functions))
            }
            Some("callprototype") => {
                self.bump();
                let returns = self.optional_parameters()?;
                self.name("`_` in the place of the function's name")?;
                let params = self.optional_parameters()?;
                let directives = self.function_directives()?;
                self.expect(Punct::Semicolon, "`;`")?;
                let prototype = CallPrototype { label, returns, params, directives };
                Ok(Statement::CallPrototype(Box::new(prototype)))
            }
            _ => Ok(Statement::Label(label)),
        }
    }

    /// Skips the rest of an unreadable statement; returns `true` if the block ended there.
    ///
    /// A `}` may close a vector operand or the block. The next token decides: operands continue with punctuation,
    /// blocks do not.
    fn recover_statement(&mut self) -> bool {
        let mut open_braces = 0u32;
        loop {
            match self.token.kind {
                TokenKind::End => return false,
                TokenKind::Punct(Punct::Semicolon) if open_braces == 0 => {
                    self.bump();
                    return false;
                }
                TokenKind::Punct(Punct::LeftBrace) => open_braces += 1,
                TokenKind::Punct(Punct::RightBrace) if open_braces > 0 => open_braces -= 1,
                TokenKind::Punct(Punct::RightBrace) => {
                    self.bump();
                    if !self.continues_operand() {
                        return true;
                    }
                    continue;
                }
                // A directive that can only start an item: the closing brace is missing.
                TokenKind::Dotted if matches!(self.peek_dotted(), Some("entry" | "visible")) => {
                    return true;
                }
                _ => {}
            }
            self.bump();
        }
    }

    fn continues_operand(&self) -> bool {
        use Punct::{Comma, Pipe, RightBracket, RightParen, Semicolon};
        matches!(
            self.token.kind,
            TokenKind::Punct(Comma | Pipe | RightBracket | RightParen | Semicolon)
        )
    }
}
