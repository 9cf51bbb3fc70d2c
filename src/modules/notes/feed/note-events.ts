import { Injectable, type OnModuleInit } from '@nestjs/common';
import { FACTS, PublicEvents, publicEvents } from '../../../platform/events/public-events.js';
import { NoteResponse } from '../notes.dto.js';
import { NotesRepository } from '../notes.repository.js';

const NOTE_EVENTS = publicEvents(
  {
    kind: 'note',
    object: NoteResponse,
    facts: { note_id: FACTS.id, revision: FACTS.revision, actor_id: FACTS.user },
  },
  {
    'note.created': 'A note was created.',
    'note.updated': 'Title, content or labels of a note changed.',
    'note.shared': 'The members of a note, their roles or its share link changed.',
    'note.trashed': 'A note was moved to the trash.',
    'note.restored': 'A note was taken out of the trash.',
  },
);

/** The events of notes that programs of others receive. */
@Injectable()
export class NoteEvents implements OnModuleInit {
  constructor(
    private readonly events: PublicEvents,
    private readonly notes: NotesRepository,
  ) {}

  onModuleInit(): void {
    this.events.register(NOTE_EVENTS, {
      many: async (ctx, facts) => {
        const ids = facts.map(({ note_id: id }) => id as string);
        const notes = await this.notes.readMany(ctx, ids);
        return ids.map((id) => notes.get(id));
      },
    });
  }
}
