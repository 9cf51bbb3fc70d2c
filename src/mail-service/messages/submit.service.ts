import { Injectable } from '@nestjs/common';
import { AccountsRepository } from '../accounts/accounts.repository.js';
import { domainOf, normalizeAddress, withAsciiDomain } from '../accounts/addresses.js';
import { QueueRepository } from '../delivery/queue.repository.js';
import { QueueWorker } from '../delivery/queue.worker.js';
import { mailErrors } from '../mail-error.js';
import { newQueueId } from '../ids.js';
import { MailSettings } from '../mail-settings.js';
import { outgoing } from '../mime/outgoing.js';
import { RawMessages } from '../storage/raw-messages.js';
import { MessagesService } from './messages.service.js';

const MAX_RECIPIENTS = 400;
const HOUR = 3_600;

/** Submits drafts for delivery. */
@Injectable()
export class SubmitService {
  constructor(
    private readonly accounts: AccountsRepository,
    private readonly messages: MessagesService,
    private readonly raws: RawMessages,
    private readonly queue: QueueRepository,
    private readonly worker: QueueWorker,
    private readonly settings: MailSettings,
  ) {}

  /**
   * Moves the draft to Sent and adds its recipients to the queue, in one transaction.
   * @param sendTime earliest time of delivery
   * @throws MailError
   */
  async submit(
    userId: string,
    mailbox: string,
    uid: number,
    sendTime?: Date,
  ): Promise<Record<string, unknown>> {
    const row = await this.messages.find(userId, mailbox, uid);
    if (!row.draft) throw mailErrors.notDraft();
    const { to, cc, bcc, from } = row.summary;
    const written = new Map(
      [...to, ...cc, ...bcc].map(({ address }) => [normalizeAddress(address), withAsciiDomain(address)]),
    );
    if (written.size > MAX_RECIPIENTS) throw mailErrors.tooManyRecipients();
    if (written.size === 0) throw mailErrors.noRecipients();
    const [account, own] = await Promise.all([
      this.accounts.find(userId),
      this.accounts.ownDomains([...written.keys()].map(domainOf)),
    ]);
    if (!account) throw mailErrors.userNotFound();
    const recipients = [...written].map(([address, other]) => (own.has(domainOf(address)) ? address : other));
    const due = sendTime && sendTime.getTime() > Date.now() ? sendTime : new Date();
    const sender = { name: from?.name ?? account.name, address: account.address };
    const raw = await this.raws.put(outgoing(await this.raws.open(row.raw_id), sender, due));
    const queueId = newQueueId();
    const done = await this.queue.submit({
      userId,
      mailbox,
      uid,
      queueId,
      sender: account.address,
      recipients,
      rawId: raw,
      date: due,
      limit: this.settings.dailyRecipients,
    });
    if (done.outcome === 'rate_limited') throw mailErrors.sendingLimit(Math.ceil(done.seconds / HOUR));
    if (done.outcome === 'not_draft') throw mailErrors.notDraft();
    if (done.outcome !== 'ok') throw mailErrors.noMessage();
    this.worker.wake();
    const message = { id: Number(done.uid), mailbox: done.mailbox, size: Number(done.size) };
    return { success: true, queueId, message };
  }
}
