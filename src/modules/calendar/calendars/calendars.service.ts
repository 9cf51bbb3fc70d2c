import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { Audit } from '../../../platform/audit/audit.js';
import type { ExpectedRevision } from '../../../platform/concurrency/expected-revision.js';
import { type IdempotencyKey, IdempotentWrites } from '../../../platform/concurrency/idempotency.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import type { Reader, Tx } from '../../../platform/database/tx.js';
import { Outbox } from '../../../platform/events/outbox.js';
import { Errors, fieldError } from '../../../platform/http/errors.js';
import { type Checked } from '../../../platform/http/input.pipe.js';
import { Cursors } from '../../../platform/paging/cursors.js';
import type { ColumnValues } from '../../../platform/database/rows.js';
import { QUOTAS } from '../../../platform/quotas/quotas.js';
import { hasName } from '../../../platform/resources/named-principals.js';
import type { ReplyOf } from '../../../platform/resources/resource.js';
import type { Calendar } from '../calendar.schema.js';
import { CalendarErrors, CALENDARS } from '../calendar.errors.js';
import type { CalendarResponse } from '../responses/event.response.js';
import { CalendarTokens } from '../calendar-tokens.js';
import { zoneNamed } from '../model/event-times.js';
import { EventOperations } from '../changes/event-operations.js';
import { DuplicateUidError } from '../changes/event-writer.js';
import { EventsRepository } from '../events.repository.js';
import type {
  CreateCalendar,
  DeleteCalendar,
  ListCalendars,
  ShareFields,
  UpdateCalendar,
} from './calendars.dto.js';
import {
  type CalendarRow,
  CalendarsRepository,
  type Grantee,
  type ListedCalendar,
} from './calendars.repository.js';

const DEFAULTS = {
  description: '',
  color: '#2f80ed',
  is_default: false,
  affects_free_busy: true,
  default_reminders: [{ method: 'popup' as const, minutes: 10 }],
};

/** Calendars, their sharing, and how each user sees them. */
@Injectable()
export class CalendarsService {
  constructor(
    private readonly calendars: CalendarsRepository,
    private readonly events: EventsRepository,
    private readonly operations: EventOperations,
    private readonly tokens: CalendarTokens,
    private readonly writes: IdempotentWrites,
    private readonly cursors: Cursors,
    private readonly audit: Audit,
    private readonly outbox: Outbox,
    private readonly db: Db,
  ) {}

  /** Own and shared calendars. The first request of a user creates the default calendar. */
  async list(ctx: RequestContext, query: ListCalendars): Promise<ReplyOf<typeof CALENDARS, 'list'>> {
    if (query.cursor === undefined && !(await this.calendars.hasDefault(this.db, ctx)))
      await this.db.single((tx) => this.events.defaultCalendars(tx, ctx.tenantId, [ctx.userId]));
    const withHidden = query.include?.includes('hidden') ?? false;
    const { rows, next } = await this.cursors.page(query, {
      scope: `calendars ${ctx.tenantId} ${ctx.userId} ${withHidden}`,
      key: (row: ListedCalendar): [number, string] => [row.rank, row.id],
      fits: (row) => row.fits,
      rows: (after, limit) => this.calendars.list(this.db, ctx, withHidden, after, limit),
    });
    return CALENDARS.page(
      rows.map((row) => this.presentCalendars(ctx, row)),
      next,
    );
  }

