//! CLUSTER and its like, on a server that is no node of a cluster: refused as Valkey refuses them,
//! so that clients that ask see a standalone server.

use crate::session::{DONE, Outcome, Session, SessionCommand};
use caudal_commands::{Args, Error, Flags, Group, KeyFlags, Spec};
use caudal_text::crc16;

const UNSTEADY: &[&str] = &["nondeterministic_output"];

const fn spec(name: &'static str, summary: &'static str) -> Spec {
    Spec::new(name, summary).of("CLUSTER").group(Group::Cluster)
}

/// A command that changes the cluster.
const fn governs(name: &'static str, summary: &'static str) -> Spec {
    spec(name, summary).admin().flag(Flags::NO_ASYNC_LOADING).flag(Flags::STALE)
}

/// A command that tells of it, at any time.
const fn tells(name: &'static str, summary: &'static str) -> Spec {
    spec(name, summary).flag(Flags::LOADING).flag(Flags::STALE)
}

const fn refused(spec: Spec) -> SessionCommand {
    SessionCommand::new(spec, refuse)
}

const fn on_connection(name: &'static str, summary: &'static str) -> Spec {
    Spec::new(name, summary)
        .group(Group::Cluster)
        .since("3.0.0")
        .arity(1)
        .fast()
        .categories(&["connection"])
}

const ASKING: Spec =
    on_connection("ASKING", "Lets the next command go to a slot that is being imported.");
const READONLY: Spec =
    on_connection("READONLY", "Lets this connection read from a replica.").loading_stale();
const READWRITE: Spec = on_connection("READWRITE", "Ends what READONLY began.").loading_stale();
const CLUSTERSCAN: Spec = Spec::new("CLUSTERSCAN", "Iterates over the keys of a cluster.")
    .syntax("cursor [MATCH match-pattern:pattern] [COUNT count:int] [TYPE type] [SLOT slot:int]")
    .group(Group::Cluster)
    .since("9.1.0")
    .arity(-2)
    .readonly()
    .categories(&["keyspace"])
    .complexity("O(N) with N the number of keys returned.")
    .tips(&["nondeterministic_output", "request_policy:special", "response_policy:special"])
    .key(1, KeyFlags::NOT_KEY);
const KEYSLOT: Spec = spec("KEYSLOT", "Returns the slot of a key.")
    .syntax("key:string")
    .since("3.0.0")
    .arity(3)
    .flag(Flags::STALE)
    .complexity("O(N) with N the bytes of the key.");

