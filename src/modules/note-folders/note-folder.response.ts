import { ApiExtraModels, ApiProperty, getSchemaPath } from '@nestjs/swagger';
import { FeedMeta, FeedRemoval, IndexMeta } from '../../platform/sync/feed.response.js';

const ID = '01890a5d-ac96-774b-bcce-b302099a8057';
const TIME = '2026-11-21T09:30:00.000Z';

export class NoteFolderResponse {
  @ApiProperty({ format: 'uuid', example: ID }) id!: string;
  @ApiProperty({ example: 'Projects' }) name!: string;
  @ApiProperty({ type: String, format: 'uuid', nullable: true, example: null }) parent_id!: string | null;
  @ApiProperty({ example: 1 }) position!: number;
  @ApiProperty({ type: String, nullable: true, example: '#2f80ed' }) color!: string | null;
  @ApiProperty({
    type: 'integer',
    example: 12,
    description:
      'Notes filed in it, the trash left out; in a feed, as of its delivery: filing a note does not bring its folder anew.',
  })
  note_count!: number;
  @ApiProperty({ type: 'integer', minimum: 1, example: 1 }) revision!: number;
  @ApiProperty({ format: 'date-time', example: TIME }) created_at!: string;
  @ApiProperty({ format: 'date-time', example: TIME }) updated_at!: string;
}

export class NoteFolderEnvelope {
  @ApiProperty({ type: NoteFolderResponse }) folder!: NoteFolderResponse;
  @ApiProperty({ type: NoteFolderResponse, description: 'The same.' }) note_folder!: NoteFolderResponse;
}

export class DeletedNoteFolderEnvelope extends NoteFolderEnvelope {
  @ApiProperty({ enum: [true], example: true }) deleted!: true;
}

export class NoteFolderListEnvelope {
  @ApiProperty({ type: [NoteFolderResponse] }) folders!: NoteFolderResponse[];
  @ApiProperty({ type: [NoteFolderResponse], description: 'The same.' }) note_folders!: NoteFolderResponse[];
  @ApiProperty({
    type: String,
    nullable: true,
    example: null,
    description: 'The `cursor` of the next page; null on the last.',
  })
  next!: string | null;
}

@ApiExtraModels(FeedRemoval)
export class NoteFolderChangesEnvelope extends FeedMeta {
  @ApiProperty({
    type: 'array',
    items: { anyOf: [{ $ref: getSchemaPath(NoteFolderResponse) }, { $ref: getSchemaPath(FeedRemoval) }] },
    example: [],
  })
  folders!: (NoteFolderResponse | FeedRemoval)[];

  @ApiProperty({
    type: 'array',
    items: { anyOf: [{ $ref: getSchemaPath(NoteFolderResponse) }, { $ref: getSchemaPath(FeedRemoval) }] },
    example: [],
    description: 'The same.',
  })
  note_folders!: (NoteFolderResponse | FeedRemoval)[];
}

export class NoteFolderIndexEnvelope extends IndexMeta {
  @ApiProperty({ type: [NoteFolderResponse] }) folders!: NoteFolderResponse[];
  @ApiProperty({ type: [NoteFolderResponse], description: 'The same.' }) note_folders!: NoteFolderResponse[];
}
