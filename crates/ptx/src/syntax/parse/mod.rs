//! Recursive descent over the grammar of PTX (manual chapters 4, 5, 6 and 11).
//!
//! Parsing never fails as a whole: [`parse`] returns the part it understood and every error. After each error it
//! continues at the next statement or item. Depth and the number of errors are limited, so that hostile input ends in
//! a diagnostic rather than a full stack or a million messages. The work is linear in the length of the text.
//!
//! It accepts slightly more than `ptxas` (order of attributes, mixed declarators). The catalogue knows the meaning of
//! instructions and checks their operands.

mod expr;
mod function;
mod module;
mod operand;
mod variable;

use super::ast::{At, Module, Name, Number};
use super::number::Value;
use super::token::{Bad, Lexer, Punct, Token, TokenKind};
use base::{Code, Diagnostic, Span};

/// The deepest nesting of blocks, brackets and parentheses. Compilers need fewer than ten levels.
const MAX_DEPTH: u32 = 200;

/// The number of errors after which the rest of the file is not read.
const MAX_ERRORS: usize = 50;

/// The result of [`parse`].
#[derive(Debug)]
pub struct Parsed<'a> {
    /// Everything that was understood.
    pub module: Module<'a>,
    /// The errors, in order of appearance.
    pub errors: Vec<Diagnostic>,
}

/// Reads a PTX file.
#[must_use]
pub fn parse(text: &str) -> Parsed<'_> {
    if u32::try_from(text.len()).is_err() {
        let error = Diagnostic::error(Code::Limit, Span::default(), "the file exceeds 4 GiB");
        return Parsed { module: Module::default(), errors: vec![error] };
    }
    let mut parser = Parser::new(text);
    let module = parser.module();
    Parsed { module, errors: parser.errors }
}

/// Marks an unreadable construct; the reason is already in [`Parser::errors`].
struct Unreadable;

type Parse<T> = Result<T, Unreadable>;

