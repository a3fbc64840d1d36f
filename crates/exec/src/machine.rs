//! The constant part of a run, shared by all blocks: the program, its layout, the launch.

use crate::address::{Area, MAX_GLOBAL, MAX_LOCAL, MAX_SHARED, Pointer};
use crate::fast::decode::{Code, Decoding, Floats};
use crate::finding::{Gap, Place, StopReason};
use crate::launch::{Access, Argument, Buffer, Contents, Launch, VariableContents};
use crate::layout::Layout;
use crate::memory::{Allocation, Word, state};
use crate::options::Paths;
use crate::packing::{
    Places, before_dynamic, element_bytes, is_dynamic, packed, shared_bytes, with_room,
};
use crate::parameters::fill;
use crate::polls::polls;
use crate::position::Position;
use crate::racing_reads::RacingReadMode;
use crate::tickets::TicketMode;
use crate::value::Valued;
use base::IndexVec;
use ir::{
    FuncId, Function, Op, Param, Program, Relocation, Space, Symbol, SyncOp, VarId, Variable,
};
use rustc_hash::{FxHashMap, FxHashSet};
use sync::Site;

/// The largest number of bytes of buffers and module variables: enough for every kernel within the budgets, and
/// small enough for the host. A byte takes two, one of them for its state.
const LARGEST_GLOBAL: u64 = 1 << 32;
/// The largest number of bytes of parameters; the manual allows 32764.
const LARGEST_PARAMETERS: u64 = 1 << 20;
/// The largest number of bytes of shared memory. No GPU has as much, and regions have more room.
const LARGEST_SHARED: u64 = 1 << 20;
/// The largest number of bytes of local memory of a thread (CUDA programming guide, "Compute Capabilities").
const LARGEST_LOCAL: u64 = 512 << 10;
/// The largest number of bytes of registers of a block, many times those of a GPU.
const LARGEST_REGISTERS: u64 = 1 << 30;
/// The largest number of threads of a block; no GPU allows more.
const MAX_THREADS: u64 = (sync::MAX_WARPS * sync::WARP) as u64;

/// The largest number of warps of a cluster: the largest portable one has eight blocks of up to 32 warps.
const MAX_CLUSTER_WARPS: usize = 256;

/// A program prepared for a launch.
pub(crate) struct Machine<'p> {
    pub(crate) program: &'p Program,
    pub(crate) launch: &'p Launch,
    pub(crate) layouts: IndexVec<FuncId, Layout>,
    pub(crate) codes: IndexVec<FuncId, Code>,
    /// The allocation of each variable.
    pub(crate) areas: FxHashMap<VarId, Area>,
    /// Blocks of a cluster.
    pub(crate) blocks: usize,
    /// Shared variables in the order of their areas; with several blocks, those of the block of rank r begin at r times
    /// their number.
    pub(crate) shared: Vec<VarId>,
    /// The alignment of each shared variable in every packing, and its start on an H200 ([`crate::packing`]).
    pub(crate) packed: Vec<Places>,
    /// Bytes of static variables before dynamic shared memory, if that is assumed to be known.
    pub(crate) before_dynamic: Option<u64>,
    /// Local variables and function parameters in the order of their areas.
    pub(crate) local: Vec<VarId>,
    /// Parameters of the kernel, with their values.
    pub(crate) params: Vec<Allocation>,
    /// The treatment of racing reads.
    pub(crate) racing_reads: RacingReadMode,
    /// Instructions that poll memory in a waiting loop, ascending.
    pub(crate) polls: Vec<Site>,
    /// Places of stores for which the domain decides if the stored value equals the present one.
    pub(crate) compared_stores: FxHashSet<Place>,
    /// Stores of the kernel whose address determines their value, if the run checks for races.
    pub(crate) determined_stores: FxHashSet<Site>,
    /// How tickets are given out, in a run in which blocks take them.
    pub(crate) tickets: TicketMode,
    /// Set if the general code executes all instructions ([`Paths::General`]).
    pub(crate) general: bool,
    /// Set if the run shows hardware results for given numbers, and proves nothing.
    pub(crate) simulates: bool,
}

impl<'p> Machine<'p> {
    /// Returns `true` if there are copies that run concurrently with their thread.
    pub(crate) fn copies_asynchronously(&self) -> bool {
        let mut all = self.program.functions.iter().flat_map(|function| function.instructions());
        all.any(|instruction| {
            matches!(
                instruction.op,
                Op::AsyncCopy(_) | Op::BulkCopy(_) | Op::TensorCopy(_) | Op::RemoteStore(_)
            )
        })
    }

    /// Returns `true` if blocks of a cluster interact, or could.
    pub(crate) fn uses_clusters(&self) -> bool {
        let mut all = self.program.functions.iter().flat_map(|function| function.instructions());
        let barrier = |op: &Op| matches!(op, Op::Sync(SyncOp::ClusterBarrier { .. }));
        self.blocks > 1 || all.any(|instruction| barrier(&instruction.op))
    }

