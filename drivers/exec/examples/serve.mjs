// Reads the requests of lockbench's lock `exec` (../README.md) and writes the answers, for the JavaScript programs of this folder.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

export const say = (words) => process.stdout.write(`${JSON.stringify(words)}\n`);
export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export const versionOf = (name) => JSON.parse(readFileSync(new URL(`./node_modules/${name}/package.json`, import.meta.url))).version;

// The servers of LOCKBENCH_URL: SCHEME://[USER:PASSWORD@]HOST:PORT[,HOST:PORT...]
export function servers() {
  const [, scheme, , account = "", hosts] = process.env.LOCKBENCH_URL.match(/^([a-z+]+):\/\/((.*)@)?([^/?]*)/);
  const [username, password] = account.split(":").map(decodeURIComponent);
  return { tls: /^(rediss|etcds|https)/.test(scheme), username, password, hosts: hosts.split(",") };
}

// Answers each request by the function of the same name. If the function throws, the outcome is `unknown`.
export async function serve(calls) {
  for await (const line of createInterface({ input: process.stdin })) {
    const asked = JSON.parse(line);
    if (asked.do === "close") break;
    try {
      say(await calls[asked.do](asked));
    } catch (error) {
      say({ outcome: "unknown", why: String(error) });
    }
  }
  await calls.close();
  process.exit(0);
}
