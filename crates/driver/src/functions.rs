//! Functions of CUDA that `prove` reads, by kind. Those with results unknown to a proof are listed separately.
//!
//! `docs/functions.md` is the text of [`page`]; a test keeps the two equal.

use ::cuda::intrinsics::{Class, Intrinsic, all};
use std::fmt::Write;

/// Kinds in the order of the page: title, and the treatment of their functions in a proof.
const KINDS: &[(Class, &str, &str)] = &[
    (
        Class::Barrier,
        "Barriers of a block",
        "All threads of the block must reach them. They order accesses.",
    ),
    (
        Class::Warp,
        "Functions of a warp",
        "All threads of the warp must reach them. A proof assumes nothing about the values that they exchange.",
    ),
    (
        Class::Atomic,
        "Atomics",
        "They do not race with each other. A proof assumes nothing about their results.",
    ),
    (
        Class::Fence,
        "Fences",
        "They are accepted, but a proof does not use the order that they give.",
    ),
    (Class::Integer, "Integers and bits", "Exact, except the second list."),
    (
        Class::Conversion,
        "Conversions",
        "Conversions to integers round as their names say. Rounding to a float is ignored: floats are real numbers.",
    ),
    (
        Class::Math,
        "Functions of real numbers",
        "Sums, products, quotients, `fma`, minima and maxima are those of real numbers; `exp(a)·exp(b)` is `exp(a + b)`. Every other \
         function is uninterpreted: equal arguments give equal results.",
    ),
    (
        Class::Memory,
        "Memory",
        "Loads, stores, copies and fills. Cache operators do not matter, but `__ldg` may miss what the kernel itself writes.",
    ),
    (Class::Construct, "Vectors", "Each makes a vector of its arguments."),
    (Class::Control, "Control", "`assert` is proved; `__builtin_assume` is assumed, and listed."),
    (
        Class::Texture,
        "Textures",
        "A fetch is an uninterpreted function of the texture, the type and the coordinates. Templates of these names, \
         and fetches from layers, levels, cubes and texture references, are accepted, too.",
    ),
];

/// The page as Markdown.
#[must_use]
pub fn page() -> String {
    let mut page = "# Functions that `prove` knows\n\n\
        Generated from the tables of the CUDA C front end (`crates/cuda/src/intrinsics`); do not edit. Rewrite it with\n\
        `SNAPSHOTS=overwrite cargo test -p driver --test support`.\n\n\
        A function that is missing here is `unsupported` where it is called. *Any value of their type* means that a proof\n\
        assumes nothing about the result. A name with overloads for integers and for floats stands in both lists.\n"
        .to_owned();
    for (class, title, meaning) in KINDS {
        let mut known: Vec<&str> = Vec::new();
        let (mut open, mut refused): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
        for one in all().filter(|one| one.class == *class) {
            let list = match (is_read(one), cuda_front::is_modelled(one.canonical)) {
                (false, _) => &mut refused,
                (true, true) => &mut known,
                (true, false) => &mut open,
            };
            if !list.contains(&one.name) {
                list.push(one.name);
            }
        }
        refused.retain(|name| !known.contains(name) && !open.contains(name));
        if known.is_empty() && open.is_empty() {
            continue;
        }
        let _ = write!(page, "\n## {title}\n\n{meaning}\n\n");
        let lists = [
            (known, ""),
            (open, "Any value of their type: "),
            (refused, "`unsupported` where they are called: "),
        ];
        for (names, what) in lists {
            if !names.is_empty() {
                let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
                let _ = writeln!(page, "{what}{}.\n", names.join(", "));
            }
        }
    }
    while page.ends_with("\n\n") {
        page.pop();
    }
    page
}

/// Returns `true` if `prove` can read a kernel that calls some overload of a function.
fn is_read(function: &Intrinsic) -> bool {
    let over = function.over.split_whitespace().next().unwrap_or("i");
    function.signatures.iter().any(|signature| {
        let signature = signature.replace('T', over);
        // A format string and any number of arguments.
        if signature.ends_with('z') {
            return true;
        }
        [false, true].into_iter().any(|shared| {
            let text = calling(function, &signature, shared);
            let kernels = text.and_then(|text| cuda_front::kernels(&text).ok());
            kernels.is_some_and(|all| all.iter().all(|(_, kernel)| kernel.is_ok()))
        })
    })
}

/// A kernel that calls a function with its own parameters, or with pointers to shared memory. Masks and widths of a
/// warp and sizes of copies are numbers.
fn calling(function: &Intrinsic, signature: &str, shared: bool) -> Option<String> {
    let mut rest = signature;
    let result = next_type(&mut rest)?;
    let (mut parameters, mut arguments) = (Vec::new(), Vec::new());
    let mut arrays = String::new();
    while !rest.is_empty() {
        // `void*` takes any pointer.
        let ty = next_type(&mut rest)?.replace("void*", "int*");
        if let (true, Some(element)) = (shared, ty.strip_suffix('*')) {
            let (name, element) =
                (format!("s{}", arguments.len()), element.trim_start_matches("const "));
            arrays.push_str(&format!("__shared__ {element} {name}[8]; "));
            arguments.push(name);
            continue;
        }
        let number = match (function.class, &*ty) {
            (Class::Warp, "int" | "unsigned") if arguments.is_empty() => Some("0xffffffffu"),
            (Class::Warp, "int" | "unsigned") => Some("1"),
            (Class::Memory, "unsigned long") => Some("4"),
            (Class::Memory, "int") => Some("0"),
            _ => None,
        };
        arguments.push(number.map_or_else(|| format!("p{}", parameters.len()), str::to_owned));
        if number.is_none() {
            parameters.push(format!("{ty} p{}", parameters.len()));
        }
    }
    let name = function.name;
    let call = format!("{name}({})", arguments.join(", "));
    let is_kept = result != "void" && !result.ends_with('*');
    let used = if is_kept { format!("auto r = {call}") } else { call };
    let headers =
        "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#include <cassert>\n#include <cstring>\n";
    Some(format!("{headers}__global__ void k({}) {{ {arrays}{used}; }}\n", parameters.join(", ")))
}

/// Takes the first type off a signature, in the spelling of C++.
fn next_type(signature: &mut &str) -> Option<String> {
    let mut letters = signature.chars();
    let letter = letters.next()?;
    *signature = letters.as_str();
    let plain = match letter {
        'P' => return next_type(signature).map(|inner| format!("{inner}*")),
        'K' => return next_type(signature).map(|inner| format!("const {inner}")),
        'V' => return next_type(signature).map(|inner| format!("volatile {inner}")),
        '{' => {
            let (name, after) = signature.split_once('}')?;
            *signature = after;
            return Some(name.to_owned());
        }
        'v' => "void",
        'b' => "bool",
        'c' => "char",
        'a' => "signed char",
        'h' => "unsigned char",
        's' => "short",
        't' => "unsigned short",
        'i' => "int",
        'j' => "unsigned",
        'l' => "long",
        'm' => "unsigned long",
        'x' => "long long",
        'y' => "unsigned long long",
        'f' => "float",
        'd' => "double",
        'H' => "__half",
        'B' => "__nv_bfloat16",
        _ => return None,
    };
    Some(plain.to_owned())
}
