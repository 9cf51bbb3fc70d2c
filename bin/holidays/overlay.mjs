// Applies the reviewed corrections to the compiled holidays. An entry has a country, its source, the date of its review and one change:
//   add     { name: { en, ... }, type?, observed? } on `dates`
//   remove  { name, type? } from `dates`
//   move    { name, type?, to: (date) => date } for `dates`
//   retype  { name, type?, to } on `dates`
//   resize  { name, type?, days } for `dates`
// `dates`: days, or a function of the days of the country (`CountryDays`) as earlier entries left them; absent: all dates of the name.
// `regions` of an added or retyped day: codes, '' for the country itself; absent: all. `name` is the English name, `type` is `public` if absent.
// An entry that changes nothing, or that does not find its day, is an error: the data changed and the entry needs a review.
import { covers, CountryDays } from './days.mjs';

const CHANGES = { add, remove, move, retype, resize };

/**
 * @param compiled countries with their `holidays`; changed in place
 * @throws Error an entry does not apply
 */
export function applyOverlay(compiled, entries) {
  for (const [code, own] of Object.entries(Object.groupBy(entries, (entry) => entry.country))) {
    const country = compiled.find((each) => each.country.country === code);
    if (!country) throw new Error(`Overlay: no country ${code}`);
    const days = new CountryDays(country.holidays);
    for (const entry of own) applyEntry(days, entry);
    country.holidays = days.compiled();
  }
}

export const changeOf = (entry) => Object.keys(CHANGES).filter((name) => entry[name] !== undefined);

function applyEntry(days, entry) {
  const [change] = changeOf(entry);
  const { name, type = 'public' } = entry[change];
  const fail = (text) => {
    throw new Error(`Overlay: ${entry.country} ${change} ${name.en ?? name}: ${text}. Review the entry.`);
  };
  const dates =
    typeof entry.dates === 'function' ? entry.dates(days) : (entry.dates ?? days.datesOf(name, type));
  if (dates.length === 0) fail('no dates');
  CHANGES[change](days, { ...entry[change], type }, dates, fail, entry);
}

function add(days, { name, type, observed }, dates, fail, { regions }) {
  const own = days.rows.filter((row) => row.t === type && overlap(row.r, regions));
  for (const date of dates)
    for (const row of own)
      if (covers(row, date) && (row.n.en === name.en || observed)) fail(`${date} is present (${row.n.en})`);
  const row = { n: name, t: type, dates: new Set(dates) };
  if (observed) row.o = 1;
  if (regions) row.r = regions;
  days.rows.push(row);
}

function remove(days, what, dates, fail) {
  for (const date of dates) takeOut(days, what, date, fail);
}

function move(days, { to, ...what }, dates, fail) {
  const moved = dates.map((date) => ({ date, target: to(date) }));
  for (const { date, target } of moved) {
    if (target === date) fail(`${date} does not move`);
    if (days.datesOf(what.name, what.type).includes(target)) fail(`${target} is present`);
  }
  // First all are taken out: the target of one may be the day of another.
  const taken = moved.map(({ date, target }) => ({ target, rows: takeOut(days, what, date, fail) }));
  for (const { target, rows } of taken) for (const row of rows) row.dates.add(target);
}

function retype(days, { to, ...what }, dates, fail, { regions }) {
  for (const date of dates)
    for (const row of takeOut(days, what, date, fail)) {
      const others = regions && row.r?.filter((region) => !regions.includes(region));
      if (others?.length > 0) rowLike(days, row, { r: others }).dates.add(date);
      rowLike(days, row, { t: to, o: undefined, ...(regions && { r: regions }) }).dates.add(date);
    }
}

function resize(days, { days: length, ...what }, dates, fail) {
  for (const date of dates)
    for (const row of takeOut(days, what, date, fail)) {
      if ((row.l ?? 1) === length) fail(`${date} has ${length} days`);
      rowLike(days, row, { l: length === 1 ? undefined : length }).dates.add(date);
    }
}

/** Takes a date out of the rows of the name. @returns these rows */
function takeOut(days, { name, type }, date, fail) {
  const found = days.rows.filter((row) => row.n.en === name && row.t === type && row.dates.has(date));
  if (found.length === 0) fail(`${date} is absent`);
  for (const row of found) row.dates.delete(date);
  return found;
}

/** The row with the properties of `row` besides the changed ones: an existing one or a new one. */
function rowLike(days, row, changed) {
  const wanted = { ...row, ...changed };
  const key = identity(wanted);
  const existing = days.rows.find((each) => identity(each) === key);
  if (existing) return existing;
  const added = { ...wanted, dates: new Set() };
  days.rows.push(added);
  return added;
}

const identity = ({ n, t, o, l, r }) => JSON.stringify([n, t, o, l, r]);

const overlap = (some, others) => !some || !others || some.some((region) => others.includes(region));
