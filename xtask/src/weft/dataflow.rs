//! Dataflow graphs spread over warps, as the Singe compiler makes them (WEFT, sections 2.3 and 5.3, Figure 10).
//!
//! In *graphs* an edge between warps takes some words of shared memory and a generation of a named barrier: the
//! producer writes and arrives, the consumers wait and read. Words and barriers are reused as soon as that is safe.
//! [`Orders`] records which commands of a warp come before those of another, and an edge without free words or
//! barriers waits until all warps have met. In *exchanges* all warps write and read at each barrier of the block,
//! alternating between two halves of memory.
//!
//! A planted race overwrites words before barriers ensure that their last readers are done: the mistake of the
//! paper's two chemistry kernels for Kepler. Kernels for Fermi pass constants to the lanes of a warp through shared
//! memory, those for Kepler by shuffles.

use super::text::{Code, Counts, Frame, Kernel};
use testing::Random;

/// The data of a kernel in the paper's table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) warps: u32,
    pub(super) words: u32,
    pub(super) generations: u32,
    /// In thousands.
    pub(super) commands: u32,
    /// All warps exchange words at barriers of the block.
    pub(super) exchange: bool,
    pub(super) fermi: bool,
    pub(super) raced: bool,
    pub(super) seed: u64,
}

/// Commands in the body of a loop, of all warps; with this number a kernel has thousands of lines.
const BODY: u32 = 2500;
/// Registers for a warp's computation.
const VALUES: u32 = 16;

/// Returns the kernel of a row of the paper. As `change`, `Some(true)` leaves out the paper's race, and `Some(false)`
/// plants one.
pub(super) fn row(name: &str, change: Option<bool>) -> Option<Kernel> {
    // Generations, words, thousands of commands, threads.
    let table: [(&str, [u32; 4]); 13] = [
        ("dme-diff-fermi", [352, 1930, 2912, 320]),
        ("dme-diff-kepler", [352, 1920, 1075, 320]),
        ("dme-visc-kepler", [128, 1920, 2058, 480]),
        ("dme-chem-fermi", [864, 5536, 5156, 512]),
        ("dme-chem-kepler", [1760, 3072, 3866, 256]),
        ("hept-diff-kepler", [416, 1664, 1490, 416]),
        ("hept-visc-fermi", [128, 1690, 5897, 416]),
        ("hept-visc-kepler", [128, 1664, 2955, 416]),
        ("hept-chem-fermi", [992, 5192, 7572, 640]),
        ("hept-chem-kepler", [928, 6144, 5241, 512]),
        ("prf-diff-kepler", [672, 3712, 6414, 928]),
        ("prf-visc-fermi", [4, 3776, 901, 1024]),
        ("prf-visc-kepler", [128, 3712, 14213, 1024]),
    ];
    let (seed, (_, [generations, words, commands, threads])) =
        (0..).zip(&table).find(|(_, (known, _))| *known == name)?;
    let in_paper = name.ends_with("chem-kepler");
    let raced = match change {
        None => in_paper,
        Some(true) if in_paper => false,
        Some(false) if !in_paper => true,
        Some(_) => return None,
    };
    let (exchange, fermi) = (name.contains("-visc-"), name.ends_with("-fermi"));
    let (warps, words) = (threads / 32, *words);
    let (generations, commands) = (*generations, *commands);
    Some(
        Shape { warps, words, generations, commands, exchange, fermi, raced, seed: seed + 1 }
            .kernel(),
    )
}

/// A graph with the same work for each warp, for any number of warps.
pub(super) fn graph(warps: u32) -> Kernel {
    let (words, generations, commands) = (192 * warps, 32 * warps, 120 * warps);
    let (exchange, fermi, raced) = (false, false, false);
    Shape { warps, words, generations, commands, exchange, fermi, raced, seed: 99 }.kernel()
}

impl Shape {
    /// The number of slots: a slot is 32 words of shared memory, one for each lane of a warp.
    fn slots(&self) -> u32 {
        self.words / 32
    }

    /// Rounds of the loop, chosen so that its body has about [`BODY`] commands and the generations divide well.
    fn iterations(&self) -> u32 {
        let all = self.commands * 1000 / 32;
        let most = (self.generations / 4).max(1);
        let about = (all / BODY).clamp(1, most);
        let candidates = (about * 3 / 4).max(1)..=(about * 4 / 3).min(most);
        let lost = |rounds: &u32| (self.generations % rounds, about.abs_diff(*rounds));
        candidates.min_by_key(lost).unwrap_or(about)
    }

    /// Barriers in the body of the loop; for exchanges an even number, so that halves alternate.
    fn barriers(&self) -> u32 {
        let each = self.generations / self.iterations();
        if self.exchange { (each & !1).max(2) } else { each.max(2) }
    }

