import { ApiProperty } from '@nestjs/swagger';

const CURSOR = 'c1.WzAsNDIsMF0.d2VsbCBzaWduZWQhMTIz';

/** What comes with the records of a feed. */
export class FeedMeta {
  @ApiProperty({ example: CURSOR, description: 'Keep it: the next call goes on from here.' }) cursor!: string;
  @ApiProperty({
    type: String,
    nullable: true,
    example: null,
    description: 'The same while there is more at once; else null.',
  })
  next!: string | null;
  @ApiProperty({ example: false, description: 'Ask again at once.' }) has_more!: boolean;
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' }) server_time!: string;
}

export class IndexMeta extends FeedMeta {
  @ApiProperty({
    example: CURSOR,
    description: 'For the change feed, once the walk is done (or now: nothing is lost).',
  })
  changes_cursor!: string;
}

/** Something the caller can no longer see; without any of its content. */
export class FeedRemoval {
  @ApiProperty({ format: 'uuid', example: '01890a5d-ac96-774b-bcce-b302099a8057' }) id!: string;
  @ApiProperty({ enum: [true], example: true }) removed!: true;
  @ApiProperty({ enum: [true], example: true }) deleted!: true;
  @ApiProperty({ enum: ['unshared', 'purged', 'deleted'], example: 'unshared' }) reason!:
    | 'unshared'
    | 'purged'
    | 'deleted';
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' }) removed_at!: string;
}
