//! Messages over real sockets and threads: what was counted arrives, in order; what is kept by a
//! client that tracks is never stale.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use caudal_wire::{Frame, frame};
use common::{Server, each_shape};
use redis::{Commands, ControlFlow, PubSubCommands};
use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// A connection that reads frames, pushes too.
struct Wire {
    stream: TcpStream,
    bytes: Vec<u8>,
}

impl Wire {
    fn open(server: &Server) -> Wire {
        let mut wire = Wire { stream: server.connect(), bytes: Vec::new() };
        wire.say(&["HELLO", "3"]);
        wire
    }

    fn send(&mut self, words: &[&str]) {
        let mut bytes = format!("*{}\r\n", words.len());
        words.iter().for_each(|word| bytes.push_str(&format!("${}\r\n{word}\r\n", word.len())));
        self.stream.write_all(bytes.as_bytes()).unwrap();
    }

    fn next(&mut self) -> Frame {
        loop {
            if let Some((frame, used)) = frame::parse(&self.bytes).unwrap() {
                self.bytes.drain(..used);
                return frame;
            }
            let mut buffer = [0; 16 << 10];
            let received = self.stream.read(&mut buffer).unwrap();
            assert!(received > 0, "the connection was closed");
            self.bytes.extend_from_slice(&buffer[..received]);
        }
    }

    /// Runs a command that is answered by one frame, and drops what is pushed before.
    fn say(&mut self, words: &[&str]) -> Frame {
        self.send(words);
        loop {
            match self.next() {
                Frame::Push(_) => {}
                frame => return frame,
            }
        }
    }
}