    /// Writes the kernel. The number of commands for each edge is chosen to come close to the paper's total.
    pub(super) fn kernel(&self) -> Kernel {
        let wanted = f64::from(self.commands) * 1000.0;
        let body = wanted / 32.0 / f64::from(self.iterations());
        let mut cost = body / f64::from(self.barriers());
        let mut kernel = self.with_cost(cost);
        for _ in 0..4 {
            cost *= wanted / kernel.counts.commands as f64;
            kernel = self.with_cost(cost);
        }
        kernel
    }

    /// Writes the kernel with about `cost` commands of warps for each barrier.
    fn with_cost(&self, cost: f64) -> Kernel {
        let body = self.body(cost);
        let constants = if self.fermi { 32 * self.warps } else { 0 };
        let words = self.slots() * 32 + constants;
        let iterations = self.iterations();
        let commands: u64 = body.warps.iter().map(|code| code.commands).sum();
        let counts = Counts {
            generations: u64::from(body.generations * iterations),
            commands: 32 * commands * u64::from(iterations),
            words: words.into(),
        };
        let mut text = String::new();
        for warp in 0..self.warps {
            text.push_str(&format!("\tsetp.eq.u32 %p0, %warp, {warp};\n\t@%p0 bra WARP_{warp};\n"));
        }
        for (number, code) in body.warps.iter().enumerate() {
            text.push_str(&self.frame_of_warp(number as u32, code, iterations));
        }
        let threads = 32 * self.warps;
        let parameters = &[format!("x=f32[{VALUES},{threads}]"), format!("out=f32[{threads}]:out")];
        let name = if self.exchange { "exchange" } else { "graph" };
        Frame { name, parameters, threads, words }.module(&text, counts)
    }

    /// The body of the loop, with its race if requested. Tries another seed if nothing can be overwritten too early.
    fn body(&self, cost: f64) -> Body {
        let mut seed = self.seed;
        loop {
            let mut body = Body::new(Self { seed, ..*self });
            match self.exchange {
                true => body.exchanges(cost),
                false => body.edges(cost),
            }
            if !body.to_plant {
                return body;
            }
            seed += 1000;
        }
    }

    /// Loads a warp's values, repeats its code, stores the sum.
    fn frame_of_warp(&self, number: u32, body: &Code, iterations: u32) -> String {
        let mut code = Code::default();
        let threads = 32 * self.warps;
        code.label(&format!("WARP_{number}"));
        code.line("mul.wide.u32 %d0, %thread, 4;");
        code.line("add.u64 %d1, %x0, %d0;");
        for value in 0..VALUES {
            code.line(&format!("ld.global.f32 %f{value}, [%d1+{}];", 4 * value * threads));
        }
        // The lane's own words, and those of another lane.
        code.line("shl.b32 %r0, %lane, 2;");
        code.line("add.u32 %r0, %base, %r0;");
        code.line("add.u32 %r1, %lane, 5;");
        code.line("and.b32 %r1, %r1, 31;");
        code.line("shl.b32 %r1, %r1, 2;");
        code.line("add.u32 %r1, %base, %r1;");
        code.line("mov.u32 %step, 0;");
        code.label(&format!("LOOP_{number}"));
        let mut text = code.text().to_owned() + body.text();
        let mut code = Code::default();
        code.line("add.u32 %step, %step, 1;");
        code.line(&format!("setp.lt.u32 %p1, %step, {iterations};"));
        code.line(&format!("@%p1 bra LOOP_{number};"));
        for value in 1..VALUES {
            code.line(&format!("add.f32 %f0, %f0, %f{value};"));
        }
        code.line("add.u64 %d1, %x1, %d0;");
        code.line("st.global.f32 [%d1], %f0;");
        code.line("ret;");
        text.push_str(code.text());
        text
    }
}

/// A command of a warp: the number of the warp, and of its commands so far, including this one.
type Event = (usize, u32);

/// The order between commands.
#[derive(Debug)]
struct Orders {
    /// For each warp: how many commands of each warp come before its next one.
    known: Vec<Vec<u32>>,
}

impl Orders {
    fn new(warps: usize) -> Self {
        Self { known: vec![vec![0; warps]; warps] }
    }

    /// Records a command of a warp.
    fn event(&mut self, warp: usize) -> Event {
        self.known[warp][warp] += 1;
        (warp, self.known[warp][warp])
    }

    /// Returns `true` if an event certainly comes before the next command of the warp `next`.
    fn is_before(&self, (warp, number): Event, next: usize) -> bool {
        self.known[next][warp] >= number
    }

