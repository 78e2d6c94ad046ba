//! What clients see, over each back end and number of threads: through the `redis` crate, and byte
//! by byte where a client library would not go.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use common::{Scratch, Server, ask, each_shape, expect, expect_end};
use redis::{Commands, ConnectionLike, RedisResult, Value, cmd, pipe};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::Duration;

#[test]
fn every_type_makes_its_round_trip() {
    each_shape(&[], |server| {
        for protocol in ["", "?protocol=resp3"] {
            let mut client = server.client_with(protocol);
            strings(&mut client);
            lists(&mut client);
            hashes(&mut client);
            sets(&mut client);
            sorted_sets(&mut client);
            let removed: usize =
                client.del(&["string", "n", "list", "hash", "set", "zset"]).unwrap();
            assert_eq!(removed, 6);
        }
    });
}

fn strings(client: &mut redis::Connection) {
    let bytes: Vec<u8> = (0..=255).collect();
    let () = client.set("string", &bytes).unwrap();
    assert_eq!(client.get::<_, Vec<u8>>("string").unwrap(), bytes);
    assert_eq!(client.get::<_, Option<String>>("none").unwrap(), None);
    assert_eq!(client.incr::<_, _, i64>("n", -7).unwrap(), -7);
    let error = client.incr::<_, _, i64>("string", 1).unwrap_err();
    assert!(error.to_string().contains("value is not an integer or out of range"), "{error}");
}

fn lists(client: &mut redis::Connection) {
    let words: Vec<String> = (0..1000).map(|index| format!("word {index}")).collect();
    assert_eq!(client.rpush::<_, _, usize>("list", &words).unwrap(), 1000);
    assert_eq!(client.lrange::<_, Vec<String>>("list", 0, -1).unwrap(), words);
    assert_eq!(client.lpop::<_, Option<String>>("list", None).unwrap().unwrap(), words[0]);
}

fn hashes(client: &mut redis::Connection) {
    let fields: Vec<(String, i64)> =
        (0..1000).map(|index| (format!("f{index}"), index * index)).collect();
    let () = client.hset_multiple("hash", &fields).unwrap();
    let all: HashMap<String, i64> = client.hgetall("hash").unwrap();
    assert_eq!(all, fields.into_iter().collect());
}

fn sets(client: &mut redis::Connection) {
    let members: BTreeSet<String> = (0..1000).map(|index| format!("m{index}")).collect();
    assert_eq!(client.sadd::<_, _, usize>("set", &members).unwrap(), 1000);
    assert_eq!(client.smembers::<_, BTreeSet<String>>("set").unwrap(), members);
}

fn sorted_sets(client: &mut redis::Connection) {
    let members: Vec<(f64, String)> =
        (0..1000).map(|index| (f64::from(index) / 8.0, format!("m{index}"))).collect();
    assert_eq!(client.zadd_multiple::<_, _, _, usize>("zset", &members).unwrap(), 1000);
    let all: Vec<(String, f64)> = client.zrange_withscores("zset", 0, -1).unwrap();
    let wanted: Vec<(String, f64)> =
        members.into_iter().map(|(score, name)| (name, score)).collect();
    assert_eq!(all, wanted);
}

#[test]
fn a_pipeline_of_ten_thousand_is_answered_in_order() {
    const LEN: i64 = 10_000;
    each_shape(&[], |server| {
        let mut client = server.client();
        let mut pipeline = pipe();
        for index in 0..LEN {
            pipeline.set(format!("key:{}", index % 1000), index).ignore();
            pipeline.get(format!("key:{}", index % 1000));
        }
        let got: Vec<i64> = pipeline.query(&mut client).unwrap();
        assert_eq!(got, (0..LEN).collect::<Vec<_>>());
    });
}

#[test]
fn transactions_are_whole() {
    each_shape(&[], |server| {
        let (mut one, mut two) = (server.client(), server.client());
        let (first, second): (i64, i64) =
            pipe().atomic().incr("a", 1).incr("b", 2).query(&mut one).unwrap();
        assert_eq!((first, second), (1, 2));
        // A watched key that changes: the transaction runs again, on the new value.
        let mut attempts = 0;
        let (total,): (i64,) = redis::transaction(&mut one, &["a"], |client, pipe| {
            let seen: i64 = client.get("a")?;
            attempts += 1;
            if attempts == 1 {
                let () = two.set("a", 10)?;
            }
            pipe.set("a", seen + 1).ignore().get("a").query(client)
        })
        .unwrap();
        assert_eq!((total, attempts), (11, 2));
        // One command that fails does not undo the others.
        let () = one.set("text", "x").unwrap();
        let failed: RedisResult<(i64, i64)> =
            pipe().atomic().incr("a", 1).incr("text", 1).query(&mut one);
        assert!(failed.is_err());
        assert_eq!(one.get::<_, i64>("a").unwrap(), 12);
    });
}

