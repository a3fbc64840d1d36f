//! Tokens to syntax: precedence climbing for expressions, one function per statement.

use super::Error;
use super::ast::{Binary, Expression, Script, Section, Statement, Unary};
use super::lexer::{Token, tokens};

/// Nested deeper than this, an expression is refused rather than the stack exhausted.
const MAX_DEPTH: u32 = 200;

/// Operators of a chain such as `a + b + c`.
const MAX_OPERATORS: usize = 2000;

/// Reads one expression.
///
/// # Errors
/// When the text is not an expression.
pub fn parse_expression(text: &str) -> Result<Expression, Error> {
    let mut parser = Parser::new(text)?;
    let expression = parser.expression(0)?;
    parser.skip_line_ends();
    parser.at_end()?;
    Ok(expression)
}

/// Reads a script.
///
/// # Errors
/// When the text is not a script.
pub fn parse_script(text: &str) -> Result<Script, Error> {
    let mut parser = Parser::new(text)?;
    let mut script = Script::default();
    loop {
        parser.skip_line_ends();
        if parser.next.is_none() {
            return Ok(script);
        }
        parser.item(&mut script)?;
    }
}

struct Parser {
    rest: std::vec::IntoIter<(Token, u32)>,
    next: Option<(Token, u32)>,
    line: u32,
    depth: u32,
}

/// Binding strength and operator for an infix symbol or word.
fn infix(token: &Token) -> Option<(u8, Binary)> {
    Some(match token {
        Token::Word(word) if word == "or" => (1, Binary::Or),
        Token::Word(word) if word == "and" => (2, Binary::And),
        Token::Symbol("<") => (4, Binary::Less),
        Token::Symbol("<=") => (4, Binary::LessEqual),
        Token::Symbol(">") => (4, Binary::Greater),
        Token::Symbol(">=") => (4, Binary::GreaterEqual),
        Token::Symbol("==") => (4, Binary::Equal),
        Token::Symbol("!=") => (4, Binary::NotEqual),
        Token::Symbol("+") => (5, Binary::Add),
        Token::Symbol("-") => (5, Binary::Subtract),
        Token::Symbol("*") => (6, Binary::Multiply),
        Token::Symbol("/") => (6, Binary::Divide),
        Token::Symbol("%") => (6, Binary::Remainder),
        Token::Symbol("^") => (8, Binary::Power),
        _ => return None,
    })
}

impl Parser {
    fn new(text: &str) -> Result<Self, Error> {
        let mut rest = tokens(text)?.into_iter();
        let next = rest.next();
        Ok(Self { rest, next, line: 1, depth: 0 })
    }

    fn item(&mut self, script: &mut Script) -> Result<(), Error> {
        let word = self.word()?;
        match word.as_str() {
            "size" => {
                let name = self.word()?;
                self.keyword("in")?;
                let mut values = Vec::new();
                while let Some((Token::Number(value), _)) = &self.next {
                    let value = value.to_i64();
                    values.push(value.ok_or_else(|| self.error("a size is an integer"))?);
                    self.advance();
                }
                script.sizes.push((name, values));
            }
            "input" => loop {
                let name = self.word()?;
                let dimensions = self.indices()?;
                script.inputs.push((name, dimensions));
                if !self.accept(",") {
                    break;
                }
            },
            "assume" => script.assumptions.push(self.expression(0)?),
            _ if self.accept("{") => {
                let body = self.block()?;
                script.sections.push(Section { name: word, body });
            }
            _ => {
                let mut words = Vec::new();
                while let Some((Token::Word(word), _)) = &self.next {
                    words.push(word.clone());
                    self.advance();
                }
                script.directives.push((word, words.join(" ")));
            }
        }
        self.line_end()
    }

    /// Statements up to the closing brace.
    fn block(&mut self) -> Result<Vec<Statement>, Error> {
        let mut body = Vec::new();
        loop {
            self.skip_line_ends();
            if self.accept("}") {
                return Ok(body);
            }
            body.push(self.statement()?);
            if !matches!(self.next, Some((Token::Symbol("}"), _))) {
                self.line_end()?;
            }
        }
    }

    fn statement(&mut self) -> Result<Statement, Error> {
        let word = self.word()?;
        match word.as_str() {
            "out" => Ok(Statement::Out(self.expression(0)?)),
            "for" => self.for_loop(),
            _ => {
                let indices = self.indices()?;
                self.expect("=")?;
                Ok(Statement::Assign { name: word, indices, value: self.expression(0)? })
            }
        }
    }

