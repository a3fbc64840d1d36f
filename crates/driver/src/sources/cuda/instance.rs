//! Compiles a file for a kernel that the user names. If it is an instance of a template that the file itself does not
//! instantiate, it is requested from the compiler.

use super::compile::{CompileOptions, Compiled, compile};
use super::error::CompileError;
use super::templates::kernel_templates;
use crate::arguments::{extends_instance, is_instance};
use std::path::Path;

/// Longer names are not taken for instances.
const MAX_LENGTH: usize = 512;

/// Compiles a file so that it has a kernel of this name, if possible.
pub(crate) fn compile_for(
    path: &Path,
    text: &str,
    kernel: Option<&str>,
    options: &CompileOptions,
) -> Result<Compiled, CompileError> {
    let compiled = compile(path, text, None, options)?;
    let Some(name) = kernel.filter(|name| is_expression(name)) else { return Ok(compiled) };
    let has = |fits: fn(&str, &str) -> bool| entries(&compiled.ptx).any(|entry| fits(entry, name));
    if has(is_instance) {
        return Ok(compiled);
    }
    match compile(path, text, Some(name), options) {
        Ok(instance) => Ok(instance),
        // nvcc cannot instantiate a template by its name.
        Err(CompileError::NoCompiler { .. }) => Ok(compiled),
        // The first template arguments may be enough, and a name may be wrong.
        Err(_) if has(extends_instance) || !is_template(text, name) => Ok(compiled),
        Err(CompileError::Refused { messages, command, .. }) => {
            Err(CompileError::Instance { name: name.to_owned(), messages, command })
        }
        Err(error) => Err(error),
    }
}

/// Returns `true` if a name may be an instance of a template, as an expression of C++.
fn is_expression(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_:<>, *&-".contains(c);
    name.len() <= MAX_LENGTH && name.contains('<') && name.ends_with('>') && name.chars().all(plain)
}

fn is_template(text: &str, name: &str) -> bool {
    let base = name.split('<').next().unwrap_or_default();
    let base = base.rsplit("::").next().unwrap_or_default().trim();
    kernel_templates(text).iter().any(|kernel_template| kernel_template.name == base)
}

/// Names of the kernels in a compiler's PTX.
fn entries(ptx: &str) -> impl Iterator<Item = &str> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    ptx.split(".entry ").skip(1).map(move |rest| &rest[..rest.find(|c| !is_name(c)).unwrap_or(0)])
}

#[cfg(test)]
mod tests {
    use super::{entries, is_expression};

    #[test]
    fn kernels_of_ptx_are_named() {
        let ptx = ".visible .entry _Z1kIfEvPT_(\n.param .u64 a)\n.entry other(.param .u64 b)";
        assert_eq!(entries(ptx).collect::<Vec<_>>(), ["_Z1kIfEvPT_", "other"]);
    }

    #[test]
    fn names_with_arguments_are_expressions() {
        for name in ["k<float>", "ns::k<float, -4>", "k<S<int>*>"] {
            assert!(is_expression(name), "{name}");
        }
        for name in
            ["k", "k<", "k<\"a\">", "k<1>; int x", "k<f(1)>", "k<\n#x>", &"k<1>".repeat(200)]
        {
            assert!(!is_expression(name), "{name}");
        }
    }
}
