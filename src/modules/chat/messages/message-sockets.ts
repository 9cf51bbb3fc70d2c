import { Injectable, type OnModuleInit } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { fieldError } from '../../../platform/http/errors.js';
import { isUuid } from '../../../platform/http/id.pipe.js';
import { Checked } from '../../../platform/http/input.pipe.js';
import { growingTo } from '../../../platform/memory/cache-size.js';
import { defineClientEvent } from '../../../platform/realtime/event-declarations.js';
import { SocketEvents } from '../../../platform/realtime/socket-events.js';
import { PresenceApi } from '../../presence/index.js';
import type { WrittenMessage } from '../changes/message-writes.js';
import { ChatChanges } from '../chat-changes.js';
import { ChatApi } from '../chat.api.js';
import type { ChatMessageResponse } from '../chat.dto.js';
import { FanoutRepository } from './fanout.repository.js';
import {
  ChatMessageEnvelope,
  ChatReadEnvelope,
  EditMessage,
  React,
  Resume,
  ResumedResponse,
  type ResumedRoomResponse,
  SendMessage,
  SentChatMessageEnvelope,
  SocketDelete,
  SocketEdit,
  SocketReact,
  SocketRead,
  SocketSend,
  SocketTyping,
} from './messages.dto.js';
import { MessagesRepository } from './messages.repository.js';
import { MessagesService } from './messages.service.js';
import { RoomFanout } from './room-fanout.js';

const MAX_ROOMS = 2_000;
/** Characters of messages after which a response ends. */
const MAX_CHARACTERS = 1024 * 1024;

/** Returns the changes that a client has missed. They are read from the rows, so the position may be of any age and from any process. */
@Injectable()
export class ResumeService {
  constructor(
    private readonly repository: FanoutRepository,
    private readonly messages: MessagesRepository,
    private readonly fanout: RoomFanout,
  ) {}

  /** @throws ApiError 422 for positions that are no map from room ids to whole numbers */
  async resume(ctx: RequestContext, input: Resume): Promise<ResumedResponse> {
    const known = positionsOf(input.rooms);
    const current = await this.repository.positions(ctx);
    this.fanout.follow(ctx.tenantId, current);
    const ids = new Set(current.map(({ id }) => id));
    const rooms: Record<string, ResumedRoomResponse> = {};
    const left = { messages: input.limit, characters: MAX_CHARACTERS };
    for (const { id, mod_seq } of current) {
      const from = known.get(id);
      if (from === undefined || from >= mod_seq) continue;
      const resumed = await this.changes(ctx, id, from, left);
      if (resumed) rooms[id] = resumed;
    }
    return {
      rooms,
      added: [...ids].filter((id) => !known.has(id)),
      removed: [...known.keys()].filter((id) => !ids.has(id)),
      unread: Object.fromEntries(current.map(({ id, unread }) => [id, unread])),
    };
  }

  private async changes(
    ctx: RequestContext,
    id: string,
    from: number,
    left: { messages: number; characters: number },
  ): Promise<ResumedRoomResponse | undefined> {
    if (left.messages <= 0 || left.characters <= 0) return { messages: [], mod_seq: from, more: true };
    // Checks the membership again, because it may have ended while the previous rooms were read.
    const page = await this.messages.page(ctx, id, {
      direction: 'changes',
      position: from,
      limit: left.messages,
    });
    if (!page) return undefined;
    const messages: ChatMessageResponse[] = [];
    for (const text of page.messages) {
      if (left.messages <= 0 || left.characters <= 0) break;
      messages.push(JSON.parse(text) as ChatMessageResponse);
      left.messages -= 1;
      left.characters -= text.length;
    }
    const more = page.hasMore || page.messages.length > messages.length;
    return { messages, mod_seq: messages.at(-1)?.mod_seq ?? from, more };
  }
}

function positionsOf(rooms: Record<string, number>): Map<string, number> {
  const entries = Object.entries(rooms);
  const isValid =
    entries.length <= MAX_ROOMS &&
    entries.every(([id, modSeq]) => isUuid(id) && Number.isSafeInteger(modSeq) && modSeq >= 0);
  if (isValid) return new Map(entries.map(([id, modSeq]) => [id.toLowerCase(), modSeq]));
  const message = `rooms must be a map of at most ${MAX_ROOMS} room ids to whole numbers`;
  throw fieldError('rooms', 'positions', message);
}

