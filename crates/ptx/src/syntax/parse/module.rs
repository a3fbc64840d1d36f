//! The outermost level of a file (manual §11.1, §11.5 and §11.6).

use super::super::ast::{File, Inlined, Item, Linkage, Loc, Module, Number, Section, SectionLine};
use super::super::token::{Punct, TokenKind};
use super::{Parse, Parser, Unreadable};
use base::{Code, Diagnostic, Span};

impl<'a> Parser<'a> {
    pub(super) fn module(&mut self) -> Module<'a> {
        self.check_version();
        let mut items = Vec::new();
        while !self.at_end() {
            let before = self.token.span;
            match self.item() {
                Ok(item) => items.push(item),
                Err(Unreadable) => self.recover_item(before),
            }
        }
        Module { items }
    }

    /// Reports a file with a wrong beginning (manual §11.1.1). It is probably something else, and saying so is more
    /// useful than naming the expected first word.
    fn check_version(&mut self) {
        if self.peek_dotted() == Some("version") || self.at_end() {
            return;
        }
        if matches!(self.token.kind, TokenKind::Bad(_)) {
            return; // The bad token is about to be reported.
        }
        let message = "PTX begins with `.version`";
        let error = Diagnostic::error(Code::Syntax, self.token.span, message);
        self.error(error.help("is this file PTX? `nvcc -ptx` or `cuobjdump -xptx` writes it"));
    }

    fn item(&mut self) -> Parse<Item<'a>> {
        if self.is(Punct::At) {
            return self.dwarf_line();
        }
        let Some(word) = self.peek_dotted() else {
            return self.fail("a directive such as `.entry` or `.global`");
        };
        match word {
            "version" => {
                self.bump();
                Ok(Item::Version(self.number("the version of PTX")?))
            }
            "target" => {
                self.bump();
                Ok(Item::Target(self.comma_separated(|parser| parser.name("a target"))?))
            }
            "address_size" => {
                self.bump();
                Ok(Item::AddressSize(self.number("32 or 64")?))
            }
            "file" => self.file(),
            "section" => self.section(),
            "pragma" => Ok(Item::Pragma(self.pragma()?)),
            "loc" => Ok(Item::Loc(self.loc()?)),
            "alias" => self.alias(),
            _ => self.declaration(),
        }
    }

    /// Parses a variable or a function.
    fn declaration(&mut self) -> Parse<Item<'a>> {
        let start = self.token.span;
        let mut linkage = None;
        while let Some(found) = self.peek_dotted().and_then(linkage_word) {
            if linkage.replace(found).is_some() {
                return self.fail("one linkage directive");
            }
            self.bump();
        }
        match self.peek_dotted() {
            Some("entry" | "func") => Ok(Item::Function(Box::new(self.function(linkage, start)?))),
            _ if self.peek_space().is_some() => Ok(Item::Variable(self.variable(linkage)?)),
            _ => self.fail("`.entry`, `.func` or a state space"),
        }
    }

    fn file(&mut self) -> Parse<Item<'a>> {
        self.bump();
        let index = self.number("the number of the file")?;
        let path = self.string("the name of the file in quotes")?;
        let mut stamp = Vec::new();
        while self.accept(Punct::Comma) {
            stamp.push(self.number("a time stamp or a file size")?);
        }
        Ok(Item::File(File { index, path, stamp }))
    }

    fn section(&mut self) -> Parse<Item<'a>> {
        let start = self.bump().span;
        if !matches!(self.token.kind, TokenKind::Dotted | TokenKind::Name) {
            return self.fail("the name of a section");
        }
        let span = self.bump().span;
        let name = self.slice(span);
        let at = self.since(start);
        self.expect(Punct::LeftBrace, "`{`")?;
        let mut lines = Vec::new();
        while !self.accept(Punct::RightBrace) {
            lines.push(self.section_line()?);
        }
        Ok(Item::Section(Section { name, lines, at }))
    }

    fn section_line(&mut self) -> Parse<SectionLine<'a>> {
        if let Some(ty) = self.dotted() {
            return Ok(SectionLine::Data(ty, self.comma_separated(Self::section_expr)?));
        }
        let label = self.name("a label, data such as `.b8`, or `}`")?;
        self.expect(Punct::Colon, "`:` after a label")?;
        Ok(SectionLine::Label(label))
    }

    pub(super) fn pragma(&mut self) -> Parse<Vec<&'a str>> {
        self.bump();
        let strings = self.comma_separated(|parser| parser.string("a pragma in quotes"))?;
        self.expect(Punct::Semicolon, "`;` after a pragma")?;
        Ok(strings)
    }

    pub(super) fn loc(&mut self) -> Parse<Loc<'a>> {
        self.bump();
        let position = self.source_position()?;
        if !self.accept(Punct::Comma) {
            return Ok(Loc { position, inlined: None });
        }
        self.keyword("function_name")?;
        let function_name = self.section_expr()?;
        self.expect(Punct::Comma, "`,` before `inlined_at`")?;
        self.keyword("inlined_at")?;
        let inlined = Some(Inlined { function_name, position: self.source_position()? });
        Ok(Loc { position, inlined })
    }

    fn source_position(&mut self) -> Parse<[Number<'a>; 3]> {
        Ok([self.number("a file number")?, self.number("a line")?, self.number("a column")?])
    }

    fn keyword(&mut self, word: &str) -> Parse<()> {
        if self.token.kind == TokenKind::Name && self.slice(self.token.span) == word {
            self.bump();
            return Ok(());
        }
        self.fail(&format!("`{word}`"))
    }

    fn alias(&mut self) -> Parse<Item<'a>> {
        self.bump();
        let alias = self.name("the new name of a function")?;
        self.expect(Punct::Comma, "`,`")?;
        let function = self.name("the name of a function")?;
        self.expect(Punct::Semicolon, "`;`")?;
        Ok(Item::Alias(alias, function))
    }

    /// `@@DWARF …` to the end of its line; it is not needed.
    fn dwarf_line(&mut self) -> Parse<Item<'a>> {
        self.bump();
        self.expect(Punct::At, "`@@DWARF`")?;
        self.keyword("DWARF")?;
        let rest = &self.text[self.previous_end as usize..];
        let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
        let end = self.previous_end as usize + line.len();
        self.lexer.restart_at(u32::try_from(end).unwrap_or(u32::MAX));
        self.token = self.lexer.next_token();
        Ok(Item::Dwarf(line.trim()))
    }

    /// Skips to a word that can only stand at the outermost level. Braces are not counted: after an error it is
    /// unknown which one is missing.
    fn recover_item(&mut self, failed_at: Span) {
        if self.token.span == failed_at {
            self.bump();
        }
        while !self.at_end() && !self.peek_dotted().is_some_and(starts_item) {
            self.bump();
        }
    }
}

fn linkage_word(text: &str) -> Option<Linkage> {
    Some(match text {
        "extern" => Linkage::Extern,
        "visible" => Linkage::Visible,
        "weak" => Linkage::Weak,
        "common" => Linkage::Common,
        _ => return None,
    })
}

/// Words that stand at the outermost level and (almost) nowhere else. `.global`, `.shared` and
/// `.const` are left out: they are modifiers too.
fn starts_item(text: &str) -> bool {
    matches!(
        text,
        "version" | "target" | "address_size" | "file" | "section" | "alias" | "entry" | "func"
    ) || linkage_word(text).is_some()
}
