import { IsBoolean, IsOptional, IsString, Matches } from 'class-validator';
import { OneOf, Text, ToBoolean, Url, Whole } from './setting.decorators.js';
import { TelemetrySettings } from './telemetry-settings.js';

/** An address, or `Name <address>`. */
export const SENDER =
  /^(?:[^<>"\r\n]{1,100} <[^\s<>@]{1,64}@[^\s<>@]{1,253}>|[^\s<>@]{1,64}@[^\s<>@]{1,253})$/;

/** @param sender a text that {@link SENDER} matches */
export function parseSender(sender: string): { name: string; address: string } {
  const [, name = 'Workspace', address = sender] = /^(.+) <(.+)>$/.exec(sender) ?? [];
  return { name, address };
}

const MAIL_MODES = ['user', 'service'] as const;
const MAIL_ACCOUNTS = ['create', 'link'] as const;

/** The settings of mail: the mail service, external or embedded, and the mails of the workspace itself. */
export abstract class MailSettings extends TelemetrySettings {
  /** Address of the mail service (WildDuck's API). */
  @Url('http', 'https') MAIL_SERVICE_URL?: string;

  /** Whether MAIL_SERVICE_URL is the embedded mail service; the primary process sets it for its workers. */
  @ToBoolean()
  @IsBoolean({ message: 'must be true or false' })
  MAIL_SERVICE_EMBEDDED = false;

  /** Access token of the mail service: for the creation of accounts and sessions or, in mode `service`, for every request. */
  @Text() MAIL_SERVICE_TOKEN?: string;

  /** `user`: requests carry a token of the user; `service`: the token of the service and the id of the user. */
  @OneOf(MAIL_MODES)
  MAIL_SERVICE_MODE: (typeof MAIL_MODES)[number] = 'user';

  /** Timeout of the mail service until its response starts and between two chunks of it, milliseconds. */
  @Whole(100, 600_000) MAIL_SERVICE_TIMEOUT_MS = 30_000;

  /** `create`: the first use of mail creates an account; `link`: only `workspace mail link` assigns accounts. */
  @OneOf(MAIL_ACCOUNTS)
  MAIL_ACCOUNTS: (typeof MAIL_ACCOUNTS)[number] = 'create';

  /** Domain of the addresses of created accounts. Default: the e-mail address of the user. */
  @IsOptional()
  @Matches(/^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/, {
    message: 'must be a domain name in lower case',
  })
  MAIL_ACCOUNT_DOMAIN?: string;

  /** Relay for mails of the workspace itself and for outgoing mail of the embedded mail service. */
  @Url('smtp', 'smtps') SMTP_URL?: string;

  /** Sender of mails of the workspace itself: an address, or `Name <address>`. Default: no-reply at the host of PUBLIC_URL. */
  @IsOptional()
  @Matches(SENDER, { message: 'must be an address, or Name <address>' })
  SYSTEM_MAIL_FROM?: string;

  /** Address on which the embedded mail service receives mail by SMTP. */
  @IsString() MAIL_SMTP_HOST = '127.0.0.1';

  /** Port for SMTP; 0 is off. */
  @Whole(0, 65535) MAIL_SMTP_PORT = 0;

  /** Quota of a user in the embedded mail service, MiB; 0 is no limit. */
  @Whole(0, 1_000_000_000) MAIL_QUOTA_MB = 5_120;

  /** Maximum size of a message in the embedded mail service, MiB. */
  @Whole(1, 128) MAIL_MESSAGE_MB = 40;

  /** Recipients of a user in 24 hours; 0 is no limit. */
  @Whole(0, 1_000_000_000) MAIL_DAILY_RECIPIENTS = 2_000;

  /** The external mail service; null: the embedded one. */
  get mailService(): { url: string; token: string | undefined } | null {
    return this.MAIL_SERVICE_URL === undefined
      ? null
      : { url: this.MAIL_SERVICE_URL.replace(/\/+$/, ''), token: this.MAIL_SERVICE_TOKEN };
  }
}
