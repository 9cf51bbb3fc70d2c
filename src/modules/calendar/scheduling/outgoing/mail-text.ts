import type { ItipMethod } from '../../../../lib/itip/index.js';
import { describeRule, type TextLocale } from '../../../../lib/recurrence/index.js';
import { cutText } from '../../../../lib/text/index.js';
import { FOLLOWING } from '../../model/event-policy.js';
import type {
  AttendeeResponse,
  EventContent,
  EventRecord,
  EventTimes,
  ProposalRow,
} from '../../model/event-record.js';
import { contentOf, isSeries, occurrenceOf, occurrencesIn, seriesOf } from '../../model/event-series.js';
import { instantOf, isDay, lengthAt, wallOf } from '../../model/event-times.js';

/** Words of mails about meetings. */
export interface Phrases {
  headings: Record<Exclude<ItipMethod, 'REPLY'>, string>;
  /** Headings for a recipient that has received an earlier version. */
  updates: Record<'REQUEST' | 'PUBLISH', string>;
  responses: Record<AttendeeResponse, string>;
  what: string;
  when: string;
  before: string;
  next: string;
  repeats: string;
  where: string;
  conference: string;
  organizer: string;
  proposed: string;
  comment: string;
  untitled: string;
}

export const PHRASES: Record<TextLocale, Phrases> = {
  en: {
    headings: {
      REQUEST: 'Invitation',
      CANCEL: 'Cancelled',
      ADD: 'Additional date',
      PUBLISH: 'Event',
      COUNTER: 'New time proposed',
      DECLINECOUNTER: 'Proposal declined',
      REFRESH: 'Update requested',
    },
    updates: { REQUEST: 'Updated invitation', PUBLISH: 'Updated event' },
    responses: {
      accepted: 'Accepted',
      declined: 'Declined',
      tentative: 'Tentative',
      delegated: 'Delegated',
      needs_action: 'No response yet',
    },
    what: 'Event',
    when: 'Time',
    before: 'Previous time',
    next: 'Next date',
    repeats: 'Repeats',
    where: 'Location',
    conference: 'Conference',
    organizer: 'Organizer',
    proposed: 'Proposed time',
    comment: 'Comment',
    untitled: 'Event without title',
  },
  de: {
    headings: {
      REQUEST: 'Einladung',
      CANCEL: 'Abgesagt',
      ADD: 'Zusätzlicher Termin',
      PUBLISH: 'Termin',
      COUNTER: 'Neue Zeit vorgeschlagen',
      DECLINECOUNTER: 'Vorschlag abgelehnt',
      REFRESH: 'Aktualisierung erbeten',
    },
    updates: { REQUEST: 'Aktualisierte Einladung', PUBLISH: 'Aktualisierter Termin' },
    responses: {
      accepted: 'Zugesagt',
      declined: 'Abgelehnt',
      tentative: 'Mit Vorbehalt',
      delegated: 'Delegiert',
      needs_action: 'Noch keine Antwort',
    },
    what: 'Termin',
    when: 'Zeit',
    before: 'Bisherige Zeit',
    next: 'Nächster Termin',
    repeats: 'Wiederholung',
    where: 'Ort',
    conference: 'Konferenz',
    organizer: 'Organisator',
    proposed: 'Vorgeschlagene Zeit',
    comment: 'Kommentar',
    untitled: 'Termin ohne Titel',
  },
  pt: {
    headings: {
      REQUEST: 'Convite',
      CANCEL: 'Cancelado',
      ADD: 'Data adicional',
      PUBLISH: 'Evento',
      COUNTER: 'Novo horário proposto',
      DECLINECOUNTER: 'Proposta recusada',
      REFRESH: 'Atualização solicitada',
    },
    updates: { REQUEST: 'Convite atualizado', PUBLISH: 'Evento atualizado' },
    responses: {
      accepted: 'Aceito',
      declined: 'Recusado',
      tentative: 'Talvez',
      delegated: 'Delegado',
      needs_action: 'Ainda sem resposta',
    },
    what: 'Evento',
    when: 'Horário',
    before: 'Horário anterior',
    next: 'Próxima data',
    repeats: 'Repetição',
    where: 'Local',
    conference: 'Conferência',
    organizer: 'Organizador',
    proposed: 'Horário proposto',
    comment: 'Comentário',
    untitled: 'Evento sem título',
  },
  vi: {
    headings: {
      REQUEST: 'Lời mời',
      CANCEL: 'Đã hủy',
      ADD: 'Thêm ngày',
      PUBLISH: 'Sự kiện',
      COUNTER: 'Đề xuất thời gian mới',
      DECLINECOUNTER: 'Đề xuất bị từ chối',
      REFRESH: 'Yêu cầu cập nhật',
    },
    updates: { REQUEST: 'Lời mời đã cập nhật', PUBLISH: 'Sự kiện đã cập nhật' },
    responses: {
      accepted: 'Đã chấp nhận',
      declined: 'Đã từ chối',
      tentative: 'Có thể tham gia',
      delegated: 'Đã ủy quyền',
      needs_action: 'Chưa trả lời',
    },
    what: 'Sự kiện',
    when: 'Thời gian',
    before: 'Thời gian trước đây',
    next: 'Ngày tiếp theo',
    repeats: 'Lặp lại',
    where: 'Địa điểm',
    conference: 'Hội nghị',
    organizer: 'Người tổ chức',
    proposed: 'Thời gian đề xuất',
    comment: 'Nhận xét',
    untitled: 'Sự kiện không có tiêu đề',
  },
};

