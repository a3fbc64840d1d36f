//! Arguments as data, and their text form.
//!
//! Printing a spec gives text that parses to the same spec. Spellings are made canonical
//! (`float32` becomes `f32`, `0x10` becomes `16`, no direction is `:in`, which is not printed).

use super::tensor_map::MapKeys;
use super::{ElementType, Mask, TensorStructure};
use std::fmt::{self, Display, Formatter};

/// One argument as the user describes it: `NAME=TYPE[:in|out|inout][=INIT]` or `NAME=VALUE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentSpec {
    /// The user's name for it.
    pub name: String,
    /// The value to pass.
    pub value: ArgumentValue,
}

/// The value to pass for a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArgumentValue {
    /// `?`: not given. A pointer then points to a buffer of unknown size.
    Missing,
    /// `512`, `0.125`: a number of the parameter's type.
    Number(Number),
    /// `f32`, `f32=0.125`, `s32=512`: a number of a stated type; without a value it may be any
    /// finite number. Integers always have a value.
    Scalar {
        /// Its type.
        element: ElementType,
        /// Its value.
        value: Option<Number>,
    },
    /// `f32[4,512]`: the address of a tensor.
    Tensor(TensorSpec),
    /// `[A,B]`: the address of a tensor of pointers to other arguments; `0` is a null pointer.
    Pointers(Vec<Option<String>>),
    /// `tensormap(A, box=[128,64])`: a tensor map.
    TensorMap(Box<TensorMapSpec>),
    /// `[tensormap(A, box=[128,64]),…]`: the address of tensor maps in global memory, one after another.
    TensorMaps(Vec<TensorMapSpec>),
    /// `{0:x,8:y,16:512}`: pieces of a structure at byte offsets.
    Structure(Vec<Field>),
    /// `@params.bin{A=0x7f3c00000000}`: the bytes of a structure as a program passed them.
    Recorded(Box<RecordedSpec>),
    /// `scale*log2e`: an expression over other scalars, kept as written.
    Related(String),
}

impl ArgumentValue {
    /// The fields of a structure.
    pub(crate) fn fields(&self) -> &[Field] {
        match self {
            Self::Structure(fields) => fields,
            Self::Recorded(recorded) => &recorded.fields,
            _ => &[],
        }
    }

    /// The other arguments that a structure or a tensor of pointers names.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let recorded = match self {
            Self::Recorded(recorded) => recorded.tensors.as_slice(),
            _ => &[],
        };
        let in_fields = self.fields().iter().filter_map(|field| match &field.value {
            FieldValue::Name(name) => Some(name.as_str()),
            _ => None,
        });
        let pointers = match self {
            Self::Pointers(targets) => targets.as_slice(),
            _ => &[],
        };
        let pointers = pointers.iter().flatten().map(String::as_str);
        recorded.iter().map(|one| one.name.as_str()).chain(in_fields).chain(pointers)
    }
}

/// The recorded bytes of a structure, with the addresses of its tensors at that time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedSpec {
    /// The file. Printed with braces if its name is that of an array, which alone means a tensor's contents.
    pub file: String,
    /// The tensors whose addresses it holds; each is also an argument.
    pub tensors: Vec<RecordedTensor>,
    /// Fields with new values.
    pub fields: Vec<Field>,
}

/// A tensor and its address in a recorded structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedTensor {
    /// The name of the argument.
    pub name: String,
    /// Its address.
    pub address: u64,
}

/// A tensor map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorMapSpec {
    /// A file with the 128 bytes.
    pub file: Option<String>,
    /// The tensor.
    pub tensor: String,
    /// Its description, if it is not an argument of its own.
    pub inline: Option<TensorSpec>,
    /// Keys and values apart from the tensor.
    pub keys: MapKeys,
}

