import { ApiExtraModels, ApiProperty, ApiPropertyOptional, getSchemaPath } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import {
  Allow,
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsString,
  IsUUID,
  Length,
  MaxLength,
  ValidateNested,
} from 'class-validator';
import {
  asInstance,
  asPerson,
  Distinct,
  EachAs,
  MaxBytes,
  MayBeAbsent,
  Nullable,
  Timestamp,
} from '../../platform/http/input.decorators.js';
import {
  CalendarDay,
  LowerCase,
  Moment,
  NotBlank,
  TimeZone,
  NamedPerson,
  Recurrence,
  ReferenceInput,
  ReminderInput,
} from './task-fields.dto.js';
import { PRIORITIES, STATUSES, type TaskPriority, type TaskStatus } from './task.entity.js';

export const MAX_TITLE = 512;
export const MAX_DESCRIPTION_BYTES = 256 * 1024;
export const MAX_GROUP = 200;
const MAX_LABELS = 100;
const MAX_LABEL = 100;
const MAX_ASSIGNEES = 50;
const MAX_REFERENCES = 50;
const MAX_REMINDERS = 10;
const ID = '01890a5d-ac96-774b-bcce-b302099a8057';

// Validators run from the property upwards: the type is checked first and the first problem is the one reported.

/** What any task may carry when it is made or changed. */
@ApiExtraModels(NamedPerson, Recurrence, ReferenceInput, ReminderInput)
export class TaskFields {
  @ApiPropertyOptional({
    type: String,
    nullable: true,
    example: '<p>Two nights, six people</p>',
    description:
      'HTML, at most 256 KiB. Kept as sent when it is harmless; what could run or load something is removed.',
  })
  @Nullable()
  @MaxBytes(MAX_DESCRIPTION_BYTES)
  @IsString()
  description?: string | null;

  @ApiPropertyOptional({
    type: String,
    format: 'date',
    nullable: true,
    example: '2026-12-01',
    description: 'The day it is due.',
  })
  @Nullable()
  @CalendarDay()
  date?: string | null;

  @ApiPropertyOptional({
    enum: PRIORITIES,
    example: 'high',
    description: 'In any case. `normal` where a new task is not given one.',
  })
  @MayBeAbsent()
  @IsIn(PRIORITIES)
  @LowerCase()
  priority?: TaskPriority;

  @ApiPropertyOptional({
    type: 'array',
    maxItems: MAX_ASSIGNEES,
    items: { anyOf: [{ $ref: getSchemaPath(NamedPerson) }, { type: 'string' }] },
    example: [{ email: 'bob@demo.example' }],
    description:
      'The whole list, in the order to keep; who is named twice counts once. A bare string is an id or an address.',
  })
  @MayBeAbsent()
  @ValidateNested({ each: true, message: 'each entry of assignees must be an object, an id or an address' })
  @EachAs((entry) => asPerson(NamedPerson, entry))
  @ArrayMaxSize(MAX_ASSIGNEES)
  @IsArray()
  assignees?: NamedPerson[];

  @ApiPropertyOptional({
    type: String,
    nullable: true,
    maxLength: MAX_GROUP,
    example: 'Travel',
    description: 'A heading to list it under.',
  })
  @Nullable()
  @MaxLength(MAX_GROUP)
  @IsString()
  group?: string | null;

  @ApiPropertyOptional({
    type: 'array',
    maxItems: MAX_REFERENCES,
    items: { $ref: getSchemaPath(ReferenceInput) },
    example: [{ type: 'url', url: 'https://example.com/hotel', title: 'The hotel' }],
    description: 'Notes and tasks that you can see, and addresses on the web. The whole list.',
  })
  @MayBeAbsent()
  @ValidateNested({ each: true, message: 'each entry of references must be an object' })
  @EachAs((entry) => asInstance(ReferenceInput, entry))
  @ArrayMaxSize(MAX_REFERENCES)
  @IsArray()
  references?: ReferenceInput[];
}

/** A task made from a note (spec 4.2). */
export class LinkedTask extends TaskFields {
  @ApiPropertyOptional({
    maxLength: MAX_TITLE,
    example: 'Book the rooms',
    description: 'When it is left out or blank: that of the note.',
  })
  @MayBeAbsent()
  @MaxLength(MAX_TITLE)
  @IsString()
  title?: string;
}

