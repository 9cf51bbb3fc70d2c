import { Injectable, type OnModuleInit } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Checked } from '../../../platform/http/input.pipe.js';
import { SocketEvents } from '../../../platform/realtime/socket-events.js';
import { ChatChanges } from '../chat-changes.js';
import { ChatErrors } from '../chat.errors.js';
import { FanoutRepository } from './fanout.repository.js';
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
import { MessagesService, type WrittenMessage } from './messages.service.js';
import { ResumeService } from './resume.js';

/** Larger rooms have no typing events. */
const MAX_TYPING_MEMBERS = 200;
/** Milliseconds between two typing events of a user in a room. */
const TYPING_PAUSE_MS = 3_000;

/** The chat events of sockets: the same operations as over HTTP. */
@Injectable()
export class MessageSockets implements OnModuleInit {
  private readonly typed = new LRUCache<string, boolean>({ max: 10_000, ttl: TYPING_PAUSE_MS });

  constructor(
    private readonly events: SocketEvents,
    private readonly messages: MessagesService,
    private readonly resumes: ResumeService,
    private readonly repository: FanoutRepository,
    private readonly changes: ChatChanges,
  ) {}

  onModuleInit(): void {
    const { events, messages } = this;
    events.register({
      name: 'message.send',
      input: SocketSend,
      handle: async ({ ctx }, input) => {
        const sent = await messages.send(ctx, input.room_id, Checked.of(SendMessage, input));
        return { ...shown(sent), duplicate: !sent.changed };
      },
    });
    events.register({
      name: 'message.edit',
      input: SocketEdit,
      handle: async ({ ctx }, input) =>
        shown(await messages.edit(ctx, input.room_id, input.message_id, Checked.of(EditMessage, input))),
    });
    events.register({
      name: 'message.react',
      input: SocketReact,
      handle: async ({ ctx }, input) =>
        shown(await messages.react(ctx, input.room_id, input.message_id, Checked.of(React, input))),
    });
    events.register({
      name: 'message.delete',
      input: SocketDelete,
      handle: async ({ ctx }, input) => shown(await messages.delete(ctx, input.room_id, input.message_id)),
    });
    events.register({
      name: 'room.read',
      input: SocketRead,
      handle: ({ ctx }, input) => messages.markRead(ctx, input.room_id, input.seq),
    });
    events.register({
      name: 'typing',
      input: SocketTyping,
      handle: ({ ctx }, input) => this.typing(ctx, input),
    });
    events.register({
      name: 'session.resume',
      input: Resume,
      handle: ({ ctx }, input) => this.resumes.resume(ctx, input),
    });
  }

  private async typing(ctx: RequestContext, { room_id: roomId, on }: SocketTyping): Promise<object> {
    const members = await this.repository.size(ctx, roomId);
    if (members === undefined) throw ChatErrors.roomNotFound.with();
    const key = `${ctx.userId} ${roomId} ${on}`;
    if (members <= MAX_TYPING_MEMBERS && !this.typed.has(key)) {
      this.typed.set(key, true);
      this.changes.typing(ctx, roomId, on);
    }
    return {};
  }
}

const shown = ({ message }: WrittenMessage): { message: unknown } => ({ message: JSON.parse(message) });
