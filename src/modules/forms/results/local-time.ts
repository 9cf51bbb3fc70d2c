const QUARTER_MS = 15 * 60_000;

/** Converts moments to the local time of a zone. */
export class LocalTime {
  private readonly format: Intl.DateTimeFormat;
  /** Offsets by quarter of an hour: the offset of a zone does not change within one. */
  private readonly offsets = new Map<number, number>();

  constructor(zone: string) {
    this.format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  }

  /** Milliseconds since 1970 as if the local time were UTC. */
  ms(time: Date): number {
    const quarter = Math.floor(time.getTime() / QUARTER_MS);
    let offset = this.offsets.get(quarter);
    if (offset === undefined) {
      offset = this.offsetAt(quarter * QUARTER_MS);
      this.offsets.set(quarter, offset);
    }
    return time.getTime() + offset;
  }

  /** `YYYY-MM-DD HH:MM:SS` */
  text(time: Date): string {
    return new Date(this.ms(time)).toISOString().slice(0, 19).replace('T', ' ');
  }

  /** `YYYY-MM-DD` */
  day(time: Date): string {
    return this.text(time).slice(0, 10);
  }

  private offsetAt(ms: number): number {
    const parts = Object.fromEntries(
      this.format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]),
    );
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
    return Date.UTC(year, month - 1, day, hour, minute, second) - ms;
  }
}
