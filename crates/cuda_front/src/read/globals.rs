//! File scope: symbols and variables.
//!
//! A symbol is a scalar of the launch, and at least 1 if it is an integer. A variable is an array that exists once.
//! Its contents are unknown unless it is `const` (`tables.rs`), as the host may have written it.

use super::diagnostics::{Result, unsupported};
use super::lowerer::{ExtentArray, Lowerer};
use super::memory_model::{Place, Spot};
use super::types::{compare, int, whole};
use base::{Index, Span};
use cuda::tree::{self, GlobalId, GlobalSpace, SymbolId};
use kir::{Compare, Expr, Requirement, Space, Type};

impl Lowerer<'_> {
    /// Symbolic macros are scalars of every kernel.
    pub(super) fn macros(&mut self, span: Span) {
        let of_file = self.program.symbols.enumerate().filter(|(_, one)| !one.of_template);
        let of_file: Vec<SymbolId> = of_file.map(|(id, _)| id).collect();
        for id in of_file {
            // One that is not an integer is refused where it is used.
            let _ = self.symbol(id, span);
        }
    }

    /// The value of a symbol. Parameters of a template are scalars of the kernels that use them.
    pub(super) fn symbol(&mut self, id: SymbolId, span: Span) -> Result<Expr> {
        if let Some(var) = self.symbols.get(&id) {
            return Ok(self.var(*var, span));
        }
        let symbol = self.program.symbols.get(id);
        let known = symbol.and_then(|one| Some((one, self.scalar(&one.ty)?)));
        let Some((symbol, ty)) = known else {
            return Err(unsupported(span, "a symbol of this type is not supported"));
        };
        let at = self.symbols.range(..id).count();
        let var = self.new_var(&symbol.name, ty);
        self.symbols.insert(id, var);
        self.scalars.insert(at.min(self.scalars.len()), var);
        if matches!(ty, Type::Int { .. }) {
            let start = self.frames.first().map_or(span, |frame| frame.function.span);
            let one = int(1, Type::Whole, start);
            let condition = compare(Compare::Ge, whole(self.var(var, start)), one);
            let condition = Expr { span: start, ..condition };
            let requirement = Requirement { forall: Vec::new(), condition };
            self.requires.insert(at.min(self.requires.len()), requirement);
        }
        Ok(self.var(var, span))
    }

    /// Variables in global memory come first among the arrays; unsupported ones are refused where they are used.
    pub(super) fn file_variables(&mut self) {
        let ids: Vec<GlobalId> = self.program.globals.indices().collect();
        for id in ids {
            let global = self.program.globals.get(id);
            let is_global = global.is_some_and(|one| {
                use GlobalSpace::{Constant, Device, Texture};
                matches!(one.space, Device | Constant | Texture)
            });
            if is_global {
                let _ = self.global_place(id, Span::default());
            }
        }
    }

    /// The place of a variable of the file.
    pub(super) fn global_place(&mut self, id: GlobalId, span: Span) -> Result<Place> {
        if let Some(known) = self.globals.get(&id) {
            return Ok(known.clone());
        }
        let Some(global) = self.program.globals.get(id) else {
            return Err(unsupported(span, "this variable is not supported"));
        };
        let space = match global.space {
            // A texture reference identifies its texture.
            GlobalSpace::Device | GlobalSpace::Constant | GlobalSpace::Texture => Space::Global,
            GlobalSpace::Shared => Space::Shared,
            GlobalSpace::DynamicShared => {
                let named = ExtentArray::Global(id);
                return self.dynamic_shared(&global.name, &global.ty, named, global.span);
            }
        };
        if let Some(table) = self.function_table(global, span) {
            let place = table?;
            self.globals.insert(id, place.clone());
            return Ok(place);
        }
        let mut spots = Vec::new();
        let first = self.arrays.len();
        for leaf in self.leaves(&global.ty, span)? {
            if self.scalar(&leaf.ty).is_none() {
                let message = "a pointer outside of functions is not supported";
                return Err(unsupported(span, message));
            }
            let array = self.leaf_array(&global.name, &leaf, space, global.span)?;
            spots.push(Spot::Cell(array, Vec::new()));
        }
        let constant =
            global.is_const || matches!(global.space, GlobalSpace::Constant | GlobalSpace::Texture);
        for number in first..self.arrays.len() {
            if let Some(array) = self.arrays.iter_mut().nth(number) {
                array.constant = constant;
            }
        }
        let place = Place::new(&global.ty, spots);
        if let Some(init) = &global.init {
            self.record_initialiser(&place, init, global.is_const, span);
        }
        self.globals.insert(id, place.clone());
        Ok(place)
    }

    /// Type parameters of a kernel's template that are assumed to be floating-point types.
    pub(super) fn assumed_types(&self, kernel: &str) -> Vec<String> {
        let end = format!("` of `{kernel}` is read as `float`");
        let of_kernel = |line: &String| {
            let name = line.strip_prefix("template parameter `")?.strip_suffix(&end)?;
            Some(name.to_owned())
        };
        self.program.assumed.iter().filter_map(of_kernel).collect()
    }

    /// Returns `true` if an array is a variable of the file.
    pub(super) fn is_of_file(&self, array: kir::ArrayId) -> bool {
        let has = |place: &Place| {
            place
                .choices
                .iter()
                .flatten()
                .any(|spot| matches!(spot, Spot::Cell(one, _) if *one == array))
        };
        self.globals.values().any(has)
    }

    /// Refuses non-coherent reads of arrays that the kernel writes: they may return old contents.
    pub(super) fn check_coherence(&self, kernel: &kir::Kernel) -> Result<()> {
        let written = kir::relevance::written(kernel);
        for (array, span) in &self.incoherent {
            if written.get(array.position()).copied().unwrap_or(true) {
                let message = "reading memory that the kernel writes through the read-only cache is not supported";
                return Err(unsupported(*span, message));
            }
        }
        Ok(())
    }
}

/// Returns `true` for an array of unspecified size.
pub(super) fn is_open(ty: &tree::Type) -> bool {
    matches!(ty, tree::Type::Array(_, tree::Extent::Unknown))
}
