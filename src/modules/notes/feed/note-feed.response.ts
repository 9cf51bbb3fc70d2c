import { ApiExtraModels, ApiProperty, getSchemaPath } from '@nestjs/swagger';
import { FeedMeta, FeedRemoval, IndexMeta } from '../../../platform/sync/feed.dto.js';
import { NoteListItemResponse } from '../notes.dto.js';

@ApiExtraModels(NoteListItemResponse, FeedRemoval)
export class NoteChangesEnvelope extends FeedMeta {
  /** Changed notes in their current state, each once, and removals, in the order of their last change. */
  @ApiProperty({
    type: 'array',
    items: { anyOf: [{ $ref: getSchemaPath(NoteListItemResponse) }, { $ref: getSchemaPath(FeedRemoval) }] },
    example: [],
  })
  notes!: (NoteListItemResponse | FeedRemoval)[];
}

export class NoteIndexEnvelope extends IndexMeta {
  notes!: NoteListItemResponse[];
}
