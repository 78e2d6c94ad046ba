//! What no script may do: outlive its end, take all memory, bring the process down, or leave
//! something for the next one.

mod common;

use caudal_commands::OwnedArgs;
use caudal_script::{Ended, Flags, Source, Stop, Vm};
use caudal_wire::Protocol;
use common::{Commands, reply};
use proptest::prelude::*;

fn run(vm: &mut Vm, text: &str) -> String {
    static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(1);
    let id = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let bytes = reply(vm, id, text.as_bytes(), Protocol::Resp2, &mut Commands::default());
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn a_killed_script_ends_whatever_it_catches() {
    let mut vm = Vm::new(1);
    for (id, text) in [
        "while true do end",
        "while true do pcall(function() while true do end end) end",
        "while true do pcall(function() while true do redis.call('ping') end end) end",
        "local function f() xpcall(f, f) end while true do pcall(f) end",
        "while true do xpcall(function() while true do end end, function() while true do end end) \
         end",
        "while true do local c = coroutine.create(function() while true do end end) \
         coroutine.resume(c) end",
        "while true do local c = coroutine.wrap(function() while true do end end) pcall(c) end",
        "local c c = coroutine.wrap(function() while true do coroutine.yield() end end) \
         while true do c() end",
        "local t = setmetatable({}, {__index = function() while true do end end}) \
         while true do pcall(function() return t.x end) end",
        "while true do pcall(string.gsub, string.rep('a', 100), 'a', function() while true do end \
         end) end",
        "while true do pcall(table.sort, {3,2,1}, function() while true do end end) end",
    ]
    .into_iter()
    .enumerate()
    {
        let mut host = Commands { stop_at: Some(3), ..Commands::default() };
        let bytes = reply(&mut vm, 100 + id as u64, text.as_bytes(), Protocol::Resp2, &mut host);
        assert_eq!(bytes, b"STOPPED", "{text}");
        assert_eq!(run(&mut vm, "return redis.call('ping')"), "+PONG\r\n");
    }
}

#[test]
fn a_script_that_begins_again_ends_at_once() {
    let mut vm = Vm::new(1);
    for text in [
        "redis.call('stop') redis.call('ping')",
        "pcall(redis.call, 'stop') redis.call('ping')",
        "redis.pcall('stop') redis.call('ping')",
        "coroutine.wrap(function() pcall(redis.call, 'stop') end)() redis.call('ping')",
        "xpcall(function() redis.call('stop') end, function() redis.call('ping') end)",
    ] {
        let mut host = Commands::default();
        let none = || Vec::<&[u8]>::new().into_iter();
        let source = Source { id: 1, text: text.as_bytes() };
        vm.forget_scripts();
        match vm.run(source, none(), none(), &mut host) {
            Err(Ended::Stopped(Stop::RunsAgain, _)) => {}
            other => panic!("{text}: {other:?}"),
        }
        assert_eq!(host.calls.len(), 1, "{text}");
    }
}

#[test]
fn memory_has_an_end_that_scripts_survive() {
    const LIMIT: usize = 8 << 20;
    let mut vm = Vm::new(1);
    vm.limit_memory(LIMIT);
    for text in [
        "local s = 'x' while true do s = s .. s end",
        "local t, n = {}, 1e5 while true do n = n + 1 t = {t, string.rep('x', n)} end",
        "return #string.rep('x', 2e7)",
    ] {
        assert!(run(&mut vm, text).starts_with("-ERR not enough memory"), "{text}");
    }
    assert_eq!(run(&mut vm, "return pcall(string.rep, 'x', 2e7)"), "$-1\r\n");
    assert_eq!(run(&mut vm, "return 1"), ":1\r\n");
    assert!(vm.memory_bytes() < LIMIT);
}

#[test]
fn what_would_exhaust_the_stack_is_an_error() {
    let mut vm = Vm::new(1);
    for text in [
        "local function f() return f() + 1 end return f()",
        "local function f(...) coroutine.wrap(f)(...) end return pcall(f) and 1 or 0",
        "return string.find(string.rep('a', 1e6), string.rep('a?', 1e6))",
        "return (string.rep('a', 1e6)):gsub(string.rep('a-', 1e6), '')",
        "return loadstring('return ' .. string.rep('(', 1e5))",
        "return loadstring('return ' .. string.rep('{', 1e5))",
        "local t = {} t[1] = t return cjson.encode(t)",
        "local t = {} t.a = t return cmsgpack.pack(t)",
        "local t = {} for i = 1, 100 do t = {t, t} end return #cmsgpack.pack(t)",
        "return #cjson.decode(string.rep('[', 1e6))",
        "return cmsgpack.unpack(string.rep('\\145', 1e6))",
    ] {
        let _ = run(&mut vm, text);
        assert_eq!(run(&mut vm, "return 1"), ":1\r\n", "{text}");
    }
    let nested = "local t = {} for i = 1, 5000 do t = {t} end return t";
    assert!(run(&mut vm, nested).ends_with("*1\r\n-ERR reached lua stack limit\r\n"));
}

#[test]
fn as_many_arguments_as_the_stack_holds_reach_a_command() {
    let mut vm = Vm::new(1);
    let strings = "local t = {} for i = 1, 7900 do t[i] = 'x' .. i end \
        return redis.call('count', unpack(t))";
    assert_eq!(run(&mut vm, strings), ":7901\r\n");
    let numbers = "local t = {} for i = 1, 7999 do t[i] = 1 end \
        return redis.call('count', unpack(t))";
    assert_eq!(run(&mut vm, numbers), ":8000\r\n");
    let more = "local function f(n, ...) if n == 0 then return redis.call('count', ...) end \
        return f(n - 1, 'x' .. n, ...) end return f(20000)";
    assert!(run(&mut vm, more).starts_with("-ERR too many arguments"), "{}", run(&mut vm, more));
    assert_eq!(run(&mut vm, strings), ":7901\r\n");
}

#[test]
fn nothing_of_a_script_is_left_for_the_next() {
    let mut vm = Vm::new(1);
    for text in [
        "x = 1",
        "rawset(_G, 'x', 1)",
        "_G.x = 1",
        "string.x = 1",
        "rawset(string, 'x', 1)",
        "table.insert(string, 1)",
        "table.insert(redis, 1)",
        "getmetatable('').__index = 1",
        "getmetatable(_G).__index = nil",
        "setmetatable(string, {})",
        "redis.call = nil",
        "cjson.encode = nil",
        "loadstring('x = 1')()",
        "load(function() return nil end)() x = 1",
        "for k, v in pairs(string) do string[k] = nil end",
        "local f = pairs(string) for k in f do end next(string).x = 1",
        "collectgarbage('stop') x = 1",
    ] {
        assert!(run(&mut vm, text).starts_with("-ERR"), "{text}");
    }
    let look =
        "return {type(string.x), type(rawget(_G, 'x')), string[1] or 'none', type(redis.call)}";
    assert_eq!(
        run(&mut vm, look),
        "*4\r\n$3\r\nnil\r\n$3\r\nnil\r\n$4\r\nnone\r\n$8\r\nfunction\r\n"
    );
    let compiled = "return tostring(loadstring(string.dump(function() return 1 end)))";
    assert_eq!(run(&mut vm, compiled), "$3\r\nnil\r\n");
}

#[test]
fn a_library_registers_its_functions_and_nothing_else() {
    let mut vm = Vm::new(1);
    let text = b"local count = 0\n\
        redis.register_function('next', function() count = count + 1 return count end)\n\
        redis.register_function{function_name = 'pair', flags = {'no-writes'}, \
        callback = function(keys, args) return {keys[1], args[1]} end}";
    let found = vm.load(Source { id: 7, text }, &mut Commands::default()).expect("it loads");
    let names: Vec<&[u8]> = found.iter().map(|function| function.name.as_slice()).collect();
    assert_eq!(names, [b"next".as_slice(), b"pair"]);
    assert_eq!(found[1].flags, Flags { no_writes: true, ..Flags::default() });
    let mut host = Commands::default();
    let mut output = caudal_wire::Output::default();
    for function in [b"next".as_slice(), b"next", b"pair"] {
        let (keys, args) = ([b"k".as_slice()], [b"a".as_slice()]);
        let returned = vm
            .call((7, function), keys.into_iter(), args.into_iter(), &mut host)
            .expect("it returns");
        let mut reply = caudal_wire::Reply::new(&mut output, Protocol::Resp2);
        vm.reply(&returned, &mut reply).expect("there is memory");
    }
    assert_eq!(output.tail(), b":1\r\n:2\r\n*2\r\n$1\r\nk\r\n$1\r\na\r\n");
    for bad in ["x = 1", "redis.call('ping')", "return pairs", "while true do end"] {
        let mut host = Commands { stop_at: Some(3), ..Commands::default() };
        assert!(vm.load(Source { id: 8, text: bad.as_bytes() }, &mut host).is_err(), "{bad}");
    }
}

/// An expression of Lua: values of all kinds, nested.
fn expression() -> impl Strategy<Value = String> {
    let text = proptest::collection::vec(any::<u8>(), 0..20).prop_map(|bytes| {
        let escaped: String = bytes.iter().map(|byte| format!("\\{byte:03}")).collect();
        format!("'{escaped}'")
    });
    let leaf = prop_oneof![
        Just("nil".to_owned()),
        Just("true".to_owned()),
        Just("false".to_owned()),
        Just("cjson.null".to_owned()),
        Just("tostring".to_owned()),
        Just("(0/0)".to_owned()),
        Just("(1/0)".to_owned()),
        any::<i64>().prop_map(|number| number.to_string()),
        (-100_i32..100).prop_map(|number| number.to_string()),
        any::<f64>()
            .prop_filter("finite", |number| number.is_finite())
            .prop_map(|number| format!("({number:e})")),
        text.clone(),
    ];
    let key = prop_oneof![
        Just("err".to_owned()),
        Just("ok".to_owned()),
        Just("map".to_owned()),
        Just("set".to_owned()),
        Just("double".to_owned()),
        Just("big_number".to_owned()),
        Just("verbatim_string".to_owned()),
        Just("format".to_owned()),
        Just("string".to_owned()),
        "[a-z]{1,3}",
    ];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        let entry = prop_oneof![
            inner.clone(),
            (key.clone(), inner.clone()).prop_map(|(key, value)| format!("['{key}']={value}")),
            (1..20, inner.clone()).prop_map(|(index, value)| format!("[{index}]={value}")),
        ];
        proptest::collection::vec(entry, 0..6)
            .prop_map(|entries| format!("{{{}}}", entries.join(",")))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn any_value_becomes_one_well_formed_reply(
        value in expression(),
        speaks in 2..=3,
        resp3: bool,
    ) {
        let mut vm = Vm::new(1);
        let protocol = if resp3 { Protocol::Resp3 } else { Protocol::Resp2 };
        let text = format!("redis.setresp({speaks}) return {value}");
        let bytes = reply(&mut vm, 1, text.as_bytes(), protocol, &mut Commands::default());
        let (_, used) = caudal_wire::frame::parse(&bytes).expect("well formed").expect("whole");
        prop_assert_eq!(used, bytes.len());
    }

    #[test]
    fn any_value_survives_the_libraries(value in expression()) {
        let mut vm = Vm::new(1);
        let text = format!(
            "local v = {value} \
             pcall(cjson.encode, v) pcall(cmsgpack.pack, v) pcall(struct.pack, 'i', v) \
             pcall(bit.band, v, 1) pcall(redis.call, 'echo', v) pcall(redis.sha1hex, v) \
             pcall(redis.log, 1, v) pcall(redis.error_reply, v) pcall(math.random, v) \
             local packed = cmsgpack.pack(v) local back = cmsgpack.unpack(packed) \
             assert(cmsgpack.pack(back) == packed or type(v) == 'table' or v ~= v) \
             return 1"
        );
        prop_assert_eq!(run(&mut vm, &text), ":1\r\n");
    }

    #[test]
    fn json_comes_back_as_it_was(value in expression()) {
        let mut vm = Vm::new(1);
        let text = format!(
            "local ok, text = pcall(cjson.encode, {value}) if not ok then return 1 end \
             local again = cjson.encode(cjson.decode(text)) \
             local ok2, third = pcall(cjson.encode, cjson.decode(again)) \
             assert(ok2 and #third == #again, again) return 1"
        );
        let reply = run(&mut vm, &text);
        prop_assert!(reply == ":1\r\n" || reply.contains("excessively sparse"), "{}", reply);
    }

    #[test]
    fn any_bytes_can_be_decoded_or_refused(
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        let mut vm = Vm::new(1);
        let escaped: String = bytes.iter().map(|byte| format!("\\{byte:03}")).collect();
        let text = format!(
            "local b = '{escaped}' pcall(cjson.decode, b) pcall(cmsgpack.unpack, b) \
             pcall(cmsgpack.unpack_one, b, 3) pcall(cmsgpack.unpack_limit, b, 2) \
             pcall(struct.unpack, b, b) pcall(struct.unpack, '>i4hc0sd', b) \
             pcall(struct.size, b) pcall(struct.pack, b, 1, 2, 'x', 'y') \
             pcall(loadstring, b) pcall(string.find, b, b) return 1"
        );
        prop_assert_eq!(run(&mut vm, &text), ":1\r\n");
    }

    #[test]
    fn structures_come_back(numbers in proptest::collection::vec(any::<i32>(), 1..8), big: bool) {
        let mut vm = Vm::new(1);
        let format: String = if big { ">" } else { "<" }.to_owned() + &"i".repeat(numbers.len());
        let list: Vec<String> = numbers.iter().map(i32::to_string).collect();
        let list = list.join(",");
        let text = format!(
            "local back = {{struct.unpack('{format}', struct.pack('{format}', {list}))}} \
             local all = {{{list}}} for i, n in ipairs(all) do assert(back[i] == n) end return 1"
        );
        prop_assert_eq!(run(&mut vm, &text), ":1\r\n");
    }

    #[test]
    fn replies_come_back_as_they_were(
        integer: i64,
        text in proptest::collection::vec(any::<u8>(), 0..40),
    ) {
        let mut vm = Vm::new(1);
        let mut words = OwnedArgs::default();
        words.push(&text);
        let integer = integer >> 11;
        let raw = [
            format!("*3\r\n:{integer}\r\n${}\r\n", text.len()).as_bytes(),
            &text,
            b"\r\n*2\r\n$-1\r\n+OK\r\n",
        ]
        .concat();
        let escaped: String = raw.iter().map(|byte| format!("\\{byte:03}")).collect();
        let script = format!("return redis.call('raw', '{escaped}')");
        let bytes = reply(&mut vm, 1, script.as_bytes(), Protocol::Resp2, &mut Commands::default());
        prop_assert_eq!(bytes, raw);
    }
}
