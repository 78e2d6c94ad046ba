//! What several tests of messages need: reading all that a connection got.

use caudal_engine::local::{Client, Local, encode, spell};

/// All that a connection has got, frame by frame.
pub(crate) fn heard(local: &mut Local, client: Client) -> Vec<String> {
    let bytes = local.receive(client);
    let mut at = 0;
    let mut frames = Vec::new();
    while at < bytes.len() {
        let (frame, used) = caudal_wire::frame::parse(&bytes[at..])
            .expect("frames are well formed")
            .expect("frames are whole");
        frames.push(spell(&frame));
        at += used;
    }
    frames
}

/// Sends several commands at once and gives all replies.
#[allow(dead_code, reason = "not every test that includes this file does")]
pub(crate) fn pipeline(local: &mut Local, client: Client, lines: &[&str]) -> Vec<String> {
    let command =
        |line: &&str| encode(&caudal_text::words::split(line.as_bytes()).expect("balanced quotes"));
    let bytes: Vec<u8> = lines.iter().flat_map(command).collect();
    local.send(client, &bytes);
    heard(local, client)
}

/// Sends one command and gives all that came back.
#[allow(dead_code, reason = "not every test that includes this file does")]
pub(crate) fn say(local: &mut Local, client: Client, line: &str) -> Vec<String> {
    pipeline(local, client, &[line])
}
