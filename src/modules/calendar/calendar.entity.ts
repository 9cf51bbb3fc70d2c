import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import type { Component } from '../../lib/icalendar/index.js';
import { TimedItem, WorkspaceItem } from '../../platform/database/schema/item.entity.js';

/** In ascending order of rights. */
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
  /** The same for instances where it differs, such as a dismissed one, by their keys. */
  instances?: Record<string, Component>;
}

@Entity('calendars')
@Index('calendars_default', ['tenantId', 'ownerId'], { unique: true, where: 'is_default' })
@Index('calendars_owner', ['tenantId', 'ownerId'])
export class Calendar extends TimedItem {
  @Column('uuid', { name: 'owner_id' }) ownerId!: string;
  @Column('text') name!: string;
  @Column('text') description!: string;
  @Column('text') color!: string;
  @Column('text', { name: 'time_zone' }) timeZone!: string;
  @Column('boolean', { name: 'is_default' }) isDefault!: boolean;
  @Column('boolean', { name: 'affects_free_busy' }) affectsFreeBusy!: boolean;
  @Column('jsonb', { name: 'default_reminders' }) defaultReminders!: Reminder[];
  @Column('int') revision!: number;
  /** Number of the last change of its placements. */
  @Column('bigint', { name: 'change_seq' }) changeSeq!: string;
  @Column('bigint', { name: 'floor_seq' }) floorSeq!: string;
  /** Placements when they were last counted, and the number of the last change at that time. */
  @Column('int', { name: 'counted_entries', default: 0 }) countedEntries!: number;
  @Column('bigint', { name: 'counted_seq', default: 0 }) countedSeq!: string;
}

/** Key of the calendar, for tables of its parts, which are deleted with it. */
@ForeignKey('Calendar', ['tenantId', 'calendarId'], ['tenantId', 'id'], { onDelete: 'CASCADE' })
abstract class CalendarPart {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'calendar_id' }) calendarId!: string;
}

@Entity('calendar_shares')
@Index('calendar_shares_grantee', ['tenantId', 'granteeId'])
export class CalendarShare extends CalendarPart {
  @PrimaryColumn('text', { name: 'grantee_kind' }) granteeKind!: 'user' | 'group';
  @PrimaryColumn('uuid', { name: 'grantee_id' }) granteeId!: string;
  @Column(ROLE) role!: CalendarRole;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}

/** How one user sees a calendar; null: as its owner set it. */
@Entity('calendar_preferences')
@ForeignKey('Calendar', ['tenantId', 'calendarId'], ['tenantId', 'id'], { onDelete: 'CASCADE' })
export class CalendarPreference {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'user_id' }) userId!: string;
  @PrimaryColumn('uuid', { name: 'calendar_id' }) calendarId!: string;
  @Column('text', { nullable: true }) color!: string | null;
  @Column('boolean') hidden!: boolean;
  @Column('double precision', { nullable: true }) position!: number | null;
}

