import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../platform/context/request-context.js';
import type { CreateNote } from './notes.dto.js';
import { NotesService } from './notes.service.js';

/** What other parts of the service may ask of notes. */
@Injectable()
export class NotesApi {
  constructor(private readonly notes: NotesService) {}

  /** Creates a note of the caller's, under the same rules as the interface. */
  async create(ctx: RequestContext, note: CreateNote): Promise<void> {
    await this.notes.create(ctx, null, note);
  }
}
