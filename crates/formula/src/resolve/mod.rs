//! Resolves names, types and ranges.
//!
//! An index left of `=` runs over its dimension of the output. Other indices have an explicit range, or run over the
//! dimensions at which they occur alone. No index hides another one. Tensors that are not integers hold reals.

mod calls;
mod expressions;
mod extents;

pub(crate) use calls::{expressions, nearest_single};
pub(crate) use expressions::floor_divide;
pub(crate) use extents::extent;

use crate::ast::{Definition, Formula, Index};
use crate::error::{Error, closest};
use crate::interval::{interval, of_type};
use crate::typed::{
    Arithmetic, Array, ArrayId, IndexId, IndexInfo, Node, NodeKind, Origin, Reduce, Reduction,
    Step, Type, Typed,
};
use base::Span;
use ir::{Format, Scalar, Width};
use term::Number;

/// A tensor that a formula may name.
#[derive(Clone, Debug)]
pub struct Tensor {
    /// Its name.
    pub name: String,
    /// Type of its elements.
    pub scalar: Scalar,
    /// Its sizes.
    pub shape: Vec<u64>,
    /// Integers that bound its elements, if stated.
    pub range: Option<(i128, i128)>,
    /// Set if it has contents before the computation.
    pub is_input: bool,
    /// Set if the formula may define it.
    pub is_output: bool,
    /// Set if the formula must define it.
    pub is_required: bool,
}

/// A scalar that a formula may name.
#[derive(Clone, Debug)]
pub struct ScalarInput {
    /// Its name.
    pub name: String,
    /// Its value or type.
    pub value: KnownScalar,
}

/// The value of a scalar, or its type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KnownScalar {
    /// This integer.
    Integer(i128),
    /// This float.
    Float(f64),
    /// A parameter of this type.
    Parameter(Scalar),
}

/// All names available to a formula.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// Tensors.
    pub tensors: Vec<Tensor>,
    /// Scalars.
    pub scalars: Vec<ScalarInput>,
    /// Aliases of inputs: name, and the input with the same memory.
    pub aliases: Vec<(String, String)>,
    /// Suffix for the names of arrays that only the formula has, which makes them unique.
    pub suffix: String,
}

impl Environment {
    /// Returns the format that reals are computed in by runs on reals.
    pub(crate) fn format(&self) -> Format {
        let tensors = self.tensors.iter().map(|tensor| tensor.scalar);
        let scalars = self.scalars.iter().filter_map(|scalar| match scalar.value {
            KnownScalar::Parameter(scalar) => Some(scalar),
            KnownScalar::Integer(_) | KnownScalar::Float(_) => None,
        });
        let is_double = tensors.chain(scalars).any(|one| one == Scalar::Float(Format::F64));
        if is_double { Format::F64 } else { Format::F32 }
    }
}

/// Most elements of an output.
const MAX_ELEMENTS: u64 = 1 << 31;

/// Most elements of an array that only the formula has.
const MAX_LET_ELEMENTS: u64 = 1 << 24;

/// Resolves a formula against the tensors and scalars that it may name.
pub(crate) fn resolve(formula: &Formula, environment: &Environment) -> Result<Typed, Error> {
    let mut resolver = Resolver {
        environment,
        typed: Typed::default(),
        scope: Vec::new(),
        constants: Vec::new(),
        defined: Vec::new(),
        before: Vec::new(),
    };
    for tensor in environment.tensors.iter().filter(|tensor| tensor.is_input) {
        let Tensor { name, scalar, shape, range, .. } = tensor.clone();
        let (origin, bounds) = (Origin::Input, range.or_else(|| of_type(scalar)));
        let id = resolver.typed.arrays.push(Array { name, scalar, shape, origin, bounds });
        resolver.before.push(id);
    }
    for definition in &formula.definitions {
        resolver.definition(definition)?;
    }
    let is_missing = |tensor: &&Tensor| {
        tensor.is_required && resolver.defined.iter().all(|(name, _)| *name != tensor.name)
    };
    if let Some(tensor) = environment.tensors.iter().find(is_missing) {
        let span = formula.definitions.last().map_or(Span::default(), |last| last.name.span);
        return Err(Error::new(span, format!("nothing defines the output `{}`", tensor.name)));
    }
    Ok(resolver.typed)
}