@Entity('calendar_events')
@Index('calendar_events_uid', ['tenantId', 'uid'])
@Index('calendar_events_titles', ['tenantId', 'createdBy', 'titleKey'])
@Index('calendar_events_deleted', ['deletedAt'], { where: 'deleted_at IS NOT NULL' })
export class CalendarEvent extends TimedItem {
  @Column('text') uid!: string;
  @Column('uuid', { name: 'origin_calendar_id' }) originCalendarId!: string;
  @Column('uuid', { name: 'organizer_id', nullable: true }) organizerId!: string | null;
  @Column('text', { name: 'organizer_email' }) organizerEmail!: string;
  @Column('text', { name: 'organizer_name' }) organizerName!: string;
  @Column('text') origin!: string;
  @Column('text') title!: string;
  @Column('text') description!: string;
  @Column('text') location!: string;
  @Column('jsonb') locations!: unknown;
  @Column('text') starts!: string;
  @Column('text') ends!: string;
  @Column('text', { name: 'time_zone', nullable: true }) timeZone!: string | null;
  @Column('text', { name: 'end_time_zone', nullable: true }) endTimeZone!: string | null;
  @Column('boolean', { name: 'exact_duration' }) exactDuration!: boolean;
  @Column('text', { array: true }) rules!: string[];
  @Column('text', { array: true }) added!: string[];
  @Column('text', { array: true }) excluded!: string[];
  @Column('text') status!: string;
  @Column('text', { name: 'show_as' }) showAs!: string;
  @Column('text') visibility!: string;
  @Column('text', { nullable: true }) color!: string | null;
  @Column('text', { array: true }) categories!: string[];
  @Column('jsonb', { nullable: true }) conference!: unknown;
  @Column('jsonb') links!: unknown;
  @Column('jsonb') custom!: unknown;
  @Column('boolean', { name: 'proposals_allowed' }) proposalsAllowed!: boolean;
  @Column('int') sequence!: number;
  @Column('timestamptz') dtstamp!: Date;
  @Column('uuid', { name: 'split_from', nullable: true }) splitFrom!: string | null;
  @Column('int', { name: 'participants_count' }) participantsCount!: number;
  @Column('int', { name: 'overrides_count' }) overridesCount!: number;
  @Column('text', { name: 'title_key' }) titleKey!: string;
  @Column('int') revision!: number;
  @Column('uuid', { name: 'created_by' }) createdBy!: string;
  @Column('uuid', { name: 'updated_by' }) updatedBy!: string;
  @Column('timestamptz', { name: 'deleted_at', nullable: true }) deletedAt!: Date | null;
}

/** Key of the event, for tables of its parts, which are deleted with it. */
@ForeignKey('CalendarEvent', ['tenantId', 'eventId'], ['tenantId', 'id'], { onDelete: 'CASCADE' })
abstract class EventPart {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'event_id' }) eventId!: string;
}

@Entity('event_overrides')
export class EventOverride extends EventPart {
  @PrimaryColumn('text', { name: 'recurrence_key' }) recurrenceKey!: string;
  @Column('jsonb') patch!: unknown;
  @Column('int') sequence!: number;
  @Column('timestamptz') dtstamp!: Date;
}

@Entity('event_participants')
@Index('event_participants_email', ['tenantId', 'email'])
export class EventParticipant extends EventPart {
  @PrimaryColumn('text', { name: 'recurrence_key' }) recurrenceKey!: string;
  @PrimaryColumn('text') email!: string;
  @Column('uuid', { name: 'user_id', nullable: true }) userId!: string | null;
  @Column('text') name!: string;
  @Column('text') role!: string;
  @Column('text') kind!: string;
  @Column('text') response!: string;
  @Column('boolean') rsvp!: boolean;
  @Column('text') comment!: string;
  @Column('timestamptz', { name: 'responded_at', nullable: true }) respondedAt!: Date | null;
  @Column('int', { name: 'reply_sequence', nullable: true }) replySequence!: number | null;
  @Column('timestamptz', { name: 'reply_dtstamp', nullable: true }) replyDtstamp!: Date | null;
  @Column('text', { name: 'delegated_to', nullable: true }) delegatedTo!: string | null;
  @Column('text', { name: 'delegated_from', nullable: true }) delegatedFrom!: string | null;
  @Column('text', { name: 'schedule_status', nullable: true }) scheduleStatus!: string | null;
  @Column('boolean', { default: false }) uninvited!: boolean;
  @Column('boolean', { default: false }) removed!: boolean;
}

