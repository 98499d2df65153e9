// rounds: what a comparison in rounds says of things whose truth is known: the same locks idle and beside a burner, the
// same lock twice, a regression that was put in, and two equal sides. `make answers-rounds` runs all parts on a machine
// with nothing else to do, for two hours, and writes the end of bench/ANSWERS.md.
//
// usage: node rounds.mjs PROGRAM FOLDER PART...   runs parts; each leaves its runs in FOLDER/PART.N
//        node rounds.mjs PROGRAM FOLDER --page    prints the table of all parts that FOLDER has
// A part is NAME or NAME=TIMES.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";

const [program, folder, ...asked] = process.argv.slice(2);

// ---- what disturbs ----

// Ends with this program, also when that is killed.
const SPIN = `while (Date.now() < end); if (process.ppid !== ${process.pid}) process.exit();`;
// Spins on one processor for 7 s, then rests for 7 s, again and again. Returns the function that ends it.
function burner() {
  const code = `for (;;) { let end = Date.now() + 7000; ${SPIN} Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 7000); }`;
  const child = spawn("taskset", ["-c", "0", process.execPath, "-e", code], { stdio: "ignore" });
  return () => child.kill("SIGKILL");
}

// Takes more and more of each processor's time: none at first, a fifth after `seconds`.
function sinking(seconds) {
  const code = `const begin = Date.now(); for (;;) { const share = Math.min(0.2, 0.2 * (Date.now() - begin) / ${1000 * seconds});
    let end = Date.now() + 20 * share; ${SPIN} Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20 * (1 - share)); }`;
  const children = cpus().map((_, cpu) =>
    spawn("taskset", ["-c", String(cpu), process.execPath, "-e", code], { stdio: "ignore" }));
  return () => children.forEach((child) => child.kill("SIGKILL"));
}

// Spins while a server of this name works, so in the windows of its lock only.
function follower(name) {
  const code = `const fs = require("fs"), cp = require("child_process"); let used = 0, pid = 0;
    for (;;) {
      if (!pid || !fs.existsSync("/proc/" + pid)) pid = Number(cp.spawnSync("pgrep", ["-n", "-x", "${name}"]).stdout.toString());
      let now = used;
      try { const w = fs.readFileSync("/proc/" + pid + "/schedstat", "utf8"); now = 0;
        for (const t of fs.readdirSync("/proc/" + pid + "/task")) now += Number(fs.readFileSync("/proc/" + pid + "/task/" + t + "/schedstat", "utf8").split(" ")[0]); } catch { pid = 0; }
      let end = Date.now() + (now - used > 2e6 ? 20 : 0); used = now; ${SPIN}
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, end ? 5 : 10); }`;
  const child = spawn(process.execPath, ["-e", code], { stdio: "ignore" });
  return () => child.kill("SIGKILL");
}

const quiet = () => () => {};

// ---- the parts ----

const PAIR = ["contended", "--lock", "pg-advisory,redis-setnx", "--set", "load.clients=16", "--set", "load.hold=100us",
  "--set", "run.repeat=7", "--set", "run.warmup=100ms", "--set", "run.duration=400ms", "--no-page"];
const GATE = ["contended", "--lock", "redis-setnx", "--set", "load.clients=16", "--set", "load.hold=100us",
  "--set", "run.warmup=200ms", "--set", "run.duration=1s", "--repeat", "10"];
// Two sides of `sim`, whose service time is what it is told to be.
const sim = (service) => ["contended", "--lock", "sim", "--set", "load.clients=4", "--set", "load.hold=100us",
  "--set", "run.warmup=100ms", "--set", "run.duration=300ms", "--set", `sim.service=${service}us`,
  "--against-set", "sim.service=1000us", "--repeat", "10"];
const parts = {
  idle: { words: ["compare", "--no-page"], times: 3 },
  burner: { words: ["compare", "--no-page"], times: 10, disturb: burner },
  sinking: { words: ["compare", "--no-page"], times: 1, disturb: () => sinking(140) },
  one: { words: ["compare", "--no-page"], times: 1, before: ["taskset", "-c", "0"] },
  twice: { words: PAIR, times: 40 },
  unused: { times: 3 },
  aimed: { words: PAIR, times: 5, disturb: () => follower("redis-server") },
  slower10: { words: sim(1100), times: 40 },
  slower20: { words: sim(1200), times: 40 },
  changed: { words: [...GATE, "--set", "redis-setnx.poll_max=4ms", "--against-set", "redis-setnx.poll_max=64ms"], times: 10, disturb: burner },
  equal: { words: [...GATE, "--against-set", "redis-setnx.poll_max=64ms"], times: 10, disturb: burner },
};

