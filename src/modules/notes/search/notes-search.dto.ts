import { PickType } from '@nestjs/swagger';
import { QueryText } from '../../../platform/search/query-text.js';
import { ListNotes } from '../notes.dto.js';

export class SearchNotes extends PickType(ListNotes, [
  'limit',
  'cursor',
  'folder_id',
  'label',
  'state',
] as const) {
  /**
   * At most 12 different words, in any language; a note must have all of them, in its title, labels or content. Case and
   * accents do not matter; a word of three letters or more also matches words that begin with it.
   * @example "agenda"
   */
  @QueryText() q!: string;
}
