//! Sessions that clients may take up again instead of a whole handshake.
//!
//! One store for all workers, used by rustls at the end and at the beginning of handshakes. A
//! client gets nothing but a name for its session: no key of the server encrypts tickets, so none
//! can leak. What must stay true: at most `count_max` sessions are remembered, none for longer than
//! `lifetime`.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use caudal_engine::config;
use rustls::server::StoresServerSessions;

/// The store.
pub(super) struct Sessions {
    count_max: usize,
    lifetime: Duration,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    by_name: HashMap<Vec<u8>, Session>,
    /// In the order of their births; a session that was taken may still stand here. At least as
    /// many as `by_name`, at most `count_max`.
    births: VecDeque<(Instant, Vec<u8>)>,
}

struct Session {
    born: Instant,
    state: Vec<u8>,
}

impl Sessions {
    pub(super) fn new(settings: config::Sessions) -> Self {
        let lifetime = Duration::from_secs(settings.seconds_max.into());
        Self { count_max: settings.count_max, lifetime, kept: Mutex::default() }
    }

    fn put_at(&self, now: Instant, name: Vec<u8>, state: Vec<u8>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.forget_before(now.checked_sub(self.lifetime));
        while kept.births.len() >= self.count_max {
            kept.forget_oldest();
        }
        kept.births.push_back((now, name.clone()));
        kept.by_name.insert(name, Session { born: now, state });
    }

    fn get_at(&self, now: Instant, name: &[u8]) -> Option<Vec<u8>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let session = kept.by_name.get(name)?;
        self.lives(session, now).then(|| session.state.clone())
    }

    fn take_at(&self, now: Instant, name: &[u8]) -> Option<Vec<u8>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let session = kept.by_name.remove(name)?;
        self.lives(&session, now).then_some(session.state)
    }

    fn lives(&self, session: &Session, now: Instant) -> bool {
        now.saturating_duration_since(session.born) < self.lifetime
    }
}

impl Kept {
    fn forget_before(&mut self, time: Option<Instant>) {
        let Some(time) = time else { return };
        while self.births.front().is_some_and(|(born, _)| *born <= time) {
            self.forget_oldest();
        }
    }

    fn forget_oldest(&mut self) {
        let Some((born, name)) = self.births.pop_front() else { return };
        // A session of the same name may have come later.
        if self.by_name.get(&name).is_some_and(|session| session.born == born) {
            self.by_name.remove(&name);
        }
    }
}

impl StoresServerSessions for Sessions {
    fn put(&self, name: Vec<u8>, state: Vec<u8>) -> bool {
        self.put_at(Instant::now(), name, state);
        true
    }

    fn get(&self, name: &[u8]) -> Option<Vec<u8>> {
        self.get_at(Instant::now(), name)
    }

    fn take(&self, name: &[u8]) -> Option<Vec<u8>> {
        self.take_at(Instant::now(), name)
    }

    fn can_cache(&self) -> bool {
        true
    }
}

/// Says nothing of what is inside: those are secrets.
impl fmt::Debug for Sessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sessions")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sessions(count_max: usize, seconds_max: u32) -> Sessions {
        Sessions::new(config::Sessions { count_max, seconds_max })
    }

    fn name(number: u8) -> Vec<u8> {
        vec![number]
    }

    #[test]
    fn the_newest_are_remembered() {
        let (sessions, now) = (sessions(3, 300), Instant::now());
        (0..5).for_each(|at| sessions.put_at(now, name(at), vec![at, at]));
        let found: Vec<bool> = (0..5).map(|at| sessions.get_at(now, &name(at)).is_some()).collect();
        assert_eq!(found, [false, false, true, true, true]);
        assert_eq!(sessions.take_at(now, &name(4)), Some(vec![4, 4]));
        assert_eq!(sessions.take_at(now, &name(4)), None);
    }

    #[test]
    fn taking_does_not_make_the_store_grow() {
        let (sessions, now) = (sessions(3, 300), Instant::now());
        for at in 0..100 {
            sessions.put_at(now, name(at), Vec::new());
            assert!(sessions.take_at(now, &name(at)).is_some());
        }
        let kept = sessions.kept.lock().unwrap();
        assert!(kept.births.len() <= 3 && kept.by_name.is_empty());
    }

    #[test]
    fn the_old_are_forgotten() {
        let (sessions, now) = (sessions(10, 5), Instant::now());
        let after = |seconds| now + Duration::from_secs(seconds);
        sessions.put_at(now, name(1), Vec::new());
        assert!(sessions.get_at(after(4), &name(1)).is_some());
        assert!(sessions.get_at(after(5), &name(1)).is_none());
        sessions.put_at(after(6), name(2), Vec::new());
        assert_eq!(sessions.kept.lock().unwrap().births.len(), 1);
    }

    #[test]
    fn a_name_that_comes_again_is_as_old_as_its_last_session() {
        let (sessions, now) = (sessions(2, 300), Instant::now());
        let later = now + Duration::from_secs(1);
        sessions.put_at(now, name(1), vec![1]);
        sessions.put_at(later, name(1), vec![2]);
        sessions.put_at(later, name(2), vec![3]);
        assert_eq!(sessions.get_at(later, &name(1)), Some(vec![2]));
    }
}
