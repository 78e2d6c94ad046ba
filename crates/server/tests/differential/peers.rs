//! The two servers: sending both the same, and collecting what differs.

use crate::Step;
use crate::common::PATIENCE;
use crate::compare::{self, Mask};
use caudal_generator::Words;
use caudal_wire::{Frame, frame};
use std::fmt;
use std::io::{Read, Write};
use std::net::TcpStream;

/// Keys are in these; MOVE, COPY and SELECT lead nowhere else.
const DATABASES: [&str; 2] = ["0", "1"];

/// Two servers that are to answer alike.
pub(crate) struct Peers {
    pub(crate) oracle: u16,
    pub(crate) tested: u16,
    pub(crate) is_valkey: bool,
}

/// What differs, and what led to it.
pub(crate) struct Divergence {
    /// Number of the step in its round; behind the last one for the comparison of all keys.
    pub(crate) step: usize,
    asked: Words,
    oracle: Answer,
    tested: Answer,
}

/// A reply as it came, or what came instead.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Answer {
    Reply(Frame, Vec<u8>),
    Closed(String),
}

impl Peers {
    /// Names of the commands that both have.
    pub(crate) fn commands_of_both(&self) -> Vec<String> {
        let mut names: Vec<String> = caudal_generator::names().map(str::to_owned).collect();
        names.dedup();
        for port in [self.oracle, self.tested] {
            let mut connection = Connection::open(port, false);
            names.retain(|name| {
                let words = ["COMMAND", "INFO", name].map(|word| word.as_bytes().to_vec());
                match connection.ask(&words) {
                    Answer::Reply(Frame::Array(found), _) => matches!(found[0], Frame::Array(_)),
                    other => panic!("{other:?}"),
                }
            });
        }
        names
    }

    /// Does all steps to empty servers, and compares all keys at the end.
    pub(crate) fn run(&self, steps: &[Step]) -> Result<(), Box<Divergence>> {
        let mut pairs = [false, true].map(|is_resp3| Pair::open(self, is_resp3));
        pairs[0].check(0, &words("FLUSHALL"), &Mask::Exact)?;
        for (number, step) in steps.iter().enumerate() {
            pairs[usize::from(step.is_resp3)].step(number, &step.commands)?;
        }
        pairs[0].compare_keys(steps.len())
    }
}

fn words(line: &str) -> Words {
    line.split(' ').map(|word| word.as_bytes().to_vec()).collect()
}

/// A connection to each server.
struct Pair {
    oracle: Connection,
    tested: Connection,
    is_valkey: bool,
}

impl Pair {
    fn open(peers: &Peers, is_resp3: bool) -> Self {
        let [oracle, tested] =
            [peers.oracle, peers.tested].map(|port| Connection::open(port, is_resp3));
        Self { oracle, tested, is_valkey: peers.is_valkey }
    }

    fn step(&mut self, number: usize, commands: &[Words]) -> Result<(), Box<Divergence>> {
        if let [command] = commands {
            return match compare::name(command).as_str() {
                "SPOP" => self.pop(number, command),
                "SCAN" | "SSCAN" | "HSCAN" | "ZSCAN" => self.scan(number, command),
                _ => self.check(number, command, &Mask::of(command)),
            };
        }
        let (last, queued) = commands.split_last().expect("a transaction has its ends");
        for command in queued {
            self.check(number, command, &Mask::Exact)?;
        }
        let masks = queued[1..].iter().map(Mask::of).collect();
        self.check(number, last, &Mask::Each(masks))
    }

    fn check(&mut self, step: usize, asked: &Words, mask: &Mask) -> Result<(), Box<Divergence>> {
        self.oracle.send(asked);
        self.tested.send(asked);
        let (oracle, tested) = (self.oracle.receive(), self.tested.receive());
        self.judge(step, asked, oracle, tested, mask)
    }

    fn judge(
        &self,
        step: usize,
        asked: &Words,
        oracle: Answer,
        tested: Answer,
        mask: &Mask,
    ) -> Result<(), Box<Divergence>> {
        let alike = match (&oracle, &tested) {
            (Answer::Reply(_, one), Answer::Reply(_, other)) if one == other => true,
            (Answer::Reply(one, _), Answer::Reply(other, _)) => {
                mask.accepts(one, other, self.is_valkey)
            }
            _ => false,
        };
        let asked = asked.clone();
        if alike { Ok(()) } else { Err(Box::new(Divergence { step, asked, oracle, tested })) }
    }

    /// SPOP takes any members: the reference then has to take the same.
    fn pop(&mut self, step: usize, asked: &Words) -> Result<(), Box<Divergence>> {
        let tested = self.tested.ask(asked);
        let members = match &tested {
            Answer::Reply(Frame::Bulk(member), _) => vec![member.clone()],
            Answer::Reply(Frame::Array(list) | Frame::Set(list), _) => {
                list.iter().map(compare::bytes).collect()
            }
            _ => Vec::new(),
        };
        if members.is_empty() {
            let oracle = self.oracle.ask(asked);
            return self.judge(step, asked, oracle, tested, &Mask::Exact);
        }
        let count = members.len();
        let remove: Words =
            [b"SREM".to_vec(), asked[1].clone()].into_iter().chain(members).collect();
        let oracle = self.oracle.ask(&remove);
        match oracle {
            Answer::Reply(Frame::Integer(removed), _) if removed == count as i64 => Ok(()),
            oracle => Err(Box::new(Divergence { step, asked: asked.clone(), oracle, tested })),
        }
    }

