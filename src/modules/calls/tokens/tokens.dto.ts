import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsBoolean, IsIn, IsObject, IsOptional, ValidateNested } from 'class-validator';
import { Line, Optional } from '../../../platform/http/input.decorators.js';

const FLAGS = ['true', 'false'];

export class CallDevice {
  /** Of the device that joins. Accepted, not stored. */
  @ApiPropertyOptional({ maxLength: 64, example: 'android' })
  @Optional()
  @Line(64)
  platform?: string;

  /** Id of the device that joins. Accepted, not stored. */
  @ApiPropertyOptional({ maxLength: 128, example: 'pixel-9' })
  @Optional()
  @Line(128)
  id?: string;
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
  @ApiPropertyOptional({ default: false })
  @Optional()
  @IsBoolean()
  audio_only?: boolean;
}

export class MintQuery {
  /** The token allows no camera and no screen. */
  @ApiProperty({ enum: FLAGS, required: false, default: 'false' })
  @IsOptional()
  @IsIn(FLAGS, { message: 'audio_only must be true or false' })
  audio_only: string = 'false';
}
