const DAY = /^\d{4}-\d\d-\d\d$/;

/** Whether the value is a calendar day `YYYY-MM-DD` from 1900 to 9999. `2026-02-30` is not. */
export function isCalendarDay(value: unknown): value is string {
  if (typeof value !== 'string' || !DAY.test(value) || value < '1900') return false;
  const time = Date.parse(`${value}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(value);
}
