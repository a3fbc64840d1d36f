//! Normal form of slow paths that differ only in the place of constants, addresses and copies.
//!
//! A compiler hoists invariants out of a loop: the address of local memory plus 8, a constant, the address of a
//! table. So a register that is assigned once, and to such a value, is replaced by the value, wherever it was
//! computed; the other registers are renumbered. A register that is assigned in two places keeps its name, and so
//! does an output. The text keeps its meaning: a register written once, before all its reads, holds that value at
//! each of them.

use std::collections::BTreeMap;

/// Brings the text of a slow path into normal form.
pub(super) fn canonical(text: &str) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let fixed = fixed_registers(&lines);
    while let Some((at, register, value)) = next_replaceable(&lines, &fixed) {
        lines.remove(at);
        lines.iter_mut().for_each(|line| *line = replace_register(line, &register, &value));
    }
    renumber(&lines.join("\n"))
}

/// Returns the registers that keep their names: those written more than once, and outputs.
fn fixed_registers(lines: &[String]) -> Vec<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for line in lines {
        if let Some(register) = line.strip_prefix("out ") {
            counts.insert(register.to_owned(), usize::MAX);
        }
        let Some((written, _)) = line.split_once(" = ") else { continue };
        for word in words(written).filter(|word| is_register(word)) {
            let count = counts.entry(word.to_owned()).or_default();
            *count = count.saturating_add(1);
        }
    }
    counts.into_iter().filter(|(_, count)| *count > 1).map(|(register, _)| register).collect()
}

/// Finds a line that assigns a register a value that can replace it.
fn next_replaceable(lines: &[String], fixed: &[String]) -> Option<(usize, String, String)> {
    lines.iter().enumerate().find_map(|(at, line)| {
        let line = line.trim_start();
        let (register, value) = line.strip_prefix("in ").unwrap_or(line).split_once(" = ")?;
        if !is_register(register) || fixed.iter().any(|one| one == register) {
            return None;
        }
        let value = match line.starts_with("in ") {
            // A negated predicate is not a bit pattern.
            true if value.starts_with('-') => return None,
            true => number(value).map_or_else(|| value.to_owned(), print_constant),
            false => moved_value(value, fixed)?,
        };
        Some((at, register.to_owned(), value))
    })
}

/// Returns the value of an instruction that only moves it into a register.
fn moved_value(value: &str, fixed: &[String]) -> Option<String> {
    const MAX_OFFSET: u64 = 0x1000;
    let (operation, operands) = value.split_once(' ')?;
    match operation {
        "copy" | "address_of" if operands.contains(' ') => None,
        "copy" if is_register(operands) && fixed.iter().any(|one| one == operands) => None,
        // A source that is still a register here is computed and written once, so it can replace its copies.
        "copy" | "address_of" => Some(operands.to_owned()),
        "Add.b64" | "Add.b32" => {
            let (base, by) = operands.split_once(", ")?;
            let (base, offset) = base.rsplit_once('+').filter(|(base, _)| is_local(base))?;
            let by = number(by).filter(|by| *by < MAX_OFFSET)?;
            Some(format!("{base}+{}", offset.parse::<i64>().ok()?.checked_add_unsigned(by)?))
        }
        _ => None,
    }
}

fn is_local(base: &str) -> bool {
    base == "local" || base == "generic local"
}

/// Reads a constant.
fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// Prints a constant as instructions do.
fn print_constant(bits: u64) -> String {
    if bits < 10 { format!("{bits}") } else { format!("{bits:#x}") }
}

fn is_register(word: &str) -> bool {
    let digits = word.strip_prefix('r').filter(|digits| !digits.is_empty());
    digits.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Splits a line into words of letters and digits.
fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '@')
}

/// Replaces a register by a value in a line.
fn replace_register(line: &str, register: &str, value: &str) -> String {
    let out = each_word(line, |word| (word == register).then(|| value.to_owned()));
    with_one_offset(&out)
}

/// Replaces words in a line.
fn each_word(line: &str, mut new: impl FnMut(&str) -> Option<String>) -> String {
    let mut out = String::new();
    let mut rest = line;
    while !rest.is_empty() {
        let in_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '@';
        let end = rest.find(|c: char| !in_word(c)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        out.push_str(&new(word).unwrap_or_else(|| word.to_owned()));
        let end = behind.find(in_word).unwrap_or(behind.len());
        let (between, behind) = behind.split_at(end);
        out.push_str(between);
        rest = behind;
    }
    out
}

/// Writes `[local+8+4]` as `[local+12]`.
fn with_one_offset(line: &str) -> String {
    let sum = || {
        let (before, rest) = line.split_once('[')?;
        let (address, behind) = rest.split_once(']')?;
        let (base, offsets) = address.split_once('+')?;
        let (first, second) = match (offsets.split_once('+'), offsets.split_once('-')) {
            (Some((first, second)), _) => (first, second.parse::<i64>().ok()?),
            (None, Some((first, second))) => (first, -second.parse::<i64>().ok()?),
            _ => return None,
        };
        let offset = first.parse::<i64>().ok()?.checked_add(second)?;
        is_local(base).then(|| format!("{before}[{base}+{offset}]{behind}"))
    };
    sum().unwrap_or_else(|| line.to_owned())
}

/// Renumbers registers by their first appearance.
fn renumber(text: &str) -> String {
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    let lines = text.lines().map(|line| {
        each_word(line, |word| {
            let next = numbers.len();
            is_register(word)
                .then(|| format!("r{}", *numbers.entry(word.to_owned()).or_insert(next)))
        })
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::canonical;

    const INSIDE: &str = "in r1 = (abs x)\nin r4 = local+0\nb0:\n  r0 = copy 0x20\n  r2 = Sub.b32 r0, r1\n  \
        r3 = Add.b64 r4, 8\n  store.local.b32 [r3+4], r2\n  r5 = load.local.u32 [r3]\n  jump meet\nout r5";

    #[test]
    fn values_from_before_the_region_are_put_inside() {
        let before = "in r2 = 0x20\nin r1 = (abs x)\nin r3 = local+8\nb0:\n  r0 = Sub.b32 r2, r1\n  \
            store.local.b32 [r3+4], r0\n  r7 = load.local.u32 [r3]\n  jump meet\nout r7";
        assert_eq!(canonical(INSIDE), canonical(before));
        assert!(canonical(INSIDE).contains("store.local.b32 [local+12], r0"));
    }

    #[test]
    fn other_values_are_another_text() {
        for (old, new) in [("copy 0x20", "copy 0x21"), ("r4, 8", "r4, 4"), ("(abs x)", "x")] {
            assert_ne!(canonical(INSIDE), canonical(&INSIDE.replacen(old, new, 1)), "{new}");
        }
    }

    #[test]
    fn a_register_that_is_written_twice_keeps_its_name() {
        let twice = INSIDE.replace("  jump meet", "  r0 = copy 1\n  jump b0");
        assert!(canonical(&twice).contains("r0 = copy 0x20"));
    }
}
