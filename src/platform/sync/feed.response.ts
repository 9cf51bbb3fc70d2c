import { ApiProperty } from '@nestjs/swagger';
import { DATE_TIME, UUID } from '../field-docs/field-docs.js';

const CURSOR = 'c1.WzAsNDIsMF0.d2VsbCBzaWduZWQhMTIz';

/** Metadata of a page of a feed. */
export class FeedMeta {
  @ApiProperty({ example: CURSOR, description: 'Store it: the next request continues from here.' })
  cursor!: string;
  @ApiProperty({
    type: String,
    nullable: true,
    example: null,
    description: 'The same as `cursor` while there are more records; else null.',
  })
  next!: string | null;
  @ApiProperty({ example: false, description: 'There are more records: request the next page now.' })
  has_more!: boolean;
  @ApiProperty({
    type: 'integer',
    minimum: 0,
    example: 42,
    description:
      'With this page the client has all changes up to this number. `GET /apis/v1/sync/state` shows which collections have later ones.',
  })
  head!: number;
  @ApiProperty(DATE_TIME) server_time!: string;
}

export class IndexMeta extends FeedMeta {
  @ApiProperty({
    example: CURSOR,
    description:
      'The cursor for the change feed from the start of the walk. It can be used during the walk or after it.',
  })
  changes_cursor!: string;
}

/** An item that the caller can no longer read, without its content. */
export class FeedRemoval {
  @ApiProperty(UUID) id!: string;
  @ApiProperty({ enum: [true], example: true }) removed!: true;
  @ApiProperty({ enum: [true], example: true }) deleted!: true;
  @ApiProperty({ enum: ['unshared', 'purged', 'deleted'], example: 'unshared' })
  reason!: 'unshared' | 'purged' | 'deleted';
  @ApiProperty(DATE_TIME) removed_at!: string;
}