    /// Records a generation of a barrier: waiting warps learn everything that the participants knew.
    fn barrier(&mut self, all: &[usize], waiting: &[usize]) {
        let mut joined = vec![0; self.known.len()];
        for &warp in all {
            for (joined, known) in joined.iter_mut().zip(&self.known[warp]) {
                *joined = (*joined).max(*known);
            }
        }
        waiting.iter().for_each(|&warp| self.known[warp].clone_from(&joined));
    }
}

/// The body of the loop under construction.
struct Body {
    shape: Shape,
    warps: Vec<Code>,
    orders: Orders,
    random: Random,
    /// The last users of each slot, and the arrivals at each barrier's last generation.
    slots: Vec<Vec<Event>>,
    barriers: [Vec<Event>; 16],
    generations: u32,
    /// Set while a requested race is not planted yet.
    to_plant: bool,
    next_value: u32,
}

impl Body {
    fn new(shape: Shape) -> Self {
        let warps = shape.warps as usize;
        Self {
            shape,
            warps: (0..warps).map(|_| Code::default()).collect(),
            orders: Orders::new(warps),
            random: Random::new(shape.seed),
            slots: vec![Vec::new(); shape.slots() as usize],
            barriers: Default::default(),
            generations: 0,
            to_plant: shape.raced,
            next_value: 0,
        }
    }

    /// The next of the registers for a warp's computation.
    fn value(&mut self) -> u32 {
        self.next_value += 1;
        self.next_value % VALUES
    }

    fn write(&mut self, warp: usize, slot: u32) {
        let (one, other) = (self.value(), self.random.below(VALUES));
        let code = &mut self.warps[warp];
        if slot.is_multiple_of(2) {
            code.line(&format!("fma.rn.f32 %f{one}, %f{other}, 0f3F000000, %f{one};"));
        }
        code.command(&format!("st.shared.f32 [%r0+{}], %f{one};", 128 * slot));
    }

    fn read(&mut self, warp: usize, slot: u32, register: u32) {
        let value = self.value();
        let code = &mut self.warps[warp];
        code.command(&format!("ld.shared.f32 %f16, [%r{register}+{}];", 128 * slot));
        code.line(&format!("fma.rn.f32 %f{value}, %f16, 0f3F000000, %f{value};"));
    }

    /// Passes `count` constants to all lanes of a warp: through memory on Fermi, by shuffles on Kepler.
    fn constants(&mut self, warp: usize, count: u32) {
        let value = self.value();
        let first = 4 * (32 * self.shape.slots() + 32 * warp as u32);
        let code = &mut self.warps[warp];
        if !self.shape.fermi {
            code.line(&format!("mov.b32 %r2, %f{value};"));
            code.line(&format!("shfl.sync.idx.b32 %r3, %r2, {}, 31, -1;", count % 32));
            code.line("mov.b32 %f16, %r3;");
            code.line(&format!("add.f32 %f{value}, %f{value}, %f16;"));
            return;
        }
        for constant in 0..count {
            if constant.is_multiple_of(32) {
                code.line("bar.warp.sync -1;");
                code.command(&format!("st.shared.f32 [%r0+{first}], %f{value};"));
                code.line("bar.warp.sync -1;");
            }
            let at = first + 4 * (constant % 32);
            code.command(&format!("ld.shared.f32 %f16, [%base+{at}];"));
            code.line(&format!("fma.rn.f32 %f{value}, %f16, 0f3F000000, %f{value};"));
        }
    }

    /// A barrier of all warps.
    fn meet(&mut self) {
        let all: Vec<usize> = (0..self.warps.len()).collect();
        let threads = self.shape.warps * 32;
        self.warps.iter_mut().for_each(|code| code.sync(0, threads));
        self.orders.barrier(&all, &all);
        self.generations += 1;
    }

    /// Adds edges between warps until the number of generations is reached; then all warps meet, for the next round
    /// of the loop.
    fn edges(&mut self, cost: f64) {
        let barriers = self.shape.barriers();
        while self.generations + 1 < barriers {
            // The race is planted in the second half, when there is data to overwrite.
            let plant = self.to_plant && 2 * self.generations > barriers;
            let planted = plant && (0..16).any(|_| self.edge(cost, true));
            if !planted && !(0..16).any(|_| self.edge(cost, false)) {
                self.meet();
            }
        }
        self.meet();
    }

