import * as oauth from 'oauth4webapi';
import { delay } from '../delay.js';
import { type Provider, type Tokens, tokensOf } from './provider.js';

/** Seconds between two requests if the provider names none, and the addition after `slow_down` (RFC 8628, section 3.5). */
const INTERVAL_SECONDS = 5;

/** What the program shows to its user. */
export interface DeviceCode {
  userCode: string;
  /** The page where the user enters the code. */
  verificationUri: string;
  /** The same page with the code, for a link or a QR code. */
  verificationUriComplete: string | undefined;
  /** Seconds until the code expires. */
  expiresIn: number;
}

/** The request of a sign-in by a code that the user enters elsewhere. */
export interface DeviceOptions {
  /** Shows the code. The first request for tokens follows its result. */
  onCode: (code: DeviceCode) => unknown;
  signal?: AbortSignal;
}

/**
 * The device flow (RFC 8628).
 * @throws ResponseBodyError with `error`: `access_denied` by the user, `expired_token`; the reason of the signal
 */
export async function signInDevice(provider: Provider, { onCode, signal }: DeviceOptions): Promise<Tokens> {
  const server = await provider.server();
  const { client, authentication, scope } = provider;
  const request = { scope };
  const options = provider.options(signal);
  const begun = await oauth.processDeviceAuthorizationResponse(
    server,
    client,
    await oauth.deviceAuthorizationRequest(server, client, authentication, request, options),
  );
  await onCode({
    userCode: begun.user_code,
    verificationUri: begun.verification_uri,
    verificationUriComplete: begun.verification_uri_complete,
    expiresIn: begun.expires_in,
  });
  let seconds = begun.interval ?? INTERVAL_SECONDS;
  for (;;) {
    const response = await oauth.deviceCodeGrantRequest(
      server,
      client,
      authentication,
      begun.device_code,
      options,
    );
    try {
      return tokensOf(await oauth.processDeviceCodeResponse(server, client, response));
    } catch (error) {
      const code = error instanceof oauth.ResponseBodyError ? error.error : undefined;
      if (code !== 'authorization_pending' && code !== 'slow_down') throw error;
      if (code === 'slow_down') seconds += INTERVAL_SECONDS;
    }
    await delay(seconds * 1_000, signal);
  }
}
