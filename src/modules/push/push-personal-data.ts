import { Injectable } from '@nestjs/common';
import { workspace } from '../../platform/database/statement.js';
import { eraseUserRows, personalRows } from '../../platform/personal-data/personal-rows.js';
import { PersonalData, PersonalDataSource } from '../../platform/personal-data/personal-data.js';

const subscriptions = workspace.statement<never>(
  'push.personal_subscriptions',
  personalRows(`SELECT subscription.id, subscription.endpoint, subscription.description, subscription.created_at, subscription.attempted_at
       FROM push_subscriptions subscription
      WHERE subscription.tenant_id = $1 AND subscription.user_id = $2 ORDER BY subscription.id`),
);

const erase = eraseUserRows('push', 'push_deliveries', 'push_subscriptions');

/** The devices of a user, without their keys. */
@Injectable()
export class PushPersonalData extends PersonalDataSource {
  constructor(data: PersonalData) {
    super(data, {
      name: 'push',
      rows: { 'push-subscriptions.json': subscriptions },
      erasure: { rows: erase },
    });
  }
}
