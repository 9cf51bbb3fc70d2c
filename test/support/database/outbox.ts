import { until } from '../until.ts';

/**
 * Keeps new events in the outbox of an application or a cell, where a test reads them. The worker otherwise delivers and
 * deletes an event 50 ms after its commit.
 * @returns delivers them from now on
 */
export async function holdEvents(of: { sql(text: string): Promise<unknown> }): Promise<() => Promise<void>> {
  await of.sql(`CREATE FUNCTION hold_event() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN NEW.due_at := now() + interval '1 hour'; RETURN NEW; END $$`);
  await of.sql('CREATE TRIGGER held BEFORE INSERT ON outbox FOR EACH ROW EXECUTE FUNCTION hold_event()');
  return async () => {
    await of.sql('DROP TRIGGER held ON outbox');
    await of.sql('DROP FUNCTION hold_event()');
    await of.sql('UPDATE outbox SET due_at = now() - make_interval(secs => 1) WHERE attempts = 0');
  };
}

/** Waits until the events of a type are delivered. Their handlers otherwise fail in a test that breaks a table. */
export const eventsDelivered = (
  of: { sql(text: string, values: unknown[]): Promise<unknown[]> },
  type: string,
): Promise<unknown> =>
  until(
    `the delivery of ${type}`,
    async () => (await of.sql('SELECT FROM outbox WHERE type = $1', [type])).length === 0,
  );
