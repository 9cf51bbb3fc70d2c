/** A guest in a room. The code that creates the object has checked the access of the guest. */
export interface RoomGuest {
  tenantId: string;
  /** Id of the guest, which sends messages and owns files. */
  guestId: string;
  roomId: string;
  /** Messages up to this number are older than the admission of the guest. */
  afterSeq: number;
}
