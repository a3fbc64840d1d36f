//! Translates definitions: to a claim about every element of a tensor, or to an array that is inlined at its uses.

use super::term::{Term, Ty};
use super::{Clause, Contract, SizedTensor, Sizes};
use crate::ast::{Definition, Expression, Index, Name};
use crate::error::{Error, closest};
use base::Span;
use ir::Scalar;
use std::collections::BTreeSet;

/// Words of C++: an index may have such a name, but a variable of the contract may not.
#[rustfmt::skip]
const CPP_KEYWORDS: &[&str] = &[
    "alignas", "alignof", "asm", "auto", "bool", "break", "case", "catch", "char", "class", "const",
    "continue", "decltype", "default", "delete", "do", "double", "enum", "explicit", "export", "extern",
    "false", "float", "for", "friend", "goto", "inline", "int", "long", "mutable", "namespace", "new",
    "noexcept", "nullptr", "operator", "private", "protected", "public", "register", "return", "short",
    "signed", "sizeof", "static", "struct", "switch", "template", "this", "throw", "true", "try", "typedef",
    "typeid", "typename", "union", "unsigned", "using", "virtual", "void", "volatile", "while", "half",
    "size_t", "dim3",
];

/// A definition above the current one.
#[derive(Clone)]
pub(super) struct EarlierDefinition<'f> {
    pub(super) name: &'f str,
    pub(super) is_let: bool,
    pub(super) indices: Vec<&'f str>,
    pub(super) sizes: Vec<Term>,
    pub(super) value: &'f Expression,
}

/// Translates the definitions of a formula one by one.
pub(super) struct Translator<'f> {
    pub(super) sizes: &'f Sizes,
    pub(super) contract: Contract,
    /// The sizes of tensors, in their order.
    pub(super) shapes: Vec<Vec<Term>>,
    pub(super) defined: Vec<EarlierDefinition<'f>>,
    /// Indices in scope, with their terms.
    pub(super) scope: Vec<(&'f str, Term)>,
    /// Characters written so far.
    pub(super) work: usize,
    /// Names used in the current clause.
    taken: BTreeSet<String>,
    /// Bound variables around the current expression.
    pub(super) variables: Vec<String>,
    /// Conditions on them that hold where the expression is evaluated.
    pub(super) conditions: Vec<String>,
    /// Claims about the formula itself, with their spans: elements are inside of their arrays, and a maximum
    /// is over a non-empty range.
    pub(super) formula_claims: Vec<(String, Span)>,
}

impl<'f> Translator<'f> {
    pub(super) fn new(sizes: &'f Sizes) -> Result<Self, Error> {
        let mut translator = Self {
            sizes,
            contract: Contract::default(),
            shapes: Vec::new(),
            defined: Vec::new(),
            scope: Vec::new(),
            work: 0,
            taken: BTreeSet::new(),
            variables: Vec::new(),
            conditions: Vec::new(),
            formula_claims: Vec::new(),
        };
        for tensor in &sizes.tensors {
            let shape = tensor.sizes.iter().map(|size| translator.size(size));
            let shape = shape.collect::<Result<Vec<Term>, Error>>()?;
            translator.shapes.push(shape);
        }
        Ok(translator)
    }

    /// Translates a size: an integer made of scalars. It is not negative, because the contract requires that.
    fn size(&mut self, expression: &'f Expression) -> Result<Term, Error> {
        let term = self.integer(expression)?;
        if term.is_data {
            return Err(Error::new(expression.span, "a size is an expression of scalars"));
        }
        if term.to_i64().is_some_and(|value| value < 0) {
            return Err(Error::new(expression.span, "a size must not be negative"));
        }
        Ok(Term { is_unsigned: true, ..term })
    }

