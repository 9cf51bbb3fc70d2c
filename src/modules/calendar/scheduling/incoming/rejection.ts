import { ICalendarError } from '../../../../lib/icalendar/index.js';
import { RecurrenceError } from '../../../../lib/recurrence/index.js';
import { ItipError } from '../../../../lib/itip/index.js';
import { ApiError } from '../../../../platform/http/api-error.js';
import { DuplicateUidError } from '../../changes/event-writer.js';

/** A message that changes nothing. */
export class RejectedMessageError extends Error {
  /** @param reason for the log of messages, e.g. `sender_mismatch` */
  constructor(readonly reason: string) {
    super(reason);
  }
}

/** The reason in an error that the content of a message causes; null for any other error. */
export function rejectionReason(error: unknown): string | null {
  if (error instanceof RejectedMessageError) return error.reason;
  if (error instanceof ItipError) return error.code;
  if (error instanceof ICalendarError) return error.code === 'unknown_time_zone' ? error.code : 'invalid_ics';
  if (error instanceof RecurrenceError) return error.code;
  if (error instanceof DuplicateUidError) return 'duplicate_uid';
  if (!(error instanceof ApiError) || error.kind.status >= 500) return null;
  const { details } = error.body as { details?: { code?: string }[] };
  return details?.[0]?.code ?? error.kind.code;
}
