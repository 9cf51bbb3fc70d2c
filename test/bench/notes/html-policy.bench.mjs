/** The cost of the HTML policy for each save. `npm run build`, then `node test/bench/notes/html-policy.bench.mjs`. */
import { cleanHtml } from '../../../dist/lib/html/clean.js';
import { isPlainlyClean } from '../../../dist/lib/html/fast-path.js';
import { HtmlPolicy } from '../../../dist/platform/html/html-policy.js';

const SECTION =
  '<h2>Minutes of the weekly meeting</h2><p class="lead">Present: <strong>Ada</strong>, <em>Grace</em> &amp; others.<br>Next: ' +
  '<a target="_blank" rel="noopener noreferrer" href="https://example.test/?a=1&amp;b=2">agenda</a></p>' +
  '<ul data-type="taskList"><li data-checked="true"><label><input type="checkbox" checked="checked"><span></span></label>' +
  '<div><p>Send the <span style="color: rgb(200, 0, 0)">report</span></p></div></li></ul>' +
  '<table style="min-width: 75px"><tbody><tr><td colspan="1" rowspan="1"><p>Cell</p></td><td><p>Cell</p></td></tr></tbody></table>' +
  '<p>A paragraph of ordinary prose, long enough to be one, with nothing in it that a filter would have to think about at all.</p>';

const note = (length) => SECTION.repeat(Math.round(length / SECTION.length));
const OFFENDER = '<p onclick="x()">a</p>';

async function micros(run) {
  const until = performance.now() + 300;
  while (performance.now() < until) await run();
  const samples = [];
  for (const end = performance.now() + 1500; performance.now() < end;) {
    const start = performance.now();
    await run();
    samples.push(performance.now() - start);
  }
  return samples.sort((a, b) => a - b)[samples.length >> 1] * 1000;
}

const policy = new HtmlPolicy();
const round = (n) => n.toFixed(n < 100 ? 1 : 0);
console.log('text              check()      full path    full / check');
for (const [name, html] of [
  ['6 kB clean', note(6000)],
  ['6 kB, 1 offender', note(6000) + OFFENDER],
  ['22 kB clean', note(22_000)],
  ['22 kB, 1 offender', note(22_000) + OFFENDER],
  ['205 kB clean', note(205_000)],
  ['205 kB, 1 offender', note(205_000) + OFFENDER],
]) {
  if (isPlainlyClean(html) !== !html.endsWith(OFFENDER)) throw new Error(`${name} takes the wrong path`);
  const check = await micros(() => policy.check(html));
  const full = await micros(() => cleanHtml(html));
  console.log(
    `${name.padEnd(18)}${round(check).padStart(7)} us ${round(full).padStart(10)} us ${round(full / check).padStart(12)}`,
  );
}
await policy.onModuleDestroy();
