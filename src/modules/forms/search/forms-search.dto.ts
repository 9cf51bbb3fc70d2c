import { ApiProperty } from '@nestjs/swagger';
import { PageEnvelope, PageQuery } from '../../../platform/paging/page.dto.js';
import { QueryText } from '../../../platform/search/query-text.js';
import { FormResponse } from '../form.response.js';

export class SearchForms extends PageQuery {
  /**
   * A form must contain all words, in its title, description or questions. Case and accents do not matter.
   * @example "party"
   */
  @QueryText() q!: string;
}

export class FormHighlights {
  /** Escaped text with `<mark>`. */
  @ApiProperty({ example: 'Summer <mark>party</mark>' }) title!: string;
  /** Escaped text with `<mark>`. */
  @ApiProperty({ example: 'Who comes, and what do we eat?' }) description!: string;
}

export class FormSearchResult {
  /** Without its definition. */
  form!: FormResponse;
  highlight!: FormHighlights;
}

export class FormSearchEnvelope extends PageEnvelope {
  results!: FormSearchResult[];
}
