import type { Frequency, Skip } from '../rule.js';

/** Languages of `describeRule`. */
export const TEXT_LOCALES = ['en', 'de', 'pt', 'vi'] as const;
export type TextLocale = (typeof TEXT_LOCALES)[number];
export type DayKind = 'day' | 'workday';

/** The words of one language. Lists are joined already; `n` is negative where it counts from the end. */
export interface Phrases {
  every(freq: Frequency, interval: number): string;
  everyWorkday: string;
  /** Names of weekdays, in the order of `weekdayOf`, as they follow `onWeekdays`. */
  weekdays: readonly string[];
  onWeekdays(list: string): string;
  numberedWeekday(n: number, weekday: number): string;
  onNumbered(list: string): string;
  /** The nth day, or the nth day from Monday to Friday. */
  numberedDay(n: number, kind: DayKind): string;
  /** A day of the year, e.g. `3 March`. */
  onDate(date: string): string;
  monthDay(n: number): string;
  onMonthDays(list: string): string;
  inMonths(list: string): string;
  yearDay(n: number): string;
  onYearDays(list: string): string;
  week(n: number): string;
  inWeeks(list: string): string;
  at(list: string): string;
  position(n: number): string;
  positions(list: string): string;
  until(date: string): string;
  times(count: number): string;
  /** Where SKIP puts days that a month lacks. */
  skips: Record<Exclude<Skip, 'OMIT'>, string>;
}

const EN_NTH = ['', 'first', 'second', 'third', 'fourth', 'fifth'];
const enOrdinal = (n: number): string => {
  const suffix = n % 100 > 10 && n % 100 < 14 ? 'th' : (['th', 'st', 'nd', 'rd'][n % 10] ?? 'th');
  return EN_NTH[n] ?? `${n}${suffix}`;
};
const enNth = (n: number): string => (n > 0 ? enOrdinal(n) : n === -1 ? 'last' : `${enOrdinal(-n)} to last`);
const EN_UNITS = { YEARLY: 'year', MONTHLY: 'month', WEEKLY: 'week', DAILY: 'day', HOURLY: 'hour' };
const EN_DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];

const en: Phrases = {
  every: (freq, n) => (n === 1 ? `Every ${EN_UNITS[freq]}` : `Every ${n} ${EN_UNITS[freq]}s`),
  everyWorkday: 'Every weekday',
  weekdays: EN_DAYS,
  onWeekdays: (list) => `on ${list}`,
  numberedWeekday: (n, weekday) => `the ${enNth(n)} ${EN_DAYS[weekday]}`,
  onNumbered: (list) => `on ${list}`,
  numberedDay: (n, kind) => `the ${enNth(n)} ${kind === 'day' ? 'day' : 'weekday'}`,
  onDate: (date) => `on ${date}`,
  monthDay: (n) => (n > 0 ? `day ${n}` : `the ${enNth(n)} day`),
  onMonthDays: (list) => `on ${list}`,
  inMonths: (list) => `in ${list}`,
  yearDay: (n) => (n > 0 ? `day ${n}` : `the ${enNth(n)} day`),
  onYearDays: (list) => `on ${list} of the year`,
  week: (n) => (n > 0 ? `week ${n}` : `the ${enNth(n)} week`),
  inWeeks: (list) => `in ${list} of the year`,
  at: (list) => `at ${list}`,
  position: (n) => `the ${enNth(n)}`,
  positions: (list) => `only ${list} of these`,
  until: (date) => `until ${date}`,
  times: (n) => (n === 1 ? 'once' : `${n} times`),
  skips: {
    BACKWARD: 'on the last day of shorter months',
    FORWARD: 'on the first day after shorter months',
  },
};

const DE_NTH = ['', 'ersten', 'zweiten', 'dritten', 'vierten', 'fünften'];
const deNth = (n: number): string =>
  n > 0
    ? (DE_NTH[n] ?? `${n}.`)
    : n === -1
      ? 'letzten'
      : n === -2
        ? 'vorletzten'
        : `${DE_NTH[-n]?.replace(/en$/, '') ?? `${-n}.-`}letzten`;
