import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../platform/context/request-context.js';
import { SyncCursors } from '../../platform/sync/sync-cursors.js';
import type { CalendarContext } from './model/event-record.js';
import { isAtLeast } from './model/event-policy.js';

/** Level of detail at which a reader sees events. */
type Detail = 'details' | 'times';

/** The position of a client in the changes of a calendar. */
export interface CalendarPosition {
  /** The client knows all changes up to this number of the calendar. */
  seq: number;
  /** `change_seq` of the calendar when the client started without data: earlier removals do not concern the client. 0 means that all do. */
  since: number;
  detail: Detail;
}

/**
 * Sync tokens of calendars. The platform signs each token for one user, one calendar and one level of detail. The token expires
 * when the role changes from or to free_busy.
 */
@Injectable()
export class CalendarTokens {
  constructor(private readonly cursors: SyncCursors) {}

  /**
   * @param seq the client knows all changes up to this number of the calendar
   * @param since see `CalendarPosition`; without effect once `seq` reaches it
   */
  write(ctx: RequestContext, calendar: Pick<CalendarContext, 'id' | 'role'>, seq: number, since = 0): string {
    const collection = collectionOf(calendar.id, detailOf(calendar));
    return this.cursors.write(ctx, collection, { mode: 'changes', seq, since: since > seq ? since : 0 });
  }

  /** The position in a token. The calendar is not read. Null means an invalid token, or one of another calendar or user. */
  read(ctx: RequestContext, calendarId: string, token: string): CalendarPosition | null {
    for (const detail of ['details', 'times'] as const) {
      const position = this.cursors.read(ctx, collectionOf(calendarId, detail), token);
      if (position) return { seq: position.seq, since: position.since, detail };
    }
    return null;
  }

  /** Whether all changes after a position are still stored, and its level of detail is the one of the current role. */
  isValid(position: CalendarPosition | null, calendar: CalendarContext): position is CalendarPosition {
    if (position === null || position.detail !== detailOf(calendar)) return false;
    const { seq, since } = position;
    return Math.max(seq, since) >= calendar.floor_seq && Math.max(seq, since) <= calendar.change_seq;
  }
}

const detailOf = ({ role }: Pick<CalendarContext, 'role'>): Detail =>
  isAtLeast(role, 'reader') ? 'details' : 'times';

const collectionOf = (calendarId: string, detail: Detail): string => `calendar ${calendarId} ${detail}`;