@Entity('calendar_entries')
@Index('calendar_entries_tenant_id_calendar_id_uid_key', ['tenantId', 'calendarId', 'uid'], { unique: true })
@Index('calendar_entries_start', ['tenantId', 'calendarId', 'spanStart', 'eventId'])
@Index('calendar_entries_wide', ['tenantId', 'calendarId', 'spanEnd'], { where: 'wide' })
@Index('calendar_entries_changes', ['tenantId', 'calendarId', 'changeSeq'])
@Index('calendar_entries_event', ['tenantId', 'eventId'])
@Index('calendar_entries_reminders', ['nextReminderAt'], { where: 'next_reminder_at IS NOT NULL' })
@ForeignKey('CalendarEvent', ['tenantId', 'eventId'], ['tenantId', 'id'], { onDelete: 'CASCADE' })
export class CalendarEntry extends CalendarPart {
  @PrimaryColumn('uuid', { name: 'event_id' }) eventId!: string;
  @Column('text') uid!: string;
  @Column('timestamptz', { name: 'span_start' }) spanStart!: Date;
  @Column('timestamptz', { name: 'span_end' }) spanEnd!: Date;
  @Column('boolean') wide!: boolean;
  @Column('text', { nullable: true }) response!: string | null;
  @Column('text', { name: 'show_as', nullable: true }) showAs!: string | null;
  @Column('text', { nullable: true }) color!: string | null;
  @Column('jsonb', { nullable: true }) reminders!: unknown;
  @Column('jsonb', { nullable: true }) alarms!: unknown;
  @Column('boolean') hidden!: boolean;
  @Column('bigint', { name: 'change_seq' }) changeSeq!: string;
  /** Time at which the reminder clock checks the placement; null: it has no further reminder. */
  @Column('timestamptz', { name: 'next_reminder_at', nullable: true }) nextReminderAt!: Date | null;
  /** Reminders up to this moment have been reported. */
  @Column('timestamptz', { name: 'reminded_until' }) remindedUntil!: Date;
}

@Entity('entry_tombstones')
@Index('entry_tombstones_changes', ['tenantId', 'calendarId', 'changeSeq'])
@Index('entry_tombstones_age', ['deletedAt'])
export class EntryTombstone extends CalendarPart {
  @PrimaryColumn('uuid', { name: 'event_id' }) eventId!: string;
  @Column('text') uid!: string;
  @Column('bigint', { name: 'change_seq' }) changeSeq!: string;
  @Column('timestamptz', { name: 'deleted_at' }) deletedAt!: Date;
}

@Entity('event_proposals')
@Index('event_proposals_event', ['tenantId', 'eventId'])
@ForeignKey('CalendarEvent', ['tenantId', 'eventId'], ['tenantId', 'id'], { onDelete: 'CASCADE' })
export class EventProposal extends WorkspaceItem {
  @Column('uuid', { name: 'event_id' }) eventId!: string;
  @Column('text', { name: 'recurrence_key' }) recurrenceKey!: string;
  @Column('text', { name: 'by_email' }) byEmail!: string;
  @Column('text', { name: 'by_name' }) byName!: string;
  @Column('uuid', { name: 'by_user_id', nullable: true }) byUserId!: string | null;
  @Column('text') starts!: string;
  @Column('text') ends!: string;
  @Column('text', { name: 'time_zone', nullable: true }) timeZone!: string | null;
  @Column('text', { name: 'end_time_zone', nullable: true }) endTimeZone!: string | null;
  @Column('boolean', { name: 'exact_duration' }) exactDuration!: boolean;
  @Column('text') comment!: string;
  @Column('text') status!: string;
  @Column('int', { name: 'base_sequence' }) baseSequence!: number;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}

@Entity('event_history')
export class EventHistory extends EventPart {
  @PrimaryColumn('int') revision!: number;
  @Column('uuid', { name: 'actor_id' }) actorId!: string;
  @Column('text') action!: string;
  @Column('text', { name: 'recurrence_key' }) recurrenceKey!: string;
  @Column('text', { array: true }) fields!: string[];
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}

/** Search index entry of an event. */
@Entity('event_search')
export class EventSearch extends EventPart {
  @Column('int') revision!: number;
  @Column('uuid') audience!: string;
  @Column('smallint') rules!: number;
  @Column('tsvector') tsv!: string;
  @Column('text') beginning!: string;
}
