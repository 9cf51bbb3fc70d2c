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
