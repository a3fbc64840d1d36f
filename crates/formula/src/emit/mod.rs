//! Compiles a formula to core programs: a kernel for each array, a thread for each of its elements.
//!
//! A thread computes its indices from its number, evaluates the definition with loops for reductions, and stores the
//! result. Each kernel exists twice. [`Launch::reals`] is for runs on symbols for real numbers. It computes in the
//! format of the tensors: such a run does not round, and conversions of every element would double its time.
//! [`Launch::bits`] is for runs on machine numbers, which test an answer. It computes in double precision. Literals
//! are built from doubles by operations on reals, so that a run has the exact number. Conditions on indices are
//! branches; conditions on data select between values that are both computed.

mod arithmetic;
mod builder;
mod literals;
mod reductions;
mod values;

use crate::ast::decimal;
use crate::typed::{Array, ArrayId, IndexId, Node, NodeKind, Origin, Step, Type, Typed};
use base::IndexVec;
use builder::Builder;
use ir::{
    Address, AddressBase, Dimension, Format, FuncId, Function, IntBinary, Load, Op, Operand,
    Ordering, Param, Program, Reg, Relation, Scalar, Space, SpecialRegister, Store, Terminator,
    VarId, Variable, Width,
};
use term::Number;

/// Threads of a block.
pub const BLOCK: u32 = 128;

/// A formula as kernels.
#[derive(Debug)]
pub struct Compiled {
    /// In the order in which they run.
    pub launches: Vec<Launch>,
    /// Magnitudes of the literals, with their notation.
    pub literals: Vec<(Number, String)>,
}

/// A launch of one of the kernels, in blocks of [`BLOCK`] threads.
#[derive(Debug)]
pub struct Launch {
    /// A program of one kernel, for runs on reals.
    pub reals: Program,
    /// The program with doubles in place of reals, for runs on bits.
    pub bits: Program,
    /// The kernel.
    pub kernel: FuncId,
    /// Threads that have an element.
    pub threads: u64,
    /// In the order of the kernel's parameters.
    pub parameters: Vec<Parameter>,
}

/// A parameter of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Type of its elements.
    pub scalar: Scalar,
    /// Scalar, tensor or intermediate.
    pub kind: ParameterKind,
}

/// A number, a tensor of the caller, or an array of the formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParameterKind {
    /// A number.
    Scalar,
    /// A tensor of the caller.
    Tensor {
        /// Set if the kernel writes it.
        is_output: bool,
    },
    /// An array of the formula.
    Intermediate {
        /// Its sizes.
        shape: Vec<u64>,
        /// Set if the kernel writes it.
        is_output: bool,
    },
}

/// Compiles the definitions of a formula in their order.
pub(crate) fn emit(typed: &Typed, format: Format) -> Compiled {
    let mut launches = Vec::new();
    for step in &typed.steps {
        let (mut reals, mut bits) = (Program::default(), Program::default());
        let (kernel, parameters) = emit_kernel(typed, step, format, &mut reals);
        emit_kernel(typed, step, Format::F64, &mut bits);
        let threads = typed.arrays[step.array].shape.iter().product();
        launches.push(Launch { reals, bits, kernel, threads, parameters });
    }
    let mut literals = Vec::new();
    typed.steps.iter().for_each(|step| collect_literals(&step.value, &mut literals));
    Compiled { launches, literals }
}

/// Collects the magnitudes of literals, with their notation.
fn collect_literals(node: &Node, found: &mut Vec<(Number, String)>) {
    if let NodeKind::Number(number) = &node.kind {
        let number = number.abs();
        if node.ty == Type::Real
            && !number.is_zero()
            && !found.iter().any(|(one, _)| *one == number)
        {
            let text = decimal(&number).unwrap_or_else(|| number.to_string());
            found.push((number, text));
        }
    }
    node.each_child(&mut |inner| collect_literals(inner, found));
}

