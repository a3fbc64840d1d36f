//! Names declared by `symbolic` clauses: they stay symbols, so a proof holds for every value of type `int` from 1 on.
//!
//! This agrees with the text only if the macro is such a number: one literal of type `int`, the same in the whole
//! text. Another definition (`16u`, `8 + 8`, `q++`) means something else where it is used and is refused, as are
//! undefined names and `##`.

use super::literals::{self, Literal};
use super::macros::{Argument, Macro};
use super::pp_token::{Kind, PpToken};
use super::state::State;
use crate::{Result, unsupported};
use base::Span;
use std::rc::Rc;

impl State<'_> {
    /// Declares the names of `symbolic` clauses. They stay symbols in the whole text, so a macro of that name must
    /// not have been replaced yet.
    pub(super) fn declare_symbolic(&mut self, tokens: &[PpToken], span: Span) -> Result<()> {
        let (mut is_inside, mut is_listing) = (false, false);
        for token in tokens {
            match token.kind {
                Kind::AnnotationStart => is_inside = true,
                Kind::AnnotationEnd => (is_inside, is_listing) = (false, false),
                Kind::Word if is_inside && &*token.text == "symbolic" => is_listing = true,
                Kind::Word if is_listing => {
                    if self.replaced.contains(&token.text) {
                        let message = format!(
                            "`{}` is used before the line that makes it symbolic",
                            token.text
                        );
                        return Err(unsupported(span, message));
                    }
                    self.symbolic.insert(Rc::clone(&token.text));
                }
                Kind::Punct(",") => {}
                _ => is_listing = false,
            }
        }
        Ok(())
    }

    /// Checks the use of a symbolic name: it must be a macro with a positive literal of type `int`.
    pub(super) fn check_symbolic(&self, token: &PpToken) -> Result<()> {
        if !self.symbolic.contains(&token.text) {
            return Ok(());
        }
        let is_int = self.macros.get(&token.text).is_some_and(|found| is_int_literal(found));
        // Clauses may come before the definition of the macro.
        if is_int || self.is_in_annotation && !self.macros.contains_key(&token.text) {
            return Ok(());
        }
        let message = format!(
            "`{}` is symbolic, any `int` from 1 on, so it must be defined as a literal of type `int` before it is used",
            token.text
        );
        Err(unsupported(token.span, message))
    }

    /// Refuses to join a symbolic name with `##`: the result depends on its value.
    pub(super) fn check_pasted(&self, found: &Macro, arguments: &[Argument]) -> Result<()> {
        if !found.body.iter().any(|token| token.is("##")) {
            return Ok(());
        }
        let mut tokens = arguments.iter().flat_map(|argument| &argument.raw);
        match tokens.find(|token| self.symbolic.contains(&token.text)) {
            Some(token) => {
                Err(unsupported(token.span, "a symbolic name beside `##` is not supported"))
            }
            None => Ok(()),
        }
    }
}

fn is_int_literal(found: &Macro) -> bool {
    let mut body = &found.body[..];
    while let [open, inner @ .., close] = body
        && open.is("(")
        && close.is(")")
    {
        body = inner;
    }
    let [token] = body else { return false };
    let number = (token.kind == Kind::Number).then(|| literals::number(&token.text));
    let most = u128::from(i32::MAX.unsigned_abs());
    found.parameters.is_none()
        && matches!(
            number,
            Some(Ok(Literal::Int { value, unsigned: false, long: 0, .. })) if (1..=most).contains(&value)
        )
}
