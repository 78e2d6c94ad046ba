// A BullMQ queue: jobs, delays, priorities, retries, a flow of parent and children, and a rate limit.
"use strict";

const assert = require("node:assert/strict");
const { FlowProducer, Queue, QueueEvents, Worker } = require("bullmq");

const connection = { host: "127.0.0.1", port: Number(process.env.COMPAT_PORT), maxRetriesPerRequest: null };
const JOBS = 50;

async function main() {
  const queue = new Queue("work", { connection });
  const events = new QueueEvents("work", { connection });
  await Promise.all([queue.waitUntilReady(), events.waitUntilReady()]);
  let failures = 0;
  const worker = new Worker("work", async (job) => {
    if (job.name === "stubborn" && failures++ < 2) throw new Error("not yet");
    if (job.name === "parent") return Object.values(await job.getChildrenValues()).sort();
    return job.data.number * 2;
  }, { connection, concurrency: 4 });
  await worker.waitUntilReady();

  const jobs = await queue.addBulk([...Array(JOBS).keys()].map((number) => ({ name: "double", data: { number } })));
  const results = await Promise.all(jobs.map((job) => job.waitUntilFinished(events, 30000)));
  assert.deepEqual(results, [...Array(JOBS).keys()].map((number) => number * 2));

  const later = await queue.add("double", { number: 21 }, { delay: 200, priority: 3 });
  assert.equal(await later.waitUntilFinished(events, 30000), 42);
  const stubborn = await queue.add("stubborn", { number: 1 }, { attempts: 3, backoff: 10 });
  assert.equal(await stubborn.waitUntilFinished(events, 30000), 2);

  const flow = new FlowProducer({ connection });
  const child = (number) => ({ name: "double", queueName: "work", data: { number } });
  const tree = await flow.add({ name: "parent", queueName: "work", children: [child(1), child(2)] });
  assert.deepEqual(await tree.job.waitUntilFinished(events, 30000), [2, 4]);

  const counts = await queue.getJobCounts("completed", "failed", "active", "waiting", "delayed", "paused");
  assert.deepEqual(counts, { completed: JOBS + 5, failed: 0, active: 0, waiting: 0, delayed: 0, paused: 0 });
  await queue.obliterate({ force: true });
  assert.equal(await queue.getJobCountByTypes("completed"), 0);
  await Promise.all([worker.close(), events.close(), flow.close(), queue.close()]);
}

main().then(() => process.exit(0), (error) => {
  console.error(error);
  process.exit(1);
});