struct Parser<'a> {
    text: &'a str,
    lexer: Lexer<'a>,
    /// The current token.
    token: Token,
    /// End of the previous token.
    previous_end: u32,
    errors: Vec<Diagnostic>,
    depth: u32,
    /// Set when a limit is reached: the text then counts as ended and errors are not recorded.
    stopped: bool,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Self {
        let mut lexer = Lexer::new(text);
        let token = lexer.next_token();
        Self { text, lexer, token, previous_end: 0, errors: Vec::new(), depth: 0, stopped: false }
    }

    // Tokens.

    fn bump(&mut self) -> Token {
        let token = self.token;
        if !self.stopped {
            self.previous_end = token.span.end;
            self.token = self.lexer.next_token();
        }
        token
    }

    fn slice(&self, span: Span) -> &'a str {
        &self.text[span.range()]
    }

    fn is(&self, punct: Punct) -> bool {
        self.token.kind == TokenKind::Punct(punct)
    }

    fn at_end(&self) -> bool {
        self.token.kind == TokenKind::End
    }

    fn accept(&mut self, punct: Punct) -> bool {
        let found = self.is(punct);
        if found {
            self.bump();
        }
        found
    }

    fn expect(&mut self, punct: Punct, wanted: &str) -> Parse<()> {
        if self.accept(punct) { Ok(()) } else { self.fail(wanted) }
    }

    /// Returns the span from the start of a construct to the last token read.
    fn since(&self, start: Span) -> At {
        At(Span::new(start.start, self.previous_end.max(start.start)))
    }

    fn name(&mut self, wanted: &str) -> Parse<Name<'a>> {
        if self.token.kind != TokenKind::Name {
            return self.fail(wanted);
        }
        let span = self.bump().span;
        Ok(Name { text: self.slice(span), at: At(span) })
    }

    /// Returns the text of the current token if it is dotted, without the dot.
    fn peek_dotted(&self) -> Option<&'a str> {
        (self.token.kind == TokenKind::Dotted).then(|| &self.slice(self.token.span)[1..])
    }

    /// Takes a dotted token; the name is without the dot, its span includes it.
    fn dotted(&mut self) -> Option<Name<'a>> {
        let text = self.peek_dotted()?;
        let span = self.bump().span;
        Some(Name { text, at: At(span) })
    }

    fn number(&mut self, wanted: &str) -> Parse<Number<'a>> {
        if self.token.kind != TokenKind::Number {
            return self.fail(wanted);
        }
        let token = self.bump();
        self.number_value(token.span)
    }

    fn number_value(&mut self, span: Span) -> Parse<Number<'a>> {
        let text = self.slice(span);
        match Value::parse(text) {
            Ok(value) => Ok(Number { text, value, at: At(span) }),
            Err(reason) => {
                let text = abbreviate(text);
                self.error(Diagnostic::error(Code::Constant, span, format!("`{text}` {reason}")));
                Err(Unreadable)
            }
        }
    }

    /// Takes a quoted string, without its quotes.
    fn string(&mut self, wanted: &str) -> Parse<&'a str> {
        if self.token.kind != TokenKind::String {
            return self.fail(wanted);
        }
        let span = self.bump().span;
        Ok(&self.text[span.start as usize + 1..span.end as usize - 1])
    }

    /// Parses a non-empty list, separated by commas.
    fn comma_separated<T>(&mut self, mut one: impl FnMut(&mut Self) -> Parse<T>) -> Parse<Vec<T>> {
        let mut all = vec![one(self)?];
        while self.accept(Punct::Comma) {
            all.push(one(self)?);
        }
        Ok(all)
    }

    /// Runs `inside` one level deeper, unless that is too deep.
    fn nested<T>(&mut self, inside: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.depth == MAX_DEPTH {
            return self.too_deep();
        }
        self.depth += 1;
        let result = inside(self);
        self.depth -= 1;
        result
    }

    fn too_deep<T>(&mut self) -> Parse<T> {
        let message = format!("nested more than {MAX_DEPTH} levels deep");
        self.error(Diagnostic::error(Code::Limit, self.token.span, message));
        self.stop();
        Err(Unreadable)
    }

    // Errors.

    fn fail<T>(&mut self, wanted: &str) -> Parse<T> {
        let message = match self.token.kind {
            TokenKind::Bad(bad) => self.bad_token(bad),
            TokenKind::End => format!("expected {wanted}, but the file ends here"),
            _ => format!("expected {wanted}, found `{}`", abbreviate(self.slice(self.token.span))),
        };
        self.error(Diagnostic::error(Code::Syntax, self.token.span, message));
        Err(Unreadable)
    }

    fn bad_token(&self, bad: Bad) -> String {
        match bad {
            Bad::Character => match self.slice(self.token.span).chars().next() {
                Some('\0') => "a NUL byte: is this a binary file?".to_owned(),
                Some(character) => format!("PTX does not use the character {character:?}"),
                None => "PTX does not use this character".to_owned(),
            },
            Bad::UnterminatedComment => "this comment has no end".to_owned(),
            Bad::UnterminatedString => "this string has no end on its line".to_owned(),
            Bad::Preprocessor => {
                "preprocessor lines are not read: run the preprocessor first".to_owned()
            }
        }
    }

    fn error(&mut self, error: Diagnostic) {
        if self.stopped {
            return;
        }
        let span = error.primary.span;
        self.errors.push(error);
        if self.errors.len() == MAX_ERRORS {
            let message =
                format!("more than {MAX_ERRORS} errors, the rest of the file is not read");
            self.errors.push(Diagnostic::error(Code::Limit, span, message));
            self.stop();
        }
    }

    /// Ends the text here, so that everything unwinds.
    fn stop(&mut self) {
        self.stopped = true;
        let end = self.token.span.end;
        self.token = Token { kind: TokenKind::End, span: Span::new(end, end) };
    }
}

/// Source text short enough for a message.
fn abbreviate(text: &str) -> String {
    const MAX_CHARACTERS: usize = 40;
    match text.char_indices().nth(MAX_CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