/** What a task of its own may carry beyond one made from a note. */
export class OwnTaskFields extends TaskFields {
  @ApiPropertyOptional({
    enum: STATUSES,
    example: 'open',
    description: '`open` where a new task is not given one.',
  })
  @MayBeAbsent()
  @IsIn(STATUSES)
  @LowerCase()
  status?: TaskStatus;

  @ApiPropertyOptional({
    example: false,
    description: 'The same as `status`: done or, where it was done, open.',
  })
  @MayBeAbsent()
  @IsBoolean()
  done?: boolean;

  @ApiPropertyOptional({
    type: String,
    format: 'date-time',
    nullable: true,
    example: '2026-12-01T17:00:00Z',
    description: 'The moment it is due, which decides `date`. Another `date` alone keeps the hour.',
  })
  @Nullable()
  @Moment()
  @Timestamp()
  due_at?: Date | null;

  @ApiPropertyOptional({
    example: 'Europe/Paris',
    description: 'In which `date` is a day, of the IANA database. `UTC` where a new task is not given one.',
  })
  @MayBeAbsent()
  @TimeZone()
  time_zone?: string;

  @ApiPropertyOptional({
    nullable: true,
    anyOf: [{ $ref: getSchemaPath(Recurrence) }, { type: 'string' }, { type: 'null' }],
    example: { rrule: 'FREQ=WEEKLY;BYDAY=MO', from: 'schedule' },
    description: 'Completing the task makes the next one. Needs a `date`. A bare string is the rule.',
  })
  @Nullable()
  @ValidateNested({ message: 'recurrence must be an object or a rule' })
  @Transform(({ value }) => asInstance(Recurrence, typeof value === 'string' ? { rrule: value } : value))
  recurrence?: Recurrence | null;

  @ApiPropertyOptional({
    type: 'array',
    maxItems: MAX_REMINDERS,
    items: { $ref: getSchemaPath(ReminderInput) },
    example: [{ minutes_before: 30 }],
  })
  @MayBeAbsent()
  @ValidateNested({ each: true, message: 'each entry of reminders must be an object' })
  @EachAs((entry) => asInstance(ReminderInput, entry))
  @ArrayMaxSize(MAX_REMINDERS)
  @IsArray()
  reminders?: ReminderInput[];

  @ApiPropertyOptional({
    type: String,
    format: 'uuid',
    nullable: true,
    example: null,
    description: 'A task folder you may write to.',
  })
  @Nullable()
  @IsUUID('all', { message: 'folder_id must be the id of a task folder' })
  folder_id?: string | null;

  @ApiPropertyOptional({ type: [String], maxItems: MAX_LABELS, example: ['offsite'] })
  @MayBeAbsent()
  @Distinct()
  @Length(1, MAX_LABEL, { each: true })
  @IsString({ each: true })
  @ArrayMaxSize(MAX_LABELS)
  @IsArray()
  labels?: string[];

  @ApiPropertyOptional({
    anyOf: [
      { type: 'string', maxLength: 200 },
      { type: 'object', properties: { before: { type: 'string', format: 'uuid' } }, required: ['before'] },
      { type: 'object', properties: { after: { type: 'string', format: 'uuid' } }, required: ['after'] },
    ],
    example: 'first',
    description:
      'Manual order: `first`, `last` (default), `{ "before": id }` or `{ "after": id }` of a task in the same folder, or a key such as tasks carry.',
  })
  @Allow()
  position?: unknown;
}

const TITLE = { minLength: 1, maxLength: MAX_TITLE, example: 'Book the rooms' };
const BASE = {
  type: 'integer' as const,
  minimum: 1,
  example: 1,
  description:
    'The revision you read; or send `If-Match`. Without either the task is changed whatever it is now.',
};

export class CreateTask extends OwnTaskFields {
  @ApiProperty(TITLE)
  @MaxLength(MAX_TITLE)
  @NotBlank()
  @IsString()
  title!: string;

  @ApiPropertyOptional({ format: 'uuid', example: ID, description: 'Chosen by the client; any UUID.' })
  @MayBeAbsent()
  @IsUUID('all', { message: 'id must be a UUID' })
  id?: string;
}

export class UpdateTask extends OwnTaskFields {
  @ApiPropertyOptional(TITLE)
  @MayBeAbsent()
  @MaxLength(MAX_TITLE)
  @NotBlank()
  @IsString()
  title?: string;

  @ApiPropertyOptional(BASE)
  @Allow()
  base_revision?: number;
}

export class DeleteTask {
  @ApiPropertyOptional(BASE)
  @Allow()
  base_revision?: number;
}
