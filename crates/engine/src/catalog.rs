//! All commands, by name: those on data and those on the session, in one table made once.

use crate::acl::COMMANDS_MAX;
use crate::plain::Plain;
use crate::session::{self, SessionCommand};
use caudal_commands::{
    Args, Command, Context, Find, Flags, KeyFlags, KeySpec, Outcome, Reads, Spec,
};
use caudal_table::Mode;
use std::sync::OnceLock;

/// A command's code.
#[derive(Clone, Copy)]
pub(crate) enum Handler {
    /// On data: its keys are locked first.
    Data(fn(&mut Context<'_, '_>, Args<'_>) -> Outcome),
    /// On the session or the server.
    Session(session::Apply),
    /// CLIENT, CONFIG, ...: the second word names the command.
    Container,
}

/// Whether a command runs a script, which may take long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunsScript {
    Never,
    Always,
    /// EXEC: if a queued command does.
    IfQueued,
}

/// A command in the table.
pub(crate) struct Entry {
    /// Its index, for statistics.
    pub(crate) id: u16,
    pub(crate) spec: Spec,
    /// `get`, `client|id`.
    pub(crate) full_name: String,
    pub(crate) handler: Handler,
    pub(crate) other_database: Option<fn(Args<'_>) -> Option<u8>>,
    reads: Option<Reads>,
    /// The only key's argument and how its slot is locked: the common case, decided once.
    pub(crate) single_key: Option<(usize, Mode)>,
    /// How it runs where nothing special is on, if it needs nothing special itself.
    pub(crate) plain: Option<Plain>,
    /// The first key's argument, if there are keys.
    pub(crate) first_key: Option<usize>,
    pub(crate) runs_script: RunsScript,
    /// A container's commands, by index in the table.
    pub(crate) subcommands: Vec<u16>,
}

impl Entry {
    /// Whether a request's first word alone names it.
    pub(crate) fn has_own_name(&self) -> bool {
        self.subcommands.is_empty() && self.spec.parent.is_none()
    }

    fn new(id: usize, spec: Spec, handler: Handler) -> Entry {
        let single_key = match spec.keys() {
            [key]
                if is_key(&key) && key.find == (Find::Range { last: key.first as i8, step: 1 }) =>
            {
                Some((usize::from(key.first), mode_of(key.flags)))
            }
            _ => None,
        };
        Entry {
            id: u16::try_from(id).expect("a few hundred commands"),
            full_name: spec.full_name(),
            first_key: spec.keys().first().filter(is_key).and_then(|key| match key.find {
                Find::Range { .. } => Some(usize::from(key.first)),
                Find::Counted | Find::CountedPairs => Some(usize::from(key.first) + 1),
                Find::Behind(_)
                | Find::AllBehind(_)
                | Find::After(_)
                | Find::InContent
                | Find::AfterStore => None,
            }),
            runs_script: match spec.name {
                _ if spec.flags.has(Flags::NO_MANDATORY_KEYS) => RunsScript::Always,
                "EXEC" => RunsScript::IfQueued,
                _ => RunsScript::Never,
            },
            spec,
            handler,
            other_database: None,
            reads: None,
            single_key,
            plain: None,
            subcommands: Vec::new(),
        }
    }

    /// Calls `each` for every key's argument index, with what happens to it. Nothing if the
    /// arguments do not make sense: the command will say why.
    pub(crate) fn each_key(&self, args: Args<'_>, mut each: impl FnMut(usize, KeyFlags)) {
        if let [key, KeySpec { find: Find::AllBehind(_), .. }] = self.spec.keys() {
            return self.own_keys(args).for_each(|at| each(at, key.flags));
        }
        for key in self.spec.keys().iter().filter(is_key) {
            let first = usize::from(key.first);
            match key.find {
                Find::Range { last, step } => {
                    let last = match usize::try_from(last) {
                        Ok(last) => last,
                        Err(_) => (args.len()).saturating_sub(usize::from(last.unsigned_abs())),
                    };
                    let last = last.min(args.len().saturating_sub(1));
                    (first..=last).step_by(usize::from(step)).for_each(|at| each(at, key.flags));
                }
                Find::Behind(_) => self.own_keys(args).for_each(|at| each(at, key.flags)),
                Find::Counted | Find::CountedPairs => {
                    let Some((count, step)) = counted(key, args) else { continue };
                    let last = first + count * step;
                    (first + 1..=last).step_by(step).for_each(|at| each(at, key.flags));
                }
                Find::InContent | Find::AllBehind(_) => {}
                Find::AfterStore => {
                    if let Some(at) = after_store(args, first) {
                        each(at, key.flags);
                    }
                }
                Find::After(word) => {
                    if let Some((at, said)) = self.last_said(args, first)
                        && said == word
                    {
                        each(at, key.flags);
                    }
                }
            }
        }
    }

    /// Whether as many keys follow their number as it says.
    pub(crate) fn counts_hold(&self, args: Args<'_>) -> bool {
        let needs_count = |key: &&KeySpec| matches!(key.find, Find::Counted | Find::CountedPairs);
        self.spec.keys().iter().filter(needs_count).all(|key| counted(key, args).is_some())
    }

