import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import type { Component } from '../../lib/icalendar/index.js';
import { TimedItem, WorkspaceItem } from '../../platform/database/schema/item.entity.js';
import { type SchemaPart, sqlMigrations } from '../../platform/database/schema/schema-part.js';
import { sqlFiles } from '../../platform/database/schema/stored-sql.js';
import { SchedulingDelivery, SchedulingMessage } from './scheduling/scheduling.entity.js';

/** The order is that of the rights, ascending. */
export const CALENDAR_ROLES = ['free_busy', 'reader', 'writer', 'owner'] as const;
export type CalendarRole = (typeof CALENDAR_ROLES)[number];

const ROLE = { type: 'enum', enum: CALENDAR_ROLES, enumName: 'calendar_role' } as const;

export interface Reminder {
  method: 'popup' | 'email';
  minutes: number;
}

/** A reminder of a placement. */
export interface PlacedReminder extends Reminder {
  /** The VALARM of a program without TRIGGER, where it states more than method and time. */
  alarm?: Component;
  /** The VALARMs of instances where it differs, by their keys, as earlier versions stored them: `instance_alarms` has them now. */
  instances?: Record<string, Component>;
}

/** The alarms of an instance where they differ from those of its series. */
export interface InstanceAlarms {
  /** Null means those of the calendar. */
  reminders: PlacedReminder[] | null;
  /** Alarms that are no reminders. */
  alarms: Component[];
}

@Entity('calendars')
@Index('calendars_default', ['tenant_id', 'owner_id'], { unique: true, where: 'is_default' })
@Index('calendars_owner', ['tenant_id', 'owner_id'])
export class Calendar extends TimedItem {
  @Column('uuid') owner_id!: string;
  @Column('text') name!: string;
  @Column('text') description!: string;
  @Column('text') color!: string;
  @Column('text') time_zone!: string;
  @Column('boolean') is_default!: boolean;
  @Column('boolean') affects_free_busy!: boolean;
  @Column('jsonb') default_reminders!: Reminder[];
  @Column('int') revision!: number;
  /** Number of the last change of its placements. */
  @Column('bigint') change_seq!: string;
  @Column('bigint') floor_seq!: string;
  /** Placements when they were last counted, and the number of the last change at that time. */
  @Column('int', { default: 0 }) counted_entries!: number;
  @Column('bigint', { default: 0 }) counted_seq!: string;
}

/** Key of the calendar, for tables of its parts, which are deleted with it. */
@ForeignKey('Calendar', ['tenant_id', 'calendar_id'], ['tenant_id', 'id'], { onDelete: 'CASCADE' })
abstract class CalendarPart {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') calendar_id!: string;
}

@Entity('calendar_shares')
@Index('calendar_shares_grantee', ['tenant_id', 'grantee_id'])
export class CalendarShare extends CalendarPart {
  @PrimaryColumn('text') grantee_kind!: 'user' | 'group';
  @PrimaryColumn('uuid') grantee_id!: string;
  @Column(ROLE) role!: CalendarRole;
  @Column('timestamptz') created_at!: Date;
}

/** How one user sees a calendar; null: as its owner set it. */
@Entity('calendar_preferences')
@ForeignKey('Calendar', ['tenant_id', 'calendar_id'], ['tenant_id', 'id'], { onDelete: 'CASCADE' })
export class CalendarPreference {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') user_id!: string;
  @PrimaryColumn('uuid') calendar_id!: string;
  @Column('text', { nullable: true }) color!: string | null;
  @Column('boolean') hidden!: boolean;
  @Column('double precision', { nullable: true }) position!: number | null;
}

