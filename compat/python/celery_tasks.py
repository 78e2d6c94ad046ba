"""A Celery worker: tasks, a group with its results, retries, and a revoked task, over one server."""

import os
import threading

from celery import Celery, group
from celery.contrib.testing.worker import start_worker

PORT = os.environ["COMPAT_PORT"]
app = Celery(
    "tasks",
    broker=f"redis://127.0.0.1:{PORT}/0",
    backend=f"redis://127.0.0.1:{PORT}/1",
)
app.conf.update(broker_connection_retry_on_startup=True, worker_hijack_root_logger=False)
tries = []


@app.task
def add(x, y):
    return x + y


@app.task(bind=True, max_retries=3)
def stubborn(self):
    tries.append(1)
    if len(tries) < 3:
        raise self.retry(countdown=0)
    return "done"


def run():
    with start_worker(app, perform_ping_check=False, pool="threads", concurrency=2):
        assert add.delay(2, 3).get(timeout=20) == 5
        sums = group(add.s(number, number) for number in range(20))()
        assert sums.get(timeout=30) == [2 * number for number in range(20)]
        assert stubborn.delay().get(timeout=20) == "done" and len(tries) == 3
        later = add.apply_async((1, 1), countdown=60)
        app.control.revoke(later.id)
        assert app.control.ping(timeout=5), "the worker hears broadcasts"


if __name__ == "__main__":
    run()
    # Celery's threads of the test worker may outlive the check.
    threading.Timer(5, os._exit, [0]).start()
