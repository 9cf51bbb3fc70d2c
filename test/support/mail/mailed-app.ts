import { simpleParser } from 'mailparser';
import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { TestApp } from '../app.ts';
import { Browser, type Shown } from '../sign-in/relying-party.ts';
import { OtherServer } from './smtp.ts';

/** The application with a relay, whose mails a test reads. */
export class MailedApp {
  private constructor(
    readonly app: TestApp,
    readonly relay: OtherServer,
  ) {}

  static async start(settings: Record<string, string> = {}): Promise<MailedApp> {
    const relay = await OtherServer.start();
    const app = await TestApp.start({
      SMTP_URL: relay.url,
      PUBLIC_URL: 'https://work.example',
      SIGN_IN_PER_MINUTE: '100000',
      ...settings,
    });
    return new MailedApp(app, relay);
  }

  drain = (): Promise<number> => this.app.get<OutboxWorker>(OutboxWorker).drain();

  /** The mails to an address, after all events, oldest first. */
  async mailsTo(email: string) {
    await this.drain();
    const found = this.relay.received.filter(({ to }) => to.includes(email));
    return Promise.all(found.map(({ raw }) => simpleParser(raw)));
  }

  /** The address of the page in the newest mail to an address, on the port of the test. */
  async linkTo(email: string): Promise<string> {
    const mail = (await this.mailsTo(email)).at(-1);
    const [, path] = /https:\/\/work\.example(\/apis\/v1\/account\/\S+)/.exec(mail?.text ?? '') ?? [];
    if (path === undefined) throw new Error(`no link in the mail to ${email}: ${mail?.text}`);
    return `${this.app.base}${path}`;
  }

  browser = (language = 'en'): Browser => new Browser(this.app.base, { 'accept-language': language });

  /** Opens a page and submits its form. */
  async submit(url: string, fields: Record<string, string>, language = 'en'): Promise<Shown> {
    const browser = this.browser(language);
    return browser.submit(await browser.open(url), fields);
  }

  /** Opens a page once for each set of fields, then submits all forms at once. */
  async submitAtOnce(url: string, sets: Record<string, string>[]): Promise<Shown[]> {
    const opened = await Promise.all(
      sets.map(async (fields) => {
        const browser = this.browser();
        return { browser, page: await browser.open(url), fields };
      }),
    );
    return Promise.all(opened.map(({ browser, page, fields }) => browser.submit(page, fields)));
  }

  async stop(): Promise<void> {
    await this.app?.stop();
    await this.relay?.stop();
  }
}
