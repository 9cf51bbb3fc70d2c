import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { fieldError } from '../../../platform/http/errors.js';
import { isUuid } from '../../../platform/http/id.pipe.js';
import type { ChatMessageResponse } from '../message.response.js';
import { FanoutRepository } from './fanout.repository.js';
import { MessagesRepository } from './messages.repository.js';
import type { Resume } from './message-sockets.dto.js';
import { RoomFanout } from './room-fanout.js';
import type { ResumedResponse, ResumedRoomResponse } from './resume.response.js';

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
