import { Controller, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { EVENTS } from '../calendar.errors.js';
import { RelatedQueryFields } from './related.dto.js';
import { RelatedEnvelope } from './related.response.js';
import { RelatedService } from './related.service.js';

@ApiTags('calendar')
@Controller('calendar/related')
export class RelatedController {
  constructor(private readonly related: RelatedService) {}

  @Endpoint('GET', {
    id: 'listRelatedItems',
    summary: 'List items related to an event, a subject, a user or a time',
    description:
      'Events, notes, tasks, contacts and chat rooms that you can read. Events whose details you do not see have no related items.',
    response: [RelatedEnvelope, 'The items.'],
    errors: [EVENTS.notFound],
  })
  list(@Ctx() ctx: RequestContext, @Query() query: RelatedQueryFields): Promise<RelatedEnvelope> {
    return this.related.list(ctx, query);
  }
}
