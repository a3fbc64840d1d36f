//! Draws kernels with a meaning defined by C++17. Every expression has a known type and range, so that nothing
//! overflows, no index is out of bounds and no divisor is 0, for all contents of the arrays.
//!
//! Every variable has one range for its whole life, that of its type ([`standard`]), and only values within it are
//! assigned. Floats are small multiples of 1/4, so sums and products are exact in every width. A *wrapping* program
//! also has unsigned wrap-around and conversions that lose bits. Such values are kept out of indices and, mostly, of
//! conditions, because the interpreter reports overflow there.

use super::features::{Feature, Features};
use super::tree::{Bounds, Node, Role};
use super::types::Type;
use testing::Random;

/// Threads of a block, blocks, and elements of an output for each thread.
pub(crate) const BLOCK: usize = 4;
pub(crate) const GRID: usize = 2;
pub(crate) const THREADS: usize = BLOCK * GRID;
const SLOTS: usize = 4;

/// The range of integers drawn for inputs.
pub(crate) const CONTENTS: (i128, i128) = (-2, 8);
/// Magnitude and grain of float variables.
const FLOAT: (i128, u32) = (64, 2);

/// A parameter of the kernel.
#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) ty: Type,
    /// Elements of an array; `None` for a scalar.
    pub(crate) size: Option<usize>,
    /// The value of an integer scalar.
    pub(crate) value: i128,
    pub(crate) written: bool,
}

/// A program with its launch.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) kernel: String,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) text: Node,
    /// Integers wrap; the interpreter may then report overflow.
    pub(crate) wrapping: bool,
}

/// The meaning of a name.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Integer { ty: Type, low: i128, high: i128, wraps: bool, constant: bool },
    Floating { ty: Type, constant: bool },
    Array { ty: Type, sizes: Vec<usize>, constant: bool },
    Pointer { ty: Type, room: usize, constant: bool, pointees: u128 },
    Structure { which: usize },
    Enumeration { which: usize },
}

#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) id: u32,
    pub(crate) kind: Kind,
}

/// The way an argument is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passing {
    Value,
    Reference,
    ConstReference,
    /// A pointer to this many elements.
    Pointer(usize),
}

/// A `__device__` function of arithmetic types.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) result: Bounds,
    pub(crate) parameters: Vec<(Type, Passing)>,
    /// The number of last parameters with default arguments.
    pub(crate) defaults: usize,
}

/// A set of overloads with one parameter; one of the types is the best match.
#[derive(Clone, Debug)]
pub(crate) struct Overloads {
    pub(crate) name: String,
    pub(crate) types: Vec<Type>,
}

