// validate: holds JSON files against the tables of results/FIELDS.md: no member is missing, none is there that they do not
// name, and each has its type. usage: node validate.mjs run.json FILE...
// Prints the first thing that is wrong of each file; exit code 1 if anything is.
import { readFileSync } from 'node:fs';

const [name, ...files] = process.argv.slice(2);
const page = readFileSync(new URL('../../results/FIELDS.md', import.meta.url), 'utf8');

/** The table below a heading as a tree: { unit, words, members, items }. */
function tableOf(heading) {
  const root = { unit: 'object', members: {} }, lines = page.split('\n');
  for (let i = lines.findIndex((line) => line.startsWith(`## ${heading}`)) + 1; i > 0 && i < lines.length && !lines[i].startsWith('## '); i++) {
    const [, path, unit, words] = lines[i].match(/^\| `\.([^`]*)` \| (.*?) \| (?:\(([^)]*)\) )?/) ?? [];
    let node = root;
    for (const token of path?.split('.') ?? []) {
      node = node.members[token.replace('[]', '')] ??= { unit: 'any object', members: {} };
      if (token.endsWith('[]')) node = node.items ??= { unit: 'object', members: {} };
    }
    if (path) Object.assign(node, { unit, words: words?.split(words.includes(', ') ? ', ' : ' ') });
  }
  return root;
}

const table = tableOf(name), latency = tableOf('Latency'), schema = page.match(`## ${name}, schema \`(.*)\``)[1];
const isNumber = (value, node) => typeof value === 'number' && (value >= 0 || node.unit.endsWith(', signed'));
const isCount = (value) => Number.isInteger(value) && value >= 0;
const isFlag = (value) => typeof value === 'boolean';
const isObject = (value) => typeof value === 'object' && !Array.isArray(value);
const neverNull = ['true or false', 'object', 'any object'];
const types = {
  text: (value, { words }) => typeof value === 'string' && (words?.includes(value) ?? true),
  'text or count': (value) => typeof value === 'string' || Number.isInteger(value),
  'true or false': isFlag, 'true, false or null': isFlag,
  count: isCount, ns: isCount, '%': isCount,
  'ns or "never"': (value) => isCount(value) || value === 'never',
  list: Array.isArray,
  'list of texts': (value, { words }) => value.every?.((one) => typeof one === 'string' && (words?.includes(one) ?? true)),
  'list of numbers': (value) => value.every?.((one) => typeof one === 'number'),
  object: isObject, 'object or null': isObject, 'any object': isObject, latency: isObject,
};

/** What is wrong with a value, or undefined. */
function wrong(value, node, where) {
  if (value === undefined) return `${where} is missing`;
  if (value === null) return neverNull.includes(node.unit) ? `${where} is null` : undefined;
  if (!(types[node.unit] ?? isNumber)(value, node)) return `${where} is no ${node.unit}: ${JSON.stringify(value).slice(0, 80)}`;
  if (Array.isArray(value)) return node.items && value.map((one, i) => wrong(one, node.items, `${where}[${i}]`)).find(Boolean);
  if (!isObject(value)) return undefined;
  const members = node.unit === 'latency' ? latency.members : node.members;
  const unknown = Object.keys(value).find((key) => !members[key]);
  if (unknown && node.unit !== 'any object') return `${where}.${unknown} is in no table`;
  return Object.entries(members).map(([key, member]) => wrong(value[key], member, `${where}.${key}`)).find(Boolean);
}

for (const file of files) {
  const { schema: said, ...members } = JSON.parse(readFileSync(file, 'utf8'));
  const found = said === schema ? wrong(members, table, '') : `.schema is ${said}`;
  if (!found) continue;
  console.log(`${file}: ${found}`);
  process.exitCode = 1;
}
