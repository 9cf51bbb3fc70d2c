import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean } from 'class-validator';
import { Line, Optional } from '../../../../platform/http/input.decorators.js';

export class LockExternal {
  @ApiPropertyOptional({ default: true, example: true })
  @Optional()
  @IsBoolean()
  locked: boolean = true;

  /** Also disconnect the guests that are in the call. They need a new approval after the lock. */
  @ApiPropertyOptional({ default: false, example: false })
  @Optional()
  @IsBoolean()
  eject: boolean = false;
}

export class RemoveGuest {
  @ApiPropertyOptional({ maxLength: 500, example: 'Wrong meeting' })
  @Optional()
  @Line(500)
  reason?: string;

  /** The guest, and their verified address, cannot join this call again. */
  @ApiPropertyOptional({ default: true, example: true })
  @Optional()
  @IsBoolean()
  ban: boolean = true;
}
