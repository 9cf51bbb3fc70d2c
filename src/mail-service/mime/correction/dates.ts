const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/**
 * Beginnings of the names of the months in the languages in which programs have written them, folded: German, French, Spanish, Catalan,
 * Italian, Portuguese, Romanian, Dutch, Scandinavian languages, Hungarian, Polish, Turkish, Russian, and with U+FFFD in place of a letter that
 * a program wrote in Latin-1. `lip`, `lis` and `srp` are missing: they are different months in Polish, Czech and Croatian.
 */
const NAMES = [
  'jan jae gen ene ian sty oca янв',
  'feb fev lut sub фев f\ufffdv \ufffdub',
  'mar mae mrz mrt maa мар m\ufffdr',
  'apr avr abr kwi nis апр',
  'may mai maj mag mei маи мая m\ufffdj',
  'jun juin giu iun cze haz июн',
  'jul juil lug iul tem июл',
  'aug aou ago agu sie авг ao\ufffd a\ufffdu',
  'sep set sze wrz eyl сен',
  'oct okt ott out paz eki окт',
  'nov noi kas ноя',
  'dec dez dic des gru ara дек d\ufffdc',
];
const MONTH_BY_NAME = new Map(
  NAMES.flatMap((names, n) => names.split(' ').map((name) => [name, n] as const)),
);
const NUMERALS = ['一', '二', '三', '四', '五', '六', '七', '八', '九', '十', '十一', '十二'];

/** Minutes of the abbreviations that programs write in place of an offset, beside those of RFC 5322, 4.3. */
const OFFSETS: ReadonlyMap<string, number> = new Map([
  ['EST', -300],
  ['EDT', -240],
  ['CST', -360],
  ['CDT', -300],
  ['MST', -420],
  ['MDT', -360],
  ['PST', -480],
  ['PDT', -420],
  ['BST', 60],
  ['WEST', 60],
  ['CET', 60],
  ['MET', 60],
  ['MEZ', 60],
  ['CEST', 120],
  ['MEST', 120],
  ['MESZ', 120],
  ['EET', 120],
  ['SAST', 120],
  ['EEST', 180],
  ['MSK', 180],
  ['IST', 330],
  ['HKT', 480],
  ['SGT', 480],
  ['JST', 540],
  ['KST', 540],
  ['AEST', 600],
  ['AEDT', 660],
  ['NZST', 720],
  ['NZDT', 780],
]);

const CLOCK = String.raw`(?<hour>\d{1,2})[:.](?<minute>\d{2})(?:[:.](?<second>\d{2})(?:\.\d+)?)?`;
/** `Sat, 28 Nov 2026 08:00:00 +0100`: the name of the day may be in any language or missing. */
const INTERNET = new RegExp(
  String.raw`^(?:\p{L}+\.?,? ?)?(?<day>\d{1,2})[ -](?<month>[a-z]{3})[a-z]*\.?[ -](?<year>\d{2,4}),? ${CLOCK} ?(?<zone>.*)$`,
  'iu',
);
/** `Sat Nov 28 08:00:00 CET 2026`, of the function asctime of C, and `Sat Nov 28 08:00:00 2026 +0100` of git. */
const ASCTIME = new RegExp(
  String.raw`^[a-z]{3},? (?<month>[a-z]{3}) (?<day>\d{1,2}) ${CLOCK} (?:(?<zone>[a-z+\d-]+) )?(?<year>\d{4})(?: (?<last>.+))?$`,
  'i',
);
/** `+0100`, `GMT+1`, `+01:00 CET` or `+0100, CET`: the name after an offset says nothing more. */
const OFFSET = /^(?:GMT|UTC?)? ?([+-])(\d{1,2})(?::?(\d{2}))?(?![\d:])/i;
/** `p.m.`, which `Date` reads as `pm`. */
const HALF_OF_DAY = /\b([ap])\. ?m\b\.?/gi;
/** An offset whose plus sign is missing. */
const UNSIGNED = /^(?=[01]\d{3}$)/;
/** The zones that `Date` reads. An offset follows the clock, but not always directly. A date after the clock contains no offset. */
const ZONE = /\b(?:GMT|UTC?|[ECMP][SD]T)\b|\dZ\b| Z\b|:\d{2}(?:\.\d+)? ?[+-]\d|:\d{2}[^:]*(?: |[ap]m)[+-]\d/i;

