import { IsOptional } from 'class-validator';
import { IntegerFrom, Text, Uuid, WholeNumber } from '../../../platform/http/input.decorators.js';

export class SuggestTitles {
  /** Beginning of a word of the title. */
  @IsOptional() @Text(200, { example: 'plan' }) q?: string;
  /** Only titles of events of this calendar. */
  @IsOptional() @Uuid() calendar_id?: string;
  /** Maximum number of suggestions. */
  @IsOptional() @WholeNumber() @IntegerFrom(1, 50, { required: false }) limit: number = 10;
}
