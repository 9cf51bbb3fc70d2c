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
  DATE_TIME,
  EXAMPLE_ID,
  NO_DATE_TIME,
  NO_UUID,
  orNull,
  UUID,
} from '../../platform/field-docs/field-docs.js';
import { DeletedErrorResponse } from '../../platform/http/error.response.js';
import { type ApiError, defineError, fieldError } from '../../platform/http/errors.js';
import {
  asInstance,
  AsLabels,
  asNamedUser,
  EachAs,
  Entries,
  Flag,
  Labels,
  MaxBytes,
  Moment,
  Nullable,
  OneOf,
  Optional,
  Text,
  Visible,
  VisibleOrEmpty,
} from '../../platform/http/input.decorators.js';
import { QUOTAS } from '../../platform/quotas/quotas.js';
import { resource } from '../../platform/resources/resource.js';
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
import { MAX_REMINDERS } from './model/todo-values.js';
import { PRIORITIES, STATUSES, type TaskPriority, type TaskStatus } from './tasks.schema.js';

const MAX_GROUP = 200;
const MAX_DESCRIPTION_BYTES = 256 * 1024;
const MAX_LABELS = 100;
const MAX_LABEL = 100;
const MAX_ASSIGNEES = 50;
export const MAX_REFERENCES = 50;
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

const WHOLE = { type: 'integer', minimum: 0, example: 0 } as const;

export class TaskPersonResponse {
  @ApiProperty(UUID) id!: string;
  /** @example "bob@example.com" */ email!: string | null;
  /** @example "Bob Okafor" */ name!: string | null;
}

export class TaskReferenceResponse {
  @ApiProperty({ enum: ['note', 'task', 'url'], example: 'note' }) type!: 'note' | 'task' | 'url';
  @ApiProperty(UUID) id!: string | null;
  /** Null when you cannot read the note or task, or when it was purged. @example "Team offsite" */
  title!: string | null;
  /** A path on this server, or a web address. */
  @ApiProperty({ example: `/apis/v1/notes/${EXAMPLE_ID}` }) url!: string | null;
}

export class SubtaskResponse extends PickType(TaskFields, ['title', 'done', 'date'] as const) {
  @ApiProperty(UUID) id!: string;
  @ApiProperty(orNull(TaskPersonResponse)) assignee!: TaskPersonResponse | null;
  /** Order among the subtasks, compared byte by byte. @example "h0Uu5K2fQxT" */ position!: string;
  @ApiProperty(DATE_TIME) created_at!: string;
  @ApiProperty(DATE_TIME) updated_at!: string;
}

export class TaskAttachmentResponse {
  @ApiProperty(UUID) id!: string;
  /** @example "plan.pdf" */ name!: string;
  /** Bytes. */
  @ApiProperty({ ...WHOLE, example: 48_213 }) size!: number;
  /** Detected from the content. @example "application/pdf" */ content_type!: string;
  @ApiProperty({ pattern: '^[0-9a-f]{64}$', example: 'a3'.repeat(32) }) sha256!: string;
  /** Path of the download on this server. */
  @ApiProperty({ example: `/apis/v1/tasks/${EXAMPLE_ID}/attachments/${EXAMPLE_ID}` }) url!: string;
  @ApiProperty(UUID) created_by!: string;
  @ApiProperty(DATE_TIME) created_at!: string;
}

export class TaskRecurrenceResponse {
  /** @example "FREQ=WEEKLY;BYDAY=MO" */ rrule!: string;
  @ApiProperty({ enum: ['schedule', 'completion'], example: 'schedule' }) from!: 'schedule' | 'completion';
}

/** `at` or `minutes_before`. */
export class TaskReminderResponse {
  @ApiProperty(DATE_TIME) at?: string;
  @ApiProperty({ ...WHOLE, example: 30 }) minutes_before?: number;
}

export class TaskCommentResponse {
  @ApiProperty(UUID) id!: string;
  /** Plain text. @example "They have rooms until Friday." */ body!: string;
  author!: TaskPersonResponse;
  @ApiProperty(DATE_TIME) created_at!: string;
  @ApiProperty(NO_DATE_TIME) edited_at!: string | null;
}

