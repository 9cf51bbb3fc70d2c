import type { ItipMethod } from '../../../../lib/itip/index.js';
import type { TextLocale } from '../../../../lib/recurrence/index.js';
import type { AttendeeResponse } from '../../model/event-record.js';

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
