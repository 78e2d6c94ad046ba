//! What the libraries and the sandbox answer, beside what a Valkey 9.1 answered.
//!
//! `reference.tsv` holds one script a line, a tab, and the reply's bytes, both escaped. Where the
//! two servers are meant to differ, `docs/compatibility.md` says so and the line is left out.

mod common;

use caudal_script::Vm;
use caudal_wire::Protocol;
use common::{Commands, reply};

fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        bytes.push(match rest.next().expect("an escape") {
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'x' => {
                let digits = [rest.next().expect("a digit"), rest.next().expect("a digit")];
                let digits = std::str::from_utf8(&digits).expect("digits");
                u8::from_str_radix(digits, 16).expect("digits")
            }
            other => other,
        });
    }
    bytes
}

#[test]
fn scripts_answer_as_the_reference_does() {
    let mut vm = Vm::new(1);
    let mut wrong = Vec::new();
    for (id, line) in include_str!("reference.tsv").lines().enumerate() {
        let (script, expected) = line.split_once('\t').expect("two columns");
        let (script, expected) = (unescape(script), unescape(expected));
        let found = reply(&mut vm, id as u64, &script, Protocol::Resp2, &mut Commands::default());
        if found != expected {
            let show = |bytes: &[u8]| bytes.escape_ascii().to_string();
            wrong.push(format!("{line}\n    {}", show(&found)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
