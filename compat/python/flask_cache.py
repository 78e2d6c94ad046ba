"""Flask with flask-caching: a view that is computed once, memoized functions, deletion."""

import os

from flask import Flask
from flask_caching import Cache

app = Flask(__name__)
app.config.update(
    CACHE_TYPE="RedisCache",
    CACHE_REDIS_URL=f"redis://127.0.0.1:{os.environ['COMPAT_PORT']}/3",
    CACHE_DEFAULT_TIMEOUT=60,
)
cache = Cache(app)
calls = []


@app.route("/page")
@cache.cached(timeout=30)
def page():
    calls.append("page")
    return "page"


@cache.memoize()
def square(number):
    calls.append(number)
    return number * number


client = app.test_client()
assert [client.get("/page").text for _ in range(3)] == ["page"] * 3 and calls == ["page"]
with app.app_context():
    assert [square(3), square(3), square(4)] == [9, 9, 16] and calls == ["page", 3, 4]
    cache.delete_memoized(square)
    assert square(3) == 9 and calls == ["page", 3, 4, 3]
    cache.set("key", [1, 2])
    assert cache.get("key") == [1, 2] and cache.delete("key") and cache.get("key") is None
    cache.clear()
assert client.get("/page").text == "page" and calls.count("page") == 2
