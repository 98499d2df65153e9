// The Lock of npm's etcd3 as a client of lockbench's lock `exec-session` (../README.md).
// npm: etcd3; `npm ci` in this folder installs it. usage: node etcd3_lock.mjs
//
// Each Lock has a lease of etcd, which the library keeps alive. Its acquire does not wait: it grants at once or fails. So
// the program tries again every 100 ms or so, as every user of the library must; each failed try makes a lease and revokes it.
// A Lock does not report that its lease is lost: the program listens to the lease inside, which is not part of the documented
// interface.
import { readFileSync } from "node:fs";
import { Etcd3, EtcdLeaseInvalidError, EtcdLockFailedError } from "etcd3";
import { say, serve, servers, sleep, versionOf } from "./serve.mjs";

const held = new Map();
let client;
let ttlS; // the time to live of each grant's lease, from the workload

async function take({ key }, waitMs) {
  const asked = Date.now();
  for (;;) {
    const lock = client.lock(key).ttl(ttlS);
    try {
      await lock.acquire();
      held.set(key, lock);
      lock.lease.on("lost", () => held.get(key) === lock && say({ event: "lost" }));
      return { outcome: "ok" };
    } catch (error) {
      const again = error instanceof EtcdLeaseInvalidError && waitMs !== 0; // its lease ended before it asked
      if (!again && !(error instanceof EtcdLockFailedError)) throw error;
    }
    if (waitMs === 0) return { outcome: "busy" };
    const left = waitMs === null ? Infinity : asked + waitMs - Date.now();
    if (left <= 0) return { outcome: "timeout" };
    await sleep(Math.min(left, 50 + 100 * Math.random()));
  }
}

await serve({
  async open({ lease }) {
    const { tls, username, password, hosts } = servers();
    client = new Etcd3({
      hosts: hosts.map((host) => `http${tls ? "s" : ""}://${host}`),
      auth: username ? { username, password } : undefined,
      credentials: tls ? { rootCertificate: readFileSync(process.env.LOCKBENCH_CA) } : undefined,
    });
    const status = await client.maintenance.status();
    ttlS = Math.ceil(lease / 1000);
    // etcd looks for ended leases twice a second.
    return { outcome: "ok", version: `etcd3 ${versionOf("etcd3")} on etcd ${status.version}`, lease: 1000 * ttlS + 1000 };
  },
  try: (asked) => take(asked, 0),
  acquire: (asked) => take(asked, asked.deadline),
  async release({ key }) {
    const lock = held.get(key);
    held.delete(key);
    if (!lock || lock.lease.revoked()) return { outcome: "lost" };
    await lock.release();
    return { outcome: "ok" };
  },
  async ping() {
    await client.get("lockbench").string();
    return { outcome: "ok" };
  },
  async residue({ prefix }) {
    const left = await client.getAll().prefix(prefix).keys();
    return { outcome: "ok", count: left.length, example: left.length ? `key ${left[0]}` : "" };
  },
  async close() {
    await Promise.allSettled([...held.values()].map((lock) => lock.release()));
    client?.close();
  },
});
