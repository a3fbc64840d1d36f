//! Variables: size, alignment and initial contents (manual §5.4).

use super::builder::Context;
use super::constant;
use super::declared_twice;
use crate::isa::Type;
use crate::syntax::ast::{
    Attribute, BinaryOp, Declarator, Expr, Initializer, Item, Linkage, Module, Name, StateSpace,
    Variable,
};
use base::{Code, Diagnostic, Span};
use ir::{FuncId, Relocation, Space, Symbol, VarId};

/// Larger initialisers are not read: no compiler writes them.
const MAX_INITIAL_BYTES: u64 = 1 << 28;

/// Declares the variables of a module-level directive.
pub(super) fn declare_global<'a>(context: &mut Context<'a>, variable: &Variable<'a>) {
    for declarator in &variable.declarators {
        let Some(id) = declare(context, variable, declarator, None) else { continue };
        let name = declarator.name;
        match context.globals.variables.insert(name.text, id) {
            // `.extern` may repeat, and may come with the definition.
            Some(earlier) if variable.linkage != Some(Linkage::Extern) => {
                let earlier = &context.program.variables[earlier];
                if !earlier.external {
                    context.diagnostics.push(declared_twice(name, earlier.span));
                }
            }
            Some(earlier) if !context.program.variables[earlier].external => {
                context.globals.variables.insert(name.text, earlier);
            }
            _ => {}
        }
    }
}

/// Adds a variable to the program; `None`, with a diagnostic, if its layout is unknown.
pub(super) fn declare<'a>(
    context: &mut Context<'a>,
    variable: &Variable<'a>,
    declarator: &Declarator<'a>,
    owner: Option<FuncId>,
) -> Option<VarId> {
    match layout(variable, declarator, context, owner) {
        Ok(variable) => Some(context.program.variables.push(variable)),
        Err(diagnostic) => {
            context.diagnostics.push(*diagnostic);
            None
        }
    }
}

fn layout<'a>(
    variable: &Variable<'a>,
    declarator: &Declarator<'a>,
    context: &Context<'a>,
    owner: Option<FuncId>,
) -> Result<ir::Variable, Box<Diagnostic>> {
    let refuse = |span: Span, message: String| {
        Box::new(Diagnostic::unsupported(Code::UnsupportedDirective, span, message))
    };
    let name = declarator.name;
    let space =
        space(variable.space, owner.is_none_or(|id| context.program.functions[id].is_kernel))
            .ok_or_else(|| {
                refuse(name.span(), format!("`{}`: this state space is not supported", name.text))
            })?;
    if declarator.range.is_some() {
        let message = "ranges of names are supported for registers only".to_owned();
        return Err(refuse(name.span(), message));
    }
    if let Some(unknown) = unknown_attribute(&variable.attributes) {
        let message = format!("attribute `.{}` is not supported", unknown.text);
        return Err(refuse(unknown.span(), message));
    }
    if variable.bank.is_some() {
        let message = "banked constant memory is not supported".to_owned();
        return Err(refuse(name.span(), message));
    }
    let ty = Type::parse(variable.ty.text).ok_or_else(|| {
        refuse(
            variable.ty.span(),
            format!("variables of type `.{}` are not supported", variable.ty.text),
        )
    })?;
    let element_bytes = u64::from(ty.width().bytes()) * u64::from(vector_length(variable));
    let dimensions = dimensions(declarator)?;
    let count = dimensions.iter().try_fold(1u64, |count, &size| size?.checked_mul(count));
    let size = count.and_then(|count| count.checked_mul(element_bytes));
    let size = size.or_else(|| inferred_size(declarator, element_bytes));
    let align = match &variable.align {
        Some(align) => constant::evaluate_size(align)?,
        None => element_bytes,
    };
    if !align.is_power_of_two() {
        let span = variable.align.as_ref().map_or(name.span(), Expr::span);
        let message = format!("an alignment must be a power of two, not {align}");
        return Err(Box::new(Diagnostic::error(Code::Constant, span, message)));
    }
    Ok(ir::Variable {
        name: name.text.to_owned(),
        space,
        owner,
        element: variable.ty.text.to_owned(),
        dimensions,
        size,
        align,
        external: variable.linkage == Some(Linkage::Extern),
        pointee: pointee(variable)?,
        initial: Vec::new(),
        relocations: Vec::new(),
        span: name.span(),
    })
}

/// Finds an attribute that could matter. The visibility of a variable to the host does not.
pub(super) fn unknown_attribute<'a>(attributes: &[Attribute<'a>]) -> Option<Name<'a>> {
    let names = attributes.iter().map(|attribute| attribute.name);
    names.into_iter().find(|name| !matches!(name.text, "managed" | "unified"))
}

