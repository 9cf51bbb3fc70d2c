import { Body, Controller, Injectable, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Ctx, type RequestContext } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import { fieldError } from '../../platform/http/errors.js';
import { Id } from '../../platform/http/id.pipe.js';
import { type Checked, CheckedBody } from '../../platform/http/input.pipe.js';
import { Cursors } from '../../platform/paging/cursors.js';
import { INVALID_TRANSITION, type RequestedState, transition } from './inbox/lifecycle.js';
import { NotificationHousekeeping } from './inbox/notification-housekeeping.js';
import { NotificationRelevance } from './inbox/notification-relevance.js';
import { NotificationSockets } from './notification-sockets.js';
import { NotificationPresenter } from './notification.presenter.js';
import {
  AllReadEnvelope,
  ListNotifications,
  MarkNotificationsRead,
  MoveSnooze,
  NotificationEnvelope,
  NotificationErrors,
  NotificationListEnvelope,
  ReadAll,
  SetLifecycle,
} from './notifications.dto.js';
import {
  type ListedNotification,
  type NotificationFilter,
  type NotificationRow,
  NotificationsRepository,
} from './notifications.repository.js';

const MAX_SNOOZE_DAYS = 90;
const DAY_MS = 86_400_000;

/** The notifications of the caller. */
@Injectable()
export class NotificationsService {
  constructor(
    private readonly rows: NotificationsRepository,
    private readonly presenter: NotificationPresenter,
    private readonly relevance: NotificationRelevance,
    private readonly sockets: NotificationSockets,
    private readonly housekeeping: NotificationHousekeeping,
    private readonly cursors: Cursors,
    private readonly db: Db,
  ) {}

  async list(ctx: RequestContext, query: ListNotifications): Promise<NotificationListEnvelope> {
    const states = query.unread === true ? (['unread'] as const) : (query.state ?? ['unread', 'read']);
    const types = patternsOf(query.type);
    await this.housekeeping.wakeOwn(ctx);
    await this.sockets.examine(ctx);
    const { rows, next } = await this.cursors.page(query, {
      scope: `notifications ${ctx.tenantId} ${ctx.userId} ${[...states].toSorted().join()} ${(types ?? []).toSorted().join()}`,
      key: (row: ListedNotification): [number] => [row.seq],
      fits: (row) => row.fits,
      rows: (after, limit) => this.page(ctx, { states, types, beforeSeq: after?.[0] ?? null }, limit),
    });
    const notifications = await this.presenter.present(this.db, ctx, rows);
    return { notifications, next, ...(await this.rows.counts(this.db, ctx)) };
  }

  async readAll(ctx: RequestContext, { before, type }: ReadAll): Promise<AllReadEnvelope> {
    await this.housekeeping.wakeOwn(ctx);
    await this.sockets.examine(ctx);
    return this.db.tx(async (tx) => {
      const updated = await this.rows.readAll(tx, ctx, {
        types: patternsOf(type === undefined ? undefined : [type]),
        seq: typeof before === 'number' ? before : null,
        time: before instanceof Date ? before : null,
      });
      const counts = await this.rows.counts(tx, ctx);
      if (updated > 0) this.sockets.countsChanged(tx, ctx);
      return { updated, ...counts };
    });
  }

  /** @throws ApiError 404, 409 `invalid_transition`, 422 */
  async mark(
    ctx: RequestContext,
    id: string,
    body: Checked<MarkNotificationsRead>,
  ): Promise<NotificationEnvelope> {
    return this.change(ctx, id, () => ({ state: body.value.read === false ? 'unread' : 'read' }));
  }

  /** @throws ApiError 404, 409 `invalid_transition`, 422 */
  async setLifecycle(
    ctx: RequestContext,
    id: string,
    body: Checked<SetLifecycle>,
  ): Promise<NotificationEnvelope> {
    return this.change(ctx, id, () => {
      const { state, snooze_until } = body.value;
      if (state !== 'snoozed' && snooze_until !== undefined)
        throw fieldError('snooze_until', 'is_absent', 'snooze_until is for the state snoozed');
      return state === 'snoozed' ? { state, snoozeUntil: snoozeEnd(snooze_until) } : { state };
    });
  }

  /** @throws ApiError 404, 409 `invalid_transition` unless it is snoozed, 422 */
  async moveSnooze(
    ctx: RequestContext,
    id: string,
    body: Checked<MoveSnooze>,
  ): Promise<NotificationEnvelope> {
    return this.change(ctx, id, (row) => {
      const snoozeUntil = snoozeEnd(body.value.snooze_until);
      if (row.state !== 'snoozed') throw NotificationErrors.invalidTransition.with();
      return { state: 'snoozed', snoozeUntil };
    });
  }

  /** A page without notifications that are no longer of use. */
  private async page(
    ctx: RequestContext,
    filter: NotificationFilter,
    limit: number,
  ): Promise<ListedNotification[]> {
    for (;;) {
      const rows = await this.rows.page(ctx, filter, limit);
      const changed = await this.relevance.examine(
        ctx,
        rows.filter(({ fits, state }) => fits && state !== 'unread'),
      );
      if (changed.length === 0) return rows;
      this.sockets.reportWithdrawal(ctx, changed);
    }
  }

