//! A store with a few commands, for machines without an engine.
#![allow(dead_code, reason = "each test file uses what it needs")]

use caudal_commands::Args;
use caudal_script::{AclError, Ended, Host, LogLevel, Source, Stop, Vm};
use caudal_wire::{Output, Protocol, Reply};
use std::io::IoSlice;

/// PING, ECHO, and RAW, whose argument is its reply. Counts polls, and stops at a given one.
#[derive(Default)]
pub(crate) struct Commands {
    pub(crate) calls: Vec<Vec<Vec<u8>>>,
    pub(crate) polls: usize,
    pub(crate) stop_at: Option<usize>,
}

impl Host for Commands {
    fn call(&mut self, args: Args<'_>, protocol: Protocol, reply: &mut Output) -> Result<(), Stop> {
        self.calls.push(args.from(0).map(<[u8]>::to_vec).collect());
        let mut reply = Reply::new(reply, protocol);
        match args.at(0) {
            b"ping" => reply.status("PONG"),
            b"echo" => reply.bulk(args.at(1)),
            b"count" => reply.integer(i64::try_from(args.len()).unwrap_or(i64::MAX)),
            b"raw" => reply.raw(args.at(1)),
            b"stop" => return Err(Stop::RunsAgain),
            _ => reply.error("ERR Unknown command called from script"),
        }
        Ok(())
    }

    fn log(&mut self, _: LogLevel, _: &[u8]) {}

    fn may_call(&mut self, args: Args<'_>) -> Result<bool, AclError> {
        if args.at(0) == b"nosuch" { Err(AclError) } else { Ok(true) }
    }

    fn poll(&mut self) -> Option<Stop> {
        self.polls += 1;
        (self.stop_at == Some(self.polls)).then_some(Stop::Killed)
    }
}

/// Runs a script and gives its reply's bytes; `STOPPED` if it was stopped.
pub(crate) fn reply(
    vm: &mut Vm,
    id: u64,
    text: &[u8],
    protocol: Protocol,
    host: &mut Commands,
) -> Vec<u8> {
    let mut output = Output::default();
    let none = || std::iter::empty::<&[u8]>().collect::<Vec<_>>().into_iter();
    let outcome = vm
        .run(Source { id, text }, none(), none(), host)
        .and_then(|returned| vm.reply(&returned, &mut Reply::new(&mut output, protocol)));
    match outcome {
        Ok(_) => {
            let mut slices = [IoSlice::new(&[]); 64];
            let count = output.slices(&mut slices);
            slices[..count].iter().flat_map(|slice| slice.to_vec()).collect()
        }
        Err(Ended::Error { text, .. }) => [b"-", &text[..], b"\r\n"].concat(),
        Err(Ended::Stopped(..)) => b"STOPPED".to_vec(),
    }
}
