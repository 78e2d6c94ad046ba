//! Answers seen on Valkey 9.1, and: the commands do not depend on how their bytes were split.

use super::*;
use proptest::prelude::*;

type Commands = (Vec<Vec<Vec<u8>>>, Option<ProtocolError>);

/// Feeds pieces as a connection does, and gives all commands and the error that ended them.
fn feed<'a>(pieces: impl IntoIterator<Item = &'a [u8]>, limits: &Limits) -> Commands {
    let mut parser = Parser::new();
    let (mut input, mut commands, mut spans) = (Vec::new(), Vec::new(), Vec::new());
    let mut head = None;
    for piece in pieces {
        input.extend_from_slice(piece);
        loop {
            spans.clear();
            let alike = read_alike(head.filter(|_| parser.bytes() == 0), &input);
            let step = parser.next(&input, limits, &mut spans);
            if let Some((consumed, alike)) = alike {
                assert_eq!((&step, &alike), (&Ok(Step::Command { consumed }), &spans));
            }
            let consumed = match step {
                Err(error) => return (commands, Some(error)),
                Ok(Step::Incomplete { wanted }) => {
                    assert!(wanted > input.len() && spans.is_empty());
                    break;
                }
                Ok(Step::Empty { consumed }) => {
                    assert!(spans.is_empty());
                    consumed
                }
                Ok(Step::Inline { consumed, words }) => {
                    assert!(spans.is_empty() && !words.is_empty());
                    commands.push(words);
                    consumed
                }
                Ok(Step::Command { consumed }) => {
                    assert!(!spans.is_empty());
                    head = Head::of(&input, limits, &spans);
                    commands.push(spans.iter().map(|span| span.of(&input).to_vec()).collect());
                    consumed
                }
            };
            assert!(consumed > 0 && parser.bytes() == 0);
            input.drain(..consumed);
        }
    }
    (commands, None)
}

/// Reads a command that begins as the one before it.
fn read_alike(head: Option<Head>, input: &[u8]) -> Option<(usize, Vec<Span>)> {
    let mut spans = vec![Span::default()];
    let consumed = head?.command(input, &mut spans);
    assert!(consumed.is_some() || spans.len() == 1, "nothing is appended in vain");
    Some((consumed?, spans.split_off(1)))
}

fn whole(input: &[u8]) -> Commands {
    feed([input], &Limits::default())
}

fn error_of(input: &[u8]) -> Option<ProtocolError> {
    let all = whole(input);
    let bytewise = feed(input.chunks(1), &Limits::default());
    assert_eq!(all, bytewise, "{:?}", input.escape_ascii().to_string());
    all.1
}

const PING: &[u8] = b"*1\r\n$4\r\nPING\r\n";

#[test]
fn a_pipeline_is_taken_command_by_command() {
    let input = [PING, b"*3\r\n$3\r\nSET\r\n$0\r\n\r\n$12\r\nab\r\n$4\r\nPING\r\n", PING].concat();
    let (commands, error) = whole(&input);
    assert_eq!(error, None);
    assert_eq!(commands.len(), 3);
    assert_eq!(commands[1], [&b"SET"[..], b"", b"ab\r\n$4\r\nPING"]);
}

#[test]
fn spans_are_appended() {
    let mut spans = vec![Span { start: 7, len: 7 }];
    let step = Parser::new().next(PING, &Limits::default(), &mut spans);
    assert_eq!(step, Ok(Step::Command { consumed: PING.len() }));
    assert_eq!(spans, [Span { start: 7, len: 7 }, Span { start: 8, len: 4 }]);
}

#[test]
fn blank_lines_and_empty_arrays_are_skipped() {
    for blank in
        ["\r\n", "\n", " \t \r\n", "*0\r\n", "*-1\r\n", "*-5\r\n", "*-9223372036854775808\r\n"]
    {
        let input = [PING, blank.as_bytes(), PING].concat();
        assert_eq!(whole(&input), (vec![vec![b"PING".to_vec()]; 2], None), "{blank:?}");
    }
}

