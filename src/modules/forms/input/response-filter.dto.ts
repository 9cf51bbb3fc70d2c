import { IntegerFrom, Moment, Optional, Text, WholeNumber } from '../../../platform/http/input.decorators.js';

/** The query parameters that select responses by time of submission and version, and the link that opens the form. */
export class ResponseFilter {
  /** Submitted at this time or later. */
  @Optional() @Moment({ example: '2026-11-01T00:00:00Z' }) from?: Date;

  /** Submitted before this time. */
  @Optional() @Moment({ example: '2999-12-01T00:00:00Z' }) to?: Date;

  /** Responses to this version. */
  @Optional() @WholeNumber() @IntegerFrom(1, { example: 1 }) version?: number;

  /** Token of a share link with the role `view`, for callers without another role. */
  @Optional()
  @Text(100, { message: 'share_token must be given once', example: 'Zm9vYmFyYmF6cXV4' })
  share_token?: string;
}
