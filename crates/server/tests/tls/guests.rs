//! Who is let in, and as whom.

use std::sync::Arc;

use crate::authority::{Authority, Secure, words};
use crate::common::{CAUDAL, Server, ask, each_shape};

/// What a client with this certificate is told.
fn ping(
    server: &Server,
    authority: &Authority,
    identity: Option<&crate::authority::Identity>,
) -> Option<String> {
    let config = Arc::new(authority.client(identity));
    let reply = Secure::connect(server, &config).try_ask(&["PING"]).ok()?;
    Some(crate::authority::spell(&reply))
}

#[test]
fn certificates_are_required_asked_for_or_not() {
    let (authority, other) = (Authority::new(), Authority::new());
    let (friend, stranger) = (authority.issue("friend", |_| {}), other.issue("stranger", |_| {}));
    let expired = authority.issue("expired", |params| {
        params.not_before = rcgen::date_time_ymd(2000, 1, 1);
        params.not_after = rcgen::date_time_ymd(2001, 1, 1);
    });
    each_shape(&words(&authority.arguments(&[])), |server| {
        let came_in = |server| {
            let guests = [Some(&friend), None, Some(&stranger), Some(&expired)];
            guests.map(|guest| ping(server, &authority, guest).is_some())
        };
        assert_eq!(came_in(server), [true, false, false, false]);
        let mut plain = server.connect();
        ask(&mut plain, "CONFIG SET tls-auth-clients optional\r\n", "+OK\r\n");
        assert_eq!(came_in(server), [true, true, false, false]);
        ask(&mut plain, "CONFIG SET tls-auth-clients no\r\n", "+OK\r\n");
        assert_eq!(came_in(server), [true, true, true, true]);
    });
}

#[test]
fn a_certificate_names_its_user() {
    let authority = Authority::new();
    let alice = authority.issue_with_uris("alice", &["urn:user:first", "urn:user:second"]);
    let config = Arc::new(authority.client(Some(&alice)));
    each_shape(&words(&authority.arguments(&[])), |server| {
        let mut plain = server.connect();
        let who = || Secure::connect(server, &config).ask(&["ACL", "WHOAMI"]);
        assert_eq!(who(), "default");
        ask(&mut plain, "CONFIG SET tls-auth-clients-user CN\r\n", "+OK\r\n");
        assert_eq!(who(), "default");
        ask(&mut plain, "ACL SETUSER alice on +@all\r\n", "+OK\r\n");
        assert_eq!(who(), "alice");
        ask(&mut plain, "ACL SETUSER alice off\r\n", "+OK\r\n");
        assert_eq!(who(), "default");
        ask(&mut plain, "CONFIG SET tls-auth-clients-user URI\r\n", "+OK\r\n");
        ask(&mut plain, "ACL SETUSER urn:user:second on +@all\r\n", "+OK\r\n");
        assert_eq!(who(), "urn:user:second");
        ask(&mut plain, "ACL SETUSER urn:user:first on +@all\r\n", "+OK\r\n");
        assert_eq!(who(), "urn:user:first");
    });
}

#[test]
fn a_certificate_is_as_good_as_a_password_and_a_wrong_one_is_told() {
    let authority = Authority::new();
    let alice = Arc::new(authority.client(Some(&authority.issue("alice", |_| {}))));
    let bob = Arc::new(authority.client(Some(&authority.issue("bob", |_| {}))));
    let more = ["--tls-auth-clients-user", "CN", "--requirepass", "secret"];
    let server = Server::start(&words(&authority.arguments(&more)));
    let mut admin = Secure::connect(&server, &bob);
    assert_eq!(admin.ask(&["PING"]), "-NOAUTH Authentication required.");
    assert_eq!(admin.ask(&["AUTH", "secret"]), "OK");
    assert_eq!(admin.ask(&["ACL", "SETUSER", "alice", "on", "~a*", "+get", "+acl|whoami"]), "OK");
    let log = admin.ask(&["ACL", "LOG"]);
    assert!(log.contains("reason tls-cert context toplevel"), "{log}");
    assert!(log.contains("username bob"), "{log}");
    let info = admin.ask(&["INFO", "stats"]);
    assert!(info.contains("acl_access_denied_tls_cert:1\r\n"), "{info}");
    let mut guest = Secure::connect(&server, &alice);
    assert_eq!(guest.ask(&["GET", "a"]), "NullBulk");
    assert!(guest.ask(&["GET", "b"]).starts_with("-NOPERM"));
    assert!(guest.ask(&["SET", "a", "1"]).starts_with("-NOPERM"));
    // The user's end is the connection's.
    assert_eq!(admin.ask(&["ACL", "DELUSER", "alice"]), ":1");
    assert!(guest.try_ask(&["GET", "a"]).is_err());
}

