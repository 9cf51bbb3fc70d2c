import { Controller } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Idempotency, type IdempotencyKey } from '../../../platform/concurrency/idempotency.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { BodyLimit } from '../../../platform/http/body/body-limits.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { type Checked, CheckedBody } from '../../../platform/http/input.pipe.js';
import { CURSOR_EXPIRED } from '../../../platform/sync/sync.errors.js';
import { CALENDARS } from '../calendar.errors.js';
import { SyncCalendar } from './calendar-sync.dto.js';
import { SyncCalendarEnvelope } from './calendar-sync.response.js';
import { CalendarSyncService } from './calendar-sync.service.js';

const SYNC_BODY_BYTES = 8 * 1024 * 1024;
/** 500 changes, each with 100 values on average. */
const SYNC_VALUES = 50_000;

@ApiTags('calendar')
@Controller('calendar/:calendar_id/sync')
export class CalendarSyncController {
  constructor(private readonly calendars: CalendarSyncService) {}

  @Endpoint('POST', {
    id: 'syncCalendar',
    summary: 'Synchronise a calendar in both directions',
    description:
      'First applies the changes of the client, each with its own result. Then returns the changes since the token, including the changes of the client; without a token, all events.',
    response: [SyncCalendarEnvelope, 'Results, changes and the next token.'],
    optionalBody: true,
    example: { sync_token: null },
    errors: [CALENDARS.notFound, CURSOR_EXPIRED],
  })
  @BodyLimit(SYNC_BODY_BYTES, SYNC_VALUES)
  sync(
    @Ctx() ctx: RequestContext,
    @Id('calendar_id') calendarId: string,
    @Idempotency() key: IdempotencyKey | null,
    @CheckedBody(SyncCalendar) body: Checked<SyncCalendar>,
  ) {
    return this.calendars.sync(ctx, calendarId, key, body);
  }
}
