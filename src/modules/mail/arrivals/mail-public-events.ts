import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import {
  type EventFacts,
  FACTS,
  type FoundSubject,
  PublicEvents,
  publicEvents,
} from '../../../platform/events/public-events.js';
import { type Fields, isFields, objectsOf } from '../input/fields.js';
import { messagePath } from '../mail-call.js';
import { MailClient } from '../mail-client.js';
import { MAIL_RECEIVED } from './mail-arrivals.js';
import { EXAMPLE_MAILBOX, ReceivedMailResponse } from './mail-arrivals.response.js';

const MAIL_EVENTS = publicEvents(
  {
    kind: 'mail',
    object: ReceivedMailResponse,
    facts: {
      user_id: FACTS.id,
      mailbox: { type: 'string', example: EXAMPLE_MAILBOX },
      message_id: { type: 'integer', minimum: 1, example: 12 },
    },
    isFrequent: true,
    owner: 'user_id',
    isRemote: true,
  },
  {
    [MAIL_RECEIVED]:
      'A mail arrived in your inbox. `mail` has no body; it is null if the mail was moved or deleted meanwhile, or cannot be read now.',
  },
);

/** The events of arrived mail that programs of others receive: those of the own inbox. */
@Injectable()
export class MailPublicEvents implements OnModuleInit {
  constructor(
    private readonly events: PublicEvents,
    private readonly client: MailClient,
  ) {}

  onModuleInit(): void {
    this.events.register(MAIL_EVENTS, { many: (ctx, facts) => this.readMany(ctx, facts) });
  }

  /** After a failure of the mail service, further mail of the batch is not read. */
  private async readMany(ctx: RequestContext, facts: readonly EventFacts[]): Promise<FoundSubject[]> {
    const found: FoundSubject[] = [];
    let isAvailable = true;
    for (const each of facts) {
      if (each['user_id'] !== ctx.userId) found.push(undefined);
      else if (!isAvailable) found.push(null);
      else
        try {
          found.push(await this.read(ctx, each));
        } catch {
          isAvailable = false;
          found.push(null);
        }
    }
    return found;
  }

  private async read(ctx: RequestContext, { mailbox, message_id: id }: EventFacts): Promise<object | null> {
    const path = messagePath({ mailbox: mailbox as string, message: id as number });
    const response = await this.client.openBackground(ctx).json({ method: 'GET', path });
    const value = await response.readWhole();
    if (response.status >= 500) throw new Error(`the mail service responded ${response.status}`);
    return response.status < 300 && isFields(value) ? mailOf(value) : null;
  }
}

function mailOf(message: Fields): ReceivedMailResponse {
  const { date } = message;
  return {
    id: Number(message['id']),
    mailbox: text(message['mailbox']),
    from: addressOf(isFields(message['from']) ? message['from'] : {}),
    to: objectsOf(message['to']).map(addressOf),
    cc: objectsOf(message['cc']).map(addressOf),
    subject: text(message['subject']),
    date: typeof date === 'string' ? date : null,
    attachments: objectsOf(message['attachments']).length,
  };
}

const addressOf = ({ name, address }: Fields) => ({ name: text(name), address: text(address) });

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
