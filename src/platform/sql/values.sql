-- UUIDv7 (RFC 9562, section 5.7) for rows that a function makes by itself: until version 18 PostgreSQL makes version 4 only.
-- The 12 bits after the milliseconds are the part of the millisecond that has passed (section 6.2, method 3), so that what
-- one function makes sorts in the order of making.
-- PL/pgSQL, like every function that is called alone and reads a table or a set: PostgreSQL before version 18 plans one in SQL
-- anew in each transaction, a tenth of a millisecond.
CREATE FUNCTION uuid_v7() RETURNS uuid LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  us bigint := extract(epoch FROM clock_timestamp()) * 1000000;
BEGIN
  RETURN (lpad(to_hex(us / 1000), 12, '0') || '7' || lpad(to_hex(us % 1000 * 4096 / 1000), 3, '0')
          || substr(replace(gen_random_uuid()::text, '-', ''), 17))::uuid;
END $$;

-- A time as every response writes it: UTC, milliseconds.
CREATE FUNCTION rfc3339(t timestamptz) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
AS $$ SELECT to_char(t AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') $$;
