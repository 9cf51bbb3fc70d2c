import {
  ApiExtraModels,
  ApiProperty,
  ApiPropertyOptional,
  getSchemaPath,
  IntersectionType,
  OmitType,
  PartialType,
  PickType,
} from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { Allow, ArrayMaxSize, IsArray, IsString, IsUUID, MaxLength, ValidateNested } from 'class-validator';
import {
  asInstance,
  asNamedUser,
  AsLabels,
  Labels,
  EachAs,
  Entries,
  Flag,
  MaxBytes,
  Moment,
  Nullable,
  OneOf,
  Optional,
  Text,
  Visible,
  VisibleOrEmpty,
} from '../../platform/http/input.decorators.js';
import {
  CalendarDay,
  LowerCase,
  MAX_TITLE,
  NamedUser,
  POSITION,
  Recurrence,
  ReferenceInput,
  ReminderInput,
  TimeZone,
} from './task-fields.dto.js';
import { PRIORITIES, STATUSES, type TaskPriority, type TaskStatus } from './task.entity.js';

const MAX_GROUP = 200;
const MAX_DESCRIPTION_BYTES = 256 * 1024;
const MAX_LABELS = 100;
const MAX_LABEL = 100;
const MAX_ASSIGNEES = 50;
export const MAX_REFERENCES = 50;
const MAX_REMINDERS = 10;
const MAX_DEVICE_ID = 200;
const BASE_REVISION = {
  type: 'integer' as const,
  minimum: 1,
  example: 1,
  description:
    'The revision that you read; `If-Match` means the same. Without either, the task is changed whatever its revision is.',
};

// Validators run from the property upwards: the type is checked first and the first error is reported.

/** Fields that have the same form in requests and responses. */
export class TaskFields {
  @ApiProperty({ minLength: 1, example: 'Book the rooms' })
  @MaxLength(MAX_TITLE)
  @Visible()
  @IsString()
  title!: string;

  /**
   * HTML, at most 256 KiB. Harmless HTML is stored unchanged; scripts and references to other remote content than pictures are
   * removed. Ids, and the links to them, get the prefix `user-content-`. A picture of another server tells that server who reads it
   * when: load it after a question to the reader, or through a proxy.
   * @example "<p>Two nights, six people</p>"
   */
  @Nullable() @MaxBytes(MAX_DESCRIPTION_BYTES) @IsString() description!: string | null;
  /** Accepted in upper or lower case. Default for a new task: `open`. */
  @LowerCase() @OneOf(STATUSES, { example: 'open' }) status!: TaskStatus;
  /**
   * Whether the status is `done`. Setting it changes the status to `done`, or from `done` to `open`. Of `done` and `status`,
   * the one that differs from the task counts.
   */
  @Flag({ example: false }) done!: boolean;
  /** The day the task is due. */
  @ApiProperty({ format: 'date', example: '2026-12-01' }) @Nullable() @CalendarDay() date!: string | null;
  /** Time zone of `date`, of the IANA database. Default for a new task: that of your profile, else `UTC`. @example "Europe/Paris" */
  @TimeZone() @IsString() time_zone!: string;
  /** Accepted in upper or lower case. Default for a new task: `normal`. */
  @LowerCase() @OneOf(PRIORITIES, { example: 'high' }) priority!: TaskPriority;
  /** A heading that the task is listed under; null or empty for none. */
  @Nullable() @VisibleOrEmpty() @AsLabels() @Text(MAX_GROUP, { example: 'Travel' }) group!: string | null;

  @Labels(MAX_LABELS, MAX_LABEL, { example: ['offsite'] })
  labels!: string[];
}

const Nested = ApiExtraModels(NamedUser, Recurrence, ReferenceInput, ReminderInput);

