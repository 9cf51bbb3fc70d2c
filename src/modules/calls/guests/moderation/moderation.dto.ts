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