/// A tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorSpec {
    /// Type of its elements.
    pub element: ElementType,
    /// Sizes, the fastest varying last; `None` if unknown (`[?]`).
    pub shape: Option<Vec<u64>>,
    /// Elements from one index to the next in each dimension; `None` for row-major. Only with a
    /// shape, and one for each dimension.
    pub strides: Option<Vec<u64>>,
    /// The kernel's use of it.
    pub direction: Direction,
    /// The range of its elements, if stated; of integer inputs only.
    pub range: Option<IndexRange>,
    /// Set if no two elements are equal (`:distinct`).
    pub is_distinct: bool,
    /// The pattern of elements that are zero or equal, if stated; of tensors that are read, with a shape.
    pub structure: Option<TensorStructure>,
    /// Initial contents, if stated.
    pub initial: Option<Initial>,
}

/// `0..100` or `0..100|-1`: a non-empty range of numbers, the upper end excluded, and single numbers outside of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexRange {
    /// The smallest number of the range.
    pub low: i64,
    /// The number after the largest of the range.
    pub high: i64,
    /// The other numbers, ascending.
    pub others: [Option<i64>; Self::MAX_OTHERS],
}

/// A kernel's use of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Reads it.
    In,
    /// Writes it.
    Out,
    /// Reads and writes it.
    InOut,
    /// Keeps intermediate results in it: undefined at first, and unused afterwards.
    Scratch,
}

/// Initial contents of a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Initial {
    /// `@FILE`: those of a `.npy` file.
    File(String),
    /// `iota`: 0, 1, 2, … in row-major order.
    Iota,
    /// `random`, `random(7)`: pseudo-random elements, the same for the same seed.
    Random(u64),
    /// `[3,1,2]`: these numbers, in row-major order.
    List(Vec<Number>),
    /// `0`: the same number everywhere.
    Fill(Number),
}

/// A number as the user wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Number {
    /// An integer that fits 64 bits, signed or unsigned.
    Integer(i128),
    /// Anything else Rust reads as a float. Kept as text, because the type to round it to is known
    /// only later.
    Float(String),
}

/// A piece of a structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Bytes from the start.
    pub offset: u64,
    /// The value of the piece.
    pub value: FieldValue,
}

/// The value of a piece of a structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldValue {
    /// A number; its size is the size of the kernel's load there.
    Number(Number),
    /// A number of a stated type, as in [`ArgumentValue::Scalar`].
    Scalar {
        /// Its type.
        element: ElementType,
        /// Its value.
        value: Option<Number>,
    },
    /// An expression, as in [`ArgumentValue::Related`]; its type is the type of the kernel's load there.
    Related(String),
    /// Another argument, by name.
    Name(String),
    /// A tensor map, of 128 bytes.
    TensorMap(Box<TensorMapSpec>),
}

/// Arguments with the same address: `x,y`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AliasSpec {
    /// Their names, two or more.
    pub names: Vec<String>,
}

/// A condition on inputs: `eps > 0`. It holds for all elements of the tensors it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssumeSpec {
    /// The condition.
    pub condition: equiv::Formula,
}

impl ArgumentSpec {
    /// The tensor maps it has.
    pub(crate) fn maps(&self) -> Vec<&TensorMapSpec> {
        match &self.value {
            ArgumentValue::TensorMap(map) => vec![map],
            ArgumentValue::Structure(_) | ArgumentValue::Recorded(_) => {
                let maps = self.value.fields().iter().filter_map(|field| {
                    let FieldValue::TensorMap(map) = &field.value else { return None };
                    Some(&**map)
                });
                maps.collect()
            }
            ArgumentValue::TensorMaps(maps) => maps.iter().collect(),
            ArgumentValue::Missing
            | ArgumentValue::Number(_)
            | ArgumentValue::Scalar { .. }
            | ArgumentValue::Tensor(_)
            | ArgumentValue::Pointers(_)
            | ArgumentValue::Related(_) => Vec::new(),
        }
    }

