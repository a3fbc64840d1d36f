//! Declarations of templates as text, to tell whether two of them declare one template.

use crate::syntax::ast::{self, TypeKind};

/// A template's declaration with its parameters numbered, to find the definition of a prototype (\[temp.over.link\]). Expressions count by
/// their place, so prototypes that have some are not merged.
pub(super) fn template_text(function: &ast::Function) -> String {
    let parameters = function.template.as_ref().map_or(&[][..], |one| &one.parameters[..]);
    let names: Vec<&str> = parameters.iter().map(|one| one.name.text.as_ref()).collect();
    let mut text = format!("{}|", names.len());
    for parameter in &function.parameters {
        type_text(&parameter.ty, &names, &mut text);
        text.push(',');
    }
    type_text(&function.returns, &names, &mut text);
    text
}

fn type_text(syntax: &ast::TypeSyntax, names: &[&str], out: &mut String) {
    use std::fmt::Write as _;
    let nested = |sign: char, inner: &ast::TypeSyntax, out: &mut String| {
        type_text(inner, names, out);
        out.push(sign);
    };
    match &syntax.kind {
        TypeKind::Words(words) => out.push_str(&words.join(" ")),
        TypeKind::Named(name) => {
            for part in &name.parts {
                match names.iter().position(|one| **one == *part.name.text) {
                    Some(position) => _ = write!(out, "${position}"),
                    None => out.push_str(&part.name.text),
                }
                for argument in part.arguments.iter().flatten() {
                    match argument {
                        ast::TemplateArgument::Type(inner) => type_text(inner, names, out),
                        ast::TemplateArgument::Expr(inner) => expr_text(inner, names, out),
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
            [part] => match names.iter().position(|one| **one == *part.name.text) {
                Some(position) => _ = write!(out, "${position}"),
                None => out.push_str(&part.name.text),
            },
            _ => _ = write!(out, "@{:?}", expr.span),
        },
        ast::ExprKind::Int { value, .. } => _ = write!(out, "{value}"),
        _ => _ = write!(out, "@{:?}", expr.span),
    }
}
