//! Reads and writes objects, scalar by scalar (`memory_model.rs` has their places).
//!
//! An object is decomposed into its scalars and pointers (`types.rs`). An object of a thread outside of arrays
//! becomes variables of the kernel. All others are elements of arrays, one array for each scalar of a struct, so that
//! accesses to different members never conflict.

use super::diagnostics::{Result, error, unsupported};
use super::lowerer::Lowerer;
use super::memory_model::{Item, Place, Pointer, Spot, Spots, Value};
use super::reinterpret::reinterpretation;
use super::types::{Leaf, boolean, compare, convert, int, select};
use base::Span;
use cuda::tree::{self, Extent};
use kir::{ArrayId, Compare, Element, Expr, ExprKind, Stmt, Type, When};

/// Limit on array elements in structs that are copied one by one.
const MAX_COPIED: u64 = 64;

/// The condition that a tag has this value; the last value needs no test.
pub(super) fn is_tagged(tag: &Expr, number: usize) -> Expr {
    let number = i128::try_from(number).unwrap_or(i128::MAX);
    compare(Compare::Eq, tag.clone(), int(number, tag.ty, tag.span))
}

/// A dummy value, for expressions without one.
pub(super) fn nothing(span: Span) -> Value {
    vec![Item::Scalar(boolean(true, span))]
}