    fn for_loop(&mut self) -> Result<Statement, Error> {
        let variable = self.word()?;
        self.keyword("in")?;
        let reverse = self.accept_keyword("reverse");
        let first = self.expression(5)?;
        self.expect("..")?;
        let end = self.expression(5)?;
        let step = if self.accept_keyword("by") { Some(self.expression(5)?) } else { None };
        self.expect("{")?;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error("nested too deeply"));
        }
        let body = self.block()?;
        self.depth -= 1;
        Ok(Statement::For { variable, first, end, step, reverse, body })
    }

    /// Parses an expression whose operators bind at least as tightly as `strength`.
    fn expression(&mut self, strength: u8) -> Result<Expression, Error> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error("nested too deeply"));
        }
        let mut left = self.prefix()?;
        let mut operators = 0;
        while let Some((token, _)) = &self.next {
            let Some((binding, operator)) = infix(token).filter(|found| found.0 >= strength) else {
                break;
            };
            self.advance();
            // The tree of a chain is as deep as the chain is long, and other code walks it recursively.
            operators += 1;
            if operators > MAX_OPERATORS {
                return Err(self.error("more than 2000 operators in a row"));
            }
            // Powers group to the right, everything else to the left.
            let right = self.expression(if operator == Binary::Power { 7 } else { binding + 1 })?;
            left = Expression::Binary(operator, left.into(), right.into());
        }
        self.depth -= 1;
        Ok(left)
    }

    fn prefix(&mut self) -> Result<Expression, Error> {
        if self.accept("-") {
            return Ok(Expression::Unary(Unary::Negate, self.expression(7)?.into()));
        }
        if self.accept_keyword("not") {
            return Ok(Expression::Unary(Unary::Not, self.expression(3)?.into()));
        }
        if self.accept("(") {
            let inner = self.expression(0)?;
            self.expect(")")?;
            return Ok(inner);
        }
        if let Some((Token::Number(value), _)) = &self.next {
            let value = value.clone();
            self.advance();
            return Ok(Expression::Number(value));
        }
        let word = self.word()?;
        if self.accept("(") {
            return Ok(Expression::Call(word, self.list(")")?));
        }
        match word.as_str() {
            "pi" => Ok(Expression::Pi),
            "inf" => Ok(Expression::Infinity),
            _ => Ok(Expression::Name(word, self.indices()?)),
        }
    }

    fn indices(&mut self) -> Result<Vec<Expression>, Error> {
        if self.accept("[") { self.list("]") } else { Ok(Vec::new()) }
    }

    fn list(&mut self, close: &'static str) -> Result<Vec<Expression>, Error> {
        let mut items = vec![self.expression(0)?];
        while self.accept(",") {
            items.push(self.expression(0)?);
        }
        self.expect(close)?;
        Ok(items)
    }

    fn word(&mut self) -> Result<String, Error> {
        match &self.next {
            Some((Token::Word(word), _)) => {
                let word = word.clone();
                self.advance();
                Ok(word)
            }
            _ => Err(self.error("a name is missing")),
        }
    }

    fn keyword(&mut self, word: &str) -> Result<(), Error> {
        if self.accept_keyword(word) {
            Ok(())
        } else {
            Err(self.error(&format!("`{word}` is missing")))
        }
    }

    fn accept_keyword(&mut self, word: &str) -> bool {
        let found = matches!(&self.next, Some((Token::Word(next), _)) if next == word);
        if found {
            self.advance();
        }
        found
    }

    fn accept(&mut self, symbol: &'static str) -> bool {
        let found = matches!(&self.next, Some((Token::Symbol(next), _)) if *next == symbol);
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, symbol: &'static str) -> Result<(), Error> {
        if self.accept(symbol) {
            Ok(())
        } else {
            Err(self.error(&format!("`{symbol}` is missing")))
        }
    }

    fn skip_line_ends(&mut self) {
        while matches!(self.next, Some((Token::LineEnd | Token::Symbol(";"), _))) {
            self.advance();
        }
    }

    fn line_end(&mut self) -> Result<(), Error> {
        match self.next {
            None | Some((Token::LineEnd | Token::Symbol(";"), _)) => Ok(()),
            Some(_) => Err(self.error("the line should end here")),
        }
    }

    fn at_end(&self) -> Result<(), Error> {
        if self.next.is_none() {
            Ok(())
        } else {
            Err(self.error("something follows the expression"))
        }
    }

    fn advance(&mut self) {
        self.next = self.rest.next();
        if let Some((_, line)) = &self.next {
            self.line = *line;
        }
    }

    fn error(&self, message: &str) -> Error {
        Error::new(self.line, message)
    }
}
