//! Selects a kernel of a text, with the preconditions on its launches.

use super::reading::Text;
use base::SourceFile;
use kir::Kernel;

/// The reason why there is no kernel.
pub(super) enum Refusal {
    /// The options select none, or several.
    Usage(String),
    /// It is wrong, or cannot be read.
    Read(Box<base::Diagnostic>),
}

/// The selected kernel.
pub(super) fn select(text: &Text, name: Option<&str>) -> Result<Kernel, Refusal> {
    let kernels = cuda_front::kernels_in(&text.read).map_err(Refusal::Read)?;
    choose(&text.input.source, name, kernels)
}

/// Like [`select`], with more preconditions. Each applies if the kernel has its names; it is then removed from
/// `unused`.
pub(super) fn select_with_requirements(
    text: &Text,
    name: Option<&str>,
    (preconditions, names): (&[String], &[(String, String)]),
    unused: &mut Vec<String>,
) -> Result<Kernel, Refusal> {
    let mut used = Vec::new();
    for precondition in preconditions {
        let one = std::slice::from_ref(precondition);
        let kernels = cuda_front::kernels_with(&text.read, one, names).map_err(|error| {
            Refusal::Usage(format!("--requires `{precondition}`: {}", error.message))
        })?;
        let wanted = |kernel: &str| name.is_none_or(|name| name == kernel);
        if kernels.iter().any(|((kernel, _), has)| *has && wanted(kernel)) {
            used.push(precondition.clone());
        }
    }
    unused.retain(|one| !used.contains(one));
    let kernels = cuda_front::kernels_with(&text.read, &used, names).map_err(Refusal::Read)?;
    choose(&text.input.source, name, kernels.into_iter().map(|(parsed, _)| parsed).collect())
}

pub(super) fn choose(
    source: &SourceFile,
    name: Option<&str>,
    kernels: Vec<cuda_front::Parsed>,
) -> Result<Kernel, Refusal> {
    let names: Vec<&str> = kernels.iter().map(|(name, _)| name.as_str()).collect();
    let listed = format!("`{}`", names.join("`, `"));
    let (file, count) = (source.name(), kernels.len());
    let position = match name {
        None if count == 1 => 0,
        None if count == 0 => {
            return Err(Refusal::Usage(format!("`{file}` has no kernel (`__global__`)")));
        }
        None => {
            let message = format!("`{file}` has {count} kernels, give FILE::KERNEL: {listed}");
            return Err(Refusal::Usage(message));
        }
        Some(name) if names.iter().filter(|one| **one == name).count() > 1 => {
            let message =
                format!("`{file}` has several kernels `{name}`, which cannot be distinguished");
            return Err(Refusal::Usage(message));
        }
        Some(name) => names.iter().position(|one| *one == name).ok_or_else(|| {
            Refusal::Usage(format!("`{file}` has no kernel `{name}`; it has {listed}"))
        })?,
    };
    match kernels.into_iter().nth(position) {
        Some((_, kernel)) => kernel.map_err(Refusal::Read),
        None => Err(Refusal::Usage(format!("`{file}` has no kernel (`__global__`)"))),
    }
}
