import { serveWork } from '../../platform/workers/worker-script.js';
import { type Bytes, gatherInto, streamOf } from '../storage/bytes.js';
import { composeMessage } from './compose-message.js';
import type { NewMessage, ParsedMessage, TakenAttachments } from './message.js';
import { parseMessage } from './parse-message.js';

/** What the thread is asked: to read a message, or to build one and read it. It may write to the files that are named. */
export type MimeOrder =
  | { kind: 'parse'; raw: Bytes }
  | { kind: 'compose'; message: NewMessage; file: string; taken?: TakenAttachments & { file: string } };

/** `raw` is given for a message that was built. */
export interface MimeResult {
  parsed: ParsedMessage;
  raw?: Bytes;
}

serveWork(
  async (order: MimeOrder): Promise<MimeResult> => {
    if (order.kind === 'parse') return { parsed: await parseMessage(streamOf(order.raw)) };
    const built = await gatherInto(await composeMessage(order.message, order.taken), order.file);
    // A copy of its own: small buffers are slices of a shared one, which cannot be handed over.
    const raw = built instanceof Uint8Array ? new Uint8Array(built) : built;
    return { parsed: await parseMessage(streamOf(raw)), raw };
  },
  ({ raw }) => (raw instanceof Uint8Array ? [raw.buffer as ArrayBuffer] : []),
);
