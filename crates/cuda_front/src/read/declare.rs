//! Lowers declarations in functions: variables of a thread, shared variables and arrays, references, and their
//! initialisers.

use super::diagnostics::{Result, error, unsupported};
use super::lowerer::{ExtentArray, Lowerer};
use super::memory_model::{Item, Place, Pointer, Spot, Target};
use super::types::{convert, fold, int};
use base::{Index, Span};
use cuda::tree::{self, Extent, Init, LocalId, Storage};
use kir::{Expr, Space, Stmt, Type};

/// Limit on the elements of an initialised array.
const MAX_INITIALISED: u64 = 1024;

impl Lowerer<'_> {
    /// A declaration statement.
    pub(super) fn declare(
        &mut self,
        id: LocalId,
        init: Option<&Init>,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let local = self.local(id, span)?;
        if local.storage != Storage::Automatic {
            if init.is_some() {
                return Err(unsupported(
                    local.span,
                    "initialised shared variables are not supported",
                ));
            }
            let place = self.shared_variable(id, &local)?;
            self.bind(id, place);
            return Ok(());
        }
        if local.is_reference {
            return self.declare_reference(id, init, &local, out);
        }
        let scalar = self.scalar(&local.ty);
        if let (Some(ty), Some(Init::Expr(value))) = (scalar, init) {
            let value = convert(self.number(value, out)?, ty);
            return self.declare_scalar(id, &local, value, out);
        }
        // The initialiser is evaluated before the variable is in scope.
        let value = match init {
            Some(Init::Expr(value)) => Some(self.value(value, out)?),
            _ => None,
        };
        let name = if local.name.is_empty() { "copy" } else { &local.name };
        let place = self.temporary(name, &local.ty, local.span)?;
        self.bind(id, place.clone());
        match (value, init) {
            (Some(value), _) => self.write(&place, value, local.span, out),
            (None, Some(init)) => self.initialise(&place, init, local.span, out),
            (None, None) => self.unset(&place, local.span, out),
        }
    }

    /// Marks the pointers of an object as declared without a value.
    fn unset(&mut self, place: &Place, span: Span, out: &mut Vec<Stmt>) -> Result<()> {
        for spot in place.choices.iter().flatten() {
            if let Spot::Slot(slot) = spot {
                self.unset_slot(*slot, span, out)?;
            }
        }
        Ok(())
    }

    fn declare_scalar(
        &mut self,
        id: LocalId,
        local: &tree::Local,
        value: Expr,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let number = fold(&value).filter(|_| local.is_const && value.ty != Type::Float);
        let spot = match number {
            Some(number) => Spot::Value(int(number, value.ty, local.span)),
            None => Spot::Var(self.keep(&local.name, value, out)),
        };
        self.bind(id, Place::new(&local.ty, vec![spot]));
        Ok(())
    }

    fn declare_reference(
        &mut self,
        id: LocalId,
        init: Option<&Init>,
        local: &tree::Local,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let Some(Init::Expr(target)) = init else {
            return Err(error(local.span, "a reference needs a target"));
        };
        let place = self.reference(target, &local.ty, out)?;
        self.bind(id, place);
        Ok(())
    }

    /// The object behind a reference: the element is fixed here, even if its index changes later.
    pub(super) fn reference(
        &mut self,
        target: &tree::Expr,
        ty: &tree::Type,
        out: &mut Vec<Stmt>,
    ) -> Result<Place> {
        let place = match target.category {
            tree::Category::Place => self.place(target, out)?,
            tree::Category::Value => {
                let value = self.value(target, out)?;
                let place = self.temporary("copy", ty, target.span)?;
                self.write(&place, value, target.span, out)?;
                place
            }
        };
        Ok(self.freeze_place(place, out))
    }

    /// A variable used before control reaches its declaration: shared ones exist from the start.
    pub(super) fn undeclared(&mut self, id: LocalId, span: Span) -> Result<Place> {
        let local = self.local(id, span)?;
        match local.storage {
            Storage::Automatic => {
                Err(unsupported(span, format!("`{}` is not supported here", local.name)))
            }
            _ => {
                let place = self.shared_variable(id, &local)?;
                self.bind(id, place.clone());
                Ok(place)
            }
        }
    }

    fn shared_variable(&mut self, id: LocalId, local: &tree::Local) -> Result<Place> {
        let function = self.frames.last().map(|frame| frame.id);
        let Some(function) = function else {
            return Err(unsupported(local.span, "this variable is not supported here"));
        };
        if let Some(known) = self.shared.get(&(function, id)) {
            return Ok(known.clone());
        }
        let named = ExtentArray::Local(id);
        let place = match local.storage {
            Storage::DynamicShared => {
                self.dynamic_shared(&local.name, &local.ty, named, local.span)?
            }
            _ => self.shared_arrays(&local.name, &local.ty, named, local.span)?,
        };
        self.shared.insert((function, id), place.clone());
        Ok(place)
    }

    pub(super) fn shared_arrays(
        &mut self,
        name: &str,
        ty: &tree::Type,
        named: ExtentArray,
        span: Span,
    ) -> Result<Place> {
        let size = self.extents.iter().position(|(one, _)| *one == named);
        let size =
            size.filter(|_| self.frames.len() == 1 || matches!(named, ExtentArray::Global(_)));
        let size = size.filter(|_| super::globals::is_open(ty));
        let size = size.map(|at| self.extents.remove(at).1);
        let mut spots = Vec::new();
        for leaf in self.leaves(ty, span)? {
            let array = self.leaf_array(name, &leaf, Space::Shared, span)?;
            let declared = self.arrays.iter_mut().nth(array.position());
            if let (Some(size), Some(first)) =
                (&size, declared.and_then(|array| array.dimensions.first_mut()))
            {
                *first = Some(size.clone());
            }
            spots.push(Spot::Cell(array, Vec::new()));
        }
        Ok(Place::new(ty, spots))
    }

    /// `extern __shared__`: all of them begin at the same address, so that a second one must have the same type.
    pub(super) fn dynamic_shared(
        &mut self,
        name: &str,
        ty: &tree::Type,
        named: ExtentArray,
        span: Span,
    ) -> Result<Place> {
        if let Some((known, place)) = &self.dynamic {
            if known == ty {
                return Ok(place.clone());
            }
            let message =
                "a second `extern __shared__` array overlaps the first, which is not supported";
            return Err(unsupported(span, message));
        }
        let place = match self.hints.dynamic.clone() {
            Some(element) => self.retyped_arrays(name, ty, &element, named, span)?,
            None => self.shared_arrays(name, ty, named, span)?,
        };
        self.dynamic = Some((ty.clone(), place.clone()));
        if let ExtentArray::Global(id) = named {
            self.globals.insert(id, place.clone());
        }
        Ok(place)
    }

    /// Initialises an object; missing values are 0.
    pub(super) fn initialise(
        &mut self,
        place: &Place,
        init: &Init,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        match (init, &place.ty) {
            (Init::Expr(value), _) => {
                let value = self.value(value, out)?;
                self.write(place, value, span, out)
            }
            (Init::List(parts), tree::Type::Record(id)) => {
                let fields = self.program.records.get(*id).map(|one| one.fields.clone());
                for (number, field) in fields.unwrap_or_default().iter().enumerate() {
                    let part = self.field_of(place, number, &field.ty, span)?;
                    self.initialise(&part, parts.get(number).unwrap_or(&Init::Zero), span, out)?;
                }
                Ok(())
            }
            (Init::List(_) | Init::Zero, tree::Type::Array(element, extent)) => {
                self.initialise_array(place, init, (element, extent), span, out)
            }
            (Init::Zero, tree::Type::Record(_)) => {
                self.initialise(place, &Init::List(Vec::new()), span, out)
            }
            (Init::Zero, tree::Type::Pointer(_)) => {
                let null = Pointer::to(Target::Null, Vec::new());
                self.write(place, vec![Item::Pointer(null)], span, out)
            }
            (Init::Zero, _) => {
                let zero = int(0, Type::INT, span);
                let ty = self.scalar(&place.ty).unwrap_or(Type::INT);
                self.write(place, vec![Item::Scalar(convert(zero, ty))], span, out)
            }
            (Init::List(parts), _) => match &parts[..] {
                [] => self.initialise(place, &Init::Zero, span, out),
                [one] => self.initialise(place, one, span, out),
                _ => Err(unsupported(span, "this initialiser is not supported")),
            },
        }
    }

    fn initialise_array(
        &mut self,
        place: &Place,
        init: &Init,
        (element, extent): (&tree::Type, &Extent),
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let Extent::Known(size) = extent else {
            return Err(unsupported(span, "this initialiser is not supported"));
        };
        let parts = match init {
            Init::List(parts) => &parts[..],
            _ => &[],
        };
        if *size > MAX_INITIALISED || u64::try_from(parts.len()).is_ok_and(|count| count > *size) {
            return Err(unsupported(span, "this initialiser is not supported"));
        }
        for number in 0..*size {
            let at = int(i128::from(number), Type::LONG, span);
            let inner = self.element_of(place, element, at);
            let position = usize::try_from(number).unwrap_or(usize::MAX);
            self.initialise(&inner, parts.get(position).unwrap_or(&Init::Zero), span, out)?;
        }
        Ok(())
    }

    /// An element of an array.
    pub(super) fn element_of(&self, place: &Place, element: &tree::Type, at: Expr) -> Place {
        let inner = |spot: &Spot| match spot {
            Spot::Cell(array, index) => {
                let index = index.iter().cloned().chain([at.clone()]).collect();
                Spot::Cell(*array, index)
            }
            other => other.clone(),
        };
        let choices = place.choices.iter().map(|spots| spots.iter().map(inner).collect());
        let (ty, tag) = (element.clone(), place.tag.clone());
        Place { ty, tag, choices: choices.collect(), origin: None }
    }
}
