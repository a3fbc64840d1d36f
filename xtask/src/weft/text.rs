//! The text of a kernel under construction: instructions, and a count of their commands (accesses to shared memory and
//! arrivals at barriers).

use std::fmt::Write as _;

/// A kernel, its launch, and its operations on shared memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kernel {
    /// A module with this one kernel.
    pub(crate) ptx: String,
    /// Flags of `warpproof check`.
    pub(crate) flags: Vec<String>,
    /// Its counts, for comparison with the paper's columns.
    pub(crate) counts: Counts,
}

/// The paper's columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Generations of barriers.
    pub(crate) generations: u64,
    /// Accesses to shared memory and arrivals at barriers, of all threads.
    pub(crate) commands: u64,
    /// Words of shared memory.
    pub(crate) words: u64,
}

/// Instructions of some warps.
#[derive(Debug, Default)]
pub(crate) struct Code {
    text: String,
    /// Accesses to shared memory and arrivals at barriers so far, for each thread.
    pub(crate) commands: u64,
}

impl Code {
    /// Adds an instruction.
    pub(crate) fn line(&mut self, instruction: &str) {
        let _ = writeln!(self.text, "\t{instruction}");
    }

    /// Adds a label.
    pub(crate) fn label(&mut self, name: &str) {
        let _ = writeln!(self.text, "{name}:");
    }

    /// Adds an access to shared memory or an arrival at a barrier.
    pub(crate) fn command(&mut self, instruction: &str) {
        self.line(instruction);
        self.commands += 1;
    }

    /// Adds a wait at a barrier.
    pub(crate) fn sync(&mut self, id: u32, threads: u32) {
        self.command(&format!("bar.sync {id}, {threads};"));
    }

    /// Adds an arrival at a barrier, without waiting.
    pub(crate) fn arrive(&mut self, id: u32, threads: u32) {
        self.command(&format!("bar.arrive {id}, {threads};"));
    }

    /// The text so far.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }
}

/// A kernel without its code.
pub(crate) struct Frame<'f> {
    pub(crate) name: &'f str,
    /// Parameters in the syntax of `warpproof`, such as `x=f32[64]`; all are pointers.
    pub(crate) parameters: &'f [String],
    /// Threads of the only block.
    pub(crate) threads: u32,
    /// Words of shared memory.
    pub(crate) words: u32,
}

impl Frame<'_> {
    /// A module around code. Before the code runs, `%x0…` hold the parameters, `%thread`, `%warp` and `%lane` the
    /// numbers of the thread, and `%base` the start of shared memory.
    pub(crate) fn module(&self, code: &str, counts: Counts) -> Kernel {
        let Self { name, parameters, threads, words } = *self;
        let list: Vec<String> =
            (0..parameters.len()).map(|number| format!("\t.param .u64 p{number}")).collect();
        let mut ptx = format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n\n.visible .entry {name}(\n{}\n)\n.reqntid {threads}, 1, 1\n{{\n",
            list.join(",\n")
        );
        let bytes = words * 4;
        let _ = write!(
            ptx,
            "\t.shared .align 16 .b8 s[{bytes}];\n\t.reg .pred %p<4>;\n\t.reg .f32 %f<64>;\n\t.reg .b32 %r<32>;\n\t.reg .b64 %d<16>;\n\
             \t.reg .b64 %x<{}>;\n\t.reg .b32 %thread, %warp, %lane, %base, %step, %tile;\n\n",
            parameters.len()
        );
        for number in 0..parameters.len() {
            let _ = writeln!(ptx, "\tld.param.u64 %x{number}, [p{number}];");
        }
        ptx.push_str("\tmov.u32 %thread, %tid.x;\n\tshr.u32 %warp, %thread, 5;\n\tand.b32 %lane, %thread, 31;\n\tmov.u32 %base, s;\n");
        ptx.push_str(code);
        ptx.push_str("}\n");
        let mut flags: Vec<String> = ["--grid", "1", "--block"].map(str::to_owned).into();
        flags.push(threads.to_string());
        for parameter in parameters {
            flags.extend(["--arg".to_owned(), parameter.clone()]);
        }
        Kernel { ptx, flags, counts }
    }
}