fn space(space: StateSpace, in_kernel: bool) -> Option<Space> {
    Some(match space {
        StateSpace::Const => Space::Const,
        StateSpace::Global => Space::Global,
        StateSpace::Local => Space::Local,
        StateSpace::Shared => Space::Shared,
        // The caller distinguishes parameters of a kernel from arguments prepared in its body.
        StateSpace::Param if in_kernel => Space::ParamEntry,
        StateSpace::Param => Space::ParamFunc,
        StateSpace::Reg | StateSpace::Sreg | StateSpace::Tex => return None,
    })
}

/// 1, or the number of elements of a vector type.
pub(super) fn vector_length(variable: &Variable<'_>) -> u8 {
    match variable.vector.map(|vector| vector.text) {
        Some("v2") => 2,
        Some("v4") => 4,
        Some("v8") => 8,
        _ => 1,
    }
}

fn dimensions(declarator: &Declarator<'_>) -> Result<Vec<Option<u64>>, Diagnostic> {
    let size = |size: &Option<Expr<'_>>| size.as_ref().map(constant::evaluate_size).transpose();
    declarator.dimensions.iter().map(size).collect()
}

/// Returns the size of `x[] = {…}`.
fn inferred_size(declarator: &Declarator<'_>, element_bytes: u64) -> Option<u64> {
    let [None, inner @ ..] = declarator.dimensions.as_slice() else { return None };
    let Some(Initializer::List(values)) = &declarator.initializer else { return None };
    let inner: u64 = inner.iter().try_fold(1u64, |count, size| {
        constant::evaluate_size(size.as_ref()?).ok()?.checked_mul(count)
    })?;
    (values.len() as u64).checked_mul(inner)?.checked_mul(element_bytes)
}

fn pointee(variable: &Variable<'_>) -> Result<Option<(Option<Space>, u64)>, Diagnostic> {
    let Some(pointer) = &variable.pointer else { return Ok(None) };
    let space = match pointer.space.map(|space| space.text) {
        Some("const") => Some(Space::Const),
        Some("global") => Some(Space::Global),
        Some("local") => Some(Space::Local),
        Some("shared") => Some(Space::Shared),
        _ => None,
    };
    // The manual's default alignment of the target of a `.ptr` parameter.
    let align = pointer.align.as_ref().map_or(Ok(4), constant::evaluate_size)?;
    Ok(Some((space, align)))
}

/// Reads the initialisers of module-level variables, once every symbol is known.
pub(super) fn initialize_globals<'a>(context: &mut Context<'a>, module: &Module<'a>) {
    for item in &module.items {
        let Item::Variable(variable) = item else { continue };
        for declarator in &variable.declarators {
            if let Some(&id) = context.globals.variables.get(declarator.name.text) {
                initialize(context, variable, declarator, id);
            }
        }
    }
}

/// Reads the initialiser of a variable, if it has one.
pub(super) fn initialize<'a>(
    context: &mut Context<'a>,
    variable: &Variable<'a>,
    declarator: &Declarator<'a>,
    id: VarId,
) {
    let Some(initializer) = &declarator.initializer else { return };
    let Some(ty) = Type::parse(variable.ty.text) else { return };
    let name = declarator.name;
    if !matches!(variable.space, StateSpace::Global | StateSpace::Const) {
        let message = "only global and constant variables have initialisers";
        context.diagnostics.push(Diagnostic::error(Code::Constant, name.span(), message));
        return;
    }
    let at = name.span();
    let mut contents = Contents { context, ty, at, bytes: Vec::new(), relocations: Vec::new() };
    let result = contents.fill(initializer, &strides(variable, declarator, ty), 0);
    let Contents { bytes, relocations, .. } = contents;
    let declared = &mut context.program.variables[id];
    let fits = declared.size.is_none_or(|size| bytes.len() as u64 <= size);
    match result {
        Ok(()) if fits => (declared.initial, declared.relocations) = (bytes, relocations),
        Ok(()) => {
            let message = format!("the initialiser of `{}` is larger than it", name.text);
            context.diagnostics.push(Diagnostic::error(Code::Constant, name.span(), message));
        }
        Err(diagnostic) => context.diagnostics.push(*diagnostic),
    }
}

/// Bytes from one element to the next at each level of nesting, outermost first.
fn strides(variable: &Variable<'_>, declarator: &Declarator<'_>, ty: Type) -> Vec<u64> {
    let mut stride = u64::from(ty.width().bytes());
    let mut strides = Vec::new();
    if vector_length(variable) > 1 {
        strides.push(stride);
        stride *= u64::from(vector_length(variable));
    }
    for size in declarator.dimensions.iter().rev() {
        strides.push(stride);
        let size = size.as_ref().and_then(|size| constant::evaluate_size(size).ok());
        stride = stride.saturating_mul(size.unwrap_or(1));
    }
    strides.reverse();
    strides
}

/// The initial contents of one variable.
struct Contents<'c, 'a> {
    context: &'c Context<'a>,
    ty: Type,
    /// The variable's name, as the place of messages without one.
    at: Span,
    bytes: Vec<u8>,
    relocations: Vec<Relocation>,
}

