import os from 'node:os';
import type { Config } from '../config/config.js';

const MB = 1024 * 1024;
/** Size of a JSON request relative to its message: base64, escapes and field names. */
const JSON_OVERHEAD = 1.4;

/** The settings of the mail service. */
export class MailSettings {
  /** Maximum size of a message, bytes. */
  readonly messageBytes: number;
  /** Maximum size of a request body, bytes. */
  readonly bodyBytes: number;
  /** Directory for temporary files: under DATA_DIR when the service uses it, else the system's. */
  readonly spoolParent: string;
  /** Storage quota of a user, bytes; 0 is unlimited. */
  readonly quotaBytes: number;
  /** Recipients per user in 24 hours; 0 is unlimited. */
  readonly dailyRecipients: number;
  /** The relay for outside recipients; without it, mail for them bounces. */
  readonly smtpUrl: string | undefined;
  readonly smtpHost: string;
  /** 0 disables SMTP reception. */
  readonly smtpPort: number;

  constructor(
    config: Config,
    /** The service token. It is never logged. */
    readonly token: string,
    readonly databaseUrl: string,
  ) {
    this.messageBytes = config.MAIL_MESSAGE_MB * MB;
    this.bodyBytes = Math.ceil(this.messageBytes * JSON_OVERHEAD) + MB;
    const { embeddedDatabase, BLOB_STORE_URL, DATA_DIR } = config;
    this.spoolParent = embeddedDatabase || BLOB_STORE_URL === undefined ? DATA_DIR : os.tmpdir();
    this.quotaBytes = config.MAIL_QUOTA_MB * MB;
    this.dailyRecipients = config.MAIL_DAILY_RECIPIENTS;
    this.smtpUrl = config.SMTP_URL;
    this.smtpHost = config.MAIL_SMTP_HOST;
    this.smtpPort = config.MAIL_SMTP_PORT;
  }
}
