import { Controller, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Errors } from '../../../platform/http/errors.js';
import { SearchNotes } from './notes-search.dto.js';
import { NoteSearchEnvelope } from './notes-search.response.js';
import { NotesSearchService } from './notes-search.service.js';

@ApiTags('notes')
@Controller('search/notes')
export class NotesSearchController {
  constructor(private readonly notes: NotesSearchService) {}

  @Endpoint('GET', {
    id: 'searchNotes',
    summary: 'Search notes',
    description:
      'Searches the notes you own and those shared with you, best match first. Your own changes are found at once, changes of others within about a second.',
    response: [NoteSearchEnvelope, 'A page of notes.'],
    errors: [Errors.invalidCursor],
  })
  search(@Ctx() ctx: RequestContext, @Query() query: SearchNotes) {
    return this.notes.search(ctx, query);
  }
}
