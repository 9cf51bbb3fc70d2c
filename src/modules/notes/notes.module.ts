import { Module } from '@nestjs/common';
import { HtmlModule } from '../../platform/html/html.module.js';
import { NoteListRepository } from './note-list.repository.js';
import { NoteListsService } from './note-lists.service.js';
import { NotesApi } from './notes.api.js';
import { NotesController } from './notes.controller.js';
import { NotesRepository } from './notes.repository.js';
import { NotesService } from './notes.service.js';

@Module({
  imports: [HtmlModule],
  controllers: [NotesController],
  providers: [NotesRepository, NoteListRepository, NotesService, NoteListsService, NotesApi],
  exports: [NotesApi],
})
export class NotesModule {}
