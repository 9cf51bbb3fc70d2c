/**
 * The cost of an export, and of twenty exports for other requests. `npm run build`, then `node test/bench/notes/docx.bench.mjs`.
 * Times are of this machine; compare them with the parser's, which is the floor of any conversion.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { writeDocx } from '../../../dist/lib/docx/writer.js';
import { EmbeddedDocx } from '../../../dist/platform/docx/docx-converter.js';
import { parseHtml } from '../../../dist/lib/html/tree.js';

const SECTION =
  '<h2>Minutes</h2><p>Present: <strong>Ada</strong>, <em>Grace</em> &amp; others. <a href="https://example.test/?a=1">Agenda</a></p>' +
  '<ul data-type="taskList"><li data-checked="true"><label><input type="checkbox" checked></label><div><p>Send the report</p></div></li></ul>' +
  '<ol start="3"><li>three<ul><li>nested</li></ul></li></ol><blockquote><p>Quoted</p></blockquote><pre><code>a\n  b</code></pre>' +
  '<table><thead><tr><th>A</th><th>B</th></tr></thead><tbody><tr><td rowspan="2">1</td><td>2</td></tr><tr><td>3</td></tr></tbody></table>' +
  '<p dir="rtl">مرحبا بالعالم</p><p>中文 日本語 한국어</p><p>A paragraph of ordinary prose, long enough to be one, as most of them are.</p>';

const source = (bytes) => ({
  html: SECTION.repeat(Math.round(bytes / Buffer.byteLength(SECTION))),
  title: 'Minutes',
  author: 'Ada',
  created: '2026-11-21T09:30:00.000Z',
  modified: '2026-11-21T09:30:00.000Z',
});

function median(run, rounds) {
  run();
  const times = Array.from({ length: rounds }, () => {
    const start = performance.now();
    run();
    return performance.now() - start;
  });
  return times.sort((a, b) => a - b)[rounds >> 1];
}

console.log('note          write     / parse     result');
for (const [name, bytes] of [
  ['22 kB', 22_000],
  ['205 kB', 205_000],
  ['1.2 MB', 1_200_000],
]) {
  const note = source(bytes);
  const write = median(() => writeDocx(note), 7);
  const parse = median(() => parseHtml(note.html), 7);
  const size = writeDocx(note).length;
  console.log(
    `${name.padEnd(8)}${write.toFixed(0).padStart(8)} ms ${(write / parse).toFixed(1).padStart(8)} ${(size / 1000).toFixed(0).padStart(8)} kB`,
  );
}

/** Delays of the event loop, ms, while `work` runs. */
async function loopDelays(work) {
  const monitor = monitorEventLoopDelay({ resolution: 1 });
  monitor.enable();
  await work();
  monitor.disable();
  return [50, 99, 100].map((part) => `p${part} ${(monitor.percentile(part) / 1e6).toFixed(1)}`).join('  ');
}

const note = source(205_000);
const engine = new EmbeddedDocx({ workers: 2, queue: 32, timeoutMs: 60_000, memoryMb: 256 });
await engine.convert(note);
console.log('\ndelays of the event loop, ms');
console.log(`nothing to do                  ${await loopDelays(() => delay(2_000))}`);
const exported = await loopDelays(() => Promise.all(Array.from({ length: 20 }, () => engine.convert(note))));
console.log(`20 exports of 205 kB           ${exported}`);
const inline = async () => {
  for (let i = 0; i < 20; i++) {
    writeDocx(note);
    await delay(0);
  }
};
console.log(`the same on the event loop     ${await loopDelays(inline)}`);
await engine.close();