    /// Writes the clauses about tensors alone: see [`super::shapes`].
    pub(super) fn shapes(mut self, without: &[&str]) -> Result<Vec<String>, Error> {
        let mut clauses = Vec::new();
        for (tensor, shape) in self.sizes.tensors.iter().zip(self.shapes.clone()) {
            for size in shape.iter().filter(|size| size.number.is_none()) {
                clauses.push(format!("requires {} >= 0", size.text));
            }
            let sizes: Vec<&str> = shape.iter().map(|size| size.text.as_str()).collect();
            let all = if sizes.is_empty() { "1".to_owned() } else { sizes.join("*") };
            if !without.contains(&tensor.name.as_str()) {
                clauses.push(format!("extent {}[{all}]", tensor.name));
            }
            if let Some((low, high)) = &tensor.range {
                let (low, high) = (self.integer(low)?.text, self.integer(high)?.text);
                let (name, at) = (&tensor.name, self.fresh("i"));
                clauses.push(format!(
                    "requires \\forall int {at}; 0 <= {at} && {at} < {all} ==> \
                     {low} <= {name}[{at}] && {name}[{at}] < {high}"
                ));
            }
        }
        clauses.sort();
        clauses.dedup();
        Ok(clauses)
    }

    /// Translates a definition: writes the claims about a tensor, or keeps a `let` for its uses.
    pub(super) fn define(&mut self, definition: &'f Definition) -> Result<(), Error> {
        let Definition { is_let, name, value, .. } = definition;
        let (text, span) = (name.text.as_str(), name.span);
        if self.defined.iter().any(|one| one.name == text) {
            return Err(Error::new(span, format!("`{text}` is defined twice")));
        }
        let position = self.sizes.tensors.iter().position(|tensor| tensor.name == *text);
        let is_argument =
            position.is_some() || self.sizes.scalars.iter().any(|scalar| scalar.name == *text);
        self.taken = self.reserved_names();
        let sizes = match (is_let, position) {
            (true, _) if is_argument => {
                let message = format!("`{text}` is an argument; a `let` needs a name of its own");
                return Err(Error::new(span, message));
            }
            (true, _) => self.sizes_of_let(definition)?,
            (false, Some(position)) => self.sizes_of_output(definition, position)?,
            (false, None) => return Err(self.unknown_output(name)),
        };
        let variables = self.bind_indices(definition, &sizes)?;
        let term = self.expression(value)?;
        let tensor = position.map(|position| &self.sizes.tensors[position]);
        if let Some(tensor) = tensor {
            let element = self.output_element(tensor, definition, &sizes)?;
            let value = self.fit(term, tensor, value.span)?;
            self.claim(&variables, &element, &value.text, definition_span(definition));
        }
        self.reset();
        let indices = definition.indices.iter().map(|index| index.name.text.as_str()).collect();
        self.defined.push(EarlierDefinition { name: text, is_let: *is_let, indices, sizes, value });
        Ok(())
    }

    /// Claims that a tensor keeps its contents. The claim has no text of its own and takes the span of a definition.
    pub(super) fn claim_unchanged(&mut self, tensor: &SizedTensor, at: &Definition) {
        let shape = self.sizes.tensors.iter().position(|one| one.name == tensor.name);
        let Some(shape) = shape.and_then(|position| self.shapes.get(position)) else { return };
        if tensor.may_change || tensor.is_output {
            return;
        }
        let sizes: Vec<&str> = shape.iter().map(|size| size.text.as_str()).collect();
        let all = if sizes.is_empty() { "1".to_owned() } else { sizes.join("*") };
        self.taken = self.reserved_names();
        let (name, i) = (&tensor.name, self.fresh("i"));
        let text = format!(
            "ensures \\forall int {i}; 0 <= {i} && {i} < {all} ==> {name}[{i}] == \\old({name}[{i}])"
        );
        let span = definition_span(at);
        self.contract.clauses.push(Clause { text, span, is_about_formula: false });
    }

    /// Leaves the scope of a definition.
    fn reset(&mut self) {
        self.scope.clear();
        self.variables.clear();
        self.conditions.clear();
        self.formula_claims.clear();
    }

