import { IsOptional } from 'class-validator';
import { Text } from '../../../platform/http/input.decorators.js';
import { PageQuery } from '../../../platform/paging/page.dto.js';

export class ListChatUsers extends PageQuery {
  /** Beginnings of words of a name or address. Ignores case and accents. */
  @IsOptional() @Text(200, { message: 'q must be given once' }) q?: string;
}
