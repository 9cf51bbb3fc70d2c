import { Module, type OnModuleInit } from '@nestjs/common';
import { Deployment } from '../../platform/deployment/deployment.js';
import { HtmlModule } from '../../platform/html/html.module.js';
import { TenantsModule } from '../tenants/index.js';
import { SubtasksController } from './subtasks.controller.js';
import { SubtasksService } from './subtasks.service.js';
import { TaskAnswers } from './task-answers.js';
import { TaskFeedController } from './task-feed.controller.js';
import { TaskFeedRepository } from './task-feed.repository.js';
import { TaskFolderFeedController } from './task-folder-feed.controller.js';
import { TaskFolderFeedRepository } from './task-folder-feed.repository.js';
import { TaskAttachmentsController } from './task-attachments.controller.js';
import { TaskAttachmentsRepository } from './task-attachments.repository.js';
import { ATTACHMENT_MAX_BYTES, TaskAttachmentsService } from './task-attachments.service.js';
import { TaskClock } from './task-clock.js';
import { TaskCommentsController } from './task-comments.controller.js';
import { TaskFoldersController } from './task-folders.controller.js';
import { TaskFoldersRepository } from './task-folders.repository.js';
import { TaskFoldersService } from './task-folders.service.js';
import { TaskIndexRepository } from './task-index.repository.js';
import { TaskIndexer } from './task-indexer.js';
import { TaskInputs } from './task-inputs.js';
import { TaskLinks } from './task-links.js';
import { TaskListRepository } from './task-list.repository.js';
import { TaskListsService } from './task-lists.service.js';
import { TaskPanelController } from './task-panel.controller.js';
import { TaskPartsRepository } from './task-parts.repository.js';
import { TaskPartsService } from './task-parts.service.js';
import { TaskReferences } from './task-references.js';
import { TaskSearchController } from './task-search.controller.js';
import { TaskSearchRepository } from './task-search.repository.js';
import { TaskSearchService } from './task-search.service.js';
import { TasksApi } from './tasks.api.js';
import { TasksController } from './tasks.controller.js';
import { TasksRepository } from './tasks.repository.js';
import { TasksService } from './tasks.service.js';

@Module({
  imports: [HtmlModule, TenantsModule],
  controllers: [
    TaskFeedController,
    TaskFolderFeedController,
    TaskSearchController,
    SubtasksController,
    TaskCommentsController,
    TaskPanelController,
    TasksController,
    TaskAttachmentsController,
    TaskFoldersController,
  ],
  providers: [
    TasksRepository,
    TasksService,
    TaskListRepository,
    TaskListsService,
    TaskInputs,
    TaskPartsRepository,
    TaskPartsService,
    SubtasksService,
    TaskReferences,
    TaskAnswers,
    TaskLinks,
    TaskAttachmentsRepository,
    TaskAttachmentsService,
    TaskFoldersRepository,
    TaskFoldersService,
    TaskFeedRepository,
    TaskFolderFeedRepository,
    TaskIndexRepository,
    TaskIndexer,
    TaskSearchRepository,
    TaskSearchService,
    TaskClock,
    TasksApi,
  ],
  exports: [TasksApi],
})
export class TasksModule implements OnModuleInit {
  constructor(private readonly deployment: Deployment) {}

  onModuleInit(): void {
    this.deployment.limit('task_attachment_bytes', ATTACHMENT_MAX_BYTES);
  }
}
