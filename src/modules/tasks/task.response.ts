import { ApiExtraModels, ApiProperty, getSchemaPath, OmitType } from '@nestjs/swagger';
import { ErrorResponse } from '../../platform/http/error.response.js';
import { PRIORITIES, STATUSES } from './task.entity.js';

const ID = '01890a5d-ac96-774b-bcce-b302099a8057';
const TIME = '2026-11-21T09:30:00.000Z';
const ROLES = ['owner', 'editor', 'viewer'] as const;
export const NEXT = {
  type: String,
  nullable: true,
  example: null,
  description: 'The `cursor` of the next page; null on the last.',
} as const;
const TEXT = { type: String, nullable: true } as const;
const MOMENT = { type: String, format: 'date-time', nullable: true, example: null } as const;
const DAY = { type: String, format: 'date', nullable: true, example: '2026-12-01' } as const;

export class TaskPersonResponse {
  @ApiProperty({ format: 'uuid', example: ID }) id!: string;
  @ApiProperty({ ...TEXT, example: 'bob@example.com' }) email!: string | null;
  @ApiProperty({ ...TEXT, example: 'Bob Okafor' }) name!: string | null;
}

export class TaskReferenceResponse {
  @ApiProperty({ enum: ['note', 'task', 'url'], example: 'note' }) type!: 'note' | 'task' | 'url';
  @ApiProperty({ type: String, format: 'uuid', nullable: true, example: ID }) id!: string | null;
  @ApiProperty({
    ...TEXT,
    example: 'Team offsite',
    description: 'Null for what you may not see, or is gone.',
  })
  title!: string | null;
  @ApiProperty({
    ...TEXT,
    example: `/apis/v1/notes/${ID}`,
    description: 'Path on this server, or an address on the web.',
  })
  url!: string | null;
}

export class SubtaskResponse {
  @ApiProperty({ format: 'uuid', example: ID }) id!: string;
  @ApiProperty({ example: 'Ask for a quote' }) title!: string;
  @ApiProperty({ example: false }) done!: boolean;
  @ApiProperty({
    anyOf: [{ $ref: getSchemaPath(TaskPersonResponse) }, { type: 'null' as 'object' }],
    example: null,
  })
  assignee!: TaskPersonResponse | null;
  @ApiProperty(DAY) date!: string | null;
  @ApiProperty({ example: 'h0Uu5K2fQxT', description: 'Order among the subtasks, compared byte by byte.' })
  position!: string;
  @ApiProperty({ format: 'date-time', example: TIME }) created_at!: string;
  @ApiProperty({ format: 'date-time', example: TIME }) updated_at!: string;
}

export class TaskAttachmentResponse {
  @ApiProperty({ format: 'uuid', example: ID }) id!: string;
  @ApiProperty({ example: 'plan.pdf' }) name!: string;
  @ApiProperty({ type: 'integer', minimum: 0, example: 48_213, description: 'Bytes.' }) size!: number;
  @ApiProperty({ example: 'application/pdf', description: 'Told by the content.' }) content_type!: string;
  @ApiProperty({ pattern: '^[0-9a-f]{64}$', example: 'a3'.repeat(32) }) sha256!: string;
  @ApiProperty({
    example: `/apis/v1/tasks/${ID}/attachments/${ID}`,
    description: 'Where to download it: a path on this server.',
  })
  url!: string;
  @ApiProperty({ format: 'uuid', example: ID }) created_by!: string;
  @ApiProperty({ format: 'date-time', example: TIME }) created_at!: string;
}

export class TaskRecurrenceResponse {
  @ApiProperty({ example: 'FREQ=WEEKLY;BYDAY=MO' }) rrule!: string;
  @ApiProperty({ enum: ['schedule', 'completion'], example: 'schedule' }) from!: 'schedule' | 'completion';
}

/** One of the two. */
export class TaskReminderResponse {
  @ApiProperty({ required: false, format: 'date-time', example: TIME }) at?: string;
  @ApiProperty({ required: false, type: 'integer', example: 30 }) minutes_before?: number;
}

