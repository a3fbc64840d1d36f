//! A slow path for large arguments is the library's own code, and goes with the expansion. What a program does itself
//! for large arguments stays.

mod kernels;

use kernels::{BUILDS, Kernel, claims, kernels, lifted_text, lower};
use std::collections::{BTreeMap, BTreeSet};

/// Kernels with a recognised slow path, and the number with which they compare the argument.
const SLOW: [(&str, &str); 3] =
    [("k_sinf", "0f47CE4780"), ("k_cosf", "0f47CE4780"), ("k_tanf", "0f47CE4780")];

/// Inserts code before the kernel's store, under the condition of the slow path or its opposite.
/// `None` if the build has no slow path.
fn with_own_code(kernel: &Kernel, number: &str, not: &str, body: &str) -> Option<String> {
    let compares = |line: &&str| line.trim().starts_with("setp") && line.contains(number);
    let condition = kernel.text.lines().find(compares)?.trim();
    let register = condition.split_whitespace().nth(1).unwrap().trim_end_matches(',');
    let condition = condition.replacen(register, "%own", 1);
    let (before, store) = kernel.text.split_once("\tst.global.f32")?;
    let address = store.split([']', '[']).nth(1).unwrap();
    let body = body.replace("ADDRESS", address);
    Some(format!(
        "{before}.reg .pred %own; {condition} @{not}%own bra.uni OWN;\n{body}\nOWN:\n\tst.global.f32{store}"
    ))
}

/// The blocks of a printed function that its first block reaches.
fn reachable(text: &str) -> String {
    let mut blocks = BTreeMap::<&str, Vec<&str>>::new();
    let mut current = "";
    for line in text.lines() {
        match line.strip_suffix(':') {
            Some(name) => current = name,
            None => blocks.entry(current).or_default().push(line),
        }
    }
    let (mut found, mut work) = (BTreeSet::new(), vec!["b0"]);
    while let Some(name) = work.pop() {
        if found.insert(name) {
            let last = blocks[name]
                .iter()
                .rev()
                .find(|line| line.contains("jump") || line.contains("branch"));
            let words = last.into_iter().flat_map(|line| line.split_whitespace());
            work.extend(words.filter(|word| blocks.contains_key(word)));
        }
    }
    found.iter().flat_map(|name| &blocks[name]).copied().collect::<Vec<_>>().join("\n")
}

#[test]
fn a_program_s_own_code_for_large_arguments_stays() {
    let bodies = [
        ("trap;", "trap"),
        ("bar.sync 0;", "barrier"),
        ("ret;", "return"),
        ("st.global.f32 [ADDRESS+4], 0f3F800000;", "store"),
        ("MORE: ld.volatile.global.f32 %f1, [ADDRESS]; bra.uni MORE;", "load"),
    ];
    let mut tried = 0;
    for build in &BUILDS[..4] {
        for kernel in kernels(build) {
            let Some((_, number)) = SLOW.iter().find(|(name, _)| *name == kernel.name) else {
                continue;
            };
            let lifted = reachable(&lifted_text(&kernel.program));
            assert!(!lifted.contains("branch"), "{build} {}\n{lifted}", kernel.name);
            for ((body, word), not) in bodies.iter().flat_map(|body| [(body, ""), (body, "!")]) {
                let Some(text) = with_own_code(&kernel, number, not, body) else { continue };
                let program = lower(&text);
                tried += 1;
                let found = reachable(&lifted_text(&program));
                let count = |text: &str| text.matches(word).count();
                // A return behind the branch may have become a condition of the store.
                let is_there = count(&found) > count(&lifted) || *word == "return";
                let is_guarded = found.lines().any(|line| line.trim_start().starts_with('@'));
                assert!(is_there && is_guarded, "{build} {} {not} {body}\n{found}", kernel.name);
                let claims = claims(&program);
                assert!(claims.len() == 1 && claims[0].range.is_none(), "{build} {}", kernel.name);
            }
        }
    }
    assert!(tried >= 30, "{tried}");
}
