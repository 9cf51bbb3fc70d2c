import type { WorkspaceClient } from '../client.js';
import { delay } from '../delay.js';
import type { ClientEvents, ServerEvents } from '../generated/events.js';
import { Connection } from './connection.js';
import { Emitter } from './emitter.js';
import { Polling } from './polling.js';
import { Positions, type RoomChanges } from './rooms.js';
import { SocketError, UNACKNOWLEDGED } from './socket-error.js';

/** Rooms of one `session.resume`: an event has at most 64 KiB and 2,000 values. */
const ROOMS_AT_ONCE = 500;

/** The state of the connection. `polling`: there is no socket, and changes are read over HTTP. */
export type SocketState = 'closed' | 'connecting' | 'connected' | 'polling';

/** The events of the server, and those that this library derives from them. */
export type SocketEvents = ServerEvents & {
  /** Changed messages of a tracked room: each change once, in order, without gaps, by socket or by polling. */
  messages: RoomChanges;
  /** `polling`: there is no socket, and the same is read over HTTP, later and without typing and calls. */
  state: SocketState;
};

/** When and how often a client without a socket polls. */
export interface SocketOptions {
  /** Milliseconds without a socket after which polling begins. */
  pollAfterMs?: number;
  /** Milliseconds between two polls. */
  pollEveryMs?: number;
}

/** One socket of a user, which always reconnects and resumes (docs/realtime.md). */
export class WorkspaceSocket {
  private readonly emitter = new Emitter<SocketEvents>();
  private readonly connection: Connection;
  private readonly polling: Polling;
  private readonly positions = new Positions();
  /** Rooms of the user that are not tracked, which `room.added` has reported. */
  private readonly others = new Set<string>();
  private readonly watched = new Set<string>();
  private readonly openRooms = new Set<string>();
  private readonly pollAfterMs: number;
  private resuming: Promise<void> = Promise.resolve();
  private isResumeQueued = false;
  private current: SocketState = 'closed';
  private pollTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(client: WorkspaceClient, { pollAfterMs = 5_000, pollEveryMs = 15_000 }: SocketOptions = {}) {
    this.pollAfterMs = pollAfterMs;
    this.connection = new Connection(client, {
      received: (name, payload) => this.received(name, payload),
      connected: () => this.connected(),
      disconnected: () => this.disconnected(),
    });
    const listener = {
      changed: (change: ServerEvents['changed']) => this.emitter.emit('changed', change),
      messages: (changes: RoomChanges) => this.deliver(changes),
      presence: (presence: ServerEvents['presence']) => this.emitter.emit('presence', presence),
      removed: (roomId: string) => this.removed(roomId, true),
    };
    this.polling = new Polling(client, this.positions, this.watched, listener, pollEveryMs);
  }

  get state(): SocketState {
    return this.current;
  }

  /** @returns a function that removes the listener */
  on<Name extends keyof SocketEvents>(
    name: Name,
    listener: (payload: SocketEvents[Name]) => void,
  ): () => void {
    return this.emitter.on(name, listener);
  }

  /** Connects, and reconnects after each failure until `close`. */
  open(): void {
    if (this.current !== 'closed') return;
    this.enter('connecting');
    this.pollLater();
    this.connection.open();
  }

  /** Ends the connection and polling. Tracked rooms stay for the next `open`. */
  close(): void {
    this.enter('closed');
    clearTimeout(this.pollTimer);
    this.polling.stop();
    this.connection.close();
  }

  /** Connects now instead of after the wait of the last failure, such as when the platform reports a network. */
  retryNow(): void {
    this.connection.retryNow();
  }

  /**
   * Sends an event.
   * @throws SocketError if the server rejects it; with code `disconnected` if there is no connection, or if it is lost before the
   *   acknowledgement; with code `timeout` if there is none in time. Then send a message again with the same `client_msg_id`
   */
  request<Name extends keyof ClientEvents>(
    name: Name,
    payload: ClientEvents[Name]['request'],
  ): Promise<ClientEvents[Name]['response']> {
    return this.connection.request(name, payload);
  }

  /**
   * Delivers the changes of a room after a position as `messages`, from now on.
   * @param modSeq the stored position; 0: the whole room; `mod_seq` of the room: only what changes from now on
   */
  track(roomId: string, modSeq: number): void {
    this.positions.track(roomId, modSeq);
    this.others.delete(roomId);
    if (this.current === 'connected') this.resume();
  }

  /** Ends `track`. */
  untrack(roomId: string): void {
    this.positions.remove(roomId);
  }

  /** Receives the presence of these users as `presence`, instead of those of before. At most 200. */
  watchPresence(userIds: readonly string[]): void {
    this.watched.clear();
    for (const id of userIds) this.watched.add(id);
    if (this.current === 'connected') void patiently(() => this.subscribe());
  }

