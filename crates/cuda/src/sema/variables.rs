//! Variables of functions, files and classes, and their storage (\[dcl.stc\], \[basic.stc\]; CUDA C++ Programming
//! Guide, "Variable Memory Space Specifiers").

use super::analyser::Analyser;
use super::scope::Entity;
use super::types::{QType, is_arithmetic};
use crate::syntax::ast;
use crate::tree::{Extent, Global, GlobalSpace, Init, Stmt, StmtKind, Storage, Type};
use crate::{Result, error, unsupported};
use base::Span;

impl<'a> Analyser<'a> {
    /// Variables of a block.
    pub(super) fn declare_locals(
        &mut self,
        variables: &'a ast::Variables,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        if variables.template.is_some() {
            return Err(error(span, "templates do not belong inside functions"));
        }
        for declarator in &variables.declarators {
            self.declare_local(&variables.specifiers, declarator, span, out)?;
        }
        Ok(())
    }

    pub(super) fn declare_local(
        &mut self,
        specifiers: &'a ast::Specifiers,
        declarator: &'a ast::Declarator,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let Some(part) = declarator.name.parts.last() else { return Ok(()) };
        let name = &part.name;
        let mut ty = self.variable_type(declarator)?;
        ty.is_const |= specifiers.is_constexpr && !ty.is_reference();
        let storage = match (specifiers.is_shared, specifiers.is_extern) {
            (true, true) => Storage::DynamicShared,
            (true, false) => Storage::Shared,
            (false, true) => return Err(unsupported(span, "`extern` is not supported here")),
            (false, false) => Storage::Automatic,
        };
        self.check_variable(&ty, name.span, storage)?;
        // `__device__ __shared__` is `__shared__`.
        let is_device = specifiers.is_device && !specifiers.is_shared;
        if specifiers.is_constant || specifiers.is_managed || is_device {
            return Err(error(span, "a variable in a function cannot be in this memory space"));
        }
        if specifiers.is_static && storage == Storage::Automatic {
            return self.declare_static(declarator, ty, name);
        }
        let local = self.new_local(&name.text, &ty, name.span);
        if let Some(known) = self.body.locals.get(local).cloned() {
            self.body.locals[local] = crate::tree::Local { storage, ..known };
        }
        self.enter_local(name, Entity::Local(local))?;
        if storage != Storage::Automatic {
            if declarator.init.is_some() {
                return Err(error(span, "shared variables have no initialisers"));
            }
            out.push(Stmt { kind: StmtKind::Declare(local, None), span });
            return Ok(());
        }
        let init = self.variable_init(&ty, declarator.init.as_ref(), name.span)?;
        if ty.is_const && !ty.is_volatile && !ty.is_reference() {
            let is_number = is_arithmetic(&ty.ty) || matches!(ty.ty, Type::Enum(_));
            if let (Some(Init::Expr(made)), true) = (&init, is_number) {
                let is_foldable = !matches!(ty.ty, Type::Float(_)) || specifiers.is_constexpr;
                match self.known_value(made.clone(), name.span) {
                    Ok(known) if is_foldable => _ = self.body.constants.insert(local, known),
                    Err(why) if specifiers.is_constexpr => return Err(why),
                    _ => {}
                }
            }
        }
        out.push(Stmt { kind: StmtKind::Declare(local, init), span });
        Ok(())
    }

    fn check_variable(&self, ty: &QType, span: Span, storage: Storage) -> Result<()> {
        if ty.ty == Type::Void && !ty.is_reference() {
            return Err(error(span, "a variable cannot be `void`"));
        }
        let mut inner = &ty.ty;
        while let Type::Array(element, _) = inner {
            inner = element;
        }
        match inner {
            Type::Record(record) if !ty.is_reference() => self.check_usable(*record, span)?,
            Type::Function(_) if !ty.is_reference() => {
                return Err(unsupported(span, "functions declared in functions are not supported"));
            }
            _ => {}
        }
        if let (Type::Array(_, Extent::Unknown), false) =
            (&ty.ty, storage == Storage::DynamicShared || ty.is_reference())
        {
            return Err(error(span, "the size of this array is missing"));
        }
        Ok(())
    }

    /// A `static` variable of a function: one for the whole launch.
    fn declare_static(
        &mut self,
        declarator: &'a ast::Declarator,
        ty: QType,
        name: &'a ast::Name,
    ) -> Result<()> {
        let is_known = ty.is_const && (is_arithmetic(&ty.ty) || matches!(ty.ty, Type::Enum(_)));
        if is_known {
            let Some(init) = &declarator.init else {
                return Err(error(name.span, "a constant needs a value"));
            };
            let made = self.scalar_init(&ty.ty, init, name.span)?;
            let value = self.known_value(made, name.span);
            let variable = self.variables.push(super::declarations::Variable { value });
            return self.enter_local(name, Entity::Variable(variable));
        }
        let init = self.variable_init(&ty, declarator.init.as_ref(), name.span)?;
        let entity = self.new_global(&name.text, &ty, GlobalSpace::Device, init, name.span);
        self.enter_local(name, entity)
    }

    pub(super) fn new_global(
        &mut self,
        name: &str,
        ty: &QType,
        space: GlobalSpace,
        init: Option<Init>,
        span: Span,
    ) -> Entity {
        let id = self.program.globals.push(Global {
            name: name.to_owned(),
            namespace: self.namespace(self.scope),
            ty: ty.ty.clone(),
            is_const: ty.is_const,
            space,
            init,
            span,
        });
        if ty.is_volatile {
            self.volatile_globals.insert(id);
        }
        Entity::Global(id)
    }

    /// Variables of files, namespaces and static ones of classes.
    pub(super) fn declare_variables(&mut self, variables: &'a ast::Variables) -> Result<()> {
        for declarator in &variables.declarators {
            let Some(part) = declarator.name.parts.last() else { continue };
            if declarator.name.parts.len() > 1 {
                // The definition of a static member; its declaration is known already.
                continue;
            }
            if let Some(parameters) = &variables.template {
                let pattern = super::declarations::Pattern::Variable(variables, declarator);
                if let Some(arguments) = &part.arguments {
                    let name = &part.name;
                    self.specialise(&name.text, parameters, (arguments, pattern), name.span)?;
                    continue;
                }
                self.declare_template(&part.name.text, pattern, parameters);
                continue;
            }
            let entity = match self.global_variable(variables, declarator, part) {
                Ok(entity) => entity,
                Err(why) => Entity::Refused(why.message.clone()),
            };
            let known = self.names_in(self.scope, &part.name.text);
            let again =
                known.iter().any(|one| matches!(one, Entity::Global(_) | Entity::Variable(_)));
            if again && !variables.specifiers.is_extern {
                let why = "this variable is declared twice, which is not supported";
                self.scopes[self.scope].names.remove(&part.name.text);
                self.enter(self.scope, &part.name.text, Entity::Refused(why.into()));
            } else if !again {
                self.enter(self.scope, &part.name.text, entity);
            }
        }
        Ok(())
    }

    fn global_variable(
        &mut self,
        variables: &'a ast::Variables,
        declarator: &'a ast::Declarator,
        part: &'a ast::NamePart,
    ) -> Result<Entity> {
        let specifiers = &variables.specifiers;
        let span = part.name.span;
        let space = match specifiers {
            _ if specifiers.is_shared && specifiers.is_extern => GlobalSpace::DynamicShared,
            _ if specifiers.is_shared => GlobalSpace::Shared,
            _ if specifiers.is_constant => GlobalSpace::Constant,
            _ if specifiers.is_device || specifiers.is_managed => GlobalSpace::Device,
            _ => return self.host_variable(variables, declarator),
        };
        let mut ty = self.variable_type(declarator)?;
        ty.is_const |= specifiers.is_constexpr;
        if ty.is_reference() {
            return Err(unsupported(span, "references at file scope are not supported"));
        }
        // A constant number in device memory is replaced by its value, unless the host can write it.
        if ty.is_const && space == GlobalSpace::Device && is_arithmetic(&ty.ty) && !ty.is_volatile {
            return self.constant_variable(variables, declarator);
        }
        let storage = match space {
            GlobalSpace::DynamicShared => Storage::DynamicShared,
            _ => Storage::Automatic,
        };
        self.check_variable(&ty, span, storage)?;
        let init = match &declarator.init {
            Some(init) => self.variable_init(&ty, Some(init), span)?,
            None => None,
        };
        // The host may write `__constant__` memory; only a variable that is also `const` keeps its initialiser.
        Ok(self.new_global(&part.name.text, &ty, space, init, span))
    }

    /// Returns `true` for CUDA's `texture<…>`, of which kernels and the host share variables.
    fn is_texture(&self, ty: &QType) -> bool {
        let Type::Record(record) = ty.ty else { return false };
        let textures = self.headers.map(|headers| self.names_in(headers, "texture"));
        let Some(Entity::Template(textures)) = textures.as_ref().and_then(|all| all.first()) else {
            return false;
        };
        let instance = self.class(record).and_then(|one| one.instance.as_ref());
        instance.is_some_and(|(template, _)| template == textures)
    }

    /// A variable without a memory space. Kernels can use it only if it is a constant. Arrays become constant memory.
    fn host_variable(
        &mut self,
        variables: &'a ast::Variables,
        declarator: &'a ast::Declarator,
    ) -> Result<Entity> {
        let ty = self.variable_type(declarator)?;
        if let (true, Some(part)) = (self.is_texture(&ty), declarator.name.parts.last()) {
            let span = part.name.span;
            return Ok(self.new_global(&part.name.text, &ty, GlobalSpace::Texture, None, span));
        }
        let is_constant = variables.specifiers.is_constexpr;
        if let (Type::Array(..), true, Some(part)) =
            (&ty.ty, is_constant, declarator.name.parts.last())
        {
            let span = part.name.span;
            let ty = QType { is_const: true, ..ty };
            let init = self.variable_init(&ty, declarator.init.as_ref(), span)?;
            return Ok(self.new_global(&part.name.text, &ty, GlobalSpace::Constant, init, span));
        }
        self.constant_variable(variables, declarator)
    }
}
