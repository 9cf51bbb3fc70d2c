/** A piece of HTML that is safe to send: made by `html` only, so everything that was put into it has been escaped. */
export class Html {
  constructor(readonly text: string) {}
}

type Piece = Html | string | number | false | null | undefined | readonly Html[];

const ESCAPES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escape = (text: string): string => text.replace(/[&<>"']/g, (character) => ESCAPES[character]!);

/**
 * Template tag: text put in is escaped, pieces of HTML are not, `false` and nothing are left out. Twenty lines instead of a
 * template library: it is typed, there is no way round the escaping, and a page is a plain function.
 * Attribute values must stand in quotes; no values in scripts or styles.
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
  return escape(String(piece));
}
