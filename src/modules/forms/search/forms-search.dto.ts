import { PickType } from '@nestjs/swagger';
import { IsString, Length, Matches } from 'class-validator';
import { MAX_QUERY } from '../../../lib/search-text/index.js';
import { PageQuery } from '../../../platform/paging/page.dto.js';

const Q = `q must be text of 1 to ${MAX_QUERY} characters and not blank`;

export class SearchForms extends PickType(PageQuery, ['limit', 'cursor']) {
  static readonly documentedErrors = PageQuery.documentedErrors;
  /**
   * A form must contain all words, in its title, description or questions. Case and accents do not matter.
   * @example "party"
   */
  @Length(1, MAX_QUERY, { message: Q }) @Matches(/\S/, { message: Q }) @IsString({ message: Q }) q!: string;
}