  /** @param request reads the body, whose errors come after 404 */
  private async change(
    ctx: RequestContext,
    id: string,
    request: (row: NotificationRow) => { state: RequestedState; snoozeUntil?: Date },
  ): Promise<NotificationEnvelope> {
    await this.housekeeping.wakeOwn(ctx);
    const row = await this.db.tx(async (tx) => {
      const before = await this.rows.lock(tx, ctx, id);
      if (!before) throw NotificationErrors.notFound.with();
      const { state, snoozeUntil } = request(before);
      const after = transition(before, state, new Date(), snoozeUntil);
      if (after === INVALID_TRANSITION) throw NotificationErrors.invalidTransition.with();
      if (after === before) return before;
      this.sockets.stateChanged(tx, ctx, id);
      return this.rows.write(tx, ctx, id, after);
    });
    await this.sockets.examine(ctx);
    const [notification] = await this.presenter.present(this.db, ctx, [row]);
    return { notification: notification!, ...(await this.rows.counts(this.db, ctx)) };
  }
}

/** @throws ApiError 422 */
function snoozeEnd(until: Date | undefined): Date {
  const ahead = (until?.getTime() ?? 0) - Date.now();
  if (until === undefined || ahead <= 0 || ahead > MAX_SNOOZE_DAYS * DAY_MS)
    throw fieldError('snooze_until', 'out_of_range', 'snooze_until must be within the next 90 days');
  return until;
}

/** Patterns of LIKE for types and kinds. */
const patternsOf = (types: readonly string[] | undefined): string[] | null =>
  types?.map((type) => type.replaceAll('_', '\\_').replace('*', '%')) ?? null;

@ApiTags('notifications')
@Controller('notifications')
export class NotificationsController {
  constructor(private readonly notifications: NotificationsService) {}

  @Endpoint('GET', {
    id: 'listNotifications',
    summary: 'List your notifications',
    description:
      'The newest first. Titles follow your current rights: a notification about an object that you can no longer read contains neither its title nor its path. The preferences of `PUT /settings/notifications` apply when a notification is created.',
    response: [NotificationListEnvelope, 'A page of notifications.'],
  })
  list(@Ctx() ctx: RequestContext, @Query() query: ListNotifications): Promise<NotificationListEnvelope> {
    return this.notifications.list(ctx, query);
  }

  @Endpoint('PUT read_all', {
    id: 'readAllNotifications',
    summary: 'Mark all notifications as read',
    description:
      'With `before`, later notifications stay unread, so that a notification that has just arrived is not marked before you have seen it.',
    response: [AllReadEnvelope, 'The number of notifications that were unread.'],
    example: { before: 42 },
    optionalBody: true,
  })
  readAll(@Ctx() ctx: RequestContext, @Body() body: ReadAll): Promise<AllReadEnvelope> {
    return this.notifications.readAll(ctx, body);
  }

  @Endpoint('PUT :id/read', {
    id: 'markNotification',
    summary: 'Mark a notification as read or unread',
    description: 'Without a body: as read. A repeated request changes nothing.',
    response: [NotificationEnvelope, 'The notification.'],
    errors: [NotificationErrors.notFound, NotificationErrors.invalidTransition],
    optionalBody: true,
  })
  mark(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @CheckedBody(MarkNotificationsRead) body: Checked<MarkNotificationsRead>,
  ): Promise<NotificationEnvelope> {
    return this.notifications.mark(ctx, id, body);
  }

  @Endpoint('PUT :id/lifecycle', {
    id: 'setNotificationLifecycle',
    summary: 'Change the state of a notification',
    description:
      '`unread` and `read` change into each other and into `snoozed`, which returns as `unread`. Every state changes into `archived`, which returns to the state before, and into `dismissed`, which is final: the notification leaves all lists. `seen` keeps the state. A repeated request changes nothing.',
    response: [NotificationEnvelope, 'The notification.'],
    errors: [NotificationErrors.notFound, NotificationErrors.invalidTransition],
  })
  setLifecycle(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @CheckedBody(SetLifecycle) body: Checked<SetLifecycle>,
  ): Promise<NotificationEnvelope> {
    return this.notifications.setLifecycle(ctx, id, body);
  }

  @Endpoint('PATCH :id/lifecycle', {
    id: 'moveNotificationSnooze',
    summary: 'Change the end of a snooze',
    description: 'Only for a snoozed notification. At the new time it returns as `unread`.',
    response: [NotificationEnvelope, 'The notification.'],
    errors: [NotificationErrors.notFound, NotificationErrors.invalidTransition],
  })
  moveSnooze(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @CheckedBody(MoveSnooze) body: Checked<MoveSnooze>,
  ): Promise<NotificationEnvelope> {
    return this.notifications.moveSnooze(ctx, id, body);
  }
}
