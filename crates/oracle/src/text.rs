//! Programs as text, for tests and reports.
//!
//! ```text
//! warps 2
//! 0.0: write s1; *bar.sync 1 64; shfl 3 from 1
//! 0.1: read.2 g0+2; *bar.sync 1 64; shfl 3 from 1
//! 1.0: copy s0 g1; commit; wait 0; bar.popc 1 64 t
//! ```
//!
//! Each line is a thread: its warp, its lane and its steps. `*` marks a joint step, an instruction of both lanes
//! ([`Step::joint`]). `s1` is the second cell of shared memory. `read.2 g0+2` reads two bytes,
//! beginning with the third byte of the first cell of global memory. `look` reads without using the value.
//! `write s1` writes a value that no other step writes, `write s1 common` one that all such steps share. The
//! last operand of `vote` and `bar.popc` is the thread's predicate, `t` or `f`.

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
            Self::Add(space, cell) => write!(f, "add {}{cell}", space_letter(space)),
            Self::Barrier(barrier) => write!(f, "{barrier}"),
            Self::WarpSync(mask) => write!(f, "warpsync {mask}"),
            Self::Shuffle { mask, from } => write!(f, "shfl {mask} from {from}"),
            Self::Vote { mask, predicate } => write!(f, "vote {mask} {}", truth_letter(predicate)),
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
        write!(f, " {}{}", space_letter(self.space), self.offset / 4)?;
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
            BarrierKind::Popc(predicate) => write!(f, " {}", truth_letter(predicate)),
            BarrierKind::Sync | BarrierKind::Arrive => Ok(()),
        }
    }
}

fn space_letter(space: Space) -> char {
    match space {
        Space::Shared => 's',
        Space::Global => 'g',
    }
}

fn truth_letter(predicate: bool) -> char {
    if predicate { 't' } else { 'f' }
}

/// The reason why a text is not a program.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the messages describe the variants; the fields are quoted text")]
pub enum NotAProgram {
    #[error("the program is empty")]
    Nothing,
    #[error("the first line must be the number of warps, such as `warps 2`")]
    NoWarps,
    #[error("`{0}` is not a thread: there is no `:`")]
    NoThread(String),
    #[error("`{0}` is not a thread: it begins with warp and lane, such as `0.1`")]
    NoLane(String),
    #[error("`{1}`: {0}")]
    Step(Box<NotAProgram>, String),
    #[error("an operation is missing")]
    NoOperation,
    #[error("unknown operation `{0}`")]
    Unknown(String),
    #[error("`{0}` is not a cell: it begins with `s` or `g`")]
    NoCell(String),
    #[error("a barrier has a number and an optional count")]
    BarrierOperands,
    #[error("`{0}` is not a number")]
    NoNumber(String),
    #[error(transparent)]
    Invalid(#[from] Invalid),
}

pub(crate) fn parse(text: &str) -> Result<Program, NotAProgram> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().ok_or(NotAProgram::Nothing)?;
    let warps = first.strip_prefix("warps ").ok_or(NotAProgram::NoWarps)?;
    let threads = lines.map(parse_thread).collect::<Result<_, _>>()?;
    Ok(Program { warps: parse_number(warps)?, threads })
}

fn parse_thread(line: &str) -> Result<Thread, NotAProgram> {
    let (place, steps) =
        line.split_once(':').ok_or_else(|| NotAProgram::NoThread(line.to_owned()))?;
    let (warp, lane) = place.split_once('.').ok_or_else(|| NotAProgram::NoLane(line.to_owned()))?;
    let steps = steps.split(';').map(str::trim).filter(|step| !step.is_empty());
    let steps = steps.map(parse_step).collect::<Result<_, _>>()?;
    Ok(Thread { warp: parse_number(warp)?, lane: parse_number(lane)?, steps })
}

fn parse_step(text: &str) -> Result<Step, NotAProgram> {
    let joint = text.starts_with('*');
    let words: Vec<&str> = text.trim_start_matches('*').split_whitespace().collect();
    let op = parse_op(&words).map_err(|why| NotAProgram::Step(Box::new(why), text.to_owned()))?;
    Ok(Step { op, joint })
}

fn parse_op(words: &[&str]) -> Result<Op, NotAProgram> {
    match *words {
        [opcode, address] if opcode.starts_with("read") => {
            parse_access(opcode, "read", address).map(Op::Read)
        }
        [opcode, address] if opcode.starts_with("look") => {
            parse_access(opcode, "look", address).map(Op::UnusedRead)
        }
        [opcode, address] if opcode.starts_with("write") => {
            parse_access(opcode, "write", address).map(|access| Op::Write(access, Value::Own))
        }
        [opcode, address, "common"] if opcode.starts_with("write") => {
            parse_access(opcode, "write", address).map(|access| Op::Write(access, Value::Common))
        }
        ["add", cell] => {
            let Access { space, offset, .. } = parse_access("add", "add", cell)?;
            Ok(Op::Add(space, offset / 4))
        }
        ["warpsync", mask] => Ok(Op::WarpSync(parse_number(mask)?)),
        ["shfl", mask, "from", from] => {
            Ok(Op::Shuffle { mask: parse_number(mask)?, from: parse_number(from)? })
        }
        ["vote", mask, predicate] => {
            Ok(Op::Vote { mask: parse_number(mask)?, predicate: predicate == "t" })
        }
        ["copy", to, from] => {
            let cell = |text| parse_access("", "", text).map(|access| access.offset / 4);
            Ok(Op::Copy { to: cell(to)?, from: cell(from)? })
        }
        ["commit"] => Ok(Op::Commit),
        ["wait", pending] => Ok(Op::WaitGroup(parse_number(pending)?)),
        ["waitall"] => Ok(Op::WaitAll),
        [opcode, ref operands @ ..] => parse_barrier(opcode, operands).map(Op::Barrier),
        [] => Err(NotAProgram::NoOperation),
    }
}

fn parse_access(opcode: &str, name: &str, address: &str) -> Result<Access, NotAProgram> {
    let width = match opcode.strip_prefix(name) {
        Some("") => 4,
        Some(width) => parse_number(width.trim_start_matches('.'))?,
        None => return Err(NotAProgram::Unknown(opcode.to_owned())),
    };
    let (space, rest) = match address.split_at_checked(1) {
        Some(("s", rest)) => (Space::Shared, rest),
        Some(("g", rest)) => (Space::Global, rest),
        _ => return Err(NotAProgram::NoCell(address.to_owned())),
    };
    let (cell, byte) = rest.split_once('+').unwrap_or((rest, "0"));
    let (cell, byte): (u8, u8) = (parse_number(cell)?, parse_number(byte)?);
    Ok(Access { space, offset: cell.saturating_mul(4).saturating_add(byte), width })
}

fn parse_barrier(opcode: &str, operands: &[&str]) -> Result<Barrier, NotAProgram> {
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
        [id] => (parse_number(id)?, None),
        [id, count] => (parse_number(id)?, Some(parse_number(count)?)),
        _ => return Err(NotAProgram::BarrierOperands),
    };
    Ok(Barrier { kind, id, count, aligned })
}

fn parse_number<N: std::str::FromStr>(text: &str) -> Result<N, NotAProgram> {
    text.trim().parse().map_err(|_| NotAProgram::NoNumber(text.to_owned()))
}
