import { TxHook } from '../../platform/events/tx-hooks.js';

export interface RoomAccessChange {
  tenantId: string;
  roomId: string;
  /** The user who makes the change. */
  userId: string;
  /** Members who lose access; null: the room is deleted. */
  removed: string[] | null;
}

/** Runs in the transaction that removes a member from a room, or that deletes the room. */
export const ROOM_ACCESS_CHANGING = new TxHook<RoomAccessChange>('chat.room_access_changing');

/** A guest in a room. The code that creates the object has checked the access of the guest. */
export interface RoomGuest {
  tenantId: string;
  /** Id of the guest, which sends messages and owns files. */
  guestId: string;
  roomId: string;
  /** Messages up to this number are older than the admission of the guest. */
  afterSeq: number;
}