    /// Returns `true` if there are transaction barriers.
    pub(crate) fn uses_mbarriers(&self) -> bool {
        let mut all = self.program.functions.iter().flat_map(|function| function.instructions());
        all.any(|instruction| {
            matches!(
                instruction.op,
                Op::Sync(SyncOp::Mbarrier(_))
                    | Op::BulkCopy(_)
                    | Op::TensorCopy(_)
                    | Op::RemoteStore(_)
            )
        })
    }

    /// Returns `true` if the kernel may start before earlier launches have ended.
    pub(crate) fn waits_for_grids(&self) -> bool {
        let mut all = self.program.instructions_of(self.launch.kernel);
        all.any(|(_, instruction)| matches!(instruction.op, Op::Sync(SyncOp::GridWait)))
    }

    /// Returns `true` if blocks may be launched in clusters: the module allows it, and no cluster size is given.
    pub(crate) fn may_have_clusters(&self) -> bool {
        let ir::Launch {
            required_cluster,
            max_cluster_rank,
            explicit_cluster,
            blocks_are_clusters,
            ..
        } = self.program.functions[self.launch.kernel].launch;
        let may = required_cluster.is_some_and(|sizes| sizes != [1; 3])
            || max_cluster_rank.is_some_and(|most| most != 1)
            || explicit_cluster
            || blocks_are_clusters;
        may && self.launch.cluster.is_none()
    }

    /// Prepares a launch; also returns global memory before the first block.
    ///
    /// # Errors
    /// A gap if part of the program cannot be laid out.
    pub(crate) fn new(
        program: &'p Program,
        launch: &'p Launch,
        paths: Paths,
        checking: bool,
        mut valued: Option<Valued<'_>>,
    ) -> Result<(Self, Vec<Allocation>), Gap> {
        let mut layouts: IndexVec<FuncId, Layout> =
            program.functions.iter().map(Layout::new).collect();
        let mut next = 0;
        let codes = program.functions.enumerate();
        let floats = match (&valued, checking) {
            (Some(_), _) => Floats::Domain,
            (None, true) => Floats::EveryGpu,
            (None, false) => Floats::SomeGpu,
        };
        let general = paths == Paths::General;
        let decoding = Decoding { floats, general };
        let decoded = |(id, function)| Code::new(function, &mut layouts[id], &mut next, decoding);
        let codes = codes.map(decoded).collect();
        let polls = polls(program, &codes);
        let mut machine = Self {
            program,
            launch,
            layouts,
            codes,
            areas: FxHashMap::default(),
            blocks: launch.cluster_blocks(),
            shared: Vec::new(),
            packed: Vec::new(),
            before_dynamic: None,
            local: Vec::new(),
            params: Vec::new(),
            racing_reads: RacingReadMode::default(),
            polls,
            compared_stores: FxHashSet::default(),
            determined_stores: FxHashSet::default(),
            tickets: TicketMode::None,
            general,
            simulates: false,
        };
        machine.check_sizes()?;
        let mut global: Vec<Allocation> = launch.buffers.iter().map(buffer).collect();
        if let Some(valued) = &mut valued {
            let buffers = launch.buffers.iter().zip(&mut global).enumerate();
            buffers.for_each(|(number, (one, memory))| valued.fill_buffer(memory, number, one));
        }
        for (id, variable) in with_room(program, launch.kernel) {
            machine.place_variable(id, variable, &mut global)?;
        }
        machine.packed = packed(program, launch.kernel, &machine.shared);
        machine.before_dynamic = before_dynamic(program, launch.kernel);
        machine.check_windows()?;
        for (id, variable) in program.variables.enumerate() {
            if let (Some(&Area::Global(number)), None) =
                (machine.areas.get(&id), launch.buffer_of(id))
            {
                machine.relocate(&mut global[number], variable, &mut valued);
            }
        }
        for (id, held) in &launch.symbols {
            if let (Some(&Area::Global(number)), VariableContents::Contents(contents)) =
                (machine.areas.get(id), held)
            {
                set_contents(&mut global[number], contents);
            }
        }
        machine.fill_params(&mut valued)?;
        Ok((machine, global))
    }

