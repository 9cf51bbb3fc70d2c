// The holidays of a country as date-holidays computes them, in the form of the compiled file.
import Holidays from 'date-holidays';
import { datesText, YEARS } from './days.mjs';

/** Languages of names besides those of the country. */
const LANGUAGES = ['en', 'de', 'es', 'fr', 'pt', 'vi'];
const DAY_MS = 86_400_000;

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
  for (const [index, year] of YEARS.entries()) {
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

export function compileCountries() {
  const catalogue = new Holidays();
  return Object.entries(catalogue.getCountries('en'))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([country, name]) => compile(catalogue, country, name));
}
