// Second factors of the suite: codes of an authenticator application, and virtual passkeys.
import { Secret, TOTP } from 'otpauth';

/** @param steps distance from the current time step of 30 seconds */
export const codeOf = (secret, steps = 0) =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + steps * 30_000 });

/** A virtual authenticator with user verification (Chrome DevTools Protocol, domain WebAuthn) for a page. */
export async function addAuthenticator(page) {
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable');
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return { session, authenticatorId };
}

/** The passkeys of a virtual authenticator. */
export async function passkeysOf({ session, authenticatorId }) {
  const { credentials } = await session.send('WebAuthn.getCredentials', { authenticatorId });
  return credentials;
}
