// shot: a picture of a rendered report, for looking at it: node shot.mjs REPORT.html OUT.png [WIDTH] [light|dark] [Y HEIGHT]
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { launch, open } from './browser.mjs';

const [file, out, width = '1280', theme = 'light', y = '0', height] = process.argv.slice(2);
const browser = await launch();
const page = await open(browser, pathToFileURL(resolve(file)).href, { width: Number(width), dark: theme === 'dark' });
writeFileSync(out, await page.screenshot(Number(y), height && Number(height)));
console.log(page.problems.join('\n') || 'no problems');
await browser.close();
