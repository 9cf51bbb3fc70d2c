import type { WorkspaceClient } from '../client.js';
import { delay } from '../delay.js';
import { unwrap } from '../errors.js';
import type { components } from '../generated/events.js';
import type { Positions, RoomChanges } from './rooms.js';

/** Messages of a page; the maximum of the service. */
const PAGE = 200;

export interface PollListener {
  /** A collection has changed, as the event `changed` reports it. */
  changed(change: { collection: string; head: number }): void;
  messages(changes: RoomChanges): void;
  presence(presence: components['schemas']['PresenceResponse']): void;
  /** The user can no longer read a tracked room. */
  removed(roomId: string): void;
}

/** Reads over HTTP what a socket would deliver, while there is none: heads of collections, messages of tracked rooms, presence. */
export class Polling {
  private heads: Record<string, number> | undefined;
  private presence = new Map<string, string>();
  private running: AbortController | undefined;

  constructor(
    private readonly client: WorkspaceClient,
    private readonly positions: Positions,
    private readonly watched: ReadonlySet<string>,
    private readonly listener: PollListener,
    private readonly intervalMs: number,
  ) {}

  /** Polls until `stop`. */
  start(): void {
    if (this.running) return;
    this.running = new AbortController();
    void this.run(this.running.signal);
  }

  stop(): void {
    this.running?.abort();
    this.running = undefined;
  }

  /** Reads the heads, so that the first poll reports what changes from now on. */
  async readHeads(signal?: AbortSignal): Promise<void> {
    const { collections } = unwrap(await this.client.GET('/sync/state', { signal }));
    const known = this.heads;
    this.heads = collections;
    if (!known) return;
    for (const [collection, head] of Object.entries(collections))
      if (head > (known[collection] ?? 0)) this.listener.changed({ collection, head });
  }

  /** Stores a head that a socket has reported. */
  learn({ collection, head }: { collection: string; head: number }): void {
    if (this.heads) this.heads = { ...this.heads, [collection]: head };
  }

  private async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.poll(signal);
      } catch {
        // The next poll reads the same: positions and heads move with what was delivered.
      }
      // Aborted by `stop`.
      await delay(this.intervalMs, signal).catch(() => undefined);
    }
  }

  private async poll(signal: AbortSignal): Promise<void> {
    await this.readHeads(signal);
    for (const roomId of this.positions.ids) await this.readRoom(roomId, signal);
    if (this.watched.size > 0) await this.readPresence(signal);
  }

  /** Pages are read in the order of changes, so that a position never passes a message that was not delivered. */
  private async readRoom(roomId: string, signal: AbortSignal): Promise<void> {
    for (;;) {
      const position = this.positions.at(roomId);
      if (position === undefined) return;
      const params = { path: { id: roomId }, query: { after_mod_seq: position, limit: PAGE } };
      const result = await this.client.GET('/chat/rooms/{id}/messages', { params, signal });
      if (result.response.status === 404) return this.listener.removed(roomId);
      const { messages, has_more: hasMore } = unwrap(result);
      const last = messages.at(-1);
      if (last) this.listener.messages({ room_id: roomId, messages, mod_seq: last.mod_seq });
      if (!hasMore || !last) return;
    }
  }

  private async readPresence(signal: AbortSignal): Promise<void> {
    const query = { user_ids: [...this.watched].join(','), limit: PAGE };
    const { presence } = unwrap(await this.client.GET('/presence', { params: { query }, signal }));
    for (const one of presence) {
      const text = JSON.stringify(one);
      if (this.presence.get(one.user_id) === text) continue;
      this.presence.set(one.user_id, text);
      this.listener.presence(one);
    }
  }
}
