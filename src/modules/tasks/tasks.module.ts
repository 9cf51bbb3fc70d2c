import { Module, type OnModuleInit } from '@nestjs/common';
import { Deployment } from '../../platform/deployment/deployment.js';
import { TenantsModule } from '../tenants/index.js';
import { SubtasksController, SubtasksService } from './parts/subtasks.controller.js';
import { TaskResults } from './responses/task.presenter.js';
import { TaskFeedController, TaskFeedRepository } from './feed/task-feed.controller.js';
import { TaskFolderFeedRepository, TaskFoldersRepository } from './folders/task-folders.repository.js';
import { TaskAttachmentsController } from './parts/task-attachments.controller.js';
import {
  ATTACHMENT_MAX_BYTES,
  TaskAttachmentsRepository,
  TaskAttachmentsService,
} from './parts/task-attachments.service.js';
import { TaskClock } from './schedule/task-clock.js';
import { TaskRemovalRepository } from './changes/task-removal.repository.js';
import { TaskFolderRoles, TaskUids, TaskWritesRepository } from './changes/task-writes.repository.js';
import { TaskWrites } from './changes/task-writes.js';
import { TaskCommentsController, TaskCommentsService } from './parts/task-comments.controller.js';
import { TaskFolderFeedController, TaskFoldersController } from './folders/task-folders.controller.js';
import { TaskFoldersOfMembers, TasksOfMembers, TasksPersonalData } from './tasks-of-members.js';
import { TaskFoldersService } from './folders/task-folders.service.js';
import {
  TaskIndexer,
  TaskSearchController,
  TaskSearchService,
} from './lists/search/task-search.controller.js';
import { TaskInputs } from './task-inputs.js';
import { TaskLinks, TaskReferences } from './responses/task-references.js';
import { TaskListRepository, TaskListsService } from './lists/task-lists.service.js';
import { TaskPanelController } from './parts/task-panel.controller.js';
import { TaskPartsRepository } from './parts/task-parts.repository.js';
import { TaskPartWrites } from './parts/task-part-writes.js';
import { TaskResources } from './resources/task-resources.js';
import { TaskResourcesRepository } from './resources/task-resources.repository.js';
import { TaskResourceWrites } from './resources/task-resource-writes.js';
import { TasksApi } from './tasks.api.js';
import { TasksController } from './tasks.controller.js';
import { TasksRepository } from './tasks.repository.js';
import { TasksService } from './tasks.service.js';
import { TaskNotifications } from './tasks.notifications.js';
import { TaskPublicEvents } from './feed/task-public-events.js';

@Module({
  imports: [TenantsModule],
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
    TasksPersonalData,
    TaskPublicEvents,
    TaskNotifications,
    TasksRepository,
    TaskFolderRoles,
    TaskUids,
    TaskWrites,
    TaskWritesRepository,
    TaskRemovalRepository,
    TasksService,
    TaskListRepository,
    TaskListsService,
    TaskInputs,
    TaskPartsRepository,
    TaskPartWrites,
    TaskCommentsService,
    SubtasksService,
    TaskReferences,
    TaskResults,
    TaskLinks,
    TaskAttachmentsRepository,
    TaskAttachmentsService,
    TaskFoldersRepository,
    TaskFoldersService,
    TaskFoldersOfMembers,
    TasksOfMembers,
    TaskFeedRepository,
    TaskFolderFeedRepository,
    TaskIndexer,
    TaskSearchService,
    TaskClock,
    TaskResourcesRepository,
    TaskResources,
    TaskResourceWrites,
    TasksApi,
  ],
  exports: [TasksApi, TaskFoldersService, TaskResources, TaskResourceWrites],
})
export class TasksModule implements OnModuleInit {
  constructor(private readonly deployment: Deployment) {}

  onModuleInit(): void {
    this.deployment.limit('task_attachment_bytes', ATTACHMENT_MAX_BYTES);
  }
}
