// node-redis with RESP3: commands, transactions, pub/sub, client-side caching's invalidations.
"use strict";

const assert = require("node:assert/strict");
const { createClient, BasicClientSideCache } = require("redis");

const url = `redis://127.0.0.1:${process.env.COMPAT_PORT}`;

async function main() {
  const client = await createClient({ url, RESP: 3 }).connect();
  await client.flushAll();
  assert.equal(await client.set("text", "value"), "OK");
  await client.hSet("hash", { a: "1", b: "2" });
  assert.deepEqual({ ...(await client.hGetAll("hash")) }, { a: "1", b: "2" });
  await client.zAdd("sorted", [{ score: 1, value: "one" }, { score: 2.5, value: "two" }]);
  const [one, two] = await client.zRangeWithScores("sorted", 0, -1);
  assert.deepEqual([one.value, one.score, two.value, two.score], ["one", 1, "two", 2.5]);
  assert.deepEqual(await client.multi().incr("count").get("text").exec(), [1, "value"]);

  const subscriber = await client.duplicate().connect();
  const heard = new Promise((resolve) => subscriber.pSubscribe("new*", (text, channel) => resolve([channel, text])).then(
    () => client.publish("news", "hello")));
  assert.deepEqual(await heard, ["news", "hello"]);

  const cache = new BasicClientSideCache({ ttl: 0, maxEntries: 0 });
  const cached = await createClient({ url, RESP: 3, clientSideCache: cache }).connect();
  assert.equal(await cached.get("text"), "value");
  assert.equal(await cached.get("text"), "value");
  const invalidated = new Promise((resolve) => cache.on("invalidate", resolve));
  await client.set("text", "new");
  await invalidated;
  assert.equal(await cached.get("text"), "new");
  assert.equal(cache.stats().hitCount, 1);
}

main().then(() => process.exit(0), (error) => {
  console.error(error);
  process.exit(1);
});
