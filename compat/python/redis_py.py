"""redis-py's common use, in both protocols: pipelines, transactions, scripts, locks, pub/sub, streams."""

import os
import threading

import redis

PORT = int(os.environ["COMPAT_PORT"])


def values(client):
    assert client.set("text", "value", ex=100) and client.get("text") == "value"
    assert 0 < client.ttl("text") <= 100
    assert client.set("text", "other", nx=True) is None
    assert client.incrby("count", 5) == 5 and client.incrbyfloat("real", 0.5) == 0.5
    assert client.hset("hash", mapping={"a": 1, "b": 2}) == 2
    assert client.hgetall("hash") == {"a": "1", "b": "2"}
    assert client.rpush("list", 1, 2, 3) == 3 and client.lrange("list", 0, -1) == ["1", "2", "3"]
    assert client.sadd("set", "x", "y") == 2 and client.smembers("set") == {"x", "y"}
    assert client.zadd("sorted", {"one": 1, "two": 2.5}) == 2
    scores = client.zrange("sorted", 0, -1, withscores=True)
    assert [(name, score) for name, score in scores] == [("one", 1.0), ("two", 2.5)]
    assert client.blpop(["none", "list"], timeout=1) == ("list", "1") or client.llen("list") == 2
    names = {"text", "count", "real", "hash", "list", "set", "sorted"}
    assert set(client.scan_iter(count=3)) == names
    assert client.info("server")["redis_version"] and client.dbsize() == len(names)
    assert client.type("sorted") == "zset" and client.object("encoding", "count") == "int"
    try:
        client.lpush("text", 1)
        raise AssertionError("a string is no list")
    except redis.ResponseError as error:
        assert str(error).startswith("WRONGTYPE"), error


def transactions(client):
    with client.pipeline() as pipe:
        pipe.set("a", 1).incr("a").get("a")
        assert pipe.execute() == [True, 2, "2"]
    with client.pipeline() as pipe:
        pipe.watch("a")
        client.set("a", 9)
        pipe.multi()
        pipe.set("a", 10)
        try:
            pipe.execute()
            raise AssertionError("a watched key changed")
        except redis.WatchError:
            pass
    assert client.get("a") == "9"

    def increase(pipe):
        value = int(pipe.get("a"))
        pipe.multi()
        pipe.set("a", value + 1)

    client.transaction(increase, "a")
    assert client.get("a") == "10"


def scripts(client):
    add = client.register_script("return redis.call('INCRBY', KEYS[1], ARGV[1])")
    assert add(keys=["sum"], args=[4]) == 4 and add(keys=["sum"], args=[3]) == 7
    with client.lock("lock", timeout=5, blocking_timeout=1) as lock:
        assert lock.owned() and not client.lock("lock", blocking_timeout=0.1).acquire()
        lock.extend(5)
    assert not client.exists("lock")


def messages(client):
    heard = client.pubsub()
    heard.subscribe("news")
    heard.psubscribe("new*")
    kinds = [heard.get_message(timeout=2)["type"] for _ in range(2)]
    assert kinds == ["subscribe", "psubscribe"], kinds
    assert client.publish("news", "hello") == 2
    texts = [heard.get_message(timeout=2) for _ in range(2)]
    assert {(text["type"], text["data"]) for text in texts} == {
        ("message", "hello"),
        ("pmessage", "hello"),
    }
    heard.close()


def streams(client):
    first = client.xadd("stream", {"field": "value"})
    assert client.xlen("stream") == 1 and client.xrange("stream") == [(first, {"field": "value"})]
    assert client.xgroup_create("stream", "group", id="0")
    [(name, entries)] = dict(client.xreadgroup("group", "me", {"stream": ">"})).items()
    entries = entries[0] if isinstance(entries[0], list) else entries
    assert (name, entries) == ("stream", [(first, {"field": "value"})]), entries
    assert client.xpending("stream", "group")["pending"] == 1
    assert client.xack("stream", "group", first) == 1


def waiting(client):
    got = []
    waiter = threading.Thread(target=lambda: got.append(client.brpop("queue", timeout=5)))
    waiter.start()
    other = redis.Redis(port=PORT, decode_responses=True)
    other.lpush("queue", "job")
    waiter.join(10)
    assert [tuple(pair) for pair in got] == [("queue", "job")], got


for protocol in (2, 3):
    connection = redis.Redis(port=PORT, protocol=protocol, decode_responses=True)
    for check in (values, transactions, scripts, messages, streams, waiting):
        connection.flushall()
        check(connection)
        print(f"RESP{protocol}: {check.__name__}")
