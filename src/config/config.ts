import { Resolver } from 'node:dns';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { plainToInstance, Transform } from 'class-transformer';
import {
  getMetadataStorage,
  IsBoolean,
  IsOptional,
  IsString,
  Matches,
  validateSync,
  type ValidationError,
} from 'class-validator';
import 'reflect-metadata';
import { MailSettings, parseSender } from './mail-settings.js';
import { entries, OneOf, Origins, Proxies, Text, ToBoolean, Url, Whole } from './setting.decorators.js';
import {
  asksForStandby,
  type BlobStoreSettings,
  isValidDatabaseUrl,
  listedUrls,
  parseBlobStoreUrl,
  singleHostUrls,
  urlsByName,
} from './store-urls.js';

/** Invalid settings, one line for each. The process exits with code 78 (EX_CONFIG of sysexits.h). */
export class ConfigError extends Error {
  static readonly exitCode = 78;

  constructor(readonly lines: string[]) {
    super(lines.join('\n'));
    this.name = 'ConfigError';
  }
}

const SECRET = /TOKEN$|SECRET|KEY|DATABASE_URL|SMTP_URL/;

/** The error of a setting on one line, without the value of a secret. */
export function lineOf({ property, constraints = {}, value }: ValidationError): string {
  // An address may contain a password.
  const shown = SECRET.test(property)
    ? '(a secret, not shown)'
    : JSON.stringify(value).replace(/\/\/.*@/, '//');
  return `${property} ${Object.values(constraints)[0]}, not ${shown}`;
}

/** The settings that depend on other settings. `Config` has all of them. */
interface DependentSettings {
  DATABASE_URL?: string;
  DATABASE_REPLICA_URLS?: string;
  CELL_REPLICA_URLS?: string;
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
  lines.push(...checkReplicas(config), ...checkReplicasOfCells(config));
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
  if (!urls.every(isReplicaUrl))
    return [
      'DATABASE_REPLICA_URLS must be a comma-separated list of URLs beginning with postgres:// or postgresql://',
    ];
  return checkHosts('DATABASE_REPLICA_URLS', urls);
}

function checkReplicasOfCells({ CELL_REPLICA_URLS }: DependentSettings): string[] {
  const replicas = urlsByName(CELL_REPLICA_URLS);
  if (!replicas.every(({ name, url }) => name !== '' && isReplicaUrl(url)))
    return [
      'CELL_REPLICA_URLS must be a comma-separated list of <cell>=<URL>, with URLs beginning with postgres:// or postgresql://',
    ];
  if (replicas.some(({ name }) => name === 'main'))
    return [
      'CELL_REPLICA_URLS must not name main: the replicas of its database are in DATABASE_REPLICA_URLS',
    ];
  return checkHosts(
    'CELL_REPLICA_URLS',
    replicas.map(({ url }) => url),
  );
}

const isReplicaUrl = (url: string): boolean =>
  /^postgres(?:ql)?:\/\/\S+$/.test(url) && isValidDatabaseUrl(url);

const checkHosts = (setting: string, urls: readonly string[]): string[] =>
  urls.some((url) => singleHostUrls(url).length > 1)
    ? [`${setting} must name one host in each URL: each replica has a URL of its own`]
    : [];

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

/** Path of every route, without slashes at the ends. */
export const API_PREFIX = 'apis/v1';

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
const ACCESS_LOGS = ['off', 'sampled', 'on'] as const;
const GUEST_DOMAINS = ['open', 'listed'] as const;
const DOCX_CONVERTERS = ['embedded', 'libreoffice', 'off'] as const;

/**
 * The settings, read once from the environment and `.env` (the environment has precedence), validated and frozen. Property
 * names are the names of the environment variables.
 */
export class Config extends MailSettings {
  /** TCP port of the HTTP interface; 0 lets the system choose. */
  @Whole(0, 65535) PORT = 3000;

  /** Address to listen on. */
  @IsString() HOST = '127.0.0.1';

  /** Directory of the embedded database, files and caches. */
  @Transform(({ value }) => path.resolve(String(value)))
  @IsString()
  DATA_DIR = path.resolve('.data');

