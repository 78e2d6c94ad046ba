//! A server that belongs to a test: started on a free port, ended when dropped.
//!
//! What must stay true: no port is fixed, nothing is left running or on disk even if the test
//! fails, and tests that run side by side do not meet.
#![allow(dead_code, reason = "each test binary uses its part")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fmt;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// The program under test.
pub(crate) const CAUDAL: &str = env!("CARGO_BIN_EXE_caudal");
/// Long enough for the slowest machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Among a server's arguments: a port that is free. See [`Server::tls_port`].
pub(crate) const TLS_PORT: &str = "<a free port>";

const READY: &str = "Ready to accept connections";
/// Somebody else may take a port between finding and using it, but not so often.
const ATTEMPTS: usize = 20;

/// A back end and a number of threads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) backend: &'static str,
    pub(crate) threads: usize,
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} with threads {}", self.backend, self.threads)
    }
}

/// Runs a test in every shape that this machine allows.
pub(crate) fn each_shape(arguments: &[&str], test: impl Fn(&Server)) {
    for backend in ["epoll", "io_uring"] {
        for threads in [1, 2, 4] {
            match Server::start_in(Shape { backend, threads }, arguments) {
                Ok(server) => test(&server),
                Err(said) if said.contains("is not to be had here") => {
                    tell(&format!("skipped: {}", said.trim()));
                    break;
                }
                Err(said) => panic!("{said}"),
            }
        }
    }
}

/// A running server.
pub(crate) struct Server {
    child: Child,
    pub(crate) port: u16,
    /// What [`TLS_PORT`] among the arguments stood for.
    pub(crate) tls_port: u16,
    /// What it said until it was ready.
    pub(crate) said: String,
    pub(crate) shape: Option<Shape>,
    output: BufReader<ChildStdout>,
}

impl Server {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::start_with(arguments, |_| {})
    }

    /// Starts it in a shape; an error is what it said instead of getting ready.
    pub(crate) fn start_in(shape: Shape, arguments: &[&str]) -> Result<Self, String> {
        let threads = shape.threads.to_string();
        let own = ["--io-backend", shape.backend, "--threads", &threads];
        let mut server = Self::try_start(CAUDAL, &[&own, arguments].concat(), |_| {})?;
        server.shape = Some(shape);
        Ok(server)
    }

    /// Starts it without a plain port.
    pub(crate) fn start_alone(arguments: &[&str]) -> Self {
        // The last word on a directive wins: the harness gives a port, and this takes it away.
        Self::start_with(arguments, |command| {
            command.args(["--port", "0"]);
        })
    }

    pub(crate) fn start_with(arguments: &[&str], adjust: impl Fn(&mut Command)) -> Self {
        Self::try_start(CAUDAL, arguments, adjust).unwrap_or_else(|said| panic!("{said}"))
    }

    /// Starts another program that is started in the same way.
    pub(crate) fn start_other(program: &str, arguments: &[&str]) -> Self {
        Self::try_start(program, arguments, |_| {}).unwrap_or_else(|said| panic!("{said}"))
    }

    /// Starts it on a free port, and waits until it is ready.
    fn try_start(
        program: &str,
        arguments: &[&str],
        adjust: impl Fn(&mut Command),
    ) -> Result<Self, String> {
        for _ in 0..ATTEMPTS {
            let (port, tls_port) = (free_port(), free_port());
            let mut command = Command::new(program);
            let tls = tls_port.to_string();
            let arguments = arguments.iter();
            command.args(arguments.map(|word| if *word == TLS_PORT { &tls } else { *word }));
            command.args(["--port", &port.to_string(), "--bind", "127.0.0.1"]);
            command.stdout(Stdio::piped());
            command.current_dir(std::env::temp_dir());
            adjust(&mut command);
            let mut child = command.spawn().unwrap();
            let output = BufReader::new(child.stdout.take().unwrap());
            // From here on the process ends with this value, whatever happens.
            let mut server =
                Self { child, port, tls_port, said: String::new(), shape: None, output };
            while !server.said.contains(READY) {
                if server.output.read_line(&mut server.said).unwrap() == 0 {
                    break;
                }
            }
            if server.said.contains(READY) {
                return Ok(server);
            }
            if !server.said.contains("in use") {
                return Err(std::mem::take(&mut server.said));
            }
        }
        Err("no port is free".to_owned())
    }

    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    /// A connection without a client library.
    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// A connection through the client library; `options` as in `?protocol=resp3`.
    pub(crate) fn client_with(&self, options: &str) -> redis::Connection {
        let url = format!("redis://127.0.0.1:{}/{options}", self.port);
        let connection = redis::Client::open(url).unwrap().get_connection().unwrap();
        connection.set_read_timeout(Some(PATIENCE)).unwrap();
        connection
    }

    pub(crate) fn client(&self) -> redis::Connection {
        self.client_with("")
    }

    /// Resident memory.
    pub(crate) fn resident_bytes(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
    }

    /// Sends a signal and waits for the end: the exit status, and what was said since the start.
    pub(crate) fn end(mut self, signal: &str) -> (ExitStatus, String) {
        let killed = Command::new("kill").arg(signal).arg(self.child.id().to_string()).status();
        assert!(killed.unwrap().success());
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).unwrap();
        (self.child.wait().unwrap(), rest)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if std::thread::panicking()
            && let Some(shape) = self.shape
        {
            tell(&format!("failed over {shape}"));
        }
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Says something even if the test passes.
pub(crate) fn tell(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// A port that was free a moment ago.
pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// A directory of a test's own, removed with its contents when dropped.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("caudal-test-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A leftover in the temporary directory harms nobody.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Sends a request and reads a reply of known text.
pub(crate) fn ask(stream: &mut (impl Read + Write), request: &str, reply: &str) {
    stream.write_all(request.as_bytes()).unwrap();
    expect(stream, reply);
}

/// Reads a reply of known text.
pub(crate) fn expect(stream: &mut impl Read, reply: &str) {
    let mut got = vec![0; reply.len()];
    stream.read_exact(&mut got).unwrap();
    assert_eq!(String::from_utf8_lossy(&got), reply);
}

/// Reads until the server closes.
pub(crate) fn expect_end(stream: &mut impl Read) -> String {
    let mut rest = Vec::new();
    match stream.read_to_end(&mut rest) {
        Ok(_) => {}
        // What was sent and not read makes the system answer a close by a reset.
        Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => {}
        Err(error) => panic!("the connection stays open: {error}"),
    }
    String::from_utf8_lossy(&rest).into_owned()
}
