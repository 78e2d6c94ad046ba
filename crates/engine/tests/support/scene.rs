//! Several clients, whichever workers they are connected to.

use super::replies;
use caudal_engine::config::Config;
use caudal_engine::local::{Client, Local, encode};

/// Worker counts that every scene is played with.
pub(crate) const WORKERS: [usize; 3] = [1, 2, 4];

/// A store and clients that are spread over its workers.
pub(crate) struct Scene {
    pub(crate) local: Local,
    pub(crate) clients: Vec<Client>,
}

impl Scene {
    pub(crate) fn new(workers: usize, clients: usize) -> Scene {
        let mut local = Local::new(Config::default(), workers);
        let clients = (0..clients).map(|at| local.connect(at % workers)).collect();
        Scene { local, clients }
    }

    /// Sends lines, as one pipeline.
    pub(crate) fn send(&mut self, client: usize, lines: &[&str]) {
        let words = |line: &&str| caudal_text::words::split(line.as_bytes()).expect("quotes");
        let bytes: Vec<u8> = lines.iter().flat_map(|line| encode(&words(line))).collect();
        self.local.send(self.clients[client], &bytes);
    }

    /// What has been replied since the client was last asked, spelled, with ` | ` between replies.
    pub(crate) fn got(&mut self, client: usize) -> String {
        self.replies(client).join(" | ")
    }

    pub(crate) fn replies(&mut self, client: usize) -> Vec<String> {
        replies(&self.local.receive(self.clients[client]))
    }

    /// Sends a line and gives the replies to it.
    pub(crate) fn say(&mut self, client: usize, line: &str) -> String {
        self.send(client, &[line]);
        self.got(client)
    }

    /// Sends a line to a client that has to wait with it.
    pub(crate) fn wait(&mut self, client: usize, line: &str) {
        assert_eq!(self.say(client, line), "", "{line} waits");
    }
}

/// Plays a scene with each number of workers.
pub(crate) fn in_all_settings(clients: usize, play: impl Fn(&mut Scene)) {
    for workers in WORKERS {
        play(&mut Scene::new(workers, clients));
    }
}
