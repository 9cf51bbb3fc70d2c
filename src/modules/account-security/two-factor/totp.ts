import { Secret, TOTP } from 'otpauth';

/** What every authenticator application assumes (RFC 6238, section 1.2 and its reference values). */
const SETTINGS = { algorithm: 'SHA1', digits: 6, period: 30 } as const;
/** 160 bits, as RFC 4226 section 4 recommends. */
const SECRET_BYTES = 20;
/** Steps before and after now that are taken: the clock of a phone may be off by as much. */
const WINDOW = 1;

/** @returns a new random secret */
export function newTotpSecret(): Buffer {
  return Buffer.from(new Secret({ size: SECRET_BYTES }).bytes);
}

/** The secret as people type it, in groups of four, and as the QR code says it (Key Uri Format of the authenticators). */
export function totpEnrolment(
  secret: Buffer,
  issuer: string,
  label: string,
): { secret: string; url: string } {
  const totp = new TOTP({ ...SETTINGS, secret: secretOf(secret), issuer, label });
  return { secret: totp.secret.base32, url: totp.toString() };
}

/**
 * @param code six digits
 * @param now milliseconds since 1970
 * @returns the time step the code belongs to, and how far that is from now; null: it is none of the window
 */
export function totpStep(secret: Buffer, code: string, now: number): { step: number; skew: number } | null {
  const skew = TOTP.validate({
    ...SETTINGS,
    token: code,
    secret: secretOf(secret),
    timestamp: now,
    window: WINDOW,
  });
  return skew === null
    ? null
    : { step: TOTP.counter({ period: SETTINGS.period, timestamp: now }) + skew, skew };
}

function secretOf(bytes: Buffer): Secret {
  return new Secret({ buffer: Uint8Array.from(bytes).buffer });
}
