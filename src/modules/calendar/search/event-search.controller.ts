import { Controller, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { SearchEvents } from './event-search.dto.js';
import { EventSearchEnvelope } from './event-search.response.js';
import { EventSearchService } from './event-search.service.js';

@ApiTags('calendar')
@Controller('search/calendar')
export class EventSearchController {
  constructor(private readonly events: EventSearchService) {}

  @Endpoint('GET', {
    id: 'searchEvents',
    summary: 'Search events',
    description:
      'Searches the events whose details you see in your own and shared calendars, best match first. Your own changes are found at once, changes of others within about a second.',
    response: [EventSearchEnvelope, 'A page of events.'],
  })
  search(@Ctx() ctx: RequestContext, @Query() query: SearchEvents) {
    return this.events.search(ctx, query);
  }
}
