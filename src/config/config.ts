import 'reflect-metadata';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { plainToInstance, Transform } from 'class-transformer';
import {
  getMetadataStorage,
  IsBoolean,
  IsIn,
  IsOptional,
  IsString,
  Matches,
  validateSync,
} from 'class-validator';
import { type BlobStoreSettings, parseBlobStoreUrl } from './blob-store-url.js';
import { crossChecks } from './cross-checks.js';
import { Text, ToBoolean, Url, Whole } from './setting.decorators.js';

/** Path of every route, without slashes at the ends. */
export const API_PREFIX = 'apis/v1';

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
const MAIL_MODES = ['user', 'service'] as const;
const MAIL_ACCOUNTS = ['create', 'link'] as const;
const DOCX_CONVERTERS = ['embedded', 'libreoffice', 'off'] as const;
/** Names every wrong setting in one human line each. The process exits with code 78 (EX_CONFIG of sysexits.h). */
export class ConfigError extends Error {
  static readonly exitCode = 78;

  constructor(readonly lines: string[]) {
    super(lines.join('\n'));
    this.name = 'ConfigError';
  }
}

/**
 * Everything the operator can set, read once from the environment (and `.env`, which the environment overrides),
 * validated and frozen. Property names are the names of the environment variables.
 */
export class Config {
  /** TCP port of the HTTP interface; 0 lets the system choose. */
  @Whole(0, 65535) PORT = 3000;

  /** Address to listen on. */
  @IsString() HOST = '127.0.0.1';

  /** Where the embedded database, files and caches live. */
  @Transform(({ value }) => path.resolve(String(value)))
  @IsString()
  DATA_DIR = path.resolve('.data');

  /** The address clients use, without a path; links in answers are built from it. */
  @Url('http', 'https') PUBLIC_URL?: string;

  /** PostgreSQL to use instead of the embedded one. */
  @Url('postgres', 'postgresql') DATABASE_URL?: string;

  /** Connections per process. */
  @Whole(1, 1000) DATABASE_POOL_MAX = 10;

  /** Worker processes sharing the port. */
  @Whole(1, 256) WEB_CONCURRENCY = 1;

  @IsIn(LOG_LEVELS, { message: `must be one of ${LOG_LEVELS.join(', ')}` })
  LOG_LEVEL: (typeof LOG_LEVELS)[number] = 'info';

  /** Create the demo workspace at start. Default: only with the embedded database. */
  @ToBoolean()
  @IsOptional()
  @IsBoolean({ message: 'must be true or false' })
  DEMO?: boolean;

  /** Lifetime of an access token, seconds. */
  @Whole(60, 31_536_000) TOKEN_TTL = 43_200;

  /** Origins that browsers may call from: a comma-separated list, or `*`. Empty: CORS is off. */
  @IsOptional()
  @Matches(/^(?:\*|https?:\/\/[^\s,/]+(?:\s*,\s*https?:\/\/[^\s,/]+)*)?$/, {
    message: 'must be * or a comma-separated list of origins such as https://app.example.com',
  })
  CORS_ORIGINS?: string;

  /** Proxies whose X-Forwarded-* headers are believed: false, a number of hops, or a comma-separated list of addresses. */
  @Matches(/^(?:false|\d{1,2}|[0-9a-fA-F.:/]+(?:\s*,\s*[0-9a-fA-F.:/]+)*|loopback)$/, {
    message: 'must be false, loopback, a number of hops or a comma-separated list of addresses',
  })
  TRUST_PROXY = 'false';

  /** Issuer of an external OpenID provider whose access tokens are accepted too. */
  @Url('http', 'https') OIDC_ISSUER?: string;
  /** Audience those tokens must name. */
  @Text() OIDC_AUDIENCE?: string;
  /** Where that issuer publishes its keys. */
  @Url('http', 'https') OIDC_JWKS_URL?: string;

  /**
   * Keys of 32 characters or more, comma-separated, that secrets are encrypted with before they are stored: the first one
   * encrypts, the others still decrypt. Without: a key that is kept in the database.
   */
  @IsOptional()
  @Matches(/^[^\s,]{32,}(?:\s*,\s*[^\s,]{32,})*$/, {
    message: 'must be one or more keys of at least 32 characters, separated by commas',
  })
  SECRET_KEYS?: string;

