import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { RequestContext, WorkspaceKey } from '../../platform/context/request-context.js';
import type { Tx } from '../../platform/database/tx.js';
import { Bus } from '../../platform/bus/bus.js';

export const ROOM_CHANGED = 'chat.room_changed';
export const ROOM_DELETED = 'chat.room_deleted';
export const ROOM_ADDED = 'chat.room_added';
export const ROOM_READ = 'chat.room_read';
export const TYPING = 'chat.typing';

/** Characters of the recent messages that are kept in memory, so that they are not read from the database. */
const MAX_RECENT_CHARACTERS = 4 * 1024 * 1024;
/** Characters of the longest message that the bus carries: at most 6,000 bytes with escapes. */
const MAX_CARRIED_CHARACTERS = 2_000;
/** User ids in one message of the bus. */
const USERS_PER_MESSAGE = 100;

export interface RoomKey {
  tenant: string;
  room: string;
}

/** The messages of the chat between processes, by topic. They contain ids; receivers read the rows. */
export interface ChatBusMessages {
  /** `message`: JSON of a short message with this number, which receivers need not read. */
  [ROOM_CHANGED]: RoomKey & { mod_seq: number; message?: string };
  [ROOM_DELETED]: RoomKey;
  [ROOM_ADDED]: RoomKey & { users: string[] };
  [ROOM_READ]: RoomKey & { user: string; last_read_seq: number; unread: number };
  [TYPING]: RoomKey & { user: string; on: boolean };
}

/** Reports changes of rooms to the sockets of all processes, after the commit. */
@Injectable()
export class ChatChanges {
  private readonly writers: ((room: RoomKey) => void)[] = [];
  private readonly recent = new LRUCache<string, string>({
    maxSize: MAX_RECENT_CHARACTERS,
    sizeCalculation: (text) => text.length,
  });

  constructor(private readonly bus: Bus) {}

  /**
   * Reports a change of messages of the room.
   * @param modSeq number of the newest change
   * @param message JSON of the message with this number
   */
  reportChange(
    tx: Tx,
    { tenantId: tenant }: WorkspaceKey,
    room: string,
    modSeq: number,
    message?: string | null,
  ): void {
    const key = { tenant, room };
    const isShort = message && message.length <= MAX_CARRIED_CHARACTERS;
    this.after(tx, ROOM_CHANGED, { ...key, mod_seq: modSeq, ...(isShort && { message }) });
    tx.afterCommit(() => {
      if (message) this.keep(key, modSeq, message);
      for (const listener of this.writers) listener(key);
    });
  }

  /** Keeps a message for its delivery. @param message JSON of the message with this number */
  keep(room: RoomKey, modSeq: number, message: string): void {
    this.recent.set(changeKey(room, modSeq), message);
  }

  /** JSON of a recent message with this number; undefined: read it from the database. */
  messageAt(room: RoomKey, modSeq: number): string | undefined {
    return this.recent.get(changeKey(room, modSeq));
  }

  /** @param listener called after this process has changed messages of a room */
  onWrite(listener: (room: RoomKey) => void): void {
    this.writers.push(listener);
  }

  reportDeletion(tx: Tx, { tenantId: tenant }: RequestContext, room: string): void {
    this.after(tx, ROOM_DELETED, { tenant, room });
  }

  /** Reports a new room to its members. */
  reportAddition(
    tx: Tx,
    { tenantId: tenant }: RequestContext,
    room: string,
    userIds: readonly string[],
  ): void {
    for (let at = 0; at < userIds.length; at += USERS_PER_MESSAGE)
      this.after(tx, ROOM_ADDED, { tenant, room, users: userIds.slice(at, at + USERS_PER_MESSAGE) });
  }

  /** Reports to the devices of the caller that the caller has read messages. */
  read(
    tx: Tx,
    { tenantId: tenant, userId: user }: RequestContext,
    room: string,
    position: { last_read_seq: number; unread: number },
  ): void {
    this.after(tx, ROOM_READ, { tenant, room, user, ...position });
  }

  reportTyping({ tenantId: tenant, userId: user }: RequestContext, room: string, on: boolean): void {
    this.publish(TYPING, { tenant, room, user, on });
  }

  subscribe<Topic extends keyof ChatBusMessages>(
    topic: Topic,
    handler: (message: ChatBusMessages[Topic]) => void,
  ): void {
    this.bus.subscribe(topic, (message) => handler(message as unknown as ChatBusMessages[Topic]));
  }

  private after<Topic extends keyof ChatBusMessages>(
    tx: Tx,
    topic: Topic,
    message: ChatBusMessages[Topic],
  ): void {
    tx.afterCommit(() => this.publish(topic, message));
  }

  private publish<Topic extends keyof ChatBusMessages>(topic: Topic, message: ChatBusMessages[Topic]): void {
    this.bus.publish(topic, { ...message });
  }
}

const changeKey = ({ tenant, room }: RoomKey, modSeq: number): string => `${tenant} ${room} ${modSeq}`;
