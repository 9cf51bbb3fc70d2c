import { Module } from '@nestjs/common';
import { HtmlModule } from '../../platform/html/html.module.js';
import { TenantsModule } from '../tenants/index.js';
import { TaskAnswers } from './task-answers.js';
import { TaskAttachmentsController } from './task-attachments.controller.js';
import { TaskAttachmentsRepository } from './task-attachments.repository.js';
import { TaskAttachmentsService } from './task-attachments.service.js';
import { TaskInputs } from './task-inputs.js';
import { TaskLinks } from './task-links.js';
import { TaskListRepository } from './task-list.repository.js';
import { TaskListsService } from './task-lists.service.js';
import { TaskPositions } from './task-positions.js';
import { TaskReferences } from './task-references.js';
import { TasksController } from './tasks.controller.js';
import { TasksRepository } from './tasks.repository.js';
import { TasksService } from './tasks.service.js';

@Module({
  imports: [HtmlModule, TenantsModule],
  controllers: [TasksController, TaskAttachmentsController],
  providers: [
    TasksRepository,
    TasksService,
    TaskListRepository,
    TaskListsService,
    TaskInputs,
    TaskPositions,
    TaskReferences,
    TaskAnswers,
    TaskLinks,
    TaskAttachmentsRepository,
    TaskAttachmentsService,
  ],
})
export class TasksModule {}