// How often a loop on the first processor gets round in 200 ms, 50 ms after these processes stopped or went on: a canary
// that runs no lock. Prints 200 times two ratios: of running to stopped, of stopped to stopped, which must be 1. The three
// windows lie beside each other, and their order changes, as such a loop alone differs by a quarter within a minute on
// virtual machines.
const CANARY = `const pids = process.argv.slice(1).map(Number), nap = new Int32Array(new SharedArrayBuffer(4));
  function rounds(signal) {
    for (const pid of pids) process.kill(pid, signal);
    Atomics.wait(nap, 0, 0, 50);
    let n = 0; for (const end = performance.now() + 200; performance.now() < end;) n++;
    return n;
  }
  for (let i = 0; i < 200; i++) {
    const n = [];
    for (const k of [[0, 1, 2], [2, 0, 1], [1, 2, 0], [2, 1, 0]][i % 4]) n[k] = rounds(k === 1 ? "SIGCONT" : "SIGSTOP");
    console.log(n[1] / n[0], n[2] / n[0]);
  }
  for (const pid of pids) process.kill(pid, "SIGCONT");`;

// All processes below this one.
function below(pid) {
  const own = spawnSync("pgrep", ["-P", String(pid)], { encoding: "utf8" }).stdout.split("\n").filter(Boolean);
  return own.flatMap((child) => [child, ...below(child)]);
}

// The canary beside one server of each backend, which nobody uses, against those servers stopped; 20 s after their start.
async function beside(out) {
  const up = spawn(program, ["up", ..."redis memcached nats etcd zookeeper postgres mariadb".split(" ")], { stdio: ["ignore", "ignore", "pipe"] });
  await new Promise((done) => up.stderr.on("data", (text) => /Ctrl-C/.test(text) && done()));
  await new Promise((done) => setTimeout(done, 20000));
  writeFileSync(`${out}.txt`, spawnSync("taskset", ["-c", "0", process.execPath, "-e", CANARY, ...below(up.pid)], { encoding: "utf8" }).stdout);
  up.kill("SIGINT");
  await new Promise((done) => up.on("exit", done));
}

async function run(part, number) {
  const { words, disturb = quiet, before = [] } = parts[part];
  const out = `${folder}/${part}.${String(number).padStart(2, "0")}`;
  if (existsSync(`${out}.exit`)) return;
  if (!words) return beside(out).then(() => writeFileSync(`${out}.exit`, "0 30"));
  const command = [...before, program, "run", ...words, "--out", out];
  const end = disturb(), begin = Date.now();
  const ran = spawnSync(command[0], command.slice(1), { encoding: "utf8" });
  end();
  writeFileSync(`${out}.txt`, ran.stdout + ran.stderr);
  writeFileSync(`${out}.exit`, `${ran.status} ${((Date.now() - begin) / 1000).toFixed(1)}`);
  console.error(`${part} ${number}: exit code ${ran.status}, ${((Date.now() - begin) / 1000).toFixed(0)} s`);
}

// ---- what came out ----

const outs = (part) => readdirSync(folder).filter((name) => name.startsWith(`${part}.`) && name.endsWith(".exit"))
  .map((name) => `${folder}/${name.slice(0, -5)}`).sort();
const exit_of = (out) => Number(readFileSync(`${out}.exit`, "utf8").split(" ")[0]);
const seconds_of = (out) => Number(readFileSync(`${out}.exit`, "utf8").split(" ")[1]);
const summary = (out) => JSON.parse(spawnSync(program, ["report", out, "--json"], { encoding: "utf8", maxBuffer: 1 << 28 }).stdout);
const stages_of = (out) => JSON.parse(readFileSync(`${out}/run.json`, "utf8")).stages;

// By class: the first and those level with it.
function leaders(out) {
  const ret = {};
  for (const { class: name, locks } of summary(out).ranking) {
    const level = locks.filter((lock, i) => i === 0 || lock.level).map((lock) => lock.lock);
    if (locks.length > 1) ret[name] = { first: locks[0], level };
  }
  return ret;
}

