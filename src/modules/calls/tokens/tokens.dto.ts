import { ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsObject, IsOptional, ValidateNested } from 'class-validator';
import { Flag, Line, OneOf, Optional } from '../../../platform/http/input.decorators.js';

const FLAGS = ['true', 'false'];

export class CallDevice {
  /** Platform of the device that joins. Accepted, not stored. */
  @Optional() @Line(64, { example: 'android' }) platform?: string;
  /** Id of the device that joins. Accepted, not stored. */
  @Optional() @Line(128, { example: 'pixel-9' }) id?: string;
}

export class MintToken {
  /** Accepted, not stored. */
  @ApiPropertyOptional({ type: CallDevice, example: { platform: 'android', id: 'pixel-9' } })
  @Optional()
  @Type(() => CallDevice)
  @ValidateNested()
  @IsObject()
  device?: CallDevice;

  /** The token allows no camera and no screen. */
  @Optional() @Flag({ default: false }) audio_only?: boolean;
}

export class MintQuery {
  /** The token allows no camera and no screen. */
  @IsOptional()
  @OneOf(FLAGS, { message: 'audio_only must be true or false', required: false })
  audio_only: string = 'false';
}
