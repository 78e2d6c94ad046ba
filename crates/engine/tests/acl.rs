//! Users and what they may do, as their connections see it.

use caudal_engine::Close;
use caudal_engine::config::{Config, Peer};
use caudal_engine::local::{Client, Local};

const NO_KEY: &str = "-NOPERM No permissions to access a key";
const NO_CHANNEL: &str = "-NOPERM No permissions to access a channel";
const NO_DATABASE: &str = "-NOPERM No permissions to access database";

fn with(pairs: &[(&str, &str)]) -> Config {
    let mut config = Config::default();
    config.set(pairs, Peer::Local).expect("a configuration of the test's own");
    config
}

fn from_text(text: &str) -> Config {
    let read = |_: &std::path::Path| Ok(text.to_owned());
    Config::load(&["x.conf".to_owned()], &read).expect("a configuration of the test's own").0
}

/// A store, an administrator, and a connection of a user `u` with these rules.
fn store(rules: &str) -> (Local, Client, Client) {
    let mut local = Local::new(Config::default(), 2);
    let (admin, client) = (local.connect(0), local.connect(1));
    assert_eq!(local.say(admin, &format!("ACL SETUSER u on >x {rules}")), "OK");
    assert_eq!(local.say(client, "AUTH u x"), "OK");
    (local, admin, client)
}

fn denied(command: &str) -> String {
    format!("-NOPERM User u has no permissions to run the '{command}' command")
}

#[test]
fn a_user_runs_what_its_rules_allow() {
    let (mut local, _, client) = store("+@all -get -config|get +select|1 -select ~a* %R~r %W~w");
    assert_eq!(local.say(client, "ACL WHOAMI"), "u");
    assert_eq!(local.say(client, "SET a 1"), "OK");
    assert_eq!(local.say(client, "GET a"), denied("get"));
    assert_eq!(local.say(client, "SET b 1"), NO_KEY);
    assert_eq!(local.say(client, "MSET a 1 b 1"), NO_KEY);
    assert_eq!(local.say(client, "CONFIG GET port"), denied("config|get"));
    assert_eq!(local.say(client, "CONFIG SET maxmemory 0"), "OK");
    assert_eq!(local.say(client, "SELECT 1"), denied("select"));
    assert_eq!(local.say(client, "STRLEN r"), ":0");
    assert_eq!(local.say(client, "APPEND r x"), NO_KEY);
    assert_eq!(local.say(client, "APPEND w x"), ":1");
    assert_eq!(local.say(client, "GETSET w x"), NO_KEY);
    assert_eq!(local.say(client, "SET w x"), "OK");
    assert_eq!(local.say(client, "SET w x GET"), NO_KEY);
    assert_eq!(local.say(client, "COPY r w"), ":0");
    assert_eq!(local.say(client, "COPY w r"), NO_KEY);
    assert_eq!(local.say(client, "EXISTS r w"), ":1");
    assert_eq!(local.say(client, "PUBLISH c x"), NO_CHANNEL);
    assert_eq!(
        local.say(client, "NOSUCH"),
        "-ERR unknown command 'NOSUCH', with args beginning with: "
    );
}

#[test]
fn one_selector_must_allow_all_of_a_command() {
    let (mut local, admin, client) = store("+get ~a (+set ~b) (+mset +set ~c)");
    assert_eq!(local.say(client, "GET a"), "(nil)");
    assert_eq!(local.say(client, "GET b"), NO_KEY);
    assert_eq!(local.say(client, "SET b 1"), "OK");
    assert_eq!(local.say(client, "MSET c 1 b 1"), NO_KEY);
    assert_eq!(local.say(client, "DEL b"), denied("del"));
    let dry = |local: &mut Local, line: &str| local.say(admin, &format!("ACL DRYRUN u {line}"));
    assert_eq!(dry(&mut local, "GET a"), "OK");
    let key = "\"User u has no permissions to access the 'c' key\"";
    assert_eq!(dry(&mut local, "GET c"), key);
    assert_eq!(dry(&mut local, "DEL a"), "\"User u has no permissions to run the 'del' command\"");
    assert_eq!(dry(&mut local, "GET"), "-ERR wrong number of arguments for 'get' command");
    assert_eq!(dry(&mut local, "NOSUCH"), "-ERR Command 'NOSUCH' not found");
    assert_eq!(local.say(admin, "ACL DRYRUN nobody GET x"), "-ERR User 'nobody' not found");
}

