//! Kernels: the instances that are read, and the final contents of the program (\[temp.explicit\]).

use super::analyser::Analyser;
use super::declarations::{Arg, Definition, FunctionDecl};
use super::deduce::{Bindings, Instance};
use super::scope::{DeclId, Entity};
use super::types::{FLOAT, QType};
use crate::syntax::ast::{self, TemplateParameterKind};
use crate::tree::{Category, Expr, ExprKind, FunctionId, KernelEntry, Program, Symbol, Type};
use crate::{Result, error, unsupported};
use base::Span;
use rustc_hash::FxHashMap;

/// Arguments of an instance, and the labels that distinguish it from others.
type Labelled = (Vec<Option<Arg>>, Vec<String>);

impl<'a> Analyser<'a> {
    /// `template void k<float, 256>(float*, int);`
    pub(super) fn explicit_instantiation(&mut self, function: &'a ast::Function, span: Span) {
        if let Ok(Some((decl, instance))) = self.named_instance(function)
            && self.decls.get(decl).is_some_and(|one| one.ast.specifiers.is_global)
        {
            self.instantiations.push((decl, instance.args, span));
        }
    }

    /// The template instance named by an explicit instantiation or specialisation.
    fn named_instance(
        &mut self,
        function: &'a ast::Function,
    ) -> Result<Option<(DeclId, Instance)>> {
        let Some(last) = function.name.parts.last() else { return Ok(None) };
        let explicit = last.arguments.as_deref().unwrap_or_default();
        let wanted = self.signature(function)?;
        let found = self.find(&function.name)?;
        let mut fitting = Vec::new();
        for entity in found {
            let Entity::Function(decl) = entity else { continue };
            let Some(ast) = self.decls.get(decl).map(|one| one.ast) else { continue };
            let Some(parameters) = &ast.template else { continue };
            if ast.parameters.len() != wanted.parameters.len() {
                continue;
            }
            let mut bound = Bindings::new(parameters);
            if !self.explicit_arguments(decl, explicit, &mut bound)? {
                continue;
            }
            let mut fits = true;
            for (parameter, ty) in ast.parameters.iter().zip(&wanted.parameters) {
                let inner = match &parameter.ty.kind {
                    ast::TypeKind::Reference(inner) | ast::TypeKind::RvalueReference(inner) => {
                        inner
                    }
                    _ => &parameter.ty,
                };
                fits &= self.deduce(inner, &ty.referred(), &mut bound)?;
            }
            if !fits {
                continue;
            }
            if let Some(instance) = self.substitute(decl, &bound.args)?
                && super::declare::same_parameters(&instance.signature, &wanted)
            {
                fitting.push((decl, instance));
            }
        }
        match fitting.len() {
            1 => Ok(fitting.pop()),
            0 => Ok(None),
            _ => Err(unsupported(last.name.span, "several templates fit this declaration")),
        }
    }

    /// `template <> __device__ float f<float>(float x) { … }`
    pub(super) fn specialise_function(&mut self, function: &'a ast::Function) -> Result<()> {
        let Some(last) = function.name.parts.last() else { return Ok(()) };
        let span = last.name.span;
        let (decl, instance) = match self.named_instance(function) {
            Ok(Some(found)) => found,
            Ok(None) => {
                return Err(error(span, "there is no template that this specialises"));
            }
            Err(why) => {
                let refusal = Entity::Refused(why.message.clone());
                self.enter(self.scope, &last.name.text, refusal);
                return Ok(());
            }
        };
        let signature = self.signature(function);
        let definition = (function.body.is_some() || function.unread.is_some())
            .then_some(Definition { ast: function, order: self.order, scope: self.scope });
        if let Some((_, known)) = self.decls[decl]
            .specialisations
            .iter()
            .find(|specialisation| specialisation.0 == instance.key)
        {
            let known = *known;
            if definition.is_some() {
                self.decls[known].definition = definition;
            }
            return Ok(());
        }
        let special = self.decls.push(FunctionDecl {
            name: last.name.text.to_string(),
            scope: self.scope,
            order: self.order,
            ast: function,
            definition,
            signature: Some(signature),
            member: None,
            defaults: vec![None; function.parameters.len()],
            specialisations: Vec::new(),
            instances: FxHashMap::default(),
        });
        self.decls[decl].specialisations.push((instance.key, special));
        if function.specifiers.is_global && definition.is_some() {
            self.kernels.push((special, span));
        }
        Ok(())
    }

    /// Reads all kernels and the functions they call.
    pub(super) fn read_kernels(&mut self) -> Result<()> {
        self.limit = self.order;
        self.scope = self.global;
        self.read_monoids()?;
        let mut entries: Vec<(String, Span, Result<FunctionId>)> = Vec::new();
        for (decl, span) in self.kernels.clone() {
            let Some(one) = self.decls.get(decl) else { continue };
            let name = one.name.clone();
            if one.signature.is_some() {
                let function = match one.signature.clone() {
                    Some(Err(why)) => Err(why),
                    _ => self.function_of(decl, None, span),
                };
                entries.push((name, span, function));
                continue;
            }
            let given: Vec<Vec<Arg>> = self
                .instantiations
                .iter()
                .filter(|instantiation| instantiation.0 == decl)
                .map(|instantiation| instantiation.1.clone())
                .collect();
            if given.is_empty() {
                entries.extend(self.symbolic_kernels(decl, &name, span));
                continue;
            }
            for args in given {
                let texts: Vec<String> =
                    args.iter().map(|argument| self.arg_text(argument)).collect();
                let full = format!("{name}<{}>", texts.join(", "));
                let args: Vec<Option<Arg>> = args.into_iter().map(Some).collect();
                entries.push((full, span, self.kernel_instance(decl, &args, span)));
            }
        }
        self.read_all();
        for (name, span, function) in entries {
            let function = function.and_then(|id| match self.failure(id) {
                Some(why) => Err(why),
                None => Ok(id),
            });
            self.program.kernels.push(KernelEntry { name, span, function });
        }
        Ok(())
    }