/// A push as its texts.
fn texts(frame: &Frame) -> Vec<String> {
    let Frame::Push(frames) = frame else { return Vec::new() };
    let text = |frame: &Frame| match frame {
        Frame::Bulk(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        other => format!("{other:?}"),
    };
    frames.iter().map(text).collect()
}

#[test]
fn a_client_library_publishes_and_subscribes() {
    each_shape(&[], |server| {
        for protocol in ["", "?protocol=resp3"] {
            let (mut publisher, mut subscriber) =
                (server.client_with(protocol), server.client_with(protocol));
            let mut heard = Vec::new();
            let mut publish = |channel: &str, payload: &str| {
                let _: usize = publisher.publish(channel, payload).unwrap();
            };
            let result = thread::scope(|scope| {
                let listening = scope.spawn(|| {
                    subscriber.subscribe(&["news"], |message: redis::Msg| {
                        let text: String = message.get_payload().unwrap();
                        let is_last = text == "last";
                        heard.push(text);
                        if is_last { ControlFlow::Break(()) } else { ControlFlow::Continue }
                    })
                });
                let mut asking = server.client();
                let mut count = redis::cmd("PUBSUB");
                count.arg("NUMSUB").arg("news");
                loop {
                    let answer: (String, usize) = count.query(&mut asking).unwrap();
                    if answer.1 == 1 {
                        break;
                    }
                    thread::yield_now();
                }
                (0..100).for_each(|index| publish("news", &index.to_string()));
                publish("news", "last");
                listening.join()
            });
            result.unwrap().unwrap();
            let expected = (0..100).map(|index| index.to_string()).chain(["last".to_owned()]);
            assert!(heard.iter().eq(&expected.collect::<Vec<_>>()), "{heard:?}");
        }
    });
}

/// Publishes numbered messages; returns how many connections were said to get them.
fn publish_many(server: &Server, publisher: usize, messages: usize) -> i64 {
    let mut wire = Wire::open(server);
    let mut receivers = 0;
    for index in 0..messages {
        let Frame::Integer(count) = wire.say(&["PUBLISH", "ch", &format!("{publisher} {index}")])
        else {
            panic!("PUBLISH answers with a number")
        };
        receivers += count;
    }
    receivers
}

/// Subscribes and unsubscribes, again and again. Returns how many messages came.
fn come_and_go(server: &Server, is_over: &AtomicBool) -> i64 {
    let mut wire = Wire::open(server);
    let (mut heard, mut last) = (0, HashMap::new());
    while !is_over.load(Ordering::SeqCst) {
        wire.send(&["SUBSCRIBE", "ch"]);
        wire.send(&["PSUBSCRIBE", "c?"]);
        wire.send(&["UNSUBSCRIBE"]);
        wire.send(&["PUNSUBSCRIBE"]);
        let mut is_subscribed = false;
        loop {
            let push = texts(&wire.next());
            match push[0].as_str() {
                "subscribe" => is_subscribed = true,
                "unsubscribe" => is_subscribed = false,
                "psubscribe" => {}
                "punsubscribe" => break,
                "pmessage" => heard += 1,
                "message" => {
                    assert!(is_subscribed, "messages come while the subscription lasts");
                    heard += 1;
                    let (publisher, index) = push[2].split_once(' ').unwrap();
                    let index: i64 = index.parse().unwrap();
                    let before = last.insert(publisher.to_owned(), index);
                    assert!(before.is_none_or(|before| before < index), "in order");
                }
                other => panic!("{other}"),
            }
        }
    }
    heard
}

#[test]
fn exactly_those_that_were_counted_get_the_message_while_subscribers_come_and_go() {
    each_shape(&[], |server| {
        let is_over = AtomicBool::new(false);
        let (counted, heard) = thread::scope(|scope| {
            let subscribers: Vec<_> =
                (0..4).map(|_| scope.spawn(|| come_and_go(server, &is_over))).collect();
            let publishers: Vec<_> =
                (0..2).map(|at| scope.spawn(move || publish_many(server, at, 1000))).collect();
            let counted: i64 = publishers.into_iter().map(|at| at.join().unwrap()).sum();
            is_over.store(true, Ordering::SeqCst);
            let heard: i64 = subscribers.into_iter().map(|at| at.join().unwrap()).sum();
            (counted, heard)
        });
        assert_eq!(counted, heard, "{}", server.shape.unwrap());
        let mut wire = Wire::open(server);
        assert_eq!(wire.say(&["PUBSUB", "NUMPAT"]), Frame::Integer(0));
    });
}

/// Reads keys and keeps what it read until it is told otherwise. Returns what it keeps in the end.
fn keep_copies(wire: &mut Wire, is_over: &AtomicBool) -> HashMap<String, Frame> {
    let mut copies: HashMap<String, Frame> = HashMap::new();
    let mut asked: Option<String> = None;
    let mut round = 0;
    loop {
        if asked.is_none() {
            // The last round begins after the last write: what it does not hear it never will.
            let is_last = is_over.load(Ordering::SeqCst);
            round += 1;
            let key = format!("k{}", round % 5);
            if is_last {
                wire.send(&["PING"]);
                loop {
                    match wire.next() {
                        Frame::Status(_) => return copies,
                        push => forget(&mut copies, &push),
                    }
                }
            }
            if !copies.contains_key(&key) {
                wire.send(&["GET", &key]);
                asked = Some(key);
            } else {
                wire.send(&["ECHO", "x"]);
                asked = Some(String::new());
            }
        }
        match wire.next() {
            push @ Frame::Push(_) => forget(&mut copies, &push),
            value => {
                let key = asked.take().unwrap();
                if !key.is_empty() {
                    copies.insert(key, value);
                }
            }
        }
    }
}

fn forget(copies: &mut HashMap<String, Frame>, push: &Frame) {
    let Frame::Push(frames) = push else { panic!("{push:?}") };
    let Frame::Array(keys) = &frames[1] else { panic!("{push:?}") };
    for key in keys {
        let Frame::Bulk(key) = key else { panic!("{push:?}") };
        copies.remove(&String::from_utf8_lossy(key).into_owned());
    }
}

#[test]
fn a_client_that_tracks_never_keeps_a_stale_copy() {
    each_shape(&[], |server| {
        for mode in [&["CLIENT", "TRACKING", "ON"][..], &["CLIENT", "TRACKING", "ON", "BCAST"]] {
            let is_over = AtomicBool::new(false);
            let mut wires: Vec<Wire> = (0..2).map(|_| Wire::open(server)).collect();
            wires.iter_mut().for_each(|wire| {
                wire.say(mode);
            });
            let kept = thread::scope(|scope| {
                let readers: Vec<_> = wires
                    .iter_mut()
                    .map(|wire| scope.spawn(|| keep_copies(wire, &is_over)))
                    .collect();
                let writers: Vec<_> = (0..2)
                    .map(|_| {
                        scope.spawn(|| {
                            let mut wire = Wire::open(server);
                            for index in 0..1000 {
                                wire.say(&["INCR", &format!("k{}", index % 5)]);
                            }
                        })
                    })
                    .collect();
                writers.into_iter().for_each(|writer| writer.join().unwrap());
                is_over.store(true, Ordering::SeqCst);
                readers.into_iter().map(|reader| reader.join().unwrap()).collect::<Vec<_>>()
            });
            let mut wire = Wire::open(server);
            for (key, value) in kept.iter().flatten() {
                let now = wire.say(&["GET", key]);
                assert_eq!(&now, value, "{key} in {}", server.shape.unwrap());
            }
        }
    });
}
