import { ApiProperty, PickType } from '@nestjs/swagger';
import { PageEnvelope } from '../../../platform/paging/page.dto.js';
import { QueryText } from '../../../platform/search/query-text.js';
import { ListNotes, NoteSummaryResponse } from '../notes.dto.js';

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

export class NoteHighlightsResponse {
  /** The title: escaped text with `<mark>`. @example "Team <mark>offsite</mark>" */ title!: string;
  /**
   * Part of the content: escaped text with `<mark>`. Its beginning where the content does not match.
   * @example "Travel, rooms and budget of the <mark>offsite</mark>"
   */
  content!: string;
}

/** A match, without its content. */
export class NoteSearchHitResponse extends NoteSummaryResponse {
  /** Higher is better; words of the title count most, then labels. */
  @ApiProperty({ minimum: 0, example: 0.6079 }) score!: number;
  highlights!: NoteHighlightsResponse;
}

export class NoteSearchEnvelope extends PageEnvelope {
  notes!: NoteSearchHitResponse[];
  /** Number of matches. At 1,000 there may be more: the most recently changed ones are ranked. */
  @ApiProperty({ type: 'integer', minimum: 0, maximum: 1000, example: 1 }) total!: number;
  /** The `q` of the request. @example "offsite" */ query!: string;
}