#[test]
fn databases_are_allowed_by_number() {
    let (mut local, admin, client) = store("+@all ~* db=1");
    assert_eq!(local.say(client, "GET a"), NO_DATABASE);
    assert_eq!(local.say(client, "PING"), "PONG");
    assert_eq!(local.say(client, "SELECT 0"), NO_DATABASE);
    assert_eq!(local.say(client, "SELECT 99"), "-ERR DB index is out of range");
    assert_eq!(local.say(client, "SELECT 1"), "OK");
    assert_eq!(local.say(client, "SET a 1"), "OK");
    assert_eq!(local.say(client, "COPY a b DB 0"), NO_DATABASE);
    assert_eq!(local.say(client, "MOVE a 0"), NO_DATABASE);
    assert_eq!(local.say(client, "SWAPDB 0 1"), NO_DATABASE);
    assert_eq!(local.say(client, "FLUSHALL"), NO_DATABASE);
    assert_eq!(local.say(client, "FLUSHDB"), "OK");
    assert!(local.say(admin, "ACL GETUSER u").contains("databases db=1"));
}

#[test]
fn a_transaction_is_checked_when_it_is_queued_and_when_it_runs() {
    const CHANGED: &str = "-NOPERM ACLs rules changed between the moment the transaction was \
        accumulated and the EXEC call. This command is no longer allowed for the following \
        reason: ";
    let (mut local, admin, client) = store("+@all -get ~a &a");
    assert_eq!(local.say(client, "MULTI"), "OK");
    assert_eq!(local.say(client, "GET a"), denied("get"));
    let aborted = "-EXECABORT Transaction discarded because of previous errors.";
    assert_eq!(local.say(client, "EXEC"), aborted);
    assert_eq!(local.say(client, "MULTI"), "OK");
    assert_eq!(local.say(client, "SET a 1"), "QUEUED");
    assert_eq!(local.say(client, "APPEND a 1"), "QUEUED");
    assert_eq!(local.say(client, "PUBLISH a 1"), "QUEUED");
    assert_eq!(local.say(admin, "ACL SETUSER u resetkeys resetchannels -append"), "OK");
    assert_eq!(
        local.say(client, "EXEC"),
        format!(
            "[{CHANGED}no permission to touch the specified keys {CHANGED}no permission to \
             execute the command or subcommand {CHANGED}no permission to access one of the \
             channels used as arguments]"
        )
    );
    assert_eq!(local.say(admin, "EXISTS a"), ":0");
}

#[test]
fn connections_of_a_removed_user_are_closed() {
    let (mut local, admin, client) = store("+@all");
    assert_eq!(local.say(admin, "CLIENT LIST USER u").matches("user=u").count(), 1);
    assert_eq!(local.say(admin, "ACL SETUSER u off >y <x"), "OK");
    assert_eq!(local.say(client, "PING"), "PONG");
    let (other, same) = (local.connect(0), local.connect(0));
    let wrong = "-WRONGPASS invalid username-password pair or user is disabled.";
    assert_eq!(local.say(other, "AUTH u y"), wrong);
    assert_eq!(local.say(admin, "ACL SETUSER u on"), "OK");
    assert_eq!(local.say(same, "AUTH u y"), "OK");
    assert_eq!(local.say(admin, "ACL DELUSER u nobody"), ":1");
    assert_eq!(local.close_wanted(client), Close::Now);
    assert_eq!(local.close_wanted(same), Close::Now);
    assert_eq!(local.close_wanted(other), Close::No);
    let default = "-ERR The 'default' user cannot be removed";
    assert_eq!(local.say(admin, "ACL DELUSER default"), default);
}

#[test]
fn a_user_that_removes_itself_gets_its_answer() {
    let (mut local, _, client) = store("+@all");
    assert_eq!(local.say(client, "ACL DELUSER u"), ":1");
    assert_eq!(local.close_wanted(client), Close::AfterFlush);
}

#[test]
fn subscribers_that_lose_their_channel_are_closed() {
    for (subscribe, kept, lost) in [
        ("SUBSCRIBE ch", "&ch*", "&d*"),
        ("PSUBSCRIBE ch*", "&ch*", "&c*"),
        ("SSUBSCRIBE ch", "&ch", "&x"),
    ] {
        let (mut local, admin, client) = store("+@all &*");
        assert!(local.say(client, subscribe).contains("subscribe"));
        assert_eq!(local.say(admin, &format!("ACL SETUSER u resetchannels {kept}")), "OK");
        assert_eq!(local.close_wanted(client), Close::No, "{subscribe}");
        assert_eq!(local.say(admin, &format!("ACL SETUSER u resetchannels {lost}")), "OK");
        assert_eq!(local.close_wanted(client), Close::Now, "{subscribe}");
    }
}