/// The state of a resolution.
struct Resolver<'r> {
    environment: &'r Environment,
    typed: Typed,
    /// Indices in scope.
    scope: Vec<(String, IndexId)>,
    /// Definitions that depend on nothing: their names stand for their values.
    constants: Vec<(String, Node)>,
    /// Definitions so far.
    defined: Vec<(String, ArrayId)>,
    /// Tensors with contents before anything is computed.
    before: Vec<ArrayId>,
}

impl Resolver<'_> {
    /// Resolves a definition: its output or `let`, its indices, and its value.
    fn definition(&mut self, definition: &Definition) -> Result<(), Error> {
        let Definition { is_let, name, indices, value } = definition;
        let (text, span) = (&name.text, name.span);
        let is_known = self.constants.iter().any(|(known, _)| known == text);
        if is_known || self.defined.iter().any(|(known, _)| known == text) {
            return Err(Error::new(span, format!("`{text}` is defined twice")));
        }
        let tensor = self.environment.tensors.iter().find(|tensor| tensor.name == *text);
        let is_argument =
            tensor.is_some() || self.environment.scalars.iter().any(|scalar| scalar.name == *text);
        let shape = match (is_let, tensor) {
            (true, _) if is_argument => {
                let message = format!("`{text}` is an argument; a `let` needs a name of its own");
                return Err(Error::new(span, message));
            }
            (true, _) => None,
            (false, Some(tensor)) if tensor.is_output => Some(tensor.shape.clone()),
            (false, Some(_)) => {
                let message =
                    format!("`{text}` is an input; the kernel writes only tensors with `:out`");
                return Err(Error::new(span, message));
            }
            (false, None) => return Err(self.unknown_output(text, span)),
        };
        let ids = self.indices_of(definition, shape.as_deref())?;
        let value = self.expression(value)?;
        self.scope.clear();
        if *is_let && indices.is_empty() && is_constant(&value) {
            self.constants.push((text.clone(), value));
            return Ok(());
        }
        let (scalar, value) = match tensor {
            Some(tensor) => (tensor.scalar, self.fit(value, tensor.scalar, text)?),
            None => let_storage(&self.typed, value, self.environment.format()),
        };
        let shape = shape.unwrap_or_else(|| {
            let extent = |id: &IndexId| self.typed.indices[*id].bounds.1 + 1;
            ids.iter().map(|id| u64::try_from(extent(id)).unwrap_or(0)).collect()
        });
        let elements = shape.iter().try_fold(1_u64, |all, size| all.checked_mul(*size));
        let most = if *is_let { MAX_LET_ELEMENTS } else { MAX_ELEMENTS };
        if elements.is_none_or(|elements| elements > most) {
            return Err(Error::new(span, format!("`{text}` has more than {most} elements")));
        }
        let value = self.keep_contents(text, value);
        let origin = if *is_let { Origin::Let } else { Origin::Output };
        // Integers that do not fit into the elements of an output wrap around.
        let fits =
            |own: (i128, i128)| of_type(scalar).is_none_or(|all| all.0 <= own.0 && own.1 <= all.1);
        let bounds = interval(&self.typed, &value).filter(|own| fits(*own));
        let bounds = bounds.or_else(|| of_type(scalar));
        let array =
            self.typed.arrays.push(Array { name: text.clone(), scalar, shape, origin, bounds });
        debug_assert!(ids.len() == indices.len(), "an index each");
        self.typed.steps.push(Step { array, indices: ids, value, span: definition.value.span });
        self.defined.push((text.clone(), array));
        Ok(())
    }

    fn unknown_output(&self, text: &str, span: Span) -> Error {
        let outputs = self.environment.tensors.iter().filter(|tensor| tensor.is_output);
        let outputs: Vec<&str> = outputs.map(|tensor| tensor.name.as_str()).collect();
        let hint = match closest(text, outputs.iter().copied()) {
            Some(name) => format!("did you mean `{name}`?"),
            None if outputs.is_empty() => "no argument is an output (`:out`)".to_owned(),
            None => format!(
                "outputs are `{}`; `let {text}…` defines an array for the formula alone",
                outputs.join("`, `")
            ),
        };
        Error::new(span, format!("the kernel has no output `{text}`; {hint}"))
    }

    /// Brings the indices of a definition into scope.
    fn indices_of(
        &mut self,
        definition: &Definition,
        shape: Option<&[u64]>,
    ) -> Result<Vec<IndexId>, Error> {
        let (name, indices) = (&definition.name, &definition.indices);
        if let Some(shape) = shape {
            let one = indices.is_empty() && shape.iter().product::<u64>() == 1;
            if shape.len() != indices.len() && !one {
                let (text, count) = (&name.text, shape.len());
                let names: Vec<&str> =
                    ["i", "j", "k", "l", "m", "n"].into_iter().take(count).collect();
                let message = format!(
                    "`{text}` has {count} dimension{}: `{text}[{}] = …`",
                    if count == 1 { "" } else { "s" },
                    names.join(",")
                );
                return Err(Error::new(name.span, message));
            }
        }
        let mut ids = Vec::new();
        for (axis, index) in indices.iter().enumerate() {
            let size = match (&index.range, shape) {
                (Some(_), Some(_)) => {
                    let text = &index.name.text;
                    let message = format!(
                        "`{text}` runs over dimension {axis} of `{}`; a range is not needed",
                        name.text
                    );
                    return Err(Error::new(index.name.span, message));
                }
                (Some(range), None) => self.size_of_range(index, range)?,
                (None, Some(shape)) => shape[axis],
                (None, None) => self.extent(&index.name, &definition.value)?,
            };
            ids.push(self.bind(index, (0, i128::from(size) - 1), true)?);
        }
        Ok(ids)
    }

    /// Returns the size of a dimension with a given range.
    fn size_of_range(
        &mut self,
        index: &Index,
        range: &(crate::ast::Expression, crate::ast::Expression),
    ) -> Result<u64, Error> {
        let ends = [self.integer(&range.0)?, self.integer(&range.1)?];
        let ends = ends.map(|end| end.number().and_then(Number::to_i64));
        match ends {
            [Some(0), Some(high)] if high >= 0 => Ok(high.unsigned_abs()),
            _ => {
                let message =
                    format!("a dimension runs from 0 to a number: `{} in 0..4`", index.name.text);
                Err(Error::new(index.name.span, message))
            }
        }
    }

    /// Creates an index and brings it into scope.
    fn bind(
        &mut self,
        index: &Index,
        bounds: (i128, i128),
        is_fixed: bool,
    ) -> Result<IndexId, Error> {
        let name = index.name.text.clone();
        if self.scope.iter().any(|(known, _)| *known == name) {
            let message = format!("`{name}` is an index already; take another name");
            return Err(Error::new(index.name.span, message));
        }
        if self.is_named(&name) {
            let message =
                format!("`{name}` is an argument or a definition; take another name for the index");
            return Err(Error::new(index.name.span, message));
        }
        let id = self.typed.indices.push(IndexInfo { name: name.clone(), bounds, is_fixed });
        self.scope.push((name, id));
        Ok(id)
    }

    /// Returns `true` for the name of an argument or of an earlier definition.
    fn is_named(&self, name: &str) -> bool {
        self.environment.tensors.iter().any(|tensor| tensor.name == name)
            || self.environment.scalars.iter().any(|scalar| scalar.name == name)
            || self.defined.iter().any(|(known, _)| known == name)
            || self.constants.iter().any(|(known, _)| known == name)
    }

    /// Returns the array of a name: an earlier definition, or initial contents.
    fn array(&self, name: &str) -> Option<ArrayId> {
        let defined = self.defined.iter().find(|(known, _)| known == name).map(|(_, id)| *id);
        let alias = self.environment.aliases.iter().find(|(one, _)| one == name);
        let name = alias.map_or(name, |(_, other)| other);
        let before = || self.before.iter().copied().find(|id| self.typed.arrays[*id].name == name);
        defined.or_else(before)
    }

    /// Converts the value to the type of a tensor's elements.
    fn fit(&self, value: Node, scalar: Scalar, name: &str) -> Result<Node, Error> {
        match (scalar, value.ty) {
            (Scalar::Float(_), Type::Integer) => Ok(to_real(value)),
            (Scalar::Float(_), Type::Real) | (Scalar::Integer { .. }, Type::Integer) => Ok(value),
            (_, Type::Truth) => Ok(match scalar {
                Scalar::Float(_) => to_real(as_number(value)),
                Scalar::Integer { .. } => as_number(value),
            }),
            (Scalar::Integer { .. }, Type::Real) => {
                let message = format!(
                    "`{name}` holds integers and this is a real number; say how it is rounded: \
                     `floor(…)`, `round(…)`, `trunc(…)`"
                );
                Err(Error::new(value.span, message))
            }
        }
    }

    /// Redirects reads of the previous contents of a definition's output to a copy of them, because elements are
    /// computed in any order. Returns the changed value.
    fn keep_contents(&mut self, name: &str, value: Node) -> Node {
        let Some(old) = self.before.iter().copied().find(|id| self.typed.arrays[*id].name == name)
        else {
            return value;
        };
        if !reads(&value, old) {
            return value;
        }
        let Array { scalar, shape, bounds, .. } = self.typed.arrays[old].clone();
        let copy = self.typed.arrays.push(Array {
            name: format!("{name} (before)"),
            scalar,
            shape: shape.clone(),
            origin: Origin::Let,
            bounds,
        });
        let info = |(axis, size): (usize, &u64)| IndexInfo {
            name: format!("i{axis}"),
            bounds: (0, i128::from(*size) - 1),
            is_fixed: true,
        };
        let infos: Vec<IndexInfo> = shape.iter().enumerate().map(info).collect();
        let indices: Vec<IndexId> =
            infos.into_iter().map(|info| self.typed.indices.push(info)).collect();
        let span = value.span;
        let ty = type_of(scalar);
        let index = |id: &IndexId| Node {
            kind: NodeKind::Index(*id),
            ty: Type::Integer,
            is_data: false,
            span,
        };
        let kind = NodeKind::Element {
            array: old,
            indices: indices.iter().map(index).collect(),
            outside: None,
        };
        let element = Node { kind, ty, is_data: true, span };
        self.typed.steps.push(Step { array: copy, indices, value: element, span });
        redirect(value, old, copy)
    }
}

