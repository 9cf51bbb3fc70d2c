import { ApiExtraModels, ApiProperty, OmitType, PickType } from '@nestjs/swagger';
import {
  DATE_TIME,
  EXAMPLE_ID,
  NO_DATE_TIME,
  NO_UUID,
  orNull,
  UUID,
} from '../../platform/field-docs/field-docs.js';
import { TaskFields } from './tasks.dto.js';

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
