import { ApiPropertyOptional, IntersectionType, OmitType, PartialType } from '@nestjs/swagger';
import { IsNumber, IsOptional, IsString, IsUUID, ValidateIf } from 'class-validator';
import { BaseRevision } from '../../../platform/concurrency/base-revision.dto.js';
import {
  Entries,
  Flag,
  Name,
  Nullable,
  OneOf,
  Optional,
  Text,
  Uuid,
  EachOf,
} from '../../../platform/http/input.decorators.js';
import { PageQuery } from '../../../platform/paging/page.dto.js';
import { EXAMPLE_ID } from '../../../platform/field-docs/field-docs.js';
import { ClientId } from '../../../platform/resources/folder.dto.js';
import { CALENDAR_ROLES, type CalendarRole } from '../calendar.schema.js';
import { Color, IsZone, ReminderFields, Reminders } from '../input/event-fields.dto.js';

const MAX_SHARES = 200;
const INCLUDES = ['shared', 'hidden', 'holidays'] as const;

export class ListCalendars extends PageQuery {
  /** `hidden` adds the calendars that you have hidden. Other own and shared calendars are always listed. */
  @EachOf(INCLUDES) include?: (typeof INCLUDES)[number][];
}

/** A user or a group, and the role that the calendar gives them. */
export class ShareFields {
  @ApiPropertyOptional({ example: EXAMPLE_ID })
  @ValidateIf(({ group_id }: ShareFields, value) => (value !== undefined && value !== null) || !group_id)
  @IsUUID('all', { message: 'user_id must be a UUID' })
  user_id?: string | null;

  @ApiPropertyOptional({ type: String, nullable: true, example: null })
  @Nullable()
  @IsUUID('all', { message: 'group_id must be a UUID' })
  group_id?: string | null;

  @OneOf(CALENDAR_ROLES, { example: 'reader' }) role!: CalendarRole;
}

export class CreateCalendar extends ClientId {
  @Name(200, { example: 'Team' }) name!: string;
  /** Plain text. */
  @Optional() @Text(4000, { example: 'Meetings of the team' }) description?: string;

  /** As #rrggbb. */
  @ApiPropertyOptional({ example: '#2f80ed' })
  @Optional()
  @Color()
  @IsString()
  color?: string;

  /** Default: the zone of your default calendar. */
  @ApiPropertyOptional({ example: 'Europe/Berlin' }) @Optional() @IsZone() time_zone?: string;
  /** Receives the meetings that you are invited to, instead of the present default calendar. */
  @Optional() @Flag({ example: false }) is_default?: boolean;
  /** Its events make you busy; default true. */
  @Optional() @Flag({ example: true }) affects_free_busy?: boolean;

  /** Default: 10 minutes before the start. */
  @ApiPropertyOptional({ type: [ReminderFields], maxItems: 10 })
  @Optional()
  @Reminders()
  default_reminders?: ReminderFields[];

  /** Replaces all shares. */
  @Optional() @Entries(ShareFields, MAX_SHARES, { example: [] }) shares?: ShareFields[];
}

export class UpdateCalendar extends IntersectionType(
  PartialType(OmitType(CreateCalendar, ['id', 'color']), { skipNullProperties: false }),
  BaseRevision,
) {
  /** As #rrggbb. For a calendar that is shared with you: your own colour; null: the colour of the owner. */
  @ApiPropertyOptional({ type: String, nullable: true, example: '#27ae60' })
  @Nullable()
  @Color()
  @IsString()
  color?: string | null;

  /** Your own setting. */
  @Optional() @Flag({ example: false }) hidden?: boolean;

  /** Your own order. Null: after the calendars that have an order. */
  @ApiPropertyOptional({ type: Number, nullable: true, example: 1.5 })
  @Nullable()
  @IsNumber({ allowNaN: false, allowInfinity: false })
  order?: number | null;
}

export class DeleteCalendar {
  /** One of your calendars, which receives the events. Default: the events are cancelled. */
  @IsOptional() @Uuid() move_events_to?: string;
}