/// Returns the type of a tensor's elements.
pub(crate) fn type_of(scalar: Scalar) -> Type {
    match scalar {
        Scalar::Integer { .. } => Type::Integer,
        Scalar::Float(_) => Type::Real,
    }
}

/// Returns the storage of a `let`, and its value as a number.
fn let_storage(typed: &Typed, value: Node, format: Format) -> (Scalar, Node) {
    match value.ty {
        Type::Real => (Scalar::Float(format), value),
        Type::Integer => (integer_storage(typed, &value), value),
        Type::Truth => (Scalar::Integer { width: Width::B32, signed: true }, as_number(value)),
    }
}

/// Returns the type for storing integers between definitions: 32 bits if they fit, as in kernels.
pub(crate) fn integer_storage(typed: &Typed, value: &Node) -> Scalar {
    let fits =
        |(low, high): (i128, i128)| low >= i128::from(i32::MIN) && high <= i128::from(i32::MAX);
    let is_narrow = interval(typed, value).is_some_and(fits);
    Scalar::Integer { width: if is_narrow { Width::B32 } else { Width::B64 }, signed: true }
}

/// Returns `true` if a value depends on nothing and needs no loop.
fn is_constant(node: &Node) -> bool {
    let mut all =
        !node.is_data && !matches!(node.kind, NodeKind::Reduce(_)) && node.ty != Type::Truth;
    node.each_child(&mut |inner| all = all && is_constant(inner));
    all
}

