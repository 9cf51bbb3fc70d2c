import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../platform/context/request-context.js';
import { SyncCursors } from '../../platform/sync/sync-cursors.js';
import type { CalendarContext } from './model/event-record.js';
import { isAtLeast } from './model/event-policy.js';

/**
 * Sync tokens of calendars: signed by the platform for one user, one calendar, and whether the user sees details. A role that
 * changes between free_busy and others expires the token.
 */
@Injectable()
export class CalendarTokens {
  constructor(private readonly cursors: SyncCursors) {}

  /** @param seq all changes up to this number of the calendar are known */
  write(ctx: RequestContext, calendar: Pick<CalendarContext, 'id' | 'role'>, seq: number): string {
    return this.cursors.write(ctx, collectionOf(calendar), { mode: 'changes', seq, since: 0 });
  }

  /** Null: expired, or of another calendar or user. */
  read(ctx: RequestContext, calendar: CalendarContext, token: string): number | null {
    const seq = this.cursors.read(ctx, collectionOf(calendar), token)?.seq ?? null;
    return seq === null || seq < calendar.floor_seq || seq > calendar.change_seq ? null : seq;
  }
}

const collectionOf = ({ id, role }: Pick<CalendarContext, 'id' | 'role'>): string =>
  `calendar ${id} ${isAtLeast(role, 'reader') ? 'details' : 'times'}`;