    /// Names that no variable may have.
    fn reserved_names(&self) -> BTreeSet<String> {
        let tensors = self.sizes.tensors.iter().map(|tensor| tensor.name.clone());
        let scalars = self.sizes.scalars.iter().map(|scalar| scalar.name.clone());
        let words = CPP_KEYWORDS.iter().map(|one| (*one).to_owned());
        tensors.chain(scalars).chain(words).collect()
    }

    /// Returns a new variable named after an index.
    pub(super) fn fresh(&mut self, name: &str) -> String {
        let numbered = (2..).map(|number| format!("{name}_{number}"));
        let mut names = std::iter::once(name.to_owned()).chain(numbered);
        // There are more numbers than names.
        let name = names.find(|name| !self.taken.contains(name)).unwrap_or_default();
        self.taken.insert(name.clone());
        name
    }

    /// Brings the indices of a definition into scope and returns their variables.
    fn bind_indices(
        &mut self,
        definition: &'f Definition,
        sizes: &[Term],
    ) -> Result<Vec<String>, Error> {
        let mut variables = Vec::new();
        for (index, size) in definition.indices.iter().zip(sizes) {
            self.require_new_name(&index.name)?;
            let variable = self.fresh(&index.name.text);
            let term = Term::unsigned(variable.clone());
            self.conditions.push(format!("0 <= {variable} && {variable} < {}", size.text));
            self.scope.push((&index.name.text, term));
            self.variables.push(variable.clone());
            variables.push(variable);
        }
        Ok(variables)
    }

    /// Rejects an index whose name is taken.
    pub(super) fn require_new_name(&self, name: &Name) -> Result<(), Error> {
        let text = &name.text;
        let kind = match () {
            () if self.scope.iter().any(|(known, _)| known == text) => "an index already",
            () if self.is_named(text) => "an argument or a definition",
            () => return Ok(()),
        };
        Err(Error::new(name.span, format!("`{text}` is {kind}; take another name for the index")))
    }

    /// Returns `true` for the name of an argument or of an earlier definition.
    pub(super) fn is_named(&self, name: &str) -> bool {
        self.sizes.tensors.iter().any(|tensor| tensor.name == name)
            || self.sizes.scalars.iter().any(|scalar| scalar.name == name)
            || self.defined.iter().any(|one| one.name == name)
    }

    fn sizes_of_let(&mut self, definition: &'f Definition) -> Result<Vec<Term>, Error> {
        let mut sizes = Vec::new();
        for index in &definition.indices {
            sizes.push(match &index.range {
                Some(range) => self.size_of_range(index, range)?,
                None => self.extent(&index.name, &definition.value)?,
            });
        }
        Ok(sizes)
    }

    fn size_of_range(
        &mut self,
        index: &Index,
        range: &'f (Expression, Expression),
    ) -> Result<Term, Error> {
        match self.integer(&range.0)?.to_i64() {
            Some(0) => self.size(&range.1),
            _ => {
                let name = &index.name.text;
                let message = format!("a dimension runs from 0 to a size: `{name} in 0..n`");
                Err(Error::new(index.name.span, message))
            }
        }
    }

    fn sizes_of_output(
        &self,
        definition: &Definition,
        position: usize,
    ) -> Result<Vec<Term>, Error> {
        let (indices, name) = (&definition.indices, &definition.name);
        if let Some(index) = indices.iter().find(|index| index.range.is_some()) {
            let (index, text) = (&index.name, &name.text);
            let message = format!(
                "`{}` runs over a dimension of `{text}`; a range is not needed",
                index.text
            );
            return Err(Error::new(index.span, message));
        }
        let shape = &self.shapes[position];
        let is_one = indices.is_empty() && shape.iter().all(|size| size.to_i64() == Some(1));
        if shape.len() != indices.len() && !is_one {
            let (text, count) = (&name.text, shape.len());
            let plural = if count == 1 { "" } else { "s" };
            let message = format!("`{text}` has {count} dimension{plural}");
            return Err(Error::new(name.span, message));
        }
        Ok(shape.clone())
    }

