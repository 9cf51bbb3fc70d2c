/** Types of the domain's events in the outbox. */
export const CalendarEvents = {
  /** An event was created or changed. Payload: `ItemEvent`. */
  created: 'calendar.event.created',
  updated: 'calendar.event.updated',
  deleted: 'calendar.event.deleted',
  /** A message is due to a recipient outside the workspace. Payload: `MessageDue`. */
  messageDue: 'calendar.message.due',
  /** A reminder is due. Payload: `ReminderDue`. */
  reminderDue: 'calendar.reminder.due',
} as const;

export interface ItemEvent {
  event_id: string;
  revision: number;
  actor_id: string;
}

/**
 * One message of RFC 5546 to one address. (event, recurrence_key, sequence, dtstamp, method, recipient) identifies the
 * message. The row of the event still exists when the message is handled.
 */
export interface MessageDue extends ItemEvent {
  method: 'REQUEST' | 'CANCEL' | 'REPLY' | 'COUNTER' | 'DECLINECOUNTER';
  /** Empty: the whole event. */
  recurrence_key: string;
  sequence: number;
  dtstamp: string;
  /** Lower case. */
  recipient: string;
  comment: string;
  /** The proposal of COUNTER, and of DECLINECOUNTER for a stored proposal. */
  proposal_id: string | null;
  /** The recipient asks for a message that it may have received already. */
  repeat?: boolean;
}

/** One reminder of the owner of a placement. The row of the event may no longer exist when it is handled. */
export interface ReminderDue extends Record<string, unknown> {
  event_id: string;
  calendar_id: string;
  user_id: string;
  /** Null means a single event. */
  recurrence_key: string | null;
  /** Instants of the instance, RFC 3339. */
  start: string;
  end: string;
  /** The wall time at which the event, or the first instance of its series, starts. Another one: the event has moved. */
  event_starts: string;
  /** Minutes before the start. */
  minutes: number;
  methods: ('popup' | 'email')[];
  /**
   * Of an instance that takes days: the first one, and the one after the last; null for one with times. Reminders of earlier versions lack
   * these and the place.
   */
  first_day?: string | null;
  end_day?: string | null;
  location?: string;
}
