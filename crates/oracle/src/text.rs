//! Programs as text, for tests and reports.
//!
//! ```text
//! warps 2
//! 0.0: write s1; *bar.sync 1 64; shfl 3 from 1
//! 0.1: read.2 g0+2; *bar.sync 1 64; shfl 3 from 1
//! 1.0: copy s0 g1; commit; wait 0; bar.popc 1 64 t
//! ```
//!
//! A line is a thread: its warp, its lane, its steps. `*` marks a joint step. `s1` is the second cell of
//! shared memory. `read.2 g0+2` reads two bytes, from the third byte of the first cell of global memory on.
//! `look` reads without using the value. `write s1 common` writes the common value.

use crate::program::{
    Access, Barrier, BarrierKind, Invalid, Op, Program, Space, Step, Thread, Value,
};
use std::fmt;
use thiserror::Error;

pub(crate) fn print(program: &Program, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    writeln!(f, "warps {}", program.warps)?;
    for thread in &program.threads {
        write!(f, "{}.{}:", thread.warp, thread.lane)?;
        for (position, step) in thread.steps.iter().enumerate() {
            let separator = if position == 0 { "" } else { ";" };
            let star = if step.joint { "*" } else { "" };
            write!(f, "{separator} {star}{}", step.op)?;
        }
        writeln!(f)?;
    }
    Ok(())
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Read(access) => write!(f, "read{access}"),
            Self::UnusedRead(access) => write!(f, "look{access}"),
            Self::Write(access, Value::Own) => write!(f, "write{access}"),
            Self::Write(access, Value::Common) => write!(f, "write{access} common"),
            Self::Add(space, cell) => write!(f, "add {}{cell}", letter(space)),
            Self::Barrier(barrier) => write!(f, "{barrier}"),
            Self::WarpSync(mask) => write!(f, "warpsync {mask}"),
            Self::Shuffle { mask, from } => write!(f, "shfl {mask} from {from}"),
            Self::Vote { mask, predicate } => write!(f, "vote {mask} {}", truth(predicate)),
            Self::Copy { to, from } => write!(f, "copy s{to} g{from}"),
            Self::Commit => write!(f, "commit"),
            Self::WaitGroup(pending) => write!(f, "wait {pending}"),
            Self::WaitAll => write!(f, "waitall"),
        }
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.width != 4 {
            write!(f, ".{}", self.width)?;
        }
        write!(f, " {}{}", letter(self.space), self.offset / 4)?;
        match self.offset % 4 {
            0 => Ok(()),
            rest => write!(f, "+{rest}"),
        }
    }
}

impl fmt::Display for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let opcode = if self.aligned { "bar" } else { "barrier" };
        let kind = match self.kind {
            BarrierKind::Sync => "sync",
            BarrierKind::Arrive => "arrive",
            BarrierKind::Popc(_) => "popc",
        };
        write!(f, "{opcode}.{kind} {}", self.id)?;
        if let Some(count) = self.count {
            write!(f, " {count}")?;
        }
        match self.kind {
            BarrierKind::Popc(predicate) => write!(f, " {}", truth(predicate)),
            BarrierKind::Sync | BarrierKind::Arrive => Ok(()),
        }
    }
}

fn letter(space: Space) -> char {
    match space {
        Space::Shared => 's',
        Space::Global => 'g',
    }
}

fn truth(predicate: bool) -> char {
    if predicate { 't' } else { 'f' }
}

/// The reason why a text is not a program.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the message says what each is, its fields what is quoted")]
pub enum NotAProgram {
    #[error("nothing there")]
    Nothing,
    #[error("the first line names the number of warps")]
    NoWarps,
    #[error("no thread in `{0}`")]
    NoThread(String),
    #[error("no lane in `{0}`")]
    NoLane(String),
    #[error("{0} in `{1}`")]
    Step(Box<NotAProgram>, String),
    #[error("no operation")]
    NoOperation,
    #[error("unknown operation `{0}`")]
    Unknown(String),
    #[error("no cell `{0}`")]
    NoCell(String),
    #[error("a barrier has a number and perhaps a count")]
    BarrierOperands,
    #[error("no number `{0}`")]
    NoNumber(String),
    #[error(transparent)]
    Invalid(#[from] Invalid),
}

pub(crate) fn parse(text: &str) -> Result<Program, NotAProgram> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().ok_or(NotAProgram::Nothing)?;
    let warps = first.strip_prefix("warps ").ok_or(NotAProgram::NoWarps)?;
    let threads = lines.map(thread).collect::<Result<_, _>>()?;
    Ok(Program { warps: number(warps)?, threads })
}