    /// Rejects launches that cannot run or would not fit in memory.
    fn check_sizes(&self) -> Result<(), Gap> {
        let Self { program, launch, .. } = *self;
        let place = Place { span: self.kernel().span, location: None };
        let refuse = |reason: String| {
            Err(Gap { place, thread: None, reason, stop: StopReason::NotFollowed })
        };
        if !self.kernel().is_defined() {
            return refuse("the kernel is defined elsewhere".to_owned());
        }
        let threads = launch.threads();
        if threads > MAX_THREADS {
            let reason = format!("the block has {threads} threads; the limit is {MAX_THREADS}");
            return refuse(reason);
        }
        let (grid, cluster) = (launch.grid, launch.cluster_size());
        if grid.iter().zip(cluster).any(|(&size, unit)| unit == 0 || size % unit != 0) {
            return refuse("the grid does not consist of clusters of this size".to_owned());
        }
        let warps = self.launch.warps().saturating_mul(self.blocks);
        if warps > MAX_CLUSTER_WARPS {
            let reason = format!("the cluster has {warps} warps; the limit is {MAX_CLUSTER_WARPS}");
            return refuse(reason);
        }
        let functions = program.called(launch.kernel);
        let sum = |sizes: &mut dyn Iterator<Item = u64>| sizes.fold(0, u64::saturating_add);
        let variables = |selects: &dyn Fn(&Variable) -> bool| {
            let selected = program.variables.iter().filter(|variable| selects(variable));
            sum(&mut selected.filter_map(|variable| variable.size))
        };
        let buffers = sum(&mut launch.buffers.iter().map(|buffer| buffer.contents.size()));
        let module = variables(&|v| matches!(v.space, Space::Global | Space::Const));
        let parameters =
            variables(&|v| v.space == Space::ParamEntry && v.owner == Some(launch.kernel));
        let shared = shared_bytes(program, launch.kernel);
        let local = variables(&|v| {
            matches!(v.space, Space::Local | Space::ParamFunc)
                && v.owner.is_none_or(|owner| functions.contains(&owner))
        });
        let files = sum(&mut functions.iter().map(|&id| self.layouts[id].bytes()));
        let registers = files.saturating_mul(launch.threads().div_ceil(32));
        for (what, bytes, most) in [
            ("buffers and module variables", buffers.saturating_add(module), LARGEST_GLOBAL),
            ("parameters", parameters, LARGEST_PARAMETERS),
            ("shared memory", shared.saturating_add(launch.dynamic_shared), LARGEST_SHARED),
            ("local memory of a thread", local, LARGEST_LOCAL),
            (
                "registers of a block",
                registers.saturating_mul(self.blocks as u64),
                LARGEST_REGISTERS,
            ),
        ] {
            if bytes > most {
                return refuse(format!("{what}: {bytes} bytes are needed; the limit is {most}"));
            }
        }
        Ok(())
    }

    /// Module variables that were read and hold the module's initial contents.
    pub(crate) fn initialisers(&self, global: &[Allocation]) -> Vec<VarId> {
        let is_assumed = |&id: &VarId| match self.areas.get(&id) {
            Some(&Area::Global(number)) => {
                global.get(number).is_some_and(|memory| memory.assumed && memory.read)
            }
            _ => false,
        };
        self.program.variables.indices().filter(is_assumed).collect()
    }