/// A kernel under construction.
struct Emitter<'e> {
    typed: &'e Typed,
    builder: Builder,
    /// Registers of the indices.
    indices: IndexVec<IndexId, Option<Reg>>,
    /// Arrays and their start addresses.
    arrays: Vec<(ArrayId, Reg)>,
    /// Scalars as numbers: integers of 64 bits or reals.
    scalars: Vec<(usize, Reg)>,
    /// Literals built so far.
    literals: Vec<(Number, Operand)>,
}

/// Compiles a definition to a kernel of `program`, in which reals have `format`.
fn emit_kernel(
    typed: &Typed,
    step: &Step,
    format: Format,
    program: &mut Program,
) -> (FuncId, Vec<Parameter>) {
    let id = program.functions.next_index();
    let mut emitter = Emitter {
        typed,
        builder: Builder::new(step.span, format),
        indices: typed.indices.iter().map(|_| None).collect(),
        arrays: Vec::new(),
        scalars: Vec::new(),
        literals: Vec::new(),
    };
    let mut uses = Uses::default();
    uses.collect(&step.value);
    let mut params = Vec::new();
    let mut parameters = Vec::new();
    for array in uses.arrays.iter().chain([&step.array]) {
        let is_output = *array == step.array;
        let info = &typed.arrays[*array];
        let variable = add_parameter(program, id, &info.name, Width::B64);
        let begin = emitter.load_parameter(variable, Width::B64);
        emitter.arrays.push((*array, begin));
        params.push(Param::Variable(variable));
        parameters.push(parameter_of_array(info, is_output));
    }
    for position in uses.scalars {
        let (name, scalar) = typed.scalars[position].clone();
        let variable = add_parameter(program, id, &name, scalar.width());
        let raw = emitter.load_parameter(variable, scalar.width());
        let number = emitter.number_of(raw, scalar);
        emitter.scalars.push((position, number));
        params.push(Param::Variable(variable));
        parameters.push(Parameter { name, scalar, kind: ParameterKind::Scalar });
    }
    let threads = typed.arrays[step.array].shape.iter().product();
    emitter.body(step, threads);
    let (registers, blocks) = emitter.builder.finish();
    program.functions.push(Function {
        name: typed.arrays[step.array].name.clone(),
        is_kernel: true,
        params,
        returns: Vec::new(),
        launch: ir::Launch::default(),
        registers,
        blocks,
        span: step.span,
    });
    (id, parameters)
}

/// Describes an array as a parameter.
fn parameter_of_array(array: &Array, is_output: bool) -> Parameter {
    let kind = match array.origin {
        Origin::Let => ParameterKind::Intermediate { shape: array.shape.clone(), is_output },
        Origin::Input | Origin::Output => ParameterKind::Tensor { is_output },
    };
    Parameter { name: array.name.clone(), scalar: array.scalar, kind }
}

/// Declares a parameter of a kernel.
fn add_parameter(program: &mut Program, owner: FuncId, name: &str, width: Width) -> VarId {
    let bytes = u64::from(width.bytes());
    program.variables.push(Variable {
        name: name.to_owned(),
        space: Space::ParamEntry,
        owner: Some(owner),
        element: format!("b{}", width.bits()),
        dimensions: Vec::new(),
        size: Some(bytes),
        align: bytes,
        external: false,
        pointee: None,
        initial: Vec::new(),
        relocations: Vec::new(),
        span: base::Span::default(),
    })
}

/// Arrays and scalars that a definition reads, in the order of first use.
#[derive(Default)]
struct Uses {
    arrays: Vec<ArrayId>,
    scalars: Vec<usize>,
}

impl Uses {
    fn collect(&mut self, node: &Node) {
        match node.kind {
            NodeKind::Element { array, .. } if !self.arrays.contains(&array) => {
                self.arrays.push(array);
            }
            NodeKind::Scalar(position) if !self.scalars.contains(&position) => {
                self.scalars.push(position);
            }
            _ => {}
        }
        node.each_child(&mut |inner| self.collect(inner));
    }
}