fn thread(line: &str) -> Result<Thread, NotAProgram> {
    let (place, steps) =
        line.split_once(':').ok_or_else(|| NotAProgram::NoThread(line.to_owned()))?;
    let (warp, lane) = place.split_once('.').ok_or_else(|| NotAProgram::NoLane(line.to_owned()))?;
    let steps = steps.split(';').map(str::trim).filter(|step| !step.is_empty());
    let steps = steps.map(step).collect::<Result<_, _>>()?;
    Ok(Thread { warp: number(warp)?, lane: number(lane)?, steps })
}

fn step(text: &str) -> Result<Step, NotAProgram> {
    let joint = text.starts_with('*');
    let words: Vec<&str> = text.trim_start_matches('*').split_whitespace().collect();
    let op = op(&words).map_err(|why| NotAProgram::Step(Box::new(why), text.to_owned()))?;
    Ok(Step { op, joint })
}

fn op(words: &[&str]) -> Result<Op, NotAProgram> {
    match *words {
        [opcode, address] if opcode.starts_with("read") => {
            access(opcode, "read", address).map(Op::Read)
        }
        [opcode, address] if opcode.starts_with("look") => {
            access(opcode, "look", address).map(Op::UnusedRead)
        }
        [opcode, address] if opcode.starts_with("write") => {
            access(opcode, "write", address).map(|access| Op::Write(access, Value::Own))
        }
        [opcode, address, "common"] if opcode.starts_with("write") => {
            access(opcode, "write", address).map(|access| Op::Write(access, Value::Common))
        }
        ["add", cell] => {
            let Access { space, offset, .. } = access("add", "add", cell)?;
            Ok(Op::Add(space, offset / 4))
        }
        ["warpsync", mask] => Ok(Op::WarpSync(number(mask)?)),
        ["shfl", mask, "from", from] => {
            Ok(Op::Shuffle { mask: number(mask)?, from: number(from)? })
        }
        ["vote", mask, predicate] => {
            Ok(Op::Vote { mask: number(mask)?, predicate: predicate == "t" })
        }
        ["copy", to, from] => {
            let cell = |text| access("", "", text).map(|access| access.offset / 4);
            Ok(Op::Copy { to: cell(to)?, from: cell(from)? })
        }
        ["commit"] => Ok(Op::Commit),
        ["wait", pending] => Ok(Op::WaitGroup(number(pending)?)),
        ["waitall"] => Ok(Op::WaitAll),
        [opcode, ref operands @ ..] => barrier(opcode, operands).map(Op::Barrier),
        [] => Err(NotAProgram::NoOperation),
    }
}

fn access(opcode: &str, name: &str, address: &str) -> Result<Access, NotAProgram> {
    let width = match opcode.strip_prefix(name) {
        Some("") => 4,
        Some(width) => number(width.trim_start_matches('.'))?,
        None => return Err(NotAProgram::Unknown(opcode.to_owned())),
    };
    let (space, rest) = match address.split_at_checked(1) {
        Some(("s", rest)) => (Space::Shared, rest),
        Some(("g", rest)) => (Space::Global, rest),
        _ => return Err(NotAProgram::NoCell(address.to_owned())),
    };
    let (cell, byte) = rest.split_once('+').unwrap_or((rest, "0"));
    let (cell, byte): (u8, u8) = (number(cell)?, number(byte)?);
    Ok(Access { space, offset: cell.saturating_mul(4).saturating_add(byte), width })
}

fn barrier(opcode: &str, operands: &[&str]) -> Result<Barrier, NotAProgram> {
    let unknown = || NotAProgram::Unknown(opcode.to_owned());
    let (family, kind) = opcode.split_once('.').ok_or_else(unknown)?;
    let aligned = match family {
        "bar" => true,
        "barrier" => false,
        _ => return Err(unknown()),
    };
    let (numbers, predicate) = match operands {
        [numbers @ .., "t"] => (numbers, true),
        [numbers @ .., "f"] => (numbers, false),
        numbers => (numbers, false),
    };
    let kind = match kind {
        "sync" => BarrierKind::Sync,
        "arrive" => BarrierKind::Arrive,
        "popc" => BarrierKind::Popc(predicate),
        _ => return Err(unknown()),
    };
    let (id, count) = match *numbers {
        [id] => (number(id)?, None),
        [id, count] => (number(id)?, Some(number(count)?)),
        _ => return Err(NotAProgram::BarrierOperands),
    };
    Ok(Barrier { kind, id, count, aligned })
}

fn number<N: std::str::FromStr>(text: &str) -> Result<N, NotAProgram> {
    text.trim().parse().map_err(|_| NotAProgram::NoNumber(text.to_owned()))
}
