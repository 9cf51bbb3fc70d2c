import type { Request, Response } from 'express';
import type { Interaction, Provider } from 'oidc-provider';
import { isUuid } from '../../platform/http/id.pipe.js';
import type { ClientRow } from './clients/oidc-clients.repository.js';
import { OIDC_PATH } from './oidc-configuration.js';
import { API_SCOPE, isOidcScope } from './model/oidc-scopes.js';
import {
  chooseLanguage,
  formTargetOf,
  type PageLocale,
  pageTranslator,
  type SignInPage,
} from './pages/index.js';
import type { Origin } from './sign-in-grants.js';

/** The state of a browser sign-in during one request. */
export interface SignIn {
  request: Request & { id?: string };
  response: Response;
  provider: Provider;
  details: Interaction;
  /** The steps so far, as this request found them; null: none. */
  pending: Pending | null;
  locale: PageLocale;
  client: ClientRow;
  /** CSRF token of its forms. */
  csrf: string;
}

/** The enrolment of a required second factor in a sign-in. */
export interface PendingEnrolment {
  workspace: string;
  isOptional: boolean;
  /** Fingerprint of the secret that its page shows: another sign-in may replace the secret. */
  secret: string;
  /** Method of the new factor (RFC 8176); missing: not enabled yet. */
  enabled?: 'otp' | 'pop';
}

/** A sign-in with a verified password, or by the issuer of a workspace, that awaits the second factor. */
export interface Pending {
  accountId: string;
  email: string;
  /** Milliseconds since 1970. */
  at: number;
  /** `passwordChangedAt` of the verified password, as milliseconds since 1970. */
  passwordAt?: number;
  /** Set when the account must enable a second factor first. */
  enrolment?: PendingEnrolment;
  /** Methods so far (RFC 8176). */
  amr: string[];
  /** The issuer of the workspace that signed in the user, as `acr`; absent: the password. */
  acr?: string;
}

/** Maximum time between password and second factor. In an enrolment it restarts when the factor is enabled. */
const PENDING_MS = 10 * 60_000;

export function pendingOf({ result }: Interaction): Pending | null {
  const pending = result?.['pending'] as Pending | undefined;
  return pending && isUuid(pending.accountId) && Date.now() - pending.at < PENDING_MS ? pending : null;
}

/** The supported scopes that the client requests. */
export function requestedScopes({ params }: Interaction): string[] {
  const scopes = typeof params['scope'] === 'string' ? params['scope'].split(' ') : [];
  return [...new Set(scopes)].filter((scope) => scope === API_SCOPE || isOidcScope(scope));
}

export const originOf = (request: Request & { id?: string }): Origin => ({
  ip: request.ip ?? null,
  userAgent: request.headers['user-agent'] ?? null,
  requestId: request.id ?? null,
});

/** The user as the actor of a change in a sign-in, which belongs to no workspace. */
export function actorOf(request: SignIn['request'], userId: string) {
  const { ip, requestId } = originOf(request);
  return { tenantId: null, userId, ip, ...(requestId !== null && { requestId }) };
}

export function localeOf(uiLocales: unknown, acceptLanguage: string | undefined): PageLocale {
  const language = chooseLanguage(uiLocales, acceptLanguage);
  return { language, t: pageTranslator(language) };
}

/** Path of the pages of a sign-in. */
export const interactionPath = (uid: string): string => `${OIDC_PATH}/interaction/${uid}`;

/** The common properties of its pages. @param alert error of the last attempt */
export const frameOf = ({ locale, details, csrf, client }: SignIn, alert?: string): SignInPage => ({
  ...locale,
  action: interactionPath(details.uid),
  csrf,
  clientName: client.name,
  formTarget: formTargetOf(details.params['redirect_uri']),
  alert,
});
