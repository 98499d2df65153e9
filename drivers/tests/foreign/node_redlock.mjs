#!/usr/bin/env node
// node-redlock, told line by line what to do: its servers' ports are the arguments. Answers with a line each:
// "acquire KEY MS" asks once, "wait KEY MS" until granted: "ok" or "busy"; "release": "ok" or "lost";
// "extend MS": "ok" or "lost".
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const require = createRequire(new URL("../../exec/examples/", import.meta.url)); // where the packages are
const Redis = require("ioredis");
const { default: Redlock } = require("redlock");
const password = process.env.REDISCLI_AUTH;
const clients = process.argv.slice(2).map((port) => new Redis({ port: Number(port), host: "127.0.0.1", password }));
const settings = { driftFactor: 0.01, retryDelay: 20, retryJitter: 10, automaticExtensionThreshold: 500 };
const once = new Redlock(clients, { ...settings, retryCount: 0 });
const patient = new Redlock(clients, { ...settings, retryCount: -1 });
for (const lock of [once, patient]) lock.on("error", () => {});

let held = null;
async function obey(line) {
  const [word, key, ms] = line.split(" ");
  try {
    if (word === "acquire" || word === "wait") {
      held = await (word === "wait" ? patient : once).acquire([key], Number(ms));
      return "ok";
    }
    if (word === "extend") held = await held.extend(Number(key));
    if (word === "release") await held.release();
    return "ok";
  } catch (error) {
    return word === "acquire" || word === "wait" ? "busy" : "lost";
  }
}

await Promise.all(clients.map((client) => client.ping()));
console.log("ready");
for await (const line of createInterface({ input: process.stdin })) console.log(await obey(line));
process.exit(0);