  /** @throws ApiError 409 `already_exists`; 422 `too_many_calendars`, `unknown_grantee` */
  async create(
    ctx: RequestContext,
    key: IdempotencyKey | null,
    input: CreateCalendar,
  ): Promise<ReplyOf<typeof CALENDARS, 'item'>> {
    const { tenantId, userId } = ctx;
    const id = input.id?.toLowerCase() ?? uuidv7();
    const shares = await this.grantees(ctx, input.shares ?? [], userId);
    return this.writes.runTx(ctx, key, async (tx) => {
      const defaults = await this.events.defaultCalendars(tx, tenantId, [userId]);
      if ((await this.calendars.count(tx, ctx)) >= QUOTAS.user.calendars)
        throw CalendarErrors.tooManyCalendars.with();
      const time_zone =
        input.time_zone ?? (await this.found(tx, ctx, defaults.get(userId) as string)).time_zone;
      if (input.is_default) await this.calendars.clearDefault(tx, tenantId, userId);
      const now = () => 'clock_timestamp()';
      const made = await this.calendars.insert(tx, {
        ...DEFAULTS,
        ...columnsOf({ ...input, time_zone }),
        tenant_id: tenantId,
        id,
        owner_id: userId,
        revision: 1,
        created_at: now,
        updated_at: now,
      });
      if (!made) throw CalendarErrors.calendarExists.with();
      if (shares.length > 0) await this.share(tx, ctx, id, shares);
      return CALENDARS.created(id, this.presentCalendars(ctx, await this.found(tx, ctx, id)));
    });
  }

  /** The role owner changes the calendar; every user changes their own color, order and hidden. */
  async update(
    ctx: RequestContext,
    id: string,
    body: Checked<UpdateCalendar>,
    expected: ExpectedRevision,
  ): Promise<ReplyOf<typeof CALENDARS, 'item'>> {
    return this.db.tx(async (tx) => {
      await this.found(tx, ctx, id);
      await this.calendars.lock(tx, ctx, id, !body.error && body.value.is_default === true);
      const before = await this.found(tx, ctx, id);
      const isOwner = before.kind === 'own';
      await CALENDARS.checkWrite(before, expected, body, () => this.presentCalendars(ctx, before));
      const { color, hidden, order, base_revision: _revision, ...shared } = body.value;
      const common = { ...shared, ...(isOwner && color && { color }) };
      if (Object.values(common).some((value) => value !== undefined)) {
        if (before.role !== 'owner' || (common.is_default && !isOwner)) throw Errors.forbidden.with();
        await this.change(tx, ctx, before, common);
      }
      await this.calendars.prefer(tx, {
        tenant_id: ctx.tenantId,
        user_id: ctx.userId,
        calendar_id: id,
        color: isOwner || color === undefined ? before.own_color : (color?.toLowerCase() ?? null),
        hidden: hidden ?? before.hidden,
        position: order === undefined ? before.order : order,
      });
      return CALENDARS.response(this.presentCalendars(ctx, await this.found(tx, ctx, id)));
    });
  }

  /** Only the owner may delete a calendar. @throws ApiError 404, 403, 409 `default_calendar`, `conflict`, `duplicate_uid`, 422 */
  async delete(
    ctx: RequestContext,
    id: string,
    expected: ExpectedRevision,
    { move_events_to }: DeleteCalendar,
  ): Promise<ReplyOf<typeof CALENDARS, 'deleted'>> {
    return this.db.tx(async (tx) => {
      if ((await this.found(tx, ctx, id)).kind !== 'own') throw Errors.forbidden.with();
      const target = move_events_to?.toLowerCase() ?? null;
      await this.calendars.lockAll(tx, ctx, id, target);
      const calendar = await this.found(tx, ctx, id);
      const shown = this.presentCalendars(ctx, calendar);
      await CALENDARS.checkWrite(calendar, expected, null, () => shown);
      if (calendar.is_default) throw CalendarErrors.defaultCalendar.with();
      const receiver = target === null ? null : await this.calendars.find(tx, ctx, target);
      if (target !== null && (receiver?.kind !== 'own' || target === id))
        throw fieldError('move_events_to', 'unknown_calendar', 'must be another calendar of yours');
      const twin = target === null ? null : await this.calendars.findTwin(tx, ctx.tenantId, id, target);
      if (twin !== null && receiver)
        throw await this.operations.duplicate(tx, ctx, receiver.id, new DuplicateUidError(twin));
      this.outbox.notice(tx);
      await this.calendars.delete(tx, ctx, id, target);
      await this.audit.record(tx, ctx, {
        action: 'calendar.calendar.deleted',
        objectKind: 'calendar',
        objectId: id,
        data: { name: calendar.name },
      });
      return CALENDARS.deleted(shown);
    });
  }

