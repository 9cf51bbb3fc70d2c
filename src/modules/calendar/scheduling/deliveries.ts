import { createHash } from 'node:crypto';
import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { composeItipMail, domainOf, type ItipMethod } from '../../../lib/itip/index.js';
import { PeriodicJobs } from '../../../platform/jobs/periodic-jobs.js';
import { OwnMail, type SendOutcome } from '../../mail/index.js';
import { deleteOld } from './old-messages.repository.js';
import { type DueDelivery, SchedulingRepository } from './scheduling.repository.js';

export const DELIVERIES_JOB = 'calendar-deliveries';
const INTERVAL_SECONDS = 10;
/** Longer than all timeouts of one send together. */
const LEASE_SECONDS = 300;
const MAX_ATTEMPTS = 60;
const MAX_PAUSE_SECONDS = 3_600;

/**
 * Sends queued messages from the mailboxes of their senders. An attempt after a crash first looks for the message, by its
 * Message-ID, in the mailbox of the sender, so that it is sent once (adr/0040).
 */
@Injectable()
export class Deliveries implements OnModuleInit {
  private readonly logger = new Logger('Scheduling');

  constructor(
    private readonly repository: SchedulingRepository,
    private readonly mail: OwnMail,
    private readonly jobs: PeriodicJobs,
  ) {}

  onModuleInit(): void {
    this.jobs.register({
      name: DELIVERIES_JOB,
      everySeconds: INTERVAL_SECONDS,
      queue: 'mail',
      run: () => this.run(),
    });
    this.jobs.register({ name: 'purge-scheduling-messages', everySeconds: 3_600, deletes: deleteOld });
  }

  /** Sends everything that is due, each message under a lease of its own. */
  async run(): Promise<void> {
    for (;;) {
      const delivery = await this.repository.claim(LEASE_SECONDS);
      if (!delivery) return;
      await this.deliver(delivery);
    }
  }

  private async deliver(delivery: DueDelivery): Promise<void> {
    const outcome = await this.attempt(delivery);
    if (outcome.kind === 'sent') return this.repository.conclude(delivery, 'sent', null, 0);
    if (outcome.kind === 'retry' && delivery.attempts < MAX_ATTEMPTS) {
      const pause = Math.min(2 ** delivery.attempts * 5, MAX_PAUSE_SECONDS);
      return this.repository.conclude(delivery, 'queued', outcome.reason, pause);
    }
    await this.repository.conclude(delivery, 'failed', outcome.reason, 0);
  }

  private async attempt(delivery: DueDelivery): Promise<SendOutcome> {
    const { tenant_id: tenantId, user_id: userId, recipient, attempts } = delivery;
    const owner = { tenantId, userId };
    try {
      const address = await this.mail.addressOf(owner);
      if (address === null) return { kind: 'failed', reason: 'no_mail' };
      const messageId = messageIdOf(delivery, address);
      const raw = await composed(delivery, address, messageId);
      return await this.mail.send(owner, { messageId, to: recipient, raw: raw.toString() }, attempts > 1);
    } catch (error) {
      this.logger.warn(
        { err: error, message: delivery.message_id },
        'a message could not be sent, will be retried',
      );
      return { kind: 'retry', reason: 'mail_service_error' };
    }
  }
}

/** The Message-ID, which is the same in each attempt. The recipient is part of it: as a digest if it has more than 32 bytes. */
function messageIdOf({ message_id, recipient }: DueDelivery, address: string): string {
  const bytes = Buffer.from(recipient);
  const part = bytes.length <= 32 ? bytes : createHash('sha256').update(bytes).digest();
  return `<${message_id}.${part.toString('hex')}@${domainOf(address)}>`;
}

function composed(delivery: DueDelivery, address: string, messageId: string): Promise<Buffer> {
  const { event_id, recipient, method, ics, mail, created_at } = delivery;
  return composeItipMail({
    from: { name: mail.from_name, address },
    to: { name: '', address: recipient },
    messageId,
    // All messages about an event are one thread.
    references: event_id === null ? [] : [`<event.${event_id}@${domainOf(address)}>`],
    subject: mail.subject,
    date: created_at,
    text: mail.text,
    html: mail.html,
    method: method as ItipMethod,
    ics,
  });
}
