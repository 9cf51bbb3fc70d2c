import { isIP } from 'node:net';
import { Injectable, Logger } from '@nestjs/common';
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import { Config } from '../../../../config/config.js';
import { CHALLENGE_SECONDS } from './passkey-challenges.js';

/** The relying party of passkeys (WebAuthn, section 4): the host of PUBLIC_URL. */
@Injectable()
export class PasskeySite {
  /** RP ID. Passkeys work for this host only. */
  readonly id: string;
  /** Origins of pages that may use passkeys: the service, and a web client on this host or a subdomain of it. */
  readonly origins: string[];
  /** False with an external issuer, and where browsers have no WebAuthn: without https, and for an IP address as host. */
  readonly isAvailable: boolean;

  constructor(config: Config) {
    const { hostname, protocol, origin } = new URL(config.publicUrl);
    const client = new URL(config.webClientUrl);
    const isClientInside = client.hostname === hostname || client.hostname.endsWith(`.${hostname}`);
    this.id = hostname;
    this.origins = [...new Set(isClientInside ? [origin, client.origin] : [origin])];
    const isSecure = protocol === 'https:' || hostname === 'localhost' || hostname.endsWith('.localhost');
    const isAddress = isIP(hostname.replaceAll(/[[\]]/g, '')) !== 0;
    this.isAvailable = config.signInIssuer !== null && isSecure && !isAddress;
  }
}

/** Options of `navigator.credentials.create()` in JSON (WebAuthn Level 3, 5.4). */
export type CreationOptions = PublicKeyCredentialCreationOptionsJSON;
/** Options of `navigator.credentials.get()` in JSON (WebAuthn Level 3, 5.5). */
export type RequestOptions = PublicKeyCredentialRequestOptionsJSON;

/** A credential in the list of a ceremony. */
export interface CredentialHint {
  credentialId: Buffer;
  transports: string[];
}

/** A verified new credential. */
export interface NewCredential extends CredentialHint {
  publicKey: Buffer;
  counter: number;
  synced: boolean;
}

/** A stored credential. */
export interface StoredCredential extends CredentialHint {
  publicKey: Buffer;
  /** bigint of PostgreSQL. */
  counter: string;
}

interface Expected {
  site: PasskeySite;
  challenge: Buffer;
}

const TRANSPORTS = new Set(['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb']);
const TIMEOUT_MS = CHALLENGE_SECONDS * 1000;
const RP_NAME = 'Workspace';
/** ES256, EdDSA and RS256 in COSE. */
const ALGORITHMS = [-7, -8, -257];
const logger = new Logger('Passkeys');

/** Loaded on first use: few processes need it. */
const library = () => import('@simplewebauthn/server');

export async function creationOptions(
  { site, challenge }: Expected,
  account: { id: string; email: string; display_name: string },
  exclude: readonly CredentialHint[],
): Promise<CreationOptions> {
  const { generateRegistrationOptions } = await library();
  return generateRegistrationOptions({
    rpName: RP_NAME,
    rpID: site.id,
    userID: bytes(userHandle(account.id)),
    userName: account.email,
    userDisplayName: account.display_name,
    challenge: bytes(challenge),
    timeout: TIMEOUT_MS,
    attestationType: 'none',
    excludeCredentials: exclude.map(descriptor),
    authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
    supportedAlgorithmIDs: ALGORITHMS,
  });
}

/** @param allow empty: any discoverable credential of the site */
export async function requestOptions(
  { site, challenge }: Expected,
  allow: readonly CredentialHint[],
  userVerification: 'required' | 'preferred',
): Promise<RequestOptions> {
  const { generateAuthenticationOptions } = await library();
  return generateAuthenticationOptions({
    rpID: site.id,
    challenge: bytes(challenge),
    timeout: TIMEOUT_MS,
    userVerification,
    allowCredentials: allow.map(descriptor),
  });
}

/** Verifies the response of a registration (WebAuthn 7.1). @returns null for an invalid one */
export async function verifyCreation(
  { site, challenge }: Expected,
  response: unknown,
): Promise<NewCredential | null> {
  const { verifyRegistrationResponse } = await library();
  const { registrationInfo: info } = await verifyRegistrationResponse({
    response: response as RegistrationResponseJSON,
    expectedChallenge: challenge.toString('base64url'),
    expectedOrigin: site.origins,
    expectedRPID: site.id,
    requireUserVerification: false,
    supportedAlgorithmIDs: ALGORITHMS,
  }).catch(invalid);
  if (!info) return null;
  const { credential } = info;
  return {
    credentialId: Buffer.from(credential.id, 'base64url'),
    publicKey: Buffer.from(credential.publicKey),
    counter: credential.counter,
    transports: knownTransports(credential.transports),
    synced: info.credentialBackedUp,
  };
}

/** Verifies an assertion (WebAuthn 7.2), with a counter that increases. @returns null for an invalid one */
export async function verifyAssertion(
  { site, challenge }: Expected,
  response: unknown,
  stored: StoredCredential,
  requireUserVerification: boolean,
): Promise<{ counter: number; synced: boolean } | null> {
  const { verifyAuthenticationResponse } = await library();
  const { verified, authenticationInfo: info } = await verifyAuthenticationResponse({
    response: response as AuthenticationResponseJSON,
    expectedChallenge: challenge.toString('base64url'),
    expectedOrigin: site.origins,
    expectedRPID: site.id,
    credential: {
      id: stored.credentialId.toString('base64url'),
      publicKey: bytes(stored.publicKey),
      counter: Number(stored.counter),
    },
    requireUserVerification,
  }).catch(invalid);
  return verified && info ? { counter: info.newCounter, synced: info.credentialBackedUp } : null;
}

/** User handle of an account: the bytes of its id. */
export const userHandle = (accountId: string): Buffer => Buffer.from(accountId.replaceAll('-', ''), 'hex');

/** The credential id of a response and its user handle; null if they are malformed. */
export function credentialOf(response: unknown): { credentialId: Buffer; userHandle: Buffer | null } | null {
  const { id, response: inner } = Object(response) as { id?: unknown; response?: unknown };
  const { userHandle: handle } = Object(inner) as { userHandle?: unknown };
  if (typeof id !== 'string' || id === '' || id.length > MAX_ID) return null;
  const hasHandle = typeof handle === 'string' && handle !== '';
  return {
    credentialId: Buffer.from(id, 'base64url'),
    userHandle: hasHandle ? Buffer.from(handle.slice(0, MAX_ID), 'base64url') : null,
  };
}

/** Characters of a credential id of 1,023 bytes in base64url. */
const MAX_ID = 1_364;

/** The library throws a plain Error for each rule that a response violates. */
function invalid(error: unknown): { verified: false; registrationInfo?: never; authenticationInfo?: never } {
  logger.debug({ err: error }, 'invalid WebAuthn response');
  return { verified: false };
}

const knownTransports = (given: unknown): string[] =>
  Array.isArray(given) ? [...new Set(given.filter((each) => TRANSPORTS.has(each as string)))] : [];

const descriptor = ({ credentialId, transports }: CredentialHint) => ({
  id: credentialId.toString('base64url'),
  transports,
});

const bytes = (buffer: Buffer): Uint8Array<ArrayBuffer> => new Uint8Array(buffer);
