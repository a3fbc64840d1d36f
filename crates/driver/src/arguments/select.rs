//! Selects a kernel of a file: `FILE::KERNEL`.

use super::closest;
use crate::demangle::{demangle, without_signature};
use base::Index;
use ir::{FuncId, Program};
use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// Maximal number of kernels that a message lists.
const LONGEST_LIST: usize = 20;

/// A file, and a kernel if the file has several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelPath {
    /// The file, or `-` for standard input.
    pub file: String,
    /// The kernel's name or a unique part of it.
    pub kernel: Option<String>,
}

impl FromStr for KernelPath {
    type Err = Infallible;

    /// The name starts after the first `::`, since C++ names contain more of them.
    fn from_str(text: &str) -> Result<Self, Infallible> {
        let (file, kernel) = match text.split_once("::") {
            Some((file, "")) => (file, None),
            Some((file, kernel)) => (file, Some(kernel.to_owned())),
            None => (text, None),
        };
        Ok(Self { file: file.to_owned(), kernel })
    }
}

impl fmt::Display for KernelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kernel {
            Some(kernel) => write!(f, "{}::{kernel}", self.file),
            None => f.write_str(&self.file),
        }
    }
}

/// The kernels of a module, in order.
#[must_use]
pub fn kernels(program: &Program) -> Vec<FuncId> {
    let functions = program.functions.enumerate();
    let kernels = functions.filter(|(_, function)| function.is_kernel && function.is_defined());
    kernels.map(|(id, _)| id).collect()
}

/// The reason why a name selects no kernel, or more than one; displays as a sentence that lists the kernels.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the message says what each is, its fields what is quoted")]
pub enum SelectError {
    #[error("the file has no kernel")]
    NoKernel,
    #[error("the file has {count} kernels; name one, as in FILE::{example}: {kernels}")]
    Unnamed { count: usize, example: String, kernels: String },
    #[error("`{name}` matches {count} kernels: {kernels}")]
    Several { name: String, count: usize, kernels: String },
    #[error("there is no kernel `{name}`: the file has none")]
    NotInEmpty { name: String },
    #[error("there is no kernel `{name}`; did you mean {meant}?")]
    Misspelt { name: String, meant: String },
    #[error("there is no kernel `{name}`; the file has {kernels}")]
    Unknown { name: String, kernels: String },
    #[error(
        "the kernel `{name}` is a template, and the file does not instantiate it; request an instance, as in \
         '{file}::{example}'"
    )]
    Template { name: String, file: String, example: String },
}

/// Finds a kernel by name, or the only one if there is no name.
///
/// A name is compared in this order: with the kernels' names in the PTX; their source names; their source names
/// without types and namespaces; these with template arguments (`softmax<128>`); these with only the first arguments;
/// the beginning of any; a part of any. The first comparison with a result decides.
///
/// # Errors
/// If no kernel or more than one is found; the message lists the kernels.
pub fn select_kernel(program: &Program, name: Option<&str>) -> Result<FuncId, SelectError> {
    let kernels: Vec<Candidate> = program
        .functions
        .enumerate()
        .filter(|(_, function)| function.is_kernel && function.is_defined())
        .map(|(id, function)| Candidate::new(id, &function.name))
        .collect();
    let everything: Vec<&Candidate> = kernels.iter().collect();
    let Some(name) = name else {
        return match kernels.as_slice() {
            [only] => Ok(only.id),
            [] => Err(SelectError::NoKernel),
            [first, ..] => Err(SelectError::Unnamed {
                count: kernels.len(),
                example: first.shortest().to_owned(),
                kernels: list(&everything),
            }),
        };
    };
    let comparisons: [fn(&Candidate, &str) -> bool; 7] = [
        |kernel, name| kernel.mangled == name,
        |kernel, name| kernel.demangled.as_deref() == Some(name),
        |kernel, name| kernel.path == name || kernel.path.rsplit("::").next() == Some(name),
        Candidate::is_instance,
        Candidate::extends_instance,
        |kernel, name| {
            kernel.instances().any(|instance| instance.starts_with(&without_blanks(name)))
        },
        |kernel, name| {
            kernel.mangled.contains(name)
                || kernel.demangled.as_ref().is_some_and(|source| source.contains(name))
        },
    ];
    for compare in comparisons {
        let found: Vec<&Candidate> =
            kernels.iter().filter(|kernel| compare(kernel, name)).collect();
        match found.as_slice() {
            [] => {}
            [only] => return Ok(only.id),
            several => {
                let (name, count) = (name.to_owned(), several.len());
                return Err(SelectError::Several { name, count, kernels: list(several) });
            }
        }
    }
    if kernels.is_empty() {
        return Err(SelectError::NotInEmpty { name: name.to_owned() });
    }
    let names = kernels.iter().map(Candidate::shortest);
    Err(match closest(name, names) {
        Some(meant) => SelectError::Misspelt { name: name.to_owned(), meant: meant.to_owned() },
        None => SelectError::Unknown { name: name.to_owned(), kernels: list(&everything) },
    })
}

/// Returns `true` if a kernel's name in PTX is that of the template instance `name`, in the user's spelling.
pub(crate) fn is_instance(mangled: &str, name: &str) -> bool {
    mangled == name || Candidate::new(FuncId::from_position(0), mangled).is_instance(name)
}