#[test]
fn a_server_that_cannot_encrypt_does_not_start() {
    let (authority, other) = (Authority::new(), Authority::new());
    let expired = authority.issue("server", |params| {
        params.not_before = rcgen::date_time_ymd(2000, 1, 1);
        params.not_after = rcgen::date_time_ymd(2001, 1, 1);
    });
    authority.put("expired", &expired);
    authority.put("other", &other.issue("server", |_| {}));
    authority.write("empty", "");
    authority.write("locked.key", "-----BEGIN ENCRYPTED PRIVATE KEY-----\n");
    let file = |name: &str| authority.file(name);
    let cases = [
        (["--tls-cert-file", ""], "No tls-cert-file configured!"),
        (["--tls-key-file", ""], "No tls-key-file configured!"),
        (["--tls-ca-cert-file", ""], "Either tls-ca-cert-file or tls-ca-cert-dir"),
        (["--tls-cert-file", &file("missing")], "No such file"),
        (["--tls-cert-file", "/dev/zero"], "it is not a file"),
        (["--tls-cert-file", &file("empty")], "holds no certificate"),
        (["--tls-cert-file", &file("expired.crt")], "Server TLS certificate is invalid"),
        (["--tls-ca-cert-file", &file("expired.crt")], "CA certificates are invalid"),
        (["--tls-key-file", &file("empty")], "holds no private key"),
        (["--tls-key-file", &file("locked.key")], "encrypted keys are not there yet"),
        (["--tls-key-file", &file("other.key")], "server.crt and "),
        (["--tls-ca-cert-dir", &file("missing")], "No such file"),
        (["--tls-protocols", "SSLv3"], "Invalid tls-protocols"),
        (["--tls-ciphers", "RC4"], "Invalid tls-ciphers"),
        (["--tls-ciphersuites", "RC4"], "Invalid tls-ciphersuites"),
        (["--tls-key-file-pass", "secret"], "is not there yet"),
        (["--tls-replication", "yes"], "is not there yet"),
        (["--tls-cluster", "yes"], "is not there yet"),
    ];
    for (option, said) in cases {
        let mut arguments = authority.arguments(&option);
        arguments[1] = crate::common::free_port().to_string();
        let mut command = std::process::Command::new(CAUDAL);
        command.args(["--port", "0", "--bind", "127.0.0.1"]).args(&arguments);
        let output = command.output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text);
        assert!(!output.status.success() && text.contains(said), "{option:?}: {text}");
    }
}

#[test]
fn a_directory_of_authorities_may_hold_other_files() {
    let (authority, other) = (Authority::new(), Authority::new());
    let directory = authority.file("authorities");
    std::fs::create_dir(&directory).unwrap();
    std::fs::copy(other.file("ca.crt"), format!("{directory}/other.pem")).unwrap();
    std::fs::write(format!("{directory}/README"), "nothing").unwrap();
    std::fs::create_dir(format!("{directory}/old")).unwrap();
    let server = Server::start(&words(&authority.arguments(&["--tls-ca-cert-dir", &directory])));
    for friend in [authority.issue("friend", |_| {}), other.issue("other", |_| {})] {
        assert_eq!(ping(&server, &authority, Some(&friend)).as_deref(), Some("PONG"));
    }
}