const SEND = defineClientEvent(
  'message.send',
  'Send a message, as with `POST /chat/rooms/{id}/messages`. Idempotent by `client_msg_id`.',
  SocketSend,
  SentChatMessageEnvelope,
);
const EDIT = defineClientEvent(
  'message.edit',
  'Replace the text of a message.',
  SocketEdit,
  ChatMessageEnvelope,
);
const REACT = defineClientEvent(
  'message.react',
  'Add or remove a reaction to a message.',
  SocketReact,
  ChatMessageEnvelope,
);
const DELETE = defineClientEvent('message.delete', 'Delete a message.', SocketDelete, ChatMessageEnvelope);
const READ = defineClientEvent(
  'room.read',
  'Report the newest message that you have read.',
  SocketRead,
  ChatReadEnvelope,
);
const TYPE = defineClientEvent(
  'typing',
  'Report that you are typing. Repeat it every 3 seconds; ignored in rooms of more than 200 members.',
  SocketTyping,
);
const RESUME = defineClientEvent(
  'session.resume',
  'Read the changes of all rooms after the given numbers.',
  Resume,
  ResumedResponse,
);

/** Larger rooms have no typing events. */
const MAX_TYPING_MEMBERS = 200;
/** Milliseconds between two equal typing events of a user in a room. */
const TYPING_PAUSE_MS = 3_000;

/** The chat events of sockets: the same operations as over HTTP. */
@Injectable()
export class MessageSockets implements OnModuleInit {
  /** The newest state that users requested in rooms: their events wait for a read and can overtake each other. */
  private readonly requested = new LRUCache<string, boolean>(growingTo(10_000));
  /** The last reported state of users in rooms. */
  private readonly typed = new LRUCache<string, boolean>({ ...growingTo(10_000), ttl: TYPING_PAUSE_MS });

  constructor(
    private readonly events: SocketEvents,
    private readonly messages: MessagesService,
    private readonly resumes: ResumeService,
    private readonly rooms: ChatApi,
    private readonly changes: ChatChanges,
    private readonly presence: PresenceApi,
  ) {}

  onModuleInit(): void {
    const { events, messages } = this;
    events.register(SEND, async ({ ctx }, input) => {
      const sent = await messages.send(ctx, input.room_id, Checked.of(SendMessage, input));
      return { ...shown(sent), duplicate: !sent.changed };
    });
    events.register(EDIT, async ({ ctx }, input) =>
      shown(await messages.edit(ctx, input.room_id, input.message_id, Checked.of(EditMessage, input))),
    );
    events.register(REACT, async ({ ctx }, input) =>
      shown(await messages.react(ctx, input.room_id, input.message_id, Checked.of(React, input))),
    );
    events.register(DELETE, async ({ ctx }, input) =>
      shown(await messages.delete(ctx, input.room_id, input.message_id)),
    );
    events.register(READ, ({ ctx }, input) => messages.markRead(ctx, input.room_id, input.seq));
    events.register(TYPE, ({ ctx }, input) => this.typing(ctx, input));
    events.register(RESUME, ({ ctx }, input) => this.resumes.resume(ctx, input));
  }

  private async typing(ctx: RequestContext, { room_id: roomId, on }: SocketTyping): Promise<object> {
    const key = `${ctx.userId} ${roomId}`;
    this.requested.set(key, on);
    const { members_count: members } = await this.rooms.roomOf(ctx, roomId);
    if (await this.presence.isInvisible(ctx)) return {};
    const newest = this.requested.get(key) ?? on;
    if (members <= MAX_TYPING_MEMBERS && this.typed.get(key) !== newest) {
      this.typed.set(key, newest);
      this.changes.reportTyping(ctx, roomId, newest);
    }
    return {};
  }
}

const shown = ({ message }: WrittenMessage): { message: unknown } => ({ message: JSON.parse(message) });
