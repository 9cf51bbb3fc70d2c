import { escapeHtml } from '../../lib/html/index.js';

/** Safe HTML: created only by `html`, which escapes all values. */
export class Html {
  constructor(readonly text: string) {}
}

type Piece = Html | string | number | false | null | undefined | readonly Html[];

/**
 * Template tag that escapes text, keeps `Html` and omits `false`, `null` and `undefined`. Smaller than a template library,
 * typed, and without a way to skip the escaping. Quote attribute values; do not insert values into scripts or styles.
 */
export function html(strings: TemplateStringsArray, ...pieces: Piece[]): Html {
  let text = strings[0]!;
  pieces.forEach((piece, n) => {
    text += render(piece) + strings[n + 1]!;
  });
  return new Html(text);
}

function render(piece: Piece): string {
  if (piece === false || piece === null || piece === undefined) return '';
  if (piece instanceof Html) return piece.text;
  if (typeof piece === 'object') return piece.map(({ text }) => text).join('');
  return escapeHtml(String(piece));
}
