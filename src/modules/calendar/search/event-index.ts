import { Injectable } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import { Outbox } from '../../../platform/events/outbox.js';
import { PeriodicJobs } from '../../../platform/jobs/periodic-jobs.js';
import { ItemIndexer } from '../../../platform/search/item-indexer.js';
import { CalendarEvents } from '../calendar.events.js';
import { EVENT_SEARCH } from './event-search.tables.js';

/** Keeps the search index of events up to date. */
@Injectable()
export class EventIndexer extends ItemIndexer {
  constructor(db: Db, outbox: Outbox, jobs: PeriodicJobs) {
    super(db, EVENT_SEARCH, outbox, jobs, {
      name: 'calendar-search',
      types: [CalendarEvents.created, CalendarEvents.updated],
      often: [CalendarEvents.created, CalendarEvents.updated],
    });
  }
}
