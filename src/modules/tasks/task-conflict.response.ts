import { ApiProperty } from '@nestjs/swagger';
import { ErrorResponse } from '../../platform/http/error.response.js';
import { TaskResponse } from './task.response.js';

/** 409 `conflict`: the task as it is now, to merge with. */
export class TaskConflictResponse extends ErrorResponse {
  @ApiProperty({ enum: ['conflict'], example: 'conflict' }) override error!: 'conflict';
  @ApiProperty({ type: 'integer', minimum: 1, example: 4, description: 'The one to retry with.' })
  revision!: number;
  @ApiProperty({ type: TaskResponse }) task!: TaskResponse;
}
