export type RecurrenceErrorCode =
  /** The text is no rule of RFC 5545, 3.3.10, or contradicts itself. */
  | 'invalid_rule'
  /** SECONDLY or MINUTELY. */
  | 'frequency_unsupported'
  /** A calendar other than the Gregorian one (RSCALE of RFC 7529). */
  | 'rscale_unsupported'
  /** More than the limits of this library: length, COUNT, INTERVAL, times a day. */
  | 'rule_too_large';

/** A rule that cannot be read or is not supported. */
export class RecurrenceError extends Error {
  override readonly name = 'RecurrenceError';

  /** @param part the name of the rule part at fault, e.g. `BYDAY` */
  constructor(
    readonly code: RecurrenceErrorCode,
    message: string,
    readonly part?: string,
  ) {
    super(message);
  }
}
