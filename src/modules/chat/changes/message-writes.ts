import { Injectable } from '@nestjs/common';
import { Audit } from '../../../platform/audit/audit.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { ConcurrentChangeError, errorCode } from '../../../platform/database/database-errors.js';
import { Db } from '../../../platform/database/db.js';
import type { Reader, Tx } from '../../../platform/database/tx.js';
import { ApiError } from '../../../platform/http/errors.js';
import { ChatChanges } from '../chat-changes.js';
import { ChatErrors } from '../chat.dto.js';
import { ChatNotifications } from '../chat.notifications.js';
import type { RoomGuest } from '../chat-hooks.js';
import {
  type ChangeFacts,
  type Decision,
  deleteMessage,
  type EditCommand,
  editMessage,
  type MessageChange,
  type MessageInput,
  type NewMessage,
  reactToMessage,
  type SendFacts,
  sendMessage,
  type Unwritten,
} from '../model/message-rules.js';
import { MessageFacts, MessageFiles } from './message-facts.js';
import { MessageStore, type StoredMessage } from './message-store.js';

/** A message after a write, as JSON. */
export interface WrittenMessage {
  message: string;
  /** Whether the write changed the message. */
  changed: boolean;
}

/** How a change is decided and stored. */
interface Write<Change> {
  decide: (reader: Reader) => Promise<Decision<Change>>;
  /** @returns undefined if rows have changed since the decision */
  store: (tx: Tx, change: Change) => Promise<StoredMessage | undefined>;
}

/**
 * What a message that names no other message, member or file usually finds. `MessageStore.append` compares it with the locked rows, and a
 * repeated message violates a unique index.
 */
const USUAL: SendFacts = {
  role: 'member',
  isArchived: false,
  lastSeq: 0,
  isPartnerInactive: false,
  sent: null,
  repliedSeq: null,
  mentioned: [],
  files: new Map(),
};

/** unique_violation */
const REPEATED = '23505';

/** Writes of messages: reads rows, asks the rules (`model/message-rules.ts`), and stores the result. */
@Injectable()
export class MessageWrites {
  constructor(
    private readonly facts: MessageFacts,
    private readonly stored: MessageStore,
    private readonly files: MessageFiles,
    private readonly changes: ChatChanges,
    private readonly notifications: ChatNotifications,
    private readonly audit: Audit,
    private readonly db: Db,
  ) {}

  /** @throws ApiError 404, 409 `room_archived`, `idempotency_key_reused`, `quota_exceeded`, 422 `unknown_reply`, `unknown_attachment` */
  async send(ctx: RequestContext, roomId: string, input: MessageInput): Promise<WrittenMessage> {
    const sender = { id: ctx.userId, guestName: null };
    const write: Write<NewMessage> = {
      decide: async (reader) => {
        const facts = await this.facts.ofNew(reader, ctx, roomId, input);
        return facts ? sendMessage(facts, sender, input) : ChatErrors.roomNotFound.with();
      },
      store: async (tx, message) => {
        const stored = await this.stored.append(tx, ctx, roomId, message);
        if (stored) await this.files.markSent(tx, ctx, roomId, stored.seq, input.attachments);
        return stored;
      },
    };
    if (input.attachments.length > 0) return this.write(ctx, roomId, write);
    const isAlone = input.reply_to === null && input.mentions.length === 0;
    const assume = async (): Promise<Decision<NewMessage>> => sendMessage(USUAL, sender, input);
    return this.writeAlone(ctx, roomId, write, isAlone ? assume : write.decide);
  }

  /**
   * Adds a message of a guest, whose access the caller has checked.
   * @returns the number of the message
   * @throws ApiError as `send`
   */
  async sendAsGuest(
    tx: Tx,
    { tenantId, guestId, roomId }: RoomGuest,
    guestName: string,
    input: MessageInput,
  ): Promise<{ seq: number; isDuplicate: boolean }> {
    const guest = { tenantId, userId: guestId };
    await this.stored.lockRoom(tx, guest, roomId);
    const facts = await this.facts.ofNew(tx, guest, roomId, input);
    if (!facts) throw ChatErrors.roomNotFound.with();
    const decision = sendMessage(facts, { id: guestId, guestName }, input);
    if (decision instanceof ApiError) throw decision;
    const isDuplicate = isUnwritten(decision);
    const written = isDuplicate
      ? await this.stored.readAt(tx, guest, roomId, decision.seq)
      : await this.stored.appendLocked(tx, guest, roomId, decision);
    const { seq, mod_seq: modSeq } = written as StoredMessage;
    if (!isDuplicate) await this.files.markSent(tx, guest, roomId, seq, input.attachments);
    this.changes.reportChange(tx, guest, roomId, modSeq);
    return { seq, isDuplicate };
  }

  /** @throws ApiError 404, 403, 409 `message_deleted`, `room_archived`, `conflict` */
  async edit(
    ctx: RequestContext,
    roomId: string,
    id: string,
    command: Omit<EditCommand, 'userId'>,
  ): Promise<WrittenMessage> {
    const { mentions } = command;
    const write = this.change(ctx, roomId, id, {
      decide: async (facts, reader) => {
        const members = await this.facts.members(reader, ctx, roomId, mentions);
        return editMessage(facts, members, { ...command, userId: ctx.userId });
      },
      stored: async (tx, { notified, message: { seq } }) => {
        if (notified.length > 0)
          await this.notifications.notifyMentioned(tx, ctx, roomId, { id, seq }, notified);
      },
    });
    return mentions === null ? this.writeAlone(ctx, roomId, write) : this.write(ctx, roomId, write);
  }