#[derive(Clone, Debug)]
pub(crate) struct Structure {
    pub(crate) name: String,
    pub(crate) fields: Vec<(String, Type)>,
    pub(crate) methods: bool,
    pub(crate) constructor: bool,
    pub(crate) operators: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Enumeration {
    pub(crate) name: String,
    pub(crate) scoped: bool,
    pub(crate) values: Vec<(String, i128)>,
}

/// The state of a program under construction.
pub(crate) struct Writer {
    pub(crate) random: Random,
    /// Part of every name at file scope, so that programs can be compiled together.
    pub(crate) number: usize,
    pub(crate) wrapping: bool,
    features: Features,
    pub(crate) items: Vec<Node>,
    pub(crate) scopes: Vec<Vec<Variable>>,
    next_variable: u32,
    next_name: usize,
    pub(crate) functions: Vec<Function>,
    pub(crate) overloads: Vec<Overloads>,
    pub(crate) templates: Vec<usize>,
    pub(crate) structures: Vec<Structure>,
    pub(crate) enumerations: Vec<Enumeration>,
    /// Names of integer constants with their types and values: macros, `constexpr`.
    pub(crate) constants: Vec<(String, Type, i128)>,
    pub(crate) macros: Vec<usize>,
    /// Nesting of statements, for indentation and size.
    pub(crate) nesting: usize,
    pub(crate) loops: usize,
    /// Nesting of `switch` statements inside the innermost loop: `break` there does not leave the loop.
    pub(crate) switches: usize,
    pub(crate) returns: Option<Bounds>,
    /// An index is being drawn.
    pub(crate) in_index: bool,
}

/// The range that variables of a type keep.
pub(crate) fn standard(ty: Type) -> (i128, i128) {
    match ty {
        Type::Bool => (0, 1),
        Type::Char | Type::SignedChar => (-60, 60),
        Type::UnsignedChar => (0, 120),
        Type::Short => (-1000, 1000),
        Type::UnsignedShort => (0, 2000),
        Type::Int => (-5000, 5000),
        Type::Unsigned => (0, 9000),
        Type::Long => (-20_000, 20_000),
        Type::UnsignedLong => (0, 40_000),
        Type::LongLong => (-100_000, 100_000),
        Type::UnsignedLongLong => (0, 200_000),
        Type::Float | Type::Double => (0, FLOAT.0),
    }
}

/// The bounds that variables of a type keep.
pub(crate) fn standard_bounds(ty: Type) -> Bounds {
    let (low, high) = standard(ty);
    Bounds { ty, low, high, grain: if ty.is_float() { FLOAT.1 } else { 0 } }
}

/// The random stream of a program. Reports name programs by number, so the numbers must keep their meaning.
fn stream(number: u64) -> Random {
    let start = number.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ 0x5851_f42d_4c95_7f2d;
    Random::new(start.wrapping_add(base::GAMMA))
}

impl Writer {
    fn new(seed: u64, number: usize) -> Self {
        let mut random = stream(seed);
        let wrapping = random.chance(50);
        let features = Features::drawn(&mut random);
        Self {
            random,
            number,
            wrapping,
            features,
            items: Vec::new(),
            scopes: Vec::new(),
            next_variable: 0,
            next_name: 0,
            functions: Vec::new(),
            overloads: Vec::new(),
            templates: Vec::new(),
            structures: Vec::new(),
            enumerations: Vec::new(),
            constants: Vec::new(),
            macros: Vec::new(),
            nesting: 1,
            loops: 0,
            switches: 0,
            returns: None,
            in_index: false,
        }
    }

    /// A name at file scope.
    pub(crate) fn global(&self, stem: &str) -> String {
        format!("{stem}_{}", self.number)
    }

    pub(crate) fn uses(&self, feature: Feature) -> bool {
        self.features.has(feature)
    }

    pub(crate) fn integer_type(&mut self) -> Type {
        match self.uses(Feature::IntegerTypes) {
            true => self.random.pick(&Type::INTEGERS),
            false => self.random.pick(&[Type::Int, Type::Unsigned, Type::UnsignedChar]),
        }
    }

    pub(crate) fn real_type(&mut self) -> Type {
        let double = self.uses(Feature::Double) && self.random.chance(30);
        if double { Type::Double } else { Type::Float }
    }

    /// A spelling of a type.
    pub(crate) fn spelled(&mut self, ty: Type) -> &'static str {
        if self.uses(Feature::Spellings) { self.random.pick(ty.names()) } else { ty.name() }
    }

    pub(crate) fn pad(&self) -> String {
        "  ".repeat(self.nesting)
    }

    /// A name for a variable; sometimes one that hides another. The text of its declaration must not use that one.
    pub(crate) fn name_beside(&mut self, text: &str) -> String {
        let outer = self.scopes.len().saturating_sub(1);
        if self.uses(Feature::Shadowing) && self.random.chance(30) && outer > 2 {
            let own = |name: &str| self.scopes[outer].iter().any(|one| one.name == name);
            let hidden: Vec<String> = self.scopes[1..outer - 1]
                .iter()
                .flatten()
                .map(|one| one.name.clone())
                .filter(|name| !own(name) && name != "tid" && !text.contains(name.as_str()))
                .collect();
            if !hidden.is_empty() {
                return hidden[self.random.below(hidden.len())].clone();
            }
        }
        self.new_name()
    }

