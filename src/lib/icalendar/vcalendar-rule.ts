/** Weekdays of the nth occurrence, days of the month, months or days of the year, by the letters of the rule. */
const FREQUENCIES: Readonly<Record<string, { freq: string; part: string }>> = {
  D: { freq: 'DAILY', part: '' },
  W: { freq: 'WEEKLY', part: 'BYDAY' },
  MP: { freq: 'MONTHLY', part: 'BYDAY' },
  MD: { freq: 'MONTHLY', part: 'BYMONTHDAY' },
  YM: { freq: 'YEARLY', part: 'BYMONTH' },
  YD: { freq: 'YEARLY', part: 'BYYEARDAY' },
};

const HEAD = /^(D|W|MP|MD|YM|YD)(\d{1,4})$/;
const COUNT = /^#(\d{1,5})$/;
const DATE = /^\d{8}(?:T\d{6}Z?)?$/;
const TIME = /^([01]\d|2[0-3])([0-5]\d)$/;
const WEEKDAY = /^(?:MO|TU|WE|TH|FR|SA|SU)$/;
const OCCURRENCE = /^([1-5])([+-])?$/;
const DAY_OF_MONTH = /^(\d{1,2})([+-])?$/;
/** The number of occurrences of a rule that states neither a number nor an end. */
const DEFAULT_COUNT = 2;

/**
 * A recurrence rule of vCalendar 1.0 (1996, "Recurrence Rule Grammar", its basic form) as one of RFC 5545: `MP2 1+ 2- MO #6` is
 * `FREQ=MONTHLY;INTERVAL=2;BYDAY=1MO,-2MO;COUNT=6`.
 * @returns null for another text, such as a rule with minutes or rules within rules
 */
export function ruleOfVCalendar(text: string): string | null {
  const [head = '', ...rest] = text.trim().toUpperCase().split(/\s+/);
  const [, letters = '', interval = ''] = HEAD.exec(head) ?? [];
  const kind = FREQUENCIES[letters];
  if (!kind) return null;
  const last = rest.at(-1) ?? '';
  const count = COUNT.exec(last)?.[1];
  const end = count === undefined && DATE.test(last) ? last : null;
  const values = count === undefined && end === null ? rest : rest.slice(0, -1);
  const parts = [`FREQ=${kind.freq}`];
  if (Number(interval) > 1) parts.push(`INTERVAL=${Number(interval)}`);
  const times = kind.part === '' ? timesOf(values) : null;
  const list = times ? [] : listOf(letters, values);
  if (list === null || (kind.part === '' && times === null)) return null;
  if (times) parts.push(...times);
  if (list.length > 0) parts.push(`${kind.part}=${list.join(',')}`);
  if (end !== null) parts.push(`UNTIL=${end}`);
  // #0 repeats without end.
  else if (Number(count ?? DEFAULT_COUNT) > 0) parts.push(`COUNT=${Number(count ?? DEFAULT_COUNT)}`);
  return parts.join(';');
}

/** Times of day of a daily rule. Null for another text, and for times of which not all combinations of hours and minutes are meant. */
function timesOf(values: readonly string[]): string[] | null {
  const times = values.map((value) => TIME.exec(value));
  if (times.length === 0) return [];
  const minutes = new Set(times.map((time) => time?.[2]));
  if (times.some((time) => time === null) || minutes.size > 1) return null;
  return [
    `BYHOUR=${times.map((time) => Number(time?.[1])).join(',')}`,
    `BYMINUTE=${Number([...minutes][0])}`,
  ];
}

/** The values of the list of a rule; null for a text of another grammar. */
function listOf(letters: string, values: readonly string[]): string[] | null {
  if (letters === 'MP') return weekdaysOf(values);
  const read = (value: string): string | null => {
    if (letters === 'W') return WEEKDAY.test(value) ? value : null;
    if (letters !== 'MD') return /^\d{1,3}$/.test(value) ? String(Number(value)) : null;
    if (value === 'LD') return '-1';
    const [, day, sign] = DAY_OF_MONTH.exec(value) ?? [];
    return day === undefined ? null : `${sign === '-' ? '-' : ''}${Number(day)}`;
  };
  const found = values.map(read);
  return found.includes(null) ? null : (found as string[]);
}

/** Occurrences, then the weekdays for which they count; both may repeat. */
function weekdaysOf(values: readonly string[]): string[] | null {
  const found: string[] = [];
  let occurrences: string[] = [];
  let hasDays = false;
  for (const value of values) {
    const [, nth, sign] = OCCURRENCE.exec(value) ?? [];
    if (nth !== undefined) {
      if (hasDays) occurrences = [];
      hasDays = false;
      occurrences.push(`${sign === '-' ? '-' : ''}${nth}`);
    } else if (WEEKDAY.test(value) && occurrences.length > 0) {
      hasDays = true;
      found.push(...occurrences.map((number) => `${number}${value}`));
    } else return null;
  }
  return found;
}
