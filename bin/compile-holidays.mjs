// `node bin/compile-holidays.mjs`: compiles the data of date-holidays into src/modules/holidays/data/holidays.ndjson.
// The first line has the attribution, the years and the countries, each further line the holidays of one country, in the same
// order. Run it after an update of date-holidays and commit the result: the service never loads date-holidays.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import Holidays from 'date-holidays';

const FIRST_YEAR = 2020;
const LAST_YEAR = 2045;
/** Languages of names besides those of the country. */
const LANGUAGES = ['en', 'de', 'es', 'fr', 'pt', 'vi'];
const DAY_MS = 86_400_000;
const TARGET = path.join(import.meta.dirname, '../src/modules/holidays/data/holidays.ndjson');

const require = createRequire(import.meta.url);
const { version } = JSON.parse(readFileSync(require.resolve('date-holidays/package.json'), 'utf8'));
const years = Array.from({ length: LAST_YEAR - FIRST_YEAR + 1 }, (_, n) => FIRST_YEAR + n);

/** @returns the regions of a country: code, name, and the arguments of Holidays */
function regionsOf(catalogue, country) {
  const regions = [];
  for (const [state, name] of Object.entries(catalogue.getStates(country, 'en') ?? {})) {
    regions.push({ code: state, name, place: [country, state] });
    for (const [region, regionName] of Object.entries(catalogue.getRegions(country, state, 'en') ?? {}))
      regions.push({ code: `${state}-${region}`, name: regionName, place: [country, state, region] });
  }
  return regions;
}

/** Holidays of one place by their identity: rule, type, substitute; each with names and dates `MMDD` by year. */
function holidaysOf(place, languages) {
  const source = new Holidays(...place);
  const found = new Map();
  for (const [index, year] of years.entries()) {
    const all = source.getHolidays(year, 'en');
    const isNew = all.some((each) => !found.has(identity(each)));
    // The names of a year in another language come in the same order.
    const named = isNew ? languages.map((language) => [language, source.getHolidays(year, language)]) : [];
    for (const [position, each] of all.entries()) {
      const key = identity(each);
      if (!found.has(key))
        found.set(key, {
          names: Object.fromEntries(named.map(([language, list]) => [language, list[position].name])),
          type: each.type,
          observed: each.substitute === true,
          days: Math.max(1, Math.ceil((each.end - each.start) / DAY_MS)),
          dates: [],
        });
      const { dates } = found.get(key);
      (dates[index] ??= []).push(each.date.slice(5, 10).replace('-', ''));
    }
  }
  return found;
}

const identity = ({ rule, type, substitute, name }) =>
  JSON.stringify([rule, type, substitute === true, name]);

/** `0101` for a holiday with one date in every year, otherwise the dates of each year, `;` between the years. */
function datesText(dates) {
  const texts = years.map((_, index) => (dates[index] ?? []).join(','));
  return texts.every((text) => text === texts[0]) ? texts[0] : texts.join(';');
}

function compile(catalogue, country, name) {
  const regions = regionsOf(catalogue, country);
  const own = new Holidays(country).getLanguages().filter((language) => /^[a-z]{2,3}$/.test(language));
  const languages = [...new Set([...own, ...LANGUAGES])];
  const groups = new Map();
  for (const { code, place } of [{ code: '', place: [country] }, ...regions])
    for (const { names, type, observed, days, dates } of holidaysOf(place, languages).values()) {
      // A name that equals the English one is left out.
      const others = Object.entries(names).filter(
        ([language, text]) => language === 'en' || text !== names.en,
      );
      const holiday = { n: Object.fromEntries(others), t: type, d: datesText(dates) };
      if (observed) holiday.o = 1;
      if (days > 1) holiday.l = days;
      const key = JSON.stringify(holiday);
      const group = groups.get(key) ?? { holiday, regions: [] };
      group.regions.push(code);
      groups.set(key, group);
    }
  const holidays = [...groups.values()].map((group) =>
    group.regions.length === regions.length + 1 ? group.holiday : { ...group.holiday, r: group.regions },
  );
  return {
    country: {
      country,
      name,
      language: own[0] ?? 'en',
      regions: Object.fromEntries(regions.map((region) => [region.code, region.name])),
    },
    holidays,
  };
}

const catalogue = new Holidays();
const compiled = Object.entries(catalogue.getCountries('en'))
  .toSorted(([a], [b]) => (a < b ? -1 : 1))
  .map(([country, name]) => compile(catalogue, country, name));
const header = {
  attribution:
    'Holidays: date-holidays (https://github.com/commenthol/date-holidays), data under CC BY-SA 3.0 (https://creativecommons.org/licenses/by-sa/3.0/), from Wikipedia and other sources named there; changed: evaluated for the years below. This file is under CC BY-SA 3.0.',
  source: `date-holidays ${version}`,
  first_year: FIRST_YEAR,
  last_year: LAST_YEAR,
  countries: compiled.map(({ country }) => country),
};
const lines = [header, ...compiled.map(({ holidays }) => holidays)].map((line) => JSON.stringify(line));
writeFileSync(TARGET, `${lines.join('\n')}\n`);
process.stdout.write(`${compiled.length} countries\n`);
