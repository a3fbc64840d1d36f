//! Decides which lines of a compiler's messages are shown.
//!
//! A compiler quotes the lines it complains about and the names in them. A source may include any file that the user
//! can read, so a quotation could show its contents to every reader of the messages (in a public CI log). Only files
//! below the kernel's folder and below the given folders are quoted. For others, the toolkit's own among them, only
//! name and line are shown. If a source includes a file from elsewhere, or one whose name is unknown here, messages
//! about other files are shortened as well: a macro can carry text from that file into them.

use crate::output::is_below;
use crate::render::escape;
use std::path::{Path, PathBuf};

/// Folders whose files are quoted.
#[derive(Clone, Debug)]
pub(super) struct Quoting {
    folders: Vec<PathBuf>,
    /// The name of a text that the user gave without a file.
    text: Option<PathBuf>,
    /// The folder of the project that names the kernel, if one does. Nothing outside of it is quoted.
    project: Option<PathBuf>,
    /// Any message may contain text from elsewhere.
    mixed: bool,
}

/// The replacement for a hidden message.
const HIDDEN: &str =
    "not shown: it may quote a file outside the kernel's folder (-I FOLDER allows one)";

/// Further hidden messages are counted.
const MAX_HIDDEN: usize = 5;

/// NVRTC's messages use this file name for the requested instances.
const ASKED_NAMES: &str = "__nv_name_map";

impl Quoting {
    /// Decides for a kernel in a folder that includes these files; `None` if some are unknown.
    pub(super) fn new(
        kernel: &Path,
        (given, project): (&[PathBuf], Option<&Path>),
        included: Option<&[(PathBuf, String)]>,
    ) -> Self {
        let folder = kernel.parent().map(Path::to_path_buf).unwrap_or_default();
        let folders: Vec<PathBuf> = std::iter::once(folder).chain(given.iter().cloned()).collect();
        let project = project.map(Path::to_path_buf);
        let mut quoting = Self { folders, text: None, project, mixed: false };
        quoting.mixed = !quoting.is_quoted(kernel)
            || included.is_none_or(|files| files.iter().any(|(file, _)| !quoting.is_quoted(file)));
        quoting
    }

    /// Decides for a text given without a file, which only the user can have written.
    pub(super) fn of_memory(
        name: &Path,
        given: &[PathBuf],
        included: Option<&[(PathBuf, String)]>,
    ) -> Self {
        let text = Some(name.to_path_buf());
        let mut quoting = Self { folders: given.to_vec(), text, project: None, mixed: false };
        quoting.mixed =
            included.is_none_or(|files| files.iter().any(|(file, _)| !quoting.is_quoted(file)));
        quoting
    }

    fn is_quoted(&self, file: &Path) -> bool {
        if self.text.as_deref() == Some(file) {
            return true;
        }
        let in_project = self.project.as_ref().is_none_or(|project| is_below(file, project));
        in_project && self.folders.iter().any(|folder| is_below(file, folder))
    }

    /// A compiler's messages, as far as they are shown, each line with a mark before it.
    pub(super) fn messages(&self, log: &str) -> String {
        let (mut shown, mut hidden) = (String::new(), 0_usize);
        let mut quotes = !self.mixed;
        for line in log.lines() {
            let text = match place(line) {
                Some((file, head)) => {
                    let is_quoted = file == ASKED_NAMES || self.is_quoted(Path::new(file));
                    quotes = !self.mixed && is_quoted;
                    hidden += usize::from(!quotes);
                    match quotes {
                        true => line.to_owned(),
                        false if hidden > MAX_HIDDEN => continue,
                        false => format!("{head}: {HIDDEN}"),
                    }
                }
                // A continuation of the previous message.
                None if quotes => line.to_owned(),
                None => continue,
            };
            shown.push_str(&format!("  | {}\n", escape::line(&text)));
        }
        if hidden > MAX_HIDDEN {
            shown.push_str(&format!("  | and {} more that are not shown\n", hidden - MAX_HIDDEN));
        }
        if shown.is_empty() {
            shown = format!("  | {HIDDEN}\n");
        }
        shown
    }
}