#[test]
fn inline_commands_may_have_quotes() {
    let (commands, error) = whole(b"PING\nset \"\"\"k\"\"\" 'a b'\r\nECHO a\r\r\n");
    assert_eq!(error, None);
    assert_eq!(commands[0], [b"PING"]);
    assert_eq!(commands[1], [&b"set"[..], b"k", b"a b"]);
    assert_eq!(commands[2], [&b"ECHO"[..], b"a"]);
}

#[test]
fn malformed_frames_are_refused_as_in_valkey() {
    use ProtocolError::*;
    for (input, error) in [
        (&b"*\r\n"[..], InvalidMultibulkLength),
        (b"*x\r\n", InvalidMultibulkLength),
        (b"*+1\r\n", InvalidMultibulkLength),
        (b"*01\r\n", InvalidMultibulkLength),
        (b"*0000\r\n", InvalidMultibulkLength),
        (b"*-0\r\n", InvalidMultibulkLength),
        (b"* 1\r\n", InvalidMultibulkLength),
        (b"*1\n$4\r\nPING\r\n", InvalidMultibulkLength),
        (b"*2147483648\r\n", InvalidMultibulkLength),
        (b"*-9223372036854775809\r\n", InvalidMultibulkLength),
        (b"*1\rX", InvalidCrlf),
        (b"*x\rX", InvalidCrlf),
        (b"*-1\rX", InvalidCrlf),
        (b"*1\r\n$x\rX", InvalidCrlf),
        (b"*1\r\n$4\rXPING\r\n", InvalidCrlf),
        (b"*1\r\n$4\r\nPINGxx", InvalidCrlf),
        (b"*1\r\n$4\r\nPING\rx", InvalidCrlf),
        (b"*1\r\nPING\r\n", ExpectedDollar(b'P')),
        (b"*1\r\nx1\rX", ExpectedDollar(b'x')),
        (b"*1\r\n\r\n", ExpectedDollar(b'\r')),
        (b"*1\r\n\xff\r\n", ExpectedDollar(0xff)),
        (b"*1\r\n$-1\r\n", InvalidBulkLength),
        (b"*1\r\n$\r\n", InvalidBulkLength),
        (b"*1\r\n$+4\r\nPING\r\n", InvalidBulkLength),
        (b"*1\r\n$04\r\nPING\r\n", InvalidBulkLength),
        (b"*1\r\n$-0\r\n\r\n", InvalidBulkLength),
        (b"*1\r\n$536870913\r\n", InvalidBulkLength),
        (b"*1\r\n$99999999999999999999999\r\n", InvalidBulkLength),
        (b"PING \"a\r\n", UnbalancedQuotes),
        (b"PING 'a\r\n", UnbalancedQuotes),
    ] {
        assert_eq!(error_of(input), Some(error), "{}", input.escape_ascii());
    }
}

#[test]
fn what_may_still_become_legal_is_waited_for() {
    for input in [
        "*",
        "*1",
        "*1\r",
        "*x\r",
        "*1048577\r\n",
        "*2147483647\r\n$4\r\n",
        "*1\r\n",
        "*1\r\nP",
        "*1\r\nx\r",
        "*1\r\n$4\r",
        "*1\r\n$4\r\nPINGx",
        "*1\r\n$536870912\r\n",
        "PING",
        "\"",
        "",
    ] {
        assert_eq!(whole(input.as_bytes()), (vec![], None), "{input:?}");
    }
}

#[test]
fn a_line_without_end_is_refused_at_64_kib() {
    use ProtocolError::*;
    let digits = b"1".repeat(65_536);
    for (start, error) in [
        (&b""[..], TooBigInline),
        (b"*", TooBigMultibulkCount),
        (b"*1\r\n$", TooBigBulkCount),
        (b"*1\r\nx", TooBigBulkCount),
    ] {
        let room = 65_536 - start.len().min(1);
        let longest = [start, &digits[..room]].concat();
        assert_eq!(whole(&longest), (vec![], None));
        assert_eq!(whole(&[&longest[..], b"1"].concat()).1, Some(error));
        // The end comes too late, no matter whether it is already there.
        assert_eq!(whole(&[&longest[..], b"1\r\n"].concat()).1, Some(error));
        assert_eq!(feed(longest.chunks(1).chain([&b"1"[..]]), &Limits::default()).1, Some(error));
    }
}