@Entity('calendar_events')
@Index('calendar_events_uid', ['tenant_id', 'uid'])
@Index('calendar_events_titles', ['tenant_id', 'created_by', 'title_key'])
@Index('calendar_events_deleted', ['deleted_at'], { where: 'deleted_at IS NOT NULL' })
export class CalendarEvent extends TimedItem {
  @Column('text') uid!: string;
  @Column('uuid') origin_calendar_id!: string;
  @Column('uuid', { nullable: true }) organizer_id!: string | null;
  @Column('text') organizer_email!: string;
  @Column('text') organizer_name!: string;
  @Column('text') origin!: string;
  @Column('text') title!: string;
  @Column('text') description!: string;
  @Column('text') location!: string;
  @Column('jsonb') locations!: unknown;
  @Column('text') starts!: string;
  @Column('text') ends!: string;
  /** Null means days, or floating times. */
  @Column('text', { nullable: true }) time_zone!: string | null;
  @Column('text', { nullable: true }) end_time_zone!: string | null;
  /** The length is a number of seconds; else a difference of wall times. */
  @Column('boolean') exact_duration!: boolean;
  @Column('text', { array: true }) rules!: string[];
  @Column('text', { array: true }) added!: string[];
  @Column('text', { array: true }) excluded!: string[];
  @Column('text') status!: string;
  @Column('text') show_as!: string;
  @Column('text') visibility!: string;
  @Column('text', { nullable: true }) color!: string | null;
  @Column('text', { array: true }) categories!: string[];
  @Column('jsonb', { nullable: true }) conference!: unknown;
  @Column('jsonb') links!: unknown;
  @Column('jsonb') custom!: unknown;
  /** The version of the last import; null without one. */
  @Column('jsonb', { nullable: true }) imported!: unknown;
  @Column('boolean') proposals_allowed!: boolean;
  @Column('int') sequence!: number;
  @Column('timestamptz') dtstamp!: Date;
  @Column('uuid', { nullable: true }) split_from!: string | null;
  @Column('int') participants_count!: number;
  @Column('int') overrides_count!: number;
  @Column('text') title_key!: string;
  @Column('int') revision!: number;
  @Column('uuid') created_by!: string;
  @Column('uuid') updated_by!: string;
  @Column('timestamptz', { nullable: true }) deleted_at!: Date | null;
}

/** Key of the event, for tables of its parts, which are deleted with it. */
@ForeignKey('CalendarEvent', ['tenant_id', 'event_id'], ['tenant_id', 'id'], { onDelete: 'CASCADE' })
abstract class EventPart {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') event_id!: string;
}

/** Statements read the rows of an event as one JSON array (`EventJson`), so no statement returns this row. */
@Entity('event_overrides')
export class EventOverride extends EventPart {
  @PrimaryColumn('text') recurrence_key!: string;
  @Column('jsonb') patch!: unknown;
  @Column('int') sequence!: number;
  @Column('timestamptz') dtstamp!: Date;
}

@Entity('event_participants')
@Index('event_participants_email', ['tenant_id', 'email'])
export class EventParticipant extends EventPart {
  /** Empty: the whole event. */
  @PrimaryColumn('text') recurrence_key!: string;
  @PrimaryColumn('text') email!: string;
  @Column('uuid', { nullable: true }) user_id!: string | null;
  @Column('text') name!: string;
  @Column('text') role!: string;
  @Column('text') kind!: string;
  @Column('text') response!: string;
  @Column('boolean') rsvp!: boolean;
  @Column('text') comment!: string;
  @Column('timestamptz', { nullable: true }) responded_at!: Date | null;
  @Column('int', { nullable: true }) reply_sequence!: number | null;
  @Column('timestamptz', { nullable: true }) reply_dtstamp!: Date | null;
  @Column('text', { nullable: true }) delegated_to!: string | null;
  @Column('text', { nullable: true }) delegated_from!: string | null;
  @Column('text', { nullable: true }) schedule_status!: string | null;
  /** An attendee of the series who is not invited to this instance. */
  @Column('boolean', { default: false }) uninvited!: boolean;
  /** The attendee declined the instance, or it and all later ones, and no longer sees them. */
  @Column('boolean', { default: false }) removed!: boolean;
}

