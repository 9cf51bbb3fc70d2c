import type { SchemaPart } from '../../platform/database/schema/schema-part.js';
import { sqlMigration } from '../../platform/database/schema/sql-migration.js';
import { sqlFiles } from '../../platform/database/schema/stored-sql.js';
import {
  Calendar,
  CalendarEntry,
  CalendarEvent,
  CalendarPreference,
  CalendarShare,
  EntryTombstone,
  EventHistory,
  EventOverride,
  EventParticipant,
  EventProposal,
  EventSearch,
} from './calendar.entity.js';
import { CalendarFeed } from './ics/feed.entity.js';
import { SchedulingDelivery, SchedulingMessage } from './scheduling/scheduling.entity.js';
import { Poll, PollOption, PollParticipant, PollVote } from './polls/poll.entity.js';

export const calendarSchema: SchemaPart = {
  owner: 'calendar',
  publishes: ['event_addresses'],
  entities: {
    workspace: [
      Calendar,
      CalendarShare,
      CalendarPreference,
      CalendarEvent,
      EventOverride,
      EventParticipant,
      CalendarEntry,
      EntryTombstone,
      EventProposal,
      EventHistory,
      EventSearch,
      CalendarFeed,
      Poll,
      PollOption,
      PollParticipant,
      PollVote,
      SchedulingMessage,
      SchedulingDelivery,
    ],
  },
  migrations: [
    sqlMigration('Calendar1796400000001', new URL('migrations/0001-calendar.sql', import.meta.url)),
    sqlMigration(
      'CalendarFeeds1796400000002',
      new URL('migrations/0002-calendar-feeds.sql', import.meta.url),
    ),
    sqlMigration('Polls1796400000003', new URL('migrations/0003-polls.sql', import.meta.url)),
    sqlMigration('Scheduling1797000000010', new URL('migrations/0010-scheduling.sql', import.meta.url)),
    sqlMigration('EventReminders1797000000011', new URL('migrations/0011-reminders.sql', import.meta.url)),
    sqlMigration('PollHolds1797000000012', new URL('migrations/0012-poll-holds.sql', import.meta.url)),
    sqlMigration(
      'CalendarNotices1797000000013',
      new URL('migrations/0013-calendar-notices.sql', import.meta.url),
    ),
    sqlMigration(
      'InstanceAttendees1798300000014',
      new URL('migrations/0014-instance-attendees.sql', import.meta.url),
    ),
  ],
  sql: sqlFiles(
    'workspace',
    new URL('sql/', import.meta.url),
    'calendar-access',
    'event-records',
    'calendar-write',
    'calendar-delete',
    'calendars-of-members',
    'event-search',
    'event-addresses',
    'release-0.1.0',
  ),
};
