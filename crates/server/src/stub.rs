//! Stand-in for the engine: answers every command with PONG.
use std::io::IoSlice;
pub(crate) type Token = usize;
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Now { pub(crate) unix_ms: u64, pub(crate) unix_us_rest: u32, pub(crate) monotonic_us: u64 }
#[derive(Debug)]
pub(crate) enum Open { Accepted(Token), #[allow(dead_code)] Refused(Vec<u8>) }
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Close { No, AfterFlush, #[allow(dead_code)] Now }
pub(crate) struct Status { pub(crate) wants_read: bool, pub(crate) close: Close }
#[allow(dead_code)]
pub(crate) struct Peer { pub(crate) address: String, pub(crate) local_address: String, pub(crate) fd: i32, pub(crate) unix: bool, pub(crate) loopback: bool }
#[derive(Default)]
pub(crate) struct Output { bytes: Vec<u8>, sent: usize }
impl Output {
    pub(crate) fn is_empty(&self) -> bool { self.sent == self.bytes.len() }
    pub(crate) fn slices(&self) -> [IoSlice<'_>; 1] { [IoSlice::new(&self.bytes[self.sent..])] }
    pub(crate) fn advance(&mut self, n: usize) { self.sent += n; if self.is_empty() { self.bytes.clear(); self.sent = 0; } }
}
#[derive(Default)]
struct Conn { input: Vec<u8>, output: Output, ended: bool }
#[derive(Default)]
pub(crate) struct Worker { conns: Vec<Option<Conn>>, free: Vec<usize>, ready: Vec<usize>, outgoing: Vec<usize>, pool: Vec<Vec<u8>> }
impl Worker {
    pub(crate) fn open(&mut self, _: Peer, _: Now) -> Open {
        let t = self.free.pop().unwrap_or_else(|| { self.conns.push(None); self.conns.len() - 1 });
        self.conns[t] = Some(Conn::default());
        Open::Accepted(t)
    }
    pub(crate) fn input(&mut self, t: Token) -> &mut Vec<u8> {
        let c = self.conns[t].as_mut().expect("open");
        if c.input.capacity() == 0 { c.input = self.pool.pop().unwrap_or_default(); }
        if c.input.capacity() - c.input.len() < 8192 { c.input.reserve(16384); }
        &mut c.input
    }
    pub(crate) fn received(&mut self, t: Token, _: usize) { self.ready.push(t); }
    pub(crate) fn ended(&mut self, t: Token) { self.conns[t].as_mut().expect("open").ended = true; self.outgoing.push(t); }
    pub(crate) fn run(&mut self, _: Now) {
        for t in self.ready.drain(..) {
            let Some(c) = self.conns[t].as_mut() else { continue };
            let n = c.input.iter().filter(|b| **b == b'*').count();
            for _ in 0..n { c.output.bytes.extend_from_slice(b"+PONG\r\n"); }
            let mut b = std::mem::take(&mut c.input);
            b.clear();
            if self.pool.len() < 64 { self.pool.push(b); }
            self.outgoing.push(t);
        }
    }
    pub(crate) fn has_ready(&self) -> bool { !self.ready.is_empty() }
    pub(crate) fn outgoing(&mut self, out: &mut Vec<Token>) { out.clear(); std::mem::swap(out, &mut self.outgoing); }
    pub(crate) fn output(&mut self, t: Token) -> &mut Output { &mut self.conns[t].as_mut().expect("open").output }
    pub(crate) fn sent(&mut self, _: Token, _: usize) {}
    pub(crate) fn status(&self, t: Token) -> Status {
        let c = self.conns[t].as_ref().expect("open");
        Status { wants_read: !c.ended, close: if c.ended { Close::AfterFlush } else { Close::No } }
    }
    pub(crate) fn closed(&mut self, t: Token) { self.conns[t] = None; self.free.push(t); }
    pub(crate) fn next_timer(&self) -> Option<u64> { None }
}