// Classes of `out` whose leader is neither that of `base` nor level with it, in either run.
function others(base, out) {
  const there = leaders(out);
  return Object.entries(leaders(base)).filter(([name, { first, level }]) => {
    const now = there[name];
    return now && !level.includes(now.first.lock) && !now.level.includes(first.lock);
  }).map(([name]) => name);
}

const cost_ns = (stage) => 1e9 / stage.throughput_per_s - (stage.exclusion?.inside_mean_ns ?? 0);
const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
const spread = (values) => [Math.min(...values), median([...values]), Math.max(...values)];

// The ratios of the lock that ran twice in a round, the second time over the first, and how many places lay between.
function ratios(out) {
  const ret = [];
  const stages = stages_of(out).filter((stage) => stage.clients > 1 && !stage.aside);
  for (const again of stages.filter((stage) => stage.again)) {
    const first = stages.find((s) => s.lock === again.lock && !s.again && s.repeat === again.repeat);
    if (first) ret.push({ ratio: cost_ns(again) / cost_ns(first), places: stages.indexOf(again) - stages.indexOf(first) });
  }
  return ret;
}

// The slope of a straight line through the points (least squares).
function slope(points) {
  const mean = (f) => points.reduce((sum, p) => sum + f(p), 0) / points.length;
  const x = mean((p) => p.x), y = mean((p) => p.y);
  return mean((p) => (p.x - x) * (p.y - y)) / mean((p) => (p.x - x) ** 2);
}

const text = (value) => value.toFixed(2);

// By how much the cost of each class' leaders differs between any two runs, in widths of the wider of their two intervals.
function moves(runs) {
  const classes = runs.map((out) => summary(out).ranking.filter(({ locks }) => locks.length > 1)), ret = [];
  const names = new Set(classes.flat().map(({ class: name, locks }) => `${name}|${locks[0].lock}`));
  for (const [name, lock] of [...names].map((pair) => pair.split("|"))) {
    const found = classes.map((list) => list.find((c) => c.class === name)?.locks.find((l) => l.lock === lock)).filter(Boolean);
    for (const a of found) for (const b of found.slice(0, found.indexOf(a)))
      ret.push(Math.abs(a.cost_ns - b.cost_ns) / Math.max(a.high_ns - a.low_ns, b.high_ns - b.low_ns));
  }
  return ret;
}
// What the run says that it can't tell: "28 %", or "unproven".
const trust = (out) => /differences under\s+(\d+ %)/.exec(readFileSync(`${out}.txt`, "utf8"))?.[1] ?? "unproven";
const named = (out) => readFileSync(`${out}.txt`, "utf8");
// In how many runs a figure of the table is "worse".
const worse = (runs, figure) => runs.filter((out) => new RegExp(`^${figure}.*\\bworse\\b`, "m").test(named(out))).length;

