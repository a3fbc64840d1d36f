//! Written types: words of built-in types, names, `auto`, definitions in place (\[dcl.type\]).

use super::ast::{Declaration, Parameter, QualifiedName, TypeKind, TypeSyntax};
use super::builtin;
use super::declarators::Position;
use super::parser::Parser;
use super::scopes::Meaning;
use crate::Result;
use base::Span;

impl Parser<'_> {
    /// Returns `true` if a type begins here.
    pub(super) fn is_type_start(&self) -> bool {
        match self.word() {
            Some(word) if builtin::is_type_word(word) => true,
            Some(
                "const" | "volatile" | "struct" | "class" | "union" | "enum" | "typename" | "auto"
                | "decltype",
            ) => true,
            Some("__restrict__" | "__restrict") => false,
            Some(_) => self.is_named_type(),
            None => self.is("::") && self.is_named_type(),
        }
    }

    /// A type without a name: of casts, `sizeof`, template arguments.
    pub(super) fn type_id(&mut self) -> Result<TypeSyntax> {
        self.nested(|parser| {
            let base = parser.type_specifiers()?;
            let declared = parser.declarator(base, Position::Abstract)?;
            Ok(declared.ty)
        })
    }

    /// The specifiers of a type, without those of a declaration.
    pub(super) fn type_specifiers(&mut self) -> Result<TypeSyntax> {
        let start = self.span();
        let mut found = TypeWords::default();
        while self.type_specifier(&mut found)? {}
        self.finish_type(found, start)
    }

    /// Takes a specifier of a type, if one is next.
    pub(super) fn type_specifier(&mut self, found: &mut TypeWords) -> Result<bool> {
        let Some(word) = self.word() else {
            if self.is("::") && !found.is_complete() && self.is_named_type() {
                found.kind = Some(self.named_type()?);
                return Ok(true);
            }
            return Ok(false);
        };
        match word {
            "const" => found.is_const = true,
            "volatile" => found.is_volatile = true,
            _ if builtin::is_type_word(word) && found.kind.is_none() => {
                found.words.push(word.into())
            }
            "auto" if !found.is_complete() => found.kind = Some(TypeKind::Auto),
            "decltype" if !found.is_complete() => {
                self.advance();
                self.expect("(")?;
                let inner = self.bracketed(Self::expression)?;
                self.expect(")")?;
                found.kind = Some(TypeKind::Decltype(Box::new(inner)));
                return Ok(true);
            }
            "typename" if !found.is_complete() => {
                self.advance();
                found.kind = Some(TypeKind::Named(self.qualified_name()?.0));
                return Ok(true);
            }
            "struct" | "class" | "union" | "enum" if !found.is_complete() => {
                found.kind = Some(self.elaborated()?);
                return Ok(true);
            }
            _ if !found.is_complete() && self.is_named_type() => {
                found.kind = Some(self.named_type()?);
                return Ok(true);
            }
            _ => return Ok(false),
        }
        self.advance();
        Ok(true)
    }

    fn named_type(&mut self) -> Result<TypeKind> {
        let start = self.span();
        let (name, entry) = self.qualified_name()?;
        if entry.meaning.is_type() || entry.meaning == Meaning::Unknown {
            return Ok(TypeKind::Named(name));
        }
        Err(self.unknown_type(&name, start))
    }

    pub(super) fn unknown_type(&self, name: &QualifiedName, span: Span) -> Box<base::Diagnostic> {
        let parts: Vec<&str> = name.parts.iter().map(|part| &*part.name.text).collect();
        self.unsupported(span, format!("the type `{}` is not known", parts.join("::")))
    }

    pub(super) fn finish_type(&self, found: TypeWords, start: Span) -> Result<TypeSyntax> {
        let span = self.since(start);
        let TypeWords { words, kind, is_const, is_volatile } = found;
        let kind = match kind {
            Some(kind) => kind,
            None if !words.is_empty() => TypeKind::Words(words),
            None => return Err(self.no_type()),
        };
        Ok(TypeSyntax { kind, is_const, is_volatile, span })
    }

    /// The error for a missing type.
    pub(super) fn no_type(&self) -> Box<base::Diagnostic> {
        match self.word() {
            Some(word) if !builtin::is_keyword(word) => {
                let message = format!("the type `{word}` is not known");
                self.unsupported(self.span(), message)
            }
            _ => self.error("expected a type"),
        }
    }

    /// `struct S`, `struct { … }`, `enum E`.
    fn elaborated(&mut self) -> Result<TypeKind> {
        let start = self.span();
        let declaration =
            if self.is_word("enum") { self.enumeration()? } else { self.record(None)? };
        match declaration {
            Elaborated::Defined(kind) => {
                let declaration = Declaration { kind, span: self.since(start) };
                Ok(TypeKind::Defined(Box::new(declaration)))
            }
            Elaborated::Named(name) => Ok(TypeKind::Named(name)),
        }
    }

    /// The type `void`, for constructors.
    pub(super) fn void(&self, span: Span) -> TypeSyntax {
        let kind = TypeKind::Words(vec!["void".into()]);
        TypeSyntax { kind, is_const: false, is_volatile: false, span }
    }
}

/// The result of `struct` or `enum`: a definition, or a name.
pub(super) enum Elaborated {
    Defined(super::ast::DeclarationKind),
    Named(QualifiedName),
}

/// Specifiers of a type so far.
#[derive(Default)]
pub(super) struct TypeWords {
    pub(super) words: Vec<Box<str>>,
    pub(super) kind: Option<TypeKind>,
    pub(super) is_const: bool,
    pub(super) is_volatile: bool,
}

impl TypeWords {
    /// Returns `true` if only qualifiers and further type words may follow.
    pub(super) fn is_complete(&self) -> bool {
        self.kind.is_some() || !self.words.is_empty()
    }

    pub(super) fn is_empty(&self) -> bool {
        !self.is_complete() && !self.is_const && !self.is_volatile
    }
}

/// Parameters of a function, with their end.
#[derive(Clone, Debug, Default)]
pub(super) struct ParameterList {
    pub(super) parameters: Vec<Parameter>,
    pub(super) is_variadic: bool,
}
