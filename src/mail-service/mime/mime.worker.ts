import { serveWork } from '../../platform/workers/worker-script.js';
import { type Bytes, gatherInto, streamOf } from '../storage/bytes.js';
import { composeMessage } from './compose-message.js';
import type { NewMessage, ParsedMessage, CopiedAttachments } from './message.js';
import { parseMessage } from './parse-message.js';

/** Parses a message, or builds one and parses it. `file` members are the files that the thread may write. */
export type MimeTask =
  | { kind: 'parse'; raw: Bytes }
  | { kind: 'compose'; message: NewMessage; file: string; copied: (CopiedAttachments & { file: string })[] };

/** `raw` is the built message. */
export interface MimeResult {
  parsed: ParsedMessage;
  raw?: Bytes;
}

serveWork(
  async (task: MimeTask): Promise<MimeResult> => {
    if (task.kind === 'parse') return { parsed: await parseMessage(streamOf(task.raw)) };
    const built = await gatherInto(await composeMessage(task.message, task.copied), task.file);
    // A copy: small buffers are slices of a shared pool, which cannot be transferred.
    const raw = built instanceof Uint8Array ? new Uint8Array(built) : built;
    return { parsed: await parseMessage(streamOf(raw)), raw };
  },
  ({ raw }) => (raw instanceof Uint8Array ? [raw.buffer as ArrayBuffer] : []),
);