    /// A name that hides nothing.
    pub(crate) fn new_name(&mut self) -> String {
        self.next_name += 1;
        let stems = ["v", "w", "val", "half", "count", "temp", "idx", "n"];
        format!("{}{}", self.random.pick(&stems), self.next_name)
    }

    pub(crate) fn declare(&mut self, name: &str, kind: Kind) -> u32 {
        let id = self.next_variable.min(127);
        self.next_variable += 1;
        let variable = Variable { name: name.to_owned(), id, kind };
        if let Some(scope) = self.scopes.last_mut() {
            scope.push(variable);
        }
        id
    }

    /// Returns `true` if more variables may be declared: a set of variables is a `u128`, with one bit for each.
    pub(crate) fn has_room(&self) -> bool {
        self.next_variable < 110
    }

    /// Variables visible here.
    pub(crate) fn visible(&self) -> Vec<Variable> {
        let mut seen: Vec<Variable> = Vec::new();
        for variable in self.scopes.iter().rev().flat_map(|scope| scope.iter().rev()) {
            if seen.iter().all(|one| one.name != variable.name) {
                seen.push(variable.clone());
            }
        }
        seen
    }

    pub(crate) fn choose(&mut self, wanted: impl Fn(&Kind) -> bool) -> Option<Variable> {
        let fitting: Vec<Variable> =
            self.visible().into_iter().filter(|one| wanted(&one.kind)).collect();
        if fitting.is_empty() {
            None
        } else {
            Some(fitting[self.random.below(fitting.len())].clone())
        }
    }

    /// Runs `body` in a new scope, nested one deeper.
    pub(crate) fn scoped<T>(&mut self, body: impl FnOnce(&mut Self) -> T) -> T {
        self.scopes.push(Vec::new());
        self.nesting += 1;
        let result = body(self);
        self.nesting -= 1;
        self.scopes.pop();
        result
    }

    /// Runs `body` as a new function: variables of other functions are invisible.
    pub(crate) fn function<T>(&mut self, body: impl FnOnce(&mut Self) -> T) -> T {
        let kept: Vec<Vec<Variable>> = self.scopes.drain(1..).collect();
        let (loops, switches, nesting) = (self.loops, self.switches, self.nesting);
        (self.loops, self.switches, self.nesting) = (0, 0, 1);
        self.scopes.push(Vec::new());
        let result = body(self);
        self.scopes.truncate(1);
        self.scopes.extend(kept);
        (self.loops, self.switches, self.nesting) = (loops, switches, nesting);
        result
    }

    fn parameters(&mut self) -> Vec<Parameter> {
        let mut parameters = Vec::new();
        let mut array = |name: String, ty: Type, size: usize, written: bool| {
            parameters.push(Parameter { name, ty, size: Some(size), value: 0, written });
        };
        for number in 0..2 + self.random.below(2) {
            let ty = match number {
                0 => Type::Int,
                _ => self.random.pick(&[
                    Type::UnsignedChar,
                    Type::Short,
                    Type::Float,
                    Type::Unsigned,
                ]),
            };
            array(format!("in{number}"), ty, THREADS, false);
        }
        for number in 0..2 + self.random.below(3) {
            let ty = match number {
                0 => Type::Int,
                1 => Type::Float,
                _ if self.uses(Feature::Double) && self.random.chance(30) => Type::Double,
                _ => self.integer_type(),
            };
            array(format!("out{number}"), ty, THREADS * SLOTS, true);
        }
        for (name, ty) in [("n", Type::Int), ("m", Type::Unsigned), ("big", Type::LongLong)] {
            if self.random.chance(40) {
                let value = self.random.within(1, 9);
                let name = name.to_owned();
                parameters.push(Parameter { name, ty, size: None, value, written: false });
            }
        }
        parameters
    }