/** The readable part of a mail. */
export interface MailText {
  subject: string;
  text: string;
  html: string;
}

export interface TextRequest {
  method: ItipMethod;
  key: string;
  comment: string;
  proposal: ProposalRow | null;
  /** The recipients have received an earlier version. */
  isUpdate: boolean;
  /** The response of a REPLY. */
  response: AttendeeResponse | null;
  /** Name or address of the sender. */
  sender: string;
  locale: TextLocale;
  now: Date;
}

const MAX_SUBJECT = 200;
const DAY = 86_400;
/** Days in which the next instance of a series is searched, and the number of instances that are read. */
const AHEAD_DAYS = 400;
const AHEAD_INSTANCES = 200;

/**
 * The subject and texts of a message. They state the change and the time, for a series the time of its next instance, in the zone of
 * the event and in UTC.
 */
export function mailText(record: EventRecord, request: TextRequest): MailText {
  const phrases = PHRASES[request.locale];
  const key = request.key.replace(FOLLOWING, '');
  const nominal = nominalContent(record, key);
  const occurrence = key === '' ? null : occurrenceOf(record, key, 'UTC');
  // An instance that does not take place any more has the times of its series.
  const content = occurrence ? contentOf(record, occurrence) : nominal;
  const title = content.title || phrases.untitled;
  const lines: [string, string][] = [[phrases.what, title]];
  if (key !== '') {
    if (nominal.starts !== content.starts) lines.push([phrases.before, timeText(nominal, request)]);
    lines.push([phrases.when, timeText(content, request)]);
  } else if (isSeries(record)) lines.push(...seriesLines(record, phrases, request));
  else lines.push([phrases.when, timeText(record, request)]);
  if (request.proposal) lines.push([phrases.proposed, timeText(request.proposal, request)]);
  if (content.location) lines.push([phrases.where, content.location]);
  if (content.conference?.url) lines.push([phrases.conference, content.conference.url]);
  lines.push([phrases.organizer, record.organizer_name || record.organizer_email]);
  if (request.comment) lines.push([phrases.comment, request.comment]);
  const heading = `${headingOf(request, phrases)}: ${title}`;
  const subject = cutText(heading.replaceAll(/\s+/g, ' '), MAX_SUBJECT);
  return { subject, ...bodies(subject, lines, content.description) };
}

function headingOf({ method, response, sender, isUpdate }: TextRequest, phrases: Phrases): string {
  if (method === 'REPLY') return `${phrases.responses[response ?? 'needs_action']} (${sender})`;
  return isUpdate && (method === 'REQUEST' || method === 'PUBLISH')
    ? phrases.updates[method]
    : phrases.headings[method];
}

function seriesLines(record: EventRecord, phrases: Phrases, request: TextRequest): [string, string][] {
  const series = seriesOf(record);
  const rules = series.rules.map((rule) => describeRule(rule, series, request.locale)).join('; ');
  const next = nextTimes(record, request.now);
  return [
    ...(rules ? [[phrases.repeats, rules] as [string, string]] : []),
    [next ? phrases.next : phrases.when, timeText(next ?? record, request)],
  ];
}

/** The times of the next instance; null without one in the coming year. */
function nextTimes(record: EventRecord, now: Date): EventTimes | null {
  const from = Math.floor(now.getTime() / 1000);
  const window = { from, to: from + AHEAD_DAYS * DAY, readerZone: 'UTC' };
  const [next] = occurrencesIn(record, window, AHEAD_INSTANCES)
    .filter(({ start, override }) => start >= from && override?.patch.status !== 'cancelled')
    .sort((a, b) => a.start - b.start);
  return next ? contentOf(record, next) : null;
}

/** An instance by the rules of its series; the event for an empty key. */
function nominalContent(record: EventRecord, key: string): EventContent {
  if (key === '') return record;
  const wall = wallOf(key);
  return contentOf(record, { key, wall, start: wall, end: wall, override: null });
}

function timeText(times: EventTimes, { locale }: TextRequest): string {
  const wall = wallOf(times.starts);
  if (isDay(times.starts)) {
    const format = new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeZone: 'UTC' });
    return format.formatRange(new Date(wall * 1000), new Date((wallOf(times.ends) - DAY) * 1000));
  }
  const start = instantOf(wall, times.time_zone);
  const end = start + lengthAt(times, wall, start);
  const zone = times.time_zone ?? 'UTC';
  const range = (timeZone: string): string =>
    new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeStyle: 'short', timeZone }).formatRange(
      new Date(start * 1000),
      new Date(end * 1000),
    );
  if (times.time_zone === null) return range('UTC');
  return zone === 'UTC' ? `${range(zone)} (UTC)` : `${range(zone)} (${zone}) / ${range('UTC')} (UTC)`;
}

function bodies(subject: string, lines: [string, string][], description: string): Omit<MailText, 'subject'> {
  const text = [
    subject,
    '',
    ...lines.map(([name, value]) => `${name}: ${value}`),
    ...(description ? ['', description] : []),
  ].join('\n');
  const rows = lines.map(
    ([name, value]) => `<tr><th align="left">${escaped(name)}</th><td>${escaped(value)}</td></tr>`,
  );
  const paragraph = description ? `<p>${escaped(description).replaceAll('\n', '<br>')}</p>` : '';
  return { text, html: `<h3>${escaped(subject)}</h3><table>${rows.join('')}</table>${paragraph}` };
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

const escaped = (text: string): string => text.replaceAll(/[&<>"]/g, (found) => ENTITIES[found] as string);
