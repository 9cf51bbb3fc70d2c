import { Injectable } from '@nestjs/common';
import { MAX_TERMS, SearchQuery } from '../../../lib/search-text/index.js';
import { PermissionSource } from '../../../platform/context/permission.guard.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { fieldError } from '../../../platform/http/errors.js';
import type { Checked } from '../../../platform/http/input.pipe.js';
import { PAGE_BYTES } from '../../../platform/bounded-pages/page-bytes.js';
import { ChatChanges } from '../chat-changes.js';
import { ChatNotifications } from '../chat.notifications.js';
import type { MessageOrigin } from '../chat.schema.js';
import { ChatErrors } from '../chat.dto.js';
import {
  type EditMessage,
  type ListMessages,
  messageInput,
  type React,
  type SendMessage,
  wordsOf,
} from './messages.dto.js';
import { type MessagePage, MessagesRepository, type PageRequest, type Party } from './messages.repository.js';
import { MessageWrites, type WrittenMessage } from '../changes/message-writes.js';

/** Messages of rooms: HTTP and sockets use the same methods. Only members of a room read and write its messages. */
@Injectable()
export class MessagesService {
  constructor(
    private readonly messages: MessagesRepository,
    private readonly writes: MessageWrites,
    private readonly changes: ChatChanges,
    private readonly notifications: ChatNotifications,
    private readonly permissions: PermissionSource,
    private readonly db: Db,
  ) {}

  /**
   * Adds a message, or returns the one that was sent with the same `client_msg_id`.
   * @param via the incoming webhook that has posted it
   * @throws ApiError 404 also for a direct room with a deactivated user, 409 `room_archived`, `idempotency_key_reused`, `quota_exceeded`, 422 `unknown_reply`, `unknown_attachment`
   */
  async send(
    ctx: RequestContext,
    roomId: string,
    body: Checked<SendMessage>,
    via: MessageOrigin | null = null,
  ): Promise<WrittenMessage> {
    const checked = await body.map((input) => messageInput(input, via));
    if (checked.error) await this.assertMember(ctx, roomId);
    return this.writes.send(ctx, roomId, checked.value);
  }

  /**
   * Replaces the text of the caller's own message, and its mentions. Newly mentioned members are notified.
   * @throws ApiError 404, 403, 409 `message_deleted`, `room_archived`, `conflict`
   */
  async edit(
    ctx: RequestContext,
    roomId: string,
    id: string,
    body: Checked<EditMessage>,
  ): Promise<WrittenMessage> {
    if (body.error) await this.assertMember(ctx, roomId);
    const { body: text, format = null, mentions = null, base_mod_seq: base = null } = body.value;
    return this.writes.edit(ctx, roomId, id, {
      base,
      body: text,
      format,
      mentions,
      tsv: await wordsOf(text),
    });
  }

  /** Makes a message a tombstone. @throws ApiError 404, 403 */
  async delete(ctx: RequestContext, roomId: string, id: string): Promise<WrittenMessage> {
    const held = await this.permissions.permissionsOf(ctx);
    const any = held.has('chat.messages.delete_any') || held.has('chat.rooms.moderate');
    return this.writes.delete(ctx, roomId, id, any);
  }

  /** @throws ApiError 404, 403, 409 `message_deleted`, `room_archived`, 422 `too_many_reactions` */
  async react(
    ctx: RequestContext,
    roomId: string,
    id: string,
    body: Checked<React>,
  ): Promise<WrittenMessage> {
    if (body.error) await this.assertMember(ctx, roomId);
    return this.writes.react(ctx, roomId, id, body.value);
  }

  /** @throws ApiError 404 */
  async markRead(
    ctx: RequestContext,
    roomId: string,
    seq: number,
  ): Promise<{ last_read_seq: number; unread: number }> {
    return this.db.single(async (tx) => {
      const read = await this.messages.markRead(tx, ctx, roomId, seq);
      if (!read) throw ChatErrors.roomNotFound.with();
      this.changes.read(tx, ctx, roomId, read);
      this.notifications.read(tx, ctx, roomId, read.last_read_seq);
      return read;
    });
  }

