import os from 'node:os';
import type { Config } from '../config/config.js';

const MB = 1024 * 1024;
/** A message is sent to us as JSON: base64, escapes and fields around it. */
const JSON_OVERHEAD = 1.4;

/** What the service has been told at its start. */
export class MailSettings {
  /** The service token. Never logged. */
  readonly token: string;
  /** The longest message that is stored, bytes. */
  readonly messageBytes: number;
  /** The longest body of a request, bytes. */
  readonly bodyBytes: number;
  /** The directory for what is under way: ours when we have one, else that of the system. */
  readonly spoolParent: string;
  /** Bytes one person may store; 0 is no limit. */
  readonly quotaBytes: number;
  /** Recipients one person may write to in 24 hours; 0 is no limit. */
  readonly dailyRecipients: number;
  /** Where mail for others is handed to; without it, it is returned to its sender. */
  readonly smtpUrl: string | undefined;
  readonly smtpHost: string;
  /** 0: no mail is taken by SMTP. */
  readonly smtpPort: number;

  constructor(config: Config, token: string) {
    this.token = token;
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
