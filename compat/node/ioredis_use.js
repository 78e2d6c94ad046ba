// ioredis' common use: pipelines, transactions, scripts as commands, streams, pub/sub, blocking reads.
"use strict";

const assert = require("node:assert/strict");
const Redis = require("ioredis");

const port = Number(process.env.COMPAT_PORT);

async function main() {
  const client = new Redis(port);
  await client.flushall();
  assert.equal(await client.set("text", "value", "EX", 100, "NX"), "OK");
  assert.equal(await client.set("text", "other", "NX"), null);
  await client.hset("hash", { a: 1, b: "two" });
  assert.deepEqual(await client.hgetall("hash"), { a: "1", b: "two" });
  const replies = await client.pipeline().incr("count").incr("count").get("text").exec();
  assert.deepEqual(replies, [[null, 1], [null, 2], [null, "value"]]);
  assert.deepEqual(await client.multi().set("a", 1).incr("a").exec(), [[null, "OK"], [null, 2]]);
  await client.watch("a");
  await client.duplicate().set("a", 5);
  assert.equal(await client.multi().set("a", 6).exec(), null);
  await assert.rejects(client.lpush("text", "x"), /^ReplyError: WRONGTYPE/);

  client.defineCommand("both", { numberOfKeys: 2, lua: "return {KEYS[1], KEYS[2], ARGV[1]}" });
  assert.deepEqual(await client.both("k1", "k2", "x"), ["k1", "k2", "x"]);

  const seen = new Set();
  for await (const names of client.scanStream({ count: 2 })) names.forEach((name) => seen.add(name));
  assert.deepEqual([...seen].sort(), ["a", "count", "hash", "text"]);

  const id = await client.xadd("stream", "*", "field", "value");
  assert.deepEqual(await client.xrange("stream", "-", "+"), [[id, ["field", "value"]]]);
  await client.xgroup("CREATE", "stream", "group", "0");
  const read = await client.xreadgroup("GROUP", "group", "me", "COUNT", 1, "STREAMS", "stream", ">");
  assert.deepEqual(read, [["stream", [[id, ["field", "value"]]]]]);
  assert.equal(await client.xack("stream", "group", id), 1);

  const waiting = client.duplicate();
  const popped = waiting.brpop("queue", 5);
  await client.lpush("queue", "job");
  assert.deepEqual(await popped, ["queue", "job"]);

  const subscriber = client.duplicate();
  await subscriber.subscribe("news");
  const heard = new Promise((resolve) => subscriber.on("message", (...words) => resolve(words)));
  assert.equal(await client.publish("news", "hello"), 1);
  assert.deepEqual(await heard, ["news", "hello"]);
  const binary = Buffer.from([0, 255, 13, 10]);
  await client.set("binary", binary);
  assert.deepEqual(await client.getBuffer("binary"), binary);
}

main().then(() => process.exit(0), (error) => {
  console.error(error);
  process.exit(1);
});
