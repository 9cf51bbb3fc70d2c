import { Injectable } from '@nestjs/common';
import { workspace } from '../../../platform/database/statement.js';
import type { Reader } from '../../../platform/database/tx.js';
import { type Stored, viewOf } from './preference-spec.js';
import { PREFERENCES } from './preferences.js';

/** Times of a day, such as `09:00`, on days `mon` to `sun`. */
export interface WorkingHours {
  from: string;
  to: string;
  days: string[];
}

const read = workspace.statement<{ user_id: string; stored: Stored }>(
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
  async of(reader: Reader, tenantId: string, userIds: readonly string[]): Promise<Map<string, WorkingHours>> {
    const rows = userIds.length === 0 ? [] : await reader.query(read, [tenantId, userIds]);
    return new Map(rows.map(({ user_id, stored }) => [user_id, hoursIn(stored)]));
  }
}
