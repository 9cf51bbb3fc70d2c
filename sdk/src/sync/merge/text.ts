import { diff3, type Merged } from './diff3.js';

export type TextKind = 'html' | 'plain';

export interface MergedText {
  text: string;
  /** Both sides have changed the same words. The text has both versions of the paragraph, that of the service first. */
  collided: boolean;
}

/** Ends of the elements that are lines of a text. */
const BLOCKS = /[\s\S]*?(?:<\/(?:p|div|h[1-6]|li|tr|pre|blockquote|ul|ol|table)>|<(?:br|hr)\b[^>]*>|$)/gi;
const LINES = /[^\n]*(?:\n|$)/g;
/** A tag, or a word with the space after it. A letter of a script without spaces is a word. */
const WORDS =
  /<[^>]*>|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[^<\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]+\s*|\s+|</gu;

const VOID = new Set(['area', 'br', 'col', 'hr', 'img', 'input', 'wbr']);

/**
 * Merges two versions of a text by paragraphs, and paragraphs that both have changed by words. HTML stays well-formed.
 * @param base the version that both started with
 * @returns undefined if the versions cannot be merged
 */
export function mergeText(
  base: string,
  local: string,
  server: string,
  kind: TextKind,
): MergedText | undefined {
  const [blocks, words] = [split(kind === 'html' ? BLOCKS : LINES), split(WORDS)];
  const parts = diff3(blocks(base), blocks(local), blocks(server));
  if (!parts) return undefined;
  let collided = false;
  const text = parts
    .map((part) => {
      if (Array.isArray(part)) return part.join('');
      const versions = textsOf(part);
      const merged = mergeWords(versions, words, kind);
      if (merged !== undefined) return merged;
      collided ||= !isInsertion(part);
      return bothOf(versions, kind);
    })
    .join('');
  // Neighbours of a block may belong to it, such as the list of an item.
  return kind === 'html' && !isBalanced(text) ? undefined : { text, collided };
}

type Versions = Record<'base' | 'local' | 'server', string>;

const textsOf = (part: Exclude<Merged<string>, string[]>): Versions => ({
  base: part.base.join(''),
  local: part.local.join(''),
  server: part.server.join(''),
});

/** Both have inserted something at the same place. */
const isInsertion = (part: Exclude<Merged<string>, string[]>): boolean => part.base.length === 0;

function mergeWords(
  { base, local, server }: Versions,
  words: (text: string) => string[],
  kind: TextKind,
): string | undefined {
  const parts = diff3(words(base), words(local), words(server));
  if (!parts?.every((part) => Array.isArray(part))) return undefined;
  const text = parts.flat().join('');
  return kind === 'html' && !isBalanced(text) ? undefined : text;
}

function bothOf({ local, server }: Versions, kind: TextKind): string {
  if (kind === 'plain' && server !== '' && local !== '' && !server.endsWith('\n'))
    return `${server}\n${local}`;
  return server + local;
}

const split = (pattern: RegExp) => (text: string) =>
  (text.match(pattern) ?? []).filter((part) => part !== '');

/** Whether each start tag has its end tag, in order. End tags that HTML allows to omit are demanded too. */
export function isBalanced(html: string): boolean {
  const open: string[] = [];
  for (const [tag, slash, name] of html.matchAll(/<(\/?)([a-z][a-z0-9]*)\b[^>]*>/gi)) {
    const lower = name!.toLowerCase();
    if (VOID.has(lower) || tag.endsWith('/>')) continue;
    if (slash === '') open.push(lower);
    else if (open.pop() !== lower) return false;
  }
  return open.length === 0;
}
