import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsObject, IsOptional, ValidateNested } from 'class-validator';
import { EXAMPLE_ID, UUID } from '../../../platform/field-docs/field-docs.js';
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

export class CallTokenResponse {
  /** Token of LiveKit for one room. */
  @ApiProperty({ example: 'eyJhbGciOiJIUzI1NiJ9.eyJ2aWRlbyI6e319.c2lnbmF0dXJl' }) token!: string;
  /** Address of the media server. */
  @ApiProperty({ example: 'wss://calls.example.com' }) url!: string;
  /** Name of the room at the media server. */
  @ApiProperty({ example: `t01890a5dac96774bbcceb302099a8057.${EXAMPLE_ID}` }) room!: string;
  /** Bound to your session: a second connection with it ends the first. */
  @ApiProperty({ example: `u:${EXAMPLE_ID}:a1b2c3d4` }) identity!: string;
  /** Seconds in which the token must be used. */
  @ApiProperty({ type: 'integer', example: 120 }) expires_in!: number;
  @ApiProperty(UUID) call_id!: string;
}
