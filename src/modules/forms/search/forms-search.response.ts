import { ApiProperty } from '@nestjs/swagger';
import { PageEnvelope } from '../../../platform/paging/page.response.js';
import { FormResponse } from '../form.response.js';

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
