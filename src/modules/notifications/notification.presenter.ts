import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../platform/context/request-context.js';
import type { Reader } from '../../platform/database/tx.js';
import { cutToMinute, isAnonymous } from '../../platform/events/anonymous-events.js';
import { fill, type Language, type TextValues, translator } from '../../platform/languages/languages.js';
import { Notifications } from '../../platform/notifications/notifications.js';
import { ReferenceTitles } from '../../platform/references/reference-titles.js';
import { NotificationSettingsApi } from '../settings/index.js';
import type { NotificationResponse } from './notifications.dto.js';
import { NOTIFICATION_TEXTS } from './notification-texts.js';
import { type NotificationRow, NotificationsRepository } from './notifications.repository.js';
import { shortenText } from '../../lib/text/index.js';

const MAX_TITLE = 200;

/** Names and titles that the reader may see now. */
interface Readable {
  language: Language;
  actors: ReadonlyMap<string, string>;
  /** The key consists of kind and id. */
  titles: ReadonlyMap<string, string>;
}

/** Presents notifications to their recipient. Titles are read with the current rights of the recipient. */
@Injectable()
export class NotificationPresenter {
  constructor(
    private readonly notifications: Notifications,
    private readonly references: ReferenceTitles,
    private readonly settings: NotificationSettingsApi,
    private readonly rows: NotificationsRepository,
  ) {}

  /** @param language default: the recipient's */
  async present(
    reader: Reader,
    ctx: RequestContext,
    rows: readonly NotificationRow[],
    language?: Language,
  ): Promise<NotificationResponse[]> {
    if (rows.length === 0) return [];
    const readable: Readable = {
      language: language ?? (await this.languageOf(reader, ctx)),
      actors: await this.rows.actors(reader, ctx.tenantId, [
        ...new Set(rows.flatMap(({ actor_id }) => actor_id ?? [])),
      ]),
      titles: await this.titles(reader, ctx, rows),
    };
    return rows.map((row) => this.response(row, readable));
  }

  private async languageOf(reader: Reader, { tenantId, userId }: RequestContext): Promise<Language> {
    return (await this.settings.readSettings(reader, tenantId, [userId]))[0]?.language ?? 'en';
  }

  private async titles(
    reader: Reader,
    ctx: RequestContext,
    rows: readonly NotificationRow[],
  ): Promise<Map<string, string>> {
    const titles = new Map<string, string>();
    const byKind = Map.groupBy(rows, ({ subject_kind }) => subject_kind);
    for (const [kind, some] of byKind) {
      if (kind === null) continue;
      const ids = some.map(({ subject_id }) => subject_id as string);
      for (const [id, title] of await this.references.readTitles(reader, ctx, kind, ids))
        titles.set(`${kind} ${id}`, oneLine(title));
    }
    return titles;
  }

  private response(row: NotificationRow, readable: Readable): NotificationResponse {
    const { actor_id, subject_kind, subject_id, count, data, ...fields } = row;
    const subject = subject_kind === null ? null : { kind: subject_kind, id: subject_id as string };
    const title = subject && (readable.titles.get(`${subject.kind} ${subject.id}`) ?? null);
    const isReadable = subject === null || title !== null;
    const actor = actor_id === null ? undefined : readable.actors.get(actor_id);
    const type = this.notifications.find(row.type);
    const shown = isAnonymous(data) ? cutToMinute : (time: Date) => time;
    return {
      id: fields.id,
      seq: fields.seq,
      type: fields.type,
      preference: type?.preference ?? fields.type,
      title: this.text(row, readable, { title, actor, isReadable }),
      actor: actor === undefined ? null : { id: actor_id as string, display_name: actor },
      subject: subject && { ...subject, title },
      url_path: isReadable && subject ? (type?.path?.({ subject, data }) ?? null) : null,
      count,
      data,
      state: fields.state,
      seen_at: timeOf(fields.seen_at),
      read_at: timeOf(fields.read_at),
      snooze_until: timeOf(fields.snooze_until),
      created_at: shown(fields.created_at).toISOString(),
      updated_at: shown(fields.updated_at).toISOString(),
    };
  }

  private text(
    { type, count, data }: NotificationRow,
    { language }: Readable,
    { title, actor, isReadable }: { title: string | null; actor: string | undefined; isReadable: boolean },
  ): string {
    const t = translator(NOTIFICATION_TEXTS, language);
    const found = this.notifications.find(type);
    const texts = (data['direct'] === true && found?.directTexts) || found?.texts;
    if (!texts || !isReadable) return t('unavailable');
    const values = { ...(data as TextValues), title: title || t('untitled'), count };
    return fill(language, texts[language], { ...values, actor: oneLine(actor ?? t('unknown_actor')) });
  }
}

const timeOf = (time: Date | null): string | null => time?.toISOString() ?? null;

/** Titles may be long and contain line breaks. */
function oneLine(text: string): string {
  return shortenText(text.replace(/[\s\p{Cc}]+/gu, ' ').trim(), MAX_TITLE);
}
