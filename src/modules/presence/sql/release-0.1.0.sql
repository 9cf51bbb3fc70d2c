-- Functions that processes of release 0.1.0 call (CONTRIBUTING.md, "Change the schema"). Delete the file when a later release is
-- recorded.

-- Writes of presence. Each one first locks the rows of the users, in the order of their ids, so that it computes the status from all
-- committed devices.

CREATE TYPE presence_change AS (tenant_id uuid, user_id uuid, status text, text text, last_active_at timestamptz);

CREATE FUNCTION presence_lock(p_tenants uuid[], p_users uuid[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO presence_users (tenant_id, user_id)
  SELECT DISTINCT given.tenant_id, given.user_id FROM unnest(p_tenants, p_users) AS given (tenant_id, user_id)
   WHERE NOT EXISTS (
     SELECT FROM presence_users stored WHERE stored.tenant_id = given.tenant_id AND stored.user_id = given.user_id)
   ORDER BY 1, 2 ON CONFLICT DO NOTHING;
  PERFORM FROM presence_users member
   WHERE (member.tenant_id, member.user_id) IN (
     SELECT given.tenant_id, given.user_id FROM unnest(p_tenants, p_users) AS given (tenant_id, user_id))
   ORDER BY member.tenant_id, member.user_id FOR NO KEY UPDATE;
END $$;

-- Whether the user has chosen to be invisible. During the grace period, other users still see the earlier status.
CREATE FUNCTION presence_hides(member presence_users) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT member.choice IS NOT DISTINCT FROM 'invisible' AND (member.choice_until IS NULL OR member.choice_until > now())
$$;

-- The status that other users see: the choice of the user, else the status of the most active device.
CREATE FUNCTION presence_status(member presence_users, p_connected boolean, p_active boolean) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE v_choice text := CASE WHEN member.choice_until IS NULL OR member.choice_until > now() THEN member.choice END;
BEGIN
  IF v_choice = 'invisible' THEN RETURN CASE WHEN member.hidden_at > now() THEN member.status ELSE 'offline' END; END IF;
  IF NOT p_connected THEN RETURN 'offline'; END IF;
  RETURN coalesce(v_choice, CASE WHEN p_active THEN 'online' ELSE 'away' END);
END $$;

-- The end of the text that other users see. An invisible user keeps the text of before, as one who disconnects.
CREATE FUNCTION presence_text_end(member presence_users) RETURNS timestamptz LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN presence_hides(member) THEN member.shown_until ELSE member.choice_until END
$$;

-- The text that other users see, also while the user is offline.
CREATE FUNCTION presence_text(member presence_users) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN presence_text_end(member) <= now() THEN ''
              WHEN presence_hides(member) THEN member.shown_text ELSE member.text END
$$;

-- Computes the status and text that other users see of locked users. Returns the users for whom they changed.
CREATE FUNCTION presence_refresh(p_tenants uuid[], p_users uuid[]) RETURNS SETOF presence_change LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY
  WITH seen AS (
    SELECT DISTINCT member.tenant_id, member.user_id, device.active_at,
           presence_status(member, device.connected, device.active) AS status,
           presence_text(member) AS text
      FROM unnest(p_tenants, p_users) AS given (tenant_id, user_id)
      JOIN presence_users member ON member.tenant_id = given.tenant_id AND member.user_id = given.user_id
     CROSS JOIN LATERAL (
       SELECT count(*) > 0 AS connected, coalesce(bool_or(open.active), false) AS active, max(open.active_at) AS active_at
         FROM presence_devices open
        WHERE open.tenant_id = member.tenant_id AND open.user_id = member.user_id AND open.expires_at > now()) device)
  UPDATE presence_users member SET status = seen.status, shown_text = seen.text,
         last_active_at = CASE WHEN presence_hides(member) THEN member.last_active_at
                               ELSE greatest(member.last_active_at, seen.active_at) END
    FROM seen
   WHERE member.tenant_id = seen.tenant_id AND member.user_id = seen.user_id
     AND (member.status, member.shown_text) <> (seen.status, seen.text)
  RETURNING member.tenant_id, member.user_id, member.status, member.shown_text, member.last_active_at;
END $$;

-- Adds devices or changes them. `p_devices`: [{tenant_id, user_id, id, active, rooms, session_id}].
CREATE FUNCTION presence_join(p_devices jsonb, p_seconds int) RETURNS SETOF presence_change LANGUAGE plpgsql AS $$
DECLARE
  v_tenants uuid[] := ARRAY(SELECT (entry->>'tenant_id')::uuid FROM jsonb_array_elements(p_devices) entry);
  v_users uuid[] := ARRAY(SELECT (entry->>'user_id')::uuid FROM jsonb_array_elements(p_devices) entry);
BEGIN
  PERFORM presence_lock(v_tenants, v_users);
  INSERT INTO presence_devices AS device (tenant_id, user_id, id, active, active_at, rooms, session_id, expires_at)
  SELECT given.tenant_id, given.user_id, given.id, given.active, now(), given.rooms, given.session_id,
         now() + make_interval(secs => p_seconds)
    FROM jsonb_to_recordset(p_devices) AS given (
      tenant_id uuid, user_id uuid, id text, active boolean, rooms uuid[], session_id uuid)
  ON CONFLICT (tenant_id, user_id, id) DO UPDATE
     SET active = excluded.active, rooms = excluded.rooms, expires_at = excluded.expires_at,
         active_at = CASE WHEN device.active OR excluded.active THEN now() ELSE device.active_at END;
  RETURN QUERY SELECT * FROM presence_refresh(v_tenants, v_users);
END $$;

-- Extends the life of devices. Returns the ids of existing devices.
CREATE FUNCTION presence_beat(p_tenants uuid[], p_users uuid[], p_ids text[], p_seconds int) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY
  UPDATE presence_devices device
     SET expires_at = now() + make_interval(secs => p_seconds),
         active_at = CASE WHEN device.active THEN now() ELSE device.active_at END
    FROM unnest(p_tenants, p_users, p_ids) AS given (tenant_id, user_id, id)
   WHERE device.tenant_id = given.tenant_id AND device.user_id = given.user_id AND device.id = given.id
  RETURNING device.id;
END $$;

-- Lets disconnected devices expire after p_seconds. Until then the status of their users does not change.
CREATE FUNCTION presence_leave(p_tenants uuid[], p_users uuid[], p_ids text[], p_seconds float8) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE presence_devices device
     SET expires_at = now() + make_interval(secs => p_seconds), rooms = '{}',
         active_at = CASE WHEN device.active THEN now() ELSE device.active_at END
    FROM unnest(p_tenants, p_users, p_ids) AS given (tenant_id, user_id, id)
   WHERE device.tenant_id = given.tenant_id AND device.user_id = given.user_id AND device.id = given.id;
END $$;

-- Stores the choice of a user for all devices. `p_choice` null: the status follows the devices.
CREATE FUNCTION presence_choose(p_tenant uuid, p_user uuid, p_choice text, p_text text, p_until timestamptz, p_grace float8)
RETURNS SETOF presence_change LANGUAGE plpgsql AS $$
BEGIN
  PERFORM presence_lock(ARRAY[p_tenant], ARRAY[p_user]);
  UPDATE presence_users member
     SET last_active_at = greatest(member.last_active_at, (
           SELECT max(CASE WHEN device.active THEN now() ELSE device.active_at END) FROM presence_devices device
            WHERE device.tenant_id = p_tenant AND device.user_id = p_user AND device.expires_at > now()))
   WHERE member.tenant_id = p_tenant AND member.user_id = p_user AND NOT presence_hides(member);
  UPDATE presence_users member
     SET choice = p_choice, text = p_text, choice_until = p_until,
         shown_until = CASE WHEN p_choice = 'invisible' THEN presence_text_end(member) END,
         hidden_at = CASE WHEN p_choice = 'invisible' THEN
           CASE WHEN presence_hides(member) THEN member.hidden_at ELSE now() + make_interval(secs => p_grace) END END
   WHERE member.tenant_id = p_tenant AND member.user_id = p_user;
  UPDATE presence_users SET due_at = least(CASE WHEN hidden_at > now() THEN hidden_at END, choice_until,
                                           CASE WHEN shown_until > now() THEN shown_until END)
   WHERE tenant_id = p_tenant AND user_id = p_user;
  RETURN QUERY SELECT * FROM presence_refresh(ARRAY[p_tenant], ARRAY[p_user]);
END $$;

-- Removes expired devices and applies due changes of up to about 3 * p_limit users. Processes that sweep at the same time
-- return each change once. Devices may be missing for `p_seconds` after a start of PostgreSQL: until then users without a device keep
-- their status.
CREATE FUNCTION presence_sweep(p_limit int, p_seconds int) RETURNS SETOF presence_change LANGUAGE plpgsql AS $$
DECLARE
  v_tenants uuid[];
  v_users uuid[];
BEGIN
  SELECT array_agg(due.tenant_id), array_agg(due.user_id) INTO v_tenants, v_users FROM (
    (SELECT tenant_id, user_id FROM presence_devices WHERE expires_at <= now() ORDER BY expires_at LIMIT p_limit)
    UNION
    (SELECT tenant_id, user_id FROM presence_users WHERE due_at <= now() ORDER BY due_at LIMIT p_limit)
    UNION
    (SELECT member.tenant_id, member.user_id FROM presence_users member
      WHERE member.status <> 'offline' AND pg_postmaster_start_time() < now() - make_interval(secs => p_seconds)
        AND NOT EXISTS (
          SELECT FROM presence_devices device WHERE device.tenant_id = member.tenant_id AND device.user_id = member.user_id)
      LIMIT p_limit)) due;
  IF v_users IS NULL THEN RETURN; END IF;
  PERFORM presence_lock(v_tenants, v_users);
  WITH expired AS (
    DELETE FROM presence_devices device
     WHERE device.expires_at <= now() AND (device.tenant_id, device.user_id) IN (
       SELECT given.tenant_id, given.user_id FROM unnest(v_tenants, v_users) AS given (tenant_id, user_id))
    RETURNING device.tenant_id, device.user_id, device.active_at),
  newest AS (SELECT tenant_id, user_id, max(active_at) AS active_at FROM expired GROUP BY tenant_id, user_id)
  UPDATE presence_users member SET last_active_at = greatest(member.last_active_at, newest.active_at) FROM newest
   WHERE member.tenant_id = newest.tenant_id AND member.user_id = newest.user_id AND NOT presence_hides(member);
  RETURN QUERY SELECT * FROM presence_refresh(v_tenants, v_users);
  UPDATE presence_users member
     SET choice = CASE WHEN choice_until <= now() THEN NULL ELSE choice END,
         text = CASE WHEN choice_until <= now() THEN '' ELSE text END,
         choice_until = CASE WHEN choice_until <= now() THEN NULL ELSE choice_until END,
         due_at = CASE WHEN choice_until <= now() THEN NULL
                       ELSE least(choice_until, CASE WHEN shown_until > now() THEN shown_until END) END
   WHERE member.due_at <= now() AND (member.tenant_id, member.user_id) IN (
     SELECT given.tenant_id, given.user_id FROM unnest(v_tenants, v_users) AS given (tenant_id, user_id));
END $$;
