// A media server for the calls bench: the Twirp responses that the server needs for one call with one connected guest.
import http from 'node:http';

const RESPONSES = {
  'RoomService/CreateRoom': ({ room }) => ({ name: room }),
  'RoomService/ListRooms': ({ room }) => ({ rooms: room ? [{ name: room }] : [] }),
  'RoomService/ListParticipants': ({ participants }) => ({ participants }),
};

/** @returns `{ url, call, close }`; `call` describes the call: `room` and `participants` of the protocol */
export async function startMedia() {
  const call = { room: '', participants: [] };
  const server = http.createServer((request, response) => {
    const respond = RESPONSES[request.url.replace('/twirp/livekit.', '')];
    request.resume().on('end', () => {
      response.writeHead(respond ? 200 : 404, { 'content-type': 'application/json' });
      response.end(JSON.stringify(respond ? respond(call) : { code: 'bad_route', msg: request.url }));
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `ws://127.0.0.1:${server.address().port}`, call, close: () => server.close() };
}
