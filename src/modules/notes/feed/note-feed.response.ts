import { ApiExtraModels, ApiProperty, getSchemaPath } from '@nestjs/swagger';
import { FeedMeta, FeedRemoval, IndexMeta } from '../../../platform/sync/feed.response.js';
import { NoteListItemResponse } from '../note.response.js';

@ApiExtraModels(NoteListItemResponse, FeedRemoval)
export class NoteChangesEnvelope extends FeedMeta {
  @ApiProperty({
    type: 'array',
    items: { anyOf: [{ $ref: getSchemaPath(NoteListItemResponse) }, { $ref: getSchemaPath(FeedRemoval) }] },
    example: [],
    description: 'Notes as they are now, each once, and removals, in the order of their last change.',
  })
  notes!: (NoteListItemResponse | FeedRemoval)[];
}

export class NoteIndexEnvelope extends IndexMeta {
  @ApiProperty({ type: [NoteListItemResponse] }) notes!: NoteListItemResponse[];
}