impl Lowerer<'_> {
    /// A field of a struct.
    pub(super) fn field_of(
        &self,
        place: &Place,
        field: usize,
        ty: &tree::Type,
        span: Span,
    ) -> Result<Place> {
        let (first, count) = self.field_range(&place.ty, field, span)?;
        let part = |spots: &Spots| spots.iter().skip(first).take(count).cloned().collect();
        let choices = place.choices.iter().map(part).collect();
        Ok(Place { ty: ty.clone(), tag: place.tag.clone(), choices, origin: None })
    }

    /// The value of an object.
    pub(super) fn read(&mut self, place: &Place, span: Span, out: &mut Vec<Stmt>) -> Result<Value> {
        let leaves = self.leaves(&place.ty, span)?;
        match (&place.choices[..], &place.tag) {
            ([spots], _) => self.read_spots(spots, &leaves, span, out),
            ([], _) => self.read_nothing(&leaves, span, out),
            (_, Some(tag)) if self.in_annotation => self.read_chosen(place, tag, &leaves, span),
            (choices, Some(tag)) => {
                let target = self.temporary("loaded", &place.ty, span)?;
                let mut parts = Vec::new();
                for spots in choices {
                    let mut part = Vec::new();
                    let value = self.read_spots(spots, &leaves, span, &mut part)?;
                    self.write(&target, value, span, &mut part)?;
                    parts.push(part);
                }
                out.extend(chain(tag, parts));
                self.read(&target, span, out)
            }
            _ => Err(unsupported(span, "this access is not supported")),
        }
    }

    /// Reads a choice of places in an annotation, which must not have side effects: the value is a choice, too.
    fn read_chosen(
        &mut self,
        place: &Place,
        tag: &Expr,
        leaves: &[Leaf],
        span: Span,
    ) -> Result<Value> {
        let mut value: Option<Value> = None;
        for (number, spots) in place.choices.iter().enumerate().rev() {
            let one = self.read_spots(spots, leaves, span, &mut Vec::new())?;
            value = Some(match value {
                None => one,
                Some(others) => {
                    let pairs = one.into_iter().zip(others);
                    let chosen = pairs.map(|pair| match pair {
                        (Item::Scalar(one), Item::Scalar(other)) => {
                            Ok(Item::Scalar(select(is_tagged(tag, number), one, other)))
                        }
                        _ => Err(unsupported(span, "this access is not supported")),
                    });
                    chosen.collect::<Result<Value>>()?
                }
            });
        }
        Ok(value.unwrap_or_default())
    }

    /// The value behind a pointer without targets.
    fn read_nothing(&mut self, leaves: &[Leaf], span: Span, out: &mut Vec<Stmt>) -> Result<Value> {
        self.use_without_target.get_or_insert(span);
        let mut value = Vec::new();
        for leaf in leaves {
            value.push(match self.scalar(&leaf.ty) {
                Some(ty) if leaf.dimensions.is_empty() => {
                    Item::Scalar(self.unknown("nothing", ty, span, out))
                }
                None if leaf.dimensions.is_empty() => Item::Pointer(Pointer::nothing()),
                _ => return Err(unsupported(span, "this access is not supported")),
            });
        }
        Ok(value)
    }

    fn read_spots(
        &mut self,
        spots: &Spots,
        leaves: &[Leaf],
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<Value> {
        let mut value = Vec::new();
        for (spot, leaf) in spots.iter().zip(leaves) {
            value.push(match leaf.dimensions.is_empty() {
                true => self.read_spot(spot, &leaf.ty, span, out)?,
                false => self.read_array(spot, leaf, span, out)?,
            });
        }
        Ok(value)
    }

    fn read_spot(
        &mut self,
        spot: &Spot,
        ty: &tree::Type,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<Item> {
        let wanted = self.scalar(ty);
        let scalar = match spot {
            Spot::Var(var) => self.var(*var, span),
            Spot::Value(value) => Expr { span, ..value.clone() },
            Spot::Slot(slot) => return Ok(Item::Pointer(self.read_slot(*slot, span))),
            Spot::Pointer(pointer) => return Ok(Item::Pointer((**pointer).clone())),
            Spot::Cell(array, index) => {
                let element = Element { array: *array, index: index.clone(), span };
                if let Some(function) = self.tabulated_function(element.clone(), out)? {
                    return Ok(function);
                }
                let loaded = self.load(element, out)?;
                match wanted {
                    Some(wanted) if reinterpretation(loaded.ty, wanted).is_some() => {
                        self.with_bits_of(loaded, wanted, span, out)?
                    }
                    _ => loaded,
                }
            }
        };
        match wanted {
            // In annotations arguments are unbounded.
            Some(_) if self.in_annotation => Ok(Item::Scalar(scalar)),
            Some(wanted) => Ok(Item::Scalar(convert(scalar, wanted))),
            None => Err(unsupported(span, "a pointer in an array is not supported")),
        }
    }

    /// Reads an element into a variable of its own.
    pub(super) fn load(&mut self, element: Element, out: &mut Vec<Stmt>) -> Result<Expr> {
        let span = element.span;
        let Some(array) = self.arrays.get(element.array) else {
            return Err(unsupported(span, "this access is not supported"));
        };
        let ty = array.element;
        if self.in_annotation {
            let kind = ExprKind::Element(element.array, self.when, element.index);
            return Ok(Expr { kind, ty, span });
        }
        let index = element.index.clone();
        let var = self.new_var("loaded", ty);
        let array = element.array;
        let logged = element.clone();
        out.push(Stmt::Load(var, element));
        self.log(&logged, false, out);
        let loaded = self.var(var, span);
        Ok(self.select_from_table(array, &index, loaded))
    }

    /// Copies an array in a struct.
    fn read_array(
        &mut self,
        spot: &Spot,
        leaf: &Leaf,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<Item> {
        let copy = self.leaf_array("copy", leaf, kir::Space::Local, span)?;
        self.copy_array(spot, &Spot::Cell(copy, Vec::new()), leaf, span, out)?;
        Ok(Item::Copy(copy))
    }

    fn copy_array(
        &mut self,
        from: &Spot,
        to: &Spot,
        leaf: &Leaf,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let (Spot::Cell(source, first), Spot::Cell(target, second)) = (from, to) else {
            return Err(unsupported(span, "copying this array is not supported"));
        };
        for place in positions(&leaf.dimensions, MAX_COPIED, span)? {
            let at = |start: &[Expr]| {
                let inner = place.iter().map(|one| int(*one, Type::LONG, span));
                start.iter().cloned().chain(inner).collect::<Vec<Expr>>()
            };
            let value = self.load(Element { array: *source, index: at(first), span }, out)?;
            self.store(Element { array: *target, index: at(second), span }, value, out)?;
        }
        Ok(())
    }

    /// Stores a value in an element.
    pub(super) fn store(
        &mut self,
        element: Element,
        value: Expr,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let Some(array) = self.arrays.get(element.array) else {
            return Err(unsupported(element.span, "this access is not supported"));
        };
        if array.constant {
            return Err(error(element.span, format!("`{}` is constant", array.name)));
        }
        let value = convert(value, array.element);
        let logged = element.clone();
        out.push(Stmt::Store(element, value));
        self.log(&logged, true, out);
        Ok(())
    }

    /// Assigns a value to an object.
    pub(super) fn write(
        &mut self,
        place: &Place,
        value: Value,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let leaves = self.leaves(&place.ty, span)?;
        match (&place.choices[..], &place.tag) {
            ([spots], _) => self.write_spots(spots, &value, &leaves, span, out),
            ([], _) => {
                self.use_without_target.get_or_insert(span);
                Ok(())
            }
            (choices, Some(tag)) => {
                let mut parts = Vec::new();
                for spots in choices {
                    let mut part = Vec::new();
                    self.write_spots(spots, &value, &leaves, span, &mut part)?;
                    parts.push(part);
                }
                out.extend(chain(tag, parts));
                Ok(())
            }
            _ => Err(unsupported(span, "this access is not supported")),
        }
    }

    fn write_spots(
        &mut self,
        spots: &Spots,
        value: &Value,
        leaves: &[Leaf],
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        for ((spot, item), leaf) in spots.iter().zip(value).zip(leaves) {
            match (spot, item) {
                (Spot::Var(var), Item::Scalar(value)) => {
                    let value = convert(value.clone(), self.var_type(*var));
                    out.push(Stmt::Assign(*var, value));
                }
                (Spot::Cell(array, index), Item::Scalar(value)) => {
                    let element = Element { array: *array, index: index.clone(), span };
                    let value = self.as_element(*array, value, leaf, span, out)?;
                    self.store(element, value, out)?;
                }
                (Spot::Slot(slot), Item::Pointer(pointer)) => {
                    self.write_slot(*slot, pointer, span, out)?;
                }
                (Spot::Cell(..), Item::Copy(copy)) => {
                    let from = Spot::Cell(*copy, Vec::new());
                    self.copy_array(&from, spot, leaf, span, out)?;
                }
                _ => {
                    return Err(unsupported(span, "assigning to this expression is not supported"));
                }
            }
        }
        Ok(())
    }

    /// Converts a value of an object's type to the type of an element.
    fn as_element(
        &mut self,
        array: ArrayId,
        value: &Expr,
        leaf: &Leaf,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<Expr> {
        let element = self.arrays.get(array).map(|array| array.element);
        match (self.scalar(&leaf.ty), element) {
            (Some(own), Some(element)) if reinterpretation(own, element).is_some() => {
                self.with_bits_of(convert(value.clone(), own), element, span, out)
            }
            _ => Ok(value.clone()),
        }
    }

    /// A temporary object of a thread.
    pub(super) fn temporary(&mut self, name: &str, ty: &tree::Type, span: Span) -> Result<Place> {
        let mut spots = Vec::new();
        for leaf in self.leaves(ty, span)? {
            let leaf_name = leaf.named(name);
            spots.push(match self.scalar(&leaf.ty) {
                _ if !leaf.dimensions.is_empty() => {
                    let array = self.leaf_array(name, &leaf, kir::Space::Local, span)?;
                    Spot::Cell(array, Vec::new())
                }
                Some(scalar) => Spot::Var(self.new_var(&leaf_name, scalar)),
                None => Spot::Slot(self.new_slot(&leaf_name)),
            });
        }
        Ok(Place::new(ty, spots))
    }

    /// Returns `true` if an annotation refers to the initial values of launch pointers.
    pub(super) fn looks_at_start(&self) -> bool {
        self.in_annotation && (self.in_contract || self.when == When::Before)
    }
}

/// A chain of tests with the statements for each value of a tag.
pub(super) fn chain(tag: &Expr, parts: Vec<Vec<Stmt>>) -> Vec<Stmt> {
    let mut rest: Option<Vec<Stmt>> = None;
    for (number, part) in parts.into_iter().enumerate().rev() {
        rest = Some(match rest {
            None => part,
            Some(others) => vec![Stmt::If(is_tagged(tag, number), part, others)],
        });
    }
    rest.unwrap_or_default()
}

/// The indices of all elements of an array of known size.
pub(super) fn positions(dimensions: &[Extent], most: u64, span: Span) -> Result<Vec<Vec<i128>>> {
    let mut all = vec![Vec::new()];
    let mut count: u64 = 1;
    for extent in dimensions {
        let Extent::Known(size) = extent else {
            return Err(unsupported(span, "copying an array of this size is not supported"));
        };
        count = count.saturating_mul(*size);
        if count > most {
            return Err(unsupported(span, "copying an array of this size is not supported"));
        }
        let longer = all.iter().flat_map(|start: &Vec<i128>| {
            (0..i128::from(*size)).map(move |last| {
                let mut place = start.clone();
                place.push(last);
                place
            })
        });
        all = longer.collect();
    }
    Ok(all)
}