const DE_DAYS = ['Montag', 'Dienstag', 'Mittwoch', 'Donnerstag', 'Freitag', 'Samstag', 'Sonntag'];
const DE_EVERY: Record<Frequency, [one: string, more: string]> = {
  YEARLY: ['Jedes Jahr', 'Jahre'],
  MONTHLY: ['Jeden Monat', 'Monate'],
  WEEKLY: ['Jede Woche', 'Wochen'],
  DAILY: ['Jeden Tag', 'Tage'],
  HOURLY: ['Jede Stunde', 'Stunden'],
};

const de: Phrases = {
  every: (freq, n) => (n === 1 ? DE_EVERY[freq][0] : `Alle ${n} ${DE_EVERY[freq][1]}`),
  everyWorkday: 'Jeden Werktag (Montag bis Freitag)',
  weekdays: DE_DAYS,
  onWeekdays: (list) => `am ${list}`,
  numberedWeekday: (n, weekday) => `${deNth(n)} ${DE_DAYS[weekday]}`,
  onNumbered: (list) => `am ${list}`,
  numberedDay: (n, kind) => `${deNth(n)} ${kind === 'day' ? 'Tag' : 'Werktag (Montag bis Freitag)'}`,
  onDate: (date) => `am ${date}`,
  monthDay: (n) => (n > 0 ? `${n}.` : `${deNth(n)} Tag`),
  onMonthDays: (list) => `am ${list}`,
  inMonths: (list) => `im ${list}`,
  yearDay: (n) => (n > 0 ? `${n}.` : deNth(n)),
  onYearDays: (list) => `am ${list} Tag des Jahres`,
  week: (n) => (n > 0 ? `${n}.` : deNth(n)),
  inWeeks: (list) => `in der ${list} Kalenderwoche`,
  at: (list) => `um ${list} Uhr`,
  position: (n) => `den ${deNth(n)}`,
  positions: (list) => `davon nur ${list} Termin`,
  until: (date) => `bis ${date}`,
  times: (n) => (n === 1 ? 'einmal' : `${n}-mal`),
  skips: {
    BACKWARD: 'in kürzeren Monaten am letzten Tag',
    FORWARD: 'nach kürzeren Monaten am ersten Tag danach',
  },
};

const PT_DAYS = [
  'segunda-feira',
  'terça-feira',
  'quarta-feira',
  'quinta-feira',
  'sexta-feira',
  'sábado',
  'domingo',
];
const PT_NTH = ['', 'primeir', 'segund', 'terceir', 'quart', 'quint'];
type Gender = 'a' | 'o';
const ptOrdinal = (n: number, gender: Gender): string =>
  PT_NTH[n] ? `${PT_NTH[n]}${gender}` : `${n}${gender === 'a' ? 'ª' : 'º'}`;
const ptNth = (n: number, noun: string, gender: Gender): string => {
  if (n > 0) return `${ptOrdinal(n, gender)} ${noun}`;
  if (n === -1) return `últim${gender} ${noun}`;
  return n === -2 ? `penúltim${gender} ${noun}` : `${ptOrdinal(-n, gender)} ${noun} a contar do fim`;
};
const ptGender = (weekday: number): Gender => (weekday < 5 ? 'a' : 'o');
const PT_EVERY: Record<Frequency, [one: string, more: string]> = {
  YEARLY: ['Todos os anos', 'anos'],
  MONTHLY: ['Todos os meses', 'meses'],
  WEEKLY: ['Todas as semanas', 'semanas'],
  DAILY: ['Todos os dias', 'dias'],
  HOURLY: ['De hora em hora', 'horas'],
};

