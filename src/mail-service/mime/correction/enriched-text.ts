/** A literal `<`, a command, line ends, text. */
const TOKENS = /<<|<(\/?)([a-z\d-]{1,60})>|(?:\r?\n)+|[^<\r\n]+|[\s\S]/gi;
/** Commands whose content is not shown. */
const NOT_SHOWN = new Set(['param', 'comment']);
/** Commands of RFC 1341 that stand for text. */
const TEXTS: ReadonlyMap<string, string> = new Map([
  ['lt', '<'],
  ['nl', '\n'],
  ['np', '\n\n'],
]);

/**
 * The readable text of `text/enriched` (RFC 1896) and of `text/richtext` (RFC 1341), which preceded it: without its commands. One line end
 * only wraps the source, further ones are those of the text.
 */
export function enrichedText(source: string): string {
  let text = '';
  let hidden = 0;
  let verbatim = 0;
  for (const [token, slash, command] of source.matchAll(TOKENS)) {
    const name = command?.toLowerCase();
    if (name !== undefined) {
      const step = slash ? -1 : 1;
      if (NOT_SHOWN.has(name)) hidden = Math.max(0, hidden + step);
      else if (name === 'nofill') verbatim = Math.max(0, verbatim + step);
      else if (!slash && hidden === 0) text += TEXTS.get(name) ?? '';
    } else if (hidden > 0) continue;
    else if (token === '<<') text += '<';
    else if (/^[\r\n]/.test(token) && verbatim === 0) {
      const ends = token.replaceAll('\r', '').length;
      text += ends > 1 ? '\n'.repeat(ends - 1) : ' ';
    } else text += token;
  }
  return text.trimEnd();
}
