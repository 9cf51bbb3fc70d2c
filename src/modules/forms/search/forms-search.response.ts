import { ApiProperty } from '@nestjs/swagger';
import { FormResponse } from '../form.response.js';

export class FormHighlights {
  /** Escaped text with `<mark>`. */
  @ApiProperty({ example: 'Summer <mark>party</mark>' })
  title!: string;
  /** Escaped text with `<mark>`. */
  @ApiProperty({ example: 'Who comes, and what do we eat?' })
  description!: string;
}

export class FormSearchResult {
  /** Without its definition. */
  form!: FormResponse;
  highlight!: FormHighlights;
}

export class FormSearchEnvelope {
  results!: FormSearchResult[];
  /** The `cursor` of the next page; null on the last page. */
  @ApiProperty({ type: String, nullable: true, example: null })
  next!: string | null;
}