    /// The kernel's head and body.
    fn kernel(&mut self, name: &str, parameters: &[Parameter]) -> Node {
        let declared: Vec<String> = parameters
            .iter()
            .map(|parameter| match (parameter.size, parameter.written) {
                (None, _) => format!("{} {}", parameter.ty.name(), parameter.name),
                (Some(_), true) => format!("{}* {}", parameter.ty.name(), parameter.name),
                (Some(_), false) => format!("const {}* {}", parameter.ty.name(), parameter.name),
            })
            .collect();
        let extents = parameters.iter().filter_map(|parameter| Some((parameter, parameter.size?)));
        let extents: Vec<String> =
            extents.map(|(one, size)| format!("{}[{size}]", one.name)).collect();
        let head = format!(
            "//@ extent {};\nextern \"C\" __global__ void {name}({}) {{\n",
            extents.join(", "),
            declared.join(", ")
        );
        self.function(|writer| writer.kernel_body(head, parameters))
    }

    fn kernel_body(&mut self, head: String, parameters: &[Parameter]) -> Node {
        let tid = self.random.pick(&[
            "  int tid = blockIdx.x * blockDim.x + threadIdx.x;\n",
            "  const int tid = threadIdx.x + blockDim.x * blockIdx.x;\n",
            "  const unsigned tid = blockIdx.x * 4 + threadIdx.x;\n",
        ]);
        let ty = if tid.contains("unsigned") { Type::Unsigned } else { Type::Int };
        let high = THREADS as i128 - 1;
        self.declare("tid", Kind::Integer { ty, low: 0, high, wraps: false, constant: true });
        for one in parameters {
            match (one.size, one.written) {
                (None, _) => {
                    let kind =
                        Kind::Integer { ty: one.ty, low: 1, high: 9, wraps: false, constant: true };
                    self.declare(&one.name, kind);
                }
                (Some(size), false) => {
                    let kind = Kind::Array { ty: one.ty, sizes: vec![size], constant: true };
                    self.declare(&one.name, kind);
                }
                (Some(_), true) => {}
            }
        }
        let mut nodes = Vec::new();
        if self.uses(Feature::Shared) {
            nodes.push(self.shared_exchange());
        }
        let mut left: Vec<&Parameter> =
            parameters.iter().filter(|parameter| parameter.written).collect();
        while let Some(out) = left.pop() {
            let count = 2 + self.random.below(3);
            nodes.extend(self.statements(count));
            nodes.extend(self.stores(out));
        }
        Node::new(Role::Fixed).text(head + tid).nodes(nodes).text("}\n")
    }

    /// Stores to the elements of an output that belong to the thread.
    fn stores(&mut self, out: &Parameter) -> Vec<Node> {
        let mut nodes = Vec::new();
        let walks = self.uses(Feature::Pointers) && self.random.chance(50);
        let pad = self.pad();
        let cursor = format!("o{}", out.name);
        if walks {
            let head =
                format!("{pad}{}* {cursor} = {} + tid * {SLOTS};\n", out.ty.name(), out.name);
            nodes.push(Node::line(head));
        }
        for slot in 0..1 + self.random.below(SLOTS) {
            let value = self.data(out.ty);
            let forms = if self.uses(Feature::Pointers) { 3 } else { 1 };
            let target = match (walks, self.random.below(forms)) {
                (true, _) => format!("*{cursor}++ = "),
                (false, 0) => format!("{}[{SLOTS} * tid + {slot}] = ", out.name),
                (false, 1) => format!("*({} + tid * {SLOTS} + {slot}) = ", out.name),
                (false, _) => format!("({} + {slot})[tid * {SLOTS}] = ", out.name),
            };
            nodes.push(Node::line(format!("{pad}{target}")).node(value.node).text(";\n"));
        }
        nodes
    }
}

/// The program for a seed; `number` is part of every name at file scope.
pub(crate) fn generate(seed: u64, number: usize) -> Program {
    let mut writer = Writer::new(seed, number);
    writer.scopes.push(Vec::new());
    writer.file_scope();
    let parameters = writer.parameters();
    let kernel = writer.global("kernel");
    let body = writer.kernel(&kernel, &parameters);
    let items = std::mem::take(&mut writer.items);
    let text = Node::new(Role::Fixed).nodes(items).node(body);
    Program { kernel, parameters, text, wrapping: writer.wrapping }
}