#[test]
fn a_blocked_command_that_loses_its_right_ends() {
    let (mut local, admin, client) = store("+@all ~*");
    local.send(client, b"BLPOP k 0\r\n");
    assert_eq!(local.receive(client), b"");
    assert_eq!(local.say(admin, "ACL SETUSER u resetkeys"), "OK");
    assert_eq!(local.say(admin, "RPUSH k 1"), ":1");
    assert_eq!(local.receive(client), b"-NOPERM No permissions to access a key\r\n");
    assert_eq!(local.say(admin, "LLEN k"), ":1");
}

#[test]
fn the_default_user_may_be_restricted_and_made_free_again() {
    let mut local = Local::new(Config::default(), 1);
    let client = local.connect(0);
    assert_eq!(local.say(client, "ACL SETUSER default -set"), "OK");
    let denied = "-NOPERM User default has no permissions to run the 'set' command";
    assert_eq!(local.say(client, "SET a 1"), denied);
    assert_eq!(local.say(client, "ACL SETUSER default +@all"), "OK");
    assert_eq!(local.say(client, "SET a 1"), "OK");
    assert_eq!(local.say(client, "ACL LIST"), "[\"user default on nopass ~* &* +@all\"]");
}

#[test]
fn requirepass_is_the_password_of_the_default_user() {
    let mut local = Local::new(with(&[("requirepass", "foo")]), 1);
    let client = local.connect(0);
    assert_eq!(local.say(client, "PING"), "-NOAUTH Authentication required.");
    assert_eq!(local.say(client, "AUTH foo"), "OK");
    assert_eq!(local.say(client, "ACL SETUSER default >bar"), "OK");
    assert_eq!(local.say(client, "CONFIG GET requirepass"), "[requirepass foo]");
    let second = local.connect(0);
    assert_eq!(local.say(second, "AUTH default bar"), "OK");
    assert_eq!(local.say(second, "CONFIG SET requirepass \"\""), "OK");
    assert_eq!(local.say(second, "ACL LIST"), "[\"user default on nopass ~* &* +@all\"]");
    let third = local.connect(0);
    assert_eq!(local.say(third, "PING"), "PONG");
    assert_eq!(local.say(third, "CONFIG SET requirepass new"), "OK");
    assert_eq!(local.say(third, "PING"), "PONG");
    let fourth = local.connect(0);
    assert_eq!(local.say(fourth, "PING"), "-NOAUTH Authentication required.");
    assert_eq!(local.say(fourth, "AUTH new"), "OK");
}

#[test]
fn a_failing_setuser_changes_nothing() {
    let mut local = Local::new(Config::default(), 1);
    let client = local.connect(0);
    for (rules, error) in [
        (
            "u on +nosuch",
            "Error in ACL SETUSER modifier '+nosuch': Unknown command or category name in ACL",
        ),
        ("u (+get", "Unmatched parenthesis in acl selector starting at '(+get'."),
        ("\"a b\" on", "Usernames can't contain spaces or null characters"),
    ] {
        assert_eq!(local.say(client, &format!("ACL SETUSER {rules}")), format!("-ERR {error}"));
    }
    assert_eq!(local.say(client, "ACL USERS"), "[default]");
    assert_eq!(local.say(client, "ACL GETUSER u"), "(nil)");
}

#[test]
fn getuser_shows_rules_as_they_are_given() {
    let (mut local, admin, _) = store("+get ~a %R~b &c db=1 (+set)");
    let hash = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881";
    assert!(local.say(admin, "HELLO 3").starts_with('{'));
    assert_eq!(
        local.say(admin, "ACL GETUSER u"),
        format!(
            "{{flags: ~[on] passwords: [{hash}] commands: \"-@all +get\" keys: \"~a %R~b\" \
             channels: &c databases: db=1 selectors: [{{commands: \"-@all +set\" keys: \"\" \
             channels: \"\" databases: alldbs}}]}}"
        )
    );
}

