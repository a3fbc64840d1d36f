//! What all blocks of a launch share and nobody changes: the program, its layout, the launch.

use crate::address::{Area, MAX_GLOBAL, MAX_WINDOW, Pointer};
use crate::decode::Code;
use crate::domain::InputSource;
use crate::finding::{Gap, Place};
use crate::launch::{Access, Argument, Buffer, Contents, Launch};
use crate::memory::{Allocation, Word, state};
use crate::registers::Layout;
use crate::value::Valued;
use base::IndexVec;
use ir::{FuncId, Function, Param, Program, Relocation, Space, Symbol, VarId, Variable};
use rustc_hash::FxHashMap;

/// The largest variable that is executed, and the most bytes all buffers of a launch may have
/// together: enough for every kernel that fits our budgets, and no request brings the machine down.
const LARGEST_VARIABLE: u64 = 1 << 28;
const LARGEST_BUFFERS: u64 = 1 << 33;

/// A program prepared for a launch.
pub(crate) struct Machine<'p> {
    pub(crate) program: &'p Program,
    pub(crate) launch: &'p Launch,
    pub(crate) layouts: IndexVec<FuncId, Layout>,
    pub(crate) codes: IndexVec<FuncId, Code>,
    /// Which allocation a variable is.
    pub(crate) areas: FxHashMap<VarId, Area>,
    /// Shared variables in the order of their areas.
    pub(crate) shared: Vec<VarId>,
    /// Local variables and function parameters in the order of their areas.
    pub(crate) local: Vec<VarId>,
    /// Parameters of the kernel, filled in.
    pub(crate) params: Vec<Allocation>,
}

impl<'p> Machine<'p> {
    /// Prepares a launch; also gives global memory as it is before the first block.
    ///
    /// # Errors
    /// A gap if something about the program cannot be laid out.
    pub(crate) fn new(
        program: &'p Program,
        launch: &'p Launch,
        mut valued: Option<Valued<'_>>,
    ) -> Result<(Self, Vec<Allocation>), Gap> {
        let mut layouts: IndexVec<FuncId, Layout> =
            program.functions.iter().map(Layout::new).collect();
        let codes = program.functions.enumerate();
        let decoded = |(id, function)| Code::new(function, &mut layouts[id], valued.is_some());
        let codes = codes.map(decoded).collect();
        let mut machine = Self {
            program,
            launch,
            layouts,
            codes,
            areas: FxHashMap::default(),
            shared: Vec::new(),
            local: Vec::new(),
            params: Vec::new(),
        };
        let sizes = launch.buffers.iter().map(|buffer| buffer.contents.size());
        let bytes = sizes.fold(0, u64::saturating_add);
        if bytes > LARGEST_BUFFERS {
            let reason = format!("the buffers have {bytes} bytes, more than is executed");
            let span = program.functions[launch.kernel].span;
            return Err(Gap { place: Place { span, location: None }, reason });
        }
        let mut global: Vec<Allocation> = launch.buffers.iter().map(buffer).collect();
        if let Some(valued) = &mut valued {
            for (number, (buffer, memory)) in launch.buffers.iter().zip(&mut global).enumerate() {
                if matches!(buffer.contents, Contents::Opaque(_)) {
                    let (size, source) = (memory.bytes.len(), InputSource::Buffer(number));
                    valued.fill(memory, (0, size), buffer.element, source);
                }
            }
        }
        for (id, variable) in program.variables.enumerate() {
            machine.place(id, variable, &mut global)?;
        }
        for (id, variable) in program.variables.enumerate() {
            if let Some(&Area::Global(number)) = machine.areas.get(&id) {
                machine.relocate(&mut global[number], variable, &mut valued);
            }
        }
        machine.fill_params(&mut valued)?;
        Ok((machine, global))
    }

