import { Controller } from '@nestjs/common';
import { Errors } from '../../../platform/http/errors.js';
import { QuotaErrors } from '../../../platform/quotas/quotas.dto.js';
import { ResourceController } from '../../../platform/resources/resource.controller.js';
import { CalendarErrors, CALENDARS } from '../calendar.errors.js';
import { CreateCalendar, DeleteCalendar, ListCalendars, UpdateCalendar } from './calendars.dto.js';
import { CalendarsService } from './calendars.service.js';

@Controller(CALENDARS.options.path)
export class CalendarsController extends ResourceController(CALENDARS, CalendarsService, {
  idName: 'calendar_id',
  list: {
    query: ListCalendars,
    description:
      'Your own calendars and calendars that are shared with you, in your order. The first request creates your default calendar.',
  },
  create: {
    body: CreateCalendar,
    description: 'You become its owner. `shares` gives other users access from the start.',
    example: { name: 'Team', color: '#27ae60', time_zone: 'Europe/Berlin' },
    errors: [CalendarErrors.calendarExists, CalendarErrors.tooManyCalendars, CalendarErrors.unknownGrantee],
  },
  update: {
    body: UpdateCalendar,
    methods: ['PUT'],
    summary: 'Update or share a calendar',
    description:
      'Only the given fields change. The role owner is needed, except for your own color, order and hidden. Only the owner changes `is_default`.',
    example: { name: 'Team of 2027' },
    errors: [Errors.forbidden, CalendarErrors.unknownGrantee],
  },
  delete: {
    query: DeleteCalendar,
    description:
      'Only for the owner of the calendar. Its events are cancelled, unless `move_events_to` names another calendar, which contains none of their uids. The default calendar cannot be deleted.',
    errors: [
      Errors.forbidden,
      CalendarErrors.defaultCalendar,
      CalendarErrors.duplicateUid,
      QuotaErrors.exceeded,
    ],
  },
}) {}
