//! The facts of a command: name, arity, flags, keys, categories, documentation.
//!
//! Each command states them once, beside its code; dispatch, COMMAND, ACL and the documentation
//! read them here.

/// What a command is about: COMMAND DOCS' group, and the ACL category that comes with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Strings.
    String,
    /// Keys of any type.
    Generic,
    /// Lists.
    List,
    /// Sets.
    Set,
    /// Hashes.
    Hash,
    /// Sorted sets.
    SortedSet,
    /// Bits of strings.
    Bitmap,
    /// Places on Earth.
    Geo,
    /// Estimates of how many different elements there were.
    HyperLogLog,
    /// Streams.
    Stream,
    /// MULTI and its family.
    Transactions,
    /// Scripts and functions.
    Scripting,
    /// The session itself.
    Connection,
    /// The server as a whole.
    Server,
    /// Many servers as one.
    Cluster,
    /// Messages.
    PubSub,
}

impl Group {
    /// The name as COMMAND DOCS prints it.
    pub const fn name(self) -> &'static str {
        match self {
            Group::String => "string",
            Group::Generic => "generic",
            Group::List => "list",
            Group::Set => "set",
            Group::Hash => "hash",
            Group::SortedSet => "sorted-set",
            Group::Bitmap => "bitmap",
            Group::Geo => "geo",
            Group::HyperLogLog => "hyperloglog",
            Group::Stream => "stream",
            Group::Transactions => "transactions",
            Group::Scripting => "scripting",
            Group::Connection => "connection",
            Group::Server => "server",
            Group::Cluster => "cluster",
            Group::PubSub => "pubsub",
        }
    }
}

/// A set of command flags, one bit each; [`Flags::NAMES`] gives them Redis's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flags(u32);

impl Flags {
    /// Changes data.
    pub const WRITE: Flags = Flags(1 << 0);
    /// Reads data and never changes it.
    pub const READONLY: Flags = Flags(1 << 1);
    /// May grow memory: refused over `maxmemory`.
    pub const DENYOOM: Flags = Flags(1 << 2);
    /// For administrators.
    pub const ADMIN: Flags = Flags(1 << 3);
    /// Publishes or subscribes.
    pub const PUBSUB: Flags = Flags(1 << 4);
    /// Refused in scripts.
    pub const NOSCRIPT: Flags = Flags(1 << 5);
    /// May park its connection.
    pub const BLOCKING: Flags = Flags(1 << 6);
    /// Answered while loading.
    pub const LOADING: Flags = Flags(1 << 7);
    /// Answered by a stale replica.
    pub const STALE: Flags = Flags(1 << 8);
    /// Not shown by MONITOR.
    pub const SKIP_MONITOR: Flags = Flags(1 << 9);
    /// Not written to the slow log.
    pub const SKIP_SLOWLOG: Flags = Flags(1 << 10);
    /// Constant or logarithmic time.
    pub const FAST: Flags = Flags(1 << 11);
    /// Answered before authentication.
    pub const NO_AUTH: Flags = Flags(1 << 12);
    /// Key positions depend on the arguments.
    pub const MOVABLEKEYS: Flags = Flags(1 << 13);
    /// Refused inside MULTI.
    pub const NO_MULTI: Flags = Flags(1 << 14);
    /// Answered while a script runs too long.
    pub const ALLOW_BUSY: Flags = Flags(1 << 15);
    /// Refused while a replica loads beside its old data.
    pub const NO_ASYNC_LOADING: Flags = Flags(1 << 16);
    /// Only for whom `enable-debug-command` allows it; COMMAND INFO does not show it.
    pub const PROTECTED: Flags = Flags(1 << 17);
    /// Answered by a node that only imports the slot.
    pub const ASKING: Flags = Flags(1 << 18);
    /// Has keys only if it is given some.
    pub const NO_MANDATORY_KEYS: Flags = Flags(1 << 19);
    /// Replicas may be told of it although it does not write: to be held back, and refused, where
    /// writes are. COMMAND INFO does not show it.
    pub const MAY_REPLICATE: Flags = Flags(1 << 20);

