//! GEOSEARCH, GEOSEARCHSTORE.

use super::search;
use super::terms::Form;
use crate::{Args, Context, Group, KeyFlags, Outcome, Spec};

const fn spec(name: &'static str, summary: &'static str, arity: i16) -> Spec {
    Spec::new(name, summary)
        .group(Group::Geo)
        .since("6.2.0")
        .arity(arity)
        .complexity("O(N+log(M)) with N members near the shape and M in the sorted set.")
}

pub(crate) const GEOSEARCH: Spec =
    spec("GEOSEARCH", "Finds the members within a circle, a rectangle or a polygon.", -7)
        .syntax(
            "key \
             [from<FROMMEMBER member|FROMLONLAT fromlonlat(longitude:double latitude:double)>] \
             by<circle(BYRADIUS radius:double unit<M|KM|FT|MI>)|\
             box(BYBOX width:double height:double unit<M|KM|FT|MI>)|polygon(BYPOLYGON \
             num-vertices:int vertices(longitude:double latitude:double)...)@9.0.0> \
             [order<ASC|DESC>] [count-block(COUNT count:int [ANY])] [WITHCOORD] [WITHDIST] \
             [WITHHASH]",
        )
        .readonly()
        .key(1, KeyFlags::RO.and(KeyFlags::ACCESS));

pub(crate) const GEOSEARCHSTORE: Spec = spec(
    "GEOSEARCHSTORE",
    "Stores the members within a circle, a rectangle or a polygon at another key.",
    -8,
)
.syntax(
    "destination:key source:key \
     [from<FROMMEMBER member|FROMLONLAT fromlonlat(longitude:double latitude:double)>] \
     by<circle(BYRADIUS radius:double unit<M|KM|FT|MI>)|\
     box(BYBOX width:double height:double unit<M|KM|FT|MI>)|\
     polygon(BYPOLYGON num-vertices:int vertices(longitude:double latitude:double)...)@9.0.0> \
     [order<ASC|DESC>] [count-block(COUNT count:int [ANY])] [STOREDIST]",
)
.write()
.deny_oom()
.key(1, KeyFlags::OW.and(KeyFlags::UPDATE))
.key(2, KeyFlags::RO.and(KeyFlags::ACCESS));

pub(crate) fn geosearch(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    search::run(context, args, Form::Search, 1)
}

pub(crate) fn geosearchstore(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    search::run(context, args, Form::SearchStore, 2)
}
