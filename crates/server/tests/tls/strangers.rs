//! What does not speak TLS, or does not end its handshake, harms nobody.

use std::io::{Read, Write};
use std::sync::Arc;
use std::thread;

use crate::authority::{Authority, Secure, raw, words};
use crate::common::{Server, ask, each_shape, expect_end};

const OPEN: [&str; 2] = ["--tls-auth-clients", "no"];

/// The first record of a handshake.
fn hello(authority: &Authority) -> Vec<u8> {
    let config = Arc::new(authority.client(None));
    let name = "localhost".try_into().unwrap();
    let mut client = rustls::ClientConnection::new(config, name).unwrap();
    let mut hello = Vec::new();
    client.write_tls(&mut hello).unwrap();
    hello
}

#[test]
fn garbage_and_plain_commands_end_the_connection() {
    let authority = Authority::new();
    let config = Arc::new(authority.client(None));
    let hello = hello(&authority);
    let mut endless = vec![22, 3, 3, 64, 0, 1, 255, 255, 255];
    endless.resize(5 + 16_384, 0);
    let mut broken = hello.clone();
    // The length of the session's name, which has 32 bytes.
    assert_eq!(std::mem::replace(&mut broken[43], 255), 32);
    each_shape(&words(&authority.arguments(&OPEN)), |server| {
        let garbage: [&[u8]; 5] =
            [b"*1\r\n$4\r\nPING\r\n", b"PING\r\n", &[0xff; 5000], &endless.repeat(8), &broken];
        for bytes in garbage {
            let mut stream = raw(server);
            // The server may have closed before all is sent.
            let _ = stream.write_all(bytes);
            let said = expect_end(&mut stream);
            assert!(!said.contains("PONG"), "{said}");
        }
        // A connection that was well until now.
        let Secure { mut stream, .. } = Secure::connect(server, &config);
        ask(&mut stream, "PING\r\n", "+PONG\r\n");
        stream.sock.write_all(&[23, 3, 3, 0, 32]).unwrap();
        stream.sock.write_all(&[7; 32]).unwrap();
        assert!(stream.read(&mut [0; 16]).is_err());
        assert_eq!(Secure::connect(server, &config).ask(&["PING"]), "PONG");
    });
}

#[test]
fn a_client_of_tls_on_the_plain_port_is_told() {
    let authority = Authority::new();
    let hello = hello(&authority);
    each_shape(&words(&authority.arguments(&OPEN)), |server| {
        let mut stream = server.connect();
        stream.write_all(&hello).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        expect_end(&mut stream);
        ask(&mut server.connect(), "PING\r\n", "+PONG\r\n");
    });
}

#[test]
fn a_thousand_handshakes_that_stand_still_stop_nobody() {
    const COUNT: usize = 1000;
    let authority = Authority::new();
    let config = Arc::new(authority.client(None));
    let hello = hello(&authority);
    each_shape(&words(&authority.arguments(&OPEN)), |server| {
        let standing = |bytes: &[u8]| {
            let mut stream = raw(server);
            stream.write_all(bytes).unwrap();
            stream
        };
        // Half have said nothing of use, half wait for an answer that they do not read.
        let held: Vec<_> = (0..COUNT)
            .map(|at| standing(if at % 2 == 0 { &hello[..20] } else { &hello }))
            .collect();
        let mut plain = server.connect();
        ask(&mut plain, "SET key 1\r\n", "+OK\r\n");
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let mut secure = Secure::connect(server, &config);
                    (0..10).for_each(|_| assert!(secure.ask(&["INCR", "key"]).starts_with(':')));
                });
            }
        });
        ask(&mut plain, "GET key\r\n", "$2\r\n41\r\n");
        drop(held);
    });
}

#[test]
fn a_handshake_that_does_not_end_is_ended() {
    let authority = Authority::new();
    let hello = hello(&authority);
    let more = [&OPEN[..], &["--tls-handshake-timeout", "1"]].concat();
    let server = Server::start(&words(&authority.arguments(&more)));
    let config = Arc::new(authority.client(None));
    let mut secure = Secure::connect(&server, &config);
    assert_eq!(secure.ask(&["PING"]), "PONG");
    let mut silent = raw(&server);
    let mut slow = raw(&server);
    slow.write_all(&hello[..hello.len() - 1]).unwrap();
    let mut half = raw(&server);
    half.write_all(&hello).unwrap();
    for stream in [&mut silent, &mut slow, &mut half] {
        expect_end(stream);
    }
    // Not so a connection whose handshake is over.
    assert_eq!(secure.ask(&["PING"]), "PONG");
}

#[test]
fn who_does_not_read_is_cut_off_at_its_limit() {
    let authority = Authority::new();
    let config = Arc::new(authority.client(None));
    let more = [&OPEN[..], &["--client-output-buffer-limit", "pubsub", "1mb", "0", "0"]].concat();
    each_shape(&words(&authority.arguments(&more)), |server| {
        let mut reader = Secure::connect(server, &config);
        assert_eq!(reader.ask(&["SUBSCRIBE", "news"]), "subscribe news :1");
        let mut plain = server.connect();
        let message = "x".repeat(100_000);
        let request = format!("*3\r\n$7\r\nPUBLISH\r\n$4\r\nnews\r\n$100000\r\n{message}\r\n");
        let mut count = 0;
        loop {
            plain.write_all(request.as_bytes()).unwrap();
            let mut reply = [0; 4];
            plain.read_exact(&mut reply).unwrap();
            if &reply == b":0\r\n" {
                break;
            }
            count += 1;
            assert!(count < 1000, "nobody cuts it off");
        }
        while reader.next().is_ok() {}
    });
}
