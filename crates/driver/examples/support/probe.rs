//! Tests why a mutant may have survived, by probing the kernel itself. The changed line is replaced by one that ends
//! the run, or spoils the value, wherever the change would make a difference. If the kernel is still proved, the
//! change makes no difference in this launch.

use crate::mutate::{Change, Instruction};

/// A changed line, and its meaning if the kernel is proved with it.
pub(crate) struct Probe {
    pub(crate) shows: &'static str,
    pub(crate) line: String,
}

/// The probes of a change.
pub(crate) fn probes(old: &str, change: &Change) -> Vec<Probe> {
    let mut all = vec![Probe { shows: "not reached", line: "\ttrap;".to_owned() }];
    let Some(was) = Instruction::new(old.trim()) else { return all };
    if change.kind == "guard dropped" {
        let line = match was.guard.strip_prefix("@!") {
            Some(name) => format!("\t@{name} trap; {old}"),
            None => format!("\t@!{} trap; {old}", was.guard.trim_start_matches('@')),
        };
        all.push(Probe { shows: "guard always true", line });
    }
    let is = Instruction::new(change.new.trim());
    if let Some(line) = is.and_then(|is| same_value(old, &was, &is)) {
        all.push(Probe { shows: "same value", line });
    }
    all.extend(unused(&was).map(|line| Probe { shows: "value not used", line }));
    all
}

/// Both instructions, and a trap if they give different integers or predicates.
fn same_value(old: &str, was: &Instruction<'_>, is: &Instruction<'_>) -> Option<String> {
    let same_target = was.operands.first() == is.operands.first();
    if !was.guard.is_empty() || was.guard != is.guard || !was.has_destination() || !same_target {
        return None;
    }
    let (kind, compare) = match class(was.operands.first()?)? {
        "%p" => ("pred", "xor.pred %probe_p"),
        "%r" => ("b32", "setp.ne.b32 %probe_p"),
        "%rd" => ("b64", "setp.ne.b64 %probe_p"),
        "%rs" => ("b16", "setp.ne.b16 %probe_p"),
        _ => return None,
    };
    let (one, other) = (was.with(0, "%probe_a"), is.with(0, "%probe_b"));
    Some(format!(
        "\t{{ .reg .pred %probe_p; .reg .{kind} %probe_a, %probe_b; {one} {other} \
         {compare}, %probe_a, %probe_b; @%probe_p trap; }} {old}"
    ))
}

/// Replaces the result by a value that must not be used.
fn unused(was: &Instruction<'_>) -> Option<String> {
    let target = was.operands.first().filter(|_| was.has_destination())?;
    let kind = match class(target)? {
        "%p" => return Some(format!("\t{{ .reg .b32 %probe; setp.ne.b32 {target}, %probe, 0; }}")),
        "%r" | "%f" => "b32",
        "%rd" | "%fd" => "b64",
        "%rs" => "b16",
        _ => return None,
    };
    let guard = was.guard;
    Some(format!("\t{{ .reg .{kind} %probe; {guard} mov.{kind} {target}, %probe; }}"))
}

/// The class of a register, `%rd` of `%rd12`; `None` for other operands.
fn class(operand: &str) -> Option<&str> {
    let name = operand.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_register = name.starts_with('%') && name[1..].chars().all(char::is_alphabetic);
    (is_register && name.len() < operand.len()).then_some(name)
}
