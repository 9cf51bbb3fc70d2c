/** Why a request to an address that a member named was not made or failed. */
export class OutboundHttpError extends Error {
  constructor(
    readonly problem: 'invalid_address' | 'unreachable' | 'timeout' | 'too_large' | 'aborted',
    message: string,
  ) {
    super(message);
    this.name = 'OutboundHttpError';
  }
}
