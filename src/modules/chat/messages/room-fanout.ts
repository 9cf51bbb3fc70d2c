import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { ServerEvent } from '../../../platform/realtime/event-declarations.js';
import { UserConnections } from '../../../platform/realtime/user-connections.js';
import {
  type ChatBusMessages,
  ChatChanges,
  ROOM_ADDED,
  ROOM_CHANGED,
  ROOM_DELETED,
  ROOM_READ,
  TYPING,
} from '../chat-changes.js';
import {
  MESSAGE_CREATED,
  MESSAGE_DELETED,
  MESSAGE_UPDATED,
  type MessageEvent,
  ROOM_ADDED_EVENT,
  ROOM_READ_EVENT,
  ROOM_REMOVED_EVENT,
  TYPING_EVENT,
} from '../chat-events.js';
import type { ChatMessageResponse } from '../message.response.js';
import { FanoutRepository } from './fanout.repository.js';

const MAX_ROOMS = 10_000;
const MIN_RETRY_MS = 200;
const MAX_RETRY_MS = 15_000;
/** Messages that one statement reads. */
const BATCH = 200;
/** Seconds after which a client shows a user as no longer typing. */
const TYPING_SECONDS = 6;

type RoomKey = ChatBusMessages[typeof ROOM_DELETED];

/** A room as this process has delivered it. */
interface RoomState {
  /** Number of the newest delivered change. */
  known: number;
  /** Number of the newest delivered message; undefined before the first one. */
  lastSeq: number | undefined;
  /** Members as of `known`. Changes of members are messages, so later ones are read with the messages. */
  members: Set<string>;
}

/**
 * Delivers changes of rooms to the sockets of this process. The bus only reports that a room changed: the messages are read in
 * the order of their changes, so that a late or lost message of the bus delays a delivery and never reorders it.
 */
@Injectable()
export class RoomFanout implements OnModuleInit {
  private readonly logger = new Logger(RoomFanout.name);
  private readonly states = new LRUCache<string, RoomState>({ max: MAX_ROOMS });
  /** Rooms that are being delivered, with the newest change to deliver. */
  private readonly running = new Map<string, number>();

  constructor(
    private readonly changes: ChatChanges,
    private readonly connections: UserConnections,
    private readonly repository: FanoutRepository,
  ) {}

  onModuleInit(): void {
    this.changes.subscribe(ROOM_CHANGED, ({ mod_seq: modSeq, ...room }) => this.changed(room, modSeq));
    this.changes.subscribe(ROOM_DELETED, (room) => this.logged(this.repeated(() => this.deleted(room))));
    this.changes.subscribe(ROOM_ADDED, ({ users, ...room }) =>
      this.send(room, users, ROOM_ADDED_EVENT, { room_id: room.room }),
    );
    this.changes.subscribe(ROOM_READ, ({ user, last_read_seq, unread, ...room }) =>
      this.send(room, [user], ROOM_READ_EVENT, { room_id: room.room, last_read_seq, unread }),
    );
    this.changes.subscribe(TYPING, (typing) => this.logged(this.typing(typing)));
  }

  /** One delivery of a room runs at a time; changes that come meanwhile are part of its next round. */
  private changed(room: RoomKey, modSeq: number): void {
    const key = keyOf(room);
    if (!this.connections.hasTenant(room.tenant)) {
      this.states.delete(key);
      return;
    }
    const pending = this.running.get(key);
    this.running.set(key, Math.max(pending ?? 0, modSeq));
    if (pending !== undefined) return;
    this.logged(this.repeated(() => this.deliver(room)).finally(() => this.running.delete(key)));
  }

  private async deliver(room: RoomKey): Promise<void> {
    const key = keyOf(room);
    const state = this.states.get(key) ?? (await this.load(room, (this.running.get(key) as number) - 1));
    this.states.set(key, state);
    while (state.known < (this.running.get(key) as number)) {
      const found = await this.repository.changes(room.tenant, room.room, state.known, BATCH);
      if (!found || found.length === 0) break;
      for (const text of found) this.deliverOne(room, state, JSON.parse(text) as ChatMessageResponse);
    }
  }

  private async load({ tenant, room }: RoomKey, known: number): Promise<RoomState> {
    const members = await this.repository.members(tenant, room);
    return { known, lastSeq: undefined, members: new Set(members) };
  }

  private deliverOne(room: RoomKey, state: RoomState, message: ChatMessageResponse): void {
    const { event, seq, mod_seq, room_id } = message;
    const users = event?.user_ids ?? [];
    if (event?.type === 'member_removed') {
      for (const user of users) state.members.delete(user);
      this.send(room, users, ROOM_REMOVED_EVENT, { room_id });
    }
    if (event?.type === 'members_added') {
      for (const user of users) state.members.add(user);
      this.send(room, users, ROOM_ADDED_EVENT, { room_id });
    }
    const payload = { room_id, mod_seq, prev_mod_seq: state.known, message };
    this.send(room, state.members, eventOf(message, state.lastSeq), payload);
    state.known = mod_seq;
    state.lastSeq = Math.max(state.lastSeq ?? 0, seq);
  }

  private async deleted(room: RoomKey): Promise<void> {
    this.states.delete(keyOf(room));
    const members = await this.repository.members(room.tenant, room.room);
    this.send(room, members, ROOM_REMOVED_EVENT, { room_id: room.room });
  }

  private async typing({ user, on, ...room }: ChatBusMessages[typeof TYPING]): Promise<void> {
    const members = await this.repository.members(room.tenant, room.room);
    const payload = { room_id: room.room, user_id: user, on, expires_in: TYPING_SECONDS };
    for (const member of members.filter((id) => id !== user))
      for (const connection of this.connections.of(room.tenant, member))
        connection.sendVolatile(TYPING_EVENT, payload);
  }

  private send<Payload extends object>(
    { tenant }: RoomKey,
    users: Iterable<string>,
    event: ServerEvent<Payload>,
    payload: Payload,
  ): void {
    for (const user of users)
      for (const connection of this.connections.of(tenant, user)) connection.send(event, payload);
  }

  /** Repeats a delivery that fails, e.g. while the database restarts: there may be no later change that would repeat it. */
  private async repeated(deliver: () => Promise<void>): Promise<void> {
    for (let pause = MIN_RETRY_MS; ; pause *= 2) {
      try {
        return await deliver();
      } catch (error) {
        if (pause > MAX_RETRY_MS) throw error;
        this.logger.warn({ err: error }, 'delivery to sockets failed; it is repeated');
        await delay(pause, undefined, { ref: false });
      }
    }
  }

  private logged(work: Promise<void>): void {
    work.catch((error: unknown) => this.logger.warn({ err: error }, 'delivery to sockets failed'));
  }
}

const keyOf = ({ tenant, room }: RoomKey): string => `${tenant} ${room}`;

/** @param lastSeq number of the newest message that was delivered; undefined: unknown */
function eventOf(message: ChatMessageResponse, lastSeq: number | undefined): ServerEvent<MessageEvent> {
  if (message.deleted_at !== null) return MESSAGE_DELETED;
  const isNew =
    lastSeq === undefined
      ? message.edited_at === null && message.reactions.length === 0
      : message.seq > lastSeq;
  return isNew ? MESSAGE_CREATED : MESSAGE_UPDATED;
}