/// The family.
pub(super) const COMMANDS: &[SessionCommand] = &[
    SessionCommand::new(ASKING, refuse),
    SessionCommand::new(CLUSTERSCAN, refuse),
    SessionCommand::new(READONLY, ok),
    SessionCommand::new(READWRITE, ok),
    refused(
        governs("ADDSLOTS", "Gives this node slots.")
            .syntax("slot:int...")
            .since("3.0.0")
            .arity(-3)
            .complexity("O(N) with N the number of slots."),
    ),
    refused(
        governs("ADDSLOTSRANGE", "Gives this node ranges of slots.")
            .syntax("range(start-slot:int end-slot:int)...")
            .since("7.0.0")
            .arity(-4)
            .complexity("O(N) with N the number of slots."),
    ),
    refused(
        governs("BUMPEPOCH", "Raises the epoch of this node's configuration.")
            .since("3.0.0")
            .arity(2)
            .tips(UNSTEADY),
    ),
    refused(
        governs("CANCELSLOTMIGRATIONS", "Ends all migrations of slots.")
            .since("9.0.0")
            .arity(2)
            .complexity("O(N) with N the number of migrations."),
    ),
    refused(
        spec("COUNT-FAILURE-REPORTS", "Returns how many nodes report that a node fails.")
            .syntax("node-id")
            .since("3.0.0")
            .arity(3)
            .admin()
            .flag(Flags::STALE)
            .complexity("O(N) with N the number of reports.")
            .tips(UNSTEADY),
    ),
    refused(
        spec("COUNTKEYSINSLOT", "Returns the number of keys in a slot.")
            .syntax("slot:int")
            .since("3.0.0")
            .arity(3)
            .flag(Flags::STALE),
    ),
    refused(
        governs("DELSLOTS", "Takes slots from this node's view of the cluster.")
            .syntax("slot:int...")
            .since("3.0.0")
            .arity(-3)
            .complexity("O(N) with N the number of slots."),
    ),
    refused(
        governs("DELSLOTSRANGE", "Takes ranges of slots from this node's view.")
            .syntax("range(start-slot:int end-slot:int)...")
            .since("7.0.0")
            .arity(-4)
            .complexity("O(N) with N the number of slots."),
    ),
    refused(
        governs("FAILOVER", "Makes this replica the master of its slots.")
            .syntax("[options<FORCE|TAKEOVER>]")
            .since("3.0.0")
            .arity(-2),
    ),
    refused(
        spec("FLUSHSLOT", "Removes all keys of a slot.")
            .syntax("slot:int [flush-type<ASYNC|SYNC>]")
            .since("9.0.0")
            .arity(-3)
            .categories(&["keyspace"])
            .write()
            .admin()
            .flag(Flags::NO_ASYNC_LOADING)
            .complexity("O(N) with N the number of keys in the slot."),
    ),
    refused(
        governs("FLUSHSLOTS", "Takes all slots from this node's view.").since("3.0.0").arity(2),
    ),
    refused(
        governs("FORGET", "Takes a node from the table of nodes.")
            .syntax("node-id")
            .since("3.0.0")
            .arity(3),
    ),
    refused(
        spec("GETKEYSINSLOT", "Returns keys of a slot.")
            .syntax("slot:int count:int")
            .since("3.0.0")
            .arity(4)
            .flag(Flags::STALE)
            .complexity("O(N) with N the number of keys asked for.")
            .tips(UNSTEADY),
    ),
    refused(
        governs("GETSLOTMIGRATIONS", "Describes migrations of slots.")
            .since("9.0.0")
            .arity(2)
            .complexity("O(N) with N the number of migrations."),
    ),
    refused(tells("HELP", "Prints this help.").since("5.0.0").arity(2)),
    refused(tells("INFO", "Describes the cluster's state.").since("3.0.0").arity(2).tips(UNSTEADY)),
    SessionCommand::new(KEYSLOT, key_slot),
    refused(
        spec("LINKS", "Describes the connections between the nodes.")
            .since("7.0.0")
            .arity(2)
            .flag(Flags::STALE)
            .complexity("O(N) with N the number of nodes.")
            .tips(UNSTEADY),
    ),
    refused(
        governs("MEET", "Has a node join this one's cluster.")
            .syntax("ip port:int [cluster-bus-port:int@4.0.0]")
            .since("3.0.0")
            .arity(-4),
    ),
    refused(
        governs("MIGRATESLOTS", "Moves slots to other nodes.")
            .syntax(
                "migration-group(slotsrange-token=SLOTSRANGE \
                 range(start-slot:int end-slot:int)... node-token=NODE node-id)...",
            )
            .since("9.0.0")
            .arity(-4)
            .complexity("O(N) with N the number of slots."),
    ),
    refused(tells("MYID", "Returns this node's id.").since("3.0.0").arity(2)),
    refused(
        tells("MYSHARDID", "Returns the id of this node's shard.")
            .since("7.2.0")
            .arity(2)
            .tips(UNSTEADY),
    ),
    refused(
        tells("NODES", "Describes all nodes.")
            .since("3.0.0")
            .arity(2)
            .complexity("O(N) with N the number of nodes.")
            .tips(UNSTEADY),
    ),
    refused(
        spec("REPLICAS", "Describes a master's replicas.")
            .syntax("node-id")
            .since("5.0.0")
            .arity(3)
            .admin()
            .flag(Flags::STALE)
            .complexity("O(N) with N the number of replicas.")
            .tips(UNSTEADY),
    ),
    refused(
        governs("REPLICATE", "Makes this node a replica of another.")
            .syntax("args<node-id|no-one(NO ONE)@9.0.0>")
            .since("3.0.0")
            .arity(-3),
    ),
    refused(
        spec("RESET", "Makes this node forget the cluster.")
            .syntax("[reset-type<HARD|SOFT>]")
            .since("3.0.0")
            .arity(-2)
            .admin()
            .no_script()
            .flag(Flags::STALE)
            .complexity("O(N) with N the number of nodes."),
    ),
    refused(
        governs("SAVECONFIG", "Saves this node's view of the cluster.").since("3.0.0").arity(2),
    ),
    refused(
        governs("SET-CONFIG-EPOCH", "Sets the epoch of a new node's configuration.")
            .syntax("config-epoch:int")
            .since("3.0.0")
            .arity(3),
    ),
    refused(
        governs("SETSLOT", "Binds a slot to a node.")
            .syntax(
                "slot:int subcommand<IMPORTING importing'node-id'|MIGRATING migrating'node-id'|\
                 NODE node'node-id'|STABLE> [TIMEOUT timeout:int@8.0.0]",
            )
            .since("3.0.0")
            .arity(-4),
    ),
    refused(
        tells("SHARDS", "Describes the shards and their slots.")
            .since("7.0.0")
            .arity(2)
            .complexity("O(N) with N the number of nodes.")
            .tips(UNSTEADY),
    ),
    refused(
        spec("SLAVES", "Does what CLUSTER REPLICAS does.")
            .syntax("node-id")
            .since("3.0.0")
            .arity(3)
            .deprecated("5.0.0", "CLUSTER REPLICAS")
            .admin()
            .flag(Flags::STALE)
            .complexity("O(N) with N the number of replicas.")
            .tips(UNSTEADY),
    ),
    refused(
        tells("SLOT-STATS", "Returns figures on slots.")
            .syntax(
                "filter<SLOTSRANGE slotsrange(start-slot:int end-slot:int)|ORDERBY \
                 orderby(metric [LIMIT limit:int] [order<ASC|DESC>])>",
            )
            .since("8.0.0")
            .arity(-4)
            .complexity("O(N*log(N)) with N the number of slots.")
            .tips(&["nondeterministic_output", "request_policy:all_shards"]),
    ),
    refused(
        tells("SLOTS", "Describes which nodes have which slots.")
            .since("3.0.0")
            .arity(2)
            .complexity("O(N) with N the number of nodes.")
            .tips(UNSTEADY),
    ),
    refused(
        governs("SYNCSLOTS", "Moves slots between nodes, for nodes.")
            .since("9.0.0")
            .arity(-3)
            .internal()
            .complexity("Depends on subcommand."),
    ),
];

fn refuse(_: &mut Session<'_, '_>, _: Args<'_>) -> Outcome {
    Err(Error::text("ERR This instance has cluster support disabled"))
}

/// Without a cluster there is nothing that a connection could read from elsewhere.
fn ok(session: &mut Session<'_, '_>, _: Args<'_>) -> Outcome {
    session.reply_ok()
}

/// The slot that the key would have in a cluster.
fn key_slot(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    session.reply().integer(crc16::slot(args.at(2)).into());
    DONE
}
