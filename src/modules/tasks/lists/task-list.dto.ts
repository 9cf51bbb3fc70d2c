import { ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { ArrayMaxSize, IsIn, IsOptional, IsString, IsUUID, Matches, MaxLength } from 'class-validator';
import { AsLabels, OneOf, Repeatable, Text } from '../../../platform/http/input.decorators.js';
import { PageQuery } from '../../../platform/paging/page.dto.js';
import { PRIORITIES, STATUSES, type TaskPriority, type TaskStatus } from '../tasks.schema.js';
import { CalendarDay, LowerCase } from '../task-fields.dto.js';

export const SORTS = ['updated_at', 'created_at', 'date', 'priority', 'position', 'title'] as const;

const ID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const several = (values: readonly string[], example: string) => ({
  type: 'array' as const,
  maxItems: 20,
  items: { type: 'string' as const, enum: [...values] },
  example: [example],
});

/** A parameter that may be repeated, or contain several values separated by commas, in upper or lower case. */
const Several = () =>
  Transform(({ value }) =>
    (Array.isArray(value) ? value : [value]).flatMap((entry: unknown) =>
      typeof entry === 'string' ? entry.toLowerCase().split(',') : [entry],
    ),
  );

/** Filters and order of a list of tasks. */
export class ListTasks extends PageQuery {
  /** Only tasks in this folder; `none`: only those in no folder that you see. @example "none" */
  @IsOptional()
  @Matches(new RegExp(`^(?:none|${ID})$`, 'i'), {
    message: 'folder_id must be the id of a task folder, or none',
  })
  folder_id?: string;

  /** Only tasks under this heading. */
  @IsOptional() @AsLabels() @Text(200, { example: 'Travel' }) group?: string;

  /** Repeat it for several. */
  @ApiPropertyOptional(several(STATUSES, 'open'))
  @IsOptional()
  @IsIn(STATUSES, { each: true })
  @ArrayMaxSize(20)
  @Several()
  status?: TaskStatus[];

  /** Repeat it for several. */
  @ApiPropertyOptional(several(PRIORITIES, 'high'))
  @IsOptional()
  @IsIn(PRIORITIES, { each: true })
  @ArrayMaxSize(20)
  @Several()
  priority?: TaskPriority[];

  /** Only tasks assigned to this user; `me`: to you, `none`: to no user. @example "me" */
  @IsOptional()
  @Matches(new RegExp(`^(?:me|none|${ID})$`, 'i'), {
    message: 'assignee must be me, none or the id of a user',
  })
  assignee?: string;

  /** Due on this day or later. */
  @ApiPropertyOptional({ format: 'date', example: '2026-12-01' })
  @IsOptional()
  @CalendarDay()
  date_from?: string;

  /** Due on this day or earlier. */
  @ApiPropertyOptional({ format: 'date', example: '2026-12-31' })
  @IsOptional()
  @CalendarDay()
  date_to?: string;

  /** true: only open tasks that are overdue. false: all others. */
  @IsOptional()
  @OneOf(['true', 'false'], { message: 'overdue must be true or false', example: 'true' })
  overdue?: 'true' | 'false';

  /** Only tasks that refer to this note. @example "01890a5d-ac96-774b-bcce-b302099a8057" */
  @IsOptional() @IsUUID('all', { message: 'note_id must be a UUID' }) note_id?: string;

  /** Only tasks with this label; repeat it to require several. */
  @ApiPropertyOptional({
    type: 'array',
    maxItems: 20,
    items: { type: 'string', maxLength: 100 },
    example: ['offsite'],
  })
  @IsOptional()
  @AsLabels()
  @Repeatable()
  @MaxLength(100, { each: true })
  @IsString({ each: true })
  @ArrayMaxSize(20)
  label?: string[];

  /** Only tasks whose title contains this text, regardless of case. */
  @IsOptional() @Text(256, { minLength: 1, example: 'rooms' }) q?: string;
  /** `active`: without the trash. */
  @IsOptional() @OneOf(['active', 'trash', 'all']) state: 'active' | 'trash' | 'all' = 'active';
  /** `position`: the manual order. `title`: in any language, without regard to case, numbers by their value. */
  @IsOptional() @LowerCase() @OneOf(SORTS, { required: false }) sort: (typeof SORTS)[number] = 'updated_at';
  /** Default: newest or most urgent first; by date, position and title ascending. Tasks without a date are last in both orders. */
  @IsOptional() @OneOf(['asc', 'desc']) order?: 'asc' | 'desc';
}
