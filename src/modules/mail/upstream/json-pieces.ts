import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';

/** Strings of more characters are written in pieces. */
const LONG = 64 * 1024;

/**
 * Serialises a value as JSON. Long strings, e.g. the contents of attachments, are streamed in pieces: otherwise a message
 * with megabytes of attachments would be in memory twice more, as text and as bytes.
 */
export function jsonBytes(value: object): Buffer | Readable {
  const long: string[] = [];
  const marker = randomBytes(16).toString('hex');
  const short = JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'string' && member.length > LONG ? `${marker}${long.push(member) - 1}.` : member,
  );
  if (long.length === 0) return Buffer.from(short);
  return Readable.from(pieces(short.split(marker), long), { objectMode: false });
}

/** @param texts the text before the first long string, then the text after each, preceded by its index and a full stop */
async function* pieces(texts: string[], long: readonly string[]): AsyncGenerator<Buffer> {
  const [first = '', ...following] = texts;
  yield Buffer.from(first);
  for (const text of following) {
    const stop = text.indexOf('.');
    const string = long[Number(text.slice(0, stop))] as string;
    // JSON.stringify escapes half a surrogate pair, so a piece may end within a pair.
    for (let at = 0; at < string.length; at += LONG)
      yield Buffer.from(JSON.stringify(string.slice(at, at + LONG)).slice(1, -1));
    yield Buffer.from(text.slice(stop + 1));
  }
}
