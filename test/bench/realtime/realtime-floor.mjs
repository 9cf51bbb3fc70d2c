// The floor of the realtime bench: a bare Socket.IO server. `join {rooms}` joins rooms of Socket.IO; `send {room, message}`
// broadcasts the message, `burst {room, messages}` messages in JSON; `store` runs the statements of a sent message first, over a bare pool.
import { createServer } from 'node:http';
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { Server } from 'socket.io';
import { sendMessage } from '../../../dist/modules/chat/model/message-rules.js';
import { MessageFacts } from '../../../dist/modules/chat/changes/message-facts.js';
import { MessageStore } from '../../../dist/modules/chat/changes/message-store.js';

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: Number(process.env.POOL) });
const reader = {
  query: async ({ name, text }, values) => (await pool.query({ name, text, values })).rows,
};
const [facts, store] = [new MessageFacts(), new MessageStore()];
const http = createServer();
const io = new Server(http, { transports: ['websocket'], serveClient: false, perMessageDeflate: false });

io.on('connection', (socket) => {
  socket.on('join', ({ rooms }, done) => {
    void socket.join(rooms);
    done({});
  });
  socket.on('send', ({ room, message }, done) => {
    io.to(room).emit('message.created', message);
    done({});
  });
  socket.on('burst', ({ room, messages }, done) => {
    messages.forEach((message, n) => {
      const event = { room_id: room, mod_seq: n + 1, prev_mod_seq: n, message: JSON.parse(message) };
      io.to(room).emit('message.created', event);
    });
    done({});
  });
  socket.on('store', async ({ values, room }, done) => {
    const member = { tenantId: values.tenant, userId: values.user };
    const input = { ...values.input, id: randomUUID(), reply_to: null, via: null };
    const sender = { id: values.user, guestName: null };
    const sent = sendMessage(await facts.ofNew(reader, member, room, input), sender, input);
    const { message, mod_seq } = await store.append(reader, member, room, sent);
    io.to(room).emit('message.created', {
      room_id: room,
      mod_seq,
      prev_mod_seq: mod_seq - 1,
      message: JSON.parse(message),
    });
    done({});
  });
});
http.listen(Number(process.env.PORT), '127.0.0.1');
