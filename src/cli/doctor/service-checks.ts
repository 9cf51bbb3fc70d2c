import { existsSync } from 'node:fs';
import { createTransport } from 'nodemailer';
import type { Config } from '../../config/config.js';
import { awaitWithin } from '../../lib/turns/index.js';
import { issuerKeysUrl } from '../../modules/identity/index.js';
import { openBlobStore } from '../../platform/blobs/store/blob-store.js';
import { isStorageFull } from '../../platform/database/database-errors.js';
import { Area, causeOf, type Finding, reasonOf } from './finding.js';

const TIMEOUT_MS = 5_000;

/** Checks the services that the settings name, at the same time. */
export async function checkServices(config: Config): Promise<Finding[]> {
  const findings = await Promise.all([
    checkSmtp(config),
    checkBlobStore(config),
    checkMailService(config),
    checkLiveKit(config),
    checkIssuer(config),
    checkAssistant(config),
  ]);
  return findings.filter((finding) => finding !== null);
}

async function checkSmtp({ SMTP_URL: url, mailService }: Config): Promise<Finding> {
  const area = new Area('smtp');
  if (url === undefined) {
    if (mailService === null) return area.ok('SMTP_URL is not set: mail stays inside the workspace.');
    const message =
      'SMTP_URL is not set: the workspace cannot send mails such as password links and notifications.';
    return area.warning(message, 'Set SMTP_URL to a mail relay.');
  }
  const timeouts = { connectionTimeout: TIMEOUT_MS, greetingTimeout: TIMEOUT_MS, socketTimeout: TIMEOUT_MS };
  const relay = createTransport({ url, ...timeouts } as never);
  try {
    await awaitWithin(2 * TIMEOUT_MS, relay.verify());
    return area.ok('The relay of SMTP_URL accepts connections and the sign-in.');
  } catch (error) {
    const { code } = error as { code?: string };
    const message = `The relay of SMTP_URL cannot be used: ${reasonOf(error)}.`;
    const action =
      code === 'EAUTH'
        ? 'Correct user and password in SMTP_URL.'
        : 'Check its host and port, and the firewall.';
    return area.error(message, action);
  } finally {
    relay.close();
  }
}

async function checkBlobStore({ blobStore: settings }: Config): Promise<Finding> {
  const area = new Area('files');
  const name =
    settings.kind === 's3' ? `The bucket ${settings.bucket}` : `The directory ${settings.directory}`;
  // The check of the store creates the directory.
  if (settings.kind === 'file' && !existsSync(settings.directory))
    return area.ok(`${name} does not exist: the server creates it at its start.`);
  const store = await openBlobStore(settings);
  try {
    await awaitWithin(TIMEOUT_MS, store.check());
    return area.ok(`${name} is reachable.`);
  } catch (error) {
    const reason = causeOf(error);
    if (isStorageFull(error)) return area.error(`${name} is full.`, 'Free space or enlarge the store.');
    const action =
      settings.kind === 's3'
        ? 'Check BLOB_STORE_URL, the credentials of the AWS SDK, and that the bucket exists.'
        : 'Create the directory with write permission for the user of the service.';
    return area.error(`${name} cannot be used: ${reason}.`, action);
  } finally {
    store.close();
  }
}

async function checkMailService({ mailService, MAIL_SERVICE_MODE: mode }: Config): Promise<Finding> {
  const area = new Area('mail-service');
  if (mailService === null) return area.ok('The embedded mail service runs with the server.');
  const { url, token } = mailService;
  if (token === undefined)
    return area.error('MAIL_SERVICE_TOKEN is missing: mail returns 503.', 'Set MAIL_SERVICE_TOKEN.');
  try {
    const response = await fetch(`${url}/users?limit=1`, {
      headers: { 'X-Access-Token': token },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await response.body?.cancel();
    if (response.status >= 500)
      return area.error(`The mail service returns ${response.status}.`, 'Read the log of the mail service.');
    // A role for single users may not list users.
    if (response.ok || (response.status === 403 && mode === 'service'))
      return area.ok('The mail service responds.');
    if (response.status === 401 || response.status === 403)
      return area.warning(
        `The mail service returns ${response.status} for MAIL_SERVICE_TOKEN.`,
        'Check that the token is valid and that its role may create users and log them in.',
      );
    return area.error(
      `The server of MAIL_SERVICE_URL returns ${response.status} for the list of users: it is no mail service.`,
      'Correct MAIL_SERVICE_URL.',
    );
  } catch (error) {
    const reason = causeOf(error);
    return area.error(
      `The mail service does not respond: ${reason}.`,
      'Check MAIL_SERVICE_URL and the mail service.',
    );
  }
}

async function checkLiveKit(config: Config): Promise<Finding> {
  const area = new Area('livekit');
  const { LIVEKIT_URL: url, LIVEKIT_API_KEY: key, LIVEKIT_API_SECRET: secret } = config;
  if (url === undefined) return area.ok('LIVEKIT_URL is not set: calls are off.');
  try {
    const { RoomServiceClient } = await import('livekit-server-sdk');
    const rooms = new RoomServiceClient(url, key, secret, {
      requestTimeout: TIMEOUT_MS / 1_000,
      failover: false,
    });
    await awaitWithin(2 * TIMEOUT_MS, rooms.listRooms(['doctor']));
    return area.ok('LiveKit responds and accepts the key.');
  } catch (error) {
    const message = `LiveKit cannot be used: ${causeOf(error)}.`;
    return area.error(message, 'Check LIVEKIT_URL, LIVEKIT_API_KEY and LIVEKIT_API_SECRET.');
  }
}

/** There is no finding without a setting, because the built-in provider runs with the server. */
async function checkIssuer(config: Config): Promise<Finding | null> {
  if (config.OIDC_ISSUER === undefined) return null;
  const area = new Area('issuer');
  const action =
    'Check OIDC_ISSUER and OIDC_JWKS_URL. Until then requests with tokens of the issuer return 503.';
  try {
    const response = await fetch(await issuerKeysUrl(config), { signal: AbortSignal.timeout(TIMEOUT_MS) });
    const { keys } = (await response.json()) as { keys?: unknown };
    if (response.ok && Array.isArray(keys) && keys.length > 0)
      return area.ok(`The issuer of OIDC_ISSUER responds; it has ${keys.length} keys.`);
    return area.error(`The issuer of OIDC_ISSUER returns ${response.status} and no keys.`, action);
  } catch (error) {
    const reason = causeOf(error);
    return area.error(`The keys of OIDC_ISSUER cannot be read: ${reason}.`, action);
  }
}

/** Forms work without the assistant, so its failures are warnings. */
async function checkAssistant({
  ASSISTANT_URL: url,
  ASSISTANT_API_KEY: key,
}: Config): Promise<Finding | null> {
  if (url === undefined) return null;
  const area = new Area('assistant');
  try {
    const response = await fetch(`${url.replace(/\/+$/, '')}/models`, {
      headers: key ? { authorization: `Bearer ${key}` } : {},
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await response.body?.cancel();
    if (response.status === 401 || response.status === 403)
      return area.warning(
        `The assistant returns ${response.status} for ASSISTANT_API_KEY.`,
        'Correct ASSISTANT_API_KEY.',
      );
    // Not each server lists its models.
    if (response.status < 500) return area.ok('The assistant responds.');
    return area.warning(`The assistant returns ${response.status}.`, 'Read the log of the assistant.');
  } catch (error) {
    const reason = causeOf(error);
    return area.warning(`The assistant does not respond: ${reason}.`, 'Check ASSISTANT_URL.');
  }
}
