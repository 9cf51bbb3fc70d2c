import { Injectable } from '@nestjs/common';
import { workspace } from '../../../platform/database/statement.js';
import type { Reader } from '../../../platform/database/tx.js';
import { type Language, languageOf } from '../../../platform/languages/languages.js';
import {
  type NotificationPreference,
  REQUIRED_PREFERENCES,
} from '../../../platform/notifications/notification-type.js';
import { PREFERENCES, type PUSH_CONTENTS, type Stored, viewOf } from './preferences.js';
import type { Preferences } from '../settings.schema.js';

/** What push messages contain. */
export type PushContent = (typeof PUSH_CONTENTS)[number];

type NotificationChannel = 'email' | 'push' | 'in_app';

/** A time of the day, in each week or on `days`; `to` may be on the next day. */
export interface QuietRange {
  from: string;
  to: string;
  days?: string[];
}

/** How a member wants to be notified. */
export interface NotificationSettings {
  userId: string;
  email: string;
  language: Language;
  timeZone: string;
  quietRanges: QuietRange[];
  digest: 'off' | 'daily' | 'weekly';
  pushContent: PushContent;
  uses(channel: NotificationChannel, preference: NotificationPreference): boolean;
}

interface SettingsRow {
  user_id: string;
  email: string;
  general: Stored | null;
  stored: Stored | null;
  time_zone: string | null;
  locale: string | null;
}

const read = workspace.statement<SettingsRow>(
  'settings.notification_settings',
  `SELECT member.user_id, member.email, general.data AS general, stored.data AS stored,
          profile.timezone AS time_zone, profile.locale
     FROM member_profiles member
     LEFT JOIN preferences general ON general.tenant_id = $1 AND general.user_id = member.user_id AND general.kind = 'general'
     LEFT JOIN preferences stored ON stored.tenant_id = $1 AND stored.user_id = member.user_id AND stored.kind = 'notifications'
     LEFT JOIN user_profiles profile ON profile.tenant_id = $1 AND profile.user_id = member.user_id
    WHERE member.tenant_id = $1 AND member.user_id = ANY ($2::uuid[]) AND member.status = 'active'`,
);

interface NotificationsView {
  channels: Record<NotificationChannel, boolean>;
  types: Record<string, Record<NotificationChannel, boolean>>;
  quiet_hours: { tz: string | null; ranges: QuietRange[] };
  digest: NotificationSettings['digest'];
  push_content: PushContent;
}

/** The notification settings of members. */
@Injectable()
export class NotificationSettingsApi {
  /** @returns the settings of the active members among the users */
  async readSettings(
    reader: Reader,
    tenantId: string,
    userIds: readonly string[],
  ): Promise<NotificationSettings[]> {
    return (await reader.query(read, [tenantId, userIds])).map(settingsOf);
  }
}

function settingsOf({
  user_id,
  email,
  general,
  stored,
  time_zone,
  locale,
}: SettingsRow): NotificationSettings {
  const { language, timezone } = viewOf(PREFERENCES.general, general ?? {}) as {
    language: string | null;
    timezone: string | null;
  };
  const view = viewOf(PREFERENCES.notifications, stored ?? {}) as unknown as NotificationsView;
  return {
    userId: user_id,
    email,
    language: languageOf(language) ?? languageOf(locale) ?? 'en',
    timeZone: view.quiet_hours.tz ?? timezone ?? time_zone ?? 'UTC',
    quietRanges: view.quiet_hours.ranges,
    digest: view.digest,
    pushContent: view.push_content,
    uses: (channel, preference) =>
      REQUIRED_PREFERENCES.has(preference) && channel === 'email'
        ? true
        : view.channels[channel] && view.types[preference]?.[channel] === true,
  };
}

/** Times of a day, such as `09:00`, on days `mon` to `sun`. */
export interface WorkingHours {
  from: string;
  to: string;
  days: string[];
}

const readHours = workspace.statement<Pick<Preferences, 'user_id'> & { stored: Stored }>(
  'settings.working_hours',
  `SELECT user_id, data AS stored FROM preferences
    WHERE tenant_id = $1 AND kind = 'general' AND user_id = ANY ($2::uuid[])`,
);

const hoursIn = (stored: Stored): WorkingHours =>
  viewOf(PREFERENCES.general, stored)['working_hours'] as WorkingHours;

/** The working hours of members. */
@Injectable()
export class WorkingHoursApi {
  /** The working hours of a user without settings. */
  readonly usual = hoursIn({});

  /** @returns the working hours of users with settings, by user id */
  async readHours(
    reader: Reader,
    tenantId: string,
    userIds: readonly string[],
  ): Promise<Map<string, WorkingHours>> {
    const rows = userIds.length === 0 ? [] : await reader.query(readHours, [tenantId, userIds]);
    return new Map(rows.map(({ user_id, stored }) => [user_id, hoursIn(stored)]));
  }
}
