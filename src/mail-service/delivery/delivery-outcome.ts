import type { DeliveryOutcome } from '../../platform/smtp/smtp-relay.js';

const failed = (status: string, reason: string): DeliveryOutcome => ({ kind: 'failed', status, reason });
const retry = (status: string, reason: string): DeliveryOutcome => ({ kind: 'retry', status, reason });

export const UNKNOWN_RECIPIENT = failed('5.1.1', 'There is no such mailbox on this server.');
export const UNREADABLE = failed('5.6.0', 'The message cannot be read.');
export const MAILBOX_FULL = failed('5.2.2', 'The mailbox of the recipient is full.');
/** The retry handles the recipient like any address without an account. */
export const MAILBOX_DELETED = retry('4.2.1', 'The mailbox of the recipient has been deleted.');
export const NO_RELAY = failed(
  '5.4.4',
  'This server does not send mail to other servers: no outgoing server is configured.',
);
export const INTERNAL_ERROR = retry('4.3.0', 'The server failed to deliver the message.');
