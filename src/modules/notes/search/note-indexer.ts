import { Injectable } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import { Outbox } from '../../../platform/events/outbox.js';
import { PeriodicJobs } from '../../../platform/jobs/periodic-jobs.js';
import { ItemIndexer } from '../../../platform/search/item-indexer.js';
import { NOTE_SEARCH } from './note-search.tables.js';

const EVENTS = [
  'note.created',
  'note.updated',
  'note.trashed',
  'note.restored',
  'note.shared',
  'note.purged',
];

/** Keeps the search index of notes up to date. */
@Injectable()
export class NoteIndexer extends ItemIndexer {
  constructor(db: Db, outbox: Outbox, jobs: PeriodicJobs) {
    super(db, NOTE_SEARCH, outbox, jobs, {
      name: 'note-search',
      types: EVENTS,
      often: ['note.created', 'note.updated'],
    });
  }
}
