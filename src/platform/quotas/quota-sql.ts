import type { SqlFile } from '../database/schema/stored-sql.js';
import { QUOTAS } from './quotas.js';

const limits = Object.entries(QUOTAS).flatMap(([scope, kinds]) =>
  Object.entries(kinds).map(([kind, limit]) => `WHEN '${scope}.${kind}' THEN ${limit}`),
);

/**
 * The limits of `QUOTAS` for functions that write rows, by `<scope>.<kind>`, and the error of a function that would pass one, which
 * `throwQuotaError` reads.
 */
export const quotaSql: SqlFile = {
  home: 'workspace',
  name: 'quotas',
  text: `
CREATE FUNCTION row_quota(p_quota text) RETURNS int LANGUAGE sql STABLE AS $$
  SELECT CASE p_quota ${limits.join(' ')} END
$$;

CREATE FUNCTION row_quota_exceeded(p_quota text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'quota exceeded' USING ERRCODE = 'WB002', DETAIL = p_quota;
END $$;
`,
};
