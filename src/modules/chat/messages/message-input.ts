import { createHash } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { vectorOf } from '../../../lib/search-text/index.js';
import { hasVisibleCharacter } from '../../../lib/text/index.js';
import type { MessageOrigin } from '../chat.entity.js';
import { fieldError } from '../../../platform/http/errors.js';
import type { SendMessage } from './messages.dto.js';
import type { MessageInput } from '../model/new-message.js';

/** Text form of the tsvector of a message. */
export const wordsOf = (body: string): Promise<string> => vectorOf({ readers: [], title: body, html: '' });

/** The stored form of a new message. @throws ApiError 422 for a blank body without attachments */
export async function messageInput(
  input: SendMessage,
  via: MessageOrigin | null = null,
): Promise<MessageInput> {
  const { client_msg_id, format, mentions, reply_to = null, attachment_ids: attachments, body } = input;
  if (attachments.length === 0 && !hasVisibleCharacter(body))
    throw fieldError('body', 'is_not_empty', 'body must not be blank without attachments');
  const content = { body, format, reply_to, mentions, attachments };
  const fingerprint = createHash('sha256').update(JSON.stringify(content)).digest('hex');
  return { id: uuidv7(), client_msg_id, fingerprint, ...content, via, tsv: await wordsOf(body) };
}