/** The name of a day in any language, and what precedes a date in a text. */
const DAY_NAME = String.raw`^(?:[\p{L}\p{M}\ufffd-]+\.?,? ?)?`;
/** `Fr, 5. März 2010`, `ven., 5 févr. 2010`, `5 de marzo de 2010`, `5 3月 2010`. */
const FOREIGN = new RegExp(
  String.raw`${DAY_NAME}(\d{1,2})(?:\.|º|er)?(?: de)?[ -]([\p{L}\p{M}\ufffd]{2,12}|\d{1,2}[月월])\.?(?: de)?[ -](\d{2,4})(?!\d)`,
  'iu',
);
/** `05.03.2010`: only the day comes first before dots. */
const DOTTED = new RegExp(String.raw`${DAY_NAME}(\d{1,2})\. ?(\d{1,2})\. ?(\d{4})(?!\d)`, 'iu');

/** The number of a month from 0 on; undefined for other text. */
function monthOf(name: string): number | undefined {
  const numbered = /^(.+)[月월]$/u.exec(name)?.[1];
  if (numbered !== undefined) {
    const number = NUMERALS.indexOf(numbered) + 1 || Number(numbered);
    return number >= 1 && number <= 12 ? number - 1 : undefined;
  }
  const plain = name.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase();
  return MONTH_BY_NAME.get(plain.slice(0, 4)) ?? MONTH_BY_NAME.get(plain.slice(0, 3));
}

/** The line with its date in English. Other text stays. */
function inEnglish(line: string): string {
  const dotted = DOTTED.exec(line);
  const [text = '', day = '', name = '', year = ''] = dotted ?? FOREIGN.exec(line) ?? [];
  const month = dotted ? Number(name) - 1 : monthOf(name);
  const english = MONTHS[month ?? -1];
  return english === undefined || Number(day) > 31
    ? line
    : `${day} ${english} ${year}${line.slice(text.length)}`;
}

/**
 * The time of a Date header (RFC 5322, 3.3 and 4.3). A zone that is missing or unknown is +0000, a year of two digits is 1950 to 2049. One
 * of four digits is as it is written: below 100 it is a fault.
 * @param text without comments @returns an invalid Date for another text
 */
export function parseDate(text: string): Date {
  const line = inEnglish(text.replace(/\s+/g, ' ').replace(/ ?: ?/g, ':').replace(HALF_OF_DAY, '$1m').trim());
  const found = (INTERNET.exec(line) ?? ASCTIME.exec(line))?.groups;
  const month = MONTHS.indexOf(found?.['month']?.toLowerCase() ?? '');
  const zone = found?.['zone'] ?? found?.['last'] ?? '';
  // Date headers have no clock of 12 hours.
  if (!found || month < 0 || /^[ap]m\b/i.test(zone)) return otherDate(line);
  const part = (name: string): number => Number(found[name] ?? 0);
  const [day, hour, minute, second] = [part('day'), part('hour'), part('minute'), part('second')];
  if (day < 1 || day > 31 || hour > 24 || minute > 59 || second > 60) return new Date(Number.NaN);
  const local = Date.UTC(yearOf(found['year'] ?? ''), month, day, hour, minute, second);
  return new Date(local - offsetOf(zone) * 60_000);
}

/** A year of four digits, or a date with one of two. `Date` would read a date without a year, or of the year 1, as one of 2001. */
const YEAR =
  /(?:^|[^+\-:\d])[1-9]\d{3}(?!\d)|(?:\d[-/., ]+(?:\d{1,2}|[a-z]{3,9}\.?)|[a-z]{3}\.?[-/., ]+\d{1,2})[-/., ]+\d{1,4}(?![\d:])/i;
const ZERO_YEAR = /^0\d{3}\b/;

/** A date in another form. Without a zone, `Date` would read it in that of the server. */
const otherDate = (line: string): Date =>
  new Date(
    !YEAR.test(line) || ZERO_YEAR.test(line)
      ? Number.NaN
      : ZONE.test(line)
        ? line
        : `${line.replace(/(\d)T(?=\d)/i, '$1 ')} Z`,
  );

function yearOf(digits: string): number {
  const year = Number(digits);
  if (digits.length > 3) return year < 100 ? Number.NaN : year;
  return year + (digits.length === 2 && year < 50 ? 2_000 : 1_900);
}

/** The offset of a zone in minutes; 0 for an unknown one. */
function offsetOf(zone: string): number {
  const plain = zone.replaceAll(/["']/g, '').trim().replace(UNSIGNED, '+');
  const [, sign, hours, minutes] = OFFSET.exec(plain) ?? [];
  const size = Number(hours) * 60 + Number(minutes ?? 0);
  if (sign !== undefined) return sign === '-' ? -size : size;
  return OFFSETS.get(plain.toUpperCase()) ?? 0;
}