#[test]
fn a_stranger_may_ask_for_little() {
    use ProtocolError::*;
    let limits = Limits { authenticated: false, ..Limits::default() };
    for (input, error) in [
        ("*11\r\n", Some(UnauthenticatedMultibulkLength)),
        ("*10\r\n$16385\r\n", Some(UnauthenticatedBulkLength)),
        ("*10\r\n$16384\r\n", None),
        ("*9999999999999\r\n", Some(InvalidMultibulkLength)),
        ("*1\r\n$536870913\r\n", Some(InvalidBulkLength)),
    ] {
        assert_eq!(feed([input.as_bytes()], &limits), (vec![], error), "{input:?}");
    }
}

#[test]
fn spans_end_at_four_gib() {
    let limits = Limits { bulk_bytes_max: u64::MAX, ..Limits::default() };
    let error = feed([&b"*1\r\n$4294967295\r\n"[..]], &limits).1;
    assert_eq!(error, Some(ProtocolError::InvalidBulkLength));
    assert_eq!(feed([&b"*1\r\n$4294967200\r\n"[..]], &limits).1, None);
}

#[test]
fn told_counts_reserve_nothing() {
    let mut parser = Parser::new();
    let mut spans = Vec::new();
    let step = parser.next(b"*2147483647\r\n$500000000\r\nx", &Limits::default(), &mut spans);
    assert_eq!(step, Ok(Step::Incomplete { wanted: 13 + 12 + 500_000_002 }));
    assert!(parser.bytes() < 128 && spans.capacity() == 0);
}

#[test]
fn a_long_command_in_small_pieces_is_parsed_once() {
    let mut input = b"*100000\r\n".to_vec();
    for _ in 0..100_000 {
        input.extend_from_slice(b"$2\r\nab\r\n");
    }
    let (commands, error) = {
        let mut parser = Parser::new();
        let mut spans = Vec::new();
        let mut step = Ok(Step::Empty { consumed: 0 });
        // Parsed from its start at each of 40,000 pieces, this would take minutes.
        for end in (0..input.len()).step_by(20).chain([input.len()]) {
            step = parser.next(&input[..end], &Limits::default(), &mut spans);
        }
        (spans.len(), step)
    };
    assert_eq!((commands, error), (100_000, Ok(Step::Command { consumed: input.len() })));
}

#[test]
fn errors_are_told_in_valkeys_words() {
    use ProtocolError::*;
    for (error, text) in [
        (InvalidMultibulkLength, "invalid multibulk length"),
        (InvalidBulkLength, "invalid bulk length"),
        (ExpectedDollar(b'P'), "expected '$', got 'P'"),
        (InvalidCrlf, "invalid CRLF in request"),
        (TooBigInline, "too big inline request"),
        (TooBigMultibulkCount, "too big mbulk count string"),
        (TooBigBulkCount, "too big bulk count string"),
        (UnbalancedQuotes, "unbalanced quotes in request"),
        (UnauthenticatedMultibulkLength, "unauthenticated multibulk length"),
        (UnauthenticatedBulkLength, "unauthenticated bulk length"),
    ] {
        assert_eq!(error.reply_text(), format!("ERR Protocol error: {text}").into_bytes());
        assert_eq!(error.to_string(), format!("Protocol error: {text}"));
    }
    assert_eq!(ExpectedDollar(0xff).reply_text(), b"ERR Protocol error: expected '$', got '\xff'");
}

/// Bytes that look like the protocol, with mistakes.
fn traffic() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        6 => proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..20), 1..5)
            .prop_map(|command| spell(&command)),
        2 => "[a-c \"'\\\\]{0,12}\r?\n".prop_map(String::into_bytes),
        1 => Just(b"*0\r\n".to_vec()),
        1 => Just(b"*-1\r\n".to_vec()),
        1 => "[*$]-?[0-9]{0,3}\r\n?".prop_map(String::into_bytes),
        1 => proptest::collection::vec(any::<u8>(), 0..6),
    ];
    proptest::collection::vec(part, 0..8).prop_map(|parts| parts.concat())
}

