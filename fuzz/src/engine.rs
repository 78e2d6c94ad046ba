//! Targets that reach the engine: bytes become commands, scripts' values and users' rules.

use caudal_engine::config::Config;
use caudal_engine::local::{Client, Local, encode};
use caudal_wire::Frame;
use std::sync::OnceLock;

/// Words that commands look for, keys and numbers: what bytes below [`RAW`] stand for.
const WORDS: &[&str] = &[
    "k",
    "l",
    "s",
    "h",
    "z",
    "x",
    "g",
    "c",
    "0",
    "1",
    "2",
    "-1",
    "3.5",
    "inf",
    "nan",
    "*",
    "$",
    ">",
    "+",
    "-",
    "0-1",
    "5-5",
    "(1",
    "[a",
    "9223372036854775807",
    "-9223372036854775808",
    "1e400",
    "LIMIT",
    "COUNT",
    "MATCH",
    "TYPE",
    "NX",
    "XX",
    "GT",
    "LT",
    "CH",
    "INCR",
    "EX",
    "PX",
    "EXAT",
    "PXAT",
    "KEEPTTL",
    "PERSIST",
    "GET",
    "STORE",
    "BY",
    "ASC",
    "DESC",
    "ALPHA",
    "WITHSCORES",
    "WITHVALUES",
    "WEIGHTS",
    "AGGREGATE",
    "SUM",
    "FIELDS",
    "FNX",
    "FXX",
    "LEFT",
    "RIGHT",
    "BEFORE",
    "AFTER",
    "MAXLEN",
    "MINID",
    "~",
    "=",
    "MKSTREAM",
    "CREATE",
    "DESTROY",
    "SETID",
    "GROUP",
    "STREAMS",
    "BLOCK",
    "NOACK",
    "IDLE",
    "TIME",
    "RETRYCOUNT",
    "FORCE",
    "JUSTID",
    "KEEPREF",
    "DELREF",
    "ACKED",
    "IDS",
    "BYBOX",
    "BYRADIUS",
    "FROMMEMBER",
    "FROMLONLAT",
    "BYPOLYGON",
    "m",
    "km",
    "u8",
    "i64",
    "OVERFLOW",
    "SAT",
    "WRAP",
    "BIT",
    "BYTE",
    "AND",
    "DIFF",
    "ANDOR",
    "REPLACE",
    "DB",
    "ON",
    "OFF",
    "BCAST",
    "PREFIX",
    "OPTIN",
    "NOLOOP",
    "REDIRECT",
    "REV",
    "BYSCORE",
    "BYLEX",
    "RANK",
    "IFEQ",
    "IFNE",
    "IFDEQ",
    "IFDNE",
    "ABSTTL",
    "FREQ",
    "ASYNC",
    "SYNC",
    "ENTRIES",
    "FULL",
];
/// From here on a byte begins a word of its own: its length, and its bytes follow.
const RAW: u8 = 200;
/// Words behind a command's name.
const ARGUMENTS_MAX: u8 = 10;

/// Commands of every name, by two clients. Afterwards the store still answers.
pub fn commands(bytes: &[u8]) {
    static NAMES: OnceLock<Vec<String>> = OnceLock::new();
    run_commands(bytes, &NAMES, |_| true);
}

/// Commands on streams: ids, groups, consumers.
pub fn streams(bytes: &[u8]) {
    static NAMES: OnceLock<Vec<String>> = OnceLock::new();
    let has = |name: &str| name.starts_with('X') || matches!(name, "MULTI" | "EXEC" | "DEL");
    run_commands(bytes, &NAMES, has);
}

/// An empty store of one worker. As few databases as MOVE, COPY and SWAPDB need: to walk all slots
/// of 16 took most of the time of a run.
fn store() -> Local {
    let arguments = ["--databases", "3"].map(str::to_owned);
    let (config, _) = Config::load(&arguments, &|_| unreachable!("no file is named"))
        .expect("a directive of the table");
    Local::new(config, 1)
}

/// A command is a byte for its name, one for its client and number of words, and its words.
fn run_commands(bytes: &[u8], names: &OnceLock<Vec<String>>, has: impl Fn(&str) -> bool) {
    let mut local = store();
    let clients = [local.connect(0), local.connect(0)];
    let names = names.get_or_init(|| names_of(&mut local, clients[0], has));
    let mut bytes = bytes.iter().copied();
    while let (Some(name), Some(shape)) = (bytes.next(), bytes.next()) {
        let index = usize::from(name) + 256 * usize::from(shape >> 6);
        let name = &names[index % names.len()];
        let mut words: Vec<Vec<u8>> = name.split('|').map(|word| word.as_bytes().into()).collect();
        for _ in 0..shape % (ARGUMENTS_MAX + 1) {
            words.extend(word(&mut bytes));
        }
        let client = clients[usize::from(shape >> 5 & 1)];
        local.send(client, &encode(&words));
        // Waiters time out, keys expire.
        local.advance_ms(u64::from(shape));
        local.receive(client);
    }
    local.advance_ms(1 << 32);
    let client = local.connect(0);
    assert_eq!(local.say(client, "PING"), "PONG");
}

