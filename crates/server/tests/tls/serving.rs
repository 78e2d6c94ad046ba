//! What plain connections can do, encrypted ones can.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::sync::Arc;

use rustls::version::{TLS12, TLS13};

use crate::authority::{Authority, Secure, words};
use crate::common::{Server, ask, each_shape, expect};

const OPEN: [&str; 2] = ["--tls-auth-clients", "no"];

#[test]
fn both_versions_and_both_protocols_are_spoken_beside_plain_connections() {
    let authority = Authority::new();
    each_shape(&words(&authority.arguments(&OPEN)), |server| {
        assert!(server.said.contains(&format!("127.0.0.1:{} (TLS)", server.tls_port)));
        for version in [&TLS12, &TLS13] {
            let config = Arc::new(authority.client_of(None, &[version]));
            let mut secure = Secure::connect(server, &config);
            assert_eq!(secure.ask(&["SET", "key", "value"]), "OK");
            assert_eq!(secure.stream.conn.protocol_version(), Some(version.version));
            ask(&mut server.connect(), "GET key\r\n", "$5\r\nvalue\r\n");
            secure.send(&["HELLO", "3"]).unwrap();
            assert!(format!("{:?}", secure.next().unwrap()).starts_with("Map"));
            assert_eq!(secure.ask(&["INCRBYFLOAT", "double", "1.5"]), "1.5");
            assert_eq!(secure.ask(&["DEL", "double"]), ":1");
        }
    });
}

#[test]
fn a_pipeline_of_large_values_comes_and_goes_whole() {
    const BYTES: usize = 10 << 20;
    let authority = Authority::new();
    let config = Arc::new(authority.client(None));
    let value: Vec<u8> = (0..=250).cycle().take(BYTES).collect();
    let mut request = format!("*3\r\n$3\r\nSET\r\n$5\r\nlarge\r\n${BYTES}\r\n").into_bytes();
    request.extend_from_slice(&value);
    request.extend_from_slice(b"\r\n");
    let gets = "GET large\r\n".repeat(3);
    each_shape(&words(&authority.arguments(&OPEN)), |server| {
        let Secure { mut stream, .. } = Secure::connect(server, &config);
        stream.write_all(&request).unwrap();
        stream.write_all(gets.as_bytes()).unwrap();
        // The server has more to send than it encrypts ahead, and waits for a slow reader.
        expect(&mut stream, "+OK\r\n");
        for _ in 0..3 {
            expect(&mut stream, &format!("${BYTES}\r\n"));
            let mut got = vec![0; BYTES];
            stream.read_exact(&mut got).unwrap();
            assert!(got == value);
            expect(&mut stream, "\r\n");
        }
        ask(&mut stream, "PING\r\n", "+PONG\r\n");
    });
}

#[test]
fn messages_monitors_and_kills_reach_encrypted_connections() {
    let authority = Authority::new();
    let config = Arc::new(authority.client(None));
    each_shape(&words(&authority.arguments(&OPEN)), |server| {
        let mut plain = server.connect();
        let mut listener = Secure::connect(server, &config);
        listener.send(&["HELLO", "3"]).unwrap();
        listener.next().unwrap();
        assert_eq!(listener.ask(&["SUBSCRIBE", "news"]), "subscribe news :1");
        let mut monitor = Secure::connect(server, &config);
        assert_eq!(monitor.ask(&["MONITOR"]), "OK");
        ask(&mut plain, "PUBLISH news hello\r\n", ":1\r\n");
        assert_eq!(crate::authority::spell(&listener.next().unwrap()), "message news hello");
        let line = crate::authority::spell(&monitor.next().unwrap());
        assert!(line.ends_with("\"PUBLISH\" \"news\" \"hello\""), "{line}");
        let mut victim = Secure::connect(server, &config);
        let id = victim.ask(&["CLIENT", "ID"]);
        ask(&mut plain, &format!("CLIENT KILL ID {}\r\n", &id[1..]), ":1\r\n");
        // A clean end is a goodbye, and no error.
        let end = victim.stream.read(&mut [0; 16]);
        assert_eq!(end.unwrap(), 0);
    });
}

