//! Declarators (\[dcl.decl\]): pointers, references, arrays, functions, and parentheses among them; parameters.

use super::ast::{Expr, Name, NamePart, Parameter, QualifiedName, TypeKind, TypeSyntax};
use super::parser::Parser;
use super::scopes::Meaning;
use super::types::ParameterList;
use crate::token::TokenKind;
use crate::{Result, limit};
use base::Span;

/// The place of a declarator.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    /// No name: only a type.
    Abstract,
    /// An optional name: parameters.
    Parameter,
    /// A name, of a variable or function.
    Named,
    /// Like `Named`, in a block, where parentheses may contain an initialiser.
    Local,
}

/// The result of a declarator.
pub(super) struct Declared {
    pub(super) name: Option<QualifiedName>,
    pub(super) ty: TypeSyntax,
    /// The function's parameters end in `...`.
    pub(super) is_variadic: bool,
    /// Set if it is a pack of parameters.
    pub(super) is_pack: bool,
}

/// The text after a declared name.
enum Suffix {
    Array(Option<Expr>),
    Function(ParameterList),
}

/// The most pointers, references, arrays and functions that make up a type (the 256 of \[implimits\]).
const MAX_DERIVATIONS: usize = 256;

/// The pointers, references, arrays and functions that make up a type.
fn derivations(mut ty: &TypeSyntax) -> usize {
    let mut count = 0;
    while let TypeKind::Pointer(inner)
    | TypeKind::Reference(inner)
    | TypeKind::RvalueReference(inner)
    | TypeKind::Array(inner, _)
    | TypeKind::Function(inner, _) = &ty.kind
    {
        (ty, count) = (inner, count + 1);
    }
    count
}