/// All names of commands and subcommands, but for those that end the process or take their time.
fn names_of(local: &mut Local, client: Client, has: impl Fn(&str) -> bool) -> Vec<String> {
    let Frame::Array(list) = local.call(client, &["COMMAND", "LIST"]) else { return Vec::new() };
    let name = |frame: Frame| match frame {
        Frame::Bulk(name) => String::from_utf8(name).ok().map(|name| name.to_uppercase()),
        _ => None,
    };
    let is_wanted = |name: &String| {
        has(name) && !matches!(&**name, "SHUTDOWN" | "DEBUG") && !name.starts_with("EVAL")
    };
    list.into_iter().filter_map(name).filter(is_wanted).collect()
}

fn word(bytes: &mut impl Iterator<Item = u8>) -> Option<Vec<u8>> {
    let first = bytes.next()?;
    if first < RAW {
        return Some(WORDS[usize::from(first) % WORDS.len()].into());
    }
    Some(bytes.take(usize::from(first - RAW)).collect())
}

/// Values that scripts make of bytes: the libraries' decoders and packers, and replies of commands.
/// The first byte chooses what is called; zero bytes part the arguments.
pub fn lua(bytes: &[u8]) {
    const SCRIPTS: &[&str] = &[
        "return cjson.encode(cjson.decode(ARGV[1]))",
        "return cjson.decode(ARGV[1])",
        "return cmsgpack.pack(cmsgpack.unpack(ARGV[1]))",
        "return {cmsgpack.unpack_limit(ARGV[1], 3, tonumber(ARGV[2]) or 0)}",
        "return {struct.unpack(ARGV[1], ARGV[2], ARGV[3])}",
        "return struct.pack(ARGV[1], ARGV[2], ARGV[3], ARGV[4])",
        "return struct.size(ARGV[1])",
        "return {bit.tobit(ARGV[1]), bit.tohex(ARGV[1], ARGV[2]), bit.bswap(ARGV[1])}",
        "return {bit.band(unpack(ARGV))}",
        "return redis.pcall(unpack(ARGV))",
        "redis.setresp(3) return redis.pcall(unpack(ARGV))",
        "return {err = ARGV[1], ok = ARGV[2]}",
        "return {map = {[ARGV[1]] = ARGV[2]}, double = tonumber(ARGV[1])}",
        "return {tonumber(ARGV[1]), tostring(tonumber(ARGV[1])), redis.sha1hex(ARGV[1])}",
        "return string.format(ARGV[1], ARGV[2], ARGV[3])",
        "return redis.error_reply(ARGV[1])",
        "return redis.acl_check_cmd(unpack(ARGV))",
    ];
    let Some((&choice, bytes)) = bytes.split_first() else { return };
    let mut local = store();
    let client = local.connect(0);
    if choice & 128 != 0 {
        local.call(client, &["HELLO", "3"]);
    }
    let script = SCRIPTS[usize::from(choice & 127) % SCRIPTS.len()];
    let mut words: Vec<&[u8]> = vec![b"EVAL", script.as_bytes(), b"0"];
    words.extend(bytes.split(|byte| *byte == 0).take(64));
    local.send(client, &encode(&words));
    local.receive(client);
    local.advance_ms(1 << 32);
    let client = local.connect(0);
    assert_eq!(local.say(client, "PING"), "PONG");
}

/// A user of any rules. What ACL LIST says of it makes the same user again.
pub fn acl(bytes: &[u8]) {
    let mut local = store();
    let client = local.connect(0);
    let mut words: Vec<&[u8]> = vec![b"ACL", b"SETUSER", b"u"];
    words.extend(bytes.split(|byte| *byte == 0).take(64));
    local.call(client, &words);
    local.call(client, &["ACL", "GETUSER", "u"]);
    local.call(client, &["ACL", "DRYRUN", "u", "SORT", "k", "STORE", "l"]);
    let Some(line) = listed(&mut local, client) else { return };
    local.call(client, &["ACL", "DELUSER", "u"]);
    let rules: Vec<&[u8]> = line.split(|byte| *byte == b' ').skip(2).collect();
    let again = [&[b"ACL".as_slice(), b"SETUSER", b"u"], &rules[..]].concat();
    assert!(matches!(local.call(client, &again), Frame::Status(_)), "{}", line.escape_ascii());
    assert_eq!(listed(&mut local, client), Some(line));
}

/// The line of the user `u`.
fn listed(local: &mut Local, client: Client) -> Option<Vec<u8>> {
    let Frame::Array(lines) = local.call(client, &["ACL", "LIST"]) else { return None };
    lines.into_iter().find_map(|line| match line {
        Frame::Bulk(line) if line.starts_with(b"user u ") => Some(line),
        _ => None,
    })
}
