import { PageQuery } from '../../../platform/paging/page.dto.js';
import { QueryText } from '../../../platform/search/query-text.js';

export class SearchForms extends PageQuery {
  /**
   * A form must contain all words, in its title, description or questions. Case and accents do not matter.
   * @example "party"
   */
  @QueryText() q!: string;
}
