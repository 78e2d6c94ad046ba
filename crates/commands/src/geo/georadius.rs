//! GEORADIUS, GEORADIUSBYMEMBER, and each without its options to store.

use super::search;
use super::terms::Form;
use crate::{Args, Context, Group, KeyFlags, Outcome, Spec};

const fn spec(name: &'static str, summary: &'static str, arity: i16) -> Spec {
    Spec::new(name, summary)
        .group(Group::Geo)
        .arity(arity)
        .complexity("O(N+log(M)) with N members near the circle and M in the sorted set.")
        .key(1, KeyFlags::RO.and(KeyFlags::ACCESS))
}

/// Storing behind the argument `from`, which may or may not be said.
const fn storing(spec: Spec, from: u8) -> Spec {
    let flags = KeyFlags::OW.and(KeyFlags::UPDATE).and(KeyFlags::VARIABLE);
    spec.write().deny_oom().key_after_word("STORE", from, flags).key_after_word(
        "STOREDIST",
        from,
        flags,
    )
}

const IN_CIRCLE: &str = "Finds the members within a circle.";
const AROUND_MEMBER: &str = "Finds the members within a circle around one of them.";

pub(crate) const GEORADIUS: Spec = storing(
    spec("GEORADIUS", IN_CIRCLE, -6).syntax(
        "key longitude:double latitude:double radius:double unit<M|KM|FT|MI> [WITHCOORD] \
         [WITHDIST] [WITHHASH] [count-block(COUNT count:int [ANY@6.2.0])] [order<ASC|DESC>] \
         [store<STORE storekey'key':key|STOREDIST storedistkey'key':key>]",
    ),
    6,
)
.since("3.2.0");
pub(crate) const GEORADIUS_RO: Spec = spec("GEORADIUS_RO", IN_CIRCLE, -6)
    .syntax(
        "key longitude:double latitude:double radius:double unit<M|KM|FT|MI> [WITHCOORD] \
         [WITHDIST] [WITHHASH] [count-block(COUNT count:int [ANY@6.2.0])] [order<ASC|DESC>]",
    )
    .since("3.2.10")
    .readonly();
pub(crate) const GEORADIUSBYMEMBER: Spec = storing(
    spec("GEORADIUSBYMEMBER", AROUND_MEMBER, -5).syntax(
        "key member radius:double unit<M|KM|FT|MI> [WITHCOORD] [WITHDIST] [WITHHASH] \
         [count-block(COUNT count:int [ANY])] [order<ASC|DESC>] \
         [store<STORE storekey'key':key|STOREDIST storedistkey'key':key>]",
    ),
    5,
)
.since("3.2.0");
pub(crate) const GEORADIUSBYMEMBER_RO: Spec = spec("GEORADIUSBYMEMBER_RO", AROUND_MEMBER, -5)
    .syntax(
        "key member radius:double unit<M|KM|FT|MI> [WITHCOORD] [WITHDIST] [WITHHASH] \
         [count-block(COUNT count:int [ANY])] [order<ASC|DESC>]",
    )
    .since("3.2.10")
    .readonly();

pub(crate) fn georadius(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    search::run(context, args, Form::Radius { stores: true }, 1)
}

pub(crate) fn georadius_ro(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    search::run(context, args, Form::Radius { stores: false }, 1)
}

pub(crate) fn georadiusbymember(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    search::run(context, args, Form::RadiusByMember { stores: true }, 1)
}

pub(crate) fn georadiusbymember_ro(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    search::run(context, args, Form::RadiusByMember { stores: false }, 1)
}
