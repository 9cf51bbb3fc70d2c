import { PickType } from '@nestjs/swagger';
import { QueryText } from '../../../../platform/search/query-text.js';
import { ListTasks } from '../task-list.dto.js';

export class SearchTasks extends PickType(ListTasks, [
  'limit',
  'cursor',
  'folder_id',
  'status',
  'state',
] as const) {
  @QueryText({
    example: 'rooms',
    description:
      'Words in any language; a task must have all of them (at most 12), in its title, labels or description. Case and accents do not matter; a word of three letters or more also finds those it begins.',
  })
  q!: string;
}
