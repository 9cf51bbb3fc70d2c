import { Secret, TOTP } from 'otpauth';

/** Defaults of authenticator applications (RFC 6238, section 1.2). */
const SETTINGS = { algorithm: 'SHA1', digits: 6, period: 30 } as const;
/** 160 bits, as RFC 4226 section 4 recommends. */
const SECRET_BYTES = 20;
/** Accepted time steps before and after now, for inaccurate clocks. */
const WINDOW = 1;
/** otpauth throws where a code has six characters and more than six bytes. */
const CODE = /^\d{6}$/;

/** @returns a new random secret */
export function newTotpSecret(): Buffer {
  return Buffer.from(new Secret({ size: SECRET_BYTES }).bytes);
}

/** The secret for typing, and as URL for the QR code (Key Uri Format). */
export function totpEnrolment(
  secret: Buffer,
  issuer: string,
  label: string,
): { secret: string; url: string } {
  const totp = new TOTP({ ...SETTINGS, secret: secretOf(secret), issuer, label });
  return { secret: totp.secret.base32, url: totp.toString() };
}

/**
 * @param code any text; six digits can match
 * @param now milliseconds since 1970
 * @returns the time step of the code and its distance from now; null when no step of the window matches
 */
export function totpStep(secret: Buffer, code: string, now: number): { step: number; skew: number } | null {
  if (!CODE.test(code)) return null;
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