impl<'a> Contents<'_, 'a> {
    /// Writes an initialiser at an offset; `strides` are those of its own level and the levels inside it.
    fn fill(
        &mut self,
        initializer: &Initializer<'a>,
        strides: &[u64],
        at: u64,
    ) -> Result<(), Box<Diagnostic>> {
        match (initializer, strides) {
            (Initializer::List(values), [stride, inner @ ..]) => {
                for (value, position) in values.iter().zip(0u64..) {
                    let at =
                        position.checked_mul(*stride).and_then(|offset| offset.checked_add(at));
                    let at = at.filter(|&at| at < MAX_INITIAL_BYTES).ok_or_else(|| {
                        let message = "the initialiser is too large";
                        Box::new(Diagnostic::error(Code::Limit, self.at, message))
                    })?;
                    self.fill(value, inner, at)?;
                }
                Ok(())
            }
            (Initializer::Scalar(value), []) => self.scalar(value, at),
            (Initializer::Scalar(value), _) => {
                let message = "the initialiser needs braces for each dimension of the type";
                Err(Box::new(Diagnostic::error(Code::Constant, value.span(), message)))
            }
            (Initializer::List(_), []) => {
                let message = "the initialiser nests deeper than the type";
                Err(Box::new(Diagnostic::error(Code::Constant, self.at, message)))
            }
        }
    }

    fn scalar(&mut self, value: &Expr<'a>, at: u64) -> Result<(), Box<Diagnostic>> {
        let size = self.ty.width().bytes() as usize;
        if let Some(mut relocation) = self.relocation(value)? {
            relocation.at = at;
            relocation.bytes = u8::try_from(size).unwrap_or(8);
            self.relocations.push(relocation);
            self.put(at, &0u64.to_le_bytes()[..size.min(8)]);
            return Ok(());
        }
        let bits = match value {
            // A masked constant: one byte of it.
            Expr::Mask(mask, inner) => {
                let (shift, value) = (mask_shift(mask.value), constant::evaluate(inner)?);
                shift.zip(constant::integer(value)).map(|(shift, bits)| bits >> shift & 0xff)
            }
            _ => constant::bits(constant::evaluate(value)?, self.ty),
        };
        let bits = bits.ok_or_else(|| {
            let message = "this constant does not fit the type of the variable";
            Box::new(Diagnostic::error(Code::Constant, value.span(), message))
        })?;
        self.put(at, &bits.to_le_bytes()[..size.min(8)]);
        Ok(())
    }

    fn put(&mut self, at: u64, bytes: &[u8]) {
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        if self.bytes.len() < at + bytes.len() {
            self.bytes.resize(at + bytes.len(), 0);
        }
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
    }

    /// Returns the address in an initialiser; `None` if it is a plain constant.
    fn relocation(&self, value: &Expr<'a>) -> Result<Option<Relocation>, Box<Diagnostic>> {
        Ok(match value {
            Expr::Name(name) if name.text != "WARP_SZ" => {
                let globals = &self.context.globals;
                let variable = globals.variables.get(name.text).copied().map(Symbol::Variable);
                let function = globals.functions.get(name.text).copied().map(Symbol::Function);
                let symbol = variable.or(function).ok_or_else(|| {
                    let message = format!("`{}` is not declared", name.text);
                    Box::new(Diagnostic::error(Code::Name, name.span(), message))
                })?;
                let (at, bytes, shift, addend, generic) = (0, 0, 0, 0, false);
                Some(Relocation { at, bytes, shift, symbol, addend, generic })
            }
            Expr::Parenthesized(inner) => self.relocation(inner)?,
            Expr::Generic(inner) => {
                self.relocation(inner)?.map(|inner| Relocation { generic: true, ..inner })
            }
            Expr::Mask(mask, inner) => {
                let Some(shift) = mask_shift(mask.value) else {
                    let message = "a mask must select one whole byte of an address";
                    return Err(Box::new(Diagnostic::error(Code::Constant, mask.at.0, message)));
                };
                self.relocation(inner)?.map(|inner| Relocation { shift, ..inner })
            }
            Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), sides) => {
                let Some(left) = self.relocation(&sides.0)? else { return Ok(None) };
                let offset = constant::integer(constant::evaluate(&sides.1)?).unwrap_or(0);
                let offset = offset.cast_signed();
                let offset = if *op == BinaryOp::Add { offset } else { offset.wrapping_neg() };
                Some(Relocation { addend: left.addend.wrapping_add(offset), ..left })
            }
            _ => None,
        })
    }
}

/// Returns the shift of `0xff00(…)`; `None` if it is not one whole byte.
fn mask_shift(mask: crate::syntax::Value) -> Option<u8> {
    let mask = constant::integer(mask)?;
    (0..8u8).map(|byte| byte * 8).find(|&shift| mask == 0xff << shift)
}
