import { ApiProperty } from '@nestjs/swagger';

/** Heads of the caller's collections. */
export class SyncStateResponse {
  /** Number of the last change in any collection. */
  @ApiProperty({ type: 'integer', minimum: 0, example: 42 })
  head!: number;

  /**
   * For each collection the number of its last change. A collection has changes for a client when the number is above the
   * `head` of the client's last page of `changes` or `index`.
   */
  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'integer', minimum: 0 },
    example: { notes: 42, note_folders: 7, tasks: 40, task_folders: 0 },
  })
  collections!: Record<string, number>;

  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' })
  server_time!: string;
}
