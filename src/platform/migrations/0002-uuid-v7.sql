-- UUIDv7 (RFC 9562, section 5.7) for rows that a function makes by itself: until version 18 PostgreSQL makes version 4 only.
CREATE FUNCTION uuid_v7() RETURNS uuid LANGUAGE sql VOLATILE AS $$
  SELECT encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
           PLACING substring(int8send((extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3) FROM 1 FOR 6),
           52, 1), 53, 1), 'hex')::uuid
$$;