  /** The address of the service for clients, without a path. Links in responses begin with it. */
  @Url('http', 'https') PUBLIC_URL?: string;

  /** Address of the web client. Links in e-mails begin with it. Default: PUBLIC_URL. */
  @Url('http', 'https') WEB_CLIENT_URL?: string;

  /** PostgreSQL to use instead of the embedded one. */
  @Url('postgres', 'postgresql') DATABASE_URL?: string;

  /** Standbys of the database that serve reads, comma-separated. Default: none. */
  @Text() DATABASE_REPLICA_URLS?: string;

  /** Standbys of further cells that serve reads: comma-separated `<cell>=<URL>`. Default: none. */
  @Text() CELL_REPLICA_URLS?: string;

  /** Connections per process for requests and jobs. */
  @Whole(1, 1000) DATABASE_POOL_MAX = 10;

  /** Connections per process to each cell besides the database of the directory. */
  @Whole(1, 1000) CELL_POOL_MAX = 5;

  /** Connections per process to all of these cells together. */
  @Whole(1, 10_000) CELL_CONNECTIONS_MAX = 100;

  /** Worker processes sharing the port; one that ends is replaced. 0: the process itself serves, and nothing replaces it. */
  @Whole(0, 256) WEB_CONCURRENCY = 1;

  @OneOf(LOG_LEVELS)
  LOG_LEVEL: (typeof LOG_LEVELS)[number] = 'info';

  /** Log of requests, one JSON line each on stdout. `sampled`: each error, and ACCESS_LOG_SAMPLE_PERCENT of the others. */
  @OneOf(ACCESS_LOGS)
  ACCESS_LOG: (typeof ACCESS_LOGS)[number] = 'off';

  /** Share of the requests without an error that ACCESS_LOG=sampled logs, percent. */
  @Whole(1, 100) ACCESS_LOG_SAMPLE_PERCENT = 1;

  /** Create the demo workspace at start. Default: only with the embedded database. */
  @ToBoolean()
  @IsOptional()
  @IsBoolean({ message: 'must be true or false' })
  DEMO?: boolean;

  /** Lifetime of an access token, seconds. */
  @Whole(60, 31_536_000) TOKEN_TTL = 43_200;

  /** Origins that browsers may call from: a comma-separated list, or `*`. Empty: CORS is off. */
  @Origins() CORS_ORIGINS?: string;

  /** Proxies whose X-Forwarded-* headers are trusted: false, a number of hops, or a comma-separated list of addresses. */
  @Proxies() TRUST_PROXY = 'false';

  /** Issuer of an external OpenID provider whose access tokens are also accepted. */
  @Url('http', 'https') OIDC_ISSUER?: string;
  /** Required audience of these tokens. */
  @Text() OIDC_AUDIENCE?: string;
  /** Address of the keys of the issuer. */
  @Url('http', 'https') OIDC_JWKS_URL?: string;

  /**
   * Keys of 32 characters or more, comma-separated, for the encryption of stored secrets: the first one encrypts, all decrypt.
   * Default: a key in the database.
   */
  @IsOptional()
  @Matches(/^[^\s,]{32,}(?:\s*,\s*[^\s,]{32,})*$/, {
    message: 'must be one or more keys of at least 32 characters, separated by commas',
  })
  SECRET_KEYS?: string;

  /** Password sign-in attempts per minute from one network (an IPv4 address or an IPv6 /64). */
  @Whole(1, 100_000) SIGN_IN_PER_MINUTE = 30;

  /** Requests per minute of one user to one process, as a token bucket; 0: no limit. */
  @Whole(0, 1_000_000) API_REQUESTS_PER_MINUTE = 600;

  /** Service of breached passwords with the range API of api.pwnedpasswords.com. Default: off. */
  @Url('http', 'https') PASSWORD_BREACH_URL?: string;

  /** A JSON file of OpenID clients, in addition to those of `workspace client add`. */
  @Text() OIDC_CLIENTS?: string;

  /**
   * Seconds in which a client may use a refresh token again from the same address, because the response was lost. 0: any second
   * use ends the sign-in (RFC 9700).
   */
  @Whole(0, 60) REFRESH_GRACE_SECONDS = 0;

