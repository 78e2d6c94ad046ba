"""Django's own Redis cache: a round trip, many keys, counters, expiry, versions, and a session."""

import os

import django
from django.conf import settings

settings.configure(
    CACHES={
        "default": {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": f"redis://127.0.0.1:{os.environ['COMPAT_PORT']}/2",
        }
    },
    SESSION_ENGINE="django.contrib.sessions.backends.cache",
    INSTALLED_APPS=["django.contrib.sessions"],
)
django.setup()

from django.contrib.sessions.backends.cache import SessionStore  # noqa: E402
from django.core.cache import cache  # noqa: E402

cache.set("page", {"title": "text", "parts": [1, 2]}, timeout=60)
assert cache.get("page") == {"title": "text", "parts": [1, 2]}
assert cache.add("page", "other") is False and cache.get("none", "default") == "default"
cache.set_many({"a": 1, "b": "two", "c": None})
assert cache.get_many(["a", "b", "none"]) == {"a": 1, "b": "two"}
assert cache.incr("a", 4) == 5 and cache.decr("a") == 4
assert cache.touch("b", 30) and cache.has_key("b") and not cache.touch("none")
cache.set("a", 8, version=2)
assert cache.get("a") == 4 and cache.get("a", version=2) == 8
cache.set("gone", 1, timeout=-1)
assert cache.get("gone") is None
cache.delete_many(["a", "b"])
assert cache.get("b") is None
session = SessionStore()
session["user"] = 7
session.save()
assert SessionStore(session.session_key)["user"] == 7
cache.clear()
assert cache.get("page") is None