const pt: Phrases = {
  every: (freq, n) => (n === 1 ? PT_EVERY[freq][0] : `A cada ${n} ${PT_EVERY[freq][1]}`),
  everyWorkday: 'Todos os dias úteis (segunda a sexta)',
  weekdays: PT_DAYS.map((day, weekday) => `${ptGender(weekday) === 'a' ? 'na' : 'no'} ${day}`),
  onWeekdays: (list) => list,
  numberedWeekday: (n, weekday) =>
    `n${ptGender(weekday)} ${ptNth(n, PT_DAYS[weekday] as string, ptGender(weekday))}`,
  onNumbered: (list) => list,
  numberedDay: (n, kind) => `no ${ptNth(n, kind === 'day' ? 'dia' : 'dia útil (segunda a sexta)', 'o')}`,
  onDate: (date) => `em ${date}`,
  monthDay: (n) => (n > 0 ? `no dia ${n}` : `no ${ptNth(n, 'dia', 'o')}`),
  onMonthDays: (list) => list,
  inMonths: (list) => `em ${list}`,
  yearDay: (n) => (n > 0 ? `no dia ${n}` : `no ${ptNth(n, 'dia', 'o')}`),
  onYearDays: (list) => `${list} do ano`,
  week: (n) => (n > 0 ? `na semana ${n}` : `na ${ptNth(n, 'semana', 'a')}`),
  inWeeks: (list) => `${list} do ano`,
  at: (list) => `às ${list}`,
  position: (n) => `a ${ptNth(n, 'ocorrência', 'a')}`,
  positions: (list) => `apenas ${list}`,
  until: (date) => `até ${date}`,
  times: (n) => (n === 1 ? 'uma vez' : `${n} vezes`),
  skips: {
    BACKWARD: 'no último dia dos meses mais curtos',
    FORWARD: 'no primeiro dia depois dos meses mais curtos',
  },
};

const VI_UNITS = { YEARLY: 'năm', MONTHLY: 'tháng', WEEKLY: 'tuần', DAILY: 'ngày', HOURLY: 'giờ' };
const VI_DAYS = ['thứ Hai', 'thứ Ba', 'thứ Tư', 'thứ Năm', 'thứ Sáu', 'thứ Bảy', 'Chủ Nhật'];
const viNth = (n: number): string =>
  n === 1 ? 'đầu tiên' : n > 0 ? `lần thứ ${n}` : n === -1 ? 'cuối cùng' : `lần thứ ${-n} từ cuối`;

const vi: Phrases = {
  every: (freq, n) => (n === 1 ? `Mỗi ${VI_UNITS[freq]}` : `Mỗi ${n} ${VI_UNITS[freq]}`),
  everyWorkday: 'Mỗi ngày làm việc (thứ Hai đến thứ Sáu)',
  weekdays: VI_DAYS,
  onWeekdays: (list) => `vào ${list}`,
  numberedWeekday: (n, weekday) => `${VI_DAYS[weekday]} ${viNth(n)}`,
  onNumbered: (list) => `vào ${list}`,
  numberedDay: (n, kind) => `${kind === 'day' ? 'ngày' : 'ngày làm việc (thứ Hai đến thứ Sáu)'} ${viNth(n)}`,
  onDate: (date) => `vào ngày ${date}`,
  monthDay: (n) => (n > 0 ? `ngày ${n}` : n === -1 ? 'ngày cuối cùng' : `ngày thứ ${-n} từ cuối`),
  onMonthDays: (list) => `vào ${list}`,
  inMonths: (list) => `trong ${list}`,
  yearDay: (n) => (n > 0 ? `ngày thứ ${n}` : n === -1 ? 'ngày cuối cùng' : `ngày thứ ${-n} từ cuối`),
  onYearDays: (list) => `vào ${list} của năm`,
  week: (n) => (n > 0 ? `tuần ${n}` : n === -1 ? 'tuần cuối cùng' : `tuần thứ ${-n} từ cuối`),
  inWeeks: (list) => `trong ${list} của năm`,
  at: (list) => `lúc ${list}`,
  position: (n) => viNth(n),
  positions: (list) => `chỉ ${list} trong số này`,
  until: (date) => `đến ${date}`,
  times: (n) => `${n} lần`,
  skips: {
    BACKWARD: 'vào ngày cuối cùng của tháng ngắn hơn',
    FORWARD: 'vào ngày đầu tiên sau tháng ngắn hơn',
  },
};

export const PHRASES: Record<TextLocale, Phrases> = { en, de, pt, vi };