impl Parser<'_> {
    /// A declarator of the type `base`.
    pub(super) fn declarator(&mut self, base: TypeSyntax, position: Position) -> Result<Declared> {
        self.nested(|parser| {
            let start = parser.span();
            let ty = parser.pointers(base)?;
            let is_pack = parser.take("...");
            parser.skip_attributes()?;
            if parser.is("(") && parser.is_nested_declarator(position) {
                return parser.parenthesised(ty, position);
            }
            let name = parser.declared_name(position)?;
            parser.skip_attributes()?;
            let (ty, is_variadic) = parser.suffixes(ty, position, start)?;
            Ok(Declared { name, ty, is_variadic, is_pack })
        })
    }

    /// `*`, `&`, `&&` with their qualifiers.
    pub(super) fn pointers(&mut self, mut ty: TypeSyntax) -> Result<TypeSyntax> {
        let mut depth = derivations(&ty);
        loop {
            let start = ty.span;
            let make: fn(Box<TypeSyntax>) -> TypeKind = match self.kind() {
                TokenKind::Punct("*") => TypeKind::Pointer,
                TokenKind::Punct("&") => TypeKind::Reference,
                TokenKind::Punct("&&") => TypeKind::RvalueReference,
                _ if self.is_member_pointer() => {
                    return Err(
                        self.unsupported(self.span(), "pointers to members are not supported")
                    );
                }
                _ => return Ok(ty),
            };
            depth += 1;
            self.check_depth(depth)?;
            self.advance();
            let kind = make(Box::new(ty));
            ty = TypeSyntax { kind, is_const: false, is_volatile: false, span: self.since(start) };
            loop {
                match self.word() {
                    Some("const") => ty.is_const = true,
                    Some("volatile") => ty.is_volatile = true,
                    Some("__restrict__" | "__restrict" | "restrict") => {}
                    _ => break,
                }
                self.advance();
            }
        }
    }

    fn check_depth(&self, derivations: usize) -> Result<()> {
        match derivations > MAX_DERIVATIONS {
            true => Err(limit(self.span(), "this type is nested too deeply")),
            false => Ok(()),
        }
    }

    fn is_member_pointer(&self) -> bool {
        self.word().is_some() && self.is_at(1, "::") && self.is_at(2, "*")
    }

    /// Returns `true` if the parenthesis here contains a declarator rather than parameters.
    fn is_nested_declarator(&self, position: Position) -> bool {
        match self.kind_at(1) {
            TokenKind::Punct("*" | "&" | "&&") => true,
            TokenKind::Punct("(") => position != Position::Abstract,
            TokenKind::Word(word) if position != Position::Abstract => {
                // `int (a)` declares `a`; `int (float)` is a function.
                let is_type = super::builtin::is_type_word(word)
                    || super::builtin::is_keyword(word)
                    || self.scopes.lookup(word).meaning.is_type();
                !is_type
            }
            _ => false,
        }
    }

    /// `(*a)[3]`: the text after the parenthesis belongs to the outer type, so it is read first.
    fn parenthesised(&mut self, ty: TypeSyntax, position: Position) -> Result<Declared> {
        let start = self.span();
        let open = self.at;
        self.skip_brackets();
        let (ty, _) = self.suffixes(ty, position, start)?;
        let end = std::mem::replace(&mut self.at, open + 1);
        let declared = self.declarator(ty, position)?;
        self.expect(")")?;
        self.at = end;
        self.is_half = false;
        Ok(declared)
    }

    fn declared_name(&mut self, position: Position) -> Result<Option<QualifiedName>> {
        let is_name = self.word().is_some_and(|word| !super::builtin::is_keyword(word));
        match position {
            Position::Abstract => Ok(None),
            Position::Parameter if !is_name => Ok(None),
            Position::Parameter => Ok(Some(single(self.name()?))),
            Position::Local => Ok(Some(single(self.name()?))),
            Position::Named => self.declared_qualified().map(Some),
        }
    }

    /// The name of a function or variable, which may be a member of something.
    fn declared_qualified(&mut self) -> Result<QualifiedName> {
        let is_plain = matches!(self.word(), Some(word) if word != "operator")
            && !self.is_at(1, "::")
            && !self.is_at(1, "<");
        if is_plain {
            return Ok(single(self.name()?));
        }
        Ok(self.qualified_name()?.0)
    }

    /// Arrays and parameters after a name.
    fn suffixes(
        &mut self,
        ty: TypeSyntax,
        position: Position,
        start: Span,
    ) -> Result<(TypeSyntax, bool)> {
        let mut suffixes = Vec::new();
        loop {
            if self.is("[") && !self.is_at(1, "[") {
                self.advance();
                let size = match self.is("]") {
                    true => None,
                    false => Some(self.bracketed(Self::expression)?),
                };
                self.expect("]")?;
                suffixes.push(Suffix::Array(size));
            } else if self.is("(") {
                match self.parameters_if_any(position)? {
                    Some(list) => suffixes.push(Suffix::Function(list)),
                    None => break,
                }
            } else {
                break;
            }
        }
        self.check_depth(derivations(&ty) + suffixes.len())?;
        let is_variadic =
            matches!(suffixes.first(), Some(Suffix::Function(list)) if list.is_variadic);
        let span = self.since(start).to(ty.span);
        let ty = suffixes.into_iter().rev().fold(ty, |ty, suffix| {
            let kind = match suffix {
                Suffix::Array(size) => TypeKind::Array(Box::new(ty), size.map(Box::new)),
                Suffix::Function(list) => TypeKind::Function(Box::new(ty), list.parameters),
            };
            TypeSyntax { kind, is_const: false, is_volatile: false, span }
        });
        Ok((ty, is_variadic))
    }

    /// Parameters, unless the parenthesis contains an initialiser.
    fn parameters_if_any(&mut self, position: Position) -> Result<Option<ParameterList>> {
        let begins = self.is_at(1, ")") || self.is_at(1, "...") || self.is_parameter_at_next();
        if !begins {
            return match position {
                Position::Named | Position::Local if !self.is_unknown_parameter() => Ok(None),
                Position::Named => self.parameters().map(Some),
                _ => Ok(None),
            };
        }
        if position == Position::Local {
            // `T x(U(y));` may be either; it is a function if it can be ([dcl.ambig.res]).
            return Ok(self.attempt(|parser| parser.parameters().map(Some)));
        }
        match position {
            Position::Named => match self.attempt(|parser| parser.parameters().map(Some)) {
                Some(list) => Ok(Some(list)),
                None if self.is_initialiser() => Ok(None),
                None => self.parameters().map(Some),
            },
            _ => self.parameters().map(Some),
        }
    }

    /// Returns `true` if the parenthesis here contains expressions, and the declarator ends after it.
    fn is_initialiser(&mut self) -> bool {
        let mark = self.mark();
        let fits = self.call_arguments().is_ok() && (self.is(";") || self.is(","));
        self.reset(&mark);
        fits
    }

    /// `(Foo x` with an unknown type: parameters all the same.
    fn is_unknown_parameter(&self) -> bool {
        let is_name = |at| self.word_at(at).is_some_and(|word| !super::builtin::is_keyword(word));
        is_name(1)
            && (is_name(2)
                || matches!(self.kind_at(2), TokenKind::Punct("*" | "&" | "&&"))
                    && is_name(3)
                    && matches!(self.kind_at(4), TokenKind::Punct("," | ")" | "=" | "[")))
            && self.scopes.lookup(self.word_at(1).unwrap_or_default()).meaning
                == Meaning::Undeclared
    }

    fn is_parameter_at_next(&mut self) -> bool {
        let mark = self.mark();
        self.advance();
        let begins = self.is_declaration_start();
        self.reset(&mark);
        begins
    }

    /// `(int a, float* b = 0)`.
    pub(super) fn parameters(&mut self) -> Result<ParameterList> {
        self.expect("(")?;
        self.bracketed(|parser| {
            let mut list = ParameterList::default();
            if parser.is_word("void") && parser.is_at(1, ")") {
                parser.advance();
            }
            while !parser.take(")") {
                if parser.take("...") {
                    list.is_variadic = true;
                    parser.expect(")")?;
                    break;
                }
                list.parameters.push(parser.parameter()?);
                if parser.is("...") {
                    continue;
                }
                if !parser.take(",") && !parser.is(")") {
                    return Err(parser.error("expected `,` or `)`"));
                }
            }
            Ok(list)
        })
    }

    fn parameter(&mut self) -> Result<Parameter> {
        let leading = self.leading()?;
        let Some(base) = leading.ty else { return Err(self.no_type()) };
        let declared = self.declarator(base, Position::Parameter)?;
        if declared.is_pack {
            return Err(self.unsupported(declared.ty.span, "packs of parameters are not supported"));
        }
        let name =
            declared.name.and_then(|name| name.parts.into_iter().next()).map(|part| part.name);
        self.skip_attributes()?;
        let default = match self.take("=") {
            true => Some(self.initial_expression()?),
            false => None,
        };
        let name = name.unwrap_or_else(|| self.no_name());
        Ok(Parameter { name, ty: declared.ty, default })
    }

    /// Declares parameters as names of values.
    pub(super) fn declare_parameters(&mut self, parameters: &[Parameter]) {
        for parameter in parameters {
            self.scopes.declare(&parameter.name.text, Meaning::Value);
        }
    }
}

/// A name with one part.
pub(super) fn single(name: Name) -> QualifiedName {
    QualifiedName { is_global: false, parts: vec![NamePart { name, arguments: None }] }
}
