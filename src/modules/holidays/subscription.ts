import type { HolidayType } from './catalogue/catalogue-file.js';

/** A country or region whose holidays are shown. */
export interface HolidaySubscription {
  /** ISO 3166-1, two letters. */
  country: string;
  /** Code of a region without the code of the country, e.g. `BY`. */
  region: string | null;
  types: HolidayType[];
  /** Language of the names. Null: the language of the request. */
  language: string | null;
  color: string | null;
  /** The holidays block time in free/busy. */
  busy: boolean;
}

/** `DE`, or `DE-BY` for a region. */
export const placeOf = ({ country, region }: Pick<HolidaySubscription, 'country' | 'region'>): string =>
  region === null ? country : `${country}-${region}`;
