import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { growingTo } from '../../../platform/memory/cache-size.js';
import { UserConnections } from '../../../platform/realtime/user-connections.js';
import type { RoomKey } from '../chat-changes.js';
import type { ChatMessageResponse } from '../message.response.js';
import { FanoutRepository, type RoomHead } from './fanout.repository.js';

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
  /** Members as of `known`. Changes of members are messages, so later ones are read with the messages. Undefined: not loaded. */
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
