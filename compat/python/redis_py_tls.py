"""redis-py over TLS: certificates of both sides, large values, messages, a user by its certificate."""

import os

import redis

PORT = int(os.environ["COMPAT_PORT"])
TLS_PORT = int(os.environ["COMPAT_TLS_PORT"])
FOLDER = os.environ["COMPAT_CERTIFICATES"]
AUTHORITY = {"ssl": True, "ssl_ca_certs": f"{FOLDER}/ca.crt", "ssl_cert_reqs": "required"}
CLIENT = {"ssl_certfile": f"{FOLDER}/client.crt", "ssl_keyfile": f"{FOLDER}/client.key"}


def client(**more):
    return redis.Redis(host="localhost", port=TLS_PORT, decode_responses=True, **AUTHORITY, **more)


def values(secure, plain):
    assert secure.ping() and secure.set("key", "value") and plain.get("key") == "value"
    large = "0123456789" * 500_000
    assert secure.set("large", large) and secure.get("large") == large
    with secure.pipeline(transaction=True) as pipe:
        for number in range(1000):
            pipe.rpush("list", number)
        assert pipe.execute() == list(range(1, 1001))
    assert tuple(secure.blpop(["list"], timeout=1)) == ("list", "0")


def messages(secure, plain):
    heard = secure.pubsub()
    heard.subscribe("news")
    assert heard.get_message(timeout=2)["type"] == "subscribe"
    assert plain.publish("news", "hello") == 1
    assert heard.get_message(timeout=2)["data"] == "hello"
    heard.close()


def certificates(plain):
    for stranger in [client(), redis.Redis(port=TLS_PORT)]:
        try:
            stranger.ping()
            raise AssertionError("a stranger was let in")
        except redis.ConnectionError:
            pass
    assert plain.config_set("tls-auth-clients-user", "CN")
    assert plain.acl_setuser("client", enabled=True, nopass=True, commands=["+@all"])
    assert client(**CLIENT).acl_whoami() == "client"
    assert plain.config_set("tls-auth-clients", "optional")
    assert client().acl_whoami() == "default"


plain = redis.Redis(port=PORT, decode_responses=True)
for protocol in [2, 3]:
    plain.flushall()
    secure = client(protocol=protocol, **CLIENT)
    values(secure, plain)
    messages(secure, plain)
certificates(plain)
