import { OneOf, Optional } from '../../../platform/http/input.decorators.js';

export const FEED_DETAILS = ['full', 'busy'] as const;

export class CreateFeed {
  /** full: what you see. busy: times only. Default: full. */
  @Optional() @OneOf(FEED_DETAILS, { example: 'busy' }) details?: (typeof FEED_DETAILS)[number];
}