  /** Attempts to sign in with a password from one network (an IPv4 address, an IPv6 /64) in a minute. */
  @Whole(1, 100_000) SIGN_IN_PER_MINUTE = 30;

  /** Service that knows passwords from data breaches, asked by the range of a hash as at api.pwnedpasswords.com; off unless set. */
  @Url('http', 'https') PASSWORD_BREACH_URL?: string;

  /** A JSON file of clients that people may sign in with, beside those of `workspace client add`. */
  @Text() OIDC_CLIENTS?: string;

  /** Days a sign-in lasts, however often its tokens are refreshed. */
  @Whole(1, 365) SIGN_IN_DAYS = 30;

  /** Where the mail service (WildDuck's API) answers. */
  @Url('http', 'https') MAIL_SERVICE_URL?: string;

  /** Its access token: to create accounts and log in to them, or, in mode `service`, for every request. */
  @Text() MAIL_SERVICE_TOKEN?: string;

  /** `user`: each request goes out with a token of that person; `service`: with the service's token and the person's id. */
  @IsIn(MAIL_MODES, { message: `must be one of ${MAIL_MODES.join(', ')}` })
  MAIL_SERVICE_MODE: (typeof MAIL_MODES)[number] = 'user';

  /** How long the mail service may take to begin its answer, or pause within it, milliseconds. */
  @Whole(100, 600_000) MAIL_SERVICE_TIMEOUT_MS = 30_000;

  /** `create`: who uses mail for the first time gets an account there; `link`: only by `workspace mail link`. */
  @IsIn(MAIL_ACCOUNTS, { message: `must be one of ${MAIL_ACCOUNTS.join(', ')}` })
  MAIL_ACCOUNTS: (typeof MAIL_ACCOUNTS)[number] = 'create';

  /** Domain of the addresses of created accounts. Default: each person's own e-mail address. */
  @IsOptional()
  @Matches(/^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/, {
    message: 'must be a domain name in lower case',
  })
  MAIL_ACCOUNT_DOMAIN?: string;

  @Url('smtp', 'smtps') SMTP_URL?: string;

  /** Where the embedded mail service takes mail by SMTP. */
  @IsString() MAIL_SMTP_HOST = '127.0.0.1';

  /** Its port; 0 is off. */
  @Whole(0, 65535) MAIL_SMTP_PORT = 0;

  /** What one person may store in the embedded mail service, MiB; 0 is no limit. */
  @Whole(0, 1_000_000_000) MAIL_QUOTA_MB = 5_120;

  /** The longest message the embedded mail service stores, MiB. */
  @Whole(1, 128) MAIL_MESSAGE_MB = 40;

  /** Recipients one person may write to in 24 hours; 0 is no limit. */
  @Whole(0, 1_000_000_000) MAIL_DAILY_RECIPIENTS = 2_000;

  /** Where files are kept; see `parseBlobStoreUrl`. Default: under DATA_DIR. */
  @Text() BLOB_STORE_URL?: string;
  @Url('ws', 'wss', 'http', 'https') LIVEKIT_URL?: string;
  @Text() LIVEKIT_API_KEY?: string;
  @Text() LIVEKIT_API_SECRET?: string;

  @IsIn(DOCX_CONVERTERS, { message: `must be one of ${DOCX_CONVERTERS.join(', ')}` })
  DOCX_CONVERTER: (typeof DOCX_CONVERTERS)[number] = 'embedded';

  /** The program that DOCX_CONVERTER=libreoffice runs: a name to be found in the usual places, or a path. */
  @IsString() DOCX_LIBREOFFICE = 'soffice';

  /** DOCX conversions of a process that run at once. */
  @Whole(1, 64) DOCX_WORKERS = 2;

  /** DOCX conversions of a process that may wait. */
  @Whole(0, 10_000) DOCX_QUEUE = 32;

  /** Time for one DOCX conversion, milliseconds. Default: 10 s for the embedded converter, 30 s for LibreOffice. */
  @IsOptional()
  @Whole(1, 600_000)
  DOCX_TIMEOUT_MS?: number;

  /** Memory for one DOCX conversion by the embedded converter, MiB. */
  @Whole(16, 16_384) DOCX_MEMORY_MB = 256;

  /** Days a removal stays in the change feeds. */
  @Whole(1, 3650) FEED_RETENTION_DAYS = 90;

