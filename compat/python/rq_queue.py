"""An RQ queue: jobs enqueued, run by a worker, one that fails, results read back."""

import os
import sys

from redis import Redis
from rq import Queue, SimpleWorker

PORT = int(os.environ["COMPAT_PORT"])
JOBS = 20


def run():
    connection = Redis(port=PORT)
    queue = Queue(connection=connection)
    sums = [queue.enqueue("operator.add", number, 1) for number in range(JOBS)]
    wrong = queue.enqueue("operator.truediv", 1, 0)
    assert len(queue) == JOBS + 1
    worker = SimpleWorker([queue], connection=connection)
    assert worker.work(burst=True, logging_level="ERROR")
    assert [job.return_value() for job in sums] == [number + 1 for number in range(JOBS)]
    assert wrong.is_failed and queue.failed_job_registry.count == 1
    assert queue.finished_job_registry.count == JOBS and len(queue) == 0


if __name__ == "__main__":
    run()
    sys.exit(0)
