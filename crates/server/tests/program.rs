//! The program from outside: how it starts, serves, refuses and ends.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use common::{CAUDAL, PATIENCE, Scratch, Server, ask, free_port};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::process::{Command, Stdio};
use std::time::Duration;

fn each_backend(test: impl Fn(&str)) {
    for backend in ["epoll", "auto"] {
        test(backend);
    }
}

#[test]
fn it_says_what_it_does_and_ends_at_a_signal() {
    for signal in ["-TERM", "-INT"] {
        let server = Server::start(&["--threads", "2", "--io-backend", "epoll"]);
        let process = server.process();
        assert!(server.said.contains(&format!(" PID: {process}\n")), "{}", server.said);
        let listening = format!("Listening on 127.0.0.1:{}\n", server.port);
        assert!(server.said.contains(&listening), "{}", server.said);
        assert!(server.said.contains("2 threads over epoll\n"), "{}", server.said);
        let (status, rest) = server.end(signal);
        assert!(status.success(), "{status} {rest}");
        assert!(rest.contains("bye bye"), "{rest}");
    }
}

#[test]
fn connections_on_several_threads_see_the_same_keys() {
    each_backend(|backend| {
        let server = Server::start(&["--threads", "3", "--io-backend", backend]);
        let mut streams: Vec<TcpStream> = (0..30).map(|_| server.connect()).collect();
        for (index, stream) in streams.iter_mut().enumerate() {
            ask(stream, &format!("SET key:{index} value:{index:02}\r\n"), "+OK\r\n");
        }
        for (index, stream) in streams.iter_mut().rev().enumerate() {
            let reply = format!("$8\r\nvalue:{index:02}\r\n");
            ask(stream, &format!("GET key:{index}\r\n"), &reply);
        }
    });
}

#[test]
fn a_pipeline_is_answered_in_order_and_after_a_half_close() {
    each_backend(|backend| {
        let server = Server::start(&["--threads", "1", "--io-backend", backend]);
        let mut stream = server.connect();
        let mut requests = String::new();
        let mut replies = String::new();
        for index in 0..20_000 {
            let text = format!("{index:06}");
            requests.push_str(&format!("*2\r\n$4\r\nECHO\r\n$6\r\n{text}\r\n"));
            replies.push_str(&format!("$6\r\n{text}\r\n"));
        }
        // The beginning of a command that never comes must not keep the connection.
        requests.push_str("*1\r\n$4\r\nPI");
        let mut writer = stream.try_clone().unwrap();
        let writing = std::thread::spawn(move || {
            writer.write_all(requests.as_bytes()).unwrap();
            writer.shutdown(Shutdown::Write).unwrap();
        });
        let mut got = String::new();
        stream.read_to_string(&mut got).unwrap();
        writing.join().unwrap();
        assert!(got == replies, "{} bytes of {}", got.len(), replies.len());
    });
}

#[test]
fn large_values_come_and_go() {
    each_backend(|backend| {
        let server = Server::start(&["--threads", "2", "--io-backend", backend]);
        let mut stream = server.connect();
        let value: String = (0..3_000_000_u32)
            .map(|i| char::from(b"abcdefghijklmnopqrstuvw"[i as usize % 23]))
            .collect();
        let length = value.len();
        ask(
            &mut stream,
            &format!("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n${length}\r\n{value}\r\n"),
            "+OK\r\n",
        );
        for _ in 0..3 {
            ask(&mut stream, "GET k\r\n", &format!("${length}\r\n{value}\r\n"));
        }
        // Many at once: more than any socket buffer holds.
        stream.write_all("GET k\r\n".repeat(10).as_bytes()).unwrap();
        let reply = format!("${length}\r\n{value}\r\n");
        for _ in 0..10 {
            let mut got = vec![0; reply.len()];
            stream.read_exact(&mut got).unwrap();
            assert!(got == reply.as_bytes());
        }
    });
}