/// Converts an integer to a real; a literal stays a literal. Conditionals and sums of data are converted
/// operand by operand, because runs on reals follow reals more easily than integers.
fn to_real(node: Node) -> Node {
    let (span, is_data) = (node.span, node.is_data);
    match node.kind {
        NodeKind::Number(_) => Node { ty: Type::Real, ..node },
        NodeKind::If { condition, value, otherwise } => {
            let [value, otherwise] = [value, otherwise].map(|one| Box::new(to_real(*one)));
            let kind = NodeKind::If { condition, value, otherwise };
            Node { kind, ty: Type::Real, is_data, span }
        }
        NodeKind::Arithmetic(
            op @ (Arithmetic::Add | Arithmetic::Subtract | Arithmetic::Multiply),
            a,
            b,
        ) if is_data => {
            let [a, b] = [a, b].map(|one| Box::new(to_real(*one)));
            Node { kind: NodeKind::Arithmetic(op, a, b), ty: Type::Real, is_data, span }
        }
        NodeKind::Negate(a) if is_data => {
            let kind = NodeKind::Negate(Box::new(to_real(*a)));
            Node { kind, ty: Type::Real, is_data, span }
        }
        NodeKind::Reduce(reduce) if is_data => match reduce.reduction {
            Reduction::Count => {
                let body = to_real(as_number(reduce.body));
                let kind = NodeKind::Reduce(Box::new(Reduce {
                    reduction: Reduction::Sum,
                    body,
                    ..*reduce
                }));
                Node { kind, ty: Type::Real, is_data, span }
            }
            Reduction::Sum | Reduction::Product | Reduction::Max | Reduction::Min => {
                let body = to_real(reduce.body);
                let kind = NodeKind::Reduce(Box::new(Reduce { body, ..*reduce }));
                Node { kind, ty: Type::Real, is_data, span }
            }
            _ => {
                let inner =
                    Node { kind: NodeKind::Reduce(reduce), ty: Type::Integer, is_data, span };
                Node { kind: NodeKind::ToReal(Box::new(inner)), ty: Type::Real, is_data, span }
            }
        },
        _ => Node { kind: NodeKind::ToReal(Box::new(node)), ty: Type::Real, is_data, span },
    }
}

/// Converts a condition to 1 or 0.
fn as_number(condition: Node) -> Node {
    let (span, is_data) = (condition.span, condition.is_data);
    let [value, otherwise] = [1, 0].map(|number| Box::new(Node::integer(number, span)));
    let kind = NodeKind::If { condition: Box::new(condition), value, otherwise };
    Node { kind, ty: Type::Integer, is_data, span }
}

/// Returns `true` if an expression reads an array.
fn reads(node: &Node, wanted: ArrayId) -> bool {
    let mut found = matches!(node.kind, NodeKind::Element { array, .. } if array == wanted);
    node.each_child(&mut |inner| found |= reads(inner, wanted));
    found
}

/// Replaces an array by another one in an expression.
fn redirect(mut node: Node, from: ArrayId, to: ArrayId) -> Node {
    fn walk(node: &mut Node, from: ArrayId, to: ArrayId) {
        if let NodeKind::Element { array, .. } = &mut node.kind
            && *array == from
        {
            *array = to;
        }
        node.each_child_mut(&mut |inner| walk(inner, from, to));
    }
    walk(&mut node, from, to);
    node
}
