import { PickType } from '@nestjs/swagger';
import { IsString, Length, Matches } from 'class-validator';
import { MAX_QUERY } from '../../../lib/search-text/index.js';
import { ListNotes } from '../notes.dto.js';

const Q = `q must be text of 1 to ${MAX_QUERY} characters and not blank`;

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
  @Length(1, MAX_QUERY, { message: Q }) @Matches(/\S/, { message: Q }) @IsString({ message: Q }) q!: string;
}
