// Compares the compiled holidays of whole countries with the second source.
import { readFileSync } from 'node:fs';
import { addDays, CountryDays, datesOfText } from './days.mjs';

const SECOND = new URL('second-source.ndjson', import.meta.url);

export function readSecondSource() {
  const [header, ...lines] = readFileSync(SECOND, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  return { header, dates: Object.assign({}, ...lines) };
}

/**
 * @param countries code and rows of each country
 * @returns for each country in both: days off that the second source has not (`more`) and those that only it has (`fewer`)
 */
export function compareWithSecondSource(countries) {
  const { header, dates } = readSecondSource();
  const { first_year: first, last_year: last } = header;
  return countries
    .filter(([code]) => dates[code] !== undefined)
    .map(([code, holidays]) => {
      const own = daysOf(holidays);
      const second = new Set(datesOfText(dates[code], first, last - first + 1));
      const found = { code, more: [], fewer: [] };
      for (const [date, { names, types }] of own)
        if (types.has('public') && !second.has(date) && date >= `${first}` && date <= `${last + 1}`)
          found.more.push(`${date} ${names.join(', ')}`);
      // A bank holiday agrees with both.
      for (const date of second) {
        const types = own.get(date)?.types;
        if (!types?.has('public') && !types?.has('bank')) found.fewer.push(date);
      }
      found.more.sort();
      return found;
    });
}

/** Names and types by day, for the whole country. */
function daysOf(holidays) {
  const found = new Map();
  for (const { n, t, l, r, dates } of new CountryDays(holidays).rows) {
    if (r && !r.includes('')) continue;
    for (const first of dates)
      for (let day = 0; day < (l ?? 1); day += 1) {
        const date = addDays(first, day);
        const { names, types } = found.get(date) ?? { names: [], types: new Set() };
        found.set(date, { names: [...names, n.en], types: types.add(t) });
      }
  }
  return found;
}
