import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Operation } from '../../../platform/http/api-docs.js';
import { Errors } from '../../../platform/http/errors.js';
import type { JsonReply } from '../../../platform/http/json-reply.js';
import { SearchTasks } from './task-search.dto.js';
import { TaskSearchEnvelope } from './task-search.response.js';
import { TaskSearchService } from './task-search.service.js';

@Controller('search/tasks')
export class TaskSearchController {
  constructor(private readonly tasks: TaskSearchService) {}

  @Operation({
    tag: 'tasks',
    id: 'searchTasks',
    summary: 'Search tasks',
    description:
      'Titles and descriptions of the tasks you can see, best match first. What you have written yourself is found at once, what others change within about a second.',
    errors: [Errors.validationFailed, Errors.invalidCursor],
  })
  @ApiOkResponse({ type: TaskSearchEnvelope, description: 'A page of tasks.' })
  @Get()
  search(@Ctx() ctx: RequestContext, @Query() query: SearchTasks): Promise<JsonReply> {
    return this.tasks.search(ctx, query);
  }
}
