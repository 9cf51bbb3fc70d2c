import type { DeliveryOutcome } from '../../platform/smtp/smtp-relay.js';

export const UNKNOWN_RECIPIENT: DeliveryOutcome = {
  kind: 'failed',
  status: '5.1.1',
  reason: 'There is no such mailbox on this server.',
};
export const UNREADABLE: DeliveryOutcome = {
  kind: 'failed',
  status: '5.6.0',
  reason: 'The message cannot be read.',
};
export const MAILBOX_FULL: DeliveryOutcome = {
  kind: 'failed',
  status: '5.2.2',
  reason: 'The mailbox of the recipient is full.',
};
/** The retry handles the recipient like any address without an account. */
export const MAILBOX_DELETED: DeliveryOutcome = {
  kind: 'retry',
  status: '4.2.1',
  reason: 'The mailbox of the recipient has been deleted.',
};
export const NO_RELAY: DeliveryOutcome = {
  kind: 'failed',
  status: '5.4.4',
  reason: 'This server does not send mail to other servers: no outgoing server is configured.',
};
export const INTERNAL_ERROR: DeliveryOutcome = {
  kind: 'retry',
  status: '4.3.0',
  reason: 'The server failed to deliver the message.',
};
