import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import {
  type DeliveryOutcome,
  outcomeOf,
  type SmtpError,
  SmtpRelay,
} from '../../platform/smtp/smtp-relay.js';
import { withAsciiDomain } from '../accounts/addresses.js';
import { MailSettings } from '../mail-settings.js';
import { RawMessages } from '../storage/raw-messages.js';
import type { Entries } from './queue.repository.js';

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

/** Connections to the relay, each for one message at a time. */
export const RELAY_CONNECTIONS = 8;

/** Sends mail for outside recipients to the server of SMTP_URL. */
@Injectable()
export class OutgoingRelay implements OnApplicationShutdown {
  private readonly relay: SmtpRelay | undefined;

  constructor(
    { smtpUrl }: MailSettings,
    private readonly raws: RawMessages,
  ) {
    if (smtpUrl === undefined) return;
    this.relay = new SmtpRelay(smtpUrl, RELAY_CONNECTIONS);
  }

  get isConfigured(): boolean {
    return this.relay !== undefined;
  }

  /**
   * Sends one message to several recipients in one transaction.
   * @returns the outcomes in the order of the entries
   * @throws BlobMissingError, BlobStoreError
   */
  async send(entries: Entries): Promise<DeliveryOutcome[]> {
    if (!this.relay) return entries.map(() => NO_RELAY);
    const [{ sender, raw_id }] = entries;
    const envelope = { from: sender, to: entries.map(({ recipient }) => recipient) };
    const raw = await this.raws.open(raw_id);
    let failures: SmtpError[];
    try {
      const info = await this.relay.send(envelope, raw);
      failures = (info as { rejectedErrors?: SmtpError[] }).rejectedErrors ?? [];
    } catch (error) {
      const { rejectedErrors } = error as SmtpError;
      if (!rejectedErrors?.length) return entries.map(() => outcomeOf(error as SmtpError));
      failures = rejectedErrors;
    } finally {
      raw.destroy();
    }
    return entries.map(({ recipient }) => {
      // nodemailer writes the domain in Unicode when the local part is not ASCII.
      const failure = failures.find((error) => withAsciiDomain(error.recipient ?? '') === recipient);
      return failure ? outcomeOf(failure) : { kind: 'sent' };
    });
  }

  onApplicationShutdown(): void {
    this.relay?.close();
  }
}