impl Emitter<'_> {
    /// Loads a parameter at the start of the kernel.
    fn load_parameter(&mut self, variable: VarId, width: Width) -> Reg {
        let dst = self.builder.register(width);
        let address = Address { base: AddressBase::Variable(variable), offset: 0 };
        self.builder.push_to_entry(Op::Load(Load {
            dsts: vec![Some(dst)],
            width,
            signed: false,
            space: Space::ParamEntry,
            address,
            ordering: Ordering::Weak,
            non_coherent: false,
        }));
        dst
    }

    /// Computes the indices of a thread, then its element.
    fn body(&mut self, step: &Step, threads: u64) {
        let number = self.thread_number();
        let inside = self.builder.register(Width::B1);
        self.builder.push(Op::IntCompare {
            relation: Relation::Lt,
            signed: false,
            width: Width::B64,
            dst: inside,
            a: number.into(),
            b: Operand::Constant(threads),
        });
        let (work, end) = (self.builder.block(), self.builder.block());
        self.builder.branch(inside, work, end);
        self.builder.switch_to(work);
        self.unflatten(step, number);
        let value = self.value(&step.value);
        self.store(step.array, number, value);
        self.builder.terminate(Terminator::Jump(end));
        self.builder.switch_to(end);
        self.builder.terminate(Terminator::Exit);
    }

    /// Computes `blockIdx.x * blockDim.x + threadIdx.x` in 64 bits.
    fn thread_number(&mut self) -> Reg {
        let [block, thread] =
            [SpecialRegister::Ctaid(Dimension::X), SpecialRegister::Tid(Dimension::X)].map(
                |special| {
                    let dst = self.builder.register(Width::B32);
                    self.builder.push(Op::ReadSpecial { dst, special });
                    let wide = self.builder.register(Width::B64);
                    let src = dst.into();
                    self.builder.push(Op::Resize {
                        dst: wide,
                        src,
                        from: Width::B32,
                        signed: false,
                    });
                    wide
                },
            );
        let size = Operand::Constant(u64::from(BLOCK));
        let first = self.builder.integer(IntBinary::Mul, block.into(), size);
        self.builder.integer(IntBinary::Add, first.into(), thread.into())
    }

    /// Computes the indices of an element from its row-major position.
    fn unflatten(&mut self, step: &Step, number: Reg) {
        let shape = &self.typed.arrays[step.array].shape;
        let mut rest = number;
        for (axis, (index, size)) in step.indices.iter().zip(shape).enumerate().rev() {
            let size = Operand::Constant(*size);
            let coordinate = match axis {
                0 => rest,
                _ => self.builder.integer(IntBinary::Rem { signed: false }, rest.into(), size),
            };
            self.indices[*index] = Some(coordinate);
            if axis > 0 {
                rest = self.builder.integer(IntBinary::Div { signed: false }, rest.into(), size);
            }
        }
    }

    /// Stores the element of a thread.
    fn store(&mut self, array: ArrayId, number: Reg, value: Operand) {
        let scalar = self.typed.arrays[array].scalar;
        let value = self.as_stored(value, scalar);
        let bytes = Operand::Constant(u64::from(scalar.width().bytes()));
        let offset = self.builder.integer(IntBinary::Mul, number.into(), bytes);
        let address = self.address(array, offset);
        self.builder.push(Op::Store(Store {
            srcs: vec![value],
            width: scalar.width(),
            space: Space::Global,
            address,
            ordering: Ordering::Weak,
        }));
    }

    /// Computes the address at an offset in bytes from the start of an array.
    fn address(&mut self, array: ArrayId, offset: Reg) -> Address {
        // All arrays that are read or written were collected before.
        let begin = self.arrays.iter().find(|(id, _)| *id == array).map(|one| one.1);
        let begin = begin.map_or(Operand::Constant(0), Operand::from);
        let at = self.builder.integer(IntBinary::Add, begin, offset.into());
        Address { base: AddressBase::Register(at), offset: 0 }
    }
}

/// Registers and blocks of a function.
type Body = (IndexVec<Reg, ir::Register>, IndexVec<ir::BlockId, ir::Block>);
