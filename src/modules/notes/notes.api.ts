import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../platform/context/request-context.js';
import type { CreateNote } from './notes.dto.js';
import { NotesService } from './notes.service.js';

/** The notes of this service, for other modules. */
@Injectable()
export class NotesApi {
  constructor(private readonly notes: NotesService) {}

  /** Creates a note of the caller, under the same rules as the API. */
  async create(ctx: RequestContext, note: CreateNote): Promise<void> {
    await this.notes.create(ctx, null, note);
  }
}
