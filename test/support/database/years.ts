import pg from 'pg';

/**
 * Moves all times of all tables this number of days into the past, as if the installation had not been used for so long.
 */
export async function passDays(databaseUrl: string, days: number): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    // Only triggers with ENABLE ALWAYS fire: the audit log has others that reject changes.
    await client.query('SET session_replication_role = replica');
    const { rows: triggers } = await client.query<{ name: string; table: string }>(
      `SELECT quote_ident(tgname) AS name, tgrelid::regclass::text AS table FROM pg_trigger WHERE tgenabled = 'A'`,
    );
    for (const { name, table } of triggers)
      await client.query(`ALTER TABLE ${table} DISABLE TRIGGER ${name}`);
    const { rows } = await client.query<{ name: string; columns: string }>(
      `SELECT attrelid::regclass::text AS name,
              string_agg(format('%1$I = %1$I - make_interval(days => ${days})', attname), ', ') AS columns
         FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
        WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped
          AND attgenerated = '' AND atttypid = 'timestamptz'::regtype GROUP BY attrelid`,
    );
    for (const { name, columns } of rows) await client.query(`UPDATE ${name} SET ${columns}`);
    for (const { name, table } of triggers)
      await client.query(`ALTER TABLE ${table} ENABLE ALWAYS TRIGGER ${name}`);
  } finally {
    await client.end();
  }
}

/** Number of rows of each table. */
export async function rowCounts(databaseUrl: string): Promise<Map<string, number>> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'`,
    );
    const counts = tables.map(({ name }) => `SELECT '${name}' AS name, count(*)::int AS count FROM ${name}`);
    const { rows } = await client.query<{ name: string; count: number }>(counts.join(' UNION ALL '));
    return new Map(rows.map(({ name, count }) => [name, count]));
  } finally {
    await client.end();
  }
}
