// node-redlock as a client of lockbench's lock `exec` (../README.md), on one Redis server or on several independent ones.
// npm: redlock, ioredis; `npm ci` in this folder installs them. usage: node node_redlock.mjs
//
// The library tries a number of times (retryCount), and counts the lease from before the first try. So after a wait that is
// longer than the lease, it would grant a lock that has already expired. Here it tries only once, and this program waits
// between tries, as long as the library does by default. A server that does not answer within 4 s has not voted. The lease is
// the one that the library computes: shorter by 1 % and 2 ms for the drift of clocks. The answer is "busy" if a majority of
// the servers says so; otherwise the outcome is unknown.
import { readFileSync } from "node:fs";
import Redis from "ioredis";
import Redlock, { ExecutionError, ResourceLockedError } from "redlock";
import { serve, servers, sleep, versionOf } from "./serve.mjs";

const held = new Map();
let clients, locks;

function connect(host) {
  const { tls, username, password } = servers();
  const [, name, port] = host.match(/(.*):(\d+)/);
  return new Redis({
    host: name,
    port: Number(port),
    username: username || undefined,
    password,
    tls: tls ? { ca: process.env.LOCKBENCH_CA && readFileSync(process.env.LOCKBENCH_CA) } : undefined,
    commandTimeout: 4000,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
  });
}

const ready = (client) => new Promise((resolve, reject) => client.once("ready", resolve).once("error", reject));

// Returns whether a majority of the servers said that another client holds the lock.
async function isBusy(error) {
  const { votesAgainst, quorumSize } = await error.attempts[0];
  return [...votesAgainst.values()].filter((why) => why instanceof ResourceLockedError).length >= quorumSize;
}

async function take({ key, lease }, waitMs) {
  const asked = Date.now();
  for (;;) {
    try {
      const lock = await locks.acquire([key], Math.floor(lease));
      held.set(key, lock);
      return { outcome: "ok", lease: lock.expiration - asked };
    } catch (error) {
      if (!(error instanceof ExecutionError) || !(await isBusy(error))) throw error;
    }
    if (waitMs === 0) return { outcome: "busy" };
    const left = waitMs === null ? Infinity : asked + waitMs - Date.now();
    if (left <= 0) return { outcome: "timeout" };
    await sleep(Math.min(left, 100 + 200 * Math.random()));
  }
}

// If the library refuses a release or an extension, the lock is lost, unless it could not ask the servers.
async function ofHolder(key, call) {
  const lock = held.get(key);
  if (!lock) return { outcome: "lost" };
  try {
    return await call(lock);
  } catch (error) {
    if (!(error instanceof ExecutionError)) throw error;
    if (error.attempts.length > 0 && !(await isBusy(error))) throw error;
    return { outcome: "lost" };
  }
}

await serve({
  async open() {
    clients = servers().hosts.map(connect);
    await Promise.all(clients.map(ready));
    for (const client of clients) client.on("error", () => {}); // it connects again by itself
    locks = new Redlock(clients, { retryCount: 0 });
    const server = /redis_version:(\S+)/.exec(await clients[0].info("server"))[1];
    return { outcome: "ok", version: `node-redlock ${versionOf("redlock")} on Redis ${server}` };
  },
  try: (asked) => take(asked, 0),
  acquire: (asked) => take(asked, asked.deadline),
  release: ({ key }) =>
    ofHolder(key, async (lock) => {
      held.delete(key);
      await lock.release();
      return { outcome: "ok" };
    }),
  renew: ({ key, lease }) =>
    ofHolder(key, async (lock) => {
      const asked = Date.now();
      held.set(key, await lock.extend(Math.floor(lease)));
      return { outcome: "ok", lease: held.get(key).expiration - asked };
    }),
  async ping() {
    await Promise.all(clients.map((client) => client.ping()));
    return { outcome: "ok" };
  },
  async residue({ prefix, count }) {
    const left = [];
    for (const client of clients) {
      const names = count === undefined ? await client.keys(`${prefix}*`) : [...Array(count).keys()].map((i) => prefix + i);
      for (const name of names) if (await client.exists(name)) left.push(name);
    }
    return { outcome: "ok", count: left.length, example: left.length ? `key ${left[0]}` : "" };
  },
  close() {
    for (const client of clients ?? []) client.disconnect();
  },
});