@Entity('calendar_entries')
@Index('calendar_entries_tenant_id_calendar_id_uid_key', ['tenant_id', 'calendar_id', 'uid'], {
  unique: true,
})
@Index('calendar_entries_start', ['tenant_id', 'calendar_id', 'span_start', 'event_id'])
@Index('calendar_entries_wide', ['tenant_id', 'calendar_id', 'span_end'], { where: 'wide' })
@Index('calendar_entries_changes', ['tenant_id', 'calendar_id', 'change_seq'])
@Index('calendar_entries_event', ['tenant_id', 'event_id'])
@Index('calendar_entries_reminders', ['next_reminder_at'], { where: 'next_reminder_at IS NOT NULL' })
@ForeignKey('CalendarEvent', ['tenant_id', 'event_id'], ['tenant_id', 'id'], { onDelete: 'CASCADE' })
export class CalendarEntry extends CalendarPart {
  @PrimaryColumn('uuid') event_id!: string;
  @Column('text') uid!: string;
  @Column('timestamptz') span_start!: Date;
  @Column('timestamptz') span_end!: Date;
  @Column('boolean') wide!: boolean;
  @Column('text', { nullable: true }) response!: string | null;
  @Column('text', { nullable: true }) show_as!: string | null;
  @Column('text', { nullable: true }) color!: string | null;
  @Column('jsonb', { nullable: true }) reminders!: unknown;
  @Column('jsonb', { nullable: true }) alarms!: unknown;
  /** `InstanceAlarms` by the keys of the instances. */
  @Column('jsonb', { nullable: true }) instance_alarms!: unknown;
  @Column('boolean') hidden!: boolean;
  @Column('bigint') change_seq!: string;
  /** The number of the last change that is no response of others; 0: the event has no attendees; null: `change_seq`. */
  @Column('bigint', { nullable: true }) schedule_seq!: string | null;
  /** Time at which the reminder clock checks the placement; null: it has no further reminder. */
  @Column('timestamptz', { nullable: true }) next_reminder_at!: Date | null;
  /** Reminders up to this moment have been reported. */
  @Column('timestamptz') reminded_until!: Date;
}

/** Statements return removals together with entries, under the names of both, so no statement returns this row. */
@Entity('entry_tombstones')
@Index('entry_tombstones_changes', ['tenant_id', 'calendar_id', 'change_seq'])
@Index('entry_tombstones_age', ['deleted_at'])
export class EntryTombstone extends CalendarPart {
  @PrimaryColumn('uuid') event_id!: string;
  @Column('text') uid!: string;
  @Column('bigint') change_seq!: string;
  @Column('timestamptz') deleted_at!: Date;
}

@Entity('event_proposals')
@Index('event_proposals_event', ['tenant_id', 'event_id'])
@ForeignKey('CalendarEvent', ['tenant_id', 'event_id'], ['tenant_id', 'id'], { onDelete: 'CASCADE' })
export class EventProposal extends WorkspaceItem {
  @Column('uuid') event_id!: string;
  @Column('text') recurrence_key!: string;
  @Column('text') by_email!: string;
  @Column('text') by_name!: string;
  @Column('uuid', { nullable: true }) by_user_id!: string | null;
  @Column('text') starts!: string;
  @Column('text') ends!: string;
  @Column('text', { nullable: true }) time_zone!: string | null;
  @Column('text', { nullable: true }) end_time_zone!: string | null;
  @Column('boolean') exact_duration!: boolean;
  @Column('text') comment!: string;
  @Column('text') status!: string;
  @Column('int') base_sequence!: number;
  @Column('timestamptz') created_at!: Date;
}

@Entity('event_history')
export class EventHistory extends EventPart {
  @PrimaryColumn('int') revision!: number;
  @Column('uuid') actor_id!: string;
  @Column('text') action!: string;
  @Column('text') recurrence_key!: string;
  @Column('text', { array: true }) fields!: string[];
  @Column('timestamptz') created_at!: Date;
}

/** Search index entry of an event. The statements of `platform/search`, which name the table, read and write it. */
@Entity('event_search')
export class EventSearch extends EventPart {
  @Column('int') revision!: number;
  @Column('uuid') audience!: string;
  @Column('smallint') rules!: number;
  @Column('tsvector') tsv!: string;
  @Column('text') beginning!: string;
}