#[test]
fn both_sides_take_their_leave() {
    let authority = Authority::new();
    let config = Arc::new(authority.client(None));
    each_shape(&words(&authority.arguments(&OPEN)), |server| {
        let Secure { mut stream, .. } = Secure::connect(server, &config);
        ask(&mut stream, "QUIT\r\n", "+OK\r\n");
        assert_eq!(stream.read(&mut [0; 16]).unwrap(), 0);
        // What came before the client's goodbye is answered after it.
        let Secure { mut stream, .. } = Secure::connect(server, &config);
        stream.write_all(&b"SET last 1\r\nGET last\r\n".repeat(1000)).unwrap();
        stream.conn.send_close_notify();
        stream.flush().unwrap();
        expect(&mut stream, &"+OK\r\n$1\r\n1\r\n".repeat(1000));
        assert_eq!(stream.read(&mut [0; 16]).unwrap(), 0);
        // Without one as well.
        let Secure { mut stream, .. } = Secure::connect(server, &config);
        stream.write_all(b"INCR last\r\n").unwrap();
        stream.sock.shutdown(Shutdown::Write).unwrap();
        expect(&mut stream, ":2\r\n");
        assert_eq!(stream.read(&mut [0; 16]).unwrap(), 0);
    });
}

#[test]
fn a_server_may_listen_for_tls_alone() {
    let authority = Authority::new();
    let config = Arc::new(authority.client(None));
    let server = Server::start_alone(&words(&authority.arguments(&OPEN)));
    let mut secure = Secure::connect(&server, &config);
    let info = secure.ask(&["INFO", "server"]);
    assert!(info.contains(&format!("tcp_port:{}\r\n", server.tls_port)), "{info}");
    let line = format!("listener2:name=tls,bind=127.0.0.1,port={}\r\n", server.tls_port);
    assert!(info.contains(&line) && !info.contains("listener0"), "{info}");
    assert_eq!(secure.ask(&["CONFIG", "SET", "tls-port", "0"]), refused("tls-port"));
}

fn refused(name: &str) -> String {
    format!(
        "-ERR CONFIG SET failed (possibly related to argument '{name}') - can't set immutable \
         config"
    )
}

#[test]
fn sessions_are_taken_up_again_unless_caching_is_off() {
    use rustls::HandshakeKind::{Full, Resumed};
    let authority = Authority::new();
    for (caching, kinds) in [("yes", [Full, Resumed]), ("no", [Full, Full])] {
        for version in [&TLS12, &TLS13] {
            let arguments =
                authority.arguments(&[&OPEN[..], &["--tls-session-caching", caching]].concat());
            let server = Server::start(&words(&arguments));
            let config = Arc::new(authority.client_of(None, &[version]));
            for kind in kinds {
                let mut secure = Secure::connect(&server, &config);
                assert_eq!(secure.ask(&["PING"]), "PONG");
                assert_eq!(
                    secure.stream.conn.handshake_kind(),
                    Some(kind),
                    "{caching} {version:?}"
                );
            }
        }
    }
}

#[test]
fn protocols_and_ciphers_are_those_that_are_set() {
    let authority = Authority::new();
    let cipher = "ECDHE-ECDSA-CHACHA20-POLY1305";
    let more = ["--tls-protocols", "TLSv1.2", "--tls-ciphers", cipher];
    let server = Server::start(&words(&authority.arguments(&[&OPEN[..], &more].concat())));
    let new = Arc::new(authority.client_of(None, &[&TLS13]));
    assert!(Secure::connect(&server, &new).try_ask(&["PING"]).is_err());
    let old = Arc::new(authority.client_of(None, &[&TLS12]));
    let mut secure = Secure::connect(&server, &old);
    assert_eq!(secure.ask(&["PING"]), "PONG");
    let suite = secure.stream.conn.negotiated_cipher_suite().unwrap();
    assert!(format!("{:?}", suite.suite()).contains("CHACHA20"));
    assert_eq!(secure.ask(&["CONFIG", "SET", "tls-protocols", "TLSv1.3", "tls-ciphers", ""]), "OK");
    assert!(Secure::connect(&server, &old).try_ask(&["PING"]).is_err());
    assert_eq!(Secure::connect(&server, &new).ask(&["PING"]), "PONG");
    let suites = "TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256";
    let set = ["CONFIG", "SET", "tls-ciphersuites", suites, "tls-prefer-server-ciphers", "yes"];
    assert_eq!(secure.ask(&set), "OK");
    let mut secure = Secure::connect(&server, &new);
    assert_eq!(secure.ask(&["PING"]), "PONG");
    let suite = secure.stream.conn.negotiated_cipher_suite().unwrap();
    assert!(format!("{:?}", suite.suite()).contains("CHACHA20"));
}
