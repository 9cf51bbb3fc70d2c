import type { components, ServerEvents } from '../generated/events.js';

/** A chat message, as the service returns it. */
export type Message = components['schemas']['ChatMessageResponse'];

/** Messages of a room that changed, in the order of their changes. */
export interface RoomChanges {
  room_id: string;
  messages: Message[];
  /** The position after them: store it with the messages, and give it to `track` after a restart. */
  mod_seq: number;
}

/** What happens to an event of a message. */
export type Verdict = 'old' | 'next' | 'missing';

/** The newest `mod_seq` that the application has received, by room (docs/realtime.md, "Never miss a message"). */
export class Positions {
  private readonly rooms = new Map<string, number>();

  get ids(): string[] {
    return [...this.rooms.keys()];
  }

  /** @returns the positions of these rooms, except of those that are no longer tracked */
  of(roomIds: readonly string[]): Record<string, number> {
    return Object.fromEntries(roomIds.flatMap((id) => (this.has(id) ? [[id, this.rooms.get(id)!]] : [])));
  }

  has(roomId: string): boolean {
    return this.rooms.has(roomId);
  }

  at(roomId: string): number | undefined {
    return this.rooms.get(roomId);
  }

  track(roomId: string, modSeq: number): void {
    this.rooms.set(roomId, modSeq);
  }

  remove(roomId: string): void {
    this.rooms.delete(roomId);
  }

  /** @returns undefined for a room that is not tracked */
  judge({ room_id, mod_seq, prev_mod_seq }: ServerEvents['message.created']): Verdict | undefined {
    const known = this.rooms.get(room_id);
    if (known === undefined) return undefined;
    if (mod_seq <= known) return 'old';
    return prev_mod_seq <= known ? 'next' : 'missing';
  }

  /**
   * Moves a position forward. @returns the changes after the old position; undefined if there are none
   */
  advance({ room_id, messages, mod_seq }: RoomChanges): RoomChanges | undefined {
    const known = this.rooms.get(room_id);
    if (known === undefined || mod_seq <= known) return undefined;
    this.rooms.set(room_id, mod_seq);
    return { room_id, messages: messages.filter((message) => message.mod_seq > known), mod_seq };
  }
}
