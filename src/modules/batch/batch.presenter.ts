import { JsonReply } from '../../platform/http/json-reply.js';
import type { BatchEnvelope, BatchRequest } from './batch.dto.js';

/** The response to one request of a batch. */
export interface Outcome {
  status: number;
  headers: Record<string, string>;
  /** JSON text. */
  body: Buffer;
}

export function batchReply(
  requests: readonly BatchRequest[],
  outcomes: readonly Outcome[],
): JsonReply<BatchEnvelope> {
  const parts = outcomes.flatMap(({ status, headers, body }, n) => {
    const { id } = requests[n] as BatchRequest;
    const head = JSON.stringify({ id, status, headers }).slice(0, -1);
    return [Buffer.from(`${n === 0 ? '{"responses":[' : ','}${head},"body":`), body, Buffer.from('}')];
  });
  return JsonReply.ofText(Buffer.concat([...parts, Buffer.from(']}')]));
}
