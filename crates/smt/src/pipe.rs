//! The pipes to and from a solver, each on a thread of its own and bounded: a program that hangs, reads nothing or
//! prints for ever costs a time-out and no memory.

use std::io::{BufRead, Read, Write};
use std::sync::mpsc::{Sender, channel};

/// Bytes of a line; no answer has longer ones.
pub(crate) const MAX_LINE_BYTES: u64 = 1 << 16;

/// Reads a line without its end. `None` at the end of the output, or if the line is too long.
pub(crate) fn read_line(output: &mut impl BufRead) -> Option<String> {
    let mut line = String::new();
    output.by_ref().take(MAX_LINE_BYTES).read_line(&mut line).ok()?;
    line.ends_with('\n').then(|| {
        line.truncate(line.trim_end_matches(['\r', '\n']).len());
        line
    })
}

/// Starts a thread that writes texts to the solver, in order. Sending fails once the solver has ended.
pub(crate) fn spawn_writer(mut input: impl Write + Send + 'static) -> Sender<String> {
    let (sender, texts) = channel::<String>();
    std::thread::spawn(move || {
        for text in texts {
            if input.write_all(text.as_bytes()).and_then(|()| input.flush()).is_err() {
                break;
            }
        }
    });
    sender
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_bounded() {
        let mut two = &b"one\r\ntwo"[..];
        assert_eq!(read_line(&mut two).as_deref(), Some("one"));
        assert_eq!(read_line(&mut two), None, "cut off");
        let mut endless = std::io::BufReader::new(std::io::repeat(b'x'));
        assert_eq!(read_line(&mut endless), None);
    }
}
