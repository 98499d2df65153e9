// browser: a page in headless Chromium, over the DevTools protocol on a pipe: no package and no open port is needed.
//
// It has no network: every host name fails to resolve, and every request but the page's own file is counted. A test is a list
// of parts, each with pages of its own: what a browser that stands still did not answer is asked again in a new one.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// Chromium without a window, which takes a fifth less of the processors' time for the same pages, before those with one.
const chromium = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'].map((name) => `/usr/bin/${name}`).find((path) => existsSync(path));

const FLAGS = [
  '--headless=new', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage', '--host-resolver-rules=MAP * ~NOTFOUND', '--remote-debugging-pipe',
];

const PATIENCE_MS = 90_000; // for one answer, on a machine that may stand still
const TRIES = 3;

/** The browser does not answer. Now and then Chromium's compositor stops with a page: it is visible, its scripts run, but no
 * requestAnimationFrame is called any more and no screenshot comes; other pages are fine. */
class Stuck extends Error {}

const inTime = (promise, what) => {
  let timer;
  const late = new Promise((_, reject) => { timer = setTimeout(() => reject(new Stuck(`no answer to ${what} in ${PATIENCE_MS / 1000} s`)), PATIENCE_MS); });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
};

export async function launch() {
  const profile = mkdtempSync(join(tmpdir(), 'lockbench-browser-'));
  const child = spawn(chromium, [...FLAGS, `--user-data-dir=${profile}`, 'about:blank'], { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
  const [toBrowser, fromBrowser] = [child.stdio[3], child.stdio[4]];
  const waiting = new Map(), listeners = [];
  let last = 0, buffer = '';
  const gone = new Promise((_, reject) => child.once('exit', (code) => reject(new Error(`chromium ended (${code})`))));
  gone.catch(() => {});
  toBrowser.on('error', () => {});
  fromBrowser.on('data', (chunk) => {
    buffer += chunk;
    for (let end; (end = buffer.indexOf('\0')) >= 0; buffer = buffer.slice(end + 1)) {
      const message = JSON.parse(buffer.slice(0, end));
      const reply = waiting.get(message.id);
      if (!reply) { for (const listener of listeners) listener(message); continue; }
      waiting.delete(message.id);
      if (message.error) reply.reject(new Error(message.error.message)); else reply.resolve(message.result);
    }
  });
  const send = (method, params = {}, sessionId) => inTime(Promise.race([gone, new Promise((resolve, reject) => {
    waiting.set(++last, { resolve, reject });
    toBrowser.write(`${JSON.stringify({ id: last, method, params, sessionId })}\0`);
  })]), method);
  return {
    send, listeners,
    async close() {
      const killer = setTimeout(() => child.kill('SIGKILL'), 10_000);
      await send('Browser.close').catch(() => {});
      await new Promise((resolve) => (child.exitCode === null && child.signalCode === null ? child.once('exit', resolve) : resolve()));
      clearTimeout(killer);
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Opens url at a width, in a theme. problems collects console errors, exceptions and requests that are not the page. */
export async function open(browser, url, { width = 1280, height = 900, dark = false, script = true, print = false } = {}) {
  const { targetId } = await browser.send('Target.createTarget', { url: 'about:blank' });
  const { sessionId } = await browser.send('Target.attachToTarget', { targetId, flatten: true });
  const send = (method, params) => browser.send(method, params, sessionId);
  const problems = [];
  let loaded;
  const done = new Promise((resolve) => { loaded = resolve; });
  const listener = ({ method, params, sessionId: from }) => {
    if (from !== sessionId) return;
    if (method === 'Runtime.exceptionThrown') problems.push(`exception: ${params.exceptionDetails.exception?.description ?? params.exceptionDetails.text}`);
    if (method === 'Runtime.consoleAPICalled' && ['error', 'warning', 'assert'].includes(params.type)) problems.push(`console ${params.type}: ${params.args.map((a) => a.value ?? a.description).join(' ')}`);
    if (method === 'Log.entryAdded' && params.entry.level === 'error') problems.push(`log: ${params.entry.text}`);
    if (method === 'Network.requestWillBeSent' && params.request.url !== url.split('#')[0] && !params.request.url.startsWith('data:')) problems.push(`request: ${params.request.url}`);
    if (method === 'Page.loadEventFired') loaded();
    if (method === 'Page.javascriptDialogOpening') problems.push(`dialog: ${params.message}`);
  };
  browser.listeners.push(listener);
  for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await send(`${domain}.enable`);
  await send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false });
  await send('Emulation.setEmulatedMedia', { media: print ? 'print' : '', features: [{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }] });
  if (!script) await send('Emulation.setScriptExecutionDisabled', { value: true });
  await send('Page.navigate', { url });
  await inTime(done, 'the load event');
  const evaluate = async (expression) => {
    const { result, exceptionDetails } = await send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  };
  return {
    problems, evaluate, send,
    async screenshot(y = 0, tall = undefined) {
      const { cssContentSize } = await send('Page.getLayoutMetrics');
      const { data } = await send('Page.captureScreenshot', { format: 'png', captureBeyondViewport: true, clip: { x: 0, y, width, height: tall ?? Math.ceil(cssContentSize.height) - y, scale: 1 } });
      return Buffer.from(data, 'base64');
    },
    async close() {
      browser.listeners.splice(browser.listeners.indexOf(listener), 1);
      await browser.send('Target.closeTarget', { targetId });
    },
  };
}

const failures = [];

/** Notes what is not ok. */
export const check = (what, ok, detail = '') => { if (!ok) failures.push(`${what}${detail === '' ? '' : `: ${detail}`}`); };

/** Runs a test's parts, functions of a browser that check(), says what was not ok and ends the process: exit code 0, all fine. */
export async function judge(parts) {
  let browser = await launch();
  for (const [number, part] of parts.entries()) {
    const before = failures.length;
    for (let tries = 1; ; tries++) {
      try {
        await part(browser);
        break;
      } catch (error) {
        if (!(error instanceof Stuck) || tries === TRIES) {
          await browser.close();
          throw error;
        }
        console.log(`UNSTABLE: part ${number}${part.name && ` (${part.name})`}: chromium: ${error.message}: tried again in a new one`);
        failures.length = before;
        await browser.close();
        browser = await launch();
      }
    }
  }
  await browser.close();
  for (const failure of failures) console.log(`not ok: ${failure}`);
  if (failures.length === 0) console.log('ok');
  process.exit(failures.length ? 1 : 0);
}
