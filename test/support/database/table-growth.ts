/** How a table keeps its size. Each table has one entry; `test/contract/table-growth.e2e-spec.ts` checks it. */
export type Growth =
  /** The job deletes rows whose times have passed. `row`: values of a row to which this applies, beside its times. */
  | { trimmedBy: string; row?: Record<string, unknown> }
  /** The job deletes rows by their parent, feed position or state, not by their age alone. */
  | { cleanedBy: string }
  /** Writes and deliveries delete rows themselves. */
  | { trimmedOnUse: string }
  /** Rows follow the content that users keep, and are deleted with it. */
  | { content: true }
  /** At most a fixed number of rows for each account, member, workspace or job. */
  | { bounded: true }
  /** Rows are never deleted, for this reason. */
  | { permanent: string };

const each = <T extends Growth>(growth: T, names: string): Record<string, T> =>
  Object.fromEntries(
    names
      .trim()
      .split(/\s+/)
      .map((name) => [name, growth]),
  );

export const TABLE_GROWTH: Record<string, Growth> = {
  access_changes: { trimmedBy: 'forget-ended-sessions' },
  account_tokens: { trimmedBy: 'account-tokens.forget' },
  audit_log: { trimmedBy: 'forget-old-audit-log' },
  commit_decisions: { trimmedBy: 'cells.finish-commits' },
  chat_attachments: { trimmedBy: 'chat.sweep-attachments', row: { room_id: null, message_seq: null } },
  contact_imports: { trimmedBy: 'purge-contact-imports' },
  contact_merges: { trimmedBy: 'forget-contact-merges' },
  entry_tombstones: { trimmedBy: 'forget-calendar-removals' },
  external_invites: { trimmedBy: 'guests.clean-invites' },
  form_uploads: { trimmedBy: 'forms-cleanup' },
  guess_locks: { trimmedBy: 'guess-locks.forget' },
  guest_limits: { trimmedBy: 'guests.clean-limits' },
  guest_otps: { trimmedBy: 'guests.clean-codes' },
  idempotency_keys: { trimmedBy: 'forget-idempotency-keys' },
  mail_moves: { trimmedBy: 'forget-mail-moves' },
  notification_causes: { trimmedBy: 'expire-notifications' },
  notifications: { trimmedBy: 'expire-notifications', row: { state: 'dismissed' } },
  oidc_records: { trimmedBy: 'sign-in.forget-expired' },
  passkey_challenges: { trimmedBy: 'passkey-challenges.forget' },
  personal_exports: { trimmedBy: 'expire-personal-exports' },
  push_deliveries: { trimmedBy: 'push.forget-deliveries' },
  rate_limits: { trimmedBy: 'rate-limits.forget' },
  recordings: { trimmedBy: 'calls.expire-recordings' },
  scheduling_messages: { trimmedBy: 'purge-scheduling-messages', row: { direction: 'in' } },
  sessions: { trimmedBy: 'forget-ended-sessions' },
  socket_tokens: { trimmedBy: 'socket-tokens.forget' },
  system_mails: { trimmedBy: 'clean-system-mails', row: { state: 'sent' } },
  tenant_invitations: { trimmedBy: 'access.invitations', row: { state: 'accepted' } },
  webhook_deliveries: { trimmedBy: 'webhooks.forget-deliveries' },
  webhook_events: { trimmedBy: 'calls.forget-events' },

  ...each({ cleanedBy: 'collect-blobs' }, 'blobs'),
  ...each({ cleanedBy: 'recount-files' }, 'user_file_usage'),
  ...each({ cleanedBy: 'contacts.collect-photos' }, 'contact_photos'),
  ...each({ cleanedBy: 'dav.forget-names' }, 'dav_names'),
  ...each({ cleanedBy: 'encode-tenant-logos' }, 'tenant_logos'),
  ...each({ cleanedBy: 'forget-feed-removals' }, 'contacts note_folders note_members task_folders'),
  ...each({ cleanedBy: 'forms-cleanup' }, 'forms form_responses'),
  ...each({ cleanedBy: 'guests.clean-invites' }, 'guests guest_spent_tokens'),
  ...each({ cleanedBy: 'pack-note-history' }, 'note_revisions note_revision_packs note_history_due'),
  ...each({ cleanedBy: 'presence.sweep' }, 'presence_devices'),
  ...each(
    { cleanedBy: 'purge-cancelled-events' },
    'calendar_events calendar_entries event_participants event_overrides',
  ),
  ...each({ cleanedBy: 'purge-contact-imports' }, 'contact_import_items'),
  ...each({ cleanedBy: 'purge-scheduling-messages' }, 'scheduling_deliveries'),
  ...each({ cleanedBy: 'purge-trashed-notes' }, 'notes'),
  ...each({ cleanedBy: 'purge-trashed-tasks' }, 'tasks'),
  ...each({ cleanedBy: 'chat.purge-rooms' }, 'chat_messages chat_rooms chat_members'),
  ...each({ cleanedBy: 'received-addresses' }, 'received_addresses'),

  outbox: { trimmedOnUse: 'The delivery of an event deletes its row.' },
  mail_recipients: { trimmedOnUse: 'A write keeps the most recent recipients of a user.' },
  task_activity: { trimmedOnUse: 'A write keeps the last 500 entries of a task.' },

  ...each(
    { content: true },
    `addressbook_shares addressbooks application_passwords calendar_feeds calendar_shares calendars call_bans call_declines
     call_members call_participants calls chat_notified contact_words dav_properties event_history event_proposals event_search form_access
     form_counters form_report_viewers form_reports form_response_once form_versions form_views note_search poll_options
     poll_participants poll_votes polls subtasks suppressed_addresses sync_heads task_attachments task_comments
     task_folder_members task_members task_search`,
  ),
  ...each(
    { bounded: true },
    `account_cells account_links accounts calendar_preferences cells event_interests file_usage guest_domains holiday_subscriptions job_runs mail_accounts
     mail_arrival_scans mail_calendar_scans mail_pending_accounts notification_heads oidc_clients passkeys personal_erasures platform_secrets preferences presence_users push_keys push_subscriptions rbac_grants
     rbac_groups rbac_members received_address_scans recovery_codes scim_groups scim_tokens scim_users second_factor_resets
     second_factors signatures signing_keys tenant_domains tenant_holiday_subscriptions tenant_members
     tenant_issuer_links tenant_issuers tenant_policies tenant_rbac tenants user_profiles incoming_webhooks webhook_queues webhooks workspace_cells workspace_moves`,
  ),
  ...each(
    { permanent: 'The id of a purged item must not be used again (32 bytes for each).' },
    'purged_notes purged_tasks',
  ),
};
