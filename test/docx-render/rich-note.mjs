/** A small red cross, as a PNG. */
const PNG =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg==';

const rows = Array.from(
  { length: 60 },
  (_, n) => `<tr><td>Row ${n + 1}</td><td>${(n + 1) * 7}</td></tr>`,
).join('');

/** A note with every kind of content that a document can contain. */
export const RICH_NOTE = {
  title: 'Rich note',
  html: `
<h1>Heading one</h1><h2>Heading two</h2>
<p>Plain, <strong>bold</strong>, <em>italic</em>, H<sub>2</sub>O, <mark>marked</mark>, <code>code</code> and <a href="https://example.com/">a link</a>.</p>
<ul><li>bullet<ul><li>deeper</li></ul></li></ul>
<ol start="3" type="a"><li>third<ol><li>inner first</li><li>inner second</li></ol></li><li>fourth</li></ol>
<p>Between the lists.</p>
<ol><li>restarted</li><li value="7">seventh</li><li>eighth</li></ol>
<ul data-type="taskList"><li data-checked="true"><label><input type="checkbox" checked></label><div><p>done task</p></div></li><li data-checked="false"><label><input type="checkbox"></label><div><p>open task</p></div></li></ul>
<blockquote><p>Quoted</p><blockquote><p>Quoted twice</p></blockquote></blockquote>
<pre><code>first line
  second line</code></pre>
<table><thead><tr><th>Name</th><th>Q1</th><th>Q2</th></tr></thead><tbody><tr><td rowspan="2">Both rows</td><td colspan="2">Both columns</td></tr><tr><td>left</td><td>right</td></tr></tbody></table>
<p>A picture: <img alt="red" width="80" height="40" src="${PNG}"></p>
<p dir="rtl">مرحبا بالعالم</p><p>שלום עולם</p>
<p>中文字符, 日本語のテキスト, 한국어</p>
<details><summary>Summary</summary><p>Detail</p></details><dl><dt>Term</dt><dd>Definition</dd></dl><hr>
<table><thead><tr><th>Repeated header</th><th>Sevens</th></tr></thead><tbody>${rows}</tbody></table>
<p>The end.</p>`,
};
