// make_check: writes a made-up but realistic check.json, the same bytes each time, for the report's tests.
//
//   node make_check.mjs faults > golden/check/faults/check.json   every verdict, partial, hostile and long texts
//   node make_check.mjs kept   > golden/check/kept/check.json     a short tour in which all locks keep their claims
//
// It measures nothing: no figure in it is about any real server.

function random(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
const draw = random(4);
const ms = 1e6, s = 1e9;
const round = (x, digits = 6) => Number(x.toFixed(digits));

const FAULTS = {
  'pause': 'a holder stands still past its lease or session, then goes on',
  'holder-kill': 'a holder is killed',
  'waiter-kill': 'a client is killed while it waits',
  'starved-renewal': 'a holder\'s renewals come too late',
  'server-pause': 'the server stands still for a while',
  'server-restart': 'the server is killed and restarted with its data',
  'server-empty': 'the server is killed and restarted without its data',
  'leader-kill': 'the leader of three is killed',
  'primary-lost': 'replication is cut, the primary dies, a replica is promoted by hand',
  'sentinel-failover': 'replication is cut, the primary dies, Sentinel promotes',
  'minority-lost': 'fewer than half of the servers die',
  'majority-lost': 'more than half of the servers die, and come back',
  'node-empty': 'one of several servers is restarted without its data',
  'terminated': 'the server ends a holder\'s connection',
  'eviction': 'the server is filled until it throws keys away',
  'clock-forward': 'the server\'s wall clock jumps a minute ahead',
  'clock-back': 'the server\'s wall clock jumps a minute back',
  'wire-delay': 'every byte comes later',
  'wire-cut': 'a holder\'s wire swallows everything for longer than its lease',
  'wire-one-way': 'a holder\'s requests arrive, the answers do not',
  'wire-reset': 'all connections are reset',
  'lost-reply': 'the answer to an acquire is lost',
  'none': 'nothing happens',
};

// backend, topology, guarantee, crash, server, durability, then its locks; * has a token.
const BACKENDS = [
  ['memory', 'embedded', 'host', 'never', null, 'in this process', 'mem-mutex mem-robust mem-rwlock mem-semaphore'],
  ['file', 'embedded', 'host', 'at-once', null, 'the kernel of this machine', 'file-flock file-ofd'],
  ['redis', 'redis', 'node', 'lease', 'redis 7.0.15', 'in memory, nothing is written to disk', 'redis-setnx redis-reentrant redis-fair redis-fenced* redis-rwlock redis-semaphore redis-permit'],
  ['redis', 'redis-independent', 'majority', 'lease', 'redis 7.0.15', 'in memory, nothing is written to disk', 'redis-redlock'],
  ['redis', 'redis-replicas', 'async-replica', 'lease', 'redis 7.0.15', 'in memory, nothing is written to disk', 'redis-wait'],
  ['memcached', 'memcached', 'node', 'lease', 'memcached 1.6.18', 'in memory, gone with the process', 'memcached-add*'],
  ['nats', 'nats', 'node', 'lease', 'nats-server 2.9.10', 'on disk, synced every two minutes', 'nats-kv*'],
  ['zookeeper', 'zookeeper-3', 'majority', 'session', 'zookeeper 3.8.0', 'transaction log, on disk before each answer', 'zk-lock* zk-reentrant* zk-rwlock* zk-semaphore'],
  ['etcd', 'etcd-3', 'majority', 'session', 'etcd 3.4.23', 'write-ahead log, on disk before each answer', 'etcd-mutex* etcd-lock*'],
  ['sqlite', 'embedded', 'host', 'at-once', null, 'write-ahead log', 'sqlite-immediate sqlite-table sqlite-optimistic*'],
  ['postgres', 'postgres', 'node', 'at-once', 'postgres 15.8', 'in memory: the lock ends with its session', 'pg-advisory pg-advisory-xact pg-row* pg-nowait* pg-table pg-lease* pg-optimistic*'],
  ['mariadb', 'mariadb', 'node', 'at-once', 'mariadb 10.11.6', 'in memory: the lock ends with its session', 'mysql-getlock mysql-row* mysql-nowait* mysql-table mysql-lease* mysql-optimistic*'],
  ['redis', 'redis', 'none', 'lease', 'redis 7.0.15', 'in memory, nothing is written to disk', 'unsafe-redis-setnx-expire unsafe-redis-del unsafe-redis-get-del unsafe-redis-getset-repaired unsafe-redis-lua-reentrant unsafe-redis-renew-late unsafe-redis-ttl-short unsafe-redlock-no-validity'],
  ['memory', 'embedded', 'none', 'never', null, 'in this process', 'unsafe-none'],
  ['postgres', 'postgres', 'none', 'lease', 'postgres 15.8', 'on disk', 'unsafe-sql-version-compares-itself unsafe-sql-owner-is-host'],
  ['zookeeper', 'zookeeper', 'none', 'session', 'zookeeper 3.8.0', 'on disk', 'unsafe-zk-ignores-session-loss'],
];
const LOCKS = {}, HOMES = {};
for (const [backend, topology, guarantee, crash, server, durability, names] of BACKENDS) {
  for (const word of names.split(' ')) {
    const name = word.replace('*', '');
    LOCKS[name] = { name, backend, primitive: /rwlock|semaphore|optimistic/.exec(name)?.[0] ?? 'mutex', guarantee, crash, token: word.endsWith('*'), control: guarantee === 'none' };
    HOMES[name] = { topology, server, durability };
  }
}

const CLIENT_FAULTS = ['pause', 'holder-kill', 'waiter-kill', 'starved-renewal', 'wire-cut', 'wire-one-way', 'lost-reply', 'terminated'];
const QUORUM_ONLY = ['leader-kill', 'minority-lost', 'majority-lost', 'node-empty'], REPLICA_ONLY = ['primary-lost', 'sentinel-failover'];

// What is known, as the drivers state it; null: does not apply.
function expectation(lock, fault) {
  const { guarantee, crash, backend, control } = lock;
  const embedded = ['memory', 'file', 'sqlite'].includes(backend);
  if (control) return ['pause', 'holder-kill', 'server-restart', 'wire-cut', 'none'].includes(fault) ? ['violated', 'broken on purpose'] : null;
  if (embedded) return { pause: ['safe', 'the kernel holds it as long as the process lives'], 'holder-kill': crash === 'never' ? ['stuck', 'nobody frees it'] : ['safe', 'the kernel frees it'], 'waiter-kill': ['safe', 'a waiter has nothing'] }[fault] ?? null;
  if (QUORUM_ONLY.includes(fault) && guarantee !== 'majority') return null;
  if (REPLICA_ONLY.includes(fault) && guarantee !== 'async-replica') return null;
  if (fault === 'eviction' && !['redis', 'memcached'].includes(backend)) return null;
  if (fault.startsWith('clock') && ['etcd', 'zookeeper', 'memcached'].includes(backend)) return ['safe', 'its timers are monotonic'];
  if (fault.startsWith('clock-f')) return crash === 'lease' ? ['violated', 'leases end by the wall clock'] : ['safe', 'it has no lease'];
  if (['pause', 'starved-renewal', 'wire-cut', 'wire-one-way'].includes(fault)) return crash === 'at-once' ? ['safe', 'it lasts as long as the connection'] : ['expired', 'the lease ends while its holder knows nothing'];
  if (fault === 'server-empty' || fault === 'eviction') return guarantee === 'node' ? ['violated', 'the lock is gone with the data'] : ['safe', 'most servers still have it'];
  if (fault === 'node-empty') return lock.name === 'redis-redlock' ? ['violated', 'a second majority may form'] : ['safe', 'the log is on disk'];
  if (REPLICA_ONLY.includes(fault)) return ['violated', 'what the replica did not get is lost'];
  return ['safe', 'the protocol allows for it'];
}

const WORSE = { safe: 0, expired: 1, stuck: 2, violated: 3 };
const LEASE = 2;
const dense = 6; // how long holds are; few of them keep the stored files small

// Four clients take turns on one key; the one that holds at 2 s is hit.
function evidence(fault, verdict) {
  const holds = [], client = CLIENT_FAULTS.includes(fault), until = fault === 'none' ? 2 : 5;
  let at = 1.2 + 0.2 * draw(), turn = 0;
  while (at < 2) {
    const end = at + 0.05 + 0.1 * draw(), hit = end > 2 && client;
    holds.push({ client: turn, key: 0, acquired_s: round(at), released_s: round(hit && verdict !== 'safe' ? until + 0.05 : hit ? 2.4 : end), lease_end_s: round(at + LEASE), outcome: hit ? (fault === 'holder-kill' ? 'killed' : 'lost') : 'ok', shared: false });
    turn = (turn + 1) % 4;
    at = end + 0.002;
  }
  const victim = holds[holds.length - 1];
  at = verdict === 'violated' ? 2.3 : client ? victim.lease_end_s + 0.02 : 2.6;
  const first = { client: turn, key: 0, acquired_s: round(at) };
  while (at < 7) {
    const end = at + dense * (0.1 + 0.2 * draw());
    holds.push({ client: turn, key: 0, acquired_s: round(at), released_s: round(end), lease_end_s: round(at + LEASE), outcome: 'ok', shared: false });
    turn = (turn + 1) % 4;
    if (turn === victim.client && at < until) turn = (turn + 1) % 4;
    at = end + 0.002;
  }
  const op = (hold, token, note) => ({ client: hold.client, key: 0, op: 'acquire', begin_s: round(hold.acquired_s - 0.001), end_s: hold.acquired_s, outcome: 'ok', token, lease_end_s: round(hold.acquired_s + LEASE), note });
  const counterexample = ['expired', 'violated'].includes(verdict)
    ? [op(victim, 417, `held until ${victim.released_s} s`), op(first, 418, 'granted while the other still held')] : [];
  const faults = fault === 'none' ? [] : [{ kind: client ? 'pause' : 'server-kill', target: client ? 'holder' : 'primary', process: victim.client, client: client ? victim.client : null, node: client ? null : 0, key: 0, from_s: 2, to_s: until, acted: true, sign: client ? 'its pulse stood still for 3.000 s' : 'a ping failed, and was answered again after 1.204 s' }];
  return { counterexample, faults };
}

function cell(lock, fault, seeds, patch = {}) {
  const [expected, expected_why] = expectation(lock, fault) ?? ['unstated', null];
  const verdict = patch.verdict ?? expected, spoken = verdict in WORSE && expected in WORSE;
  const by = spoken ? WORSE[verdict] - WORSE[expected] : 0;
  const grants = patch.grants ?? Math.round(400 + 3000 * draw()), broke = verdict === 'expired' || verdict === 'violated';
  const overlaps = broke ? 1 + Math.floor(6 * draw()) : 0, attempted = broke ? overlaps + Math.floor(4 * draw()) : 0;
  const crash = { 'lease': [0, LEASE * s, 'up to the lease'], 'session': [LEASE * s, 2.5 * s, 'the session, and up to a tick'], 'at-once': [0, 50 * ms, 'the connection\'s end'], 'never': [null, null, null] }[lock.crash];
  const count = fault === 'none' || !['safe', 'expired', 'violated'].includes(verdict) ? 0 : 20;
  const trials = Array.from({ length: count }, () => Math.round((crash[1] ?? 2 * ms) * (0.2 + 0.85 * draw() ** 0.5) + ms)).sort((a, b) => a - b);
  const q = (p) => (count ? trials[Math.max(0, Math.ceil(p * count) - 1)] : null);
  const hits = fault === 'none' || fault === 'exposed' || verdict === 'failed' ? null : verdict === 'inconclusive' ? 0 : 20;
  const home = HOMES[lock.name] ?? {};
  return {
    lock: lock.name, fault, topology: home.topology ?? 'redis', durability: home.durability ?? null, server: home.server ?? null, verdict, workload: `check/${fault}`, failed_runs: verdict === 'failed' || verdict === 'inconclusive' ? 1 : 0, missed: false,
    why: { expired: 'a holder outlived its lease', violated: 'two holders inside their leases', stuck: 'nobody got the key for 24 s, 12 times the theory', inconclusive: 'no fault acted: nobody held the key', failed: 'the run failed: redis: could not connect' }[verdict] ?? null,
    expected, expected_why, compared: by > 0 ? 'worse' : by < 0 ? 'better' : 'as expected',
    grants: verdict === 'failed' ? null : grants, faults_hit: hits, bound95: verdict !== 'safe' ? null : round(hits === null ? 3 / grants : 1 - 0.05 ** (1 / hits), 9), overlaps, detected: broke ? Math.floor(overlaps / 2) : 0,
    lost_updates: broke ? Math.floor(3 * draw()) : 0, stale_attempted: attempted, stale_accepted_unfenced: attempted, stale_rejected_fenced: lock.token ? attempted : null, stale_accepted_fenced: lock.token ? 0 : null,
    recovered: fault === 'none' || verdict === 'failed' ? null : verdict !== 'stuck',
    recovery_ns: { count, min: q(0), p50: q(0.5), p90: q(0.9), max: q(1), theory_max: crash[1], trials },
    grants_lost: verdict === 'violated' ? 1 : 0, lost_wakeups: 0,
    residue: null, lease_ns: lock.crash === 'at-once' || lock.crash === 'never' ? null : LEASE * s, clients: 4, seed: seeds[0], seeds,
    command: `lockbench check ${lock.name} --fault ${fault} --seed ${seeds[0]}`, run: `cells/${lock.name}.${fault}.${seeds[0]}`,
    ...(verdict === 'failed' ? { faults: [], counterexample: [] } : evidence(fault, verdict)), ...patch,
  };
}

function check(locks, faults, cells, more) {
  return {
    schema: 'lockbench.check/2', tool: { name: 'lockbench', version: '0.4.0' }, command: 'lockbench check --full --seed 3', started_at: '2026-01-05T10:00:00Z', ended_at: '2026-01-05T10:41:12Z', partial: false, partial_reason: null,
    environment: { kernel: 'Linux 6.1.0', cpu_model: 'Made-up CPU @ 3.0 GHz', cpus: 2, memory_bytes: 8589934592, build: 'release' }, seeds: [3, 4, 5], tour: 'full',
    faults: faults.map((name) => ({ name, summary: FAULTS[name] ?? null })), locks, skipped: [], cells, ...more,
  };
}

const EVIL = '</script><script>throw 1</script> <b>bold</b> & "more" | `x` \u001b[31mred\u001b[0m';

function faults() {
  const of = (name) => LOCKS[name], seeds = [3, 4, 5], cells = [];
  const long = { ...of('redis-setnx'), name: `lock-${'with-a-very-long-name-'.repeat(4)}end` }, evil = { ...of('pg-table'), name: `evil ${EVIL}` };
  const locks = ['mem-mutex', 'file-flock', 'redis-setnx', 'redis-fenced', 'pg-advisory', 'redis-wait', 'redis-redlock', 'zk-lock', 'etcd-mutex', 'unsafe-redis-del', 'unsafe-none'].map(of).concat(long, evil);
  const names = ['none', 'pause', 'holder-kill', 'server-restart', 'server-empty', 'primary-lost', 'leader-kill', 'wire-cut'];
  const patches = {
    'redis-fenced.server-restart': { verdict: 'violated' }, 'zk-lock.leader-kill': { verdict: 'stuck' }, 'pg-advisory.wire-cut': { verdict: 'expired', residue: { count: 2, example: 'key lockbench:7f:0' } },
    'etcd-mutex.wire-cut': { verdict: 'safe', why: 'nothing seen' }, 'redis-redlock.pause': { verdict: 'inconclusive', faults: [{ kind: 'pause', target: 'holder', process: null, client: null, node: null, key: null, from_s: 2, to_s: 2, acted: false, sign: 'nobody held a key for 2 s' }], counterexample: [] },
    'redis-setnx.server-restart': { verdict: 'failed' }, 'unsafe-none.none': { verdict: 'safe', missed: true }, 'unsafe-none.pause': { verdict: 'safe' }, 'unsafe-none.holder-kill': { verdict: 'safe' }, 'unsafe-none.server-restart': { verdict: 'safe' }, 'unsafe-none.wire-cut': { verdict: 'safe' },
    [`${evil.name}.pause`]: { verdict: 'violated', why: EVIL, expected: 'expired', expected_why: EVIL, compared: 'worse', topology: EVIL, durability: EVIL, server: EVIL, command: EVIL, run: EVIL },
  };
  for (const lock of locks) for (const fault of names) {
    if (expectation(lock, fault)) cells.push(cell(lock, fault, seeds, patches[`${lock.name}.${fault}`]));
  }
  return check(locks, names, cells, { partial: true, partial_reason: 'stopped by Ctrl-C after 61 of 74 cells',
    skipped: [{ lock: 'nats-kv', backend: 'nats', fault: null, reason: 'no nats-server here', install: 'nats-server' }, { lock: 'zk-lock', backend: 'zookeeper', fault: 'clock-back', reason: `the shim ${EVIL}`, install: null }] });
}

function kept() {
  const locks = ['file-flock', 'pg-advisory', 'zk-lock', 'etcd-mutex', 'redis-setnx', 'unsafe-redis-del'].map((name) => LOCKS[name]);
  const names = ['pause', 'holder-kill', 'server-restart', 'wire-cut'], cells = [];
  for (const lock of locks) for (const fault of names) if (expectation(lock, fault)) cells.push(cell(lock, fault, [1]));
  return check(locks, names, cells, { tour: 'short', seeds: [1], command: 'lockbench check' });
}

const made = { faults, kept }[process.argv[2]];
if (!made) { console.error('usage: node make_check.mjs faults|kept'); process.exit(1); }
// One cell a line: a change can be read in a diff.
const { cells, ...rest } = made();
const head = JSON.stringify(rest, null, 1).slice(0, -2);
console.log(`${head},\n "cells": [\n${cells.map((c) => JSON.stringify(c)).join(',\n')}\n ]\n}`);