    /// The names of its files; in a project they are relative to the project.
    pub(crate) fn files(&mut self) -> Vec<&mut String> {
        match &mut self.value {
            ArgumentValue::Tensor(tensor) => tensor.files().collect(),
            ArgumentValue::TensorMap(map) => map.files(),
            ArgumentValue::TensorMaps(maps) => {
                maps.iter_mut().flat_map(TensorMapSpec::files).collect()
            }
            ArgumentValue::Structure(fields) => files_of(fields).collect(),
            ArgumentValue::Recorded(recorded) => {
                let RecordedSpec { file, fields, .. } = &mut **recorded;
                std::iter::once(file).chain(files_of(fields)).collect()
            }
            ArgumentValue::Missing
            | ArgumentValue::Number(_)
            | ArgumentValue::Scalar { .. }
            | ArgumentValue::Pointers(_)
            | ArgumentValue::Related(_) => Vec::new(),
        }
    }

    /// The tensors it describes: itself, or those described inside its maps.
    pub(crate) fn tensors(&self) -> Vec<(&str, &TensorSpec)> {
        match &self.value {
            ArgumentValue::Tensor(tensor) => vec![(&self.name, tensor)],
            _ => {
                let maps = self.maps().into_iter();
                maps.filter_map(|map| Some((map.tensor.as_str(), map.inline.as_ref()?))).collect()
            }
        }
    }
}

/// The names of files in fields.
fn files_of(fields: &mut [Field]) -> impl Iterator<Item = &mut String> {
    let maps = fields.iter_mut().filter_map(|field| {
        let FieldValue::TensorMap(map) = &mut field.value else { return None };
        Some(map)
    });
    maps.flat_map(|map| map.files())
}

impl TensorSpec {
    /// The names of the files with its mask and its contents.
    fn files(&mut self) -> impl Iterator<Item = &mut String> {
        let mask = match &mut self.structure {
            Some(TensorStructure::Mask(Mask::File(path))) => Some(path),
            _ => None,
        };
        let contents = match &mut self.initial {
            Some(Initial::File(path)) => Some(path),
            Some(Initial::Iota | Initial::Random(_) | Initial::List(_) | Initial::Fill(_))
            | None => None,
        };
        mask.into_iter().chain(contents)
    }

    /// The number of elements that an index reaches, or `None` if the shape is unknown.
    #[must_use]
    pub fn elements(&self) -> Option<u64> {
        self.shape.as_ref().map(|shape| Self::count(shape))
    }

    /// The number of elements of a shape that is known to fit in memory.
    pub(super) fn count(shape: &[u64]) -> u64 {
        // A size of 0 beside huge ones must not overflow on the way.
        if shape.contains(&0) { 0 } else { shape.iter().product() }
    }

    /// Elements from the first to the last that an index reaches, holes between them included;
    /// `None` if the number exceeds 64 bits.
    pub(super) fn extent(shape: &[u64], strides: Option<&[u64]>) -> Option<u64> {
        if shape.contains(&0) {
            return Some(0);
        }
        let Some(strides) = strides else {
            return shape.iter().try_fold(1_u64, |all, &size| all.checked_mul(size));
        };
        let mut last = 0_u64;
        for (&size, &stride) in shape.iter().zip(strides) {
            last = last.checked_add((size - 1).checked_mul(stride)?)?;
        }
        last.checked_add(1)
    }
}

impl TensorMapSpec {
    /// The names of its files.
    fn files(&mut self) -> Vec<&mut String> {
        let data = self.inline.iter_mut().flat_map(TensorSpec::files);
        self.file.iter_mut().chain(data).collect()
    }
}

impl Display for TensorMapSpec {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("tensormap(")?;
        if let Some(file) = &self.file {
            write!(f, "@{file}, ")?;
        }
        f.write_str(&self.tensor)?;
        if let Some(tensor) = &self.inline {
            write!(f, "={tensor}")?;
        }
        write!(f, "{})", self.keys)
    }
}

impl Display for ArgumentSpec {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.name, self.value)
    }
}

