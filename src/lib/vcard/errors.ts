export type VcardErrorCode =
  /** The input contains no vCard. */
  | 'no_card'
  /** The card has no END:VCARD. */
  | 'unfinished_card'
  /** The card is longer than `ReadLimits.cardBytes`, or has too many properties. */
  | 'card_too_large'
  /** The card has a VERSION other than 2.1, 3.0 and 4.0. */
  | 'unsupported_version'
  /** The card has no property with a value. */
  | 'empty_card'
  /** The value is no JSContact Card of RFC 9553. */
  | 'invalid_jscontact';

/** A card that cannot be read. */
export class VcardError extends Error {
  override readonly name = 'VcardError';

  constructor(
    readonly code: VcardErrorCode,
    message: string,
  ) {
    super(message);
  }
}
