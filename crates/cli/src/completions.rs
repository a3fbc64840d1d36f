//! Scripts that complete commands and flags in a shell, and kernel names: `FILE::<TAB>`.
//!
//! The scripts of `clap` cannot look into files. So in shells whose scripts can be extended, words with `::` are
//! completed by asking this program.

use crate::args::Args;
use crate::console::Console;
use clap::CommandFactory;
use clap_complete::Shell;
use driver::Exit;
use std::path::Path;

/// A colon ends a word for bash unless the user's settings differ; then the text after the last colon is replaced.
const BASH: &str = r#"
_warpproof_or_kernels() {
    local word=${COMP_LINE:0:COMP_POINT}
    word=${word##*[[:space:]]}
    if [[ $word != *::* ]]; then
        _warpproof "$@"
        return
    fi
    local IFS=$'\n'
    COMPREPLY=($(warpproof complete-kernel "$word" 2>/dev/null))
    if [[ $COMP_WORDBREAKS == *:* ]]; then
        COMPREPLY=("${COMPREPLY[@]#"${word%"${word##*:}"}"}")
    fi
}
complete -o nosort -o bashdefault -o default -F _warpproof_or_kernels warpproof
"#;

const ZSH: &str = r#"
_warpproof_or_kernels() {
    if [[ $PREFIX == *::* ]]; then
        local -a kernels
        kernels=(${(f)"$(warpproof complete-kernel ${(Q)PREFIX} 2>/dev/null)"})
        compadd -a kernels
    else
        _warpproof "$@"
    fi
}
compdef _warpproof_or_kernels warpproof
"#;

const FISH: &str = r#"
complete -c warpproof -n "string match -q '*::*' -- (commandline -ct)" -f -a "(warpproof complete-kernel (commandline -ct) 2>/dev/null)"
"#;

/// Writes the script of a shell.
pub(crate) fn write(shell: Shell, console: &Console) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "warpproof", &mut script);
    let kernels = match shell {
        Shell::Bash => BASH,
        Shell::Zsh => ZSH,
        Shell::Fish => FISH,
        _ => "",
    };
    console.write_out(&format!("{}{kernels}", String::from_utf8_lossy(&script)));
    Exit::Success
}

/// Writes the kernels that match a word `FILE::BEGINNING`, each as the whole word, one a line.
pub(crate) fn write_kernels(word: &str, console: &Console) -> Exit {
    let Some((file, start)) = word.rsplit_once("::") else { return Exit::Success };
    let home = std::env::var("HOME").unwrap_or_default();
    let path = match file.strip_prefix("~/") {
        Some(rest) => Path::new(&home).join(rest),
        None => Path::new(file).to_path_buf(),
    };
    for name in driver::kernel_names(&path) {
        if name.starts_with(start) {
            console.write_out(&format!("{file}::{name}\n"));
        }
    }
    Exit::Success
}
