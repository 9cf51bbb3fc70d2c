import { ApiProperty } from '@nestjs/swagger';
import { UUID } from '../../../../platform/field-docs/field-docs.js';

export class RemovedGuestResponse {
  @ApiProperty(UUID) id!: string;
  @ApiProperty({ enum: ['removed'], example: 'removed' }) state!: 'removed';
}

export class RemovedGuestEnvelope {
  guest!: RemovedGuestResponse;
  /** `pending`: the media server could not be reached; the guest is disconnected as soon as it can. */
  @ApiProperty({ enum: ['done', 'pending'], example: 'done' }) kick!: 'done' | 'pending';
}
