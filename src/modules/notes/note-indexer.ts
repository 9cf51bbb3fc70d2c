import { Injectable, type OnModuleInit } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { type DomainEvent, Outbox } from '../../platform/events/outbox.js';
import { PeriodicJobs } from '../../platform/jobs/periodic-jobs.js';
import { type IndexedDocument, indexed } from '../../platform/search/index-document.js';
import { NoteIndexRepository, type StaleNote } from './note-index.repository.js';

/** Everything that changes what is found or by whom. (A purge takes the index row with it.) */
const EVENTS = [
  'note.created',
  'note.updated',
  'note.trashed',
  'note.restored',
  'note.shared',
  'note.purged',
];
/** Looks at a note whose index row others write at the same time; then its event is postponed. */
const MAX_ROUNDS = 5;
/** Notes indexed lately that are remembered. */
const LATELY = 1_000;
const REPAIR_SECONDS = 15;
/** A repair gives way to other jobs, and to a shutdown, after this long, and goes on at its next turn. */
const REPAIR_MS = 10_000;
/** From the end of one walk through all notes to the beginning of the next. */
const REST_MS = 3_600_000;
const WALK = 5_000;
const ZERO = '00000000-0000-0000-0000-000000000000';
const START = { tenantId: ZERO, noteId: ZERO };

/** Keeps the search index of notes up to date: with the events of notes, and in time with whatever these have missed. */
@Injectable()
export class NoteIndexer implements OnModuleInit {
  private position = START;
  private restUntil = 0;
  private readonly lately = new LRUCache<string, { revision: number; readAt: Date }>({ max: LATELY });

  constructor(
    private readonly index: NoteIndexRepository,
    private readonly outbox: Outbox,
    private readonly jobs: PeriodicJobs,
  ) {}

  onModuleInit(): void {
    for (const type of EVENTS) this.outbox.subscribe(type, 'note-search', (event) => this.handle(event));
    this.jobs.register({
      name: 'note-search.repair',
      everySeconds: REPAIR_SECONDS,
      run: async () => {
        if (Date.now() >= this.restUntil && (await this.repair())) this.restUntil = Date.now() + REST_MS;
      },
    });
  }

  private async handle({ type, tenantId, payload, occurredAt }: DomainEvent): Promise<void> {
    const { note_id: noteId, revision } = payload as { note_id: string; revision: number };
    const last = this.lately.get(noteId);
    // Somebody types: one look at the note has served the changes up to it, without asking the database again.
    if (type === 'note.updated' && last && revision <= last.revision && occurredAt <= last.readAt) return;
    await this.indexNote(tenantId, noteId, revision);
  }

  /**
   * Indexes a note as it is now, whatever the event said: events may come twice and in any order, and those of a note that
   * is being typed into are served by one look at it.
   * @param revision of the event; without one, anything that differs from the note is mended
   */
  async indexNote(tenantId: string, noteId: string, revision: number | null = null): Promise<void> {
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const note = await this.index.stale(tenantId, noteId, revision);
      if (!note) return;
      if (await this.index.put(tenantId, note, await indexedNote(note))) {
        this.lately.set(noteId, { revision: note.revision, readAt: note.readAt });
        return;
      }
    }
    throw new Error('the search index of a note is being written by too many at once');
  }

  /**
   * Indexes the notes whose index row is missing or stale: those from before there was an index, under older rules, or
   * whose event was given up. Walks on from where it stopped, for as long as a turn lasts.
   * @returns whether it has come to the end of all notes
   */
  async repair(): Promise<boolean> {
    const end = Date.now() + REPAIR_MS;
    for (;;) {
      const notes = await this.index.walk(this.position, WALK);
      for (const note of notes) {
        if (note.stale) await this.indexNote(note.tenantId, note.noteId);
        this.position = note;
        if (Date.now() >= end) return false;
      }
      if (notes.length === 0) {
        this.position = START;
        return true;
      }
    }
  }
}

/** The words of a note, for everyone who may see it, and its beginning. */
export function indexedNote({ title, content, members }: StaleNote): Promise<IndexedDocument> {
  return indexed({ readers: members, title, html: content });
}