    pub(crate) fn kernel(&self) -> &'p Function {
        &self.program.functions[self.launch.kernel]
    }

    /// The number of the instruction, or of the end of a basic block, at a position.
    #[inline]
    pub(crate) fn site(&self, at: Position) -> Site {
        self.codes[at.function].first[at.block] + at.index as Site
    }

    /// The position of the instruction with this number.
    fn position(&self, site: Site) -> Option<Position> {
        // Numbers ascend, in functions and in their blocks.
        let begins = |code: &Code| code.first.iter().next().is_some_and(|&first| first <= site);
        let (function, code) = self.codes.enumerate().rfind(|(_, code)| begins(code))?;
        let after = code.first.iter().as_slice().partition_point(|&first| first <= site);
        let block = base::Index::from_position(after.checked_sub(1)?);
        Some(Position { function, block, index: (site - code.first[block]) as usize })
    }

    /// The place of the instruction with this number.
    pub(crate) fn place_of(&self, site: Site) -> Option<Place> {
        self.position(site).map(|at| self.place(at))
    }

    /// The operation with this number.
    pub(crate) fn op(&self, site: Site) -> Option<&'p Op> {
        self.op_at(self.position(site)?)
    }

    /// The operation at a position.
    pub(crate) fn op_at(&self, at: Position) -> Option<&'p Op> {
        let block = &self.program.functions[at.function].blocks[at.block];
        block.instructions.get(at.index).map(|instruction| &instruction.op)
    }

    /// The place of a position.
    pub(crate) fn place(&self, at: Position) -> Place {
        let block = &self.program.functions[at.function].blocks[at.block];
        match block.instructions.get(at.index) {
            Some(instruction) => Place { span: instruction.span, location: instruction.location },
            None => Place { span: block.span, location: block.location },
        }
    }

    /// The place of the instruction with this number.
    pub(crate) fn site_place(&self, site: Site) -> Place {
        match self.position(site) {
            Some(at) => self.place(at),
            None => Place { span: self.kernel().span, location: None },
        }
    }

    fn gap(&self, variable: &Variable, reason: String) -> Gap {
        let place = Place { span: variable.span, location: None };
        Gap { place, thread: None, reason, stop: StopReason::NotFollowed }
    }

    /// Allocates a variable.
    fn place_variable(
        &mut self,
        id: VarId,
        variable: &Variable,
        global: &mut Vec<Allocation>,
    ) -> Result<(), Gap> {
        let (list, make_area, most) = match variable.space {
            Space::Global | Space::Const => {
                if let Some(buffer) = self.launch.buffer_of(id) {
                    self.areas.insert(id, Area::Global(buffer));
                    let memory = &mut global[buffer];
                    (memory.space, memory.align) = (variable.space, variable.align);
                    return Ok(());
                }
                if global.len() >= MAX_GLOBAL {
                    return Err(
                        self.gap(variable, "there are too many global variables".to_owned())
                    );
                }
                self.areas.insert(id, Area::Global(global.len()));
                global.push(global_variable(variable));
                return Ok(());
            }
            Space::Shared => (&mut self.shared, Area::Shared as fn(usize) -> Area, MAX_SHARED - 1),
            // The kernel's own parameters are placed with their values.
            Space::ParamEntry => return Ok(()),
            Space::Local | Space::ParamFunc => {
                (&mut self.local, Area::Local as fn(usize) -> Area, MAX_LOCAL)
            }
            Space::Generic | Space::SharedCluster => return Ok(()),
        };
        if list.len() >= most {
            let reason = format!("more than {most} variables in one state space");
            return Err(self.gap(variable, reason));
        }
        let area = make_area(list.len());
        list.push(id);
        self.areas.insert(id, area);
        Ok(())
    }

    /// Writes the addresses in an initialiser.
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
                // The block of the address depends on the reader.
                let is_of_cluster = self.blocks > 1 && matches!(area, Area::Shared(_));
                match (bytes, valued.as_mut()) {
                    (8, _) if !is_of_cluster => allocation.store(at, bytes, address, Word::Pointer),
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

    /// Returns `true` if a shared variable is the dynamic shared memory and the size before it is known
    /// ([`crate::packing`]).
    pub(crate) fn is_placed(&self, number: usize) -> bool {
        let number = number % self.shared.len().max(1);
        let dynamic = |&id: &VarId| is_dynamic(&self.program.variables[id]);
        self.before_dynamic.is_some() && self.shared.get(number).is_some_and(dynamic)
    }
}

/// Creates the memory of a buffer.
fn buffer(buffer: &Buffer) -> Allocation {
    let state = match &buffer.contents {
        Contents::Known(_) | Contents::Pointers(_) => state::DEFINED,
        Contents::Opaque(_) | Contents::Sparse { .. } | Contents::Unbounded => state::OPAQUE,
        Contents::Undefined(_) | Contents::Structures { .. } => state::UNDEFINED,
    };
    let size = usize::try_from(buffer.contents.size()).unwrap_or(0);
    let mut memory = Allocation::new(&buffer.name, Space::Global, size, state);
    match &buffer.contents {
        Contents::Known(bytes) => memory.bytes.copy_from_slice(bytes),
        Contents::Pointers(targets) => memory.point_to(targets),
        Contents::Structures { pieces, .. } => {
            fill(&mut memory, (0, 0), &Argument::Struct(pieces.clone()), &mut None);
        }
        // The bytes of an allocation are zero from the start.
        Contents::Sparse { zeros, .. } => {
            zeros.iter().for_each(|range| memory.states.fill(range.clone(), state::DEFINED));
        }
        Contents::Opaque(_) | Contents::Undefined(_) | Contents::Unbounded => {}
    }
    memory.bounded = !matches!(buffer.contents, Contents::Unbounded);
    memory.access = buffer.access;
    memory.element_bytes = buffer.element_bytes;
    memory
}

/// Creates a module variable: its initialiser, zero elsewhere (manual §5.4.4).
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
    memory.assumed = !variable.external;
    memory
}

/// Sets the contents of a module variable at the launch.
fn set_contents(memory: &mut Allocation, contents: &Contents) {
    memory.assumed = false;
    let all = 0..memory.bytes.len();
    match contents {
        Contents::Known(bytes) => {
            let count = bytes.len().min(memory.bytes.len());
            memory.bytes[..count].copy_from_slice(&bytes[..count]);
            memory.states.fill(all, state::DEFINED);
        }
        Contents::Undefined(_) => memory.states.fill(all, state::UNDEFINED),
        // No option gives a variable pointers, structures or partial zeros.
        Contents::Opaque(_)
        | Contents::Sparse { .. }
        | Contents::Unbounded
        | Contents::Pointers(_)
        | Contents::Structures { .. } => memory.states.fill(all, state::OPAQUE),
    }
}