    pub(crate) fn kernel(&self) -> &'p Function {
        &self.program.functions[self.launch.kernel]
    }

    fn gap(&self, variable: &Variable, reason: String) -> Gap {
        Gap { place: Place { span: variable.span, location: None }, reason }
    }

    /// Gives a variable its allocation.
    fn place(
        &mut self,
        id: VarId,
        variable: &Variable,
        global: &mut Vec<Allocation>,
    ) -> Result<(), Gap> {
        if variable.size.is_some_and(|size| size > LARGEST_VARIABLE) {
            let reason = format!("`{}` is larger than what is executed", variable.name);
            return Err(self.gap(variable, reason));
        }
        let (list, limit) = match variable.space {
            Space::Global | Space::Const => {
                if global.len() >= MAX_GLOBAL {
                    return Err(
                        self.gap(variable, "there are too many global variables".to_owned())
                    );
                }
                self.areas.insert(id, Area::Global(global.len()));
                global.push(global_variable(variable));
                return Ok(());
            }
            Space::Shared => (&mut self.shared, Area::Shared as fn(usize) -> Area),
            // The kernel's own parameters are placed when they are filled in.
            Space::ParamEntry => return Ok(()),
            Space::Local | Space::ParamFunc => (&mut self.local, Area::Local as fn(usize) -> Area),
            Space::Generic | Space::SharedCluster => return Ok(()),
        };
        if list.len() >= MAX_WINDOW {
            let reason = format!("more than {MAX_WINDOW} variables in one state space");
            return Err(self.gap(variable, reason));
        }
        let area = limit(list.len());
        list.push(id);
        self.areas.insert(id, area);
        Ok(())
    }

    /// Writes the addresses an initialiser mentions.
    fn relocate(
        &self,
        allocation: &mut Allocation,
        variable: &Variable,
        valued: &mut Option<Valued<'_>>,
    ) {
        for &Relocation { at, bytes, shift, symbol, addend, .. } in &variable.relocations {
            let Symbol::Variable(target) = symbol else { continue };
            let Some(&area) = self.areas.get(&target) else { continue };
            let address = Pointer { area, offset: addend }.address() >> shift;
            let (at, bytes) = (usize::try_from(at).unwrap_or(usize::MAX), usize::from(bytes));
            if allocation.inside(at as i64, bytes as u32).is_some() {
                match (bytes, valued.as_mut()) {
                    (8, _) => allocation.store(at, bytes, address, Word::Pointer),
                    (_, None) => allocation.store(at, bytes, address, Word::Unknown),
                    (_, Some(valued)) => valued.store.lose(allocation, at, bytes),
                }
            }
        }
    }

    fn fill_params(&mut self, valued: &mut Option<Valued<'_>>) -> Result<(), Gap> {
        let kernel = self.kernel();
        for (position, param) in kernel.params.iter().enumerate() {
            let Param::Variable(id) = *param else { continue };
            let variable = &self.program.variables[id];
            let size = variable.size.and_then(|size| usize::try_from(size).ok()).unwrap_or(0);
            let mut memory =
                Allocation::new(&variable.name, Space::ParamEntry, size, state::UNDEFINED);
            memory.access = Access::In;
            memory.align = variable.align;
            match self.launch.arguments.get(position) {
                Some(argument) => fill(&mut memory, (position, 0), argument, valued),
                None => {
                    return Err(self.gap(variable, format!("parameter {position} has no argument")));
                }
            }
            self.areas.insert(id, Area::Param(self.params.len()));
            self.params.push(memory);
        }
        Ok(())
    }

    /// Shared memory of a block before its first instruction.
    pub(crate) fn shared_memory(&self) -> Vec<Allocation> {
        let allocation = |&id: &VarId| {
            let variable = &self.program.variables[id];
            let dynamic = variable.external || variable.size.is_none();
            let size = if dynamic { Some(self.launch.dynamic_shared) } else { variable.size };
            let size = size.and_then(|size| usize::try_from(size).ok()).unwrap_or(0);
            let mut memory = Allocation::new(&variable.name, Space::Shared, size, state::UNDEFINED);
            // The driver aligns dynamic shared memory to at least 16 bytes.
            memory.align = if dynamic { variable.align.max(16) } else { variable.align };
            memory.element_bytes = element_bytes(variable);
            memory
        };
        self.shared.iter().map(allocation).collect()
    }
}

fn buffer(buffer: &Buffer) -> Allocation {
    let state = match &buffer.contents {
        Contents::Known(_) => state::DEFINED,
        Contents::Opaque(_) | Contents::Unbounded => state::OPAQUE,
        Contents::Undefined(_) => state::UNDEFINED,
    };
    let size = usize::try_from(buffer.contents.size()).unwrap_or(0);
    let mut memory = Allocation::new(&buffer.name, Space::Global, size, state);
    if let Contents::Known(bytes) = &buffer.contents {
        memory.bytes.copy_from_slice(bytes);
    }
    memory.bounded = !matches!(buffer.contents, Contents::Unbounded);
    memory.access = buffer.access;
    memory.element_bytes = buffer.element_bytes;
    memory
}

/// A module variable: what its initialiser says, zero elsewhere (manual §5.4.4).
fn global_variable(variable: &Variable) -> Allocation {
    let size = variable.size.and_then(|size| usize::try_from(size).ok());
    let mut memory =
        Allocation::new(&variable.name, variable.space, size.unwrap_or(0), state::DEFINED);
    memory.bounded = size.is_some();
    memory.align = variable.align;
    memory.element_bytes = element_bytes(variable);
    let known = variable.initial.len().min(memory.bytes.len());
    memory.bytes[..known].copy_from_slice(&variable.initial[..known]);
    if variable.space == Space::Const {
        memory.access = Access::In;
    }
    if variable.external {
        memory.states.fill(0..memory.states.len(), state::OPAQUE);
    }
    memory
}

/// Bytes of an element, from the type's name: `f32` has 4.
fn element_bytes(variable: &Variable) -> u32 {
    let digits = variable.element.trim_start_matches(|c: char| !c.is_ascii_digit());
    digits.parse::<u32>().map_or(1, |bits| (bits / 8).max(1))
}

/// Writes an argument into a parameter.
fn fill(
    memory: &mut Allocation,
    (position, at): (usize, usize),
    argument: &Argument,
    valued: &mut Option<Valued<'_>>,
) {
    let room = memory.bytes.len().saturating_sub(at);
    match argument {
        Argument::Pointer(buffer) => {
            if room >= 8 {
                let address = Pointer { area: Area::Global(*buffer), offset: 0 }.address();
                memory.store(at, 8, address, Word::Pointer);
            }
        }
        Argument::Bytes(bytes) => {
            let count = bytes.len().min(room);
            memory.bytes[at..at + count].copy_from_slice(&bytes[..count]);
            memory.states.fill(at..at + count, state::DEFINED);
        }
        Argument::Opaque(element) => match valued {
            None => memory.states.fill(at..memory.states.len(), state::OPAQUE),
            Some(valued) => {
                let size = element.map_or(room, |element| element.width().bytes() as usize);
                let source = InputSource::Argument(position, at as u64);
                valued.fill(memory, (at, size.min(room)), *element, source);
            }
        },
        Argument::Struct(pieces) => {
            for (offset, piece) in pieces {
                let at = usize::try_from(*offset).unwrap_or(usize::MAX);
                if at < memory.bytes.len() {
                    fill(memory, (position, at), piece, valued);
                }
            }
        }
    }
}