  /** Days a trashed note is kept; 0 keeps it until somebody purges it. */
  @Whole(0, 3650) TRASH_RETENTION_DAYS = 30;

  /** Days an entry of the audit log is kept. */
  @Whole(30, 36_500) AUDIT_RETENTION_DAYS = 400;

  /** Port of the Prometheus metrics on HOST; 0 is off. */
  @Whole(0, 65535) METRICS_PORT = 0;

  /** True when this process runs its own PostgreSQL under DATA_DIR. */
  get embeddedDatabase(): boolean {
    return this.DATABASE_URL === undefined;
  }

  get demo(): boolean {
    return this.DEMO ?? this.embeddedDatabase;
  }

  /** The mail service to use; null when there is none. */
  get mailService(): { url: string; token: string | undefined } | null {
    return this.MAIL_SERVICE_URL === undefined
      ? null
      : { url: this.MAIL_SERVICE_URL.replace(/\/+$/, ''), token: this.MAIL_SERVICE_TOKEN };
  }

  /** The same settings, but for a mail service that the process runs itself. */
  withMailService(service: { url: string; token: string }): Config {
    const copy = Object.assign(Object.create(Config.prototype) as Config, this);
    copy.MAIL_SERVICE_URL = service.url;
    copy.MAIL_SERVICE_TOKEN = service.token;
    return Object.freeze(copy);
  }

  /** PUBLIC_URL, or what a browser on this machine would use; no trailing slash. */
  get publicUrl(): string {
    return (this.PUBLIC_URL ?? `http://localhost:${this.PORT}`).replace(/\/+$/, '');
  }

  /** The issuer of the built-in OpenID provider; null when OIDC_ISSUER puts another in its place. */
  get signInIssuer(): string | null {
    return this.OIDC_ISSUER ? null : `${this.publicUrl}/${API_PREFIX}/oidc`;
  }

  /** Where files are kept. */
  get blobStore(): BlobStoreSettings {
    if (this.BLOB_STORE_URL === undefined) {
      return { kind: 'file', directory: path.join(this.DATA_DIR, 'blobs') };
    }
    return parseBlobStoreUrl(this.BLOB_STORE_URL);
  }

  get corsOrigins(): string[] {
    return (this.CORS_ORIGINS ?? '')
      .split(',')
      .map((origin) => origin.trim())
      .filter(Boolean);
  }

  get secretKeys(): string[] {
    return (this.SECRET_KEYS ?? '')
      .split(',')
      .map((key) => key.trim())
      .filter(Boolean);
  }

  /** In the form Express takes for `trust proxy`. */
  get trustProxy(): false | number | string[] {
    if (this.TRUST_PROXY === 'false') return false;
    return /^\d+$/.test(this.TRUST_PROXY)
      ? Number(this.TRUST_PROXY)
      : this.TRUST_PROXY.split(',').map((address) => address.trim());
  }

  /**
   * Parses settings from `env`; an empty value means "not set".
   * @throws ConfigError naming each wrong value
   */
  static parse(env: Record<string, string | undefined>): Config {
    const known = new Set(Config.keys());
    const given = Object.entries(env).filter(
      ([key, value]) => known.has(key) && value !== undefined && value.trim() !== '',
    );
    const config = plainToInstance(Config, Object.fromEntries(given), { exposeDefaultValues: true });
    const lines = validateSync(config).map(
      (error) =>
        `${error.property} ${Object.values(error.constraints ?? {})[0]}, not ${shown(error.property, error.value)}`,
    );
    lines.push(...crossChecks(config));
    if (lines.length > 0) throw new ConfigError(lines);
    return Object.freeze(config);
  }

  /** Reads `.env` in the working directory and the environment. */
  static load(): Config {
    if (existsSync('.env')) process.loadEnvFile('.env');
    return Config.parse(process.env);
  }

  /** The names of all settings, in the order of this class. */
  static keys(): string[] {
    const metadata = getMetadataStorage().getTargetValidationMetadatas(Config, '', true, false);
    return [...new Set(metadata.map(({ propertyName }) => propertyName))];
  }
}

const SECRET = /TOKEN$|SECRET|KEY|DATABASE_URL|SMTP_URL/;

function shown(key: string, value: unknown): string {
  return SECRET.test(key) ? '(a secret, not shown)' : JSON.stringify(value);
}
