// make_run: writes a made-up but realistic run.json, the same bytes each time, for the report's tests.
//
//   node make_run.mjs mixed  > golden/mixed/run.json   every odd case: violated, caught, partial, failed, skipped
//   node make_run.mjs clean  > golden/clean/run.json   repeats, an open loop, nothing wrong
//   node make_run.mjs modes  > golden/modes/run.json   readers, permits, retries, topologies
//   node make_run.mjs decide > golden/decide/run.json  sweeps of clients and rates, seven repeats, holders around a fault, recoveries
//   node make_run.mjs locks DIR COUNT                  DIR/run.json of so many locks, in repeats, with names as long as the longest
//   node make_run.mjs over-time DIR                    DIR/run.json: repeats, an open loop, faults, over twenty seconds
//   node make_run.mjs forty DIR                        the same of forty locks, with histograms of three digits
//
// Its V2 histograms are written here independently of results/format/hdr.c, so that reading them is a test too.
// It measures nothing: no figure in it is about any real server.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';

const DIGITS = process.argv[2] === 'forty' ? 3 : 2, HIGHEST = 3600000000000;

function random(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
const draw = random(20);
const normal = () => Math.sqrt(-2 * Math.log(1 - draw())) * Math.cos(2 * Math.PI * draw());

// HdrHistogram's slots for lowest = 1.
const subMag = Math.ceil(Math.log2(2 * 10 ** DIGITS)), halfMag = subMag - 1;
function slotOf(value) {
  const bucket = Math.max(0, Math.floor(Math.log2(Math.max(1, value))) - halfMag);
  return bucket * 2 ** halfMag + Math.floor(value / 2 ** bucket);
}
function highestIn(slot) {
  const half = 2 ** halfMag;
  const bucket = Math.max(0, Math.floor(slot / half) - 1);
  return (slot - bucket * half + 1) * 2 ** bucket - 1;
}

function varint(bytes, signed) {
  let n = signed >= 0 ? 2n * BigInt(signed) : -2n * BigInt(signed) - 1n;
  for (let i = 0; i < 8; i++) {
    if (n < 128n) { bytes.push(Number(n)); return; }
    bytes.push(Number(n & 127n) | 128);
    n >>= 7n;
  }
  bytes.push(Number(n));
}

function encode(counts) {
  const bytes = [];
  for (let i = 0; i < counts.length;) {
    if (counts[i]) { varint(bytes, counts[i++]); continue; }
    let zeros = 0;
    while (i < counts.length && !counts[i]) { zeros++; i++; }
    varint(bytes, -zeros);
  }
  const head = Buffer.alloc(40);
  head.writeUInt32BE(0x1c849313, 0);
  head.writeInt32BE(bytes.length, 4);
  head.writeInt32BE(DIGITS, 12);
  head.writeBigInt64BE(1n, 16);
  head.writeBigInt64BE(BigInt(HIGHEST), 24);
  head.writeDoubleBE(1, 32);
  const packed = deflateSync(Buffer.concat([head, Buffer.from(bytes)]), { level: 9 });
  const outer = Buffer.alloc(8);
  outer.writeUInt32BE(0x1c849314, 0);
  outer.writeInt32BE(packed.length, 4);
  return Buffer.concat([outer, packed]).toString('base64');
}

function latency(count, p50, sigma, tail = 0) {
  if (!count) return null;
  const counts = [];
  let sum = 0, min = Infinity, max = 0;
  for (let i = 0; i < count; i++) {
    let v = p50 * Math.exp(sigma * normal());
    if (draw() < tail) v *= 4 + 12 * draw();
    v = Math.max(1, Math.round(v));
    const slot = slotOf(v);
    while (counts.length <= slot) counts.push(0);
    counts[slot]++;
    sum += v; min = Math.min(min, v); max = Math.max(max, v);
  }
  const quantile = (q) => {
    let rank = Math.max(1, Math.ceil(q * count - 1e-9));
    for (let s = 0; s < counts.length; s++) if ((rank -= counts[s]) <= 0) return Math.min(highestIn(s), max);
  };
  return { count, min, mean: Math.round(sum / count), p50: quantile(0.5), p90: quantile(0.9), p99: quantile(0.99),
           p999: quantile(0.999), max, over: 0, hdr: encode(counts) };
}

const us = 1e3, ms = 1e6;
const DISK = 'on disk before each answer';
// trip: a round trip; acq: acquire alone; rel: release; hand: handoff at contention; fair: 0 (greedy) .. 1
const LOCKS = {
  'null': { backend: 'null', topology: 'embedded', durability_class: 'none', durability: 'none', baseline: true, claims: [], waits: 'never', acq: 35, rel: 30, hand: null, cmds: 0 },
  'mem-mutex': { backend: 'memory', topology: 'embedded', durability_class: 'none', durability: 'in this process', claims: ['excludes'], waits: 'futex', acq: 90, rel: 60, hand: 9 * us, cmds: 0, fair: 0.6 },
  'file-flock': { backend: 'file', topology: 'embedded', durability_class: 'none', durability: 'the kernel of this machine', claims: ['excludes', 'crash-release'], waits: 'the kernel\'s queue', acq: 1.4 * us, rel: 1.1 * us, hand: 21 * us, cmds: 2, fair: 0.7 },
  'sqlite-immediate': { backend: 'sqlite', topology: 'embedded', durability_class: 'none', durability: 'write-ahead log, on disk before each commit returns', claims: ['excludes', 'crash-release'], waits: 'poll, back-off 1 ms to 100 ms', acq: 19 * us, rel: 16 * us, hand: 1.1 * ms, cmds: 2, fair: 0.2 },
  'redis-setnx': { backend: 'redis', topology: 'redis', version: '7.0.15', durability_class: 'memory', durability: 'in memory, nothing is written to disk (save "", appendonly no), as most run Redis for locks', claims: ['excludes', 'crash-release'], waits: 'poll, back-off 1 ms to 64 ms with jitter', trip: 43 * us, acq: 46 * us, rel: 49 * us, hand: 1.9 * ms, cmds: 2, poll: 7.4, fair: 0.5, server: 14 * us },
  'zk-lock': { backend: 'zookeeper', topology: 'zookeeper', version: '3.8.0', durability_class: 'disk', durability: 'transaction log, on disk before each answer (ZooKeeper\'s default)', claims: ['excludes', 'crash-release'], waits: 'watch on the predecessor', trip: 95 * us, acq: 1.9 * ms, rel: 1.5 * ms, hand: 3.6 * ms, cmds: 3, poll: 4, fair: 1, server: 310 * us },
  'etcd-mutex': { backend: 'etcd', topology: 'etcd', version: '3.4.23', durability_class: 'disk', durability: 'write-ahead log, on disk before each answer (etcd\'s default)', claims: ['excludes', 'safe-failover', 'crash-release'], waits: 'watch on the predecessor', trip: 165 * us, acq: 1.6 * ms, rel: 1.4 * ms, hand: 3.1 * ms, cmds: 2, poll: 4, fair: 1, server: 420 * us },
  'pg-advisory': { backend: 'postgres', topology: 'postgres', version: '15.8', durability_class: 'memory', durability: 'in memory: the lock ends with its session, whatever the log does', claims: ['excludes', 'crash-release'], waits: 'the server\'s queue', trip: 38 * us, acq: 52 * us, rel: 47 * us, hand: 95 * us, cmds: 2, fair: 1, server: 61 * us },
  'mysql-getlock': { backend: 'mysql', topology: 'mariadb', version: '10.11.6', durability_class: 'memory', durability: 'in memory: the lock ends with its session, whatever the log does', claims: ['excludes', 'crash-release'], waits: 'the server\'s queue', trip: 51 * us, acq: 66 * us, rel: 63 * us, hand: 120 * us, cmds: 2, fair: 0.95, server: 72 * us },
  'memcached-add': { backend: 'memcached', topology: 'memcached', version: '1.6.18', durability_class: 'memory', durability: 'in memory, gone with the process', claims: ['excludes', 'crash-release'], waits: 'poll, back-off 1 ms to 64 ms with jitter', trip: 37 * us, acq: 39 * us, rel: 40 * us, hand: 2.1 * ms, cmds: 2, poll: 8.1, fair: 0.45, server: 9 * us },
  'redis-late': { backend: 'redis', topology: 'redis', version: '7.0.15', durability_class: 'memory', durability: 'in memory, nothing is written to disk (save "", appendonly no), as most run Redis for locks', claims: ['excludes'], waits: 'poll', trip: 43 * us, acq: 45 * us, rel: 44 * us, hand: 1.2 * ms, cmds: 2, poll: 5, fair: 0.5, server: 12 * us },
  'unsafe-none': { backend: 'null', topology: 'embedded', durability_class: 'none', durability: 'none', control: true, claims: ['excludes'], waits: 'never', acq: 40, rel: 30, hand: null, cmds: 0, fair: 1 },
};

function jainOf(shares) {
  const sum = shares.reduce((a, b) => a + b, 0), squares = shares.reduce((a, b) => a + b * b, 0);
  return sum ? (sum * sum) / (shares.length * squares) : null;
}
const round = (x, digits = 6) => (x === null ? null : Number(x.toPrecision(digits)));

function stage(index, name, clients, options = {}) {
  const lock = LOCKS[name], blocks = lock.topology === 'embedded' && !lock.baseline;
  const contended = clients > 1 && options.keys !== 'own' && !lock.baseline && !lock.control;
  const samples = options.failed ? 0 : (options.samples ?? 400);
  const noise = 1 + 0.03 * normal();
  const hand = contended ? lock.hand * (1 + 0.02 * Math.log2(clients)) : null;
  let rate = options.rate ?? (contended ? 1e9 / hand : (1e9 / (lock.acq + lock.rel)) * Math.min(clients, 3)) * noise;
  if (options.failed) rate = null;
  const duration = options.partial ? 0.731204 : 2.000113;
  const grants = rate === null ? 0 : Math.round(rate * duration);
  const wait = contended && !options.rate ? (clients * 1e9) / rate : lock.acq;
  const spread = contended ? 0.25 + 1.2 * (1 - lock.fair) : 0.18;
  const shares = [];
  for (let c = 0; c < clients; c++) shares.push(Math.max(0, 1 + (1 - (lock.fair ?? 1)) * 1.1 * normal()));
  const total = shares.reduce((a, b) => a + b, 0);
  const perClient = shares.map((s) => Math.round((total ? s / total : 1 / clients) * grants));
  const violated = (lock.control && clients > 1) || (options.violated && clients > 1);
  const checked = Math.round(grants * 1.15);
  const lost = violated ? Math.max(1, Math.round(checked * (lock.control ? 0.41 : 0.0003))) : 0;
  const open = options.rate !== undefined,
    acquire = latency(samples, wait * noise, spread, 0.01), due = open ? latency(samples, wait * 1.6, 0.5, 0.01) : null;
  return {
    id: `${String(index).padStart(3, '0')}-${name}-c${clients}-r${options.repeat ?? 0}`,
    lock: name, backend: lock.backend, primitive: 'mutex', topology: lock.topology, durability: lock.durability, durability_class: lock.durability_class,
    control: !!lock.control, baseline: !!lock.baseline, claims: lock.claims, waits: lock.waits,
    clients, processes: 1, threads: blocks ? clients : Math.min(2, clients), keys: options.keys ?? 1, key_distribution: null,
    arrival: open ? `poisson:${options.rate}/s` : 'closed', hold: options.hold ?? '0', think: '0', mode: 'wait',
    lease_ns: 30e9, status: options.failed ? 'failed' : options.partial ? 'partial' : 'complete', error: options.error ?? null,
    duration_s: options.failed ? null : duration, warmup_s: 0.5, drain_s: 0.004,
    connect_ns: options.failed ? null : { count: clients, mean: 310000, max: 900000 }, repeat: options.repeat ?? 0,
    attempts: grants, outcomes: { ok: grants, busy: 0, timeout: 0, lost: 0, unknown: options.partial ? 2 : 0, refused: 0, broken: options.failed ? 3 : 0 },
    arrivals: open ? { due: grants + 4, started: grants + 1, missed: 3 } : null,
    grants, throughput_per_s: rate === null ? null : round(rate),
    latency_ns: {
      acquire, acquire_due: due,
      release: latency(samples, lock.rel * noise, 0.2, 0.01), hold: latency(samples, 300, 0.2),
      handoff: contended ? latency(samples, hand * noise, 0.3, 0.01) : null, lag: open ? latency(samples, 30 * us, 0.4) : null,
      wait_failed: null, ping: lock.trip && samples ? latency(100, lock.trip, 0.1) : null,
    },
    fairness: clients > 1 && grants ? { jain: round(jainOf(perClient)), min_share: round((Math.min(...perClient) * clients) / grants),
      max_wait_ns: Math.round(wait * 6), longest_run: lock.fair === 1 ? 2 : Math.round(3 + 30 * (1 - (lock.fair ?? 1))), grants_per_client: perClient }
      : { jain: null, min_share: null, max_wait_ns: null, longest_run: null, grants_per_client: perClient },
    cost: options.failed ? { commands_per_grant: null, bytes_per_grant: null, client_cpu_ns_per_grant: null, server_cpu_ns_per_grant: null }
      : { commands_per_grant: round(contended ? (lock.poll ?? lock.cmds) : lock.cmds), bytes_per_grant: lock.trip ? 310 : 0,
        client_cpu_ns_per_grant: Math.round(lock.trip ? 9000 + (contended ? 2200 * (lock.poll ?? 2) : 2000) : lock.acq),
        server_cpu_ns_per_grant: lock.server ? Math.round(lock.server * (contended ? 1.6 : 1)) : null },
    exclusion: { verdict: lock.baseline ? 'baseline' : grants === 0 ? 'unchecked' : violated ? 'violated' : 'clean', grants: checked,
      counter: checked - lost, lost_updates: lost, double_holders: Math.round(lost * 0.8), expired_holders: 0, token_errors: 0,
      bound95: violated || !checked || lock.baseline ? null : round(3 / checked),
      first: violated ? { key: 0, holder: { client: 0, acquired_ns: 81234000000, lease_end_ns: 111234000000, token: 0 },
        intruder: { client: 1, acquired_ns: 81234512000, lease_end_ns: 111234512000, token: 0 } } : null },
    executor: { hiccup_ns: latency(100, 3 * us, 0.5, 0.02), blocked_ns_max: 180000 },
    series: options.failed ? [] : [{ t_s: 1, ok: Math.round(grants / 2), acquire_p50_ns: Math.round(wait), acquire_p99_ns: Math.round(wait * 2) }],
    limited_by: options.limited ? 'generator' : null,
    warnings: options.limited ? [options.limited] : [],
    not_granted: open ? 4 / (grants + 4) : grants ? 0 : null, response_ns: due && { p50: due.p50, p90: due.p90, p99: due.p99, p999: null },
  };
}

function run(name, summary, plan, stages, more = {}) {
  const servers = [...new Set(stages.filter((s) => s.topology !== 'embedded').map((s) => s.lock))];
  const seen = new Map();
  for (const lock of servers) {
    const l = LOCKS[lock];
    if (l && !seen.has(l.backend)) {
      seen.set(l.backend, { backend: l.backend, topology: l.topology, durability: l.durability, started_by: 'lockbench',
        url: `${l.backend}://127.0.0.1:4${1000 + seen.size}`, facts: { version: l.version, os: 'Linux' } });
    }
  }
  return {
    schema: 'lockbench.run/2', tool: { name: 'lockbench', version: '0.1' }, command: `lockbench run ${name}`,
    started_at: '2026-11-20T23:48:01Z', ended_at: '2026-11-20T23:51:09Z', partial: false, partial_reason: null, verdict: 'clean',
    plan: { workload: { name, summary }, ...plan },
    environment: { hostname_hash: '5f2a', kernel: 'Linux 6.1.0-28-amd64', cpu_model: 'Example CPU @ 2.50GHz', cpus: 2, memory_bytes: 25769803776,
      clock_source: 'tsc', governor: null, libc: 'glibc 2.36', compiler: 'gcc 12.2.0', build: 'release', timer_slack_ns: 1, libraries: { hiredis: '0.14.1', libpq: '15.8' } },
    hosts: [], servers: [...seen.values()], skipped: [], warnings: [], stages, ...more,
  };
}

const plan = { load: { clients: [1, 16], keys: '1', arrival: 'closed', hold: '0', think: '0', seed: 1 }, acquire: { mode: 'wait', lease_ns: 30e9 }, run: { warmup_ns: 5e8, duration_ns: 2e9, repeat: 1 } };

function mixed() {
  const stages = [];
  const add = (name, clients, options) => stages.push(stage(stages.length, name, clients, { samples: 600, ...options }));
  for (const name of ['null', 'redis-setnx', 'zk-lock', 'pg-advisory']) { add(name, 1); add(name, 16); }
  add('redis-late', 1); add('redis-late', 16, { violated: true });
  add('mysql-getlock', 1); add('mysql-getlock', 16, { partial: true, error: 'the server went away: <b>Lost connection</b> & "more" \u001b[31mred\u001b[0m </script><script>throw 1</script>' });
  add('memcached-add', 1); add('memcached-add', 16, { failed: true, error: 'could not connect: Connection refused' });
  add('unsafe-none', 1); add('unsafe-none', 16);
  return run('compare', 'the short tour', plan, stages, { verdict: 'violated', partial: true, partial_reason: 'mysql-getlock with 16 clients lost its server',
    skipped: [{ lock: 'etcd-mutex', backend: 'etcd', reason: 'no etcd server here', install: 'etcd-server' }], warnings: ['the processor\'s governor is not known'] });
}

function clean() {
  const stages = [];
  const add = (name, clients, options) => stages.push(stage(stages.length, name, clients, { samples: 600, ...options }));
  for (const repeat of [0, 1, 2]) for (const name of ['redis-setnx', 'etcd-mutex']) { add(name, 1, { repeat }); add(name, 8, { repeat }); }
  add('redis-setnx', 8, { rate: 400, hold: 'exponential:1ms', limited: 'generator-limited: lag p99 is 14 % of acquire_due p99' });
  add('etcd-mutex', 8, { rate: 400, hold: 'exponential:1ms' });
  return run('mine', 'repeats and an open loop', { ...plan, run: { ...plan.run, repeat: 3 } }, stages);
}

// Everything that is more than a mutex on one server: readers, permits, retries, wake-ups, several topologies, leftovers and stuck keys.
function modes() {
  const stages = [];
  const add = (name, clients, patch = {}, as = {}) => {
    const s = stage(stages.length, name, clients, { samples: 600 });
    Object.assign(s, { readers: 0, permits: 1, bound: 4, depth: 1, clients_per_session: 1, session: 'keep', fault: 'none',
      workload: null, expected: null, shared_grants: 0, retries: null, rounds: null, faults: [], residue: { count: 0, example: null } }, as);
    s.id = `${String(stages.length).padStart(3, '0')}-${s.lock}-c${clients}-r0`;
    for (const part of Object.keys(patch)) s[part] = { ...s[part], ...patch[part] };
    stages.push(s);
  };
  const wakes = (n, more = {}) => ({ cost: { wakeups_per_grant: n, ...more } });
  add('redis-setnx', 8, wakes(3.21));
  add('redis-setnx', 8, wakes(3.05), { topology: 'redis-replicas', residue: { count: 3, example: 'key lockbench:7f:0' } });
  add('zk-lock', 8, wakes(1));
  add('pg-advisory', 8, { cost: { wakeups_per_grant: 0, retries_per_grant: 0.84 } }, { lock: 'pg-optimistic', primitive: 'optimistic', retries: 3000 });
  add('mem-mutex', 8, {}, { lock: 'mem-rwlock', primitive: 'rwlock' });
  add('mem-mutex', 8, {}, { lock: 'mem-rwlock', primitive: 'rwlock', readers: 50, shared_grants: 900 });
  add('mem-mutex', 8, {}, { lock: 'mem-semaphore', primitive: 'semaphore', permits: 2 });
  add('redis-setnx', 4, { latency_ns: { connect: latency(100, 180 * us, 0.2) } }, { session: 'each', keys: 4, key_distribution: 'own' });
  add('zk-lock', 4, { exclusion: { verdict: 'violated', token_errors: 5, bound95: null } }, { lock: 'zk-reentrant', keys: 12, key_distribution: 'uniform' });
  add('file-flock', 8, { exclusion: { verdict: 'stuck', stuck: 2, bound95: null } }, { lock: 'file-ofd', fault: 'kill', keys: 200, key_distribution: 'uniform' });
  return run('contended', 'more than a mutex', plan, stages, { verdict: 'stuck' });
}

const GUARANTEE = { 'redis-setnx': 'node', 'pg-advisory': 'node', 'zk-lock': 'majority', 'mem-mutex': 'host' };
const RATES = [100, 200, 300, 400, 450];
function decide() {
  const stages = [];
  const add = (name, clients, options = {}, patch = {}) => {
    const s = stage(stages.length, name, clients, { samples: 500, ...options });
    stages.push({ ...s, guarantee: GUARANTEE[name], offered_per_s: null, fault: 'none', ...patch });
  };
  // The law: lambda 1,000, sigma 0.02, kappa 0.0005.
  const law = (n) => round((1000 * n) / (1 + 0.02 * (n - 1) + 0.0005 * n * (n - 1)) * (1 + 0.004 * normal()));
  for (const n of [1, 2, 4, 8, 16, 32]) add('pg-advisory', n, { keys: 1000 }, { key_distribution: 'uniform', throughput_per_s: law(n) });
  for (const n of [1, 4, 16]) add('zk-lock', n, { keys: 1000 }, { key_distribution: 'uniform' });
  for (let repeat = 0; repeat < 7; repeat++) for (const name of ['redis-setnx', 'pg-advisory', 'zk-lock', 'mem-mutex']) add(name, 16, { repeat });
  for (const rate of RATES) {
    const wait = (200 + 900 / (1 - rate / 480)) * us;
    add('redis-setnx', 32, { rate, hold: '1ms' }, { offered_per_s: rate,
      latency_ns: { ...stages[0].latency_ns, acquire_due: latency(800, wait, 0.6), hold: latency(800, 1.05 * ms, 0.05), handoff: latency(400, 1.0 * ms, 0.2), lag: latency(800, 30 * us, 0.3) } });
  }
  const faults = [{ kind: 'pause', section: 0, target: 'holder', process: 0, client: 0, node: null, key: 0, from_s: 2.05, to_s: 2.45, acted: true, sign: 'stopped' }];
  const recovery = (trials, max, more = {}) => ({ trials_ns: trials.toSorted((a, b) => a - b), count: trials.length, unrecovered: 0, min_ns: Math.min(...trials), p50_ns: null, p90_ns: null, max_ns: Math.max(...trials), theory_max_ns: max,
    grants_lost: 1, lost_wakeups: 0, ...more });
  add('redis-setnx', 4, {}, { fault: 'pause', faults, exclusion: { ...stages[0].exclusion, verdict: 'expired', expired_holders: 1, bound95: null },
    history: { ops: 86, dropped: 0, file: null, model: 'mutex', inversions: 0,
      counterexample: [{ client: 0, key: 0, op: 'acquire', begin_s: 2.0, end_s: 2.01, outcome: 'ok', token: 0, lease_end_s: 2.21, shared: false, note: 'held beyond its lease' }] },
    recovery: recovery([150e6, 160e6, 170e6, 180e6, 195e6, 260e6], 200e6) });
  add('zk-lock', 4, {}, { fault: 'kill', recovery: recovery([4.1e9, 4.4e9, 5.2e9], 6e9, { unrecovered: 1 }) });
  add('pg-advisory', 4, {}, { warnings: ['its slope was -3 % a second'] });
  add('pg-advisory', 8, { limited: 'generator-limited: lockbench\'s own timers were late by 3.1 ms at p99' });
  // Two round trips of one lock, one of the other.
  for (const rtt of [5e6, 0, null]) {
    for (const [name, trips, own] of [['redis-setnx', 1, 90 * us], ['pg-advisory', 2, 30 * us]]) {
      const acquire = latency(500, own + trips * (rtt ?? 0) + (rtt === null ? 0 : 40 * us), 0.02);
      add(name, 2, {}, { rtt_ns: rtt, latency_ns: { ...stages[0].latency_ns, acquire } });
    }
  }
  return run('decide', 'what the views that decide draw', plan, stages, { verdict: 'expired' });
}

function overTime() {
  const SECONDS = 20, stages = [];
  const add = (name, clients, options, more = {}, gap = () => 1) => {
    const made = Object.assign(stage(stages.length, name, clients, { samples: 2000, ...options }), more);
    const scale = SECONDS / made.duration_s;
    made.duration_s = SECONDS;
    made.grants = made.attempts = made.outcomes.ok = Math.round(made.grants * scale);
    if (made.arrivals) {
      const { p50, p90, p99 } = made.latency_ns.acquire_due;
      Object.assign(made, { arrivals: { due: made.grants + 3, started: made.grants, missed: 3 }, response_ns: { p50, p90, p99, p999: 'never' }, not_granted: 3 / (made.grants + 3) });
    }
    const { p50, p99 } = made.latency_ns.acquire, wave = (t) => 1 + 0.3 * Math.sin(t / 3);
    made.series = Array.from({ length: SECONDS }, (_, t) => ({ t_s: t, ok: Math.round((gap(t) * made.grants) / SECONDS), acquire_p50_ns: gap(t) ? Math.round(p50 * wave(t)) : null, acquire_p99_ns: gap(t) ? Math.round(p99 * wave(t)) : null }));
    stages.push(made);
  };
  for (const repeat of [0, 1, 2]) for (const name of ['redis-setnx', 'pg-advisory']) add(name, 8, { repeat });
  const faults = [{ kind: 'pause', section: 'fault', target: 'holder', process: null, client: 3, node: null, key: 0, from_s: 6.25, to_s: 9.5, acted: true, sign: 'no call returned' },
    { kind: 'kill', section: 'fault', target: 'server <b>1</b>', process: null, client: null, node: 0, key: null, from_s: 14, to_s: null, acted: true, sign: 'its process was gone' }];
  const open = { offered_per_s: 400, limited_by: null };
  for (const name of ['redis-setnx', 'pg-advisory', 'etcd-mutex', 'zk-lock', 'memcached-add']) add(name, 16, { rate: 400, hold: '1ms' }, { ...open, fault: 'pause', faults }, (t) => (t >= 7 && t < 9 ? 0 : 1));
  return run('over-time', 'what happened when', plan, stages);
}

function forty() {
  const stages = [], names = Object.keys(LOCKS).filter((name) => LOCKS[name].acq && !LOCKS[name].control);
  for (let i = 0; i < 40; i++) {
    for (const clients of [1, 16]) {
      for (const repeat of [0, 1, 2]) {
        const made = stage(stages.length, names[i % names.length], clients, { samples: 4000, repeat });
        made.lock = `${made.lock}-${i}`;
        made.id = made.id.replace(names[i % names.length], made.lock);
        stages.push(made);
      }
    }
  }
  return run('compare', 'forty locks', plan, stages);
}

// Pages of few and of many locks: every class, names as long as the longest that there are, ranges of three repeats (of two locks
// the intervals of seven), and of many locks one that is limited, one that is violated and one that failed.
const VARIANTS = ['', '-fenced', '-retry-with-pubsub', '-v2', '-on-replicas', '-lua-reentrant-script'];
function locks(count) {
  const stages = [], names = Object.keys(LOCKS).filter((name) => LOCKS[name].trip && name !== 'redis-late');
  const add = (i, clients, options, more = {}) => {
    const name = names[i % names.length], round = Math.floor(i / names.length);
    const made = stage(stages.length, name, clients, { samples: 600, ...options });
    const lock = `${name}${VARIANTS[round % VARIANTS.length]}${round < VARIANTS.length ? '' : `-${round}`}`;
    const guarantee = { 'zk-lock': 'majority', 'etcd-mutex': 'majority' }[name] ?? (round % 3 === 2 ? 'async-replica' : 'node');
    stages.push({ ...made, lock, id: made.id.replace(name, lock), guarantee, ...more });
  };
  for (let i = 0; i < count; i++) {
    for (const clients of [1, 16]) {
      for (let repeat = 0; repeat < (count < 5 ? 7 : 3); repeat++) {
        const odd = { 8: { limited: 'generator-limited: lockbench\'s own timers were late by 3.1 ms at p99' }, 9: { violated: true }, 10: { failed: true, error: 'could not connect: Connection refused' } }[i];
        add(i, clients, { repeat, ...odd });
      }
    }
  }
  return run('compare', `${count} locks, alone and in contention`, plan, stages, { verdict: count > 9 ? 'violated' : 'clean' });
}

// One stage a line: a change can be read in a diff.
function textOf({ stages, ...rest }) {
  const head = JSON.stringify(rest, null, 1).slice(0, -2);
  return `${head},\n "stages": [\n${stages.map((s) => JSON.stringify(s)).join(',\n')}\n ]\n}\n`;
}

const [what, folder, number] = process.argv.slice(2);
const alone = { mixed, clean, modes, decide }[what], made = { 'over-time': overTime, forty, locks: () => locks(Number(number)) }[what];
if (alone) {
  process.stdout.write(textOf(alone()));
} else if (made && folder) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'run.json'), textOf(made()));
} else {
  console.error('usage: node make_run.mjs mixed|clean|modes|decide, or over-time|forty DIR, or locks DIR COUNT');
  process.exit(1);
}
