// Evaluates the processor profiles of a server: `npm run bench -- --server-only --only read --connections 8 --profile DIR`, then
// `node test/bench/support/profile.mjs DIR/*.cpuprofile`. Self time by group, and the functions that use the most.
import { readFileSync } from 'node:fs';
import { findSource } from '../../../dist/platform/observability/source-positions.js';

const FUNCTIONS = 45;

function groupOf({ url, functionName }) {
  if (functionName === '(garbage collector)') return 'garbage collection';
  if (functionName === '(program)') return 'native code';
  if (url === '' && functionName.startsWith('write')) return 'writing to sockets (system calls)';
  const [, own] = url.split('/src/');
  if (url.includes('/node_modules/')) {
    const [first, second] = url.split('/node_modules/').at(-1).split('/');
    return first.startsWith('@') ? `${first}/${second}` : first;
  }
  if (own !== undefined) return `ours: ${own.split('/').slice(0, 2).join('/')}`;
  return url.startsWith('node:') ? url.split('/').slice(0, 2).join('/') : 'V8 built-ins';
}

/** The same function in its source: the server runs a bundle. Positions of a profile count from 0. */
function inSource(frame) {
  const source = findSource(frame.url, frame.lineNumber + 1, frame.columnNumber + 1);
  return source ? { ...frame, url: source.file, lineNumber: source.line - 1 } : frame;
}

for (const file of process.argv.slice(2)) {
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(file, 'utf8'));
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, inSource(callFrame)]));
  const [groups, functions] = [new Map(), new Map()];
  let busy = 0;
  const add = (map, key, value) => map.set(key, (map.get(key) ?? 0) + value);
  samples.forEach((id, n) => {
    const frame = frames.get(id);
    if (frame.functionName === '(idle)' || frame.functionName === '(root)') return;
    busy += timeDeltas[n];
    add(groups, groupOf(frame), timeDeltas[n]);
    const place = `${frame.functionName || '(anonymous)'} ${frame.url.split('/').slice(-2).join('/')}:${frame.lineNumber + 1}`;
    add(functions, place, timeDeltas[n]);
  });
  process.stdout.write(`${file}: ${(busy / 1e6).toFixed(1)} s busy\n`);
  for (const [map, most] of [
    [groups, 30],
    [functions, FUNCTIONS],
  ]) {
    const sorted = [...map].sort((a, b) => b[1] - a[1]).slice(0, most);
    for (const [name, time] of sorted)
      process.stdout.write(`${((time / busy) * 100).toFixed(1).padStart(6)} %  ${name}\n`);
    process.stdout.write('\n');
  }
}