@Entity('polls')
@Index('polls_open', ['tenant_id', 'owner_id'], { where: 'option_id IS NULL AND cancelled_at IS NULL' })
export class Poll extends TimedItem {
  @Column('uuid') owner_id!: string;
  @Column('uuid', { nullable: true }) calendar_id!: string | null;
  @Column('text') title!: string;
  @Column('text') description!: string;
  @Column('text') location!: string;
  @Column('text') time_zone!: string;
  @Column('text') kind!: 'time' | 'date';
  @Column('timestamptz', { nullable: true }) deadline!: Date | null;
  @Column('boolean') allow_if_needed!: boolean;
  @Column('boolean') anonymous!: boolean;
  @Column('uuid', { nullable: true }) option_id!: string | null;
  @Column('uuid', { nullable: true }) event_id!: string | null;
  @Column('timestamptz', { nullable: true }) cancelled_at!: Date | null;
  @Column('int') revision!: number;
}

@Entity('poll_options')
@ForeignKey('Poll', ['tenant_id', 'poll_id'], ['tenant_id', 'id'], { onDelete: 'CASCADE' })
export class PollOption {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') poll_id!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('int') position!: number;
  /** Instants, or days with the same end. */
  @Column('text') starts!: string;
  @Column('text') ends!: string;
  /** The tentative event that keeps the time free. */
  @Column('uuid', { nullable: true }) hold_event_id!: string | null;
}

@Entity('poll_participants')
@Index('poll_participants_tenant_id_poll_id_email_key', ['tenant_id', 'poll_id', 'email'], { unique: true })
@ForeignKey('Poll', ['tenant_id', 'poll_id'], ['tenant_id', 'id'], { onDelete: 'CASCADE' })
export class PollParticipant {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') poll_id!: string;
  @PrimaryColumn('uuid') id!: string;
  /** Lower case. */
  @Column('text') email!: string;
  @Column('uuid', { nullable: true }) user_id!: string | null;
  @Column('text') name!: string;
  @Column('boolean') required!: boolean;
  @Column('text') comment!: string;
  @Column('timestamptz', { nullable: true }) responded_at!: Date | null;
}

/** A statement replaces all votes of a participant, and readers get those of a poll as one JSON array. */
@Entity('poll_votes')
@ForeignKey('PollOption', ['tenant_id', 'poll_id', 'option_id'], ['tenant_id', 'poll_id', 'id'], {
  onDelete: 'CASCADE',
})
@ForeignKey('PollParticipant', ['tenant_id', 'poll_id', 'participant_id'], ['tenant_id', 'poll_id', 'id'], {
  onDelete: 'CASCADE',
})
export class PollVote {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') poll_id!: string;
  @PrimaryColumn('uuid') option_id!: string;
  @PrimaryColumn('uuid') participant_id!: string;
  @Column('text') answer!: string;
}

@Entity('calendar_feeds')
@Index('calendar_feeds_token', ['tenant_id', 'token_hash'], { unique: true })
@Index('calendar_feeds_calendar', ['tenant_id', 'calendar_id'])
@ForeignKey('Calendar', ['tenant_id', 'calendar_id'], ['tenant_id', 'id'], { onDelete: 'CASCADE' })
export class CalendarFeed extends WorkspaceItem {
  @Column('uuid') calendar_id!: string;
  @Column('uuid') user_id!: string;
  @Column('bytea') token_hash!: Buffer;
  @Column('text') details!: 'full' | 'busy';
  @Column('timestamptz') created_at!: Date;
}

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
  growth: {
    trimmedBy: {
      'forget-calendar-removals': ['entry_tombstones'],
      'purge-scheduling-messages': ['scheduling_messages'],
    },
    cleanedBy: {
      'purge-cancelled-events': [
        'calendar_entries',
        'calendar_events',
        'event_overrides',
        'event_participants',
      ],
      'purge-scheduling-messages': ['scheduling_deliveries'],
    },
    content: [
      'calendar_feeds',
      'calendar_shares',
      'calendars',
      'event_history',
      'event_proposals',
      'event_search',
      'poll_options',
      'poll_participants',
      'poll_votes',
      'polls',
    ],
    bounded: ['calendar_preferences'],
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
    ImportedVersions1798814000062: '0020-imported-versions',
    DeliveryOrder1798814000070: '0021-delivery-order',
    InstanceAlarms1798814000090: '0022-instance-alarms',
    DeliveriesOfEvent1798814000091: '0023-deliveries-of-event',
    ScheduleTags1798815000010: '0024-schedule-tags',
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
