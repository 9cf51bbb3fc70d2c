/** A time as PostgreSQL reads it. The end of 9999-12-31 is in the year 10000, which ISO 8601 writes with a sign. */
export const timestampText = (time: Date | null): string | null =>
  time && time.toISOString().replace(/^\+0/, '');
