import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../platform/context/request-context.js';
import { SyncCursors } from '../../platform/sync/sync-cursors.js';
import type { CalendarContext } from './model/event-record.js';
import { isAtLeast } from './model/event-policy.js';

/** Level of detail at which a reader sees events. */
type Detail = 'details' | 'times';

/** The position of a client in the changes of a calendar. */
export interface CalendarPosition {
  /** All changes up to this number of the calendar are known. */
  seq: number;
  /** Number of the calendar when the client began with nothing: removals up to it do not concern the client. 0: all concern it. */
  since: number;
  detail: Detail;
}

/**
 * Sync tokens of calendars: signed by the platform for one user, one calendar, and whether the user sees details. A role that
 * changes between free_busy and others expires the token.
 */
@Injectable()
export class CalendarTokens {
  constructor(private readonly cursors: SyncCursors) {}

  /**
   * @param seq all changes up to this number of the calendar are known
   * @param since see `CalendarPosition`; without effect once `seq` reaches it
   */
  write(ctx: RequestContext, calendar: Pick<CalendarContext, 'id' | 'role'>, seq: number, since = 0): string {
    const collection = collectionOf(calendar.id, detailOf(calendar));
    return this.cursors.write(ctx, collection, { mode: 'changes', seq, since: since > seq ? since : 0 });
  }

  /** The position that a token contains, without a look at the calendar. Null: of another calendar or user, or invalid. */
  read(ctx: RequestContext, calendarId: string, token: string): CalendarPosition | null {
    for (const detail of ['details', 'times'] as const) {
      const position = this.cursors.read(ctx, collectionOf(calendarId, detail), token);
      if (position) return { seq: position.seq, since: position.since, detail };
    }
    return null;
  }

  /** Whether the changes after a position are still complete and of the kind that the role allows now. */
  isValid(position: CalendarPosition | null, calendar: CalendarContext): position is CalendarPosition {
    if (position === null || position.detail !== detailOf(calendar)) return false;
    const { seq, since } = position;
    return Math.max(seq, since) >= calendar.floor_seq && Math.max(seq, since) <= calendar.change_seq;
  }
}

const detailOf = ({ role }: Pick<CalendarContext, 'role'>): Detail =>
  isAtLeast(role, 'reader') ? 'details' : 'times';

const collectionOf = (calendarId: string, detail: Detail): string => `calendar ${calendarId} ${detail}`;
