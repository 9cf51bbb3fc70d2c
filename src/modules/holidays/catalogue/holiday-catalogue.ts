import { Injectable } from '@nestjs/common';
import { HolidayErrors, type HolidayResponse } from '../holidays.dto.js';
import { CatalogueFile, type Country, type HolidayRow, type HolidayType } from './catalogue-file.js';

const DAY_MS = 86_400_000;
/** Codes of languages in the data that are not those of ISO 639. */
const ISO_LANGUAGES = new Map([
  ['cz', 'cs'],
  ['ge', 'ka'],
  ['jp', 'ja'],
]);
/** Codes of languages in the data, where they differ from the first part of a language tag. */
const DATA_LANGUAGES = new Map([
  ...[...ISO_LANGUAGES].map(([own, iso]) => [iso, own] as const),
  ['nb', 'no'],
  ['nn', 'no'],
]);

/** Selects the holidays of a country, or of one of its regions, in a range of days. */
export interface HolidayQuery {
  country: string;
  region: string | null;
  /** Days `YYYY-MM-DD`, both inclusive. */
  from: string;
  to: string;
  types: readonly HolidayType[];
  language: string;
}

/** The holidays of the world (date-holidays, compiled at build time). */
@Injectable()
export class HolidayCatalogue {
  private readonly file = new CatalogueFile();

  async countries(): Promise<Country[]> {
    const { countries } = await this.file.index();
    return countries.map((each) => ({
      ...each,
      language: ISO_LANGUAGES.get(each.language) ?? each.language,
    }));
  }

  /**
   * The code of a region, of which the letter case does not count. Null means the whole country.
   * @throws ApiError 422 `unknown_country`, `unknown_region`
   */
  async regionOf(country: string, region: string | null): Promise<string | null> {
    const found = (await this.file.index()).byCode.get(country);
    if (!found) throw HolidayErrors.unknownCountry.with();
    if (region === null) return null;
    const code = Object.keys(found.regions).find((each) => each.toUpperCase() === region.toUpperCase());
    if (code === undefined) throw HolidayErrors.unknownRegion.with();
    return code;
  }

  /** @throws ApiError 422 `year_unsupported` */
  async assertYears(from: string, to: string): Promise<void> {
    const { first_year: first, last_year: last } = await this.file.index();
    if (Number(from.slice(0, 4)) < first || Number(to.slice(0, 4)) > last)
      throw HolidayErrors.yearUnsupported.with({ body: { first_year: first, last_year: last } });
  }

  /** The order is that of the dates. Years without data have no holidays. */
  async holidays(query: HolidayQuery): Promise<HolidayResponse[]> {
    const { byCode, first_year: firstYear, last_year: lastYear } = await this.file.index();
    const country = byCode.get(query.country);
    if (!country) return [];
    const rows = await this.file.holidays(query.country);
    // A holiday of several days may begin in the year before.
    const from = Math.max(Number(query.from.slice(0, 4)) - 1, firstYear);
    const to = Math.min(Number(query.to.slice(0, 4)), lastYear);
    const found: HolidayResponse[] = [];
    for (const row of rows) {
      if (!query.types.includes(row.t) || !(row.r?.includes(query.region ?? '') ?? true)) continue;
      const years = row.d.split(';');
      for (let year = from; year <= to; year += 1)
        for (const monthDay of (years[years.length === 1 ? 0 : year - firstYear] ?? '').split(',')) {
          if (monthDay === '') continue;
          const holiday = present(
            row,
            `${year}-${monthDay.slice(0, 2)}-${monthDay.slice(2)}`,
            query,
            country,
          );
          if (holiday.end_date >= query.from && holiday.date <= query.to) found.push(holiday);
        }
    }
    return found.toSorted((a, b) => compare(a.date, b.date) || compare(a.id, b.id));
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function present(
  row: HolidayRow,
  date: string,
  { country, region, language }: HolidayQuery,
  { language: local }: Country,
): HolidayResponse {
  const name = row.n['en'] ?? '';
  const end = new Date(Date.parse(date) + ((row.l ?? 1) - 1) * DAY_MS);
  const slug = name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
  return {
    id: `${country}-${date}-${slug}${row.t === 'public' ? '' : `-${row.t}`}`,
    date,
    end_date: end.toISOString().slice(0, 10),
    name: row.n[DATA_LANGUAGES.get(language) ?? language] ?? name,
    local_name: row.n[local] ?? name,
    type: row.t,
    observed: row.o === 1,
    country,
    region,
  };
}