#[test]
fn a_unix_socket_and_a_pid_file_are_there_while_it_runs() {
    let scratch = Scratch::new();
    let (socket, pid) = (scratch.file("socket"), scratch.file("pid"));
    let (socket_text, pid_text) = (socket.to_str().unwrap(), pid.to_str().unwrap());
    let server = Server::start(&[
        "--unixsocket",
        socket_text,
        "--unixsocketperm",
        "700",
        "--pidfile",
        pid_text,
    ]);
    let mut stream = UnixStream::connect(&socket).unwrap();
    ask(&mut stream, "PING\r\n", "+PONG\r\n");
    let written = std::fs::read_to_string(&pid).unwrap();
    assert_eq!(written.trim(), server.process().to_string());
    let (status, _) = server.end("-TERM");
    assert!(status.success());
    assert!(!socket.exists() && !pid.exists());
}

#[test]
fn a_port_in_use_is_one_clear_line() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let output = Command::new(CAUDAL)
        .args(["--port", &port.to_string(), "--bind", "127.0.0.1"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains(&format!("Failed listening on port {port} (tcp)")), "{said}");
    assert!(output.stderr.is_empty());
}

#[test]
fn what_cannot_be_honoured_is_refused() {
    let cases: [(&[&str], &str); 4] = [
        (&["--daemonize", "yes"], "daemonize"),
        (&["--no-such-directive", "1"], "no-such-directive"),
        (&["/no/such/file.conf"], "/no/such/file.conf"),
        (&["--dir", "/no/such/directory"], "/no/such/directory"),
    ];
    for (arguments, word) in cases {
        let output = Command::new(CAUDAL).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        assert!(said.contains(word), "{arguments:?}: {said}");
    }
}

#[test]
fn version_and_help() {
    let output = Command::new(CAUDAL).arg("--version").output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success());
    assert!(said.contains("v=7.2.4") && said.contains(env!("CARGO_PKG_VERSION")), "{said}");
    let output = Command::new(CAUDAL).arg("--help").output().unwrap();
    assert!(output.status.success());
    assert!(String::from_utf8(output.stdout).unwrap().contains("--port 7000 --threads 4"));
}

#[test]
fn systemd_is_told() {
    let scratch = Scratch::new();
    let path = scratch.file("notify");
    let supervisor = UnixDatagram::bind(&path).unwrap();
    supervisor.set_read_timeout(Some(PATIENCE)).unwrap();
    let server = Server::start_with(&["--supervised", "systemd"], |command| {
        command.env("NOTIFY_SOCKET", &path);
    });
    let mut said = [0; 100];
    let n = supervisor.recv(&mut said).unwrap();
    assert!(said[..n].starts_with(b"READY=1\n"));
    assert!(server.end("-TERM").0.success());
    let n = supervisor.recv(&mut said).unwrap();
    assert_eq!(&said[..n], b"STOPPING=1\n");
}

#[test]
fn a_log_file_takes_the_lines() {
    let scratch = Scratch::new();
    let path = scratch.file("log");
    let mut child = Command::new(CAUDAL)
        .args(["--port", &free_port().to_string(), "--bind", "127.0.0.1"])
        .args(["--logfile", path.to_str().unwrap()])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut text = String::new();
    while !text.contains("Ready to accept connections") {
        assert!(child.try_wait().unwrap().is_none(), "{text}");
        std::thread::sleep(Duration::from_millis(10));
        text = std::fs::read_to_string(&path).unwrap_or_default();
    }
    child.kill().unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.stdout.is_empty());
    let prefix = text.lines().next().unwrap().split_once(":M ").unwrap().0;
    assert!(prefix.parse::<u32>().is_ok(), "{text}");
}

#[test]
fn an_idle_server_sleeps() {
    each_backend(|backend| {
        let server = Server::start(&["--threads", "2", "--io-backend", backend]);
        let mut stream = server.connect();
        ask(&mut stream, "PING\r\n", "+PONG\r\n");
        let used = || {
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", server.process())).unwrap();
            let fields: Vec<&str> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
            fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
        };
        let before = used();
        std::thread::sleep(Duration::from_millis(500));
        // Ticks of 10 ms: a spinning thread would use nearly 50 of them on a quiet machine.
        assert!(used() - before <= 5, "an idle server used {} ticks", used() - before);
    });
}
