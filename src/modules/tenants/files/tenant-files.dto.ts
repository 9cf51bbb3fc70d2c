import { IntegerFrom, Nullable } from '../../../platform/http/input.decorators.js';

/** 1 PiB. */
const MAX_BYTES = 2 ** 50;

export class UpdateFileLimits {
  /** Limit of each user, bytes; null: that of the deployment, 0: none. Files above a new limit stay. */
  @Nullable() @IntegerFrom(0, MAX_BYTES, { example: 1_073_741_824 }) user_limit_bytes?: number | null;
}
