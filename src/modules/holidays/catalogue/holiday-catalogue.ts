import { Injectable } from '@nestjs/common';
import { HolidayErrors } from '../holidays.errors.js';
import type { HolidayResponse } from '../holidays.response.js';
import { CatalogueFile, type Country, type HolidayRow, type HolidayType } from './catalogue-file.js';

const DAY_MS = 86_400_000;

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
    return (await this.file.index()).countries;
  }

  /** @throws ApiError 422 `unknown_country`, `unknown_region` */
  async assertPlace(country: string, region: string | null): Promise<void> {
    const found = (await this.file.index()).byCode.get(country);
    if (!found) throw HolidayErrors.unknownCountry.with();
    if (region !== null && !Object.hasOwn(found.regions, region)) throw HolidayErrors.unknownRegion.with();
  }

  /** @throws ApiError 422 `year_unsupported` */
  async assertYears(from: string, to: string): Promise<void> {
    const { first_year: first, last_year: last } = await this.file.index();
    if (Number(from.slice(0, 4)) < first || Number(to.slice(0, 4)) > last)
      throw HolidayErrors.yearUnsupported.with({ body: { first_year: first, last_year: last } });
  }

  /** In order of date. Years without data have no holidays. */
  async holidays(query: HolidayQuery): Promise<HolidayResponse[]> {
    const { byCode, first_year: firstYear, last_year: lastYear } = await this.file.index();
    const country = byCode.get(query.country);
    if (!country) return [];
    const rows = await this.file.holidays(query.country);
    const from = Math.max(Number(query.from.slice(0, 4)), firstYear);
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
    name: row.n[language] ?? name,
    local_name: row.n[local] ?? name,
    type: row.t,
    observed: row.o === 1,
    country,
    region,
  };
}
