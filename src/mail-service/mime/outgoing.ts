import MimeNode from 'nodemailer/lib/mime-node';
import { protectNames } from '../../lib/encoded-words/index.js';
import type { Address } from './message.js';

/** Headers that the service sets, and Bcc, which recipients must not see. */
const REMOVED = new Set(['from', 'sender', 'bcc', 'date', 'return-path']);
const LF = 10;
const CR = 13;

/**
 * Rewrites the head of a message for delivery: From is the account's address, Date the time of sending, Bcc is removed. The
 * body is unchanged.
 */
export async function* outgoing(
  raw: AsyncIterable<Uint8Array>,
  from: Address,
  date: Date,
): AsyncGenerator<Uint8Array> {
  let beginning: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of raw) {
    if (!beginning) {
      yield chunk;
      continue;
    }
    beginning = Buffer.concat([beginning, chunk]);
    const end = endOfHead(beginning);
    if (end < 0) continue;
    yield rewritten(beginning.subarray(0, end), from, date);
    yield beginning.subarray(end);
    beginning = undefined;
  }
  if (!beginning) return;
  yield rewritten(beginning, from, date);
  yield Buffer.from('\r\n');
}

/** @returns the index of the empty line after the headers, or -1 */
function endOfHead(bytes: Buffer): number {
  for (let at = 0; at < bytes.length; at = bytes.indexOf(LF, at) + 1 || bytes.length) {
    if (bytes[at] === LF || (bytes[at] === CR && bytes[at + 1] === LF)) return at;
  }
  return -1;
}

function rewritten(head: Buffer, from: Address, date: Date): Buffer {
  const kept: string[] = [];
  let removing = false;
  // Some servers treat a lone CR as a line end.
  for (const line of head.toString('latin1').split(/\r\n|\r|\n/)) {
    if (line === '') continue;
    const folded = line.startsWith(' ') || line.startsWith('\t');
    if (!folded)
      removing = REMOVED.has(
        line
          .slice(0, Math.max(0, line.indexOf(':')))
          .trim()
          .toLowerCase(),
      );
    if (!removing) kept.push(`${line}\r\n`);
  }
  // nodemailer folds and encodes the name.
  const node = new MimeNode('text/plain');
  protectNames(node);
  node.setHeader({ from });
  const own = node
    .buildHeaders()
    .split('\r\n')
    .filter((line, n, all) => /^from:/i.test(line) || (/^\s/.test(line) && isOfFrom(all, n)))
    .join('\r\n');
  const text = `${own}\r\nDate: ${date.toUTCString().replace('GMT', '+0000')}\r\n${kept.join('')}`;
  return Buffer.from(text, 'latin1');
}

function isOfFrom(lines: readonly string[], n: number): boolean {
  while (n > 0 && /^\s/.test(lines[n] as string)) n -= 1;
  return /^from:/i.test(lines[n] as string);
}