impl Display for ArgumentValue {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("?"),
            Self::Number(number) => number.fmt(f),
            Self::Scalar { element, value } => scalar(*element, value.as_ref(), f),
            Self::Tensor(tensor) => tensor.fmt(f),
            Self::Pointers(targets) => {
                let names: Vec<&str> =
                    targets.iter().map(|target| target.as_deref().unwrap_or("0")).collect();
                write!(f, "[{}]", names.join(","))
            }
            Self::TensorMap(map) => map.fmt(f),
            Self::TensorMaps(maps) => {
                f.write_str("[")?;
                list(maps, f)?;
                f.write_str("]")
            }
            Self::Structure(fields) => {
                f.write_str("{")?;
                list(fields, f)?;
                f.write_str("}")
            }
            Self::Recorded(recorded) => recorded.fmt(f),
            Self::Related(expression) => f.write_str(expression),
        }
    }
}

impl Display for RecordedSpec {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "@{}", self.file)?;
        if self.tensors.is_empty() && self.fields.is_empty() && !self.file.ends_with(".npy") {
            return Ok(());
        }
        let tensors =
            self.tensors.iter().map(|tensor| format!("{}={:#x}", tensor.name, tensor.address));
        let items: Vec<String> = tensors.chain(self.fields.iter().map(Field::to_string)).collect();
        write!(f, "{{{}}}", items.join(","))
    }
}

impl Display for TensorSpec {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}[", self.element)?;
        match &self.shape {
            Some(shape) => list(shape, f)?,
            None => f.write_str("?")?,
        }
        f.write_str("]")?;
        if let Some(strides) = &self.strides {
            f.write_str("@[")?;
            list(strides, f)?;
            f.write_str("]")?;
        }
        match self.direction {
            Direction::In => {}
            Direction::Out => f.write_str(":out")?,
            Direction::InOut => f.write_str(":inout")?,
            Direction::Scratch => f.write_str(":scratch")?,
        }
        if let Some(range) = self.range {
            write!(f, ":{range}")?;
        }
        if self.is_distinct {
            f.write_str(":distinct")?;
        }
        if let Some(structure) = &self.structure {
            write!(f, ":{structure}")?;
        }
        match &self.initial {
            None => Ok(()),
            Some(Initial::File(path)) => write!(f, "=@{path}"),
            Some(Initial::Iota) => f.write_str("=iota"),
            Some(Initial::Random(0)) => f.write_str("=random"),
            Some(Initial::Random(seed)) => write!(f, "=random({seed})"),
            Some(Initial::Fill(number)) => write!(f, "={number}"),
            Some(Initial::List(numbers)) => {
                f.write_str("=[")?;
                list(numbers, f)?;
                f.write_str("]")
            }
        }
    }
}

impl Display for Field {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.offset)?;
        match &self.value {
            FieldValue::Number(number) => number.fmt(f),
            FieldValue::Scalar { element, value } => scalar(*element, value.as_ref(), f),
            FieldValue::Name(text) | FieldValue::Related(text) => f.write_str(text),
            FieldValue::TensorMap(map) => map.fmt(f),
        }
    }
}

impl Display for Number {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(value) => value.fmt(f),
            Self::Float(text) => f.write_str(text),
        }
    }
}

impl Display for AliasSpec {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        list(&self.names, f)
    }
}

impl Display for AssumeSpec {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.condition.fmt(f)
    }
}

fn scalar(element: ElementType, value: Option<&Number>, f: &mut Formatter<'_>) -> fmt::Result {
    match value {
        Some(value) => write!(f, "{element}={value}"),
        None => write!(f, "{element}"),
    }
}

fn list(items: &[impl Display], f: &mut Formatter<'_>) -> fmt::Result {
    for (position, item) in items.iter().enumerate() {
        let comma = if position == 0 { "" } else { "," };
        write!(f, "{comma}{item}")?;
    }
    Ok(())
}
