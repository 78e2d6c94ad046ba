//! DEBUG PROTOCOL: one value of each type of the protocol, for tests of clients.

use crate::session::{DONE, Outcome, Session};
use caudal_commands::{Args, Error};
use caudal_wire::Protocol;

/// Replies with a value of the type that is named.
pub(super) fn reply(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let is_old = session.connection.protocol == Protocol::Resp2;
    let mut reply = session.connection.reply();
    match args.at(2).to_ascii_lowercase().as_slice() {
        b"string" => reply.bulk(b"Hello World"),
        b"integer" => reply.integer(12345),
        // Redis's three digits, and no approximation of anything.
        b"double" => reply.double(3141.0 / 1000.0),
        b"null" => reply.null(),
        b"array" => {
            reply.array(3);
            [0, 1, 2].iter().for_each(|number| reply.integer(*number));
        }
        b"set" => {
            reply.set(3);
            [0, 1, 2].iter().for_each(|number| reply.integer(*number));
        }
        b"map" => {
            reply.map(3);
            for (key, value) in [(0, false), (1, true), (2, false)] {
                reply.integer(key);
                reply.boolean(value);
            }
        }
        b"attrib" => {
            if reply.attribute(1) {
                reply.bulk(b"key-popularity");
                reply.array(2);
                reply.bulk(b"key:123");
                reply.integer(90);
            }
            reply.bulk(b"Some real reply following the attribute");
        }
        b"push" if is_old => {
            return Err(Error::text("ERR RESP2 is not supported by this command"));
        }
        b"push" => {
            reply.bulk(b"Some real reply following the push reply");
            reply.push(2);
            reply.bulk(b"server-cpu-usage");
            reply.integer(42);
        }
        b"verbatim" => reply.verbatim(b"txt", b"This is a verbatim\nstring"),
        b"true" => reply.boolean(true),
        b"false" => reply.boolean(false),
        b"bignum" => reply.big_number(b"1234567999999999999999999999999999999"),
        _ => {
            return Err(Error::text(
                "ERR Wrong protocol type name. Please use one of the following: \
                 string|integer|double|bignum|null|array|set|map|attrib|push|verbatim|true|false",
            ));
        }
    }
    DONE
}
