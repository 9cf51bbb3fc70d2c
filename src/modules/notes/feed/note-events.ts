import { Injectable, type OnModuleInit } from '@nestjs/common';
import { PublicEvents } from '../../../platform/events/public-events.js';
import { NO_UUID, UUID } from '../../../platform/field-docs/field-docs.js';
import { NoteResponse } from '../note.response.js';
import { NotesRepository } from '../notes.repository.js';

/** The events of notes that programs of others receive. */
@Injectable()
export class NoteEvents implements OnModuleInit {
  constructor(
    private readonly events: PublicEvents,
    private readonly notes: NotesRepository,
  ) {}

  onModuleInit(): void {
    this.events.register(
      {
        kind: 'note',
        object: NoteResponse,
        facts: {
          note_id: { type: 'string', ...UUID },
          revision: { type: 'integer', minimum: 1, example: 3 },
          actor_id: { type: ['string', 'null'], ...NO_UUID },
        },
        read: async (ctx, { note_id: id }) => (await this.notes.read(ctx, id as string))?.note,
      },
      {
        'note.created': 'A note was created.',
        'note.updated': 'Title, content or labels of a note changed.',
        'note.shared': 'The members of a note, their roles or its share link changed.',
        'note.trashed': 'A note was moved to the trash.',
        'note.restored': 'A note was taken out of the trash.',
      },
    );
  }
}