    /// Acts on a transaction instead of being queued by it.
    pub const CONTROLS_MULTI: Flags = Flags(1 << 21);
    /// On the session, and may run again where a transaction is undone: it only answers, or what it
    /// does is undone with the rest.
    pub const REPEATABLE: Flags = Flags(1 << 22);
    /// A subscriber may say it in RESP2, where every reply to it reads as a message.
    pub const FOR_SUBSCRIBERS: Flags = Flags(1 << 23);
    /// Sends messages to subscribers.
    pub const PUBLISHES: Flags = Flags(1 << 24);
    /// Begins or ends the tracking of its connection's reads.
    pub const TRACKS: Flags = Flags(1 << 25);

    /// COMMAND INFO's names, in Redis's order.
    pub const NAMES: [(Flags, &'static str); 19] = [
        (Flags::WRITE, "write"),
        (Flags::READONLY, "readonly"),
        (Flags::DENYOOM, "denyoom"),
        (Flags::ADMIN, "admin"),
        (Flags::PUBSUB, "pubsub"),
        (Flags::NOSCRIPT, "noscript"),
        (Flags::BLOCKING, "blocking"),
        (Flags::LOADING, "loading"),
        (Flags::STALE, "stale"),
        (Flags::SKIP_MONITOR, "skip_monitor"),
        (Flags::SKIP_SLOWLOG, "skip_commandlog"),
        (Flags::ASKING, "asking"),
        (Flags::FAST, "fast"),
        (Flags::NO_AUTH, "no_auth"),
        (Flags::NO_MANDATORY_KEYS, "no_mandatory_keys"),
        (Flags::MOVABLEKEYS, "movablekeys"),
        (Flags::NO_MULTI, "no_multi"),
        (Flags::ALLOW_BUSY, "allow_busy"),
        (Flags::NO_ASYNC_LOADING, "no_async_loading"),
    ];

    /// Whether all of `other` is set.
    pub const fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    const fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

/// What a command does with a key: COMMAND's key flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyFlags(u16);

impl KeyFlags {
    /// Reads the value; its slot is locked shared.
    pub const RO: KeyFlags = KeyFlags(1);
    /// Reads and writes the value.
    pub const RW: KeyFlags = KeyFlags(1 << 1);
    /// Overwrites the value.
    pub const OW: KeyFlags = KeyFlags(1 << 2);
    /// Removes the key.
    pub const RM: KeyFlags = KeyFlags(1 << 3);
    /// Returns or copies the user's data.
    pub const ACCESS: KeyFlags = KeyFlags(1 << 4);
    /// Changes the user's data.
    pub const UPDATE: KeyFlags = KeyFlags(1 << 5);
    /// Adds the user's data.
    pub const INSERT: KeyFlags = KeyFlags(1 << 6);
    /// Removes the user's data.
    pub const DELETE: KeyFlags = KeyFlags(1 << 7);
    /// The key's kind of access depends on the arguments.
    pub const VARIABLE: KeyFlags = KeyFlags(1 << 8);

    /// No key, although it decides where the command runs: a channel of a shard.
    pub const NOT_KEY: KeyFlags = KeyFlags(1 << 9);
    /// COMMAND's words for these keys do not find all of them.
    pub const INCOMPLETE: KeyFlags = KeyFlags(1 << 10);

    /// COMMAND's names, in Redis's order.
    pub const NAMES: [(KeyFlags, &'static str); 11] = [
        (KeyFlags::RO, "RO"),
        (KeyFlags::RW, "RW"),
        (KeyFlags::OW, "OW"),
        (KeyFlags::RM, "RM"),
        (KeyFlags::ACCESS, "access"),
        (KeyFlags::UPDATE, "update"),
        (KeyFlags::INSERT, "insert"),
        (KeyFlags::DELETE, "delete"),
        (KeyFlags::NOT_KEY, "not_key"),
        (KeyFlags::INCOMPLETE, "incomplete"),
        (KeyFlags::VARIABLE, "variable_flags"),
    ];

    /// Both sets together.
    pub const fn and(self, other: KeyFlags) -> KeyFlags {
        KeyFlags(self.0 | other.0)
    }

    /// This set less the other.
    pub const fn without(self, other: KeyFlags) -> KeyFlags {
        KeyFlags(self.0 & !other.0)
    }

    /// Whether all of `other` is set.
    pub const fn has(self, other: KeyFlags) -> bool {
        self.0 & other.0 == other.0
    }
}

/// Where keys stand among the arguments (argument 0 is the command's name; for a subcommand, the
/// container's).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeySpec {
    /// Index of the first key, or of the number of keys.
    pub first: u8,
    /// How to go on from there.
    pub find: Find,
    /// What happens to these keys.
    pub flags: KeyFlags,
    /// What COMMAND INFO says besides; may be empty.
    pub note: &'static str,
}

/// How the keys after the first are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Find {
    /// Up to the argument `last` (negative: from the end, -1 the last one), every `step`-th.
    Range {
        /// Relative to the whole command, as in COMMAND INFO's last key.
        last: i8,
        /// 2 for MSET.
        step: u8,
    },
    /// `first` holds their number, and they follow it.
    Counted,
    /// `first` holds their number; they follow it, each with its value behind it: MSETEX.
    CountedPairs,
    /// They are the first half of what follows a word, which is looked for from `first` on.
    Behind(&'static str),
    /// All that follows a word, which is looked for backwards from the `first` argument from the
    /// end: MIGRATE's KEYS.
    AllBehind(&'static str),
    /// No word names them: the content of other keys does.
    InContent,
    /// Behind the last STORE that is no argument of another option, from `first` on.
    AfterStore,
    /// One key, behind this word in any case, which may stand anywhere from `first` on: GEORADIUS'
    /// STORE.
    After(&'static str),
}

/// At most this many key specs a command: GEORADIUS and SORT have three.
const KEY_SPECS_MAX: usize = 3;

/// The facts of one command.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// Upper case; a subcommand's own name without its container.
    pub name: &'static str,
    /// The container's name for a subcommand.
    pub parent: Option<&'static str>,
    /// One sentence.
    pub summary: &'static str,
    /// The Redis version that brought it.
    pub since: &'static str,
    /// What it is about.
    pub group: Group,
    /// Number of words, the name included (for a subcommand both words); negative: at least.
    pub arity: i16,
    /// Flags as COMMAND INFO has them.
    pub flags: Flags,
    /// Extra ACL categories beyond those that flags and group imply.
    pub categories: &'static [&'static str],
    /// Whether it needs the gate: every worker stopped between commands.
    pub gate: bool,
    /// Whether it may touch keys that its words do not name.
    pub reaches: bool,
    /// COMMAND's tips.
    pub tips: &'static [&'static str],
    /// Its arguments, as [`syntax`](crate::syntax) reads them.
    pub syntax: &'static str,
    /// Big-O, for COMMAND DOCS.
    pub complexity: &'static str,
    /// The version from which on another command is to be used, and that command.
    pub deprecated: Option<(&'static str, &'static str)>,
    /// Whether it is for servers and tests, and not for applications.
    pub is_internal: bool,
    keys: [KeySpec; KEY_SPECS_MAX],
    keys_len: u8,
}

impl Spec {
    /// A command named in upper case, with one sentence on it.
    pub const fn new(name: &'static str, summary: &'static str) -> Spec {
        let none = key(0, Find::Range { last: 0, step: 1 }, KeyFlags(0));
        Spec {
            name,
            parent: None,
            summary,
            since: "1.0.0",
            group: Group::Generic,
            arity: 1,
            flags: Flags(0),
            categories: &[],
            gate: false,
            reaches: false,
            tips: &[],
            syntax: "",
            complexity: "O(1)",
            deprecated: None,
            is_internal: false,
            keys: [none; KEY_SPECS_MAX],
            keys_len: 0,
        }
    }