@Nested
export class UpdateTask extends PartialType(TaskFields, { skipNullProperties: false }) {
  /** The whole list, in order. Duplicates are dropped. A bare string is an id or an e-mail address. */
  @ApiPropertyOptional({
    type: 'array',
    maxItems: MAX_ASSIGNEES,
    items: { anyOf: [{ $ref: getSchemaPath(NamedUser) }, { type: 'string' }] },
    example: [{ email: 'bob@demo.example' }],
  })
  @Optional()
  @ValidateNested({ each: true, message: 'each entry of assignees must be an object, an id or an address' })
  @EachAs((entry) => asNamedUser(NamedUser, entry), MAX_ASSIGNEES)
  @ArrayMaxSize(MAX_ASSIGNEES)
  @IsArray()
  assignees?: NamedUser[];

  /**
   * The whole list: notes and tasks that you can read or that the task refers to already, and web addresses. A note that you
   * may edit links back.
   */
  @Optional()
  @Entries(ReferenceInput, MAX_REFERENCES, {
    message: 'each entry of references must be an object',
    example: [{ type: 'url', url: 'https://example.com/hotel', title: 'The hotel' }],
  })
  references?: ReferenceInput[];

  /** The moment the task is due; sets `date`. A new `date`, alone or beside the old moment, keeps the hour. */
  @Nullable()
  // A date in 9999 keeps the hour of the task, and clients send back what they read.
  @Moment({ lastYear: 9999, required: false, nullable: true, example: '2026-12-01T17:00:00Z' })
  due_at?: Date | null;

  /** Completing the task creates the next one; creating it as done does not. Requires a `date`. A bare string is the rule. */
  @ApiPropertyOptional({
    nullable: true,
    anyOf: [{ $ref: getSchemaPath(Recurrence) }, { type: 'string' }, { type: 'null' }],
    example: { rrule: 'FREQ=WEEKLY;BYDAY=MO', from: 'schedule' },
  })
  @Nullable()
  @ValidateNested({ message: 'recurrence must be an object or a rule' })
  @Transform(({ value }) => asInstance(Recurrence, typeof value === 'string' ? { rrule: value } : value))
  recurrence?: Recurrence | null;

  @Optional()
  @Entries(ReminderInput, MAX_REMINDERS, {
    message: 'each entry of reminders must be an object',
    example: [{ minutes_before: 30 }],
  })
  reminders?: ReminderInput[];

  /** A task folder that you may write to. */
  @ApiPropertyOptional({ example: null })
  @Nullable()
  @IsUUID('all', { message: 'folder_id must be the id of a task folder' })
  folder_id?: string | null;

  /**
   * Manual order: `first`, `last` (default), `{ "before": id }` or `{ "after": id }` of a task in the same folder, or a
   * position that a task has.
   */
  @ApiPropertyOptional({ ...POSITION, example: 'first' }) @Allow() position?: unknown;
  @ApiPropertyOptional(BASE_REVISION) @Allow() base_revision?: number;
  /** Name of the client device, as `updated_device` in the change feed. */
  @Optional() @VisibleOrEmpty() @Text(MAX_DEVICE_ID, { example: 'alices-phone' }) device_id?: string;
}

@Nested
export class CreateTask extends IntersectionType(
  PickType(TaskFields, ['title'] as const),
  OmitType(UpdateTask, ['title', 'base_revision'] as const),
) {
  /** Any UUID. Default: a new one. @example "01890a5d-ac96-774b-bcce-b302099a8057" */
  @Optional() @IsUUID('all', { message: 'id must be a UUID' }) id?: string;
}

export class DeleteTask extends PickType(UpdateTask, ['base_revision', 'device_id'] as const) {}

export class RestoreTask extends PickType(UpdateTask, ['device_id'] as const) {}

/** A task made from a note (spec 4.2). */
@Nested
export class LinkedTask extends PickType(UpdateTask, [
  'description',
  'date',
  'priority',
  'group',
  'assignees',
  'references',
  'device_id',
] as const) {
  /** Missing or blank: the title of the note. */
  @Optional() @Text(MAX_TITLE, { example: 'Book the rooms' }) title?: string;
}
