import { Injectable, type OnModuleInit } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Checked } from '../../../platform/http/input.pipe.js';
import { defineClientEvent } from '../../../platform/realtime/event-declarations.js';
import { SocketEvents } from '../../../platform/realtime/socket-events.js';
import { PresenceApi } from '../../presence/index.js';
import { ChatChanges } from '../chat-changes.js';
import { ChatApi } from '../chat.api.js';
import {
  Resume,
  SocketDelete,
  SocketEdit,
  SocketReact,
  SocketRead,
  SocketSend,
  SocketTyping,
} from './message-sockets.dto.js';
import { EditMessage, React, SendMessage } from './messages.dto.js';
import { ChatMessageEnvelope, ChatReadEnvelope, SentChatMessageEnvelope } from './messages.response.js';
import { MessagesService } from './messages.service.js';
import type { WrittenMessage } from '../changes/message-writes.js';
import { ResumedResponse } from './resume.response.js';
import { ResumeService } from './resume.js';
import { growingTo } from '../../../platform/memory/cache-size.js';

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
      this.changes.typing(ctx, roomId, newest);
    }
    return {};
  }
}

const shown = ({ message }: WrittenMessage): { message: unknown } => ({ message: JSON.parse(message) });
