import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { type Html, html } from '../../../platform/html/html-tag.js';
import { BodyReply } from '../../../platform/http/replies/body-reply.js';
import { type Language, translator } from '../../../platform/languages/languages.js';
import { NotificationSettingsApi, PreferencesService } from '../../settings/index.js';
import { NOTIFICATION_TEXTS } from '../notification-texts.js';
import { NotificationsRepository } from '../notifications.repository.js';
import { UnsubscribeLinks, type Unsubscription } from './unsubscribe-links.js';

/** The page may send its own form and nothing else. */
const POLICY = "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/** Ends e-mails by the link in them, without signing in (RFC 8058). */
@Injectable()
export class UnsubscribeService {
  constructor(
    private readonly links: UnsubscribeLinks,
    private readonly settings: NotificationSettingsApi,
    private readonly preferences: PreferencesService,
    private readonly rows: NotificationsRepository,
    private readonly db: Db,
  ) {}

  /** Asks for a confirmation: programs follow links in e-mails. */
  async page(token: string): Promise<BodyReply> {
    const unsubscription = this.links.read(token);
    if (!unsubscription) return pageOf('en', 404, (t) => html`<p>${t('unsubscribe_invalid')}</p>`);
    const language = await this.languageOf(unsubscription);
    return pageOf(
      language,
      200,
      (t) =>
        html`<p>${t('unsubscribe_question')}</p>
          <form method="post"><button>${t('unsubscribe_confirm')}</button></form>`,
    );
  }

  async unsubscribe(token: string): Promise<BodyReply> {
    const unsubscription = this.links.read(token);
    if (!unsubscription) return pageOf('en', 404, (t) => html`<p>${t('unsubscribe_invalid')}</p>`);
    const language = await this.languageOf(unsubscription);
    const { tenantId, userId, scope } = unsubscription;
    const role = await this.rows.roleOf(this.db, unsubscription);
    if (role !== null) {
      const ctx: RequestContext = { tenantId, userId, role, sessionId: null, requestId: 'unsubscribe' };
      const off = { email: false };
      await this.preferences.merge(
        ctx,
        'notifications',
        scope === 'all' ? { channels: off } : { types: { [scope]: off } },
      );
    }
    return pageOf(language, 200, (t) => html`<p>${t('unsubscribed')}</p>`);
  }

  private async languageOf({ tenantId, userId }: Unsubscription): Promise<Language> {
    return (await this.settings.of(this.db, tenantId, [userId]))[0]?.language ?? 'en';
  }
}

function pageOf(
  language: Language,
  status: number,
  content: (t: (key: keyof (typeof NOTIFICATION_TEXTS)['en']) => string) => Html,
): BodyReply {
  const t = translator(NOTIFICATION_TEXTS, language);
  const page = html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${t('unsubscribe_title')}</title>
      </head>
      <body>
        <main>
          <h1>${t('unsubscribe_title')}</h1>
          ${content(t)}
        </main>
      </body>
    </html>`;
  return new BodyReply(Buffer.from(page.text), {
    status,
    contentType: 'text/html; charset=utf-8',
    headers: { 'Content-Security-Policy': POLICY },
  });
}
