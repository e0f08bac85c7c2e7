// SPDX-License-Identifier: GPL-2.0

//! The control socket: one request a line, payload lines, then `ok` or `error: REASON`.

mod memory;
mod requests;
mod scribble;
mod wait;

use std::io::{
    BufRead,
    BufReader,
    Write, //
};
use std::os::unix::net::{
    UnixListener,
    UnixStream, //
};
use std::path::Path;
use std::sync::Arc;

pub use requests::Answer;

use crate::device::Shared;

pub use requests::perform;

/// Longest request that is read.
const MAX_LINE: u64 = 1 << 20;

/// Listens and serves clients, each in a thread of its own.
///
/// # Errors
///
/// If the socket cannot be made.
pub fn serve(path: &Path, shared: Arc<Shared>) -> std::io::Result<()> {
    let listener = UnixListener::bind(path)?;
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let shared = shared.clone();
            // A client that goes away in the middle is no reason to stop.
            std::thread::spawn(move || client(&stream, &shared));
        }
    });
    Ok(())
}

fn client(stream: &UnixStream, shared: &Shared) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut writer = stream;
    loop {
        let mut line = String::new();
        let n = std::io::Read::take(&mut reader, MAX_LINE).read_line(&mut line)?;
        if n == 0 {
            return Ok(());
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        if words.is_empty() {
            continue;
        }
        let mut answer = String::new();
        match requests::run(shared, &words) {
            Ok(lines) => {
                for l in lines {
                    answer.push_str(&l);
                    answer.push('\n');
                }
                answer.push_str("ok\n");
            }
            Err(reason) => answer.push_str(&format!("error: {reason}\n")),
        }
        writer.write_all(answer.as_bytes())?;
    }
}