fn spell(command: &[Vec<u8>]) -> Vec<u8> {
    let mut out = format!("*{}\r\n", command.len()).into_bytes();
    for argument in command {
        out.extend_from_slice(format!("${}\r\n", argument.len()).as_bytes());
        out.extend_from_slice(argument);
        out.extend_from_slice(b"\r\n");
    }
    out
}

proptest! {
    #[test]
    fn what_is_sent_is_parsed(
        commands in proptest::collection::vec(
            proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..1200), 1..6), 0..5),
    ) {
        let input: Vec<u8> = commands.iter().flat_map(|command| spell(command)).collect();
        prop_assert_eq!(whole(&input), (commands, None));
    }

    #[test]
    fn the_common_case_reads_headers_as_the_general_way_does(
        zeros in "0{0,2}",
        len in prop_oneof![0usize..1200, 9_990usize..10_010, 99_990usize..100_010],
    ) {
        let mut input = format!("*1\r\n${zeros}{len}\r\n").into_bytes();
        input.resize(input.len() + len, b'x');
        input.extend_from_slice(b"\r\n");
        // In two pieces it is read the general way.
        let (head, rest) = input.split_at(1);
        prop_assert_eq!(whole(&input), feed([head, rest], &Limits::default()));
    }

    #[test]
    fn splitting_changes_nothing(
        input in traffic(),
        sizes in proptest::collection::vec(1usize..30, 1..9),
    ) {
        let expected = whole(&input);
        prop_assert_eq!(&feed(input.chunks(1), &Limits::default()), &expected);
        for at in 0..input.len() {
            prop_assert_eq!(&feed([&input[..at], &input[at..]], &Limits::default()), &expected);
        }
        let mut rest = &input[..];
        let mut pieces = Vec::new();
        for size in sizes.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (piece, others) = rest.split_at(rest.len().min(*size));
            pieces.push(piece);
            rest = others;
        }
        prop_assert_eq!(&feed(pieces, &Limits::default()), &expected);
    }

    #[test]
    fn mutated_traffic_never_panics(
        mut input in traffic(),
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..6),
        authenticated: bool,
    ) {
        for (at, byte) in changes {
            if !input.is_empty() {
                let at = at.index(input.len());
                input[at] = byte;
            }
        }
        let limits = Limits {
            bulk_bytes_max: 64,
            multibulk_max: 8,
            inline_bytes_max: 40,
            authenticated,
        };
        prop_assert_eq!(feed([&input[..]], &limits), feed(input.chunks(1), &limits));
    }
}

#[test]
fn a_command_that_begins_like_the_last_one_is_read_by_its_head() {
    let limits = Limits::default();
    let head_of = |input: &[u8]| {
        let mut spans = Vec::new();
        Parser::new().next(input, &limits, &mut spans).expect("a command");
        Head::of(input, &limits, &spans)
    };
    let head = head_of(b"*2\r\n$3\r\nGET\r\n$1\r\na\r\n").expect("it is short");
    let words = |input: &[u8]| {
        let (_, spans) = read_alike(Some(head), input)?;
        Some(spans.iter().map(|span| span.of(input).to_vec()).collect::<Vec<_>>())
    };
    let other = b"*2\r\n$3\r\nGET\r\n$12\r\nabcdefghijkl\r\n*2\r\n";
    assert_eq!(words(other), Some(vec![b"GET".to_vec(), b"abcdefghijkl".to_vec()]));
    for unlike in
        ["*2\r\n$3\r\nget\r\n$1\r\na\r\n", "*2\r\n$3\r\nGET\r\n$2\r\na\r\n", "*2\r\n$3\r\nGET"]
    {
        assert_eq!(words(unlike.as_bytes()), None, "{unlike}");
    }
    assert!(head_of(b"*2\r\n$12\r\nHRANDFIELDXX\r\n$1\r\na\r\n").is_none(), "it is too long");
}
