import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';

/** A string of more characters goes out piece by piece. */
const LONG = 64 * 1024;

/**
 * JSON of a value, as bytes; in pieces where there are long strings in it, the contents of attachments: a message with
 * megabytes of them would otherwise be in memory twice more, as one text and as its bytes.
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

/** @param texts what stands before the first long string, then what follows each, after its number and a full stop */
async function* pieces(texts: string[], long: readonly string[]): AsyncGenerator<Buffer> {
  const [first = '', ...following] = texts;
  yield Buffer.from(first);
  for (const text of following) {
    const stop = text.indexOf('.');
    const string = long[Number(text.slice(0, stop))] as string;
    // Half a pair of surrogates is written as an escape: cut anywhere, the halves are one character again.
    for (let at = 0; at < string.length; at += LONG)
      yield Buffer.from(JSON.stringify(string.slice(at, at + LONG)).slice(1, -1));
    yield Buffer.from(text.slice(stop + 1));
  }
}
