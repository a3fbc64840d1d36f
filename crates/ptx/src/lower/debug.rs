//! `.file` and `.loc`: the source lines of instructions (manual §11.5).
//!
//! A `.loc` holds for the instructions after it, to the end of the function. The name of an inlined function is an
//! offset into the `.debug_str` section, whose bytes are collected once for each module.

use crate::syntax::Value;
use crate::syntax::ast::{BinaryOp, Expr, Item, Loc, Module, Number, Section, SectionLine};
use ir::{FileId, LocId, Program, SourceLocation};
use rustc_hash::FxHashMap;

/// Translates `.loc` directives of one module.
pub(crate) struct Locations<'a> {
    files: FxHashMap<u64, FileId>,
    strings: DebugStrings<'a>,
    known: FxHashMap<Key, LocId>,
    /// The latest location given for a position.
    latest: FxHashMap<Position, LocId>,
}

/// A position; if inlined, also the name of the function (an offset into the strings) and the call.
type Key = (Position, Option<(usize, LocId)>);

/// File, line and column.
type Position = [u64; 3];

/// Contents and labels of `.debug_str`.
#[derive(Default)]
struct DebugStrings<'a> {
    bytes: Vec<u8>,
    labels: FxHashMap<&'a str, usize>,
}

impl<'a> Locations<'a> {
    /// Collects the files and strings of `module`.
    pub(crate) fn new(module: &Module<'a>, program: &mut Program) -> Self {
        let mut files = FxHashMap::default();
        let mut strings = DebugStrings::default();
        for item in &module.items {
            match item {
                Item::File(file) => {
                    let id = program.files.push(file.path.to_owned());
                    files.insert(integer(&file.index), id);
                }
                Item::Section(section) if section.name == ".debug_str" => strings.read(section),
                _ => {}
            }
        }
        Self { files, strings, known: FxHashMap::default(), latest: FxHashMap::default() }
    }

    /// Returns the location of a directive.
    pub(crate) fn location(&mut self, loc: &Loc<'a>, program: &mut Program) -> LocId {
        let position = loc.position.each_ref().map(integer);
        let inlined = loc.inlined.as_ref().map(|inlined| {
            let offset = self.strings.offset(&inlined.function_name).unwrap_or(usize::MAX);
            (offset, self.call(inlined.position.each_ref().map(integer), program))
        });
        let id = self.intern((position, inlined), program);
        self.latest.insert(position, id);
        id
    }

    /// Returns the location of a call site. The manual requires a `.loc` of the call site before it; that one also
    /// records where the caller was inlined.
    fn call(&mut self, position: Position, program: &mut Program) -> LocId {
        match self.latest.get(&position) {
            Some(&id) => id,
            None => self.intern((position, None), program),
        }
    }

    fn intern(&mut self, key: Key, program: &mut Program) -> LocId {
        if let Some(&id) = self.known.get(&key) {
            return id;
        }
        let ([file, line, column], inlined) = key;
        let narrow = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        let id = program.locations.push(SourceLocation {
            file: self.files.get(&file).copied(),
            line: narrow(line),
            column: narrow(column),
            inlined_at: inlined.map(|(offset, call)| (self.strings.at(offset), call)),
        });
        self.known.insert(key, id);
        id
    }
}

impl<'a> DebugStrings<'a> {
    fn read(&mut self, section: &Section<'a>) {
        for line in &section.lines {
            match line {
                SectionLine::Label(label) => {
                    self.labels.insert(label.text, self.bytes.len());
                }
                SectionLine::Data(ty, values) => {
                    let size = match ty.text {
                        "b8" => 1,
                        "b16" => 2,
                        "b32" => 4,
                        _ => 8,
                    };
                    for value in values {
                        let bits = match value {
                            Expr::Number(number) => integer(number),
                            _ => 0,
                        };
                        self.bytes.extend_from_slice(&bits.to_le_bytes()[..size]);
                    }
                }
            }
        }
    }

    /// `label`, `label+4` or `.debug_str+16` as an offset.
    fn offset(&self, expr: &Expr<'a>) -> Option<usize> {
        match expr {
            Expr::Name(name) if name.text == ".debug_str" => Some(0),
            Expr::Name(name) => self.labels.get(name.text).copied(),
            Expr::Number(number) => usize::try_from(integer(number)).ok(),
            Expr::Binary(BinaryOp::Add, sides) => {
                self.offset(&sides.0)?.checked_add(self.offset(&sides.1)?)
            }
            _ => None,
        }
    }

    /// Returns the zero-terminated string at `offset`.
    fn at(&self, offset: usize) -> Option<String> {
        let rest = self.bytes.get(offset..)?;
        let text = &rest[..rest.iter().position(|&byte| byte == 0)?];
        Some(String::from_utf8_lossy(text).into_owned())
    }
}

fn integer(number: &Number<'_>) -> u64 {
    match number.value {
        Value::Signed(value) => value.cast_unsigned(),
        Value::Unsigned(value) => value,
        Value::F32(_) | Value::F64(_) => 0,
    }
}
