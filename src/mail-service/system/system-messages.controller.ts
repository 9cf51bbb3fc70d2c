import { Controller, Injectable, Post } from '@nestjs/common';
import Joi from 'joi';
import { AccountsRepository } from '../accounts/accounts.repository.js';
import { domainOf, normalizeAddress } from '../accounts/addresses.js';
import { OutgoingRelay } from '../delivery/outgoing-relay.js';
import { QueueRepository } from '../delivery/queue.repository.js';
import { QueueWorker } from '../delivery/queue.worker.js';
import { ServiceCall } from '../http/call.js';
import { fields, ofService } from '../http/fields.js';
import { mailErrors } from '../mail-error.js';
import { streamOf } from '../storage/bytes.js';
import { RawMessages } from '../storage/raw-messages.js';

export interface SystemMessage {
  /** Identifies the message: a repeated request has no effect. */
  id: string;
  /** Envelope addresses. */
  from: string;
  to: string;
  subject: string;
  /** The message in MIME, base64. */
  raw: string;
}

/** Accepts messages of the workspace itself, such as notifications, for delivery to mailboxes and through the relay. */
@Injectable()
export class SystemMessagesService {
  constructor(
    private readonly accounts: AccountsRepository,
    private readonly relay: OutgoingRelay,
    private readonly raws: RawMessages,
    private readonly queue: QueueRepository,
    private readonly worker: QueueWorker,
  ) {}

  /** @returns `duplicate`: the id was accepted before @throws MailError 422 when the recipient cannot be reached */
  async submit({ id, from, to, subject, raw }: SystemMessage): Promise<Record<string, unknown>> {
    const recipient = normalizeAddress(to);
    const domain = domainOf(recipient);
    if (!this.relay.isConfigured && !(await this.accounts.ownDomains([domain])).has(domain))
      throw mailErrors.noRelay();
    const rawId = await this.raws.put(streamOf(Buffer.from(raw, 'base64')));
    const isNew = await this.queue.submitSystem({ id, sender: from, recipient, rawId, subject });
    if (isNew) this.worker.wake();
    return { success: true, id, duplicate: !isNew };
  }
}

const MAX_SUBJECT = 1_000;

/** The host of the sender may be `localhost`. */
const SENDER = /^[^\s<>@]+@[^\s<>@]+$/;

const submission = ofService({
  id: Joi.string().uuid().required(),
  from: Joi.string().max(320).regex(SENDER).required(),
  to: fields.email().required(),
  subject: Joi.string().max(MAX_SUBJECT).allow('').required(),
  raw: Joi.string().base64().required(),
});

/** Messages without an account, for the service token. WildDuck has no such route. */
@Controller('system/messages')
export class SystemMessagesController {
  constructor(private readonly messages: SystemMessagesService) {}

  @Post()
  submit(@ServiceCall(submission) message: SystemMessage): Promise<Record<string, unknown>> {
    return this.messages.submit(message);
  }
}
