import type { Catalogues, Language } from '../../../../platform/languages/languages.js';
import { isDay, wallOf } from '../../model/event-times.js';
import type { OptionRow } from '../poll-record.js';
import { instantsOf } from '../poll.presenter.js';

export type PollText =
  | 'mail_subject'
  | 'mail_text'
  | 'mail_action'
  | 'mail_closing'
  | 'cancelled_subject'
  | 'cancelled_text'
  | 'organizer'
  | 'location'
  | 'deadline'
  | 'times_in'
  | 'yes'
  | 'if_needed'
  | 'no'
  | 'comment'
  | 'send'
  | 'saved'
  | 'closed'
  | 'finalized'
  | 'cancelled'
  | 'unknown'
  | 'unknown_title';

/** Texts of the mail and the page for participants outside of the workspace. */
export const POLL_TEXTS: Catalogues<PollText> = {
  en: {
    mail_subject: '{inviter} asks: when can you come to “{title}”?',
    mail_text:
      '{inviter} looks for a time for “{title}”. Choose the times that suit you. You need no account.',
    mail_action: 'Choose times',
    mail_closing: 'The link is for you only.',
    cancelled_subject: '{inviter} cancelled the poll “{title}”',
    cancelled_text:
      '{inviter} no longer looks for a time for “{title}”. Your choice of times is not needed any more.',
    organizer: 'Organizer',
    location: 'Location',
    deadline: 'Open until',
    times_in: 'Times in the zone {zone}',
    yes: 'Yes',
    if_needed: 'If needed',
    no: 'No',
    comment: 'Comment',
    send: 'Send',
    saved: 'Your choice is saved. You can change it until the poll closes.',
    closed: 'The poll is closed.',
    finalized: 'A time has been chosen: {time}',
    cancelled: 'The poll was cancelled.',
    unknown: 'The link is invalid, or the poll was deleted.',
    unknown_title: 'Unknown poll',
  },
  de: {
    mail_subject: '{inviter} fragt: Wann passt Ihnen „{title}“?',
    mail_text:
      '{inviter} sucht einen Termin für „{title}“. Wählen Sie passende Zeiten aus. Sie brauchen kein Konto.',
    mail_action: 'Zeiten auswählen',
    mail_closing: 'Der Link ist nur für Sie bestimmt.',
    cancelled_subject: '{inviter} hat die Umfrage „{title}“ abgesagt',
    cancelled_text:
      '{inviter} sucht keinen Termin mehr für „{title}“. Ihre Auswahl wird nicht mehr gebraucht.',
    organizer: 'Veranstalter',
    location: 'Ort',
    deadline: 'Offen bis',
    times_in: 'Zeiten in der Zone {zone}',
    yes: 'Ja',
    if_needed: 'Wenn nötig',
    no: 'Nein',
    comment: 'Kommentar',
    send: 'Absenden',
    saved: 'Ihre Auswahl ist gespeichert. Sie können sie ändern, bis die Umfrage endet.',
    closed: 'Die Umfrage ist beendet.',
    finalized: 'Der Termin steht fest: {time}',
    cancelled: 'Die Umfrage wurde abgesagt.',
    unknown: 'Der Link ist ungültig, oder die Umfrage wurde gelöscht.',
    unknown_title: 'Unbekannte Umfrage',
  },
  pt: {
    mail_subject: '{inviter} pergunta: quando pode participar em “{title}”?',
    mail_text: '{inviter} procura uma hora para “{title}”. Escolha as que lhe convêm. Não precisa de conta.',
    mail_action: 'Escolher horas',
    mail_closing: 'A ligação é só para si.',
    cancelled_subject: '{inviter} cancelou a votação “{title}”',
    cancelled_text:
      '{inviter} já não procura uma hora para “{title}”. A sua escolha deixou de ser necessária.',
    organizer: 'Organizador',
    location: 'Local',
    deadline: 'Aberta até',
    times_in: 'Horas no fuso {zone}',
    yes: 'Sim',
    if_needed: 'Se necessário',
    no: 'Não',
    comment: 'Comentário',
    send: 'Enviar',
    saved: 'A sua escolha foi guardada. Pode alterá-la até ao fim da votação.',
    closed: 'A votação terminou.',
    finalized: 'A hora foi escolhida: {time}',
    cancelled: 'A votação foi cancelada.',
    unknown: 'A ligação é inválida, ou a votação foi eliminada.',
    unknown_title: 'Votação desconhecida',
  },
  vi: {
    mail_subject: '{inviter} hỏi: khi nào bạn có thể tham gia “{title}”?',
    mail_text:
      '{inviter} đang tìm thời gian cho “{title}”. Hãy chọn những thời gian phù hợp. Bạn không cần tài khoản.',
    mail_action: 'Chọn thời gian',
    mail_closing: 'Liên kết này chỉ dành cho bạn.',
    cancelled_subject: '{inviter} đã hủy bình chọn “{title}”',
    cancelled_text:
      '{inviter} không còn tìm thời gian cho “{title}”. Lựa chọn của bạn không còn cần thiết nữa.',
    organizer: 'Người tổ chức',
    location: 'Địa điểm',
    deadline: 'Mở đến',
    times_in: 'Giờ theo múi {zone}',
    yes: 'Có',
    if_needed: 'Nếu cần',
    no: 'Không',
    comment: 'Nhận xét',
    send: 'Gửi',
    saved: 'Lựa chọn của bạn đã được lưu. Bạn có thể thay đổi cho đến khi bình chọn kết thúc.',
    closed: 'Bình chọn đã kết thúc.',
    finalized: 'Thời gian đã được chọn: {time}',
    cancelled: 'Bình chọn đã bị hủy.',
    unknown: 'Liên kết không hợp lệ, hoặc bình chọn đã bị xóa.',
    unknown_title: 'Không tìm thấy bình chọn',
  },
};

/** The time of an option as text, in a time zone. */
export function optionText(option: OptionRow, timeZone: string, language: Language): string {
  if (isDay(option.starts)) {
    const days = new Intl.DateTimeFormat(language, { dateStyle: 'full', timeZone: 'UTC' });
    return days.formatRange(wallOf(option.starts) * 1000, wallOf(option.ends) * 1000);
  }
  const { start, end } = instantsOf(option, timeZone);
  const format = new Intl.DateTimeFormat(language, { dateStyle: 'full', timeStyle: 'short', timeZone });
  return format.formatRange(start * 1000, end * 1000);
}
