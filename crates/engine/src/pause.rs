//! CLIENT PAUSE: which commands it holds back.
//!
//! Stands behind the checks of dispatch, before a command runs or is queued. What must stay true:
//! while writes are paused nothing happens that a replica would have to be told of, so a script is
//! judged by the flags that it declares.

use crate::catalog::{Catalog, Entry};
use crate::connection::{Connection, State};
use crate::engine::Engine;
use crate::scripts::declared_flags;
use crate::worker::Worker;
use caudal_commands::Args;
use std::sync::atomic::Ordering::Relaxed;

impl Worker {
    /// Whether a pause holds the command; then its connection is set aside.
    #[inline]
    pub(crate) fn must_pause(
        &mut self,
        engine: &Engine,
        connection: &mut Connection,
        command: (&'static Entry, Args<'_>),
    ) -> bool {
        !engine.pause.is_over(self.now.unix_ms) && self.must_pause_now(engine, connection, command)
    }

    #[cold]
    fn must_pause_now(
        &mut self,
        engine: &Engine,
        connection: &mut Connection,
        command: (&'static Entry, Args<'_>),
    ) -> bool {
        let pause = &engine.pause;
        let mut until = pause.all_until_ms.load(Relaxed);
        if until <= self.now.unix_ms && self.may_tell_replicas(engine, connection, command) {
            until = pause.writes_until_ms.load(Relaxed);
        }
        if until <= self.now.unix_ms {
            return false;
        }
        connection.state = State::Paused;
        connection.info.paused.store(true, Relaxed);
        connection.info.command.store(command.0.id + 1, Relaxed);
        let wait_us = (until - self.now.unix_ms).saturating_mul(1000);
        let at_us = self.now.monotonic_us.saturating_add(wait_us);
        self.timers.resume_at(at_us, connection.info.id);
        true
    }

    /// Whether replicas may have to be told of a command, or of the transaction that it ends.
    fn may_tell_replicas(
        &mut self,
        engine: &Engine,
        connection: &Connection,
        (entry, args): (&'static Entry, Args<'_>),
    ) -> bool {
        let mut tells = |(entry, args): (&'static Entry, Args<'_>)| {
            Catalog::may_replicate(entry)
                && declared_flags(engine, &mut self.machine, (entry, args))
                    .is_none_or(|flags| !flags.no_writes)
        };
        let queue = connection.queue.as_deref().filter(|_| entry.spec.name == "EXEC");
        tells((entry, args)) || queue.is_some_and(|queue| queue.commands().any(tells))
    }
}
