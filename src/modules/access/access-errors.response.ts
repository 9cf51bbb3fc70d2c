import { ApiProperty } from '@nestjs/swagger';
import { ErrorResponse } from '../../platform/http/error.response.js';
import { GroupResponse } from './access.response.js';

/** 409 `conflict`: the current group, to merge with. */
export class GroupConflictResponse extends ErrorResponse {
  @ApiProperty({ enum: ['conflict'], example: 'conflict' }) override error!: 'conflict';
  group!: GroupResponse;
}

/** 403 `cannot_grant_unheld`: the permissions that the caller lacks. */
export class CannotGrantResponse extends ErrorResponse {
  @ApiProperty({ enum: ['cannot_grant_unheld'], example: 'cannot_grant_unheld' })
  override error!: 'cannot_grant_unheld';
  /** @example ["forms.manage_any"] */ permissions!: string[];
}
