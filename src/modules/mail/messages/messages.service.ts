import { Injectable } from '@nestjs/common';
import { booleanOf, type Fields, pick } from '../fields.js';
import { type MailCall, messagePath, messagesPath } from '../mail-call.js';
import { forwarded, MailClient, type MailReply } from '../mail-client.js';
import { messageFields } from '../message-fields.js';
import { messageListQuery } from '../query.js';
import { MailMoves } from './mail-moves.js';

/** The message routes: translates the fields and forwards the response. */
@Injectable()
export class MessagesService {
  constructor(
    private readonly client: MailClient,
    private readonly moves: MailMoves,
  ) {}

  list(call: MailCall): Promise<MailReply> {
    const path = messagesPath(call.target.mailbox);
    return this.client.forward(call, { method: 'GET', path, query: messageListQuery(call.target.query) });
  }

  create(call: MailCall, body: Fields): Promise<MailReply> {
    const path = messagesPath(call.target.mailbox);
    return this.client.forward(call, { method: 'POST', path, body: messageFields(body) });
  }

  read(call: MailCall): Promise<MailReply> {
    return this.client.forward(call, { method: 'GET', path: messagePath(call.target) });
  }

  /** Changes flags of a message, or moves it. */
  update(call: MailCall, body: Fields): Promise<MailReply> {
    return this.client.as(call, async (session) => {
      const [first = {}, ...others] = messageChanges(body);
      const path = messagePath(call.target);
      let response = await session.json({ method: 'PUT', path, body: first });
      for (const change of others) {
        if (response.status >= 300) break;
        response = await session.json({ method: 'PUT', path, body: change });
      }
      await this.moves.record(call.ctx, call.target.mailbox, response.value);
      return forwarded(response);
    });
  }

  delete(call: MailCall): Promise<MailReply> {
    return this.client.forward(call, { method: 'DELETE', path: messagePath(call.target) });
  }

  submit(call: MailCall, body: Fields): Promise<MailReply> {
    const path = [...messagePath(call.target), 'submit'];
    return this.client.forward(call, { method: 'POST', path, body: pick(body, ['deleteFiles', 'sendTime']) });
  }
}

/** Not `draft`: it would turn any stored message, whose sender may be forged, into one that can be submitted. */
const FLAGS = ['seen', 'flagged', 'deleted'] as const;

/**
 * Splits a change of one message into the requests it takes: WildDuck cannot set one flag and clear another in one update,
 * and a move gives the message a new id, so it comes last.
 */
function messageChanges(body: Fields): Fields[] {
  const fields = pick(body, [...FLAGS, 'moveTo']);
  if (Object.hasOwn(body, 'unseen') && !Object.hasOwn(fields, 'seen')) {
    const unseen = booleanOf(body['unseen']);
    if (unseen === undefined) fields['unseen'] = body['unseen'];
    else fields['seen'] = !unseen;
  }
  const cleared = FLAGS.filter((flag) => booleanOf(fields[flag]) === false);
  const rest = Object.keys(fields).filter((name) => !cleared.includes(name as never));
  if (cleared.length === 0 || rest.length === 0) return [fields];
  return [pick(fields, cleared), pick(fields, rest)];
}
