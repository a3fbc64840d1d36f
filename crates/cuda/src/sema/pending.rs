//! Functions of the program: their numbers, and the order of reading their bodies.

use super::analyser::{Analyser, BodyState, Task};
use super::deduce::Instance;
use super::scope::DeclId;
use super::types::QType;
use crate::tree::{Function, FunctionId, TemplateArgument, Type};
use crate::{Result, error, unsupported};
use base::{Index, IndexVec, Span};

/// The largest distance from a kernel at which calls may need new functions: chains of template instances may be
/// infinite.
const GENERATIONS: u32 = 256;

impl<'a> Analyser<'a> {
    /// The function of the tree for a declaration or instance. Explicit specialisations take precedence.
    pub(super) fn function_of(
        &mut self,
        decl: DeclId,
        instance: Option<&Instance>,
        span: Span,
    ) -> Result<FunctionId> {
        let Some(one) = self.decls.get(decl) else {
            return Err(error(span, "this function does not exist"));
        };
        if one.ast.specifiers.is_global && self.body.function.is_some() {
            return Err(unsupported(
                span,
                "a kernel that is called by a function is not supported",
            ));
        }
        if let Some(instance) = instance
            && !one.specialisations.is_empty()
            && instance.args.iter().any(super::instance::is_symbolic)
        {
            let message = "a specialisation depends on a value that is not known";
            return Err(unsupported(span, message));
        }
        if let Some(instance) = instance
            && let Some((_, special)) =
                one.specialisations.iter().find(|special| special.0 == instance.key)
        {
            let special = *special;
            return self.function_of(special, None, span);
        }
        let key = instance.map_or(String::new(), |one| one.key.clone());
        if let Some(known) = one.instances.get(&key) {
            return Ok(*known);
        }
        let scope = instance.map_or(one.scope, |one| one.scope);
        let Some(signature) = self.signature_of(decl, instance) else {
            return Err(error(span, "this function has no signature"));
        };
        let arguments = instance.map_or(Vec::new(), |one| {
            one.args.iter().map(|arg| self.template_argument(arg)).collect()
        });
        let generation = self.body.generation + 1;
        if generation > GENERATIONS {
            return Err(unsupported(span, "calls and templates are nested too deeply here"));
        }
        let task = Task { decl, scope, signature, generation };
        let id = self.new_function(task, arguments);
        self.decls[decl].instances.insert(key, id);
        Ok(id)
    }

    fn new_function(&mut self, task: Task, arguments: Vec<TemplateArgument>) -> FunctionId {
        let ast = self.decls.get(task.decl).map(|one| one.ast);
        let last = ast.and_then(|one| one.name.parts.last());
        let returns = task.signature.returns.clone();
        let member = self.decls.get(task.decl).and_then(|one| one.member);
        let declared = self.decls.get(task.decl).map(|one| one.scope);
        let namespace = declared.map_or(String::new(), |scope| self.namespace(scope));
        let constructed = member.filter(|one| one.is_constructor).map(|one| one.record);
        let id = self.program.functions.push(Function {
            name: last.map_or(String::new(), |one| one.name.text.to_string()),
            span: last.map_or(Span::default(), |one| one.name.span),
            is_kernel: ast.is_some_and(|one| one.specifiers.is_global),
            returns: match constructed {
                Some(record) => Type::Record(record),
                None => returns.as_ref().map_or(Type::Void, |one| one.ty.clone()),
            },
            returns_reference: returns.as_ref().is_some_and(QType::is_reference),
            parameters: Vec::new(),
            locals: IndexVec::new(),
            clauses: Vec::new(),
            body: Vec::new(),
            namespace,
            arguments,
            max_threads: None,
        });
        if ast.is_some_and(|one| one.specifiers.is_constexpr) {
            self.constexpr.insert(id);
        }
        self.result_types.push(match constructed {
            Some(record) => Some(QType::plain(Type::Record(record))),
            None => returns,
        });
        self.bodies.push(BodyState::Waiting(Box::new(task)));
        self.callees.push(Vec::new());
        self.queue.push(id);
        id
    }

    /// The result type of a function; of `auto` ones, after reading the body.
    pub(super) fn result_of(&mut self, function: FunctionId, span: Span) -> Result<QType> {
        let known = |one: &Self| one.result_types.get(function.position()).cloned().flatten();
        if let Some(known) = known(self) {
            return Ok(known);
        }
        self.with_instance_limit(span, |one| {
            one.read_now(function);
            Ok(())
        })?;
        match (known(self), self.bodies.get(function.position())) {
            (Some(known), _) => Ok(known),
            (None, Some(BodyState::Failed(why))) => Err(why.clone()),
            _ => Err(unsupported(span, "the result type of this function cannot be deduced")),
        }
    }

    pub(super) fn remember_call(&mut self, callee: FunctionId) {
        if let Some(caller) = self.body.function
            && let Some(known) = self.callees.get_mut(caller.position())
            && !known.contains(&callee)
        {
            known.push(callee);
        }
    }

    /// Reads bodies until none is left.
    pub(super) fn read_all(&mut self) {
        while let Some(next) = self.queue.pop() {
            self.read_now(next);
        }
    }

    /// Reads a body if it has not been read yet, interrupting the current one.
    pub(super) fn read_now(&mut self, function: FunctionId) {
        let Some(state) = self.bodies.get_mut(function.position()) else { return };
        let BodyState::Waiting(task) = state else { return };
        let task = task.as_ref().clone();
        *state = BodyState::Reading;
        let result = self.read_body(function, task);
        if let Some(state) = self.bodies.get_mut(function.position()) {
            *state = match result {
                Ok(()) => BodyState::Read,
                Err(why) => BodyState::Failed(why),
            };
        }
    }

    /// The reason why a function cannot be read: an error of its own or of a function it reaches.
    pub(super) fn failure(&self, function: FunctionId) -> Option<Box<base::Diagnostic>> {
        let mut seen = vec![false; self.bodies.len()];
        let mut todo = vec![function];
        while let Some(next) = todo.pop() {
            match seen.get_mut(next.position()) {
                Some(seen) if !*seen => *seen = true,
                _ => continue,
            }
            if let Some(BodyState::Failed(why)) = self.bodies.get(next.position()) {
                return Some(why.clone());
            }
            let callees = self.callees.get(next.position()).map_or(&[][..], |one| &one[..]);
            todo.extend(callees.iter().rev());
        }
        None
    }
}
