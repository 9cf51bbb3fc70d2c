import { Resolver } from 'node:dns';
import { asksForStandby, isValidDatabaseUrl, listedUrls, singleHostUrls } from './database-url.js';

/** The settings that depend on other settings. `Config` has all of them. */
interface DependentSettings {
  DATABASE_URL?: string;
  DATABASE_REPLICA_URLS?: string;
  PUBLIC_URL?: string;
  OIDC_ISSUER?: string;
  OIDC_AUDIENCE?: string;
  MAIL_SERVICE_URL?: string;
  MAIL_ACCOUNTS: string;
  PORT: number;
  METRICS_PORT: number;
  LIVEKIT_URL?: string;
  LIVEKIT_API_KEY?: string;
  LIVEKIT_API_SECRET?: string;
  readonly dnsServers: string[];
  /** Throws when BLOB_STORE_URL is invalid. */
  readonly blobStore: unknown;
}

/**
 * Checks settings that are valid one by one but not together.
 *
 * @returns one line for each conflict
 */
export function crossChecks(config: DependentSettings): string[] {
  const lines: string[] = [];
  // The addresses of the sign-in and the paths of its cookies begin with /apis/v1.
  if (isHttp(config.PUBLIC_URL) && !isOrigin(config.PUBLIC_URL)) {
    lines.push('PUBLIC_URL must be an address without path, query, fragment, user or password');
  }
  if (config.OIDC_ISSUER && !config.OIDC_AUDIENCE) {
    lines.push(
      'OIDC_AUDIENCE must be set when OIDC_ISSUER is: without it tokens made for other services would be accepted',
    );
  }
  if (isHttp(config.MAIL_SERVICE_URL) && !isBareUrl(config.MAIL_SERVICE_URL)) {
    lines.push('MAIL_SERVICE_URL must be an address without query, fragment, user or password');
  }
  if (config.MAIL_ACCOUNTS === 'link' && config.MAIL_SERVICE_URL === undefined) {
    lines.push(
      'MAIL_SERVICE_URL must be set when MAIL_ACCOUNTS is link: the embedded mail service has none to link',
    );
  }
  if (config.METRICS_PORT > 0 && config.METRICS_PORT === config.PORT) {
    lines.push('METRICS_PORT must be another port than PORT');
  }
  if (!areNameServers(config.dnsServers)) {
    lines.push('DNS_SERVERS must be a comma-separated list of IP addresses, each with an optional port');
  }
  try {
    void config.blobStore;
  } catch (error) {
    lines.push(`BLOB_STORE_URL ${(error as Error).message}`);
  }
  if (asksForStandby(config.DATABASE_URL ?? ''))
    lines.push('DATABASE_URL target_session_attrs must be read-write or primary, or absent');
  lines.push(...checkReplicas(config));
  const livekit = [config.LIVEKIT_URL, config.LIVEKIT_API_KEY, config.LIVEKIT_API_SECRET].filter(
    Boolean,
  ).length;
  if (livekit > 0 && livekit < 3) {
    lines.push('LIVEKIT_URL, LIVEKIT_API_KEY and LIVEKIT_API_SECRET must be set together');
  }
  return lines;
}

function checkReplicas({ DATABASE_URL, DATABASE_REPLICA_URLS }: DependentSettings): string[] {
  const urls = listedUrls(DATABASE_REPLICA_URLS);
  if (urls.length === 0) return [];
  if (DATABASE_URL === undefined)
    return ['DATABASE_REPLICA_URLS needs DATABASE_URL: the embedded database has no replicas'];
  if (!urls.every((url) => /^postgres(?:ql)?:\/\/\S+$/.test(url) && isValidDatabaseUrl(url)))
    return [
      'DATABASE_REPLICA_URLS must be a comma-separated list of URLs beginning with postgres:// or postgresql://',
    ];
  if (urls.some((url) => singleHostUrls(url).length > 1))
    return ['DATABASE_REPLICA_URLS must name one host in each URL: each replica has a URL of its own'];
  return [];
}

/** Whether a URL is valid by itself. The validation of the setting reports any other one. */
const isHttp = (text = ''): text is string => /^https?:/.test(text) && URL.canParse(text);

const isOrigin = (text: string): boolean => isBareUrl(text) && /^\/*$/.test(new URL(text).pathname);

function isBareUrl(text: string): boolean {
  const { search, hash, username, password } = new URL(text);
  return `${search}${hash}${username}${password}` === '';
}

function areNameServers(servers: string[]): boolean {
  try {
    new Resolver().setServers(servers);
    return true;
  } catch {
    return false;
  }
}