/** A task as the caller sees it. */
@ApiExtraModels(TaskPersonResponse, TaskRecurrenceResponse)
export class TaskResponse {
  @ApiProperty({ format: 'uuid', example: ID }) id!: string;
  @ApiProperty({ example: 'Book the rooms' }) title!: string;
  @ApiProperty({ ...TEXT, example: '<p>Two nights, six people</p>', description: 'HTML.' }) description!:
    | string
    | null;
  @ApiProperty({ enum: STATUSES, example: 'open' }) status!: (typeof STATUSES)[number];
  @ApiProperty({ example: false, description: 'Whether the status is done.' }) done!: boolean;
  @ApiProperty(MOMENT) completed_at!: string | null;
  @ApiProperty({ ...DAY, description: 'The day it is due.' }) date!: string | null;
  @ApiProperty({ ...MOMENT, description: 'The moment it is due, where it has an hour.' }) due_at!:
    | string
    | null;
  @ApiProperty({ example: 'Europe/Paris' }) time_zone!: string;
  @ApiProperty({
    anyOf: [{ $ref: getSchemaPath(TaskRecurrenceResponse) }, { type: 'null' as 'object' }],
    example: null,
  })
  recurrence!: TaskRecurrenceResponse | null;
  @ApiProperty({
    type: String,
    format: 'uuid',
    nullable: true,
    example: null,
    description: 'The task made when this one was completed.',
  })
  next_task_id!: string | null;
  @ApiProperty({ type: [TaskReminderResponse] }) reminders!: TaskReminderResponse[];
  @ApiProperty({ enum: PRIORITIES, example: 'normal' }) priority!: (typeof PRIORITIES)[number];
  @ApiProperty({ ...TEXT, example: 'Travel' }) group!: string | null;
  @ApiProperty({
    type: String,
    format: 'uuid',
    nullable: true,
    example: null,
    description: 'Null also where you do not see the folder.',
  })
  folder_id!: string | null;
  @ApiProperty({ type: [String], example: ['offsite'] }) labels!: string[];
  @ApiProperty({ type: [TaskPersonResponse] }) assignees!: TaskPersonResponse[];
  @ApiProperty({ type: [TaskReferenceResponse] }) references!: TaskReferenceResponse[];
  @ApiProperty({ type: [SubtaskResponse] }) subtasks!: SubtaskResponse[];
  @ApiProperty({ type: [TaskAttachmentResponse] }) attachments!: TaskAttachmentResponse[];
  @ApiProperty({ type: 'integer', example: 0 }) comments_count!: number;
  @ApiProperty({ example: 'h0Uu5K2fQxT', description: 'Manual order, compared byte by byte.' })
  position!: string;
  @ApiProperty({
    enum: ROLES,
    example: 'owner',
    description: 'owner: who made it. editor: may write. viewer: may read.',
  })
  role!: (typeof ROLES)[number];
  @ApiProperty({ type: 'integer', minimum: 1, example: 1 }) revision!: number;
  @ApiProperty({ format: 'uuid', example: ID }) created_by!: string;
  @ApiProperty({ type: TaskPersonResponse }) creator!: TaskPersonResponse;
  @ApiProperty({ format: 'date-time', example: TIME }) created_at!: string;
  @ApiProperty({ format: 'date-time', example: TIME }) updated_at!: string;
  @ApiProperty({ format: 'uuid', example: ID, description: 'Who wrote the current revision.' })
  updated_by!: string;
  @ApiProperty({ example: false, description: 'True in the trash.' }) deleted!: boolean;
  @ApiProperty(MOMENT) deleted_at!: string | null;
  @ApiProperty({ type: String, format: 'uuid', nullable: true, example: null }) deleted_by!: string | null;
  @ApiProperty({ ...MOMENT, description: 'When the trash will be emptied of it.' }) purge_at!: string | null;
}

/** A task without its description. */
export class TaskSummaryResponse extends OmitType(TaskResponse, ['description'] as const) {}

export class TaskEnvelope {
  @ApiProperty({ type: TaskResponse }) task!: TaskResponse;
}

export class DeletedTaskEnvelope extends TaskEnvelope {
  @ApiProperty({ enum: [true], example: true }) deleted!: true;
}

export class TaskListEnvelope {
  @ApiProperty({ type: [TaskResponse] }) tasks!: TaskResponse[];
  @ApiProperty(NEXT) next!: string | null;
}

/** 409 `conflict`: the task as it is now, to merge with. */
export class TaskConflictResponse extends ErrorResponse {
  @ApiProperty({ enum: ['conflict'], example: 'conflict' }) override error!: 'conflict';
  @ApiProperty({ type: 'integer', minimum: 1, example: 4, description: 'The one to retry with.' })
  revision!: number;
  @ApiProperty({ type: TaskResponse }) task!: TaskResponse;
}

const BOB = { id: ID, email: 'bob@example.com', name: 'Bob Okafor' };

/** A task as the documentation shows it where no schema can show it. */
export const TASK_EXAMPLE: TaskResponse = {
  id: ID,
  title: 'Book the rooms',
  description: '<p>Two nights, six people</p>',
  status: 'open',
  done: false,
  completed_at: null,
  date: '2026-12-01',
  due_at: null,
  time_zone: 'Europe/Paris',
  recurrence: null,
  next_task_id: null,
  reminders: [],
  priority: 'normal',
  group: 'Travel',
  folder_id: null,
  labels: ['offsite'],
  assignees: [BOB],
  references: [],
  subtasks: [],
  attachments: [],
  comments_count: 0,
  position: 'h0Uu5K2fQxT',
  role: 'owner',
  revision: 4,
  created_by: ID,
  creator: BOB,
  created_at: TIME,
  updated_at: TIME,
  updated_by: ID,
  deleted: false,
  deleted_at: null,
  deleted_by: null,
  purge_at: null,
};
