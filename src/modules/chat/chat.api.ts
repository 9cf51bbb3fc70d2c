import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import type { MemberKey, RequestContext } from '../../platform/context/request-context.js';
import type { Reader, Tx } from '../../platform/database/tx.js';
import { Checked } from '../../platform/http/input.pipe.js';
import { ChatChanges } from './chat-changes.js';
import { ChatErrors } from './chat.errors.js';
import type { ChatRole, MessageOrigin } from './chat.entity.js';
import { MessagesService } from './messages/messages.service.js';
import type { SendMessage } from './messages/messages.dto.js';
import { type CallEvent, type MemberRoom, RoomsRepository } from './rooms/rooms.repository.js';

/** Rooms for other domains. */
@Injectable()
export class ChatApi {
  constructor(
    private readonly rooms: RoomsRepository,
    private readonly changes: ChatChanges,
    private readonly messages: MessagesService,
  ) {}

  /** @returns undefined for an unknown room, or one that the caller is not a member of */
  async room(ctx: MemberKey, id: string, reader?: Reader): Promise<MemberRoom | undefined> {
    return this.rooms.ofMember(ctx, id, reader);
  }

  /** @throws ApiError 404 */
  async roomOf(ctx: MemberKey, id: string): Promise<MemberRoom> {
    const room = await this.room(ctx, id);
    if (!room) throw ChatErrors.roomNotFound.with();
    return room;
  }

  /** Locks the room until the end of the transaction. @returns the role of the caller; null without membership */
  async lock(tx: Tx, ctx: MemberKey, id: string): Promise<ChatRole | null> {
    return this.rooms.lock(tx, ctx, id);
  }

  /**
   * Adds a message of this user that a program has written. @param message.body not blank
   * @returns its id @throws ApiError 404; 409 `room_archived`, `quota_exceeded`
   */
  async post(
    ctx: RequestContext,
    roomId: string,
    { via, ...text }: Pick<SendMessage, 'body' | 'format'> & { via: MessageOrigin },
  ): Promise<string> {
    const input = { ...text, client_msg_id: randomUUID(), attachment_ids: [], mentions: [] };
    const { message } = await this.messages.send(ctx, roomId, Checked.valid(input), via);
    return (JSON.parse(message) as { id: string }).id;
  }

  /** Adds a message of the kind `call` by this user. Does nothing in a deleted room. */
  async reportCall(tx: Tx, ctx: MemberKey, roomId: string, event: CallEvent): Promise<void> {
    await this.rooms.lock(tx, ctx, roomId);
    const modSeq = await this.rooms.report(tx, ctx, roomId, event, 'call');
    if (modSeq > 0) this.changes.changed(tx, ctx, roomId, modSeq);
  }
}
