import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Db } from '../../../platform/database/db.js';
import { growingTo } from '../../../platform/memory/cache-size.js';
import { CatchUp } from '../../../platform/realtime/catch-up.js';
import { Connection } from '../../../platform/realtime/connection.js';
import type { ServerEvent } from '../../../platform/realtime/event-declarations.js';
import { UserConnections } from '../../../platform/realtime/user-connections.js';
import {
  type ChatBusMessages,
  ChatChanges,
  ROOM_ADDED,
  ROOM_CHANGED,
  ROOM_DELETED,
  ROOM_READ,
  type RoomKey,
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
import type { ChatMessageResponse } from '../chat.dto.js';
import { FanoutRepository, type RoomHead, type RoomPosition } from './fanout.repository.js';

const MAX_ROOMS = 100_000;
/** Rooms whose members are kept in memory. */
const MAX_LOADED = 10_000;
/** Messages that one statement reads. */
export const BATCH = 200;

/** A room as this process has delivered it. */
export interface RoomState extends RoomKey {
  /** Number of the newest delivered change. */
  known: number;
  /** `known` when the state was created: this process has not delivered the changes up to it. */
  start: number;
  /** Position from which the changes must be delivered again. */
  rewind: number | undefined;
  /** Number of the newest delivered message; undefined: unknown. */
  lastSeq: number | undefined;
  /**
   * Members as of `known`. Changes of members are messages, so later ones are read with the messages. Undefined means that they are not
   * loaded.
   */
  members: Set<string> | undefined;
}

/** The positions up to which this process has delivered the rooms of its sockets. */
@Injectable()
export class RoomStates {
  private readonly states = new LRUCache<string, RoomState>(growingTo(MAX_ROOMS));
  private readonly loaded = new LRUCache<string, RoomState>({
    ...growingTo(MAX_LOADED),
    dispose: (state) => (state.members = undefined),
  });

  constructor(
    private readonly connections: UserConnections,
    private readonly repository: FanoutRepository,
  ) {}

  /** Whether this process has no sockets. */
  get isIdle(): boolean {
    return this.connections.size === 0;
  }

  get(room: RoomKey): RoomState | undefined {
    return this.states.get(keyOf(room));
  }

  /** Adds a room whose changes up to `known` are not delivered by this process. */
  add(room: RoomKey, known: number, lastSeq?: number): RoomState {
    const { tenant, room: id } = room;
    const state = { tenant, room: id, known, start: known, rewind: undefined, lastSeq, members: undefined };
    this.states.set(keyOf(room), state);
    return state;
  }

  delete(room: RoomKey): void {
    this.loaded.delete(keyOf(room));
    this.states.delete(keyOf(room));
  }

  /** Moves a state back to its rewind position, if it has one. */
  applyRewind(state: RoomState): void {
    if (state.rewind === undefined) return;
    state.known = Math.min(state.known, state.rewind);
    state.start = state.known;
    state.rewind = undefined;
    state.lastSeq = undefined;
    this.loaded.delete(keyOf(state));
  }

  /** The members as of `known` who are still members. */
  async membersOf(state: RoomState): Promise<Set<string>> {
    if (state.members) return state.members;
    const { tenant, room } = state;
    const found = await this.repository.membership(tenant, room);
    const members = new Set(found?.members);
    const newest = found?.mod_seq ?? 0;
    for (let position = state.known; position < newest;) {
      const changes = await this.repository.changes(tenant, room, position, BATCH);
      if (!changes || changes.length === 0) break;
      for (const text of changes) {
        const { event, mod_seq: modSeq } = JSON.parse(text) as ChatMessageResponse;
        if (event?.type === 'members_added') for (const user of event.user_ids ?? []) members.delete(user);
        position = modSeq;
      }
    }
    state.members = members;
    this.loaded.set(keyOf(state), state);
    return members;
  }

  /** The newest delivered change of each room. Rooms of workspaces without sockets are removed. */
  heads(): RoomHead[] {
    const heads: RoomHead[] = [];
    const unused: RoomKey[] = [];
    for (const { tenant, room, known } of this.states.values())
      if (this.connections.hasTenant(tenant)) heads.push({ tenant, room, modSeq: known });
      else unused.push({ tenant, room });
    for (const room of unused) this.delete(room);
    return heads;
  }
}

export const keyOf = ({ tenant, room }: RoomKey): string => `${tenant} ${room}`;

const MIN_RETRY_MS = 200;
const MAX_RETRY_MS = 15_000;
/** Seconds after which a client shows a user as no longer typing. */
const TYPING_SECONDS = 6;

/**
 * Delivers changes of rooms to the sockets of this process. The bus only reports that a room changed: the messages are read in
 * the order of their changes, so that a late or lost message of the bus delays a delivery and never reorders it.
 */
@Injectable()
export class RoomFanout implements OnModuleInit {
  private readonly logger = new Logger(RoomFanout.name);
  /** Rooms that are being delivered, with the newest change to deliver. */
  private readonly running = new Map<string, number>();
  /** The newest undelivered state of users who type in rooms. */
  private readonly typed = new Map<string, boolean>();

  constructor(
    private readonly changes: ChatChanges,
    private readonly connections: UserConnections,
    private readonly repository: FanoutRepository,
    private readonly states: RoomStates,
  ) {}

  onModuleInit(): void {
    this.changes.subscribe(ROOM_CHANGED, ({ tenant, room, mod_seq: modSeq, message }) => {
      const key = { tenant, room };
      // A repeated request reports an old change again. Clients without this change have noticed the gap at a later change.
      if (modSeq <= (this.states.get(key)?.start ?? 0) - BATCH) return;
      if (message && this.connections.hasTenant(tenant)) this.changes.keep(key, modSeq, message);
      this.deliverChange(key, modSeq);
    });
    this.changes.subscribe(ROOM_DELETED, (room) => this.deliverDeletion(room));
    this.changes.subscribe(ROOM_ADDED, ({ users, ...room }) => this.deliverAddition(room, users, 0));
    this.changes.subscribe(ROOM_READ, ({ user, last_read_seq, unread, ...room }) =>
      this.send(room, [user], ROOM_READ_EVENT, { room_id: room.room, last_read_seq, unread }),
    );
    this.changes.subscribe(TYPING, (typing) => this.logged(this.typing(typing)));
  }

  /** Follows the rooms of a client from the positions that its resume returned. */
  follow(tenant: string, positions: readonly RoomPosition[]): void {
    for (const { id, mod_seq: modSeq, last_seq: lastSeq } of positions) {
      const room = { tenant, room: id };
      const state = this.states.get(room);
      if (!state) this.states.add(room, modSeq, lastSeq);
      else if (state.known < modSeq) this.deliverChange(room, modSeq);
      else if (modSeq < state.start) this.deliverChange(room, modSeq + 1);
    }
  }

  /**
   * Delivers the changes of a room. One delivery of a room runs at a time; it also delivers the changes that are reported meanwhile.
   * @param modSeq number of a change
   */
  deliverChange(room: RoomKey, modSeq: number): void {
    const key = keyOf(room);
    if (!this.connections.hasTenant(room.tenant)) return this.states.delete(room);
    const state = this.states.get(room) ?? this.states.add(room, modSeq - 1);
    if (modSeq <= state.start) state.rewind = Math.min(state.rewind ?? modSeq, modSeq - 1);
    const pending = this.running.get(key);
    this.running.set(key, Math.max(pending ?? 0, modSeq, state.known));
    if (pending !== undefined) return;
    const failed = (error: unknown): never => {
      this.running.delete(key);
      throw error;
    };
    this.logged(this.repeated(() => this.deliver(state)).catch(failed));
  }

  /** Reports a room to its new members. @param modSeq number of the newest change that they can read */
  deliverAddition(room: RoomKey, users: readonly string[], modSeq: number): void {
    const here = users.filter((user) => this.connections.connectionsOf(room.tenant, user).size > 0);
    if (here.length === 0) return;
    if (!this.states.get(room)) this.states.add(room, modSeq);
    this.send(room, here, ROOM_ADDED_EVENT, { room_id: room.room });
  }

  deliverDeletion(room: RoomKey): void {
    this.logged(this.repeated(() => this.removeAll(room)));
  }

  private async deliver(state: RoomState): Promise<void> {
    const key = keyOf(state);
    const { tenant, room } = state;
    for (;;) {
      this.states.applyRewind(state);
      if (state.known >= (this.running.get(key) as number)) break;
      const members = await this.states.membersOf(state);
      const recent = this.changes.messageAt(state, state.known + 1);
      const found = recent ? [recent] : await this.repository.changes(tenant, room, state.known, BATCH);
      if (!found || found.length === 0) break;
      for (const text of found) this.deliverOne(state, members, JSON.parse(text) as ChatMessageResponse);
    }
    this.running.delete(key);
  }

  private deliverOne(state: RoomState, members: Set<string>, message: ChatMessageResponse): void {
    const { event, seq, mod_seq, room_id } = message;
    const users = event?.user_ids ?? [];
    if (event?.type === 'member_removed') {
      for (const user of users) members.delete(user);
      this.send(state, users, ROOM_REMOVED_EVENT, { room_id });
    }
    if (event?.type === 'members_added') {
      for (const user of users) members.add(user);
      this.send(state, users, ROOM_ADDED_EVENT, { room_id });
    }
    const payload = { room_id, mod_seq, prev_mod_seq: state.known, message };
    this.send(state, members, eventOf(message, state.lastSeq), payload);
    state.known = mod_seq;
    state.lastSeq = Math.max(state.lastSeq ?? 0, seq);
  }

  private async removeAll(room: RoomKey): Promise<void> {
    const delivered = this.states.get(room)?.members ?? [];
    this.states.delete(room);
    const members = await this.repository.members(room.tenant, room.room);
    this.send(room, new Set([...delivered, ...members]), ROOM_REMOVED_EVENT, { room_id: room.room });
  }

  /** Delivers the newest report of a user in a room. Reports that arrive during its delivery replace it, so that none overtakes another. */
  private async typing({ user, on, ...room }: ChatBusMessages[typeof TYPING]): Promise<void> {
    const key = `${user} ${keyOf(room)}`;
    const isRunning = this.typed.has(key);
    this.typed.set(key, on);
    if (isRunning) return;
    try {
      const members = await this.repository.members(room.tenant, room.room);
      const others = members.filter((id) => id !== user);
      const newest = this.typed.get(key) as boolean;
      Connection.sendVolatile(this.connections.ofUsers(room.tenant, others), TYPING_EVENT, {
        room_id: room.room,
        user_id: user,
        on: newest,
        expires_in: TYPING_SECONDS,
      });
    } finally {
      this.typed.delete(key);
    }
  }

  private send<Payload extends object>(
    { tenant }: RoomKey,
    users: Iterable<string>,
    event: ServerEvent<Payload>,
    payload: Payload,
  ): void {
    Connection.sendAll(this.connections.ofUsers(tenant, users), event, payload);
  }

  /** Retries a failed delivery, e.g. while the database restarts: there may be no later change that starts another one. */
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

/** @param lastSeq number of the newest message that was delivered; undefined: unknown */
function eventOf(message: ChatMessageResponse, lastSeq: number | undefined): ServerEvent<MessageEvent> {
  if (message.deleted_at !== null) return MESSAGE_DELETED;
  const isNew =
    lastSeq === undefined
      ? message.edited_at === null && message.reactions.length === 0
      : message.seq > lastSeq;
  return isNew ? MESSAGE_CREATED : MESSAGE_UPDATED;
}

/** Rooms of one statement. */
const ROOMS = 2_000;

/** Finds lost changes: compares the delivered rooms with their rows, and reads the members who joined since the last comparison. */
@Injectable()
export class RoomCatchUp implements OnModuleInit {
  constructor(
    private readonly catchUp: CatchUp,
    private readonly fanout: RoomFanout,
    private readonly states: RoomStates,
    private readonly repository: FanoutRepository,
    private readonly db: Db,
  ) {}

  onModuleInit(): void {
    this.catchUp.register('rooms', (seconds) => this.compare(seconds));
  }

  private async compare(seconds: number): Promise<void> {
    const heads = await this.db.ofCurrentCell(this.states.heads(), ({ tenant }) => tenant);
    for (let at = 0; at < heads.length; at += ROOMS) {
      for (const row of await this.repository.readBehind(heads.slice(at, at + ROOMS))) {
        const room = { tenant: row.tenant_id, room: row.room_id };
        if (row.mod_seq === null) this.fanout.deliverDeletion(room);
        else this.fanout.deliverChange(room, row.mod_seq);
      }
    }
    await this.addRecent(seconds);
  }

  /** Reports rooms to their new members, unless this process delivers the room already. */
  private async addRecent(seconds: number): Promise<void> {
    if (this.states.isIdle) return;
    const found = await this.repository.recentMembers(seconds);
    const rooms = Map.groupBy(found, ({ tenant_id, room_id }) => `${tenant_id} ${room_id}`);
    for (const members of rooms.values()) {
      const [{ tenant_id: tenant, room_id: room, mod_seq: modSeq }] = members as [(typeof members)[0]];
      if (this.states.get({ tenant, room })) continue;
      const users = members.map(({ user_id }) => user_id);
      this.fanout.deliverAddition({ tenant, room }, users, modSeq);
    }
  }
}
