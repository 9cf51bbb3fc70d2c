import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Operation } from '../../../platform/http/api-docs.js';
import { Errors } from '../../../platform/http/errors.js';
import { Id } from '../../../platform/http/id.pipe.js';
import type { JsonReply } from '../../../platform/http/json-reply.js';
import { TaskPanelResponse } from './task-parts.response.js';
import { TaskPartsService } from './task-parts.service.js';
import { TaskErrors } from '../tasks.errors.js';

@Controller('tasks')
export class TaskPanelController {
  constructor(private readonly parts: TaskPartsService) {}

  @Operation({
    tag: 'tasks',
    id: 'readTaskPanel',
    summary: 'Everything about a task',
    description: 'With its newest comments, its history, the notes it refers to and what you may do.',
    errors: [TaskErrors.notFound, Errors.invalidId],
  })
  @ApiOkResponse({ type: TaskPanelResponse, description: 'The panel.' })
  @Get(':id/panel')
  panel(@Ctx() ctx: RequestContext, @Id() id: string): Promise<JsonReply> {
    return this.parts.panel(ctx, id);
  }
}
