import { Injectable } from '@nestjs/common';
import { type Statement, workspace } from '../../platform/database/statement.js';
import type { DomainEvent } from '../../platform/events/outbox.js';
import type { Reader } from '../../platform/database/tx.js';
import { DomainNotifications } from '../../platform/notifications/notifications.js';
import type {
  CurrentNotification,
  NotificationCause,
  NotificationTrigger,
  NotificationType,
} from '../../platform/notifications/notification-type.js';
import { RESPONSE_COUNT } from './forms.repository.js';
import type { Form, FormReport } from './forms.schema.js';

// Owner and editors of forms, without the respondents of the responses.
const editors = workspace.statement<{ position: number; user_ids: string[] }>(
  'forms.editors',
  `SELECT about.position::float8 AS position, array_agg(audience.user_id) AS user_ids
     FROM unnest($2::uuid[], $3::uuid[]) WITH ORDINALITY AS about (form_id, response_id, position)
     CROSS JOIN LATERAL (
       SELECT DISTINCT own.user_id FROM form_grants own
         JOIN forms form ON form.tenant_id = $1 AND form.id = own.form_id AND form.deleted_at IS NULL
        WHERE own.tenant_id = $1 AND own.form_id = about.form_id AND own.role >= 'editor') audience
     LEFT JOIN form_responses response ON response.tenant_id = $1 AND response.form_id = about.form_id AND response.id = about.response_id
    WHERE audience.user_id IS DISTINCT FROM response.respondent_id
    GROUP BY about.position`,
);

const viewers = workspace.statement<{ user_id: string }>(
  'form_reports.viewing_users',
  `SELECT DISTINCT user_id FROM form_report_readers WHERE tenant_id = $1 AND report_id = $2`,
);

const titlesOfForms = workspace.statement<Pick<Form, 'id' | 'title'>>(
  'forms.titles',
  `SELECT form.id, form.title FROM forms form
    WHERE form.tenant_id = $1 AND form.id = ANY ($3::uuid[]) AND form.deleted_at IS NULL AND EXISTS (
      SELECT FROM form_grants own
       WHERE own.tenant_id = $1 AND own.form_id = form.id AND own.user_id = $2 AND own.role >= 'viewer')`,
);

const titlesOfReports = workspace.statement<Pick<FormReport, 'id'> & { title: string }>(
  'form_reports.titles',
  `SELECT report.id, report.name AS title FROM form_reports report
     JOIN forms form ON form.tenant_id = $1 AND form.id = report.form_id AND form.deleted_at IS NULL
    WHERE report.tenant_id = $1 AND report.id = ANY ($3::uuid[]) AND EXISTS (
      SELECT FROM form_report_readers reader
       WHERE reader.tenant_id = $1 AND reader.report_id = report.id AND reader.user_id = $2)`,
);

// Responses of others. One that is deleted is not named by the notification, since respondents may be anonymous.
const withResponses = workspace.statement<CurrentNotification>(
  'forms.current_responses',
  `SELECT about.id FROM jsonb_to_recordset($3) AS about (id uuid, subject_id uuid)
    WHERE EXISTS (SELECT FROM form_responses response
                   WHERE response.tenant_id = $1 AND response.form_id = about.subject_id AND response.respondent_id IS DISTINCT FROM $2)`,
);

/** Notifications of forms to which a condition applies. Parameter 2 is the recipient, which PostgreSQL requires to be used. */
const ofForms = (name: string, condition: string): Statement<CurrentNotification> =>
  workspace.statement(
    `forms.${name}`,
    `SELECT about.id FROM jsonb_to_recordset($3) AS about (id uuid, subject_id uuid)
       JOIN forms form ON form.tenant_id = $1 AND form.id = about.subject_id AND ${condition}
      WHERE $2::uuid IS NOT NULL`,
  );
const whileClosed = ofForms('current_closures', 'NOT form.accepting');
const afterWindow = ofForms(
  'current_ends',
  `(form.settings->>'closes_at')::timestamptz <= clock_timestamp()`,
);
const whileFull = ofForms('current_quotas', `(form.settings->>'max_responses')::int <= ${RESPONSE_COUNT}`);

interface FormPayload {
  form_id: string;
  actor_id?: string;
  /** The response was given to an anonymous form. */
  anonymous?: true;
  response_id?: string;
  report_id?: string;
  accepting?: boolean;
  /** Only `form.closed` has it. */
  reason?: 'window_ended' | 'quota_reached';
}

const payloadOf = ({ payload }: DomainEvent): FormPayload => payload as unknown as FormPayload;