    /// Cursors and orders are each server's own: what a whole walk finds is compared.
    fn scan(&mut self, step: usize, asked: &Words) -> Result<(), Box<Divergence>> {
        let (oracle, tested) = (self.oracle.walk(asked), self.tested.walk(asked));
        self.judge(step, asked, oracle, tested, &Mask::Unordered)
    }

    fn compare_keys(&mut self, step: usize) -> Result<(), Box<Divergence>> {
        for database in DATABASES {
            self.check(step, &words(&format!("SELECT {database}")), &Mask::Exact)?;
            let all = words("KEYS *");
            self.check(step, &all, &Mask::Unordered)?;
            let Answer::Reply(Frame::Array(keys), _) = self.oracle.ask(&all) else {
                panic!("KEYS gives an array")
            };
            for key in keys.iter().map(compare::bytes) {
                let kind = self.oracle.ask(&[b"TYPE".to_vec(), key.clone()]);
                let Answer::Reply(Frame::Status(kind), _) = kind else { panic!("{kind:?}") };
                let content = match &kind[..] {
                    b"string" => "GET @",
                    b"list" => "LRANGE @ 0 -1",
                    b"set" => "SMEMBERS @",
                    b"hash" => "HGETALL @",
                    b"zset" => "ZRANGE @ 0 -1 WITHSCORES",
                    b"stream" => "XRANGE @ - +",
                    other => panic!("keys of type {}", other.escape_ascii()),
                };
                for line in ["TYPE @", content, "PTTL @"] {
                    let mut asked = words(line);
                    asked[1].clone_from(&key);
                    self.check(step, &asked, &Mask::of(&asked))?;
                }
            }
        }
        Ok(())
    }
}

/// A connection to one server.
struct Connection {
    stream: TcpStream,
    unread: Vec<u8>,
}

impl Connection {
    fn open(port: u16, is_resp3: bool) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut connection = Self { stream, unread: Vec::new() };
        if is_resp3 {
            connection.ask(&words("HELLO 3"));
        }
        connection
    }

    fn ask(&mut self, words: &[Vec<u8>]) -> Answer {
        self.send(words);
        self.receive()
    }

    fn send(&mut self, words: &[Vec<u8>]) {
        let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
        for word in words {
            bytes.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
            bytes.extend_from_slice(word);
            bytes.extend_from_slice(b"\r\n");
        }
        // A server that is gone shows when the reply does not come.
        let _ = self.stream.write_all(&bytes);
    }

    fn receive(&mut self) -> Answer {
        loop {
            match frame::parse(&self.unread) {
                Ok(Some((frame, len))) => {
                    let raw = self.unread.drain(..len).collect();
                    return Answer::Reply(frame, raw);
                }
                Ok(None) => {}
                Err(error) => return Answer::Closed(format!("no reply but {error}")),
            }
            let mut piece = [0; 16 << 10];
            match self.stream.read(&mut piece) {
                Ok(0) => return Answer::Closed("the connection was closed".to_owned()),
                Ok(len) => self.unread.extend_from_slice(&piece[..len]),
                Err(error) => return Answer::Closed(error.to_string()),
            }
        }
    }

    /// Follows the cursor of a SCAN to its end: all elements, or the first reply if it is none.
    fn walk(&mut self, asked: &Words) -> Answer {
        let at = usize::from(compare::name(asked) != "SCAN") + 1;
        let mut asked = asked.clone();
        let mut found = Vec::new();
        loop {
            match self.ask(&asked) {
                Answer::Reply(Frame::Array(mut reply), raw) if reply.len() == 2 => {
                    let elements = reply.pop();
                    let Some(Frame::Array(elements)) = elements else {
                        return Answer::Reply(Frame::Array(reply), raw);
                    };
                    found.extend(compare::grouped(&asked, elements));
                    asked[at] = compare::bytes(&reply[0]);
                    if asked[at] == b"0" {
                        return Answer::Reply(Frame::Array(found), Vec::from(b"a walk's"));
                    }
                }
                other => return other,
            }
        }
    }
}

impl Divergence {
    /// Whether a server did not answer.
    pub(crate) fn is_end(&self) -> bool {
        [&self.oracle, &self.tested].iter().any(|answer| matches!(answer, Answer::Closed(_)))
    }
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", compare::spell(&self.asked))?;
        writeln!(f, "  reference: {}", self.oracle)?;
        write!(f, "  caudal:    {}", self.tested)
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN_BYTES_MAX: usize = 600;
        match self {
            Self::Closed(why) => f.write_str(why),
            Self::Reply(frame, raw) if raw == b"a walk's" => write!(f, "{frame:?}"),
            Self::Reply(_, raw) => {
                write!(f, "{}", raw[..raw.len().min(SHOWN_BYTES_MAX)].escape_ascii())
            }
        }
    }
}
