// Notes as an editor writes them: headings, paragraphs, lists, task lists, a table, links, some characters beyond ASCII.

const WORDS = (
  'the of and to in a is that for it as was with on by from this we are be not have at which an or their has were but ' +
  'all one can there more when who will if no out so what up time about than into could them other then some these may ' +
  'budget project customer meeting release proposal schedule quarter review agenda decision owner deadline risk draft ' +
  'travel hotel invoice contract supplier design feature migration database server interface test report measurement ' +
  'naïve café résumé Zürich Malmö façade coöperate señor — 東京 “quoted” option question answer next follow remember'
).split(' ');

/** A small random generator (mulberry32), so that every run has the same texts. */
export function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function words(next, count) {
  // Squared: a few words are frequent, as in a language, so that the text compresses like one.
  return Array.from({ length: count }, () => WORDS[Math.floor(next() ** 2 * WORDS.length)]).join(' ');
}

const PARTS = [
  (next) => `<h2>${words(next, 5)}</h2>`,
  (next) =>
    `<p>${words(next, 30)} <strong>${words(next, 3)}</strong> ${words(next, 12)}, <em>${words(next, 2)}</em> ${words(next, 20)}.</p>`,
  (next) => `<p>${words(next, 60)} &amp; ${words(next, 15)}.<br>${words(next, 10)}</p>`,
  (next) => `<ul>${Array.from({ length: 4 }, () => `<li><p>${words(next, 8)}</p></li>`).join('')}</ul>`,
  (next) =>
    `<ul data-type="taskList"><li data-checked="false" data-type="taskItem"><label><input type="checkbox"><span></span></label>` +
    `<div><p>${words(next, 9)}</p></div></li></ul>`,
  (next) =>
    `<p><a target="_blank" rel="noopener noreferrer nofollow" href="https://example.test/p/${Math.floor(next() * 1e6)}">${words(next, 4)}</a> ` +
    `${words(next, 18)}</p>`,
  (next) =>
    `<table><tbody>${Array.from({ length: 3 }, () => `<tr><td colspan="1" rowspan="1"><p>${words(next, 3)}</p></td><td colspan="1" rowspan="1"><p>${words(next, 2)}</p></td></tr>`).join('')}</tbody></table>`,
  (next) => `<blockquote><p>${words(next, 25)}</p></blockquote>`,
];

/** @returns `count` different bodies of about `bytes` bytes (within a third of it) */
export function bodies(count, bytes = 6_000, seed = 7) {
  const next = random(seed);
  return Array.from({ length: count }, (_, n) => {
    const wanted = bytes * (0.75 + 0.5 * next());
    let html = `<h1>${words(next, 4)} ${n}</h1>`;
    let size = Buffer.byteLength(html);
    while (size < wanted) {
      const part = PARTS[Math.floor(next() * PARTS.length)](next);
      html += part;
      size += Buffer.byteLength(part);
    }
    return html;
  });
}
