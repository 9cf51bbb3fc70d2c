import { Controller, Injectable, Param } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiNotFoundResponse, ApiParam, ApiTags } from '@nestjs/swagger';
import { API_PREFIX, Config } from '../../../config/config.js';
import { Public } from '../../../platform/context/access.decorators.js';
import type { MemberKey, RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { type Html, html } from '../../../platform/html/html-tag.js';
import { ApiPage } from '../../../platform/http/api-docs.js';
import { BytesBody } from '../../../platform/http/body/body.guard.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Errors } from '../../../platform/http/errors.js';
import { BodyReply } from '../../../platform/http/replies/body-reply.js';
import { type Language, translator } from '../../../platform/languages/languages.js';
import {
  NOTIFICATION_PREFERENCES,
  type NotificationPreference,
} from '../../../platform/notifications/notification-type.js';
import { PUBLIC_FORM_LIMIT, RateLimited } from '../../../platform/rate-limits/rate-limit.guard.js';
import { Keyring } from '../../../platform/secrets/keyring.js';
import { NotificationSettingsApi, PreferencesService } from '../../settings/index.js';
import { NOTIFICATION_TEXTS } from '../notification-texts.js';
import { NotificationsRepository } from '../notifications.repository.js';

/** The e-mails that a link ends: of one preference, or all. */
export interface Unsubscription extends MemberKey {
  scope: NotificationPreference | 'all';
}

const SIGNATURE_BYTES = 16;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Signed links of unsubscription. They do not expire: they can only end e-mails. */
@Injectable()
export class UnsubscribeLinks {
  constructor(
    private readonly keyring: Keyring,
    private readonly config: Config,
  ) {}

  url(unsubscription: Unsubscription): string {
    return `${this.config.publicUrl}/${API_PREFIX}/notifications/unsubscribe/${this.token(unsubscription)}`;
  }

  token({ tenantId, userId, scope }: Unsubscription): string {
    const payload = `${tenantId} ${userId} ${scope}`;
    const signature = this.keyring.sign('unsubscribe', payload, SIGNATURE_BYTES);
    return `${Buffer.from(payload).toString('base64url')}.${signature.toString('base64url')}`;
  }

  /** @returns null for a token that this installation did not sign */
  read(token: string): Unsubscription | null {
    const [text = '', signature = ''] = token.split('.');
    const payload = Buffer.from(text, 'base64url').toString();
    const [tenantId = '', userId = '', scope = ''] = payload.split(' ');
    if (!this.keyring.verify('unsubscribe', payload, Buffer.from(signature, 'base64url'))) return null;
    if (!UUID.test(tenantId) || !UUID.test(userId) || !isScope(scope)) return null;
    return { tenantId, userId, scope };
  }
}

const isScope = (text: string): text is Unsubscription['scope'] =>
  text === 'all' || (NOTIFICATION_PREFERENCES as readonly string[]).includes(text);

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
    return (await this.settings.readSettings(this.db, tenantId, [userId]))[0]?.language ?? 'en';
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

const FORM_TYPES = ['application/x-www-form-urlencoded', 'multipart/form-data'] as const;
const MAX_BODY = 4_096;

const ApiToken = () =>
  ApiParam({
    name: 'token',
    description: 'The token of the link in an e-mail.',
    schema: { type: 'string', example: 'MDE4OTBhNWQ.c2lnbmF0dXJl' },
  });

const ApiInvalidToken = () =>
  ApiNotFoundResponse({
    description: 'The token is invalid.',
    content: { 'text/html': { schema: { type: 'string' } } },
  });

/** One-click unsubscription (RFC 8058). The token in the path is the credential. */
@ApiTags('notifications')
@Controller('notifications/unsubscribe')
export class UnsubscribeController {
  constructor(private readonly unsubscribes: UnsubscribeService) {}

  @Endpoint('GET :token', {
    id: 'showUnsubscribe',
    summary: 'Page that confirms the end of notification e-mails',
    description: 'For browsers. Reading it changes nothing.',
    errors: [Errors.badRequest],
  })
  @ApiToken()
  @ApiPage()
  @ApiInvalidToken()
  @Public()
  page(@Param('token') token: string): Promise<BodyReply> {
    return this.unsubscribes.page(token);
  }

  @Endpoint('POST :token', {
    id: 'unsubscribeNotifications',
    summary: 'End notification e-mails',
    description:
      'The address of `List-Unsubscribe` (RFC 8058): switches off e-mails of one kind, or all. The body is ignored.',
    status: 200,
    errors: [Errors.badRequest, Errors.unsupportedMediaType, Errors.bodyTooLarge, Errors.tooManyRequests],
  })
  @ApiToken()
  @ApiConsumes(...FORM_TYPES)
  @ApiBody({
    required: false,
    schema: {
      type: 'object',
      properties: { 'List-Unsubscribe': { type: 'string', enum: ['One-Click'], example: 'One-Click' } },
    },
  })
  @ApiPage()
  @ApiInvalidToken()
  @BytesBody({ types: FORM_TYPES, limit: MAX_BODY })
  @RateLimited(PUBLIC_FORM_LIMIT)
  @Public()
  unsubscribe(@Param('token') token: string): Promise<BodyReply> {
    return this.unsubscribes.unsubscribe(token);
  }
}
