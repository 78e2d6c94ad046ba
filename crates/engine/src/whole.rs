//! Commands that need the whole keyspace: they run at the gate, with every other worker stopped
//! between commands.

use crate::atomic::Claim;
use crate::connection::{Connection, State};
use crate::engine::Engine;
use crate::execute::Progress;
use crate::mail::Mail;
use crate::stats;
use crate::worker::Worker;
use caudal_commands::Error;
use caudal_keyspace::Closing;
use std::sync::atomic::Ordering::Relaxed;

/// A gate that is not complete after this long is withdrawn: a long command must not stop the
/// others.
const GATE_PATIENCE_US: u64 = 1000;
/// How long a withdrawn gate stays open before it is tried again.
const GATE_PAUSE_US: u64 = 1000;
/// Tables of flushed databases freed in one turn: about a thousand keys each at twenty million.
const GARBAGE_TABLES_A_TURN: usize = 4;

impl Worker {
    /// Closes the gate. `None`: it is complete, and the caller opens it after its work with
    /// [`Engine::open_gate`].
    pub(crate) fn enter_gate(
        &mut self,
        engine: &Engine,
        connection: &mut Connection,
    ) -> Option<Progress> {
        if self.refuses_to_wait(connection) {
            return Some(Progress::Done);
        }
        match engine.gate.close(self.id) {
            Closing::Complete => None,
            Closing::Waiting => {
                self.timers.gate_at(self.now.monotonic_us + GATE_PATIENCE_US);
                Some(self.wait_at_gate(connection))
            }
            Closing::Taken => Some(self.wait_at_gate(connection)),
        }
    }

    /// Runs `work` with every other worker stopped.
    pub(crate) fn alone(
        &mut self,
        engine: &Engine,
        connection: &mut Connection,
        work: impl FnOnce(&mut Worker, &mut Connection),
    ) -> Progress {
        if self.is_alone {
            // Inside an EXEC that has the gate.
            work(self, connection);
            return Progress::Done;
        }
        if let Some(progress) = self.enter_gate(engine, connection) {
            return progress;
        }
        self.is_alone = true;
        work(self, connection);
        self.is_alone = false;
        engine.open_gate(self.id);
        Progress::Done
    }

    /// Sets a connection aside until it may run alone: its lock set starved.
    pub(crate) fn wait_for_gate(&mut self, connection: &mut Connection) -> Progress {
        connection.claim = Claim::Gate;
        self.own_mail.push_back(Mail::Gate);
        self.wait_at_gate(connection)
    }

    /// Whether a command that would wait is told BUSY instead, because a script runs too long.
    pub(crate) fn refuses_to_wait(&mut self, connection: &mut Connection) -> bool {
        let Some(refusal) = self.engine.running.refusal() else { return false };
        self.shared().stats.count_error(&refusal.0);
        let command = connection.info.command.load(Relaxed).saturating_sub(1);
        if self.engine.catalog.entry(command).spec.name == "EXEC" {
            self.end_transaction(connection);
            let text =
                Error::quoting("EXECABORT Transaction discarded because of: ", &refusal.0, "");
            connection.reply().error_bytes(&text.0);
        } else {
            connection.reply().error_bytes(&refusal.0);
        }
        true
    }

    fn wait_at_gate(&mut self, connection: &mut Connection) -> Progress {
        connection.state = State::AtGate;
        self.at_gate.push_back(connection.info.id);
        Progress::RunsAgain
    }

    /// The gate that this worker closed is complete, or another's has opened.
    pub(crate) fn on_gate(&mut self) {
        while let Some(id) = self.at_gate.pop_front() {
            self.resume(id);
        }
    }

    /// The patience with an incomplete gate, or the pause after one, is over.
    pub(crate) fn on_gate_timer(&mut self) {
        let engine = std::sync::Arc::clone(&self.engine);
        if engine.gate.is_owned_by(self.id) {
            engine.open_gate(self.id);
            self.timers.gate_at(self.now.monotonic_us + GATE_PAUSE_US);
        } else {
            self.on_gate();
        }
    }

    /// Frees some of what FLUSHALL detached. True: there is more.
    pub(crate) fn free_garbage(&mut self) -> bool {
        let kept = self.garbage.len().saturating_sub(GARBAGE_TABLES_A_TURN);
        let freed: usize = self.garbage.drain(kept..).map(|table| table.len()).sum();
        stats::add(&self.shared().stats.freed_later, freed as u64);
        kept > 0
    }
}
