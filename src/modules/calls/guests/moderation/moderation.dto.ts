import { ApiProperty } from '@nestjs/swagger';
import { UUID } from '../../../../platform/field-docs/field-docs.js';
import { Flag, Line, Optional } from '../../../../platform/http/input.decorators.js';

export class LockExternal {
  @Optional() @Flag({ example: true }) locked: boolean = true;
  /** Also disconnects the guests in the call. They need a new approval after the lock. */
  @Optional() @Flag({ example: false }) eject: boolean = false;
}

export class RemoveGuest {
  @Optional() @Line(500, { example: 'Wrong meeting' }) reason?: string;
  /** The guest, and their verified address, cannot join this call again. */
  @Optional() @Flag({ example: true }) ban: boolean = true;
}

export class RemovedGuestResponse {
  @ApiProperty(UUID) id!: string;
  @ApiProperty({ enum: ['removed'], example: 'removed' }) state!: 'removed';
}

export class RemovedGuestEnvelope {
  guest!: RemovedGuestResponse;
  /** `pending`: the media server could not be reached; the guest is disconnected as soon as it can. */
  @ApiProperty({ enum: ['done', 'pending'], example: 'done' }) kick!: 'done' | 'pending';
}
