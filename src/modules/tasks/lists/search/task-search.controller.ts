import { Controller, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Ctx, type RequestContext } from '../../../../platform/context/request-context.js';
import { Endpoint } from '../../../../platform/http/endpoint.js';
import { Errors } from '../../../../platform/http/errors.js';
import { SearchTasks } from './task-search.dto.js';
import { TaskSearchEnvelope } from './task-search.response.js';
import { TaskSearchService } from './task-search.service.js';

@ApiTags('tasks')
@Controller('search/tasks')
export class TaskSearchController {
  constructor(private readonly tasks: TaskSearchService) {}

  @Endpoint('GET', {
    id: 'searchTasks',
    summary: 'Search tasks',
    description:
      'Titles and descriptions of the tasks you can see, best match first. Your own changes are found at once, changes of others within about a second.',
    response: [TaskSearchEnvelope, 'A page of tasks.'],
    errors: [Errors.invalidCursor],
  })
  search(@Ctx() ctx: RequestContext, @Query() query: SearchTasks) {
    return this.tasks.search(ctx, query);
  }
}
