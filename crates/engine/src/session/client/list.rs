//! CLIENT LIST and CLIENT KILL.
//!
//! Both read the shared list; a killed connection is marked, so that nobody sees it any more, and
//! its worker is told.

use super::filter::Filter;
use super::{line, spec};
use crate::clients::ClientInfo;
use crate::connection::Close;
use crate::mail::Mail;
use crate::session::{DONE, Outcome, Session, SessionCommand};
use caudal_commands::{Args, Error, Spec};
use std::sync::atomic::Ordering::Relaxed;

/// CLIENT LIST.
pub(super) const LIST: SessionCommand = SessionCommand::new(
    spec("LIST", "Describes the connections that all filters match.")
        .syntax(
            "[TYPE client-type<NORMAL|MASTER|REPLICA|PUBSUB>@5.0.0] [ID client-id:int...@6.2.0] \
             [USER username@8.1.0] [ADDR addr'ip:port'@8.1.0] [LADDR laddr'ip:port'@8.1.0] \
             [SKIPME skipme<YES|NO>@8.1.0] [MAXAGE maxage:int@8.1.0] [NAME name@9.0.0] \
             [IDLE idle:int@9.0.0] [FLAGS flags@9.0.0] [LIB-NAME lib-name@9.0.0] \
             [LIB-VER lib-ver@9.0.0] [DB db:int@9.0.0] [CAPA capa@9.0.0] [IP ip@9.0.0] \
             [NOT-TYPE not-client-type<NORMAL|MASTER|REPLICA|PUBSUB>@9.0.0] \
             [NOT-ID not-client-id:int...@9.0.0] [NOT-USER not-username@9.0.0] \
             [NOT-ADDR not-addr'ip:port'@9.0.0] [NOT-LADDR not-laddr'ip:port'@9.0.0] \
             [NOT-NAME not-name@9.0.0] [NOT-FLAGS not-flags@9.0.0] \
             [NOT-LIB-NAME not-lib-name@9.0.0] [NOT-LIB-VER not-lib-ver@9.0.0] \
             [NOT-DB not-db:int@9.0.0] [NOT-CAPA not-capa@9.0.0] [NOT-IP not-ip@9.0.0]",
        )
        .since("2.4.0")
        .arity(-2)
        .admin()
        .complexity("O(N) where N is the number of client connections")
        .tips(&["nondeterministic_output"]),
    list,
);
/// CLIENT KILL.
pub(super) const KILL: SessionCommand = SessionCommand::new(
    Spec::admin(
        spec("KILL", "Closes the connection from an address, or those that all filters match.")
            .syntax(
                "filter<old-format'ip:port'!2.8.12|new-format<[ID client-id:int...@2.8.12]|[TYPE \
                 client-type<NORMAL|MASTER@3.2.0|PRIMARY@8.0.0|SLAVE|REPLICA@5.0.0|\
                 PUBSUB>@2.8.12]|[USER username]|[ADDR addr'ip:port']|\
                 [LADDR laddr'ip:port'@6.2.0]|[SKIPME skipme<YES|NO>]|[MAXAGE maxage:int@8.0.0]|\
                 [NAME name@9.0.0]|[IDLE idle:int@9.0.0]|[FLAGS flags@9.0.0]|\
                 [LIB-NAME lib-name@9.0.0]|[LIB-VER lib-ver@9.0.0]|[DB db:int@9.0.0]|\
                 [CAPA capa@9.0.0]|[IP ip@9.0.0]|\
                 [NOT-TYPE not-client-type<NORMAL|MASTER|PRIMARY|SLAVE|REPLICA|PUBSUB>@9.0.0]|\
                 [NOT-ID not-client-id:int...@9.0.0]|[NOT-USER not-username@9.0.0]|\
                 [NOT-ADDR not-addr'ip:port'@9.0.0]|[NOT-LADDR not-laddr'ip:port'@9.0.0]|\
                 [NOT-NAME not-name@9.0.0]|[NOT-FLAGS not-flags@9.0.0]|\
                 [NOT-LIB-NAME not-lib-name@9.0.0]|[NOT-LIB-VER not-lib-ver@9.0.0]|\
                 [NOT-DB not-db:int@9.0.0]|[NOT-CAPA not-capa@9.0.0]|[NOT-IP not-ip@9.0.0]>...>",
            ),
    )
    .since("2.4.0")
    .arity(-3)
    .complexity("O(N) where N is the number of client connections"),
    kill,
);

fn list(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let filter = Filter::parse(args, session.engine)?;
    let (own, now) = (session.connection.info.id, session.worker.now.unix_ms);
    let mut text = Vec::new();
    for info in session.engine.clients.list() {
        let skipped = filter.skips_self == Some(true) && info.id == own;
        if !skipped && filter.matches(&info, now) {
            text.extend_from_slice(&line::line(session.engine, &info, now));
            text.push(b'\n');
        }
    }
    session.reply().verbatim(b"txt", &text);
    DONE
}

fn kill(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    if args.len() == 3 {
        return kill_address(session, args.at(2));
    }
    let filter = Filter::parse(args, session.engine)?;
    let (own, now) = (session.connection.info.id, session.worker.now.unix_ms);
    let skips_self = filter.skips_self.unwrap_or(true);
    let mut killed = 0;
    for info in session.engine.clients.list() {
        if !(skips_self && info.id == own) && filter.matches(&info, now) {
            end(session, &info);
            killed += 1;
        }
    }
    session.reply_count(killed)
}

/// The old form: an address, and an error if nobody has it.
fn kill_address(session: &mut Session<'_, '_>, address: &[u8]) -> Outcome {
    let clients = session.engine.clients.list();
    let meant = clients.iter().find(|info| info.peer.address.as_bytes() == address);
    let meant = meant.ok_or(Error::text("ERR No such client"))?;
    end(session, meant);
    session.reply_ok()
}

/// Closes a connection; the one that asks for it gets its reply first.
fn end(session: &mut Session<'_, '_>, info: &ClientInfo) {
    info.killed.store(true, Relaxed);
    if info.id == session.connection.info.id {
        session.connection.close = Close::AfterFlush;
    } else {
        session.worker.tell(info.worker, Mail::Killed { connection: info.id });
    }
}