  /** @throws ApiError 404; 422 for two positions, or for a search with too many words */
  async list(ctx: RequestContext, roomId: string, query: ListMessages): Promise<MessagePage> {
    const { limit, around } = query;
    const text = queryText(query);
    if (text === '') return this.emptyPage(ctx, roomId);
    if (around !== undefined) return this.around(ctx, roomId, around, limit);
    const page = await this.page(ctx, roomId, { ...positionOf(query), limit, query: text });
    const isBackward = positionOf(query).direction === 'before';
    return isBackward ? { ...page, messages: page.messages.toReversed() } : page;
  }

  /** The direct room with another member, or null if it does not exist yet. @throws ApiError 404 */
  async party(ctx: RequestContext, id: string): Promise<Party> {
    const party = await this.messages.party(ctx, id);
    if (!party) throw ChatErrors.partyNotFound.with();
    return party;
  }

  /** @throws ApiError 404 */
  async ofParty(ctx: RequestContext, id: string, query: ListMessages): Promise<MessagePage> {
    const { room_id: roomId } = await this.party(ctx, id);
    if (roomId === null) return { messages: [], hasMore: false, last_seq: 0, mod_seq: 0 };
    return this.list(ctx, roomId, query);
  }

  private async around(
    ctx: RequestContext,
    roomId: string,
    seq: number,
    limit: number,
  ): Promise<MessagePage> {
    const half = Math.ceil(limit / 2);
    const halfPage = { bytes: PAGE_BYTES / 2 };
    const [upTo, from] = [
      { ...halfPage, direction: 'before', position: seq + 1, limit: half },
      { ...halfPage, direction: 'after', position: seq, limit: limit - half },
    ] as const;
    const before = await this.page(ctx, roomId, upTo);
    const after = await this.page(ctx, roomId, from);
    const messages = [...before.messages.toReversed(), ...after.messages];
    return { ...after, messages, hasMore: before.hasMore || after.hasMore };
  }

  private async emptyPage(ctx: RequestContext, roomId: string): Promise<MessagePage> {
    const page = await this.page(ctx, roomId, { direction: 'after', position: MAX_POSITION, limit: 1 });
    return { ...page, messages: [], hasMore: false };
  }

  private async page(ctx: RequestContext, roomId: string, request: PageRequest): Promise<MessagePage> {
    const page = await this.messages.page(ctx, roomId, request);
    if (!page) throw ChatErrors.roomNotFound.with();
    return page;
  }

  /** Called for an invalid body, so that an unknown room is reported first. */
  private async assertMember(ctx: RequestContext, roomId: string): Promise<void> {
    await this.emptyPage(ctx, roomId);
  }
}

/** Larger than any number of a message. */
const MAX_POSITION = Number.MAX_SAFE_INTEGER;

function positionOf(query: ListMessages): Pick<PageRequest, 'direction' | 'position'> {
  const { before_seq, after_seq, after_mod_seq } = query;
  if (after_mod_seq !== undefined) return { direction: 'changes', position: after_mod_seq };
  if (after_seq !== undefined) return { direction: 'after', position: after_seq };
  return { direction: 'before', position: before_seq ?? MAX_POSITION };
}

/** The tsquery of a search; undefined without `q`; empty where `q` has no words. */
function queryText({ q, before_seq, after_seq, after_mod_seq, around }: ListMessages): string | undefined {
  const positions = [before_seq, after_seq, after_mod_seq, around].filter((given) => given !== undefined);
  const isMixed = positions.length > 1 || (q !== undefined && (after_mod_seq ?? around) !== undefined);
  if (isMixed) throw fieldError('before_seq', 'one_position', 'the query must have at most one position');
  if (q === undefined) return undefined;
  const query = SearchQuery.parse(q);
  if (query.isTooLong)
    throw fieldError('q', 'too_many_words', `q must have at most ${MAX_TERMS} different words`);
  return query.isEmpty ? '' : query.match;
}
