import { Body, Controller } from '@nestjs/common';
import { ApiExtraModels, ApiTags } from '@nestjs/swagger';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { CalendarErrors } from '../calendar.errors.js';
import { FreeBusyAttendee, FreeBusyQuery } from './free-busy.dto.js';
import { FreeBusyEnvelope } from './free-busy.response.js';
import { FreeBusyService } from './free-busy.service.js';

@ApiTags('calendar')
@ApiExtraModels(FreeBusyAttendee)
@Controller('calendar/scheduling')
export class FreeBusyController {
  constructor(private readonly freeBusy: FreeBusyService) {}

  @Endpoint('POST free_busy', {
    id: 'queryFreeBusy',
    summary: 'Find out when members are free',
    description:
      'Times and states without titles. Declined and cancelled events are free, events without a response tentative. With `suggest`: times at which the required attendees are free. The instances of all attendees are expanded up to a limit; where a series exceeds it, the rest of the series is one busy time, and `approximate` is true.',
    status: 200,
    response: [FreeBusyEnvelope, 'The busy times, and suggestions.'],
    errors: [CalendarErrors.windowTooLarge],
    example: {
      from: '2026-03-02',
      to: '2026-03-06',
      time_zone: 'Europe/Berlin',
      attendees: ['bob@demo.example'],
      suggest: { duration_minutes: 60 },
    },
  })
  query(@Ctx() ctx: RequestContext, @Body() body: FreeBusyQuery) {
    return this.freeBusy.query(ctx, body);
  }
}
