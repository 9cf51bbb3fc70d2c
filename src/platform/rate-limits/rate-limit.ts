/** A maximum rate. */
export interface RateLimit {
  /** Unique name; requests of a scope are counted together. */
  readonly scope: string;
  /** Allowed requests per `perSeconds`. */
  readonly requests: number;
  readonly perSeconds: number;
  /** Allowed burst after an idle time. Default: `requests`. */
  readonly burst?: number;
}

/** A limit and the subject that it counts. */
export interface RateLimitKey {
  readonly limit: RateLimit;
  /** An address, an account id, ... Stored only as HMAC. */
  readonly subject: string;
}
