/**
 * A message that its user applies: a published event, an invitation to another address (of a mailing list, or forwarded), or one with an
 * unknown time zone is accepted.
 */
export interface ByHand {
  /** The zone of the calendar, for an unknown time zone. */
  timeZone: string;
}

/** A message as it arrived. */
export interface Arrival {
  tenantId: string;
  /** The member that receives it. */
  userId: string;
  /** The calendar for new events; null: the default calendar of the member. */
  calendarId: string | null;
  bytes: Buffer;
  /** The sender of the mail, lower case; null: uploaded. */
  from: string | null;
  /** False: a member names a mail of the own mailbox. Its sender is not verified, because members can store any mail there. */
  isProven: boolean;
  /** The method of the Content-Type of a mail. */
  method: string | null;
  /** False: the receiving server could not verify the domain of the sender. Null: it reports nothing, or the user decides. */
  isAuthentic: boolean | null;
  /** The user asks to apply the message. */
  byHand?: ByHand | undefined;
  /** Equal for repeated deliveries of one message. */
  dedupeKey: string;
}
