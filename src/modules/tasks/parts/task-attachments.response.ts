import { ApiProperty } from '@nestjs/swagger';
import { DeletedTaskEnvelope, TaskAttachmentResponse, TaskEnvelope } from '../task.response.js';

export class TaskAttachmentEnvelope extends TaskEnvelope {
  @ApiProperty({ type: TaskAttachmentResponse }) attachment!: TaskAttachmentResponse;
}

export class RemovedTaskAttachmentEnvelope extends DeletedTaskEnvelope {}

export class TaskAttachmentListEnvelope {
  @ApiProperty({ type: [TaskAttachmentResponse] }) attachments!: TaskAttachmentResponse[];
  @ApiProperty({
    type: String,
    nullable: true,
    example: null,
    description: 'Always null: a task has at most 50.',
  })
  next!: string | null;
}
