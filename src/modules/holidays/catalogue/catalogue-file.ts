import { open, readFile } from 'node:fs/promises';
import { LRUCache } from 'lru-cache';

export const HOLIDAY_TYPES = ['public', 'bank', 'school', 'optional', 'observance'] as const;
export type HolidayType = (typeof HOLIDAY_TYPES)[number];

/** A country of the index. */
export interface Country {
  country: string;
  /** English. */
  name: string;
  /** First language of the country. */
  language: string;
  /** Names by code, e.g. `BY`: in English or in the language of the country. */
  regions: Record<string, string>;
}

/** A holiday of a country, as `bin/compile-holidays.mjs` writes it. */
export interface HolidayRow {
  /** Names by language; a name that equals the English one is left out. */
  n: Record<string, string>;
  t: HolidayType;
  /** `0101`, or the dates of each year: years are separated by `;`, dates of one year by `,`. */
  d: string;
  /** A day off in place of a holiday on a weekend. */
  o?: 1;
  /** Length in days, from 2 on. */
  l?: number;
  /** Regions that have the holiday, '' for the country itself. Absent: all. */
  r?: string[];
}

interface Header {
  attribution: string;
  source: string;
  /** Fingerprint of the corrections that the file has. */
  corrections: string;
  first_year: number;
  last_year: number;
  countries: Country[];
}

interface Index extends Header {
  byCode: Map<string, Country>;
  /** Position and length of the line of each country. */
  lines: Map<string, { position: number; length: number }>;
}

export const HOLIDAYS = new URL('../data/holidays.ndjson', import.meta.url);
const NEWLINE = 10;
/** Countries whose holidays stay in memory. */
const CACHED_COUNTRIES = 16;

/** The compiled holidays of the world. The file has one line for each country; a line is read when a request needs it. */
export class CatalogueFile {
  private indexed: Promise<Index> | undefined;
  private readonly rows = new LRUCache<string, Promise<HolidayRow[]>>({ max: CACHED_COUNTRIES });

  constructor(private readonly file = HOLIDAYS) {}

  async index(): Promise<Index> {
    this.indexed ??= readIndex(this.file).catch((error: unknown) => {
      this.indexed = undefined;
      throw error;
    });
    return this.indexed;
  }

  /** @param country a code of the index */
  async holidays(country: string): Promise<HolidayRow[]> {
    const cached = this.rows.get(country);
    if (cached) return cached;
    const rows = this.read(country);
    this.rows.set(country, rows);
    rows.catch(() => this.rows.delete(country));
    return rows;
  }

  private async read(country: string): Promise<HolidayRow[]> {
    const line = (await this.index()).lines.get(country);
    if (!line) return [];
    const file = await open(this.file);
    try {
      const { buffer } = await file.read(Buffer.alloc(line.length), 0, line.length, line.position);
      return JSON.parse(buffer.toString('utf8')) as HolidayRow[];
    } finally {
      await file.close();
    }
  }
}

async function readIndex(file: URL): Promise<Index> {
  const bytes = await readFile(file);
  const end = bytes.indexOf(NEWLINE);
  const header = JSON.parse(bytes.toString('utf8', 0, end)) as Header;
  const lines = new Map<string, { position: number; length: number }>();
  let position = end + 1;
  for (const { country } of header.countries) {
    const next = bytes.indexOf(NEWLINE, position);
    lines.set(country, { position, length: next - position });
    position = next + 1;
  }
  return { ...header, byCode: new Map(header.countries.map((each) => [each.country, each])), lines };
}