/// The file of a message, and the line up to its text: `k.cu(3): error: …`, `k.cu:3:1: error: …`.
fn place(line: &str) -> Option<(&str, &str)> {
    if line.starts_with(char::is_whitespace) {
        return None;
    }
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if let Some((head, _)) = line.split_once("): ")
        && let Some((file, number)) = head.rsplit_once('(')
        && digits(number)
    {
        return Some((file, &line[..head.len() + 1]));
    }
    // With line and column, or the line alone; a name may have colons.
    let mut at = 0;
    while let Some(colon) = line[at..].find(':') {
        let (file, rest) = (&line[..at + colon], &line[at + colon + 1..]);
        if let Some((number, _)) = rest.split_once(':')
            && digits(number)
        {
            return Some((file, &line[..file.len() + 1 + number.len()]));
        }
        at += colon + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_messages_are_read() {
        assert_eq!(place("k.cu(3): error: x"), Some(("k.cu", "k.cu(3)")));
        assert_eq!(
            place("../a (b)/k.h(12): warning #1-D: y"),
            Some(("../a (b)/k.h", "../a (b)/k.h(12)"))
        );
        assert_eq!(place("/x/k.cu:3:7: fatal error: y"), Some(("/x/k.cu", "/x/k.cu:3")));
        assert_eq!(place("    3 | root:x:0:0:root"), None);
        assert_eq!(place("1 error detected in the compilation"), None);
    }

    #[test]
    fn only_files_of_the_folder_are_quoted() {
        let root = std::env::temp_dir().join(format!("warpproof-quoting-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&root);
        let folder = root.join("project");
        std::fs::create_dir_all(folder.join("inner")).unwrap();
        let [kernel, inner, secret] =
            ["project/k.cu", "project/inner/a.h", "secret.h"].map(|name| root.join(name));
        for file in [&kernel, &inner, &secret] {
            std::fs::write(file, "text\n").unwrap();
        }
        let files = |files: &[&PathBuf]| -> Vec<(PathBuf, String)> {
            files.iter().map(|&file| (file.clone(), String::new())).collect()
        };
        let log = format!(
            "{}(1): error: expected a \";\"\n  quoted here\n  ^\n\n{}(1): error: `token` is wrong\n  \
             secret line\n  ^\n2 errors\n",
            kernel.display(),
            secret.display()
        );
        let own = Quoting::new(&kernel, (&[], None), Some(&files(&[&inner])));
        let shown = own.messages(&log);
        assert!(shown.contains("quoted here") && shown.contains("secret.h(1)"), "{shown}");
        assert!(!shown.contains("secret line") && !shown.contains("token"), "{shown}");
        // Only some of many hidden messages are listed; the rest are counted.
        let many = own.messages(&log.repeat(8));
        assert!(many.contains("and 3 more that are not shown"), "{many}");
        let asked = "__nv_name_map(2): error: too many arguments\n";
        assert!(own.messages(asked).contains("too many arguments"));
        // If the kernel includes a file from elsewhere, nothing is quoted, even for errors in the kernel.
        for included in [Some(files(&[&inner, &secret])), None] {
            let shown = Quoting::new(&kernel, (&[], None), included.as_deref()).messages(&log);
            assert!(!shown.contains("quoted here") && !shown.contains("secret line"), "{shown}");
            assert!(shown.contains("k.cu(1): not shown"), "{shown}");
        }
        // Unless the user names its folder.
        let given = [root.clone()];
        let shown = Quoting::new(&kernel, (&given, None), Some(&files(&[&secret]))).messages(&log);
        assert!(shown.contains("secret line"), "{shown}");
        // A project quotes nothing outside of its folder.
        let kernels = (&given[..], Some(folder.as_path()));
        let shown = Quoting::new(&kernel, kernels, Some(&files(&[&secret]))).messages(&log);
        assert!(!shown.contains("secret line"), "{shown}");
        // The target of a link counts, not its name.
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&secret, folder.join("link.cu")).unwrap();
            let kernel = folder.join("link.cu");
            let shown = Quoting::new(&kernel, (&[], None), Some(&[]))
                .messages("link.cu(1): error: token\n x");
            assert!(!shown.contains("token"), "{shown}");
        }
        std::fs::remove_dir_all(&root).unwrap();
    }
}
