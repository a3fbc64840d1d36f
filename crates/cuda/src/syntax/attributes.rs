//! Attributes at every permitted place: `[[…]]`, `__attribute__((…))`, `__declspec(…)`, `alignas`,
//! `__launch_bounds__` (\[dcl.attr\]).
//!
//! Only attributes for alignment, packing and CUDA's own have an effect here; the rest is advice.

use super::ast::{Expr, ExprKind, Specifiers};
use super::parser::Parser;
use crate::Result;
use crate::token::TokenKind;

impl Parser<'_> {
    /// Takes all attributes at this place; returns `true` if there were any.
    pub(super) fn attributes(&mut self, found: &mut Specifiers) -> Result<bool> {
        let start = self.at;
        while self.attribute(found)? {}
        Ok(self.at > start)
    }

    /// Takes attributes that have no effect here.
    pub(super) fn skip_attributes(&mut self) -> Result<()> {
        let mut ignored = Specifiers::default();
        self.attributes(&mut ignored)?;
        Ok(())
    }

    fn attribute(&mut self, found: &mut Specifiers) -> Result<bool> {
        if self.is("[") && self.is_at(1, "[") {
            self.skip_brackets();
            return Ok(true);
        }
        match self.word() {
            Some("__attribute__" | "__attribute" | "__declspec") if self.is_at(1, "(") => {
                self.advance();
                let end = self.after_brackets();
                while self.at < end {
                    self.attribute_word(found)?;
                }
                Ok(true)
            }
            Some("alignas" | "__align__" | "__builtin_align__" | "_Alignas") => {
                self.advance();
                self.alignment(found)?;
                Ok(true)
            }
            Some("__launch_bounds__") => {
                self.advance();
                found.launch_bounds = self.call_arguments()?;
                Ok(true)
            }
            Some(
                "__cluster_dims__" | "__maxnreg__" | "__block_size__" | "__annotate__"
                | "__location__",
            ) if self.is_at(1, "(") => {
                self.advance();
                self.skip_brackets();
                Ok(true)
            }
            Some(
                "__forceinline__" | "__noinline__" | "__inline_hint__" | "__inline__" | "__inline"
                | "__grid_constant__" | "__nv_pure__" | "__device_builtin__" | "__extension__"
                | "__host_device__" | "_Noreturn",
            ) => {
                self.advance();
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// The position after the bracket that closes the one here.
    fn after_brackets(&mut self) -> usize {
        let start = self.at;
        self.skip_brackets();
        std::mem::replace(&mut self.at, start)
    }

    /// A token inside of `__attribute__((…))`.
    fn attribute_word(&mut self, found: &mut Specifiers) -> Result<()> {
        match self.word() {
            Some("aligned" | "__aligned__" | "align") if self.is_at(1, "(") => {
                self.advance();
                return self.alignment(found);
            }
            Some("aligned" | "__aligned__") => {
                let span = self.span();
                return Err(self.unsupported(span, "`aligned` without a number is not supported"));
            }
            Some("packed" | "__packed__") => found.is_packed = true,
            Some("global" | "__global__") => found.is_global = true,
            Some("device" | "__device__") => found.is_device = true,
            Some("host" | "__host__") => found.is_host = true,
            Some("shared" | "__shared__") => found.is_shared = true,
            Some("constant" | "__constant__") => found.is_constant = true,
            Some("managed" | "__managed__") => found.is_managed = true,
            Some("vector_size" | "__vector_size__" | "mode" | "__mode__" | "address_space") => {
                let span = self.span();
                return Err(
                    self.unsupported(span, "this attribute changes a type and is not supported")
                );
            }
            _ => {}
        }
        self.advance();
        Ok(())
    }

    /// `(8)` or `(float4)`.
    fn alignment(&mut self, found: &mut Specifiers) -> Result<()> {
        let start = self.span();
        self.expect("(")?;
        let value = self.bracketed(|parser| {
            if !parser.is_type_start() {
                return parser.assignment();
            }
            let ty = parser.type_id()?;
            Ok(Expr { kind: ExprKind::SizeOfType("alignof", ty), span: parser.since(start) })
        })?;
        self.expect(")")?;
        if found.align.is_some() {
            return Err(
                self.unsupported(start, "two alignments of one declaration are not supported")
            );
        }
        found.align = Some(Box::new(value));
        Ok(())
    }

    /// Returns `true` if an attribute begins here.
    pub(super) fn is_attribute(&self) -> bool {
        let is_word = matches!(
            self.word(),
            Some(
                "__attribute__"
                    | "__attribute"
                    | "__declspec"
                    | "alignas"
                    | "__align__"
                    | "__builtin_align__"
                    | "__launch_bounds__"
                    | "__forceinline__"
                    | "__noinline__"
                    | "__inline_hint__"
                    | "__inline__"
                    | "__inline"
                    | "__grid_constant__"
                    | "__cluster_dims__"
                    | "__maxnreg__"
                    | "__block_size__"
                    | "__extension__"
            )
        );
        is_word || self.is("[") && matches!(self.kind_at(1), TokenKind::Punct("["))
    }
}
