import { PickType, ApiProperty } from '@nestjs/swagger';
import { IsInt, IsOptional, Max, Min } from 'class-validator';
import { WholeNumber } from '../../http/input.decorators.js';
import { ChangesQuery } from '../feed.dto.js';
import { DATE_TIME } from '../../field-docs/field-docs.js';

const HEAD = 'head must be a whole number';

export class SyncStateQuery extends PickType(ChangesQuery, ['wait'] as const) {
  /**
   * The `head` of the last response. With `wait`, the response comes when the head differs from it.
   * @example 42
   */
  @IsOptional()
  @WholeNumber()
  @Max(Number.MAX_SAFE_INTEGER, { message: HEAD })
  @Min(0, { message: HEAD })
  @IsInt({ message: HEAD })
  head?: number;
}

/** Heads of the caller's collections. */
export class SyncStateResponse {
  /** Changes with each change in any collection. */
  @ApiProperty({ type: 'integer', minimum: 0, example: 42 }) head!: number;

  /**
   * For each collection the number of its last change. A collection has changes for a client when the number is above the
   * `head` of the client's last page of `changes` or `index`. For a collection in `objects`: the sum of their heads.
   */
  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'integer', minimum: 0 },
    example: { notes: 42, note_folders: 7, tasks: 40, task_folders: 0, contacts: 12 },
  })
  collections!: Record<string, number>;

  /**
   * For collections with a feed for each object: the number of the last change of each object, by id. `contacts` has your
   * address books, `calendars` the calendars that you see.
   */
  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'object', additionalProperties: { type: 'integer', minimum: 0 } },
    example: { contacts: { '01890a5d-ac96-774b-bcce-b302099a8057': 12 } },
  })
  objects!: Record<string, Record<string, number>>;

  @ApiProperty(DATE_TIME) server_time!: string;
}