#[test]
fn what_is_denied_is_logged_and_counted() {
    let (mut local, admin, client) = store("+@all -get ~a");
    assert_eq!(local.say(client, "GET a"), denied("get"));
    assert_eq!(local.say(client, "GET a"), denied("get"));
    local.advance_ms(1500);
    assert_eq!(local.say(client, "SET b 1"), NO_KEY);
    assert_eq!(local.say(client, "MULTI"), "OK");
    assert_eq!(local.say(client, "PUBLISH c 1"), NO_CHANNEL);
    assert!(local.say(client, "AUTH u nope").starts_with("QUEUED"));
    let log = local.say(admin, "ACL LOG");
    let parts: Vec<&str> = log.split("count ").skip(1).collect();
    assert_eq!(parts.len(), 3, "{log}");
    assert!(
        parts[0].starts_with(":1 reason channel context multi object c username u age-seconds 0 ")
    );
    assert!(
        parts[1].starts_with(":1 reason key context toplevel object b username u age-seconds 0 ")
    );
    assert!(
        parts[2].starts_with(
            ":2 reason command context toplevel object get username u age-seconds 1.5 "
        )
    );
    assert!(
        parts[2].contains("cmd=get user=u") && parts[2].contains("entry-id :0 timestamp-created ")
    );
    assert!(local.say(admin, "ACL LOG 1").matches("reason").count() == 1);
    let info = local.say(admin, "INFO stats");
    for field in ["cmd:2", "key:1", "channel:1", "auth:0", "db:0"] {
        assert!(info.contains(&format!("acl_access_denied_{field}")), "{field} in {info}");
    }
    assert_eq!(local.say(admin, "ACL LOG RESET"), "OK");
    assert_eq!(local.say(admin, "ACL LOG"), "[]");
    assert_eq!(local.say(admin, "CONFIG SET acllog-max-len 1"), "OK");
    let stranger = local.connect(0);
    assert!(local.say(stranger, "AUTH nobody x").starts_with("-WRONGPASS"));
    assert!(local.say(stranger, "HELLO 3 AUTH nobody x").starts_with("-WRONGPASS"));
    let log = local.say(admin, "ACL LOG");
    assert_eq!(log.matches("reason auth context toplevel object HELLO username nobody").count(), 1);
    assert_eq!(log.matches("reason").count(), 1);
}

#[test]
fn users_come_with_the_configuration_and_go_into_it() {
    let config =
        from_text("user alice on >x ~app:* +@read (+set ~b)\nuser default on nopass +@all ~*");
    let mut local = Local::new(config.clone(), 1);
    let client = local.connect(0);
    let list = local.say(client, "ACL LIST");
    assert!(
        list.contains("~app:* resetchannels -@all +@read (~b resetchannels -@all +set)"),
        "{list}"
    );
    assert_eq!(local.say(client, "PUBLISH c x"), NO_CHANNEL);
    let text = config.rewritten(
        Some("user alice on\n# x\nuser bob off\nport 1\nuser c off"),
        &["user a on".to_owned(), "user b on".to_owned()],
    );
    assert_eq!(
        text.lines().take(4).collect::<Vec<_>>(),
        ["user a on", "# x", "user b on", "port 6379"]
    );
}

#[test]
fn new_users_may_use_all_channels_if_the_configuration_says_so() {
    let mut local = Local::new(with(&[("acl-pubsub-default", "allchannels")]), 1);
    let client = local.connect(0);
    assert_eq!(local.say(client, "ACL SETUSER u (+get)"), "OK");
    assert!(local.say(client, "ACL LIST").contains("user u off &* -@all (&* -@all +get)"));
}

#[test]
fn a_password_is_made_up_of_as_many_bits_as_asked_for() {
    let mut local = Local::new(Config::default(), 1);
    let client = local.connect(0);
    for (words, digits) in [("", 64), (" 5", 2), (" 1", 1), (" 4096", 1024)] {
        assert_eq!(local.say(client, &format!("ACL GENPASS{words}")).len(), digits, "{words}");
    }
    let range = "-ERR ACL GENPASS argument must be the number of bits for the output password, a \
                 positive number up to 4096";
    assert_eq!(local.say(client, "ACL GENPASS 0"), range);
    assert_eq!(local.say(client, "ACL GENPASS 4097"), range);
    assert!(local.say(client, "ACL LOAD").starts_with("-ERR This instance is not configured"));
    assert!(local.say(client, "ACL SAVE").starts_with("-ERR This instance is not configured"));
}
