//! Converts declarations of templates to text, to recognise two declarations of one template; finds `decltype` in
//! written types.

use crate::syntax::ast::{self, TemplateArgument, TypeKind, TypeSyntax};

/// A template's declaration with numbered parameters, to find the definition of a prototype (\[temp.over.link\]).
/// Expressions other than names and integers count by their place, so prototypes with such expressions are not merged.
pub(super) fn template_text(function: &ast::Function) -> String {
    let parameters = function.template.as_ref().map_or(&[][..], |one| &one.parameters[..]);
    let names: Vec<&str> =
        parameters.iter().map(|parameter| parameter.name.text.as_ref()).collect();
    let mut text = format!("{}|", names.len());
    for parameter in &function.parameters {
        type_text(&parameter.ty, &names, &mut text);
        text.push(',');
    }
    type_text(&function.returns, &names, &mut text);
    text
}

fn type_text(syntax: &TypeSyntax, names: &[&str], out: &mut String) {
    use std::fmt::Write as _;
    let nested = |sign: char, inner: &TypeSyntax, out: &mut String| {
        type_text(inner, names, out);
        out.push(sign);
    };
    match &syntax.kind {
        TypeKind::Words(words) => out.push_str(&words.join(" ")),
        TypeKind::Named(name) => {
            for part in &name.parts {
                match names.iter().position(|name| **name == *part.name.text) {
                    Some(position) => _ = write!(out, "${position}"),
                    None => out.push_str(&part.name.text),
                }
                for argument in part.arguments.iter().flatten() {
                    match argument {
                        TemplateArgument::Type(inner) => type_text(inner, names, out),
                        TemplateArgument::Expr(inner) => expr_text(inner, names, out),
                    }
                    out.push(';');
                }
                out.push_str("::");
            }
        }
        TypeKind::Auto => out.push_str("auto"),
        TypeKind::Pointer(inner) => nested('*', inner, out),
        TypeKind::Reference(inner) => nested('&', inner, out),
        TypeKind::RvalueReference(inner) => nested('%', inner, out),
        TypeKind::Array(inner, size) => {
            nested('[', inner, out);
            if let Some(size) = size {
                expr_text(size, names, out);
            }
        }
        _ => _ = write!(out, "@{:?}", syntax.span),
    }
    if syntax.is_const {
        out.push_str(" const");
    }
    if syntax.is_volatile {
        out.push_str(" volatile");
    }
}

fn expr_text(expr: &ast::Expr, names: &[&str], out: &mut String) {
    use std::fmt::Write as _;
    match &expr.kind {
        ast::ExprKind::Name(name) => match name.parts.as_slice() {
            [part] => match names.iter().position(|name| **name == *part.name.text) {
                Some(position) => _ = write!(out, "${position}"),
                None => out.push_str(&part.name.text),
            },
            _ => _ = write!(out, "@{:?}", expr.span),
        },
        ast::ExprKind::Int { value, .. } => _ = write!(out, "{value}"),
        _ => _ = write!(out, "@{:?}", expr.span),
    }
}

/// Returns `true` if a written type contains `decltype`. A compiler knows the type of every expression; this reader
/// may not.
pub(super) fn has_decltype(syntax: &TypeSyntax) -> bool {
    let in_argument = |template_argument: &TemplateArgument| match template_argument {
        TemplateArgument::Type(ty) => has_decltype(ty),
        TemplateArgument::Expr(_) => false,
    };
    match &syntax.kind {
        TypeKind::Named(name) => {
            name.parts.iter().flat_map(|part| part.arguments.iter().flatten()).any(in_argument)
        }
        TypeKind::Pointer(inner)
        | TypeKind::Reference(inner)
        | TypeKind::RvalueReference(inner)
        | TypeKind::Array(inner, _) => has_decltype(inner),
        TypeKind::Function(inner, parameters) => {
            has_decltype(inner) || parameters.iter().any(|parameter| has_decltype(&parameter.ty))
        }
        TypeKind::Decltype(_) => true,
        TypeKind::Words(_) | TypeKind::Auto | TypeKind::Defined(_) => false,
    }
}
