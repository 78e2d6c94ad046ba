//! Whose handshake goes on: fairness, limits, and tokens that are used again.

use rustls::ServerConfig;

use super::*;
use crate::tls::tunnel::tests::configs;

struct Bench {
    tunnels: Tunnels,
    config: Arc<ServerConfig>,
}

impl Bench {
    fn new(steps_per_turn: u32) -> Self {
        let tunnels = Tunnels { steps_per_turn, ..Tunnels::new(None) };
        Self { tunnels, config: configs().0 }
    }

    fn add(&mut self, token: Token, deadline_us: u64) {
        let tunnel = Tunnel::new(Arc::clone(&self.config)).unwrap();
        self.tunnels.insert(token, tunnel, deadline_us);
    }

    fn call(&mut self) -> Vec<Token> {
        let mut called = Vec::new();
        self.tunnels.call(|token| called.push(token));
        called
    }
}

#[test]
fn so_many_steps_are_taken_in_a_turn_and_the_first_come_first() {
    let mut bench = Bench::new(2);
    (0..6).for_each(|token| bench.add(token, 100));
    let stepped: Vec<bool> = (0..6).map(|token| bench.tunnels.may_step(token)).collect();
    assert_eq!(stepped, [true, true, false, false, false, false]);
    assert_eq!(bench.call(), [2, 3]);
    // Those that were not called do not get ahead, nor do newcomers.
    bench.add(6, 100);
    let stepped: Vec<bool> = (0..7).map(|token| bench.tunnels.may_step(token)).collect();
    assert_eq!(stepped, [false, false, true, true, false, false, false]);
    assert_eq!(bench.call(), [4, 5]);
    assert_eq!(bench.call(), [0, 1]);
    assert_eq!(bench.call(), [6]);
    assert!(bench.call().is_empty());
}

#[test]
fn a_token_that_is_used_again_waits_for_itself() {
    let mut bench = Bench::new(1);
    (0..3).for_each(|token| bench.add(token, 100));
    assert!(bench.tunnels.may_step(0) && !bench.tunnels.may_step(1) && !bench.tunnels.may_step(2));
    assert!(bench.tunnels.remove(1).is_some());
    bench.add(1, 100);
    assert_eq!(bench.call(), [2]);
    assert!(!bench.tunnels.may_step(1));
    assert_eq!(bench.call(), [1]);
    assert!(bench.tunnels.may_step(1));
}

#[test]
fn only_handshakes_have_deadlines() {
    let mut bench = Bench::new(1);
    (0..4).for_each(|token| bench.add(token, 100 + token as u64));
    bench.tunnels.on_handshake(0);
    assert!(bench.tunnels.remove(2).is_some());
    assert_eq!(bench.tunnels.next_deadline_us(), Some(101));
    assert_eq!(bench.tunnels.next_late(100), None);
    assert_eq!(bench.tunnels.next_late(103), Some(1));
    assert_eq!(bench.tunnels.next_late(103), Some(3));
    assert_eq!(bench.tunnels.next_late(1000), None);
    assert!(bench.tunnels.find(0).is_some() && bench.tunnels.find(2).is_none());
    assert!(bench.tunnels.find(77).is_none() && bench.tunnels.may_step(77));
}
