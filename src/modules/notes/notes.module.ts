import { Module, type OnModuleInit } from '@nestjs/common';
import { Config } from '../../config/config.js';
import { Deployment } from '../../platform/deployment/deployment.js';
import { TasksModule } from '../tasks/index.js';
import { TenantsModule } from '../tenants/index.js';
import { NoteIndexer, NotesSearchController, NotesSearchService } from './search/notes-search.controller.js';
import { NoteListRepository, NoteListsService } from './lists/note-lists.service.js';
import { NoteFeedController, NoteFeedRepository } from './feed/note-feed.controller.js';
import { NotesOfFolders } from './owners/notes-of-folders.js';
import { NotesOfMembers, NotesPersonalData } from './owners/notes-of-members.js';
import { NotePlacementsRepository } from './changes/note-placements.repository.js';
import { NoteRowsRepository } from './changes/note-rows.repository.js';
import { NoteEdits, NoteEditsRepository } from './changes/note-edits.js';
import { NoteWrites } from './changes/note-writes.js';
import { NoteRemovalRepository } from './changes/note-removal.repository.js';
import { TrashPurge } from './trash-purge.js';
import { NotesController } from './notes.controller.js';
import { NotesExportController, NotesExportService } from './export/notes-export.controller.js';
import { NoteHistory } from './history/note-history.js';
import { NotesRepository } from './notes.repository.js';
import { MAX_CONTENT_BYTES, MAX_LABELS } from './notes.dto.js';
import { NotesSharingController, NotesSharingService } from './sharing/notes-sharing.controller.js';
import {
  NotesTasksController,
  NotesTasksRepository,
  NotesTasksService,
} from './linked-tasks/notes-tasks.controller.js';
import { NotesService } from './notes.service.js';
import { NoteNotifications } from './notes.notifications.js';
import { NoteEvents } from './feed/note-events.js';

@Module({
  imports: [TasksModule, TenantsModule],
  controllers: [
    NoteFeedController,
    NotesController,
    NotesExportController,
    NotesSharingController,
    NotesSearchController,
    NotesTasksController,
  ],
  providers: [
    NotesPersonalData,
    NoteEvents,
    NoteHistory,
    NoteNotifications,
    NotesRepository,
    NoteListRepository,
    NotesService,
    NoteListsService,
    NotesExportService,
    NotesSharingService,
    NoteIndexer,
    NotesSearchService,
    NoteFeedRepository,
    NoteRowsRepository,
    NoteWrites,
    NoteEditsRepository,
    NoteEdits,
    NoteRemovalRepository,
    NotePlacementsRepository,
    NotesOfFolders,
    NotesOfMembers,
    NotesTasksRepository,
    NotesTasksService,
    TrashPurge,
  ],
})
export class NotesModule implements OnModuleInit {
  constructor(
    private readonly deployment: Deployment,
    private readonly config: Config,
  ) {}

  onModuleInit(): void {
    this.deployment.feature('docx_export', this.config.DOCX_CONVERTER !== 'off');
    this.deployment.limit('note_content_bytes', MAX_CONTENT_BYTES);
    this.deployment.limit('note_labels', MAX_LABELS);
  }
}
