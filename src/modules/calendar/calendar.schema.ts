import type { SchemaPart } from '../../platform/database/schema/schema-part.js';
import { sqlMigrations } from '../../platform/database/schema/sql-migration.js';
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
  migrations: sqlMigrations(import.meta.url, {
    Calendar1796400000001: '0001-calendar',
    CalendarFeeds1796400000002: '0002-calendar-feeds',
    Polls1796400000003: '0003-polls',
    Scheduling1797000000010: '0010-scheduling',
    EventReminders1797000000011: '0011-reminders',
    PollHolds1797000000012: '0012-poll-holds',
    CalendarNotices1797000000013: '0013-calendar-notices',
    InstanceAttendees1798300000014: '0014-instance-attendees',
    SchedulingOfEvent1798800005001: '0015-scheduling-of-event',
    OpenPolls1798804000003: '0016-open-polls',
    CountedEntries1798806000002: '0017-counted-entries',
    EntryAlarms1798814000002: '0018-entry-alarms',
    RemovedInstances1798814000026: '0019-removed-instances',
  }),
  sql: sqlFiles(
    'workspace',
    import.meta.url,
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
