import type { ApiError } from '../../../platform/http/errors.js';
import type { CardField } from '../../../lib/contact-card/index.js';
import { JsonReply } from '../../../platform/http/json-reply.js';
import { type BookRole, contactJson, type ContactRow } from '../responses/contact.presenter.js';
import type { AppliedContactChangesEnvelope, ContactChangesEnvelope } from './contact-sync.dto.js';

/** The outcome of one change of a client. */
export interface ChangeOutcome {
  /** Null if the change has no valid `external_id`. */
  externalId: string | null;
  /** Default: the status of the error, otherwise 200. */
  status?: number;
  /** The contact after the change. */
  row?: ContactRow;
  deleted?: true;
  conflicts?: CardField[];
  error?: ApiError;
  /** The contact on the server, for a conflict. */
  current?: ContactRow;
}

/** The JSON of the result of one change. */
export function changeResult(index: number, outcome: ChangeOutcome, role: BookRole): string {
  const { externalId, row, deleted, conflicts = [], error, current, status = 200 } = outcome;
  const members = {
    index,
    external_id: externalId,
    status: error?.kind.status ?? status,
    ...(deleted && { deleted }),
    ...(conflicts.length > 0 && { conflicts }),
    ...(error && {
      error: error.kind.code,
      message: error.message,
      ...(error.extras.details && { details: error.extras.details }),
    }),
  };
  const contacts = [
    ...(row ? [`,"contact":${contactJson(row, role)}`] : []),
    ...(current ? [`,"current":${contactJson(current, role)}`] : []),
  ];
  return `${JSON.stringify(members).slice(0, -1)}${contacts.join('')}}`;
}

/** The JSON of a `ContactUpsert`. */
export const upsertJson = (row: ContactRow, role: BookRole): string =>
  `{"op":"upsert","contact":${contactJson(row, role)}}`;

/** A page of the feed with the results of the client's changes. @param results JSON texts */
export const appliedReply = (
  results: readonly string[],
  { json }: JsonReply<ContactChangesEnvelope>,
): JsonReply<AppliedContactChangesEnvelope> =>
  JsonReply.ofText(
    Buffer.concat([Buffer.from(`{"results":[${results.join(',')}],`), Buffer.from(json).subarray(1)]),
  );