const slower = (share, runs) => [`\`sim\` slower by ${share}, ten runs a side`, "exit code 4 in 95 % of 40", `${runs.filter((out) => exit_of(out) === 4).length} of ${runs.length}`];
const rows = {
  idle: (runs) => {
    const moved = runs.slice(1).map((out) => others(runs[0], out).length);
    return ["`make run` on an idle machine", "the same leaders, or level", `${moved.filter((n) => n === 0).length} of ${moved.length} further runs agree with the first in each class; can't tell: ${runs.map(trust).join(", ")}; ${runs.map((out) => seconds_of(out).toFixed(0)).join(", ")} s`];
  },
  burner: (runs) => {
    const idle = outs("idle")[0];
    const moved = runs.map((out) => others(idle, out));
    return ["a burner on one of two processors, 7 s on, 7 s off, over the whole `make run`", "the leaders of the idle run, or level; nothing void", `${moved.filter((n) => n.length === 0).length} of ${runs.length} agree in each class${moved.flat().length ? ` (not: ${moved.flat().join("; ")})` : ""}; void ${runs.filter((out) => /void/i.test(named(out))).length}; can't tell: ${runs.map(trust).join(", ")}`];
  },
  moved: (runs) => {
    const all = moves(runs).sort((a, b) => a - b);
    return ["the cost of each class' leaders, idle and beside the burner", "no two runs differ by more than the interval", `${all.filter((m) => m > 1).length} of ${all.length} pairs of ${runs.length} runs; the greatest ${text(all.at(-1))} of the wider interval, the median ${text(median(all))}`];
  },
  sinking: (runs) => ["each processor loses from 0 to 20 % over `make run`", "the leaders of the idle run, or level", `${runs.filter((out) => others(outs("idle")[0], out).length === 0).length} of ${runs.length}; can't tell: ${runs.map(trust).join(", ")}`],
  one: (runs) => ["`make run` on one processor (taskset)", "an answer, or unproven", runs.map((out) => `exit code ${exit_of(out)} after ${seconds_of(out).toFixed(0)} s; can't tell: ${trust(out)}`).join("; ")],
  twice: (runs) => {
    const all = runs.map(ratios), flat = all.flat(), [low, mid, high] = spread(flat.map((p) => p.ratio));
    const alarms = runs.filter((out) => /differed\s+from\s+itself/.test(named(out))).length;
    const sided = all.filter((list) => list.every((p) => p.ratio > 1) || list.every((p) => p.ratio < 1)).length;
    const places = flat.map((p) => ({ x: p.places, y: p.ratio }));
    return [`the same lock twice in a round, ${runs.length} runs of 7 rounds`, "at most 2 of 40 not level with itself; within 2 % for a place in the round", `${alarms} not level; ${sided} with all ratios on one side of 1; ${flat.length} ratios of the cost: median ${text(mid)}, ${text(low)} to ${text(high)}; ${(100 * slope(places)).toFixed(1)} % for each place between`];
  },
  aimed: (runs) => {
    const said = runs.map((out) => leaders(out)).map((classes) => Object.values(classes)[0]);
    const aside = runs.map((out) => new Set(stages_of(out).filter((s) => s.aside).map((s) => s.repeat)).size);
    return ["a process that spins while redis-server works, so beside one lock only", "disturbed rounds are left out or measured again, or the interval holds the idle ratio", `${runs.length} runs: first ${said.map((s) => s?.first.lock).join(", ")}, level ${said.filter((s) => s?.level.length > 1).length}; rounds set aside ${aside.join(", ")}`];
  },
  unused: (runs) => {
    const pairs = runs.flatMap((out) => named(out).trim().split("\n").map((line) => line.split(" ").map(Number)));
    // The median and its 95 % interval, from ranks.
    const said = (list) => {
      const sorted = [...list].sort((a, b) => a - b), n = sorted.length, half = 0.98 * Math.sqrt(n);
      return [0.5 * n, 0.5 * n - half, 0.5 * n + half].map((rank) => sorted[Math.round(rank)].toFixed(3));
    };
    const [mid, low, high] = said(pairs.map((pair) => pair[0])), [same, least, most] = said(pairs.map((pair) => pair[1]));
    return ["a loop on a processor beside a server of each backend that nobody uses, over the same with the servers stopped", "within 1 %", `${mid} (${low} to ${high}), ${pairs.length} pairs; stopped over stopped ${same} (${least} to ${most})`];
  },
  changed: (runs) => ["ten runs a side, poll\\_max 64 ms against 4 ms, beside the burner", "exit code 4, commands and CPU worse", `exit codes ${runs.map(exit_of).join(" ")}; commands worse in ${worse(runs, "commands")}, client CPU in ${worse(runs, "client CPU")}, server CPU in ${worse(runs, "server CPU")} of ${runs.length}`],
  equal: (runs) => ["the same with two equal sides", "exit code 0 or 5, never 4", `exit codes ${runs.map(exit_of).join(" ")}`],
  slower10: (runs) => slower("a tenth", runs),
  slower20: (runs) => slower("a fifth", runs),
};

if (asked[0] === "--page") {
  console.log("## The comparison itself\n\nThings whose truth is known were put to `run` in rounds and to `run --against`, on two processors; how rounds work: [READING.md](../report/READING.md#rounds). Written by `make answers-rounds`.\n");
  const ran = outs("idle").length > 0 && /Ran: [^]*?\n\n/.exec(named(outs("idle")[0]));
  if (ran) console.log(`${ran[0].replace(/\s+/g, " ").trim()}\n`);
  console.log("| put in | must say | said |\n|---|---|---|");
  for (const [part, row] of Object.entries(rows)) {
    if (part === "moved" && outs("idle").length > 1) console.log(`| ${row([...outs("idle"), ...outs("burner")]).join(" | ")} |`);
    if (outs(part).length > 0) console.log(`| ${row(outs(part)).join(" | ")} |`);
  }
} else {
  for (const one of asked) {
    const [part, times] = one.split("=");
    for (let number = 0; number < Number(times ?? parts[part].times); number++) await run(part, number);
  }
}
