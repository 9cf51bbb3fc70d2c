import { serveWork } from '../../platform/workers/worker-script.js';
import { composeMessage } from './compose-message.js';
import type { NewMessage, ParsedMessage, TakenAttachments } from './message.js';
import { parseMessage } from './parse-message.js';

/** What the thread is asked: to read a message, or to build one and read it. */
export type MimeOrder =
  | { kind: 'parse'; raw: Uint8Array }
  | { kind: 'compose'; message: NewMessage; taken?: TakenAttachments };

/** `raw` is given for a message that was built. */
export interface MimeResult {
  parsed: ParsedMessage;
  raw?: Uint8Array<ArrayBuffer>;
}

serveWork(
  async (order: MimeOrder): Promise<MimeResult> => {
    if (order.kind === 'parse') return { parsed: await parseMessage(order.raw) };
    // A copy of its own: small buffers are slices of a shared one, which cannot be handed over.
    const raw = new Uint8Array(await composeMessage(order.message, order.taken));
    return { parsed: await parseMessage(raw), raw };
  },
  ({ raw }) => (raw ? [raw.buffer] : []),
);
