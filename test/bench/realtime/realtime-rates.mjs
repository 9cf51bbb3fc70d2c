// Parts of the realtime bench: messages and the rate of their deliveries.
import { randomUUID } from 'node:crypto';
import { ADD_MESSAGES } from '../../support/domains/chat.ts';

export function textOf() {
  return { client_msg_id: randomUUID(), body: 'A message of ordinary length, as users write them.' };
}

/**
 * Stores messages in rooms of a workspace in one transaction. `run` of the measurement commits it and reports the rooms, so that their
 * fan-out is measured and the storage is not.
 */
export async function withStored(pool, { tenant_id: tenant }, rooms, count, measure) {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const reports = [];
    for (const room of rooms) {
      const { rows: members } = await client.query(
        'SELECT user_id FROM chat_members WHERE room_id = $1 LIMIT 1',
        [room],
      );
      const { rows } = await client.query(ADD_MESSAGES, [tenant, members[0].user_id, room, count]);
      reports.push(JSON.stringify({ topic: 'chat.room_changed', tenant, room, mod_seq: rows[0].mod_seq }));
    }
    return await measure(async () => {
      await client.query('COMMIT');
      await client.query(`SELECT pg_notify('workspace_bus', report) FROM unnest($1::text[]) report`, [
        reports,
      ]);
    });
  } finally {
    client.release();
  }
}

/** Calls `send` with 1 to `count`, a number of them at once. */
export function inParallel(count, parallel) {
  return async (send) => {
    let next = 0;
    const loop = async () => {
      while (next < count) await send((next += 1));
    };
    await Promise.all(Array.from({ length: parallel }, loop));
  };
}

/** @returns deliveries per second from the start to the last one, and µs of the server's processor for each */
export async function rate(server, sockets, deliveries, run) {
  let received = 0;
  let count;
  const complete = new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`${received} of ${deliveries} deliveries`)), 240_000);
    count = () => {
      received += 1;
      if (received < deliveries) return;
      clearTimeout(late);
      resolve();
    };
  });
  for (const socket of sockets) socket.on('message.created', count);
  const began = performance.now();
  const cpu = server.cpu;
  await Promise.all([run(), complete]);
  const seconds = (performance.now() - began) / 1_000;
  for (const socket of sockets) socket.off('message.created', count);
  return { rate: deliveries / seconds, cpu: ((server.cpu - cpu) * 1e6) / deliveries };
}