/// Like [`is_instance`], for an instance with further template arguments.
pub(crate) fn extends_instance(mangled: &str, name: &str) -> bool {
    Candidate::new(FuncId::from_position(0), mangled).extends_instance(name)
}

/// The shortest name that selects a kernel, for a command line.
pub(super) fn short_name(program: &Program, kernel: FuncId) -> String {
    let name = &program.functions[kernel].name;
    let candidate = Candidate::new(kernel, name);
    let short = candidate.shortest();
    let selects = |name: &str| select_kernel(program, Some(name)) == Ok(kernel);
    match () {
        () if selects(short) => short.to_owned(),
        () if selects(&candidate.instance) => candidate.instance.replace(", ", ","),
        () => name.clone(),
    }
}

/// Returns the source name of a kernel without types and namespaces.
pub(crate) fn source_name(mangled: &str) -> String {
    Candidate::new(FuncId::from_position(0), mangled).shortest().to_owned()
}

struct Candidate {
    id: FuncId,
    mangled: String,
    demangled: Option<String>,
    /// The source name without return type, template arguments and parameters.
    path: String,
    /// The source name without return type and parameters: `ns::softmax<float, 4>`.
    instance: String,
}

impl Candidate {
    fn new(id: FuncId, mangled: &str) -> Self {
        let demangled = demangle(mangled);
        let shown = demangled.as_deref().unwrap_or(mangled);
        let (path, instance) = (bare_path(shown), without_signature(shown));
        Self { id, mangled: mangled.to_owned(), demangled, path, instance }
    }

    /// The name with template arguments, with namespaces and without, and without blanks.
    fn instances(&self) -> impl Iterator<Item = String> {
        let qualified = without_blanks(&self.instance);
        let short = qualified[namespaces(&qualified)..].to_owned();
        [qualified, short].into_iter()
    }

    /// Returns `true` if this is its name with template arguments.
    fn is_instance(&self, name: &str) -> bool {
        self.instances().any(|instance| instance == without_blanks(name))
    }

    /// Returns `true` if these are its first template arguments: `k<128, float>` also has the name `k<128>`.
    fn extends_instance(&self, name: &str) -> bool {
        let name = without_blanks(name);
        let Some(first) = name.strip_suffix('>').filter(|first| first.contains('<')) else {
            return false;
        };
        self.instances()
            .any(|instance| instance.strip_prefix(first).is_some_and(|rest| rest.starts_with(',')))
    }

    fn shortest(&self) -> &str {
        let short = if self.path.is_empty() { &self.mangled } else { &self.path };
        short.rsplit("::").next().unwrap_or(short)
    }

    fn readable_name(&self) -> &str {
        self.demangled.as_deref().unwrap_or(&self.mangled)
    }
}

/// Turns `void ns::softmax<float, 4>(float const*, int)` into `ns::softmax`.
pub(super) fn bare_path(name: &str) -> String {
    let name = name.replace("(anonymous namespace)::", "");
    let (mut depth, mut path) = (0_usize, String::new());
    for letter in name.chars() {
        match letter {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            '(' if depth == 0 => break,
            // The part so far was the return type.
            ' ' if depth == 0 => path.clear(),
            letter if depth == 0 => path.push(letter),
            _ => {}
        }
    }
    path
}

/// The position of the last name, after namespaces and classes.
fn namespaces(name: &str) -> usize {
    let (mut depth, mut start) = (0_usize, 0);
    for (at, letter) in name.char_indices() {
        match letter {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            ':' if depth == 0 => start = at + 1,
            _ => {}
        }
    }
    start
}

fn without_blanks(name: &str) -> String {
    name.split_whitespace().collect()
}

fn list(kernels: &[&Candidate]) -> String {
    let shown: Vec<&str> =
        kernels.iter().take(LONGEST_LIST).map(|kernel| kernel.readable_name()).collect();
    let more = kernels.len().saturating_sub(LONGEST_LIST);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::{bare_path, extends_instance, is_instance, namespaces, without_signature};

    #[test]
    fn instances_keep_template_arguments() {
        let table = [
            ("void ns::softmax<float, 4>(float const*, int)", "ns::softmax<float, 4>"),
            ("softmax(float*)", "softmax"),
            ("plain_name", "plain_name"),
        ];
        for (name, expected) in table {
            assert_eq!(without_signature(name), expected);
        }
        assert_eq!(namespaces("a<b::c>::k<d::e>"), 9);
        assert_eq!(namespaces("k"), 0);
    }

    #[test]
    fn the_first_arguments_name_an_instance() {
        let mangled = "_Z9layernormILi128EfEvPKT0_PS0_";
        assert!(is_instance(mangled, "layernorm<128, float>"));
        assert!(!is_instance(mangled, "layernorm<128>"));
        assert!(extends_instance(mangled, "layernorm<128>"));
        for name in
            ["layernorm<12>", "layernorm", "layernorm<>", "norm<128>", "layernorm<128, float>"]
        {
            assert!(!extends_instance(mangled, name), "{name}");
        }
    }

    #[test]
    fn source_names_lose_types_and_parameters() {
        let table = [
            ("void ns::softmax<float, 4>(float const*, int)", "ns::softmax"),
            ("softmax(float*)", "softmax"),
            ("(anonymous namespace)::k(int)", "k"),
            ("void a<b<c> >::k<(int)3>()", "a::k"),
            ("plain_name", "plain_name"),
            ("", ""),
        ];
        for (name, expected) in table {
            assert_eq!(bare_path(name), expected);
        }
    }
}