    /// Returns the mistake of a definition of an unknown tensor.
    fn unknown_output(&self, name: &Name) -> Error {
        let text = &name.text;
        let tensors = self.sizes.tensors.iter().map(|tensor| tensor.name.as_str());
        let hint = match closest(text, tensors) {
            Some(name) => format!("did you mean `{name}`?"),
            None => {
                format!("--arg '{text}=f32[n]' describes it, `let` defines an array of the formula")
            }
        };
        Error::new(name.span, format!("no argument is called `{text}`; {hint}"))
    }

    /// Writes the element on the left of a definition.
    fn output_element(
        &mut self,
        tensor: &SizedTensor,
        definition: &Definition,
        sizes: &[Term],
    ) -> Result<String, Error> {
        let indices: Vec<Term> = match definition.indices.is_empty() {
            true => sizes.iter().map(|_| Term::integer(0)).collect(),
            false => self.scope.iter().map(|(_, term)| term.clone()).collect(),
        };
        Ok(format!("{}[{}]", tensor.name, super::element::flat_position(&indices, sizes)))
    }

    /// Converts the value to the type of a tensor's elements.
    fn fit(&self, value: Term, tensor: &SizedTensor, span: Span) -> Result<Term, Error> {
        let number = super::operators::as_number(value);
        match (tensor.scalar, number.ty) {
            (Scalar::Integer { .. }, Ty::Real) => {
                let name = &tensor.name;
                let message = format!("`{name}` holds integers and this is a real number");
                Err(Error::new(span, message))
            }
            (Scalar::Float(_), _) => Ok(super::operators::to_real(number)),
            _ => Ok(number),
        }
    }

    /// Writes the claims of a definition.
    fn claim(&mut self, variables: &[String], element: &str, value: &str, span: Span) {
        let ranges: Vec<String> =
            self.conditions.iter().take(variables.len()).map(|one| format!("({one})")).collect();
        let claim = format!("{element} == {value}");
        let text = format!("ensures {}", quantified(variables, &ranges, &claim));
        for (claim, span) in std::mem::take(&mut self.formula_claims) {
            let text = format!("ensures {claim}");
            if self.contract.clauses.iter().all(|clause| clause.text != text) {
                self.contract.clauses.push(Clause { text, span, is_about_formula: true });
            }
        }
        self.contract.clauses.push(Clause { text, span, is_about_formula: false });
    }
}

/// `\forall int i, j; conditions ==> claim`
pub(super) fn quantified(variables: &[String], conditions: &[String], claim: &str) -> String {
    let claim = match Term::all(conditions) {
        Some(conditions) => format!("{conditions} ==> {claim}"),
        None => claim.to_owned(),
    };
    match variables.is_empty() {
        true => claim,
        false => format!("\\forall int {}; {claim}", variables.join(", ")),
    }
}

/// Returns the span from the name to the end of the value.
fn definition_span(definition: &Definition) -> Span {
    Span::new(definition.name.span.start, definition.value.span.end)
}

impl<'f> Translator<'f> {
    /// Returns the size of the dimensions at which an index occurs alone.
    pub(super) fn extent(&self, index: &Name, within: &Expression) -> Result<Term, Error> {
        let sizes = |name: &str| self.sizes_of(name).map(<[Term]>::to_vec);
        crate::resolve::extent(index, within, &sizes)
    }

    /// Returns the sizes of an earlier definition or of a tensor.
    pub(super) fn sizes_of(&self, name: &str) -> Option<&[Term]> {
        let defined = self.defined.iter().find(|one| one.name == name);
        let tensor = || self.sizes.tensors.iter().position(|tensor| tensor.name == name);
        match defined {
            Some(defined) => Some(&defined.sizes),
            None => tensor().map(|position| self.shapes[position].as_slice()),
        }
    }
}