  /** @param any whether the caller may delete messages of others by a permission @throws ApiError 404, 403 */
  async delete(ctx: RequestContext, roomId: string, id: string, any: boolean): Promise<WrittenMessage> {
    const write = this.change(ctx, roomId, id, {
      decide: async (facts) => deleteMessage(facts, { userId: ctx.userId, any }),
      stored: async (tx, { message: { seq, sender_id, files } }) => {
        if (files > 0) await this.files.deleteSent(tx, ctx, roomId, seq);
        if (sender_id !== ctx.userId)
          await this.audit.record(tx, ctx, {
            action: 'chat.message.deleted',
            objectKind: 'chat_message',
            objectId: id,
            data: { room_id: roomId, sender_id },
          });
        await this.notifications.endOf(tx, ctx, roomId, seq);
      },
    });
    return this.write(ctx, roomId, write);
  }

  /** @throws ApiError 404, 403, 409 `message_deleted`, `room_archived`, 422 `too_many_reactions` */
  async react(
    ctx: RequestContext,
    roomId: string,
    id: string,
    { emoji, on }: { emoji: string; on: boolean },
  ): Promise<WrittenMessage> {
    const write = this.change(ctx, roomId, id, {
      decide: async (facts) => reactToMessage(facts, { userId: ctx.userId, emoji, on }),
    });
    return this.writeAlone(ctx, roomId, write);
  }

  /** @param stored what follows in the same transaction */
  private change<Change extends MessageChange>(
    ctx: RequestContext,
    roomId: string,
    id: string,
    {
      decide,
      stored: follow,
    }: {
      decide: (facts: ChangeFacts, reader: Reader) => Promise<Decision<Change>>;
      stored?: (tx: Tx, change: Change) => Promise<void>;
    },
  ): Write<{ change: Change; read: ChangeFacts }> {
    return {
      decide: async (reader) => {
        const read = await this.facts.ofChange(reader, ctx, roomId, id);
        if (!read) return ChatErrors.roomNotFound.with();
        const decision = await decide(read, reader);
        return decision instanceof ApiError || isUnwritten(decision) ? decision : { change: decision, read };
      },
      store: async (tx, { change, read }) => {
        const stored = await this.stored.change(tx, ctx, roomId, change, read);
        if (stored) await follow?.(tx, change);
        return stored;
      },
    };
  }

  /**
   * Decides on rows that it reads without locks, and stores by one statement that stores nothing if these rows have changed; then a transaction
   * with locks decides again. Line `messages create` of test/bench/platform/domains.bench.mjs.
   * @param first the decision to try: without a read, on the assumption of the usual case, if the statement compares all of it
   */
  private async writeAlone<Change extends object>(
    ctx: RequestContext,
    roomId: string,
    { decide, store }: Write<Change>,
    first = decide,
  ): Promise<WrittenMessage> {
    const decision = await first(this.db);
    if (decision instanceof ApiError || isUnwritten(decision)) return this.unwritten(ctx, roomId, decision);
    const stored = await this.db
      .single(async (tx) => this.report(tx, ctx, roomId, await store(tx, decision)))
      .catch((error: unknown) => {
        // The same message was sent twice at the same time.
        if (errorCode(error) === REPEATED) return undefined;
        throw error;
      });
    return stored ? { message: stored.message, changed: true } : this.write(ctx, roomId, { decide, store });
  }

  /** Writes under the lock of the room. */
  private async write<Change extends object>(
    ctx: RequestContext,
    roomId: string,
    { decide, store }: Write<Change>,
  ): Promise<WrittenMessage> {
    const result = await this.db.tx(async (tx) => {
      await this.stored.lockRoom(tx, ctx, roomId);
      const decision = await decide(tx);
      if (decision instanceof ApiError || isUnwritten(decision)) return { decision };
      const stored = this.report(tx, ctx, roomId, await store(tx, decision));
      if (!stored) throw new ConcurrentChangeError('a locked room has changed');
      return { message: stored.message };
    });
    return result.decision
      ? this.unwritten(ctx, roomId, result.decision)
      : { message: result.message, changed: true };
  }

  /** Sends the change to the sockets of the members, after the commit. */
  private report(
    tx: Tx,
    ctx: RequestContext,
    roomId: string,
    stored: StoredMessage | undefined,
  ): StoredMessage | undefined {
    if (stored) this.changes.reportChange(tx, ctx, roomId, stored.mod_seq, stored.message);
    return stored;
  }

  /**
   * The current message. A repeated request reports its change again: the process of the first one may have ended between the commit
   * and the report.
   */
  private async unwritten(
    ctx: RequestContext,
    roomId: string,
    decision: Unwritten | ApiError,
  ): Promise<WrittenMessage> {
    if (decision instanceof ApiError) throw decision;
    const { message } = await this.db.single(async (tx) => {
      const current = await this.stored.readAt(tx, ctx, roomId, decision.seq);
      if (!current) throw ChatErrors.roomNotFound.with();
      this.changes.reportChange(tx, ctx, roomId, current.mod_seq, current.message);
      return current;
    });
    if (decision.outcome === 'conflict')
      throw ChatErrors.messageConflict.with({ body: { current: JSON.parse(message) } });
    return { message, changed: false };
  }
}

const isUnwritten = (decision: object): decision is Unwritten => 'outcome' in decision;
