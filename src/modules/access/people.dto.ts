import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsOptional } from 'class-validator';
import { PageQuery } from '../../platform/paging/page.dto.js';

export class ListPeople extends PageQuery {
  @ApiPropertyOptional({ enum: ['active', 'deactivated'], example: 'active', description: 'Only these.' })
  @IsOptional()
  @IsIn(['active', 'deactivated'])
  status?: 'active' | 'deactivated';
}
