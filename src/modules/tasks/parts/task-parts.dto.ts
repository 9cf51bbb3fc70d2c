import {
  ApiProperty,
  ApiPropertyOptional,
  getSchemaPath,
  IntersectionType,
  OmitType,
  PartialType,
  PickType,
} from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { Allow, IsString, MaxLength, ValidateNested } from 'class-validator';
import { DATE_TIME, orNull, UUID } from '../../../platform/field-docs/field-docs.js';
import { asNamedUser, Nullable, Optional, Visible } from '../../../platform/http/input.decorators.js';
import { PageEnvelope, WholeListEnvelope } from '../../../platform/paging/page.dto.js';
import { NamedUser, POSITION } from '../task-fields.dto.js';
import {
  SubtaskResponse,
  TaskAttachmentResponse,
  TaskCommentResponse,
  TaskFields,
  TaskPersonResponse,
  TaskResponse,
  TASKS,
  UpdateTask,
} from '../tasks.dto.js';

export class UpdateSubtask extends PartialType(
  IntersectionType(
    PickType(TaskFields, ['title', 'done', 'date'] as const),
    PickType(UpdateTask, ['device_id'] as const),
  ),
  { skipNullProperties: false },
) {
  /** A user who can read the task; a bare string is an id or an e-mail address. */
  @ApiPropertyOptional({
    nullable: true,
    anyOf: [{ $ref: getSchemaPath(NamedUser) }, { type: 'string' }, { type: 'null' }],
    example: null,
  })
  @Nullable()
  @ValidateNested({ message: 'assignee must be an object, an id or an address' })
  @Transform(({ value }) => asNamedUser(NamedUser, value))
  assignee?: NamedUser | null;

  /** Manual order: `first`, `last` (default), before or after another subtask, or the position of a subtask. */
  @ApiPropertyOptional({ ...POSITION, example: 'last' }) @Allow() position?: unknown;
}

export class CreateSubtask extends IntersectionType(
  PickType(TaskFields, ['title'] as const),
  OmitType(UpdateSubtask, ['title'] as const),
) {}

const MAX_BODY = 10_000;

/** The text of a comment, in one of three fields. */
export class WriteComment extends PickType(UpdateTask, ['device_id'] as const) {
  /** Plain text. Use one of `body`, `text` and `content`. */
  @ApiPropertyOptional({ minLength: 1, example: 'They have rooms until Friday.' })
  @Optional()
  @MaxLength(MAX_BODY)
  @Visible()
  @IsString()
  body?: string;

  /** The same as `body`. @example "They have rooms until Friday." */
  @Optional()
  @MaxLength(MAX_BODY)
  @Visible()
  @IsString()
  text?: string;

  /** The same as `body`. @example "They have rooms until Friday." */
  @Optional()
  @MaxLength(MAX_BODY)
  @Visible()
  @IsString()
  content?: string;
}

export class SubtaskEnvelope extends TASKS.envelopes.item {
  subtask!: SubtaskResponse;
}

/** A part of the task was deleted; the task as it is now. */
export class DeletedPartEnvelope extends TASKS.envelopes.deleted {}

export class TaskCommentEnvelope extends TASKS.envelopes.item {
  comment!: TaskCommentResponse;
}

export class TaskCommentListEnvelope extends PageEnvelope {
  comments!: TaskCommentResponse[];
}

export class TaskAttachmentEnvelope extends TASKS.envelopes.item {
  attachment!: TaskAttachmentResponse;
}

export class RemovedTaskAttachmentEnvelope extends TASKS.envelopes.deleted {}

export class TaskAttachmentListEnvelope extends WholeListEnvelope {
  /** At most 50. */
  attachments!: TaskAttachmentResponse[];
}

export const ACTIVITY_TYPES = [
  'created',
  'updated',
  'completed',
  'reopened',
  'deleted',
  'restored',
  'commented',
  'comment_edited',
  'comment_deleted',
  'subtask_added',
  'subtask_updated',
  'subtask_completed',
  'subtask_reopened',
  'subtask_deleted',
  'attachment_added',
  'attachment_deleted',
  'transferred',
] as const;

export class TaskActivityResponse {
  @ApiProperty({ enum: ACTIVITY_TYPES, example: 'updated' }) type!: (typeof ACTIVITY_TYPES)[number];
  /** Null: the service itself. */
  @ApiProperty(orNull(TaskPersonResponse)) actor!: TaskPersonResponse | null;
  @ApiProperty(DATE_TIME) at!: string;
  /** For updates the fields that changed: old and new value of short fields, true for the others. */
  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    example: { priority: { from: 'normal', to: 'high' } },
  })
  data!: Record<string, unknown>;
}

export class LinkedNoteResponse {
  @ApiProperty(UUID) id!: string;
  /** @example "Team offsite" */ title!: string | null;
  /** Whether you can read the note. */
  @ApiProperty({ example: true }) readable!: boolean;
}

export class TaskPermissionsResponse {
  @ApiProperty({ example: true }) update!: boolean;
  @ApiProperty({ example: true }) delete!: boolean;
  @ApiProperty({ example: true }) comment!: boolean;
}

export class TaskPanelResponse {
  task!: TaskResponse;
  subtasks!: SubtaskResponse[];
  /** The newest 50. */
  comments!: TaskCommentResponse[];
  /** The `cursor` of the next page of the list of comments. */
  @ApiProperty({ example: null }) comments_next!: string | null;
  attachments!: TaskAttachmentResponse[];
  /** The newest 50 of at most 500 that are stored. */
  activity!: TaskActivityResponse[];
  linked_notes!: LinkedNoteResponse[];
  permissions!: TaskPermissionsResponse;
}