  /** Lifetime of a sign-in, days. Refreshing its tokens does not extend it. */
  @Whole(1, 365) SIGN_IN_DAYS = 30;

  /** Name servers that verify the domains of workspaces: a comma-separated list of addresses. Default: those of the machine. */
  @IsOptional()
  @Matches(/^[0-9a-fA-F.:[\]]+(?:\s*,\s*[0-9a-fA-F.:[\]]+)*$/, {
    message: 'must be a comma-separated list of addresses',
  })
  DNS_SERVERS?: string;

  /** Language model for drafts of forms, with the chat interface of OpenAI: the address before `/chat/completions`. */
  @Url('http', 'https') ASSISTANT_URL?: string;
  @Text() ASSISTANT_API_KEY?: string;
  @IsString() ASSISTANT_MODEL = 'default';

  /** The store of files; see `parseBlobStoreUrl`. Default: under DATA_DIR. */
  @Text() BLOB_STORE_URL?: string;
  /** Limits for the files of a workspace and of each user, MiB; 0: none. Workspaces may have their own. */
  @Whole(0, 1_000_000_000) FILES_LIMIT_MB = 0;
  @Whole(0, 1_000_000_000) FILES_USER_LIMIT_MB = 0;

  @Url('ws', 'wss', 'http', 'https') LIVEKIT_URL?: string;
  @Text() LIVEKIT_API_KEY?: string;
  @Text() LIVEKIT_API_SECRET?: string;

  /** Domains of guests. `open`: any, unless a workspace has denied it. `listed`: those that a workspace has allowed. */
  @OneOf(GUEST_DOMAINS)
  GUEST_DOMAINS: (typeof GUEST_DOMAINS)[number] = 'open';

  /** Page of the client for guests; links to it have the token of the invite as fragment. */
  @Url('http', 'https') GUEST_PAGE_URL?: string;

  /** Directory of the recordings of calls, under the same path for this service and for LiveKit's egress. Default: none. */
  @Text() LIVEKIT_RECORDINGS_DIR?: string;

  @OneOf(DOCX_CONVERTERS)
  DOCX_CONVERTER: (typeof DOCX_CONVERTERS)[number] = 'embedded';

  /** The program of DOCX_CONVERTER=libreoffice: a name in the usual directories, or a path. */
  @IsString() DOCX_LIBREOFFICE = 'soffice';

  /** Concurrent DOCX conversions of a process. */
  @Whole(1, 64) DOCX_WORKERS = 2;

  /** Waiting DOCX conversions of a process. */
  @Whole(0, 10_000) DOCX_QUEUE = 32;

  /** Timeout of a DOCX conversion, milliseconds. Default: 10 s for the embedded converter, 30 s for LibreOffice. */
  @IsOptional()
  @Whole(1, 600_000)
  DOCX_TIMEOUT_MS?: number;

  /** Memory limit of a DOCX conversion by the embedded converter, MiB. */
  @Whole(16, 16_384) DOCX_MEMORY_MB = 256;

  /** Retention of removals in the change feeds, days. */
  @Whole(1, 3650) FEED_RETENTION_DAYS = 90;

  /** Retention of trashed notes, days; 0: until a user purges them. */
  @Whole(0, 3650) TRASH_RETENTION_DAYS = 30;

  /** Retention of audit entries, days. */
  @Whole(30, 36_500) AUDIT_RETENTION_DAYS = 400;

  /** Port of the Prometheus metrics on HOST; 0 is off. */
  @Whole(0, 65535) METRICS_PORT = 0;

  /** True when this process runs its own PostgreSQL under DATA_DIR. */
  get embeddedDatabase(): boolean {
    return this.DATABASE_URL === undefined;
  }

  /** Addresses of the standbys that serve reads. */
  get replicaUrls(): string[] {
    return listedUrls(this.DATABASE_REPLICA_URLS);
  }

  /** Addresses of the standbys that serve reads of cells other than `main`, each with its cell. */
  get cellReplicas(): { name: string; url: string }[] {
    return urlsByName(this.CELL_REPLICA_URLS);
  }

