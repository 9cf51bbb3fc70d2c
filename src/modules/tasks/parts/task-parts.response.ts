import { ApiProperty, getSchemaPath } from '@nestjs/swagger';
import {
  NEXT,
  SubtaskResponse,
  TaskAttachmentResponse,
  TaskEnvelope,
  TaskPersonResponse,
  TaskResponse,
} from '../task.response.js';

const ID = '01890a5d-ac96-774b-bcce-b302099a8057';
const TIME = '2026-11-21T09:30:00.000Z';

export class SubtaskEnvelope extends TaskEnvelope {
  @ApiProperty({ type: SubtaskResponse }) subtask!: SubtaskResponse;
}

/** Something of a task was deleted; the task as it is now. */
export class DeletedPartEnvelope extends TaskEnvelope {
  @ApiProperty({ enum: [true], example: true }) deleted!: true;
}

export class TaskCommentResponse {
  @ApiProperty({ format: 'uuid', example: ID }) id!: string;
  @ApiProperty({ example: 'They have rooms until Friday.', description: 'Plain text.' }) body!: string;
  @ApiProperty({ type: TaskPersonResponse }) author!: TaskPersonResponse;
  @ApiProperty({ format: 'date-time', example: TIME }) created_at!: string;
  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: null }) edited_at!:
    | string
    | null;
}

export class TaskCommentEnvelope extends TaskEnvelope {
  @ApiProperty({ type: TaskCommentResponse }) comment!: TaskCommentResponse;
}

export class TaskCommentListEnvelope {
  @ApiProperty({ type: [TaskCommentResponse] }) comments!: TaskCommentResponse[];
  @ApiProperty(NEXT) next!: string | null;
}

export class TaskActivityResponse {
  @ApiProperty({
    enum: [
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
    ],
    example: 'updated',
  })
  type!: string;
  @ApiProperty({
    anyOf: [{ $ref: getSchemaPath(TaskPersonResponse) }, { type: 'null' as 'object' }],
    example: null,
    description: 'Null: the service itself.',
  })
  actor!: TaskPersonResponse | null;
  @ApiProperty({ format: 'date-time', example: TIME }) at!: string;
  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    example: { priority: { from: 'normal', to: 'high' } },
    description: 'For updates the fields that changed: old and new of short ones, true for the others.',
  })
  data!: Record<string, unknown>;
}

export class LinkedNoteResponse {
  @ApiProperty({ format: 'uuid', example: ID }) id!: string;
  @ApiProperty({ type: String, nullable: true, example: 'Team offsite' }) title!: string | null;
  @ApiProperty({ example: true, description: 'Whether you may open it.' }) readable!: boolean;
}

export class TaskPermissionsResponse {
  @ApiProperty({ example: true }) update!: boolean;
  @ApiProperty({ example: true }) delete!: boolean;
  @ApiProperty({ example: true }) comment!: boolean;
}

export class TaskPanelResponse {
  @ApiProperty({ type: TaskResponse }) task!: TaskResponse;
  @ApiProperty({ type: [SubtaskResponse] }) subtasks!: SubtaskResponse[];
  @ApiProperty({ type: [TaskCommentResponse], description: 'The newest 50.' })
  comments!: TaskCommentResponse[];
  @ApiProperty({
    type: String,
    nullable: true,
    example: null,
    description: 'The `cursor` with which the list of comments goes on.',
  })
  comments_next!: string | null;
  @ApiProperty({ type: [TaskAttachmentResponse] }) attachments!: TaskAttachmentResponse[];
  @ApiProperty({ type: [TaskActivityResponse], description: 'The newest 50 of at most 500 that are kept.' })
  activity!: TaskActivityResponse[];
  @ApiProperty({ type: [LinkedNoteResponse] }) linked_notes!: LinkedNoteResponse[];
  @ApiProperty({ type: TaskPermissionsResponse }) permissions!: TaskPermissionsResponse;
}
