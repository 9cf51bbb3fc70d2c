import { Body, Controller, Query } from '@nestjs/common';
import { Expected, type ExpectedRevision } from '../../../platform/concurrency/expected-revision.js';
import { Idempotency, type IdempotencyKey } from '../../../platform/concurrency/idempotency.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Errors } from '../../../platform/http/errors.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { type Checked, CheckedBody } from '../../../platform/http/input.pipe.js';
import {
  CreateOperation,
  DeleteOperation,
  ListOperation,
  UpdateOperation,
} from '../../../platform/resources/operations.js';
import { CalendarErrors, CALENDARS } from '../calendar.errors.js';
import { CreateCalendar, DeleteCalendar, ListCalendars, UpdateCalendar } from './calendars.dto.js';
import { CalendarsService } from './calendars.service.js';

@Controller(CALENDARS.options.path)
export class CalendarsController {
  constructor(private readonly calendars: CalendarsService) {}

  @ListOperation(CALENDARS, {
    description:
      'Your own calendars and those shared with you, in your order. The first request creates your default calendar.',
  })
  list(@Ctx() ctx: RequestContext, @Query() query: ListCalendars) {
    return this.calendars.list(ctx, query);
  }

  @CreateOperation(CALENDARS, {
    description: 'You become its owner. `shares` gives other users access from the start.',
    example: { name: 'Team', color: '#27ae60', time_zone: 'Europe/Berlin' },
    errors: [CalendarErrors.calendarExists, CalendarErrors.tooManyCalendars, CalendarErrors.unknownGrantee],
  })
  create(
    @Ctx() ctx: RequestContext,
    @Idempotency() key: IdempotencyKey | null,
    @Body() body: CreateCalendar,
  ) {
    return this.calendars.create(ctx, key, body);
  }

  @UpdateOperation(CALENDARS, {
    path: ':calendar_id',
    methods: ['PUT'],
    summary: 'Update or share a calendar',
    description:
      'Only the given fields change. The role owner is needed, except for your own color, order and hidden. Only the owner changes `is_default`.',
    example: { name: 'Team of 2027' },
    errors: [Errors.forbidden, CalendarErrors.unknownGrantee],
  })
  update(
    @Ctx() ctx: RequestContext,
    @Id('calendar_id') id: string,
    @Expected() expected: ExpectedRevision,
    @CheckedBody(UpdateCalendar) body: Checked<UpdateCalendar>,
  ) {
    return this.calendars.update(ctx, id, expected, body);
  }

  @DeleteOperation(CALENDARS, {
    path: ':calendar_id',
    description:
      'Only for its owner. Its events are cancelled, unless `move_events_to` names another calendar. The default calendar cannot be deleted.',
    errors: [Errors.forbidden, CalendarErrors.defaultCalendar],
  })
  delete(
    @Ctx() ctx: RequestContext,
    @Id('calendar_id') id: string,
    @Expected() expected: ExpectedRevision,
    @Query() query: DeleteCalendar,
  ) {
    return this.calendars.delete(ctx, id, expected, query);
  }
}
