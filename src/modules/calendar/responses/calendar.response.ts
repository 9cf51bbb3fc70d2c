import { ApiExtraModels, ApiProperty } from '@nestjs/swagger';
import { NO_UUID, UUID } from '../../../platform/field-docs/field-docs.js';
import { RevisionedFields } from '../../../platform/resources/item.response.js';
import { CALENDAR_ROLES, type CalendarRole } from '../calendar.entity.js';

export class CalendarReminderResponse {
  @ApiProperty({ enum: ['popup', 'email'], example: 'popup' }) method!: 'popup' | 'email';
  /** Minutes before the start. */
  @ApiProperty({ type: 'integer', minimum: 0, example: 10 }) minutes!: number;
}

export class CalendarOwnerResponse {
  @ApiProperty(UUID) id!: string;
  /** @example "Bob Okafor" */ name!: string;
  /** @example "bob@example.com" */ email!: string;
}

/** A user or a group that the calendar is shared with. */
export class CalendarShareResponse {
  @ApiProperty(UUID) user_id!: string | null;
  @ApiProperty(NO_UUID) group_id!: string | null;
  /** @example "Bob Okafor" */ name!: string;
  @ApiProperty({ enum: CALENDAR_ROLES, example: 'reader' }) role!: CalendarRole;
}

/** A calendar as the caller sees it. */
@ApiExtraModels(CalendarShareResponse)
export class CalendarResponse extends RevisionedFields {
  /** @example "Team" */ name!: string;
  /** @example "Meetings of the team" */ description!: string;
  /** As #rrggbb. Each user may have a colour of their own. */
  @ApiProperty({ example: '#2f80ed' }) color!: string;
  /** The zone of times without a zone, of floating times and of days. */
  @ApiProperty({ example: 'Europe/Berlin' }) time_zone!: string;
  /** `own`: you are its owner. `shared`: it is shared with you. */
  @ApiProperty({ enum: ['own', 'shared'], example: 'own' }) kind!: 'own' | 'shared';
  /** Receives the meetings that its owner is invited to. */
  @ApiProperty({ example: false }) is_default!: boolean;
  /** free_busy: times only. reader: events, except private ones. writer: changes events. owner: shares the calendar. */
  @ApiProperty({ enum: CALENDAR_ROLES, example: 'owner' }) role!: CalendarRole;
  owner!: CalendarOwnerResponse;
  /** Your own setting. */
  @ApiProperty({ example: false }) hidden!: boolean;
  /** Your own order. @example 1 */ order!: number | null;
  default_reminders!: CalendarReminderResponse[];
  /** Empty unless your role is owner. */
  shares!: CalendarShareResponse[];
  /** Its events make the owner busy. */
  @ApiProperty({ example: true }) affects_free_busy!: boolean;
  /** Continues with POST /calendar/{id}/sync from the current state. */
  @ApiProperty({ example: 'c1.WzAsNDIsMF0.d2VsbCBzaWduZWQhMTIz' }) sync_token!: string;
}
