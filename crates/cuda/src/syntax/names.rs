//! Names with `::` and template arguments, names of operators (\[expr.prim.id\], \[temp.names\], \[over.oper\]).

use super::ast::{Expr, ExprKind, Name, NamePart, QualifiedName, TemplateArgument};
use super::builtin;
use super::parser::Parser;
use super::scopes::{Entry, Meaning};
use crate::Result;
use crate::token::TokenKind;

/// Operators that functions can overload; longest first.
const OPERATORS: &[&str] = &[
    "<<=", ">>=", "->*", "==", "!=", "<=", ">=", "&&", "||", "++", "--", "+=", "-=", "*=", "/=",
    "%=", "^=", "&=", "|=", "<<", ">>", "->", "+", "-", "*", "/", "%", "^", "&", "|", "~", "!",
    "=", "<", ">", ",",
];

impl Parser<'_> {
    /// A qualified name and its meaning.
    pub(super) fn qualified_name(&mut self) -> Result<(QualifiedName, Entry)> {
        let is_global = self.take("::");
        let mut parts: Vec<NamePart> = Vec::new();
        let mut before: Option<Entry> = None;
        loop {
            let has_template_word = self.take_word("template");
            let name =
                if self.is_word("operator") { self.operator_name()? } else { self.part_name()? };
            let entry = match before {
                Some(before) => self.scopes.lookup_in(before.scope, &name.text),
                None if is_global => self.scopes.lookup_global(&name.text),
                None => self.scopes.lookup(&name.text),
            };
            let arguments = self.template_arguments_if_any(entry, has_template_word)?;
            parts.push(NamePart { name, arguments });
            let has_next_part = self.is("::")
                && (matches!(self.kind_at(1), TokenKind::Word(_)) || self.is_at(1, "~"));
            if !has_next_part {
                return Ok((QualifiedName { is_global, parts }, entry));
            }
            self.advance();
            before = Some(entry);
        }
    }

    /// A word, or `~` and a word.
    fn part_name(&mut self) -> Result<Name> {
        let start = self.span();
        if !self.take("~") {
            return self.name();
        }
        let name = self.name()?;
        Ok(Name { text: format!("~{}", name.text).into(), span: self.since(start) })
    }

    /// `<…>` after the name of a template, or after a name that the word `template` precedes.
    fn template_arguments_if_any(
        &mut self,
        entry: Entry,
        has_template_word: bool,
    ) -> Result<Option<Vec<TemplateArgument>>> {
        if !self.is("<") {
            return Ok(None);
        }
        if entry.meaning.is_template() || has_template_word {
            return self.template_arguments().map(Some);
        }
        if entry.meaning != Meaning::Unknown {
            return Ok(None);
        }
        // A name of a namespace that is not fully known: a template if it parses as one.
        Ok(self.attempt(|parser| {
            let arguments = parser.template_arguments()?;
            let is_compared = matches!(
                parser.kind(),
                TokenKind::Int { .. } | TokenKind::Float { .. } | TokenKind::Character(_)
            );
            Ok((!is_compared).then_some(arguments))
        }))
    }

    /// `<int, 4>`.
    pub(super) fn template_arguments(&mut self) -> Result<Vec<TemplateArgument>> {
        self.expect("<")?;
        let outer = std::mem::replace(&mut self.is_in_angles, true);
        let arguments = self.nested(|parser| {
            let mut arguments = Vec::new();
            while !parser.is(">") && !parser.is(">>") {
                arguments.push(parser.template_argument()?);
                if !parser.take(",") {
                    break;
                }
            }
            Ok(arguments)
        });
        self.is_in_angles = outer;
        let arguments = arguments?;
        self.expect_greater()?;
        Ok(arguments)
    }

    fn template_argument(&mut self) -> Result<TemplateArgument> {
        if self.is_type_start() {
            let ty = self.attempt(|parser| {
                let ty = parser.type_id()?;
                let ends = [",", ">", ">>", "..."].iter().any(|end| parser.is(end));
                Ok(ends.then_some(ty))
            });
            if let Some(ty) = ty {
                if self.is("...") {
                    let span = self.span();
                    return Err(self.unsupported(span, "packs of types are not supported here"));
                }
                return Ok(TemplateArgument::Type(ty));
            }
        }
        let start = self.span();
        let expr = self.assignment()?;
        if self.take("...") {
            let span = self.since(start);
            return Ok(TemplateArgument::Expr(Expr { kind: ExprKind::Pack(Box::new(expr)), span }));
        }
        Ok(TemplateArgument::Expr(expr))
    }

    /// `operator+`, `operator()`, `operator float`.
    pub(super) fn operator_name(&mut self) -> Result<Name> {
        let start = self.span();
        self.advance();
        let named = |parser: &Self, text: &str| {
            Ok(Name { text: format!("operator{text}").into(), span: parser.since(start) })
        };
        for (open, close) in [("(", ")"), ("[", "]")] {
            if self.is(open) && self.is_at(1, close) {
                self.advance();
                self.advance();
                return named(self, &format!("{open}{close}"));
            }
        }
        if let TokenKind::Punct(found) = self.kind()
            && OPERATORS.contains(found)
        {
            self.advance();
            return named(self, found);
        }
        if matches!(self.word(), Some("new" | "delete"))
            || matches!(self.kind(), TokenKind::Text(_))
        {
            return Err(self.unsupported(start, "this kind of operator is not supported"));
        }
        // A conversion; the caller reads its type.
        if self.is_type_start() {
            return Ok(Name { text: "operator ".into(), span: start });
        }
        Err(self.error("expected an operator"))
    }

    /// The meaning of the qualified name that begins here, and the number of its tokens, without consuming it.
    pub(super) fn meaning_here(&self) -> (Entry, usize) {
        let undeclared = Entry { meaning: Meaning::Undeclared, scope: None };
        let is_global = !self.is_half && self.is("::");
        let mut ahead = usize::from(is_global);
        let mut entry: Option<Entry> = None;
        loop {
            if entry.is_some() && self.word_at(ahead) == Some("template") {
                ahead += 1;
            }
            let Some(word) = self.word_at(ahead) else { return (undeclared, ahead) };
            if builtin::is_keyword(word) {
                return (undeclared, ahead);
            }
            let found = match entry {
                Some(before) => self.scopes.lookup_in(before.scope, word),
                None if is_global => self.scopes.lookup_global(word),
                None => self.scopes.lookup(word),
            };
            entry = Some(found);
            ahead += 1;
            let may_have = found.meaning.is_template() || found.meaning == Meaning::Unknown;
            if may_have && self.is_at(ahead, "<") {
                match self.after_angles(ahead) {
                    Some(after) => ahead = after,
                    None => return (found, ahead),
                }
            }
            if !(self.is_at(ahead, "::") && self.word_at(ahead + 1).is_some()) {
                return (found, ahead);
            }
            ahead += 1;
        }
    }

    /// The position after the `>` that closes the `<` at `ahead`, by counting.
    fn after_angles(&self, mut ahead: usize) -> Option<usize> {
        let (mut angles, mut brackets) = (0usize, 0usize);
        loop {
            match self.kind_at(ahead) {
                TokenKind::Punct("(" | "[" | "{") => brackets += 1,
                TokenKind::Punct(")" | "]" | "}") => brackets = brackets.checked_sub(1)?,
                TokenKind::Punct("<") if brackets == 0 => angles += 1,
                TokenKind::Punct(">") if brackets == 0 => angles = angles.saturating_sub(1),
                TokenKind::Punct(">>") if brackets == 0 => angles = angles.saturating_sub(2),
                TokenKind::Punct(";") | TokenKind::End => return None,
                _ => {}
            }
            ahead += 1;
            if angles == 0 {
                return Some(ahead);
            }
        }
    }

    /// Returns `true` if a named type begins here.
    pub(super) fn is_named_type(&self) -> bool {
        let (entry, ahead) = self.meaning_here();
        match entry.meaning {
            Meaning::Type | Meaning::TypeTemplate => true,
            // For an unknown name, the text after it decides.
            Meaning::Unknown => {
                let is_declared =
                    |at: usize| self.word_at(at).is_some_and(|word| !builtin::is_keyword(word));
                let is_pointer = matches!(self.kind_at(ahead), TokenKind::Punct("*" | "&" | "&&"))
                    && is_declared(ahead + 1)
                    && matches!(self.kind_at(ahead + 2), TokenKind::Punct("=" | ";" | "," | ")"));
                is_declared(ahead) || is_pointer
            }
            _ => false,
        }
    }
}
