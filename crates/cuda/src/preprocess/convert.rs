//! Converts preprocessing tokens to tokens (phases 5 to 7 of \[lex.phases\]): evaluates literals, joins adjacent
//! strings, and executes `_Pragma`.

use super::headers::implicit;
use super::lex::lex;
use super::literals::{Literal, LiteralError, character, number, string};
use super::pp_token::{Kind, PpToken, alternative};
use super::pragma;
use super::state::State;
use crate::token::{Token, TokenKind};
use crate::{Result, error, unsupported};

impl State<'_> {
    /// Appends expanded text to the output.
    pub(super) fn emit(&mut self, tokens: Vec<PpToken>) -> Result<()> {
        let mut rest = tokens.into_iter().peekable();
        while let Some(token) = rest.next() {
            if token.is_word("_Pragma") {
                let inside: Vec<PpToken> = rest.by_ref().take(3).collect();
                self.pragma_operator(&token, &inside)?;
                continue;
            }
            self.emit_token(token)?;
        }
        Ok(())
    }

    /// Converts one token and appends it to the output.
    fn emit_token(&mut self, token: PpToken) -> Result<()> {
        let span = token.span;
        let refused = |why: LiteralError| unsupported(span, why.to_string());
        let kind = match token.kind {
            Kind::Word => {
                if let Some(body) = self.implicit_macro(&token) {
                    return self.emit_text(body, &token);
                }
                match alternative(&token.text) {
                    Some(punct) => TokenKind::Punct(punct),
                    None => TokenKind::Word((&*token.text).into()),
                }
            }
            Kind::Number => literal(&token)?,
            Kind::Character => TokenKind::Character(character(&token.text).map_err(refused)?),
            Kind::Text => TokenKind::Text(string(&token.text).map_err(refused)?.into()),
            Kind::Punct(punct @ ("#" | "##")) => {
                return Err(error(span, format!("`{punct}` cannot stand here")));
            }
            Kind::Punct(punct) => TokenKind::Punct(punct),
            Kind::AnnotationStart => TokenKind::AnnotationStart,
            Kind::AnnotationEnd => TokenKind::AnnotationEnd,
            Kind::Nothing => return Ok(()),
            Kind::Other => {
                let text = &token.text;
                let message = if text.ends_with(['"', '\'']) {
                    "this text is not closed".to_owned()
                } else {
                    format!("`{}` is not part of CUDA C++", text.escape_debug())
                };
                return Err(error(span, message));
            }
        };
        self.push(Token { kind, span });
        Ok(())
    }

    /// Adds a token; joins adjacent strings and annotations.
    pub(super) fn push(&mut self, token: Token) {
        if let Some(last) = self.out.last_mut() {
            if let (TokenKind::Text(one), TokenKind::Text(two)) = (&mut last.kind, &token.kind) {
                *one = one.iter().chain(two.iter()).copied().collect();
                return;
            }
            let is_joined =
                token.kind == TokenKind::AnnotationStart && last.kind == TokenKind::AnnotationEnd;
            if is_joined {
                self.out.pop();
                return;
            }
        }
        self.out.push(token);
    }

    /// A macro from headers that nvcc includes by default. NVRTC does not, and refuses the name.
    fn implicit_macro(&mut self, token: &PpToken) -> Option<&'static str> {
        let is_own = self.macros.contains_key(&token.text) || self.undefined.contains(&token.text);
        if is_own || self.symbolic.contains(&token.text) {
            return None;
        }
        implicit(&token.text).map(|(_, body)| body)
    }

    fn emit_text(&mut self, text: &str, at: &PpToken) -> Result<()> {
        for made in lex(text, 0)? {
            self.emit_token(PpToken { span: at.span, ..made })?;
        }
        Ok(())
    }

    fn pragma_operator(&mut self, word: &PpToken, inside: &[PpToken]) -> Result<()> {
        let text = match inside {
            [open, text, close] if open.is("(") && text.kind == Kind::Text && close.is(")") => text,
            _ => return Err(error(word.span, "`_Pragma` takes a string")),
        };
        let bytes = string(&text.text).map_err(|why| unsupported(text.span, why.to_string()))?;
        let line = lex(&String::from_utf8_lossy(&bytes), 0)?;
        let line: Vec<PpToken> =
            line.into_iter().map(|token| PpToken { span: word.span, ..token }).collect();
        pragma::pragma(self, &line, word.span)
    }
}

/// The value of a number.
fn literal(token: &PpToken) -> Result<TokenKind> {
    match number(&token.text) {
        Ok(Literal::Int { value, decimal, unsigned, long }) if value <= u128::from(u64::MAX) => {
            Ok(TokenKind::Int { value, decimal, unsigned, long })
        }
        Ok(Literal::Int { .. }) => Err(error(token.span, "this number does not fit into 64 bits")),
        Ok(Literal::Float { value, single }) => Ok(TokenKind::Float { value, single }),
        Err(wrong) => Err(error(token.span, wrong.to_string())),
    }
}
