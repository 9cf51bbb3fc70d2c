-- UUIDv7 (RFC 9562, section 5.7) for rows that functions create: PostgreSQL before version 18 has version 4 only. The 12 bits after
-- the milliseconds are the fraction of the millisecond (section 6.2, method 3): ids of one function sort by the time of creation.
-- PL/pgSQL, as all functions that read a table or a set and are not inlined: PostgreSQL before version 18 plans SQL functions again
-- in each transaction, which takes 0.1 ms.
CREATE FUNCTION uuid_v7() RETURNS uuid LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_microseconds bigint := extract(epoch FROM clock_timestamp()) * 1000000;
BEGIN
  RETURN (lpad(to_hex(v_microseconds / 1000), 12, '0') || '7' || lpad(to_hex(v_microseconds % 1000 * 4096 / 1000), 3, '0')
          || substr(replace(gen_random_uuid()::text, '-', ''), 17))::uuid;
END $$;

-- A time as responses show it: UTC, with milliseconds.
CREATE FUNCTION rfc3339(p_time timestamptz) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
AS $$ SELECT to_char(p_time AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') $$;

-- Reads on through a cursor of one text column: up to p_rows texts, and none after the one with which they have p_bytes.
CREATE FUNCTION fetch_texts(p_cursor text, p_rows int, p_bytes int) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  v_cursor refcursor := p_cursor;
  v_text text;
  v_bytes bigint := 0;
BEGIN
  FOR n IN 1 .. p_rows LOOP
    FETCH v_cursor INTO v_text;
    EXIT WHEN NOT FOUND;
    RETURN NEXT v_text;
    v_bytes := v_bytes + octet_length(v_text);
    EXIT WHEN v_bytes >= p_bytes;
  END LOOP;
END $$;
