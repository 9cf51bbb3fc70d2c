import { Injectable } from '@nestjs/common';
import { Outbox } from '../../../platform/events/outbox.js';
import { PeriodicJobs } from '../../../platform/jobs/periodic-jobs.js';
import { ItemIndexer } from '../../../platform/search/item-indexer.js';
import { NoteIndexRepository } from './note-index.repository.js';

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
  constructor(index: NoteIndexRepository, outbox: Outbox, jobs: PeriodicJobs) {
    super(index, outbox, jobs, {
      name: 'note-search',
      types: EVENTS,
      often: ['note.created', 'note.updated'],
      item: 'note_id',
    });
  }
}