#[test]
fn transactions_of_many_clients_never_mix() {
    const CLIENTS: i64 = 8;
    const ROUNDS: i64 = 100;
    each_shape(&[], |server| {
        std::thread::scope(|scope| {
            for _ in 0..CLIENTS {
                scope.spawn(|| {
                    let mut client = server.client();
                    for _ in 0..ROUNDS {
                        let (a, b): (i64, i64) =
                            pipe().atomic().incr("x", 1).incr("y", 1).query(&mut client).unwrap();
                        assert_eq!(a, b);
                        let both: (i64, i64) = client.mget(&["x", "y"]).unwrap();
                        assert_eq!(both.0, both.1);
                    }
                });
            }
        });
        let total: i64 = server.client().get("x").unwrap();
        assert_eq!(total, CLIENTS * ROUNDS);
    });
}

#[test]
fn a_blocking_pop_waits_for_another_connection() {
    each_shape(&[], |server| {
        let mut pushing = server.client();
        std::thread::scope(|scope| {
            let waiters: Vec<_> = (0..4)
                .map(|_| {
                    scope.spawn(|| {
                        let mut client = server.client();
                        let got: (String, String) = client.blpop(&["p", "q"], 0.0).unwrap();
                        got
                    })
                })
                .collect();
            until(|| blocked(&mut pushing) == 4);
            let () = pushing.rpush("q", &["1", "2"]).unwrap();
            let () = pushing.rpush("p", &["3", "4", "5"]).unwrap();
            let got: BTreeMap<String, String> = waiters
                .into_iter()
                .map(|waiter| waiter.join().unwrap())
                .map(|(key, element)| (element, key))
                .collect();
            let wanted = [("1", "q"), ("2", "q"), ("3", "p"), ("4", "p")];
            assert_eq!(got, wanted.map(|(e, k)| (e.to_owned(), k.to_owned())).into());
        });
        assert_eq!(pushing.lrange::<_, Vec<String>>("p", 0, -1).unwrap(), ["5"]);
        let none: Option<(String, String)> = pushing.blpop("none", 0.01).unwrap();
        assert_eq!(none, None);
    });
}

fn blocked(client: &mut redis::Connection) -> usize {
    let info: String = cmd("INFO").arg("clients").query(client).unwrap();
    let line = info.lines().find_map(|line| line.strip_prefix("blocked_clients:")).unwrap();
    line.trim().parse().unwrap()
}