async function allToEditors(
  tenantId: string,
  events: readonly DomainEvent[],
  reader: Reader,
): Promise<NotificationCause[]> {
  const about = events.map(payloadOf);
  const rows = await reader.query(editors, [
    tenantId,
    about.map(({ form_id }) => form_id),
    about.map(({ response_id = null }) => response_id),
  ]);
  const recipients = new Map(rows.map(({ position, user_ids }) => [position, user_ids]));
  return about.map(({ form_id, actor_id = null, anonymous }, index) => ({
    recipients: recipients.get(index + 1) ?? [],
    actorId: actor_id,
    subject: { kind: 'form', id: form_id },
    ...(anonymous && { data: { anonymous } }),
  }));
}

const toEditors = async (event: DomainEvent, reader: Reader): Promise<NotificationCause> =>
  (await allToEditors(event.tenantId, [event], reader))[0]!;

/** The closures of a form that no user causes. */
const closedBy = (reason: FormPayload['reason']): NotificationTrigger => ({
  event: 'form.closed',
  causes: async (event, reader) => (payloadOf(event).reason === reason ? toEditors(event, reader) : null),
});

async function toViewers(event: DomainEvent, reader: Reader): Promise<NotificationCause> {
  const { actor_id = null, report_id = '' } = payloadOf(event);
  const rows = await reader.query(viewers, [event.tenantId, report_id]);
  return {
    recipients: rows.map(({ user_id }) => user_id),
    actorId: actor_id,
    subject: { kind: 'report', id: report_id },
    // The event names all viewers. With the report as the key, each of them is notified once.
    key: report_id,
  };
}

const TYPES: readonly NotificationType[] = [
  {
    key: 'form.response',
    preference: 'form.response',
    // The text does not name the respondent, who may be anonymous.
    texts: {
      en: { one: '“{title}” has a new response', other: '“{title}” has {count} new responses' },
      de: { one: '„{title}“ hat eine neue Antwort', other: '„{title}“ hat {count} neue Antworten' },
      pt: { one: '“{title}” tem uma nova resposta', other: '“{title}” tem {count} novas respostas' },
      vi: '“{title}” có {count} câu trả lời mới',
    },
    path: ({ subject }) => `/forms/${subject.id}/responses`,
    lasts: withResponses,
    isGrouped: true,
    triggers: [{ event: 'form.response_submitted', causes: toEditors, causesOfMany: allToEditors }],
  },
  {
    key: 'form.closed',
    preference: 'form.closed',
    texts: {
      en: '{actor} closed the form “{title}”',
      de: '{actor} hat das Formular „{title}“ geschlossen',
      pt: '{actor} encerrou o formulário “{title}”',
      vi: '{actor} đã đóng biểu mẫu “{title}”',
    },
    path: ({ subject }) => `/forms/${subject.id}`,
    lasts: whileClosed,
    triggers: [
      {
        event: 'form.accepting_changed',
        causes: async (event, reader) =>
          payloadOf(event).accepting === false ? toEditors(event, reader) : null,
      },
    ],
  },
  {
    key: 'form.window_ended',
    preference: 'form.closed',
    texts: {
      en: 'The time to answer “{title}” has ended',
      de: 'Die Frist für Antworten auf „{title}“ ist abgelaufen',
      pt: 'O prazo para responder “{title}” terminou',
      vi: 'Đã hết thời gian trả lời “{title}”',
    },
    path: ({ subject }) => `/forms/${subject.id}`,
    lasts: afterWindow,
    triggers: [closedBy('window_ended')],
  },
  {
    key: 'form.quota_reached',
    preference: 'form.closed',
    texts: {
      en: '“{title}” has reached its number of responses',
      de: '„{title}“ hat die Höchstzahl an Antworten erreicht',
      pt: '“{title}” atingiu o número máximo de respostas',
      vi: '“{title}” đã đạt số câu trả lời tối đa',
    },
    path: ({ subject }) => `/forms/${subject.id}`,
    lasts: whileFull,
    triggers: [closedBy('quota_reached')],
  },
  {
    key: 'report.shared',
    preference: 'report.shared',
    texts: {
      en: '{actor} shared the report “{title}” with you',
      de: '{actor} hat den Bericht „{title}“ mit Ihnen geteilt',
      pt: '{actor} compartilhou o relatório “{title}” com você',
      vi: '{actor} đã chia sẻ báo cáo “{title}” với bạn',
    },
    path: ({ subject }) => `/reports/shared/${subject.id}`,
    lasts: 'while_readable',
    triggers: [{ event: 'form.report_shared', causes: toViewers }],
  },
];

/** Notifications of forms and reports. */
@Injectable()
export class FormNotifications extends DomainNotifications {
  protected readonly types = TYPES;
  protected override readonly titles = { form: titlesOfForms, report: titlesOfReports };
}
