//! Keys and certificates change while the server runs.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crate::authority::{Authority, Secure, words};
use crate::common::{Server, each_shape};

fn serial(connection: &mut Secure) -> String {
    let info = connection.ask(&["INFO", "tls"]);
    let line = info.lines().find_map(|line| line.strip_prefix("tls_server_cert_serial:"));
    line.unwrap().to_owned()
}

/// The certificate that new connections are shown.
fn shown(server: &Server, authority: &Authority) -> Vec<u8> {
    let config = Arc::new(authority.client(None));
    let mut secure = Secure::connect(server, &config);
    assert_eq!(secure.ask(&["PING"]), "PONG");
    secure.stream.conn.peer_certificates().unwrap()[0].to_vec()
}

#[test]
fn new_connections_see_a_new_certificate_and_never_a_bad_one() {
    let (authority, other) = (Authority::new(), Authority::new());
    authority.put("new", &authority.issue("new", |_| {}));
    authority.put("other", &other.issue("other", |_| {}));
    let (certificate, key) = (authority.file("new.crt"), authority.file("new.key"));
    let wrong = authority.file("other.key");
    each_shape(&words(&authority.arguments(&["--tls-auth-clients", "no"])), |server| {
        let config = Arc::new(authority.client(None));
        let mut early = Secure::connect(server, &config);
        let (before, number) = (shown(server, &authority), serial(&mut early));
        for pairs in [
            &["tls-cert-file", &certificate][..],
            &["tls-cert-file", &certificate, "tls-key-file", &wrong],
            &["tls-cert-file", "/nowhere"],
            &["tls-ciphers", "NONE"],
            &["tls-auth-clients", "yes", "tls-ca-cert-file", ""],
        ] {
            let words = [&["CONFIG", "SET"], pairs].concat();
            let reply = early.ask(&words);
            assert!(reply.ends_with("Unable to update TLS configuration. Check server logs."));
            assert!(reply.contains(&format!("argument '{}'", pairs[0])), "{reply}");
            assert_eq!(shown(server, &authority), before);
            let value = early.ask(&["CONFIG", "GET", pairs[0]]);
            assert!(!value.ends_with(pairs[1]), "{value}");
        }
        let set = ["CONFIG", "SET", "tls-cert-file", &certificate, "tls-key-file", &key];
        assert_eq!(early.ask(&set), "OK");
        assert_ne!(shown(server, &authority), before);
        assert_ne!(serial(&mut early), number);
        // Who was there before stays.
        assert_eq!(early.ask(&["PING"]), "PONG");
    });
}

#[test]
fn files_that_change_are_seen_by_a_server_that_looks() {
    let authority = Authority::new();
    let more = ["--tls-auth-clients", "no", "--tls-auto-reload-interval", "1"];
    let server = Server::start(&words(&authority.arguments(&more)));
    let before = shown(&server, &authority);
    // Half a change: the certificate does not fit the key yet.
    let new = authority.issue("server", |_| {});
    authority.write("server.crt", &new.certificate);
    thread::sleep(Duration::from_secs(2));
    assert_eq!(shown(&server, &authority), before);
    authority.write("server.key", &new.key);
    while shown(&server, &authority) == before {
        thread::sleep(Duration::from_millis(50));
    }
}
