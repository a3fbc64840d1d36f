//! Partial ordering of function templates (\[temp.func.order\]), by the shape of their parameters.
//!
//! A template is more specialised than another if each of its parameter types matches the other's pattern, and the
//! reverse does not hold. Shapes without a rule here do not match, which makes the call ambiguous: a refusal.

use super::analyser::Analyser;
use super::scope::DeclId;
use crate::syntax::ast::{self, TypeKind, TypeSyntax};

impl<'a> Analyser<'a> {
    pub(super) fn is_more_specialised(&self, one: DeclId, other: DeclId, count: usize) -> bool {
        let (Some(one), Some(other)) = (self.decls.get(one), self.decls.get(other)) else {
            return false;
        };
        is_instance_of(other.ast, one.ast, count) && !is_instance_of(one.ast, other.ast, count)
    }
}

/// Returns `true` if each of the first `count` parameter types of `concrete` matches the one of `pattern`.
fn is_instance_of(pattern: &ast::Function, concrete: &ast::Function, count: usize) -> bool {
    let mut bound: Vec<(&str, String)> = Vec::new();
    let count = count.min(pattern.parameters.len()).min(concrete.parameters.len());
    pattern.parameters.iter().zip(&concrete.parameters).take(count).all(|(one, other)| {
        matches_pattern(
            without_reference(&one.ty),
            without_reference(&other.ty),
            pattern,
            true,
            &mut bound,
        )
    })
}

fn without_reference(syntax: &TypeSyntax) -> &TypeSyntax {
    match &syntax.kind {
        TypeKind::Reference(inner) | TypeKind::RvalueReference(inner) => inner,
        _ => syntax,
    }
}

/// Returns `true` if a written type is an instance of a pattern, and records in `bound` the types of the pattern's
/// parameters. If `is_top`, the type is that of a whole function parameter, and its own `const` does not count.
fn matches_pattern<'p>(
    pattern: &'p TypeSyntax,
    concrete: &TypeSyntax,
    function: &'p ast::Function,
    is_top: bool,
    bound: &mut Vec<(&'p str, String)>,
) -> bool {
    if let Some(name) = template_parameter(pattern, function) {
        // `const T` does not match a type that is not `const`.
        if !is_top && pattern.is_const && !concrete.is_const {
            return false;
        }
        let mut text = format!("{:?}", concrete.kind);
        if concrete.is_const && !pattern.is_const && !is_top {
            text.push_str(" const");
        }
        let text = without_places(&text);
        return match bound.iter().find(|one| one.0 == name) {
            Some((_, known)) => *known == text,
            None => {
                bound.push((name, text));
                true
            }
        };
    }
    if !is_top && pattern.is_const != concrete.is_const {
        return false;
    }
    match (&pattern.kind, &concrete.kind) {
        (TypeKind::Pointer(one), TypeKind::Pointer(other)) => {
            matches_pattern(one, other, function, false, bound)
        }
        (TypeKind::Array(one, _), TypeKind::Array(other, _)) => {
            matches_pattern(one, other, function, false, bound)
        }
        (TypeKind::Words(one), TypeKind::Words(other)) => one == other,
        (TypeKind::Named(one), TypeKind::Named(other)) => {
            let (Some(one), Some(other)) = (one.parts.last(), other.parts.last()) else {
                return false;
            };
            one.name.text == other.name.text
                && match (&one.arguments, &other.arguments) {
                    (None, None) => true,
                    (Some(ones), Some(others)) if ones.len() == others.len() => {
                        ones.iter().zip(others).all(|pair| match pair {
                            (
                                ast::TemplateArgument::Type(one),
                                ast::TemplateArgument::Type(other),
                            ) => matches_pattern(one, other, function, false, bound),
                            _ => false,
                        })
                    }
                    _ => false,
                }
        }
        _ => false,
    }
}

/// The name of the template parameter that a written type consists of.
fn template_parameter<'p>(syntax: &'p TypeSyntax, function: &'p ast::Function) -> Option<&'p str> {
    let TypeKind::Named(name) = &syntax.kind else { return None };
    let [part] = &name.parts[..] else { return None };
    let parameters = &function.template.as_ref()?.parameters;
    parameters
        .iter()
        .any(|parameter| parameter.name.text == part.name.text)
        .then_some(part.name.text.as_ref())
}

/// Debug text of syntax without places such as `span: 1..2`.
fn without_places(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("span: ") {
        out.push_str(rest.get(..at).unwrap_or_default());
        let tail = rest.get(at + 6..).unwrap_or_default();
        let end = tail.find([',', ' ', '}']).unwrap_or(tail.len());
        rest = tail.get(end..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}