/// Waits until something is so.
fn until(mut done: impl FnMut() -> bool) {
    let begin = std::time::Instant::now();
    while !done() {
        assert!(begin.elapsed() < common::PATIENCE, "it never came");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn two_hundred_connections_are_served() {
    each_shape(&[], |server| {
        let mut streams: Vec<TcpStream> = (0..200).map(|_| server.connect()).collect();
        for round in 0..5 {
            for stream in &mut streams {
                stream.write_all(b"INCR visits\r\nPING\r\n").unwrap();
            }
            for stream in &mut streams {
                let mut line = [0; 64];
                let mut got = Vec::new();
                while !got.ends_with(b"+PONG\r\n") {
                    let n = stream.read(&mut line).unwrap();
                    assert_ne!(n, 0, "closed in round {round}");
                    got.extend_from_slice(&line[..n]);
                }
            }
        }
        let visits: i64 = server.client().get("visits").unwrap();
        assert_eq!(visits, 1000);
        drop(streams);
        let mut client = server.client();
        until(|| {
            let info: String = cmd("INFO").arg("clients").query(&mut client).unwrap();
            info.contains("connected_clients:1\r\n")
        });
    });
}

#[test]
fn values_of_many_megabytes_come_and_go() {
    each_shape(&[], |server| {
        let mut client = server.client();
        for len in [1_usize << 20, 20 << 20] {
            let value: Vec<u8> = (0..=250).cycle().take(len).collect();
            let () = client.set("large", &value).unwrap();
            assert_eq!(client.strlen::<_, usize>("large").unwrap(), len);
            assert!(client.get::<_, Vec<u8>>("large").unwrap() == value);
            let () = client.append("large", "end").unwrap();
            let end: Vec<u8> = client.getrange("large", -4, -1).unwrap();
            assert!(end.ends_with(b"end"), "{end:?}");
        }
    });
}

#[test]
fn broken_protocol_is_answered_and_the_connection_closed() {
    let cases = [
        ("*1\r\n+PING\r\n", "-ERR Protocol error: expected '$', got '+'\r\n"),
        ("*x\r\n", "-ERR Protocol error: invalid multibulk length\r\n"),
        ("*1\r\n$-5\r\n", "-ERR Protocol error: invalid bulk length\r\n"),
        ("SET \"k\r\n", "-ERR Protocol error: unbalanced quotes in request\r\n"),
        ("*3000000000\r\n", "-ERR Protocol error: invalid multibulk length\r\n"),
        ("*1\r\n$600000000\r\n", "-ERR Protocol error: invalid bulk length\r\n"),
    ];
    each_shape(&[], |server| {
        for (request, reply) in cases {
            let mut stream = server.connect();
            // What came before is answered first, what comes after is not.
            ask(&mut stream, &format!("PING\r\n{request}PING\r\n"), "+PONG\r\n");
            assert_eq!(expect_end(&mut stream), reply, "{request:?}");
        }
        let long = "x".repeat(70_000);
        let mut stream = server.connect();
        stream.write_all(long.as_bytes()).unwrap();
        assert_eq!(expect_end(&mut stream), "-ERR Protocol error: too big inline request\r\n");
        assert!(server.client().check_connection());
    });
}

#[test]
fn a_killed_client_is_closed_and_another_stays() {
    each_shape(&[], |server| {
        let mut client = server.client();
        let mut victims: Vec<TcpStream> = (0..8).map(|_| server.connect()).collect();
        for (index, victim) in victims.iter_mut().enumerate() {
            ask(victim, &format!("CLIENT SETNAME victim{index}\r\n"), "+OK\r\n");
        }
        // A waiting one and one inside a transaction are closed as well.
        victims[0].write_all(b"BLPOP none 0\r\n").unwrap();
        ask(&mut victims[1], "MULTI\r\n", "+OK\r\n");
        until(|| blocked(&mut client) == 1);
        let list: String = cmd("CLIENT").arg("LIST").query(&mut client).unwrap();
        let ids: Vec<&str> = list
            .lines()
            .filter(|line| line.contains(" name=victim"))
            .map(|line| line.split(['=', ' ']).nth(1).unwrap())
            .collect();
        assert_eq!(ids.len(), victims.len(), "{list}");
        for id in ids {
            let killed: i64 =
                cmd("CLIENT").arg("KILL").arg("ID").arg(id).query(&mut client).unwrap();
            assert_eq!(killed, 1);
        }
        for victim in &mut victims {
            assert_eq!(expect_end(victim), "");
        }
        assert_eq!(blocked(&mut client), 0);
    });
}

#[test]
fn a_unix_socket_serves_as_well() {
    let scratch = Scratch::new();
    let path = scratch.file("socket");
    each_shape(&["--unixsocket", path.to_str().unwrap()], |server| {
        let url = format!("unix://{}", path.display());
        let mut local = redis::Client::open(url).unwrap().get_connection().unwrap();
        let () = local.set("from", "socket").unwrap();
        assert_eq!(server.client().get::<_, String>("from").unwrap(), "socket");
        let mut stream = UnixStream::connect(&path).unwrap();
        ask(&mut stream, "GET from\r\n", "$6\r\nsocket\r\n");
    });
}

#[test]
fn a_password_is_asked_for() {
    each_shape(&["--requirepass", "open sesame"], |server| {
        let mut stream = server.connect();
        ask(&mut stream, "GET k\r\n", "-NOAUTH Authentication required.\r\n");
        let wrong = "-WRONGPASS invalid username-password pair or user is disabled.\r\n";
        ask(&mut stream, "AUTH wrong\r\n", wrong);
        ask(&mut stream, "AUTH \"open sesame\"\r\nGET k\r\n", "+OK\r\n$-1\r\n");
        let url = format!("redis://:open%20sesame@127.0.0.1:{}/3", server.port);
        let mut client = redis::Client::open(url).unwrap().get_connection().unwrap();
        let () = client.set("k", "in database 3").unwrap();
        ask(&mut stream, "GET k\r\nSELECT 3\r\nSTRLEN k\r\n", "$-1\r\n+OK\r\n:13\r\n");
        // Nobody who has not signed on makes the server keep much.
        let mut stranger = server.connect();
        stranger.write_all(b"*1\r\n$100000\r\n").unwrap();
        let refused = "-ERR Protocol error: unauthenticated bulk length\r\n";
        assert_eq!(expect_end(&mut stranger), refused);
    });
}

#[test]
fn arguments_win_over_the_file() {
    let scratch = Scratch::new();
    let file = scratch.file("caudal.conf");
    std::fs::write(&file, "port 1\nmaxclients 77\nlist-max-listpack-size 5\n# a comment\n")
        .unwrap();
    each_shape(&[], |shaped| {
        let shape = shaped.shape.unwrap();
        let arguments = ["--maxclients", "99"];
        let server = Server::start_with(&arguments, |command| {
            // The file is the first argument.
            let given: Vec<_> = command.get_args().map(std::ffi::OsStr::to_owned).collect();
            let mut anew = std::process::Command::new(common::CAUDAL);
            anew.arg(&file).args(["--io-backend", shape.backend]).args(given);
            anew.stdout(std::process::Stdio::piped());
            *command = anew;
        });
        let mut client = server.client();
        let got: HashMap<String, String> =
            cmd("CONFIG").arg("GET").arg(&["maxclients", "list-max-*"]).query(&mut client).unwrap();
        assert_eq!(got["maxclients"], "99");
        assert_eq!(got["list-max-listpack-size"], "5");
    });
}

#[test]
fn what_was_sent_before_a_half_close_is_answered() {
    each_shape(&[], |server| {
        let mut client = server.client();
        let () = client.set("mega", vec![b'm'; 1 << 20]).unwrap();
        for (request, answers) in [("PING\r\n", 1), ("GET mega\r\n", 40)] {
            let mut stream = server.connect();
            stream.write_all(request.repeat(answers).as_bytes()).unwrap();
            stream.shutdown(Shutdown::Write).unwrap();
            let mut got = Vec::new();
            stream.read_to_end(&mut got).unwrap();
            let reply = if answers == 1 { 7 } else { (1 << 20) + 12 };
            assert_eq!(got.len(), answers * reply);
        }
    });
}

#[test]
fn a_client_that_never_reads_is_held_back_and_costs_little() {
    const VALUE_BYTES: usize = 1 << 20;
    const REQUESTS: usize = 2000;
    /// A fiftieth of what it asks for.
    const GROWTH_BYTES_MAX: u64 = 40 << 20;
    each_shape(&[], |server| {
        let mut client = server.client();
        let () = client.set("mega", vec![b'm'; VALUE_BYTES]).unwrap();
        let before = server.resident_bytes();
        let mut greedy = server.connect();
        for _ in 0..REQUESTS {
            greedy.write_all(b"GET mega\r\n").unwrap();
        }
        // Others are served meanwhile, and what it asked for is not all put together.
        for index in 0..200 {
            let () = client.set("n", index).unwrap();
            let growth = server.resident_bytes().saturating_sub(before);
            assert!(growth < GROWTH_BYTES_MAX, "{growth} bytes");
        }
        // When it reads, it goes on.
        let header = format!("${VALUE_BYTES}\r\n");
        let mut value = vec![0; VALUE_BYTES + 2];
        for _ in 0..50 {
            expect(&mut greedy, &header);
            greedy.read_exact(&mut value).unwrap();
        }
        let growth = server.resident_bytes().saturating_sub(before);
        assert!(growth < GROWTH_BYTES_MAX, "{growth} bytes");
    });
}

#[test]
fn a_client_beyond_its_output_limit_is_closed() {
    let limit = ["--client-output-buffer-limit", "normal", "1mb", "0", "0"];
    each_shape(&limit, |server| {
        let mut client = server.client();
        let () = client.set("mega", vec![b'm'; 4 << 20]).unwrap();
        // It gets nothing of what passed the limit, however fast it reads.
        for times in [1, 20] {
            let mut greedy = server.connect();
            ask(&mut greedy, "PING\r\n", "+PONG\r\n");
            greedy.write_all(b"GET mega\r\n".repeat(times).as_slice()).unwrap();
            assert_eq!(expect_end(&mut greedy), "");
        }
        let pong: Value = cmd("PING").query(&mut client).unwrap();
        assert_eq!(pong, Value::SimpleString("PONG".to_owned()));
    });
}

#[test]
fn the_least_welcome_is_told_why() {
    each_shape(&["--maxclients", "2"], |server| {
        let (mut one, mut two) = (server.connect(), server.connect());
        ask(&mut one, "PING\r\n", "+PONG\r\n");
        ask(&mut two, "PING\r\n", "+PONG\r\n");
        let mut three = server.connect();
        assert_eq!(expect_end(&mut three), "-ERR max number of clients reached\r\n");
        ask(&mut one, "QUIT\r\n", "+OK\r\n");
        assert_eq!(expect_end(&mut one), "");
        until(|| {
            let mut again = server.connect();
            // It may be refused, and closed, before it is heard.
            let mut got = [0; 5];
            again.write_all(b"PING\r\n").is_ok()
                && again.read_exact(&mut got).is_ok()
                && got == *b"+PONG"
        });
    });
}
