// Days of a compiled country as `YYYY-MM-DD`, for the overlay and its rules.
const DAY_MS = 86_400_000;
export const FIRST_YEAR = 2020;
export const LAST_YEAR = 2045;
export const YEARS = Array.from({ length: LAST_YEAR - FIRST_YEAR + 1 }, (_, n) => FIRST_YEAR + n);

export const addDays = (date, days) => new Date(Date.parse(date) + days * DAY_MS).toISOString().slice(0, 10);

/** 0: Sunday, 6: Saturday. */
export const weekday = (date) => new Date(date).getUTCDay();

export const isWeekend = (date) => weekday(date) === 0 || weekday(date) === 6;

/** @returns the days from `first` to `last`, both inclusive */
export function span(first, last) {
  const days = [];
  for (let day = first; day <= last; day = addDays(day, 1)) days.push(day);
  return days;
}

/** A holiday on a fixed day `MM-DD` of the years. */
export const yearly = (monthDay, from = FIRST_YEAR, to = LAST_YEAR) =>
  YEARS.filter((year) => year >= from && year <= to).map((year) => `${year}-${monthDay}`);

/** `0101` for a holiday with one date in every year, otherwise the dates of each year, `;` between the years. */
export function datesText(dates) {
  const texts = YEARS.map((_, index) => (dates[index] ?? []).join(','));
  return texts.every((text) => text === texts[0]) ? texts[0] : texts.join(';');
}

/** @returns the first days of a row: see `datesText` */
export function datesOfText(text, firstYear = FIRST_YEAR, years = YEARS.length) {
  const texts = text.split(';');
  return Array.from({ length: years }, (_, index) =>
    (texts[texts.length === 1 ? 0 : index] ?? '')
      .split(',')
      .filter(Boolean)
      .map((monthDay) => `${firstYear + index}-${monthDay.slice(0, 2)}-${monthDay.slice(2)}`),
  ).flat();
}

/** The holidays of one country. A row has its first days as a set, `dates`. */
export class CountryDays {
  constructor(holidays) {
    this.rows = holidays.map(({ d, ...row }) => ({ ...row, dates: new Set(datesOfText(d)) }));
  }

  /** Rows of the form of the compiled file. A row without a date is left out. */
  compiled() {
    return this.rows
      .filter((row) => row.dates.size > 0)
      .map(({ dates, n, t, o, l, r }) => {
        const byYear = [];
        for (const date of [...dates].toSorted())
          (byYear[Number(date.slice(0, 4)) - FIRST_YEAR] ??= []).push(date.slice(5).replace('-', ''));
        return { n, t, d: datesText(byYear), o, l, r };
      });
  }

  /** @returns the first days of the holidays of the name, in order */
  datesOf(name, type = 'public') {
    const found = this.rows.filter((row) => row.n.en === name && row.t === type);
    return found.flatMap((row) => [...row.dates]).toSorted();
  }

  /** Is the day a public holiday of the whole country? */
  isOff(date) {
    return this.rows.some((row) => row.t === 'public' && (row.r?.includes('') ?? true) && covers(row, date));
  }

  /** @returns the days that are no public holidays yet */
  notOff(dates) {
    return dates.filter((date) => !this.isOff(date));
  }
}

/** Is the day one of the days of the row, of any occurrence? */
export function covers(row, date) {
  if (!row.l) return row.dates.has(date);
  for (let back = 0; back < row.l; back += 1) if (row.dates.has(addDays(date, -back))) return true;
  return false;
}
