import { randomBytes } from 'node:crypto';
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

/** Loaded on first use: few processes need it. */
const library = async () => (await import('qrcode')).default;

/** @returns a PNG image as data URL */
export async function qrPng(text: string): Promise<string> {
  return (await library()).toDataURL(text, { errorCorrectionLevel: 'M', margin: 4, scale: 4 });
}

/** @returns an SVG element for a page whose policy allows no images */
export async function qrSvg(text: string): Promise<string> {
  return (await library()).toString(text, { type: 'svg', errorCorrectionLevel: 'M', margin: 4 });
}

const RECOVERY_CODES = 10;
/** Crockford's base 32, without ambiguous characters. Five bits per character, 50 per code. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const LENGTH = 10;

/** Creates recovery codes in the form `xxxxx-xxxxx`. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: RECOVERY_CODES }, () => {
    const code = Array.from(randomBytes(LENGTH), (byte) => ALPHABET[byte & 31]).join('');
    return `${code.slice(0, 5)}-${code.slice(5)}`;
  });
}

/** Normalises a typed code; null if it cannot be one. */
export function plainRecoveryCode(typed: string): string | null {
  const plain = typed.toLowerCase().replaceAll(/[\s-]/g, '').replaceAll('o', '0').replaceAll(/[il]/g, '1');
  return plain.length === LENGTH && [...plain].every((letter) => ALPHABET.includes(letter)) ? plain : null;
}
