import { ApiProperty, PickType } from '@nestjs/swagger';
import { IsString, Length, Matches } from 'class-validator';
import { MAX_QUERY } from '../../../../lib/search-text/index.js';
import { ListTasks } from '../task-list.dto.js';

const Q = `q must be text of 1 to ${MAX_QUERY} characters and not blank`;

export class SearchTasks extends PickType(ListTasks, [
  'limit',
  'cursor',
  'folder_id',
  'status',
  'state',
] as const) {
  @ApiProperty({
    minLength: 1,
    maxLength: MAX_QUERY,
    example: 'rooms',
    description:
      'Words in any language; a task must have all of them (at most 12), in its title, labels or description. Case and accents do not matter; a word of three letters or more also finds those it begins.',
  })
  @Length(1, MAX_QUERY, { message: Q })
  @Matches(/\S/, { message: Q })
  @IsString({ message: Q })
  q!: string;
}