/** A task as the caller sees it. */
@ApiExtraModels(TaskPersonResponse, TaskRecurrenceResponse)
export class TaskResponse extends TaskFields {
  @ApiProperty(UUID) id!: string;
  @ApiProperty(NO_DATE_TIME) completed_at!: string | null;
  /** The moment the task is due; null when only `date` is set. */
  @ApiProperty(NO_DATE_TIME) due_at!: string | null;
  @ApiProperty(orNull(TaskRecurrenceResponse)) recurrence!: TaskRecurrenceResponse | null;
  /** The task that was created when this one was completed. */
  @ApiProperty(NO_UUID) next_task_id!: string | null;
  reminders!: TaskReminderResponse[];
  /** Null also when you cannot see the folder. */
  @ApiProperty(NO_UUID) folder_id!: string | null;
  assignees!: TaskPersonResponse[];
  references!: TaskReferenceResponse[];
  subtasks!: SubtaskResponse[];
  attachments!: TaskAttachmentResponse[];
  @ApiProperty(WHOLE) comments_count!: number;
  /** Manual order, compared byte by byte. @example "h0Uu5K2fQxT" */ position!: string;
  /** owner: created the task. editor: may write. viewer: may read. */
  @ApiProperty({ enum: ['owner', 'editor', 'viewer'], example: 'owner' })
  role!: 'owner' | 'editor' | 'viewer';
  @ApiProperty({ type: 'integer', minimum: 1, example: 1 }) revision!: number;
  @ApiProperty(UUID) created_by!: string;
  creator!: TaskPersonResponse;
  @ApiProperty(DATE_TIME) created_at!: string;
  @ApiProperty(DATE_TIME) updated_at!: string;
  /** The user who wrote the current revision. */
  @ApiProperty(UUID) updated_by!: string;
  /** The `device_id` of the last write that changed this record; null when the client sent none. */
  @ApiProperty({ example: null }) updated_device!: string | null;
  /** True in the trash. */
  @ApiProperty({ example: false }) deleted!: boolean;
  @ApiProperty(NO_DATE_TIME) deleted_at!: string | null;
  @ApiProperty(NO_UUID) deleted_by!: string | null;
  /** When the task is purged from the trash. */
  @ApiProperty(NO_DATE_TIME) purge_at!: string | null;
}

/** A task without its description. */
export class TaskSummaryResponse extends OmitType(TaskResponse, ['description'] as const) {}

export const TASKS = resource({
  tag: 'tasks',
  name: 'task',
  path: 'tasks',
  item: TaskResponse,
  notFound: 'The task does not exist, or you cannot see it.',
  revision: 'optional',
});

export const TaskErrors = {
  notFound: TASKS.notFound,
  partNotFound: defineError(404, 'not_found', 'The task has no such subtask, comment or attachment.'),
  deleted: defineError(409, 'deleted', 'The task is in the trash; restore it first.', {
    example: { revision: 3, deleted_at: '2026-11-21T09:30:00.000Z' },
    type: DeletedErrorResponse,
  }),
  alreadyExists: defineError(409, 'already_exists', 'A task with this id exists, or existed, already.'),
  unknownUser: defineError(
    422,
    'unknown_user',
    'At least one user is not an active member of this workspace; see details.',
  ),
  tooManyAttachments: defineError(
    422,
    'too_many_attachments',
    `A task has at most ${QUOTAS.item.attachments_of_task} attachments.`,
  ),
  tooManySubtasks: defineError(
    422,
    'too_many_subtasks',
    `A task has at most ${QUOTAS.item.subtasks_of_task} subtasks.`,
  ),
} as const;

/** 422 `unknown_user` for members who are not active. @param field that names them */
export function inactiveUsers(field: string, ids: readonly string[]): ApiError {
  const detail = (id: string) => ({
    field,
    code: 'unknown_user',
    message: `${id} is not an active member of this workspace`,
  });
  return TaskErrors.unknownUser.with({ details: ids.map(detail) });
}

export const unknownFolder = (): ApiError =>
  fieldError('folder_id', 'unknown_folder', 'folder_id is not a task folder you may write to');

export const noDate = (): ApiError => fieldError('recurrence', 'no_date', 'a task that repeats needs a date');