    /// The keys that the command finds by itself.
    fn own_keys(&self, args: Args<'_>) -> std::ops::Range<usize> {
        self.reads.map_or(0..0, |reads| (reads.keys)(args))
    }

    /// The last of the words before a key, and where the key stands: STORE and STOREDIST are one
    /// option.
    fn last_said(&self, args: Args<'_>, first: usize) -> Option<(usize, &'static str)> {
        let (mut found, mut at) = (None, first);
        while at + 1 < args.len() {
            let said = self.spec.keys().iter().find_map(|key| match key.find {
                Find::After(word) if args.is(at, word) => Some(word),
                _ => None,
            });
            found = said.map(|word| (at + 1, word)).or(found);
            at += 1 + usize::from(said.is_some());
        }
        found
    }

    /// How the slots of keys are locked, by their flags.
    pub(crate) fn modes(&self, args: Args<'_>) -> impl Fn(KeyFlags) -> Mode + use<> {
        let exclusive = self.reads.is_some_and(|reads| (reads.exclusive)(args));
        move |flags| if exclusive { Mode::Exclusive } else { mode_of(flags) }
    }
}

/// The number of keys that stands before them, and how far they are apart. None if it is no number,
/// or they do not all follow.
fn counted(key: &KeySpec, args: Args<'_>) -> Option<(usize, usize)> {
    let (first, step) = (usize::from(key.first), if key.find == Find::Counted { 1 } else { 2 });
    let count = args.get(first).and_then(caudal_text::integer::parse_i64)?;
    let count = usize::try_from(count).ok()?;
    let left = args.len().saturating_sub(first + 1);
    (count <= left.div_ceil(step)).then_some((count, step))
}

/// Where SORT's target stands: the argument behind the last STORE.
fn after_store(args: Args<'_>, first: usize) -> Option<usize> {
    let (mut found, mut at) = (None, first);
    while at < args.len() {
        at += if args.is(at, "LIMIT") {
            3
        } else if args.is(at, "BY") || args.is(at, "GET") {
            2
        } else if args.is(at, "STORE") && at + 1 < args.len() {
            found = Some(at + 1);
            2
        } else {
            1
        };
    }
    found
}

/// Whether an argument names a key, and not something else that belongs to a slot.
fn is_key(spec: &&KeySpec) -> bool {
    !spec.flags.has(KeyFlags::NOT_KEY)
}

/// Keys whose flags depend on the arguments.
impl Entry {
    /// What happens to a key: SET reads it only for GET, BITFIELD writes it only for SET and
    /// INCRBY.
    pub(crate) fn settled(&self, args: Args<'_>, flags: KeyFlags) -> KeyFlags {
        let says = |word| (2..args.len()).any(|at| args.is(at, word));
        let read = KeyFlags::ACCESS;
        match self.spec.name {
            _ if !flags.has(KeyFlags::VARIABLE) || self.spec.parent.is_some() => flags,
            "SET" if (3..args.len()).any(|at| args.is(at, "GET")) => {
                KeyFlags::RW.and(read).and(KeyFlags::UPDATE)
            }
            "SET" => KeyFlags::OW.and(KeyFlags::UPDATE),
            "BITFIELD" if !says("SET") && !says("INCRBY") => KeyFlags::RO.and(read),
            _ => flags.without(KeyFlags::VARIABLE),
        }
    }
}

/// How the slot of a key with these flags is locked, if they tell all.
fn mode_of(flags: KeyFlags) -> Mode {
    if flags.has(KeyFlags::RO) { Mode::Shared } else { Mode::Exclusive }
}

/// The table.
pub(crate) struct Catalog {
    entries: Vec<Entry>,
    /// Open addressing by name.
    by_name: Box<[Named]>,
}

/// A place in the table of names.
#[derive(Clone, Copy, Default)]
struct Named {
    /// See [`word_of`].
    word: u64,
    /// Bytes of the name; 0: the place is free.
    len: u32,
    entry: u32,
}

/// Places for names: several times the number of commands, so that most are met at the first look.
const NAME_PLACES: usize = 4096;

/// Bytes of a name that [`word_of`] holds whole.
const WORD_BYTES: usize = 8;

/// A name's first four and last four bytes in lower case: all of a name of up to eight bytes.
#[inline]
fn word_of(name: &[u8]) -> u64 {
    /// Makes letters lower case. It leaves names' digits, `_` and `-` different from each other.
    const CASE: u64 = 0x2020_2020_2020_2020;
    let word = match (name.first_chunk::<4>(), name.last_chunk::<4>()) {
        (Some(first), Some(last)) => {
            u64::from(u32::from_le_bytes(*first)) << 32 | u64::from(u32::from_le_bytes(*last))
        }
        _ => match *name {
            [a, b, c] => u64::from(u32::from_le_bytes([a, b, c, 0])),
            [a, b] => u64::from(u32::from_le_bytes([a, b, 0, 0])),
            [a] => u64::from(a),
            _ => 0,
        },
    };
    word | CASE
}

/// Where to look for a name first.
#[inline]
fn place_of(word: u64, len: usize) -> usize {
    ((word ^ len as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52) as usize % NAME_PLACES
}

impl Catalog {
    /// The one table of the process.
    pub(crate) fn get() -> &'static Catalog {
        static CATALOG: OnceLock<Catalog> = OnceLock::new();
        CATALOG.get_or_init(Catalog::build)
    }

    fn build() -> Catalog {
        let mut catalog =
            Catalog { entries: Vec::new(), by_name: vec![Named::default(); NAME_PLACES].into() };
        let data = caudal_commands::all().chain(session::data());
        for Command { spec, apply, other_database, reads } in data {
            let id = catalog.add(*spec, Handler::Data(*apply));
            catalog.entries[id].other_database = *other_database;
            catalog.entries[id].reads = *reads;
            catalog.entries[id].plain = Plain::of(&catalog.entries[id]);
        }
        for SessionCommand { spec, apply } in session::all() {
            catalog.add(*spec, Handler::Session(*apply));
        }
        assert!(catalog.entries.len() <= COMMANDS_MAX, "a selector has a bit for each command");
        catalog
    }

    fn add(&mut self, spec: Spec, handler: Handler) -> usize {
        let id = self.entries.len();
        self.entries.push(Entry::new(id, spec, handler));
        let Some(parent) = spec.parent else {
            self.name(spec.name, id);
            return id;
        };
        let number = self.entries[id].id;
        let container = match self.index(parent.as_bytes()) {
            Some(at) => at,
            None => {
                let at = self.entries.len();
                let summary = "Takes a subcommand; HELP lists them.";
                let spec = Spec::new(parent, summary)
                    .arity(-2)
                    .group(spec.group)
                    .since(spec.since)
                    .complexity("Depends on subcommand.");
                self.entries.push(Entry::new(at, spec, Handler::Container));
                self.name(parent, at);
                at
            }
        };
        let container = &mut self.entries[container];
        container.subcommands.push(number);
        if let Handler::Container = container.handler
            && version(spec.since) < version(container.spec.since)
        {
            container.spec.since = spec.since;
        }
        id
    }

    fn name(&mut self, name: &str, id: usize) {
        assert!(self.index(name.as_bytes()).is_none(), "{name} is registered twice");
        let word = word_of(name.as_bytes());
        let mut place = place_of(word, name.len());
        while self.by_name[place].len != 0 {
            place = (place + 1) % NAME_PLACES;
        }
        let small = |number: usize| u32::try_from(number).expect("a few hundred commands");
        self.by_name[place] = Named { word, len: small(name.len()), entry: small(id) };
    }

    #[inline]
    fn index(&self, name: &[u8]) -> Option<usize> {
        let (word, len) = (word_of(name), name.len());
        let mut place = place_of(word, len);
        loop {
            let named = &self.by_name[place];
            if named.word == word && named.len as usize == len && len != 0 {
                let at = named.entry as usize;
                if len <= WORD_BYTES
                    || self.entries[at].spec.name.as_bytes().eq_ignore_ascii_case(name)
                {
                    return Some(at);
                }
            }
            if named.len == 0 {
                return None;
            }
            place = (place + 1) % NAME_PLACES;
        }
    }

    /// The command or container with this name, in any case.
    #[inline]
    pub(crate) fn find(&'static self, name: &[u8]) -> Option<&'static Entry> {
        self.index(name).map(|at| &self.entries[at])
    }

    /// A container's command with this name.
    pub(crate) fn subcommand(&'static self, of: &Entry, name: &[u8]) -> Option<&'static Entry> {
        let entries = of.subcommands.iter().map(|id| &self.entries[usize::from(*id)]);
        entries.into_iter().find(|entry| entry.spec.name.as_bytes().eq_ignore_ascii_case(name))
    }

    /// A container's commands.
    pub(crate) fn subcommands<'e>(&'e self, of: &'e Entry) -> impl Iterator<Item = &'e Entry> {
        of.subcommands.iter().map(|id| &self.entries[usize::from(*id)])
    }

    /// All commands, containers and subcommands.
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The command with this index.
    pub(crate) fn entry(&'static self, id: u16) -> &'static Entry {
        &self.entries[usize::from(id)]
    }

    /// Whether flags of a command say that it changes data.
    pub(crate) fn is_write(entry: &Entry) -> bool {
        entry.spec.flags.has(Flags::WRITE)
    }

    /// Whether flags of a command say that replicas may be told of it.
    pub(crate) fn may_replicate(entry: &Entry) -> bool {
        Catalog::is_write(entry) || entry.spec.flags.has(Flags::MAY_REPLICATE)
    }
}

/// `7.0.15` as numbers, to be compared.
fn version(text: &str) -> Vec<u32> {
    text.split('.').filter_map(|part| part.parse().ok()).collect()
}