  /** Addresses of the standbys of one of these cells. */
  replicasOfCell(name: string): string[] {
    return this.cellReplicas.filter((replica) => replica.name === name).map(({ url }) => url);
  }

  get demo(): boolean {
    return this.DEMO ?? this.embeddedDatabase;
  }

  /** @returns a copy with other values of some settings */
  with(settings: Partial<Config>): Config {
    const copy = Object.assign(Object.create(Config.prototype) as Config, this, settings);
    return Object.freeze(copy);
  }

  /** @returns a copy of the settings with this embedded mail service */
  withMailService(service: { url: string; token: string }): Config {
    return this.with({
      MAIL_SERVICE_URL: service.url,
      MAIL_SERVICE_TOKEN: service.token,
      MAIL_SERVICE_EMBEDDED: true,
    });
  }

  /** PUBLIC_URL, or an address for browsers on this machine; without a slash at the end. */
  get publicUrl(): string {
    return (this.PUBLIC_URL ?? `http://localhost:${this.PORT}`).replace(/\/+$/, '');
  }

  /** The address of a path for other programs; null without PUBLIC_URL, as only this machine knows the default. */
  absoluteUrl(path: string): string | null {
    return this.PUBLIC_URL === undefined ? null : this.publicUrl + path;
  }

  /** The URL has no slash at the end. */
  get webClientUrl(): string {
    return (this.WEB_CLIENT_URL ?? this.publicUrl).replace(/\/+$/, '');
  }

  /** The sender of mails of the workspace itself. */
  get systemMailFrom(): { name: string; address: string } {
    return parseSender(this.SYSTEM_MAIL_FROM ?? `no-reply@${new URL(this.publicUrl).hostname}`);
  }

  /** The issuer of the built-in OpenID provider; null when OIDC_ISSUER replaces it. */
  get signInIssuer(): string | null {
    return this.OIDC_ISSUER ? null : `${this.publicUrl}/${API_PREFIX}/oidc`;
  }

  /** The store of files. */
  get blobStore(): BlobStoreSettings {
    if (this.BLOB_STORE_URL === undefined) {
      return { kind: 'file', directory: path.join(this.DATA_DIR, 'blobs') };
    }
    return parseBlobStoreUrl(this.BLOB_STORE_URL);
  }

  get corsOrigins(): string[] {
    return entries(this.CORS_ORIGINS);
  }

  get dnsServers(): string[] {
    return entries(this.DNS_SERVERS);
  }

  get secretKeys(): string[] {
    return entries(this.SECRET_KEYS);
  }

  /** The value for `trust proxy` of Express. */
  get trustProxy(): false | number | string[] {
    if (this.TRUST_PROXY === 'false') return false;
    return /^\d+$/.test(this.TRUST_PROXY) ? Number(this.TRUST_PROXY) : entries(this.TRUST_PROXY);
  }

  /**
   * Parses settings from `env`; an empty value means "not set".
   * @throws ConfigError with each invalid value
   */
  static parse(env: Record<string, string | undefined>): Config {
    const known = new Set(Config.keys());
    const given = Object.entries(env).filter(
      ([key, value]) => known.has(key) && value !== undefined && value.trim() !== '',
    );
    const config = plainToInstance(Config, Object.fromEntries(given), { exposeDefaultValues: true });
    const lines = [...validateSync(config).map(lineOf), ...crossChecks(config)];
    if (lines.length > 0) throw new ConfigError(lines);
    return Object.freeze(config);
  }

  /**
   * Reads the environment and `file`, by default `.env` in the working directory.
   * @throws ConfigError with each invalid value, or for an unreadable file
   */
  static load(file = '.env'): Config {
    try {
      if (existsSync(file)) {
        // The error of loadEnvFile has no reason.
        readFileSync(file);
        process.loadEnvFile(file);
      }
    } catch (error) {
      throw new ConfigError([`${file} cannot be read: ${(error as Error).message}`]);
    }
    return Config.parse(process.env);
  }

  /** The names of all settings, in the order of this class and those that it extends. */
  static keys(): string[] {
    const metadata = getMetadataStorage().getTargetValidationMetadatas(Config, '', true, false);
    return [...new Set(metadata.map(({ propertyName }) => propertyName))];
  }
}
