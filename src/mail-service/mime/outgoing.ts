import MimeNode from 'nodemailer/lib/mime-node';
import type { Address } from './message.js';

/** What the sender may not decide, and what recipients are not to see. */
const REMOVED = new Set(['from', 'sender', 'bcc', 'date', 'return-path']);
const LF = 10;
const CR = 13;

/**
 * The message as it leaves: From is the account's own address whatever the draft says, Bcc is gone, the date is that of
 * sending. The body stays as it is, byte for byte.
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

/** @returns where the empty line after the headers begins; -1 when there is none yet */
function endOfHead(bytes: Buffer): number {
  for (let at = 0; at < bytes.length; at = bytes.indexOf(LF, at) + 1 || bytes.length) {
    if (bytes[at] === LF || (bytes[at] === CR && bytes[at + 1] === LF)) return at;
  }
  return -1;
}

function rewritten(head: Buffer, from: Address, date: Date): Buffer {
  const kept: string[] = [];
  let removing = false;
  // A lone CR ends a line for whoever sends it on, so it does here.
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
  // The library folds and encodes the name.
  const node = new MimeNode('text/plain');
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