  private async change(
    tx: Tx,
    ctx: RequestContext,
    before: CalendarRow,
    input: Partial<CreateCalendar>,
  ): Promise<void> {
    const { tenantId } = ctx;
    if (input.is_default) await this.calendars.clearDefault(tx, tenantId, before.owner.id);
    // A role decides what its user sees of each event: devices that follow the head of the calendar read it again.
    const grown = input.shares && { change_seq: () => 'change_seq + 1' };
    await this.calendars.update(tx, tenantId, before.id, { ...columnsOf(input), ...grown });
    if (input.default_reminders || input.time_zone)
      await this.calendars.rescheduleReminders(tx, tenantId, before.id);
    if (input.shares)
      await this.share(
        tx,
        ctx,
        before.id,
        await this.grantees(ctx, input.shares, before.owner.id, before.shares, tx),
      );
  }

  private async share(tx: Tx, ctx: RequestContext, id: string, shares: Grantee[]): Promise<void> {
    await this.calendars.replaceShares(tx, ctx.tenantId, id, shares);
    const data = {
      shares: shares.map(({ grantee_kind, grantee_id, role }) => `${grantee_kind} ${grantee_id} ${role}`),
    };
    await this.audit.record(tx, ctx, {
      action: 'calendar.shares.changed',
      objectKind: 'calendar',
      objectId: id,
      data,
    });
  }

  /**
   * @param present current shares of the calendar. A request may repeat shares with former members and deleted groups
   * @throws ApiError 422 `unknown_grantee`
   */
  private async grantees(
    ctx: RequestContext,
    shares: readonly ShareFields[],
    ownerId: string,
    present: CalendarRow['shares'] = [],
    reader: Reader = this.db,
  ): Promise<Grantee[]> {
    const wanted = new Map<string, Grantee>();
    for (const { user_id, group_id, role } of shares) {
      const granteeKind = user_id ? 'user' : 'group';
      const granteeId = ((user_id ?? group_id) as string).toLowerCase();
      if (granteeId !== ownerId)
        wanted.set(granteeId, { grantee_kind: granteeKind, grantee_id: granteeId, role });
    }
    const named = Map.groupBy(wanted.values(), ({ grantee_kind }) => grantee_kind);
    const ids = (kind: 'user' | 'group') => (named.get(kind) ?? []).map(({ grantee_id }) => grantee_id);
    const known = await this.calendars.knownGrantees(reader, ctx.tenantId, ids('user'), ids('group'));
    for (const { user_id, group_id } of present) known.add((user_id ?? group_id) as string);
    const unknown = [...wanted.keys()].filter((granteeId) => !known.has(granteeId));
    if (unknown.length > 0)
      throw CalendarErrors.unknownGrantee.with({
        details: unknown.map((granteeId) => ({
          field: 'shares',
          code: 'unknown_grantee',
          message: `${granteeId} is no active member and no group of this workspace`,
        })),
      });
    return [...wanted.values()];
  }

  private async found(reader: Reader, ctx: RequestContext, id: string): Promise<CalendarRow> {
    const found = await this.calendars.find(reader, ctx, id);
    if (!found) throw CALENDARS.notFound.with();
    return found;
  }

  private presentCalendars(
    ctx: RequestContext,
    {
      own_color: _ownColor,
      rank: _rank,
      fits: _fits,
      change_seq,
      shares,
      ...shown
    }: CalendarRow & { fits?: boolean },
  ): CalendarResponse {
    return {
      ...shown,
      shares: shares.filter(hasName),
      sync_token: this.tokens.write(ctx, shown, change_seq),
    };
  }
}

/** The columns that fields of a request set. */
function columnsOf(input: Partial<CreateCalendar>): ColumnValues<Calendar> {
  const values = {
    name: input.name,
    description: input.description,
    color: input.color?.toLowerCase(),
    time_zone: input.time_zone === undefined ? undefined : (zoneNamed(input.time_zone) ?? 'UTC'),
    is_default: input.is_default || undefined,
    affects_free_busy: input.affects_free_busy,
    default_reminders: input.default_reminders?.map((reminder) => ({ ...reminder })),
  };
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
