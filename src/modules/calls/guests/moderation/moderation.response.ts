import { ApiProperty } from '@nestjs/swagger';

export class RemovedGuestResponse {
  @ApiProperty({ format: 'uuid', example: '01890a5d-ac96-774b-bcce-b302099a8057' }) id!: string;
  @ApiProperty({ enum: ['removed'], example: 'removed' }) state!: 'removed';
}

export class RemovedGuestEnvelope {
  guest!: RemovedGuestResponse;
  /** `pending`: the media server could not be reached; the guest is disconnected as soon as it can. */
  @ApiProperty({ enum: ['done', 'pending'], example: 'done' }) kick!: 'done' | 'pending';
}
