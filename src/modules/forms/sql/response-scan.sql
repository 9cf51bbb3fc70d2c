CREATE TYPE scanned_response AS (
  id uuid, version int, submitted_at timestamptz, duration_seconds int, respondent text, answers jsonb, bytes int);

-- Reads on through the cursor `response_scan` of the transaction: up to p_rows responses, and none after the one with which they have
-- p_bytes. Stays in SQL: FETCH has no limit of bytes, and 500 long responses exceed the 40 MB of memory that `export` of
-- test/bench/forms/forms.bench.mjs allows.
CREATE FUNCTION form_scan_fetch(p_rows int, p_bytes int) RETURNS SETOF scanned_response LANGUAGE plpgsql AS $$
DECLARE
  v_scan refcursor := 'response_scan';
  v_response scanned_response;
  v_bytes bigint := 0;
BEGIN
  FOR n IN 1 .. p_rows LOOP
    FETCH v_scan INTO v_response;
    EXIT WHEN NOT FOUND;
    RETURN NEXT v_response;
    v_bytes := v_bytes + v_response.bytes;
    EXIT WHEN v_bytes >= p_bytes;
  END LOOP;
END $$;