    fn kernel_instance(
        &mut self,
        decl: DeclId,
        args: &[Option<Arg>],
        span: Span,
    ) -> Result<FunctionId> {
        match self.substitute(decl, args)? {
            Some(instance) => self.function_of(decl, Some(&instance), span),
            None => {
                Err(unsupported(span, "this kernel template cannot be read for these arguments"))
            }
        }
    }

    /// Reads a kernel template without explicit instances: an integer parameter stays symbolic, a type is read as
    /// `float`, and both truth values are tried.
    fn symbolic_kernels(
        &mut self,
        decl: DeclId,
        name: &str,
        span: Span,
    ) -> Vec<(String, Span, Result<FunctionId>)> {
        let Some(one) = self.decls.get(decl) else { return Vec::new() };
        let (scope, order) = (one.scope, one.order);
        let Some(parameters) = &one.ast.template else { return Vec::new() };
        let first = vec![(Vec::new(), Vec::new())];
        let mut lists: Result<Vec<Labelled>> = Ok(first);
        for parameter in &parameters.parameters {
            lists = lists.and_then(|lists| {
                let mut next = Vec::new();
                let earlier: Vec<Option<Arg>> =
                    lists.first().map(|one| one.0.clone()).unwrap_or_default();
                let options =
                    self.symbolic_arguments(parameters, &earlier, parameter, (scope, order), name)?;
                for (args, names) in lists {
                    for (arg, label) in &options {
                        let mut args = args.clone();
                        args.push(Some(arg.clone()));
                        let mut names = names.clone();
                        names.extend(label.clone());
                        next.push((args, names));
                    }
                }
                match next.len() <= 16 {
                    true => Ok(next),
                    false => Err(unsupported(span, "this template has too many instances")),
                }
            });
        }
        match lists {
            Err(why) => vec![(name.to_owned(), span, Err(why))],
            Ok(lists) => lists
                .into_iter()
                .map(|(args, names)| {
                    let full = match names.is_empty() {
                        true => name.to_owned(),
                        false => format!("{name}<{}>", names.join(", ")),
                    };
                    (full, span, self.kernel_instance(decl, &args, span))
                })
                .collect(),
        }
    }

    /// The values for a parameter of a kernel template; truth values have two, with their text.
    fn symbolic_arguments(
        &mut self,
        parameters: &'a ast::TemplateParameters,
        earlier: &[Option<Arg>],
        parameter: &'a ast::TemplateParameter,
        (scope, order): (super::scope::ScopeId, u32),
        kernel: &str,
    ) -> Result<Vec<(Arg, Option<String>)>> {
        let span = parameter.name.span;
        if parameter.is_pack {
            return Err(unsupported(span, "template packs are not supported"));
        }
        let word = parameter.name.text.to_string();
        let TemplateParameterKind::Constant(ty, _) = &parameter.kind else {
            self.program
                .assumed
                .push(format!("template parameter `{word}` of `{kernel}` is read as `float`"));
            return Ok(vec![(Arg::Type(QType::plain(FLOAT)), None)]);
        };
        let bound = self.new_scope(Some(scope), super::scope::ScopeKind::Template);
        for (known, arg) in parameters.parameters.iter().zip(earlier) {
            if let Some(Arg::Type(ty)) = arg {
                self.enter(bound, &known.name.text, Entity::Type(ty.clone()));
            }
        }
        let ty = self.at_place(bound, order, |one| one.resolve_type(ty))?.ty;
        let value = |kind: ExprKind| {
            Arg::Value(Expr { kind, ty: ty.clone(), category: Category::Value, span })
        };
        match ty {
            Type::Bool => Ok([0, 1]
                .map(|truth| {
                    let text = if truth == 0 { "false" } else { "true" };
                    (value(ExprKind::Int(truth)), Some(format!("{word} = {text}")))
                })
                .to_vec()),
            Type::Int(_) => {
                let symbol = self.program.symbols.push(Symbol {
                    name: word,
                    ty: ty.clone(),
                    span,
                    of_template: true,
                });
                Ok(vec![(value(ExprKind::Symbol(symbol)), None)])
            }
            _ => Err(unsupported(span, "a template parameter of this type is not supported")),
        }
    }

    /// The program, after checking the order of evaluation.
    pub(super) fn finish(mut self) -> Program {
        let refused = super::sequence::check(&self.program);
        for (function, why) in refused {
            use base::Index as _;
            if let Some(state) = self.bodies.get_mut(function.position()) {
                *state = super::analyser::BodyState::Failed(why);
            }
        }
        let functions: Vec<Option<Box<base::Diagnostic>>> = self
            .program
            .kernels
            .iter()
            .map(|kernel| kernel.function.as_ref().ok().and_then(|id| self.failure(*id)))
            .collect();
        for (entry, failure) in self.program.kernels.iter_mut().zip(functions) {
            if let Some(why) = failure {
                entry.function = Err(why);
            }
        }
        self.program
    }
}