    /// Adds an edge from one warp to one or two others; returns `false` if no words or barrier were free for it.
    fn edge(&mut self, cost: f64, plant: bool) -> bool {
        let warps = self.warps.len();
        let producer = self.random.below(warps as u32) as usize;
        let wanted = if warps > 2 { 1 + self.random.below(2) as usize } else { 1 };
        let mut consumers: Vec<usize> = Vec::new();
        while consumers.len() < wanted {
            let other = self.random.below(warps as u32) as usize;
            if other != producer && !consumers.contains(&other) {
                consumers.push(other);
            }
        }
        // Each word is written once and read by each consumer, repeatedly if there are fewer words than reads.
        let share = if self.shape.fermi { cost / 2.0 } else { cost };
        let even = (share / (1 + wanted) as f64).max(2.0) as u32 - 1;
        let count = even.clamp(1, (self.shape.slots() / 6).max(1));
        let reads = ((share - f64::from(count) - 1.0) / wanted as f64 - 1.0).max(1.0) as u32;
        let Some(first) = self.free_slots(producer, count, plant) else { return false };
        let Some(id) = self.free_barrier(producer, &consumers) else { return false };
        let constants = ((cost - share) / (1 + wanted) as f64) as u32;
        // Lanes read words of other lanes: without lock-step a warp must synchronise before it overwrites them.
        self.warps[producer].line("bar.warp.sync -1;");
        (first..first + count).for_each(|slot| self.write(producer, slot));
        self.constants(producer, constants.max(1));
        let written = self.orders.event(producer);
        (first..first + count).for_each(|slot| self.slots[slot as usize] = vec![written]);
        let threads = 32 * (1 + wanted as u32);
        self.warps[producer].arrive(id, threads);
        let mut all = vec![producer];
        all.extend(&consumers);
        self.barriers[id as usize] = all.iter().map(|&warp| self.orders.event(warp)).collect();
        consumers.iter().for_each(|&warp| self.warps[warp].sync(id, threads));
        self.orders.barrier(&all, &consumers);
        for &consumer in &consumers {
            let register = self.random.below(2);
            for read in 0..reads {
                self.read(consumer, first + read % count, register);
            }
            self.constants(consumer, constants.max(1));
            let event = self.orders.event(consumer);
            (first..first + reads.min(count))
                .for_each(|slot| self.slots[slot as usize].push(event));
        }
        self.generations += 1;
        self.to_plant &= !plant;
        true
    }

    /// Returns the first of `count` adjacent slots whose last uses all come before the warp's next command. To plant a
    /// race, some of them have reads that do not.
    fn free_slots(&self, warp: usize, count: u32, plant: bool) -> Option<u32> {
        let is_free =
            |slot: &Vec<Event>| slot.iter().all(|&event| self.orders.is_before(event, warp));
        // The first use is the write; every reader comes after it.
        let is_raced = |slot: &Vec<Event>| {
            slot.len() > 1
                && self.orders.is_before(slot[0], warp)
                && slot[1..].iter().any(|&event| !self.orders.is_before(event, warp))
        };
        let count = count as usize;
        let starts = 0..(self.slots.len() + 1).saturating_sub(count);
        let mut starts = starts.filter(|&start| {
            let slots = &self.slots[start..start + count];
            match plant {
                true => {
                    slots.iter().all(|slot| is_free(slot) || is_raced(slot))
                        && slots.iter().any(is_raced)
                }
                false => slots.iter().all(is_free),
            }
        });
        starts.next().map(|start| start as u32)
    }

    /// Returns a barrier whose last generation is complete for all participants of the next.
    fn free_barrier(&self, producer: usize, consumers: &[usize]) -> Option<u32> {
        let mut ids = 1..16;
        ids.find(|&id| {
            let mut all = consumers.iter().chain([&producer]);
            all.all(|&warp| {
                self.barriers[id as usize].iter().all(|&event| self.orders.is_before(event, warp))
            })
        })
    }

    /// All warps write, meet and read.
    fn exchanges(&mut self, cost: f64) {
        let warps = self.shape.warps;
        let each = (self.shape.slots() / 2 / warps).max(1);
        let half = each * warps;
        let steps = self.shape.barriers();
        let per_warp = (cost / f64::from(warps) - f64::from(each) - 1.0).max(1.0);
        let share = if self.shape.fermi { 0.5 * per_warp } else { per_warp };
        let (reads, constants) = (share.max(1.0) as u32, (per_warp - share) as u32);
        for step in 0..steps {
            // The race: words of the step before, which others may still read.
            let planted = self.to_plant && 2 * step >= steps;
            self.to_plant &= !planted;
            let start = half * ((step + u32::from(planted)) % 2);
            for warp in 0..warps as usize {
                (0..each).for_each(|word| self.write(warp, start + warp as u32 * each + word));
            }
            self.meet();
            for warp in 0..warps as usize {
                let first = self.random.below(half);
                for read in 0..reads {
                    self.read(warp, start + (first + read) % half, read % 2);
                }
                self.constants(warp, constants.max(1));
            }
        }
    }
}
