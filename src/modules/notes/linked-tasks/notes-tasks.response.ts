import { ApiProperty } from '@nestjs/swagger';
import { TaskResponse } from '../../tasks/index.js';
import { NoteEnvelope } from '../note.response.js';

export class NoteTaskEnvelope extends NoteEnvelope {
  @ApiProperty({ type: TaskResponse }) task!: TaskResponse;
}