    /// The key specs.
    pub fn keys(&self) -> &[KeySpec] {
        &self.keys[..usize::from(self.keys_len)]
    }

    /// `get` or `client|id`, as COMMAND and error texts spell it.
    pub fn full_name(&self) -> String {
        match self.parent {
            Some(parent) => format!("{parent}|{}", self.name).to_ascii_lowercase(),
            None => self.name.to_ascii_lowercase(),
        }
    }

    /// Whether `count` words fit the arity.
    pub const fn accepts(&self, count: usize) -> bool {
        let (least, most) = self.words();
        least <= count && count <= most
    }

    /// The least and the most words that fit the arity.
    pub const fn words(&self) -> (usize, usize) {
        let arity = self.arity.unsigned_abs() as usize;
        (arity, if self.arity >= 0 { arity } else { usize::MAX })
    }

    /// COMMAND INFO's first key, last key and step.
    pub fn legacy_keys(&self) -> (i64, i64, i64) {
        match self.keys().first() {
            Some(KeySpec { first, find: Find::Range { last, step }, .. }) => {
                let (mut last, first) = (i64::from(*last), i64::from(*first));
                // Two ranges side by side (RENAME, SMOVE) read as one.
                if let [_, KeySpec { find: Find::Range { last: second, .. }, .. }] = self.keys() {
                    last = i64::from(*second);
                }
                (first, last, i64::from(*step))
            }
            _ => (0, 0, 0),
        }
    }
}

/// Builders, for the constants on top of each command's file.
impl Spec {
    /// Marks a subcommand of `parent`.
    pub const fn of(mut self, parent: &'static str) -> Spec {
        self.parent = Some(parent);
        self
    }
    /// Number of words; negative: at least.
    pub const fn arity(mut self, arity: i16) -> Spec {
        self.arity = arity;
        self
    }
    /// The Redis version that brought it.
    pub const fn since(mut self, since: &'static str) -> Spec {
        self.since = since;
        self
    }
    /// What it is about.
    pub const fn group(mut self, group: Group) -> Spec {
        self.group = group;
        self
    }
    /// The arguments, as [`syntax`](crate::syntax) reads them.
    pub const fn syntax(mut self, syntax: &'static str) -> Spec {
        self.syntax = syntax;
        self
    }
    /// Big-O for COMMAND DOCS.
    pub const fn complexity(mut self, complexity: &'static str) -> Spec {
        self.complexity = complexity;
        self
    }
    /// Another command is to be used from a version on.
    pub const fn deprecated(mut self, since: &'static str, for_this: &'static str) -> Spec {
        self.deprecated = Some((since, for_this));
        self
    }
    /// For servers and tests.
    pub const fn internal(mut self) -> Spec {
        self.is_internal = true;
        self
    }
    /// Extra ACL categories, without the at sign.
    pub const fn categories(mut self, categories: &'static [&'static str]) -> Spec {
        self.categories = categories;
        self
    }
    /// COMMAND's tips.
    pub const fn tips(mut self, tips: &'static [&'static str]) -> Spec {
        self.tips = tips;
        self
    }
    /// Adds flags.
    pub const fn flag(mut self, flags: Flags) -> Spec {
        self.flags = self.flags.with(flags);
        self
    }
    /// Changes data.
    pub const fn write(self) -> Spec {
        self.flag(Flags::WRITE)
    }
    /// Only reads data.
    pub const fn readonly(self) -> Spec {
        self.flag(Flags::READONLY)
    }
    /// May grow memory.
    pub const fn deny_oom(self) -> Spec {
        self.flag(Flags::DENYOOM)
    }
    /// Constant or logarithmic time.
    pub const fn fast(self) -> Spec {
        self.flag(Flags::FAST)
    }
    /// May park its connection.
    pub const fn blocking(self) -> Spec {
        self.flag(Flags::BLOCKING)
    }
    /// For administrators.
    pub const fn admin(self) -> Spec {
        self.flag(Flags::ADMIN)
    }
    /// Refused in scripts.
    pub const fn no_script(self) -> Spec {
        self.flag(Flags::NOSCRIPT)
    }
    /// Answered while loading and by a stale replica.
    pub const fn loading_stale(self) -> Spec {
        self.flag(Flags::LOADING).flag(Flags::STALE)
    }
    /// Runs with every worker stopped between commands.
    pub const fn at_gate(mut self) -> Spec {
        self.gate = true;
        self
    }
    /// May touch keys that its words do not name.
    pub const fn reaching(mut self) -> Spec {
        self.reaches = true;
        self
    }
    /// One key at argument `index`.
    pub const fn key(self, index: u8, flags: KeyFlags) -> Spec {
        self.key_range(index, index as i8, 1, flags)
    }
    /// Keys from argument `first` to `last` (negative: from the end), every `step`-th.
    pub const fn key_range(self, first: u8, last: i8, step: u8, flags: KeyFlags) -> Spec {
        self.key_spec(key(first, Find::Range { last, step }, flags))
    }
    /// Keys after their number, which stands at argument `index`.
    pub const fn key_count(self, index: u8, flags: KeyFlags) -> Spec {
        self.movable(key(index, Find::Counted, flags))
    }
    /// Keys with their values after the number of keys, which stands at argument `index`.
    pub const fn key_count_pairs(self, index: u8, flags: KeyFlags) -> Spec {
        self.movable(key(index, Find::CountedPairs, flags))
    }
    /// Keys behind `word`, each with something of its own in a second half of the words: XREAD.
    pub const fn keys_behind(self, word: &'static str, from: u8, flags: KeyFlags) -> Spec {
        self.movable(key(from, Find::Behind(word), flags))
    }
    /// Keys behind `word`, up to the last argument, instead of the one that another spec names.
    pub const fn keys_all_behind(self, word: &'static str, back: u8, flags: KeyFlags) -> Spec {
        self.movable(key(back, Find::AllBehind(word), flags.and(KeyFlags::INCOMPLETE)))
    }
    /// Keys that only the content of other keys names.
    pub const fn key_in_content(self, flags: KeyFlags) -> Spec {
        self.movable(key(0, Find::InContent, flags))
    }
    /// A key behind STORE, anywhere from argument `index` on.
    pub const fn key_after_store(self, index: u8, flags: KeyFlags) -> Spec {
        self.movable(key(index, Find::AfterStore, flags))
    }
    /// One key behind `word`, looked for from argument `from` on.
    pub const fn key_after_word(self, word: &'static str, from: u8, flags: KeyFlags) -> Spec {
        self.movable(key(from, Find::After(word), flags))
    }
    /// What COMMAND INFO says besides of the key spec before.
    pub const fn key_note(mut self, note: &'static str) -> Spec {
        self.keys[self.keys_len as usize - 1].note = note;
        self
    }
    const fn movable(self, spec: KeySpec) -> Spec {
        self.flag(Flags::MOVABLEKEYS).key_spec(spec)
    }
    const fn key_spec(mut self, spec: KeySpec) -> Spec {
        self.keys[self.keys_len as usize] = spec;
        self.keys_len += 1;
        self
    }
}

const fn key(first: u8, find: Find, flags: KeyFlags) -> KeySpec {
    KeySpec { first, find, flags, note: "" }
}

#[cfg(test)]
mod tests {
    use super::Flags;

    #[test]
    fn every_flag_is_a_bit_of_its_own() {
        let unnamed = [
            Flags::PROTECTED,
            Flags::MAY_REPLICATE,
            Flags::CONTROLS_MULTI,
            Flags::REPEATABLE,
            Flags::FOR_SUBSCRIBERS,
            Flags::PUBLISHES,
            Flags::TRACKS,
        ];
        let mut seen = 0;
        for flag in Flags::NAMES.iter().map(|(flag, _)| *flag).chain(unnamed) {
            assert!(flag.0.is_power_of_two() && seen & flag.0 == 0, "{flag:?}");
            seen |= flag.0;
        }
        assert_eq!(seen.count_ones(), u32::BITS - seen.leading_zeros(), "none is left out here");
    }
}
