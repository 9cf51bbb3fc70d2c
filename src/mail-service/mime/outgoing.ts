import MimeNode from 'nodemailer/lib/mime-node';
import type { Address } from './message.js';

/** What the sender may not decide, and what recipients are not to see. */
const REMOVED = new Set(['from', 'sender', 'bcc', 'date', 'return-path']);
const LF = 10;

/**
 * The message as it leaves: From is the account's own address whatever the draft says, Bcc is gone, the date is that of
 * sending. The body stays as it is, byte for byte.
 */
export function outgoing(raw: Uint8Array, from: Address, date: Date): Buffer {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
  const kept: string[] = [];
  let at = 0;
  let removing = false;
  while (at < bytes.length) {
    const lf = bytes.indexOf(LF, at);
    const end = lf < 0 ? bytes.length : lf + 1;
    const line = bytes.toString('latin1', at, end);
    if (line === '\r\n' || line === '\n') break;
    at = end;
    const folded = line.startsWith(' ') || line.startsWith('\t');
    if (!folded)
      removing = REMOVED.has(
        line
          .slice(0, Math.max(0, line.indexOf(':')))
          .trim()
          .toLowerCase(),
      );
    if (!removing) kept.push(`${line.replace(/\r?\n$/, '')}\r\n`);
  }
  // The library folds and encodes the name.
  const node = new MimeNode('text/plain');
  node.setHeader({ from });
  const own = node
    .buildHeaders()
    .split('\r\n')
    .filter((line, n, all) => /^from:/i.test(line) || (/^\s/.test(line) && isOfFrom(all, n)))
    .join('\r\n');
  const head = `${own}\r\nDate: ${date.toUTCString().replace('GMT', '+0000')}\r\n${kept.join('')}`;
  const body = bytes.subarray(at);
  return Buffer.concat([Buffer.from(head, 'latin1'), body.length > 0 ? body : Buffer.from('\r\n')]);
}

function isOfFrom(lines: readonly string[], n: number): boolean {
  while (n > 0 && /^\s/.test(lines[n] as string)) n -= 1;
  return /^from:/i.test(lines[n] as string);
}
