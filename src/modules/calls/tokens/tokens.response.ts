import { ApiProperty } from '@nestjs/swagger';
import { EXAMPLE_ID, UUID } from '../../../platform/field-docs/field-docs.js';

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