  /** Reports that this device shows the room, also after a reconnect. */
  openRoom(roomId: string): void {
    this.openRooms.add(roomId);
    if (this.current === 'connected') void patiently(() => this.request('room.open', { room_id: roomId }));
  }

  /** Reports that this device shows the room no longer. */
  closeRoom(roomId: string): void {
    this.openRooms.delete(roomId);
    if (this.current === 'connected') void patiently(() => this.request('room.close', { room_id: roomId }));
  }

  private connected(): void {
    clearTimeout(this.pollTimer);
    this.polling.stop();
    this.enter('connected');
    this.restore();
    for (const room_id of this.openRooms) void patiently(() => this.request('room.open', { room_id }));
  }

  /** What events may have missed. */
  private restore(): void {
    this.resume();
    if (this.watched.size > 0) void patiently(() => this.subscribe());
    void patiently(() => this.polling.readHeads());
  }

  private disconnected(): void {
    // Further attempts that fail do not delay the first poll.
    if (this.current !== 'connected') return;
    this.enter('connecting');
    this.pollLater();
  }

  private pollLater(): void {
    clearTimeout(this.pollTimer);
    this.pollTimer = setTimeout(() => {
      this.enter('polling');
      this.polling.start();
    }, this.pollAfterMs);
  }

  private received(name: string, payload: unknown): void {
    if (name === 'resync') this.restore();
    if (name === 'changed') this.polling.learn(payload as ServerEvents['changed']);
    if (name === 'room.removed') this.removed((payload as ServerEvents['room.removed']).room_id);
    if (/^message\.(?:created|updated|deleted)$/.test(name))
      this.apply(payload as ServerEvents['message.created']);
    if (name === 'room.added') this.joined((payload as ServerEvents['room.added']).room_id);
    this.emitter.emit(name as keyof ServerEvents, payload as never);
  }

  private apply(event: ServerEvents['message.created']): void {
    const verdict = this.positions.judge(event);
    if (verdict === 'next')
      this.deliver({ room_id: event.room_id, messages: [event.message], mod_seq: event.mod_seq });
    if (verdict === 'missing') this.resume();
  }

  private deliver(changes: RoomChanges): void {
    const news = this.positions.advance(changes);
    if (news) this.emitter.emit('messages', news);
  }

  /** One resume runs at a time, and at most one waits: each begins with the positions at its start. */
  private resume(): void {
    if (this.isResumeQueued) return;
    this.isResumeQueued = true;
    this.resuming = this.resuming.then(() => {
      this.isResumeQueued = false;
      return patiently(() => this.readMissing());
    });
  }

  private async readMissing(): Promise<void> {
    const { ids } = this.positions;
    // Without rooms, too: the response names those that are not tracked.
    for (let from = 0; from === 0 || from < ids.length; from += ROOMS_AT_ONCE)
      await this.readMissingOf(ids.slice(from, from + ROOMS_AT_ONCE));
  }

  private async readMissingOf(roomIds: readonly string[]): Promise<void> {
    for (let isMore = true; isMore;) {
      const positions = this.positions.of(roomIds);
      const { rooms, added, removed } = await this.request('session.resume', { rooms: positions });
      for (const id of removed) this.removed(id, true);
      for (const id of added) this.added(id);
      const changed = Object.entries(rooms);
      for (const [room_id, { messages, mod_seq }] of changed) this.deliver({ room_id, messages, mod_seq });
      isMore = changed.some(([, room]) => room.more);
    }
  }

  /** The event itself reports a room that is not tracked. */
  private joined(roomId: string): void {
    if (this.positions.has(roomId)) this.resume();
    else this.others.add(roomId);
  }

  private added(roomId: string): void {
    if (this.positions.has(roomId) || this.others.has(roomId)) return;
    this.others.add(roomId);
    this.emitter.emit('room.added', { room_id: roomId });
  }

  private removed(roomId: string, isReported = false): void {
    this.positions.remove(roomId);
    this.others.delete(roomId);
    this.openRooms.delete(roomId);
    if (isReported) this.emitter.emit('room.removed', { room_id: roomId });
  }

  private async subscribe(): Promise<void> {
    const { presence } = await this.request('presence.subscribe', { user_ids: [...this.watched] });
    for (const one of presence) this.emitter.emit('presence', one);
  }

  private enter(state: SocketState): void {
    if (this.current === state) return;
    this.current = state;
    this.emitter.emit('state', state);
  }
}

/** Repeats what the limit of events rejects, or nobody acknowledges. A lost connection ends it: the next `hello` begins again. */
async function patiently(work: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      return void (await work());
    } catch (error) {
      if (!(error instanceof SocketError)) return;
      const seconds = error.code === UNACKNOWLEDGED ? 0 : error.retryAfter;
      if (seconds === undefined) return;
      await delay(seconds * 1_000);
    }
  }
}
