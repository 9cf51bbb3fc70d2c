import { ApiProperty } from '@nestjs/swagger';
import { ErrorResponse } from '../../platform/http/error.response.js';

const ID = '01890a5d-ac96-774b-bcce-b302099a8057';

/** 409 `conflict`: the note as it is now, to merge with. */
export class NoteConflictResponse extends ErrorResponse {
  @ApiProperty({ enum: ['conflict'], example: 'conflict' }) override error!: 'conflict';
  @ApiProperty({ format: 'uuid', example: ID }) note_id!: string;
  @ApiProperty({ type: 'integer', minimum: 1, example: 4, description: 'The one to retry with.' })
  revision!: number;
  @ApiProperty({ example: 'Team offsite' }) title!: string;
  @ApiProperty({ example: '<p>Travel, rooms, budget</p>' }) content!: string;
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' }) updated_at!: string;
  @ApiProperty({ format: 'uuid', example: ID, description: 'Who wrote it.' }) updated_by!: string;
}
