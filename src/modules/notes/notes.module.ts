import { Module, type OnModuleInit } from '@nestjs/common';
import { Config } from '../../config/config.js';
import { Deployment } from '../../platform/deployment/deployment.js';
import { TasksModule } from '../tasks/index.js';
import { TenantsModule } from '../tenants/index.js';
import { NoteIndexer } from './search/note-indexer.js';
import { NoteListRepository } from './lists/note-list.repository.js';
import { NoteListsService } from './lists/note-lists.service.js';
import { NoteFeedController } from './feed/note-feed.controller.js';
import { NoteFeedRepository } from './feed/note-feed.repository.js';
import { NotesOfFolders } from './owners/notes-of-folders.js';
import { NotesOfMembers } from './owners/notes-of-members.js';
import { NotePlacementsRepository } from './changes/note-placements.repository.js';
import { NoteRowsRepository } from './changes/note-rows.repository.js';
import { NoteEditsRepository } from './changes/note-edits.repository.js';
import { NoteEdits } from './changes/note-edits.js';
import { NoteWrites } from './changes/note-writes.js';
import { NoteRemovalRepository } from './changes/note-removal.repository.js';
import { TrashPurge } from './trash-purge.js';
import { NotesController } from './notes.controller.js';
import { NotesExportController } from './export/notes-export.controller.js';
import { NotesExportService } from './export/notes-export.service.js';
import { NoteHistory } from './history/note-history.js';
import { NotesRepository } from './notes.repository.js';
import { NotesSearchController } from './search/notes-search.controller.js';
import { MAX_CONTENT_BYTES, MAX_LABELS } from './notes.dto.js';
import { NotesSearchService } from './search/notes-search.service.js';
import { NotesSharingController } from './sharing/notes-sharing.controller.js';
import { NotesSharingService } from './sharing/notes-sharing.service.js';
import { NotesTasksController } from './linked-tasks/notes-tasks.controller.js';
import { NotesTasksRepository } from './linked-tasks/notes-tasks.repository.js';
import { NotesTasksService } from './linked-tasks/notes-tasks.service.js';
import { NotesService } from './notes.service.js';
import { NoteNotifications } from './notes.notifications.js';
import { NotesPersonalData } from './notes-personal-data.js';
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
