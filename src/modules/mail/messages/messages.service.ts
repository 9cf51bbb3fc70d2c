import { Injectable } from '@nestjs/common';
import { booleanOf, type Fields, isFields, pick } from '../input/fields.js';
import { type MailCall, messagePath, messagesPath } from '../mail-call.js';
import { forwarded, MailClient, type MailReply, type MailSession } from '../mail-client.js';
import { messageFields } from './message-fields.js';
import { MessageWriter } from './message-writer.js';
import { messageListQuery } from '../input/query.js';
import { extended, withUnseen } from '../upstream-response.js';
import { FLAGS, splitFlags } from './bulk.js';
import { MailMoves } from './mail-moves.js';

/** The message routes: translates the fields and forwards the response. */
@Injectable()
export class MessagesService {
  constructor(
    private readonly client: MailClient,
    private readonly writer: MessageWriter,
    private readonly moves: MailMoves,
  ) {}

  list(call: MailCall): Promise<MailReply> {
    const path = messagesPath(call.target.mailbox);
    const query = messageListQuery(call.target.query);
    return this.client.as(call, async (session) =>
      forwarded(withUnseen(await session.json({ method: 'GET', path, query }))),
    );
  }

  create(call: MailCall, body: Fields): Promise<MailReply> {
    const fields = messageFields(body);
    return this.client.as(call, async (session) =>
      forwarded(await this.writer.create(session, call.target.mailbox, fields)),
    );
  }

  read(call: MailCall): Promise<MailReply> {
    return this.client.as(call, async (session) => {
      const response = await session.json({ method: 'GET', path: messagePath(call.target) });
      // The embedded service includes `unseen`.
      if (response.status >= 300 || response.text?.includes('"unseen":')) return forwarded(response);
      const seen = isFields(response.value) ? response.value['seen'] : undefined;
      return forwarded(typeof seen === 'boolean' ? extended(response, { unseen: !seen }) : response);
    });
  }

  /** Changes flags of a message, or moves it. */
  update(call: MailCall, body: Fields): Promise<MailReply> {
    return this.client.as(call, async (session) => {
      const path = messagePath(call.target);
      const [first = {}, ...others] = splitFlags(await changesOf(session, path, body));
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

/**
 * The changed fields of a message. Where `seen` and `unseen` contradict each other, the client has changed one of them and sent
 * back the other as it was read.
 */
async function changesOf(
  session: MailSession,
  path: readonly (string | number)[],
  body: Fields,
): Promise<Fields> {
  const fields = pick(body, [...FLAGS, 'moveTo']);
  const unseen = booleanOf(body['unseen']);
  if (!Object.hasOwn(fields, 'seen'))
    return { ...fields, ...(unseen === undefined ? pick(body, ['unseen']) : { seen: !unseen }) };
  if (unseen === undefined || booleanOf(fields['seen']) !== unseen) return fields;
  const message = await (await session.json({ method: 'GET', path })).whole();
  const before = isFields(message) ? booleanOf(message['seen']) : undefined;
  return before === undefined ? fields : { ...fields, seen: !before };
}
